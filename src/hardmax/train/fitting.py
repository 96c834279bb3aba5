"""From texts with labels to a model: vocabulary, folds, settings that suit the texts, weights,
calibration."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, shorten
from hardmax.text._texts import read_texts
from hardmax.text.corpora import Corpus, stream_corpus
from hardmax.text.encoding import NOT_READ, cut_tokens
from hardmax.text.explain import LENGTHS
from hardmax.text.reading import Reader, VotingRule
from hardmax.text.tables import join_first
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary, choose_tokens, take_tokens
from hardmax.train.bag import TYPICAL_WEIGHT, Bags, Design, Fitted, regress, scales
from hardmax.train.corpus import Chunk, TrainingCorpus
from hardmax.train.reading import FEWEST, SURE, Evidence, Short, find_modifiers, find_short, refine
from hardmax.train.settings import Settings
from hardmax.train.tuning import FEWEST_GROUPS, FOLDS, MANY_TEXTS, Trial, find_folds, tune
from hardmax.train.vectors import Vectors, read_vectors

MOST_WORDS, MOST_PHRASES = 60_000, 120_000
CHARACTERS = 1 << 24  # of texts that are in memory at the same time, if they come from tables
SCOPE = 4  # words
REFINED = 1  # times that factors and weights are fitted in turn, after the first
LIGHT = 0.01  # of the largest weight: words that only vectors know must weigh more
FEW_TEXTS = 1_000  # up to so many, English word vectors are tried
NO_RIGHTS = "not recorded"
DOUBT = 0.02  # of held-out log loss: vectors mostly help, and few texts do not say so for sure
Announce = Callable[[str], None]  # of what training does next

try:  # comes with scikit-learn
    from threadpoolctl import threadpool_limits
except ImportError:
    threadpool_limits = nullcontext


def fit(
    texts: Any,
    labels: Any,
    settings: Settings | None = None,
    *,
    sample_weight: np.ndarray | None = None,
    groups: Any = None,
    progress: Announce | None = None,
) -> TextModel:
    """Train a classifier of texts.

    Parameters
    ----------
    texts : sequence of str
        Training texts.
    labels : sequence
        The class of each.
    settings : Settings, optional
        What is not to be chosen by folds.
    sample_weight : ndarray, optional
        How much each text counts.
    groups : sequence, optional
        Texts that belong together, such as reviews of one film: they are held out together, and a
        token that several of them have counts once.
    progress : callable, optional
        Called with a line for each step.

    Returns
    -------
    TextModel
        The model; `model.metrics` says what was chosen, and what was measured on held-out texts.

    Examples
    --------
    >>> model = fit(["a good film", "so good", "a bad film", "so bad"] * 5, [1, 1, 0, 0] * 5)
    >>> model.analyse(["good", "nothing known"]).decided.tolist()
    [True, False]
    """
    settings = settings or Settings()
    read = read_texts(texts)
    classes, numbers = np.unique(np.asarray(labels), return_inverse=True)
    if len(numbers) != len(read):
        raise InputError(
            f"`labels` has {len(numbers)} entries: expected {len(read)}, one for each text."
        )
    weights = np.ones(len(read))
    if sample_weight is not None:
        weights = np.asarray(sample_weight, dtype=float)
    of_group = np.arange(len(read))
    if groups is not None:
        of_group = np.unique(np.asarray(groups), return_inverse=True)[1]
    corpus = TrainingCorpus(
        chunks=[Chunk.of(read, numbers, rng=_generator(settings))],
        labels=numbers,
        weights=weights,
        groups=of_group,
        classes=len(classes),
        sentences=settings.sentences,
    )
    with threadpool_limits(1):  # sums of vectors, at which threads of BLAS mostly wait
        return _fit(corpus, classes, settings, progress)


def fit_tables(
    source: Any,
    settings: Settings | None = None,
    *,
    text: str | None = None,
    label: str | None = None,
    on_bad_rows: str = "skip",
    progress: Announce | None = None,
) -> TextModel:
    """Train a classifier on texts that need not fit into memory.

    Texts, and after that their tokens, are kept in files of a temporary folder; they are gone
    through chunk by chunk.

    Parameters
    ----------
    source : str, Path or iterable of tables
        What `read_corpus` reads, such as a folder of Parquet files; or tables of any library that
        narwhals knows, which are taken one after another.
    settings : Settings, optional
        What is not to be chosen by folds.
    text, label : str, optional
        Columns of the texts and labels; guessed from common names if omitted.
    on_bad_rows : {"skip", "refuse"}, default "skip"
        Whether to leave out rows that are broken or have no text or label, or to raise an error.
    progress : callable, optional
        Called with a line for each step.

    Returns
    -------
    TextModel
        The model that `fit` gives for the same texts in the same order, but for rounding.

    Examples
    --------
    >>> import pandas as pd
    >>> texts = ["a good film", "so good", "a bad film", "so bad"]
    >>> table = pd.DataFrame({"text": texts, "label": [1, 1, 0, 0]})
    >>> fit_tables(table for _ in range(5)).predict(["good", "a bad one"]).tolist()
    [1, 0]
    """
    settings, say = settings or Settings(), progress or _say_nothing
    rng = _generator(settings)
    with TemporaryDirectory(prefix="hardmax-", ignore_cleanup_errors=True) as name:
        chunks, bad = [], []
        how = {"text": text, "label": label, "on_bad_rows": on_bad_rows}
        for part in stream_corpus(source, **how, characters=CHARACTERS):
            bad += part.bad
            if part.texts:
                read = read_texts(part.texts)
                chunks.append(Chunk.of(read, np.asarray(part.labels), rng=rng, folder=Path(name)))
        if bad:
            say(Corpus([], [], bad).describe_bad())
        labels = np.concatenate([chunk.labels for chunk in chunks])
        classes, numbers = np.unique(labels, return_inverse=True)
        bounds = np.cumsum([len(chunk.labels) for chunk in chunks])[:-1]
        split = np.split(numbers, bounds)
        chunks = [replace(chunk, labels=part) for chunk, part in zip(chunks, split, strict=True)]
        corpus = TrainingCorpus(
            chunks=chunks,
            labels=numbers,
            weights=np.ones(len(numbers)),
            groups=np.arange(len(numbers)),
            classes=len(classes),
            sentences=settings.sentences,
            folder=Path(name),
        )
        with threadpool_limits(1):
            is_named = isinstance(source, str | Path)
            name = f" of {Path(source).name}" if is_named else ""
            return _fit(corpus, classes, settings, progress, name)


def _generator(settings: Settings) -> np.random.Generator | None:
    """What draws sentences from texts, if sentences count."""
    return np.random.default_rng(settings.random_state) if settings.sentences > 0 else None


def _say_nothing(line: str) -> None:
    """Progress for nobody."""


def _fit(
    corpus: TrainingCorpus,
    classes: np.ndarray,
    settings: Settings,
    progress: Announce | None,
    source: str = "",
) -> TextModel:
    say = progress or _say_nothing
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise InputError(f"`labels` has only the label {only!r}: expected at least two classes.")
    _warn_of_similar(classes)
    texts = len(corpus.labels)
    tables = _read_tables(settings, texts)
    corpus = replace(corpus, weights=corpus.weights / corpus.weights.mean())  # equal is as none
    say(f"{texts:,} texts, {len(classes)} classes")
    if (fewest := np.bincount(corpus.labels).min()) < FEWEST_GROUPS:
        few = pluralize(int(fewest), "text")
        say(f"a class has {few}: what held-out texts say of so few is mostly chance")
    candidates, bags = _find_candidates(corpus, settings)
    say(f"{len(candidates):,} candidate tokens")
    folds = find_folds(bags, settings.random_state)
    corpus, bags = replace(corpus, folds=folds), replace(bags, folds=folds)
    reader = _find_reader(corpus, candidates, bags, replace(settings, overlapping=True))
    if reader.modifiers:
        say(f"modifiers: {', '.join(f'{m.word} × {m.factor:g}' for m in reader.modifiers)}")
        # Modifiers that turn votes say nothing by themselves.
        turns = np.array([*(m.factor < 0 for m in reader.modifiers), False])
        speaking = ~turns[reader.numbers_of(candidates.surfaces)]
        candidates = take_tokens(candidates, np.flatnonzero(speaking))
        overlapping = replace(settings.tokeniser, overlapping=True)
        bags = corpus.encode(candidates, overlapping, reader)
    best = None
    for vectors in tables:
        if best and not (vectors and vectors.suit(candidates)):
            break
        say(f"word vectors: {vectors.name if vectors else 'none'}")
        corpus = replace(corpus, vectors=vectors)
        with_vectors = replace(bags, vectors=vectors and vectors.of(candidates))
        weigh = partial(_weigh, corpus, reader)
        trial, measured = tune(weigh, candidates, with_vectors, settings, say)
        loss = measured["held_out_log_loss"] + DOUBT * (vectors is None)
        if best is None or loss < best.loss:
            best = _Tuned(loss, trial, measured, corpus)
        if measured["held_out_accuracy"] == 1:
            break  # there is nothing to gain
    assert best is not None
    return _assemble(best, classes, reader, settings, source)


def _warn_of_similar(classes: np.ndarray) -> None:
    """Name classes that differ only in case or spaces. They may be meant, as genes and their
    proteins are, so that it is no error."""
    alike: dict[str, list[str]] = {}
    for name in map(str, classes.tolist()):
        alike.setdefault(name.strip().casefold(), []).append(shorten(name))
    pairs = [" and ".join(names) for names in alike.values() if len(names) > 1]
    if pairs:
        problem = f"labels differ only in case or spaces: {join_first(pairs, len(pairs))}"
        warnings.warn(f"{problem}. Rename them if they are meant to be one class.", stacklevel=2)


class _Tuned(NamedTuple):
    """The best trial with one table of word vectors, or without."""

    loss: float
    trial: Trial
    measured: dict[str, Any]
    corpus: TrainingCorpus


def _assemble(
    best: _Tuned, classes: np.ndarray, reader: Reader, settings: Settings, source: str
) -> TextModel:
    """The model that all texts give with the chosen settings."""
    trial, vectors = best.trial, best.corpus.vectors
    chosen = replace(trial.settings, vectors=vectors and vectors.name)
    assert chosen.alpha is not None
    assert chosen.neutral_weight is not None
    assert chosen.gate is not None
    _, vocabulary, fitted = _weigh(best.corpus, reader, trial.known, trial.bags, trial.settings)
    if len(fitted.kept) < len(vocabulary):
        vocabulary = take_tokens(vocabulary, fitted.kept)
        fitted = fitted._replace(weights=fitted.weights[fitted.kept])
    if vectors is not None and settings.max_features is None:
        unwanted = {*settings.exclude, *settings.stopped}
        unwanted |= {word for word in vectors.rows if reader.turns(word)}
        vocabulary, fitted = _add_unseen(vocabulary, fitted, vectors, unwanted)
    measured = dict(best.measured)
    temperature = measured.pop("temperature")
    lengths = np.concatenate([chunk.lengths for chunk in best.corpus.chunks])
    return TextModel(
        vocabulary=vocabulary,
        weights=fitted.weights / temperature,
        bias=fitted.bias,
        classes=plain_names(classes),
        modifiers=reader.modifiers,
        rule=VotingRule(
            scope=reader.scope,
            gate=chosen.gate,
            alpha=chosen.alpha,
            neutral_weight=chosen.neutral_weight,
        ),
        tokeniser=chosen.tokeniser,
        metrics={
            "sources": [[f"{pluralize(len(lengths), 'text')}{source}, {date.today()}", NO_RIGHTS]],
            "given": settings.recorded,
            "settings": chosen.recorded,
            **measured,
            **_quantiles(lengths),
        },
    )


def _read_tables(settings: Settings, texts: int) -> list[Vectors | None]:
    """The tables of vectors to try; None for none."""
    if settings.vectors != "auto":
        return [None if settings.vectors is None else read_vectors(settings.vectors)]
    return [None] if texts > FEW_TEXTS or settings.consistent else [None, read_vectors("english")]


def _add_unseen(
    vocabulary: Vocabulary, fitted: Fitted, vectors: Vectors, unwanted: set[str]
) -> tuple[Vocabulary, Fitted]:
    """The vocabulary and its weights, and after them words that are only in the table of
    vectors."""
    least = LIGHT * np.abs(fitted.weights).max(initial=1.0)
    words, more = vectors.unseen(vocabulary, fitted.slope, unwanted, least)
    counts = np.zeros((len(words), vocabulary.counts.shape[1]), dtype=int)
    every = Vocabulary([*vocabulary.surfaces, *words], np.concatenate([vocabulary.counts, counts]))
    return every, fitted._replace(weights=np.concatenate([fitted.weights, more]))


def plain_names(classes: np.ndarray) -> tuple[Any, ...]:
    """Classes as a model folder can hold them: texts, numbers, truth values; anything else by what
    it says."""
    storable = str | int | float | bool
    return tuple(c if isinstance(c, storable) else str(c) for c in classes.tolist())


def _quantiles(lengths: np.ndarray) -> dict[str, list[int]]:
    """The 1 % and 99 % quantiles of the lengths in characters; of fewer than 100 texts they would
    mean nothing."""
    if len(lengths) < 100:
        return {}
    return {LENGTHS: np.quantile(lengths, [0.01, 0.99]).round().astype(int).tolist()}


def _find_candidates(corpus: TrainingCorpus, settings: Settings) -> tuple[Vocabulary, Bags]:
    """All words and phrases that enough texts, and enough groups, have; and the texts and sentences
    with them."""
    tokeniser = replace(settings.tokeniser, overlapping=True)
    min_df = settings.min_df or 1
    most = {"words": MOST_WORDS, "phrases": MOST_PHRASES}
    known = choose_tokens(corpus, corpus.classes, settings.ngram_range[1], **most, min_df=min_df)
    bags = corpus.encode(known, tokeniser)
    of_texts = np.zeros((len(known), corpus.classes), dtype=int)
    of_groups = np.zeros_like(of_texts)
    for bag in bags:
        if bag.is_whole:
            of_texts += replace(bag, groups=np.arange(len(bag))).counts(weighted=False)
            of_groups += bag.counts(weighted=False)
    known.counts[:] = of_texts
    keep = of_groups.sum(axis=1) >= min_df
    if settings.exclude or settings.stopped:
        words, sizes = cut_tokens(known)
        starts = np.cumsum(sizes) - sizes
        excluded, stopped = (
            np.array([word in some for word in words], dtype=bool)
            for some in (set(settings.exclude), settings.stopped)
        )
        keep &= ~np.logical_or.reduceat(excluded, starts)
        keep &= ~np.logical_and.reduceat(stopped, starts)
    if not keep.any():
        raise InputError(
            f"`texts`: no token occurs in {min_df} of them; lower `min_df`, or give more texts."
        )
    if keep.all():
        return known, bags
    kept = np.flatnonzero(keep)
    return take_tokens(known, kept), bags.take(kept)


def _find_reader(
    corpus: TrainingCorpus, candidates: Vocabulary, bags: Bags, settings: Settings
) -> Reader:
    """The modifiers that short texts show, if they lower the loss of texts that were not learnt."""
    if not settings.reading:
        return NOT_READ
    short = find_short(corpus)
    # Phrases such as "not good" would say a part of what modifiers do.
    is_word = np.flatnonzero(cut_tokens(candidates)[1] == 1)
    if len(short.texts) < FEWEST or not len(is_word):
        return NOT_READ
    words = take_tokens(candidates, is_word)
    before, starts = _judge_words(words, bags.take(is_word), short, settings, {})
    reader = Reader(find_modifiers(short, before, SCOPE), SCOPE)
    if not reader.modifiers:
        return NOT_READ
    gains = np.zeros(1)
    for turn in range(1 + REFINED):
        read = corpus.encode(words, settings.tokeniser, reader)
        after, starts = _judge_words(words, read, short, settings, starts)
        gains = before.losses() - after.losses() if not turn else gains
        if gains.mean() <= SURE * gains.std() / np.sqrt(len(gains)):
            return NOT_READ
        reader = Reader(refine(short, after, reader), SCOPE)
    return reader


def _judge_words(
    words: Vocabulary, bags: Bags, short: Short, settings: Settings, starts: dict[int, Fitted]
) -> tuple[Evidence, dict[int, Fitted]]:
    """What the weights of single words say of short texts from which they were not learnt, and
    these weights, by fold."""
    how = {"C": settings.C or 1.0, "scaling": settings.scaling or "contrast"}
    settings = replace(settings, **how)
    rows = 1 if bags.classes == 2 else bags.classes
    ids = np.array([words.index.get(word, -1) for word in short.words])
    votes, logits = np.zeros((FOLDS, len(ids), rows)), np.empty((len(bags.labels), rows))
    shares, found = np.empty(len(bags.labels)), {}
    for fold in range(FOLDS):
        found[fold] = _regress(bags, fold, settings, starts.get(fold))
        weights, bias, typical, *_ = found[fold]
        votes[fold, ids >= 0] = weights[ids[ids >= 0]]
        held_out, mine = list(bags.held_out(fold)), np.flatnonzero(bags.folds == fold)
        sizes = np.concatenate([bag.sizes for bag in held_out])
        shares[mine] = (typical + TYPICAL_WEIGHT) / (sizes + TYPICAL_WEIGHT)
        sums = np.concatenate([bag.matrix @ weights for bag in held_out])
        logits[mine] = shares[mine][:, None] * sums + bias
    chosen = short.texts
    about = shares[chosen], bags.labels[chosen], bags.weights[chosen]
    return Evidence(votes, bags.folds[chosen], logits[chosen], *about), found


def _weigh(
    corpus: TrainingCorpus,
    reader: Reader,
    candidates: Vocabulary,
    bags: Bags,
    settings: Settings,
    *,
    fold: int | None = None,
    start: Fitted | None = None,
) -> tuple[Bags, Vocabulary, Fitted]:
    """All texts with the tokens of the vocabulary, the vocabulary, and the weights of its tokens,
    without what the texts of a fold say."""
    fitted = _regress(bags, fold, settings, start)
    if settings.max_features is None and settings.overlapping:
        return bags, candidates, fitted
    kept = _best(bags.without(fold), fitted.weights, settings.max_features)
    vocabulary, start = take_tokens(candidates, kept), fitted.of_tokens(kept)
    bags = corpus.encode(vocabulary, settings.tokeniser, reader)
    return bags, vocabulary, _regress(bags, fold, settings, start)


def _regress(bags: Bags, fold: int | None, settings: Settings, start: Fitted | None) -> Fitted:
    """The weights of the tokens that enough of the texts have, those of a fold left out; those of
    other tokens are 0."""
    assert settings.C is not None
    assert settings.scaling is not None
    kept, design = _prepare(bags, fold, max(1, settings.min_df or 1))
    start = start and start.of_tokens(kept)
    bias = bags.prior * settings.fit_intercept
    how = {"bias": bias, "consistent": settings.consistent, "start": start}
    found = regress(design, settings.C, scales(design, settings.scaling), **how)
    weights = np.zeros((bags.tokens, found.weights.shape[1]))
    weights[kept] = found.weights
    return found._replace(weights=weights, kept=kept)


def _prepare(bags: Bags, fold: int | None, fewest: int) -> tuple[np.ndarray, Design]:
    """The tokens that so many texts have, those of a fold left out, and what regressions on them
    share; made once for all strengths and scalings."""
    if (fold, fewest) in bags.designs:
        return bags.designs[fold, fewest]
    if len(bags.labels) > MANY_TEXTS:
        bags.designs.clear()  # or they would take several times as much memory as the texts
    rest = bags.without(fold)
    of_groups: Any = sum(bag.counts(weighted=False).sum(axis=1) for bag in rest if bag.is_whole)
    kept = np.flatnonzero(of_groups >= fewest)
    part = rest if len(kept) == rest.tokens else rest.take(kept)
    typical = float(np.concatenate([bag.sizes for bag in part if bag.is_whole]).mean())
    design = Design(part, typical, folder=bags.folder, vectors=part.vectors)
    bags.designs[fold, fewest] = kept, design
    return kept, design


def _best(bags: Bags, weights: np.ndarray, most: int | None) -> np.ndarray:
    """The tokens that matter most, the heaviest first: where places count once, these take them."""
    heaviest = np.abs(weights).max(axis=1)
    documents = sum(np.bincount(bag.matrix.indices, minlength=bag.tokens) for bag in bags)
    kept = np.argsort(-heaviest * np.sqrt(documents), kind="stable")[:most]
    return kept[np.argsort(-heaviest[kept], kind="stable")]
