"""From texts with labels to a model: vocabulary, folds, settings that suit the texts, weights,
calibration."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hardmax import __version__
from hardmax._common.format import first_few, pluralize
from hardmax._common.validation import InputError, shorten
from hardmax.text._analysis import LENGTHS
from hardmax.text._texts import TextBytes, read_texts
from hardmax.text.encoding import NOT_READ, cut_tokens, encode
from hardmax.text.reading import Reader, VotingRule
from hardmax.text.text_model import TextModel
from hardmax.text.vocabulary import Vocabulary, choose_tokens, take_tokens
from hardmax.train.bag import (
    TYPICAL_WEIGHT,
    Bags,
    Design,
    Fitted,
    log_loss,
    regress,
    scales,
    to_matrix,
    to_shifts,
)
from hardmax.train.reading import (
    FEWEST,
    SURE,
    Evidence,
    Short,
    find_modifiers,
    find_short,
    refine,
    with_short_forms,
)
from hardmax.train.settings import Settings
from hardmax.train.tuning import (
    ENOUGH,
    FEWEST_GROUPS,
    MANY_TEXTS,
    Trial,
    find_folds,
    telling,
    tune,
    weak_words,
)
from hardmax.train.vectors import Vectors, read_vectors

MOST_WORDS, MOST_PHRASES = 60_000, 120_000
SCOPE = 4  # words
REFINED = 1  # times that factors and weights are fitted in turn, after the first
LIGHT = 0.01  # of the largest weight: words that only vectors know must weigh more
FEW_TEXTS = 12_000  # up to this many, English word vectors help
MORE = 0.25  # of what its words say: a phrase says so much beside them
UNEXPLAINED = 1.0  # standard errors of what a phrase says beside its words, on held-out texts
Announce = Callable[[str], None]  # of what training does next

try:  # comes with scikit-learn
    from threadpoolctl import threadpool_limits
except ImportError:
    threadpool_limits = nullcontext


class _Corpus(NamedTuple):
    """All texts, and what is known of them."""

    texts: TextBytes
    labels: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    classes: int
    folds: np.ndarray

    def held_out(self, fold: int | None) -> "_Corpus":
        """The texts of a fold; all, if it is None."""
        if fold is None:
            return self
        rows = np.flatnonzero(self.folds == fold)
        names = ("labels", "weights", "groups", "folds")
        about = {name: getattr(self, name)[rows] for name in names}
        return self._replace(texts=self.texts.pick(rows), **about)

    def encode(self, vocabulary: Vocabulary, settings: Settings, reader: Reader = NOT_READ) -> Bags:
        """The texts with the tokens of a vocabulary, as modifiers change them."""
        found = encode(self.texts, vocabulary, settings.tokeniser, reader)
        about = self.labels, self.weights, self.groups, self.classes, self.folds
        moves = any(modifier.shift for modifier in reader.modifiers)
        shifts = to_shifts(found, len(vocabulary)) if moves else None
        return Bags(to_matrix(found, len(vocabulary)), *about, shifts=shifts)


def fit(
    texts: Any,
    labels: Any,
    settings: Settings | None = None,
    *,
    sample_weight: np.ndarray | None = None,
    groups: Any = None,
    progress: Announce | None = None,
    source: Mapping[str, Any] | None = None,
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
    source : dict, optional
        What is known about the source of the texts, for the model card: plain data.

    Returns
    -------
    TextModel
        The model; `model.metrics` says what was chosen, and what was measured on held-out texts.

    Examples
    --------
    >>> model = fit(["a good film", "so good", "a bad film", "so bad"] * 5, [1, 1, 0, 0] * 5)
    >>> model.analyse(["good", "qwrt"]).decided.tolist()
    [True, False]
    """
    settings = settings or Settings()
    read = read_texts(texts)
    classes, numbers = np.unique(np.asarray(labels), return_inverse=True)
    if len(numbers) != len(read):
        raise InputError(
            f"`labels` has {len(numbers)} entries: expected {len(read)}, one for each text."
        )
    if len(classes) < 2:
        only = ", ".join(map(repr, classes.tolist()))
        raise InputError(f"`labels` has only the label {only}: expected at least two classes.")
    weights = np.ones(len(read)) if sample_weight is None else np.asarray(sample_weight, float)
    of_group = np.arange(len(read))
    if groups is not None:
        of_group = np.unique(np.asarray(groups), return_inverse=True)[1]
    # Equal weights are as none.
    about = numbers, weights / weights.mean(), of_group, len(classes)
    corpus = _Corpus(read, *about, np.zeros(len(read), dtype=int))
    with threadpool_limits(1):  # sums of vectors, at which threads of BLAS mostly wait
        model = _fit(corpus, classes, settings, progress or (lambda _: None))
    counts = np.bincount(numbers).tolist()
    known = {"texts": len(read), "classes": dict(zip(map(str, model.classes), counts, strict=True))}
    training = {"date": str(date.today()), "hardmax version": __version__}
    model.metrics.update(sources=[known | dict(source or {})], training=training)
    return model


def _fit(corpus: _Corpus, classes: np.ndarray, settings: Settings, say: Announce) -> TextModel:
    texts = len(corpus.labels)
    vectors = _read_vectors(settings, texts)
    names = first_few(map(shorten, classes.tolist()), 10)
    say(f"{texts:,} texts, {len(classes)} classes: {names}")
    if (fewest := np.bincount(corpus.labels).min()) < FEWEST_GROUPS:
        few = pluralize(int(fewest), "text")
        say(f"a class has {few}: what held-out texts say of so few is mostly chance")
    overlapping = replace(settings, overlapping=True)
    candidates, bags = _find_candidates(corpus, overlapping)
    say(f"{len(candidates):,} candidate tokens")
    folds = find_folds(bags, settings.random_state)
    corpus, bags = corpus._replace(folds=folds), replace(bags, folds=folds)
    reader = _find_reader(corpus, candidates, bags, settings)
    if reader.modifiers:
        say(f"modifiers: {', '.join(map(str, reader.modifiers))}")
        bags = corpus.encode(candidates, overlapping, reader)
    kept = _speaking(candidates, reader, settings, settings.stop_words or ())
    candidates, bags = take_tokens(candidates, kept), bags.take(kept)
    if vectors and settings.vectors == "auto" and not vectors.suit(candidates):
        vectors = None
    say(f"word vectors: {vectors.name if vectors else 'none'}")
    weigh = partial(_weigh, corpus, reader, vectors)
    with_vectors = replace(bags, vectors=vectors and vectors.of(candidates))
    trial, measured = tune(weigh, candidates, with_vectors, settings, say)
    return _assemble(trial, measured, vectors, corpus, classes, reader)


def _assemble(
    trial: Trial,
    measured: dict[str, Any],
    vectors: Vectors | None,
    corpus: _Corpus,
    classes: np.ndarray,
    reader: Reader,
) -> TextModel:
    """The model that all texts give with the chosen settings."""
    settings = trial.settings
    chosen: Any = replace(settings, vectors=vectors and vectors.name)
    known = corpus, reader, vectors, trial.known, trial.bags
    _, vocabulary, fitted = _weigh(*known, settings)
    vocabulary, fitted = take_tokens(vocabulary, fitted.kept), fitted.of_tokens(fitted.kept)
    if vectors is not None and settings.max_features is None:
        unwanted = {*settings.exclude, *(settings.stop_words or ())}
        unwanted |= {word for word in vectors.rows if reader.speaks_through(word)}
        vocabulary, fitted = _add_unseen(vocabulary, fitted, vectors, unwanted)
    temperature = measured.pop("temperature")
    lengths = list(map(len, corpus.texts.strings()))
    votes = {name: getattr(chosen, name) for name in ("gate", "alpha", "neutral_weight")}
    rule = VotingRule(scope=reader.scope, **votes)
    # Texts, numbers and truth values, as a model folder can hold them; anything else as a text.
    names = (c if isinstance(c, str | int | float) else str(c) for c in classes.tolist())
    return TextModel(
        vocabulary=vocabulary,
        weights=fitted.weights / temperature,
        bias=fitted.bias,
        classes=tuple(names),
        modifiers=tuple(replace(m, shift=m.shift / temperature) for m in reader.modifiers),
        rule=rule,
        tokeniser=chosen.tokeniser,
        metrics={
            "settings": chosen.recorded,
            **measured,
            **_quantiles(lengths),
        },
    )


def _read_vectors(settings: Settings, texts: int) -> Vectors | None:
    """The table of word vectors that is given, or may suit so many texts."""
    if settings.vectors != "auto":
        return None if settings.vectors is None else read_vectors(settings.vectors)
    return read_vectors("english") if texts <= FEW_TEXTS and not settings.consistent else None


def _add_unseen(
    vocabulary: Vocabulary, fitted: Fitted, vectors: Vectors, unwanted: set[str]
) -> tuple[Vocabulary, Fitted]:
    """The vocabulary and its weights, and after them words that are only in the table of
    vectors."""
    least = LIGHT * np.abs(fitted.weights).max(initial=1.0)
    words, more = vectors.unseen(vocabulary, fitted.slope, unwanted, least)
    counts = np.zeros((len(words), vocabulary.counts.shape[1]), dtype=int)
    surfaces = (*vocabulary.surfaces, *words)
    every = Vocabulary._of(surfaces, np.concatenate([vocabulary.counts, counts]))
    return every, fitted._replace(weights=np.concatenate([fitted.weights, more]))


def _quantiles(lengths: list[int]) -> dict[str, list[int]]:
    """The 1 % and 99 % quantiles of the lengths in characters; of fewer than 100 texts they would
    mean nothing."""
    if len(lengths) < 100:
        return {}
    return {LENGTHS: np.quantile(lengths, [0.01, 0.99]).round().astype(int).tolist()}


def _find_candidates(corpus: _Corpus, settings: Settings) -> tuple[Vocabulary, Bags]:
    """All words and phrases that enough texts, and enough groups, have; and the texts with them."""
    min_df = settings.min_df or 1
    most = {"words": MOST_WORDS, "phrases": MOST_PHRASES, "min_df": min_df}
    surfaces = choose_tokens(corpus.texts, settings.ngram_range[1], **most)
    none = np.zeros((len(surfaces), corpus.classes), dtype=int)
    bags = corpus.encode(Vocabulary._of(tuple(surfaces), none), settings)
    alone = replace(bags, groups=np.arange(len(bags.labels)))
    known = Vocabulary._of(tuple(surfaces), alone.counts(weighted=False).astype(int))
    keep = bags.counts(weighted=False).sum(axis=1) >= min_df
    excluded = set(settings.exclude)
    if excluded:
        words, sizes = cut_tokens(known)
        starts = np.cumsum(sizes) - sizes
        keep &= ~np.logical_or.reduceat([word in excluded for word in words], starts)
    if not keep.any():
        raise InputError(
            f"`texts`: no token occurs in {min_df} of them; lower `min_df`, or give more texts."
        )
    kept = np.flatnonzero(keep)
    return take_tokens(known, kept), bags.take(kept)


def _speaking(
    known: Vocabulary, reader: Reader, settings: Settings, silent: Iterable[str]
) -> np.ndarray:
    """The tokens that do not begin or end with a silent word, and are no modifiers that speak
    through others."""
    silent = {word for word in silent if reader.number_of(word) < 0}
    ends = settings.stop_words is not None and not settings.overlapping
    kept = telling(known, silent, ends=ends)
    if not settings.overlapping:
        through = [reader.speaks_through(known.surfaces[token]) for token in kept]
        kept = kept[~np.array(through, dtype=bool)]
    return kept if len(kept) else np.arange(len(known))


def _find_reader(corpus: _Corpus, candidates: Vocabulary, bags: Bags, settings: Settings) -> Reader:
    """The modifiers that short texts show, if they lower the loss of held-out texts."""
    if not settings.reading:
        return NOT_READ
    short = find_short(corpus.texts)
    # Phrases such as "not good" would say a part of what modifiers do.
    is_word = np.flatnonzero(cut_tokens(candidates)[1] == 1)
    if len(short.texts) < FEWEST or not len(is_word):
        return NOT_READ
    every = take_tokens(candidates, is_word)
    before = _judge_words(every, bags.take(is_word), short, settings)
    reader = Reader(find_modifiers(short, before, SCOPE, {*settings.exclude}), SCOPE)
    after, kept, words = before, is_word, every
    for _ in range(1 + REFINED):
        if not reader.modifiers:
            return NOT_READ
        read = corpus.encode(every, settings, reader)
        silent = set(settings.stop_words or ())
        if settings.stop_words is None and len(bags.labels) > ENOUGH:
            silent = weak_words(every, read)
        kept = _speaking(every, reader, settings, silent)
        words = take_tokens(every, kept)
        after = _judge_words(words, read.take(kept), short, settings)
        reader = Reader(refine(short, after, reader), SCOPE)
    without = bags.take(is_word[kept])
    gains = _judge_words(words, without, short, settings).losses() - after.losses()
    gains *= before.weights / before.weights.mean()
    is_sure = gains.mean() > SURE * gains.std() / np.sqrt(len(gains))
    modifiers = with_short_forms(reader.modifiers, short.words)
    return Reader(modifiers, SCOPE) if is_sure else NOT_READ


def _judge_words(words: Vocabulary, bags: Bags, short: Short, settings: Settings) -> Evidence:
    """What the weights of single words say of short texts that were held out."""
    weights, logits, shares = _hold_out(bags, settings)
    ids = np.array([words.index.get(word, -1) for word in short.words])
    votes = np.where((ids >= 0)[:, None], weights[:, ids], 0.0)
    chosen = short.texts
    speaks = (ids >= 0) & (bags.classes == 2) & (not settings.overlapping)
    about = shares[chosen], bags.labels[chosen], bags.weights[chosen]
    return Evidence(votes, speaks, bags.folds[chosen], logits[chosen], *about)


def _hold_out(bags: Bags, settings: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights learned without each fold, the logits that they give the texts of the fold,
    and what sums of votes are multiplied by there."""
    how = {"C": settings.C or 1.0, "scaling": settings.scaling or "contrast"}
    settings = replace(settings, **how)
    found, logits = [], np.empty((len(bags.labels), len(bags.prior)))
    shares = np.empty(len(bags.labels))
    for fold in np.unique(bags.folds).tolist():
        weights, bias, typical, *_ = _regress(bags, fold, settings, None)
        mine, held_out = bags.folds == fold, bags.held_out(fold)
        shares[mine] = (typical + TYPICAL_WEIGHT) / (held_out.sizes + TYPICAL_WEIGHT)
        logits[mine] = shares[mine][:, None] * held_out.sums(weights) + bias
        found.append(weights)
    return np.array(found), logits, shares


def _unexplained(bags: Bags, is_word: np.ndarray, settings: Settings) -> np.ndarray:
    """By how many standard errors what words, learned from other texts, do not say of the texts
    that have each token differs from 0."""
    _, logits, _ = _hold_out(bags.take(np.flatnonzero(is_word)), settings)
    residuals, matrix = log_loss(logits, bags.labels, bags.weights)[1], bags.matrix.T
    sums, squares = matrix @ residuals, matrix**2 @ residuals**2
    return (np.abs(sums) / np.sqrt(np.maximum(squares, 1e-9))).max(axis=1)


def _weigh(
    corpus: _Corpus,
    reader: Reader,
    vectors: Vectors | None,
    candidates: Vocabulary,
    bags: Bags,
    settings: Settings,
    *,
    fold: int | None = None,
    start: Fitted | None = None,
) -> tuple[Bags, Vocabulary, Fitted]:
    """All texts with the tokens of the vocabulary, the vocabulary, and the weights of its tokens,
    without what the texts of a fold say."""
    if not settings.overlapping:
        return _weigh_segments(corpus, reader, candidates, bags, settings, fold)
    fitted = _regress(bags, fold, settings, start)
    if settings.max_features is None:
        return bags, candidates, fitted
    kept = _best(bags.without(fold), fitted.weights, settings.max_features)
    vocabulary, start = take_tokens(candidates, kept), fitted.of_tokens(kept)
    bags = bags.take(kept)
    return bags, vocabulary, _regress(bags, fold, settings, start)


def _weigh_segments(
    corpus: _Corpus,
    reader: Reader,
    candidates: Vocabulary,
    bags: Bags,
    settings: Settings,
    fold: int | None,
) -> tuple[Bags, Vocabulary, Fitted]:
    """Words vote first; a phrase votes in their place if they leave something unexplained. Its
    weight is what its words, as it reads them, say together, and what they do not say."""
    key = "segments", fold
    if key not in bags.shared:
        is_word = cut_tokens(candidates)[1] == 1
        told = is_word | (_unexplained(bags.without(fold), is_word, settings) > UNEXPLAINED)
        kept = np.flatnonzero(told)
        kept = kept[np.argsort(~is_word[kept], kind="stable")]
        joined = bags.take(kept)
        if joined.shifts is not None:  # a phrase is moved with its words
            joined.shifts.data = joined.shifts.data * (joined.shifts.indices < is_word.sum())
        known = take_tokens(candidates, kept)
        bags.shared[key] = joined, known, _read_phrases(known, settings, reader), {}
    joined, known, (factors, shifts), start = bags.shared[key]
    fitted = start["before"] = _regress(joined, fold, settings, start.get("before"))
    say = factors @ fitted.weights + shifts
    own, words_say = (np.abs(part).max(axis=1) for part in (fitted.weights, say - fitted.weights))
    kept = fitted.kept[own[fitted.kept] >= MORE * words_say[fitted.kept]]
    if settings.max_features is not None:
        best = _best(joined.without(fold), fitted.weights, None)
        kept = best[np.isin(best, kept)][: settings.max_features]
    kept = np.sort(kept)
    joined, known = joined.take(kept), take_tokens(known, kept)
    fitted = _regress(joined, fold, settings, fitted.of_tokens(kept))
    say = factors[kept][:, kept] @ fitted.weights + shifts[kept]
    if settings.consistent:  # its own weight alone, if its words turn it against its counts
        say = np.where(say * fitted.weights < 0, fitted.weights, say)
    # Phrases take their words, those first that say most beside them.
    is_word = cut_tokens(known)[1] == 1
    order = np.lexsort((-np.abs(fitted.weights).max(axis=1), is_word))
    vocabulary, every = take_tokens(known, order), np.arange(len(order))
    found = fitted._replace(weights=say[order], kept=every)
    return corpus.held_out(fold).encode(vocabulary, settings, reader), vocabulary, found


def _read_phrases(known: Vocabulary, settings: Settings, reader: Reader) -> tuple[Any, np.ndarray]:
    """By what the tokens in each token are multiplied there, (tokens, tokens), and by what they are
    moved together."""
    read = encode(known.surfaces, known, replace(settings.tokeniser, overlapping=True), reader)
    is_word = cut_tokens(known)[1] == 1
    shifts = to_shifts(read, len(known)) @ is_word
    return to_matrix(read, len(known)), shifts[:, None]


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
    """The tokens that enough texts have, those of a fold left out, and what regressions on them
    share; made once for all strengths and scalings."""
    if (fold, fewest) in bags.shared:
        return bags.shared[fold, fewest]
    if len(bags.labels) > MANY_TEXTS:
        bags.shared.clear()  # or they would take several times as much memory as the texts
    rest = bags.without(fold)
    kept = np.flatnonzero(rest.counts(weighted=False).sum(axis=1) >= fewest)
    design = Design(rest.take(kept))
    bags.shared[fold, fewest] = kept, design
    return kept, design


def _best(bags: Bags, weights: np.ndarray, most: int | None) -> np.ndarray:
    """The tokens that matter most, the heaviest first: where places count once, these take them."""
    heaviest = np.abs(weights).max(axis=1)
    documents = np.bincount(bags.matrix.indices, minlength=bags.tokens)
    kept = np.argsort(-heaviest * np.sqrt(documents), kind="stable")[:most]
    return kept[np.argsort(-heaviest[kept], kind="stable")]
