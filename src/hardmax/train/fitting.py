"""From texts with labels to a model: vocabulary, folds, settings that suit the texts, weights,
calibration."""

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from hardmax._common.validation import InputError
from hardmax.text._texts import TextBytes, read_texts
from hardmax.text.corpora import Corpus, stream_corpus
from hardmax.text.encoding import NOT_READ, encode
from hardmax.text.explain import LENGTHS
from hardmax.text.reading import Reader, VotingRule
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import Tokeniser, cut_surface
from hardmax.text.vocabulary import Vocabulary, choose_tokens, take_tokens
from hardmax.train.bag import TYPICAL_WEIGHT, Bags, Fitted, Stored, regress, scales, to_matrix
from hardmax.train.reading import FEWEST, SURE, Evidence, Short, find_modifiers, find_short, refine
from hardmax.train.settings import Settings
from hardmax.train.tuning import FOLDS, find_folds, tune
from hardmax.train.vectors import Vectors, read_vectors

MOST_WORDS, MOST_PHRASES = 60_000, 120_000
CHARACTERS = 1 << 24  # of texts that are in memory at the same time, if they come from tables
_SENTENCES, _SHORTEST = 3, 15  # of a text, and the bytes of one
_LATIN_ENDS = re.compile(rb"\s(?<=[.!?]\s)\s*|<br ?/?>|\n+")
_WIDE_ENDS = re.compile("[。！？]".encode())
_SENTENCE_ENDS = re.compile(
    rb"%s|(?<=%s)|(?<=%s)|(?<=%s)" % (_LATIN_ENDS.pattern, *map(str.encode, "。！？"))
)
SCOPE = 4  # words
REFINED = 1  # times that factors and weights are fitted in turn, after the first
LIGHT = 0.01  # of the largest weight: words that only vectors know must weigh more
FEW_TEXTS = 1_000  # up to so many, English word vectors are tried
DOUBT = (
    0.02  # of held-out log loss: word vectors mostly help, and few texts do not say this for sure
)
Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class _Chunk:
    """Texts with some sentences of each after them, in memory or in a file."""

    stored: Stored
    """The bytes of all, their offsets, and the text that each comes from, itself for a text."""
    labels: np.ndarray
    """The class of each text."""

    @classmethod
    def of(
        cls,
        texts: TextBytes,
        labels: np.ndarray,
        *,
        sentences: bool,
        rng: np.random.Generator,
        folder: Path | None,
    ) -> "_Chunk":
        data, chosen, owners = texts.data.tobytes(), [], []
        for text, (first, last) in enumerate(pairwise(texts.offsets.tolist()) if sentences else ()):
            found = [each for each in _cut_sentences(data[first:last]) if len(each) >= _SHORTEST]
            if len(found) > 1:  # else there is nothing new
                taken = rng.permutation(len(found))[:_SENTENCES].tolist()
                chosen += [found[each] for each in taken]
                owners += [text] * len(taken)
        own = texts.data[texts.offsets[0] : texts.offsets[-1]]
        every = np.concatenate([own, np.frombuffer(b"".join(chosen), dtype=np.uint8)])
        ends = len(own) + np.cumsum([len(each) for each in chosen], dtype=np.int64)
        offsets = np.concatenate([texts.offsets - texts.offsets[0], ends])
        return cls(
            Stored(
                folder, every, offsets, np.concatenate([np.arange(len(texts)), owners]).astype(int)
            ),
            labels,
        )

    def read(self) -> tuple[TextBytes, np.ndarray]:
        """The texts and sentences, and the text that each comes from."""
        data, offsets, owners = self.stored.load()
        return TextBytes(data, offsets), owners


@dataclass(frozen=True, eq=False)
class _Corpus:
    chunks: list[_Chunk]
    labels: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    classes: int
    sentences: float
    """The weight of a sentence."""
    folder: Path | None
    """For what is not kept in memory."""
    folds: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Not known before the texts have been encoded once."""
    vectors: Vectors | None = None

    def __iter__(self) -> Iterator[tuple[TextBytes, np.ndarray]]:
        """The texts of each chunk, without the sentences, and their classes."""
        for chunk in self.chunks:
            yield chunk.read()[0].part(0, len(chunk.labels)), chunk.labels

    def encode(
        self, vocabulary: Vocabulary, tokeniser: Tokeniser, reader: Reader = NOT_READ
    ) -> Bags:
        """The texts and sentences with the tokens of a vocabulary, as modifiers change them."""
        stored, first = [], 0
        for chunk in self.chunks:
            texts, owners = chunk.read()
            matrix = to_matrix(encode(texts, vocabulary, tokeniser, reader), len(vocabulary))
            whole = len(chunk.labels)
            for is_whole, rows in ((True, slice(0, whole)), (False, slice(whole, None))):
                part, own = matrix[rows], owners[rows] + first
                if len(own):
                    arrays = part.data, part.indices, part.indptr, own
                    stored.append((is_whole, Stored(self.folder, *arrays)))
            first += whole
        about = self.labels, self.weights, self.groups, self.folds, self.sentences
        vectors = None if self.vectors is None else self.vectors.of(vocabulary)
        return Bags(stored, len(vocabulary), self.classes, *about, self.folder, vectors=vectors)


def _cut_sentences(text: bytes) -> list[bytes]:
    return (_SENTENCE_ENDS if _WIDE_ENDS.search(text) else _LATIN_ENDS).split(text)


def fit(
    texts: Any,
    labels: Any,
    settings: Settings | None = None,
    *,
    sample_weight: np.ndarray | None = None,
    groups: Any = None,
    progress: Progress | None = None,
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
    found = read_texts(texts)
    classes, numbers = np.unique(np.asarray(labels), return_inverse=True)
    if len(numbers) != len(found):
        raise InputError(
            f"`labels` has {len(numbers)} entries: expected {len(found)}, one for each text."
        )
    weights = (
        np.ones(len(found))
        if sample_weight is None
        else np.asarray(sample_weight, dtype=np.float64)
    )
    of_group = (
        np.arange(len(found))
        if groups is None
        else np.unique(np.asarray(groups), return_inverse=True)[1]
    )
    rng, with_sentences = np.random.default_rng(settings.seed), settings.sentences > 0
    chunk = _Chunk.of(found, numbers, sentences=with_sentences, rng=rng, folder=None)
    return _fit(
        [chunk], _count_characters(found), classes, settings, weights, of_group, None, progress
    )


def fit_tables(
    source: Any,
    settings: Settings | None = None,
    *,
    text: str | None = None,
    label: str | None = None,
    on_bad_rows: str = "skip",
    progress: Progress | None = None,
) -> TextModel:
    """Train a classifier on texts that need not fit into memory.

    Texts, and after that their tokens, are kept in files of a temporary folder; they are gone
    through chunk by chunk.

    Parameters
    ----------
    source : str, Path, Dask DataFrame or iterable of tables
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
    >>> table = pd.DataFrame({"text": ["a good film", "so good", "a bad film", "so bad"], "label": [1, 1, 0, 0]})
    >>> fit_tables(table for _ in range(5)).predict(["good", "a bad one"]).tolist()
    [1, 0]
    """
    settings, say = settings or Settings(), progress or (lambda line: None)
    rng, with_sentences = np.random.default_rng(settings.seed), settings.sentences > 0
    with TemporaryDirectory(prefix="hardmax-", ignore_cleanup_errors=True) as name:
        chunks, labels, lengths, bad = [], [], [], []
        columns = {"text": text, "label": label}
        for part in stream_corpus(
            source, **columns, on_bad_rows=on_bad_rows, characters=CHARACTERS
        ):
            for note in part.notes:
                say(note)
            bad += part.bad
            if not part.texts:
                continue
            found = read_texts(part.texts)
            lengths.append(_count_characters(found))
            labels.append(np.asarray(part.labels))
            chunks.append(
                _Chunk.of(found, labels[-1], sentences=with_sentences, rng=rng, folder=Path(name))
            )
        if bad:
            say(Corpus([], [], tuple(bad)).describe_bad())
        classes, numbers = np.unique(np.concatenate(labels), return_inverse=True)
        bounds = np.cumsum([len(each) for each in labels])[:-1]
        chunks = [
            replace(chunk, labels=own)
            for chunk, own in zip(chunks, np.split(numbers, bounds), strict=True)
        ]
        equal, groups = np.ones(len(numbers)), np.arange(len(numbers))
        return _fit(
            chunks, np.concatenate(lengths), classes, settings, equal, groups, Path(name), progress
        )


def _fit(
    chunks: list[_Chunk],
    lengths: np.ndarray,
    classes: np.ndarray,
    settings: Settings,
    weights: np.ndarray,
    groups: np.ndarray,
    folder: Path | None,
    progress: Progress | None,
) -> TextModel:
    say = progress or (lambda line: None)
    if len(classes) < 2:
        raise InputError(
            f"`labels` has only the label {classes.tolist()[0]!r}: expected at least two classes."
        )
    tables = _read_tables(settings, len(weights))
    weights = weights / weights.mean()  # equal weights are as none
    labels = np.concatenate([chunk.labels for chunk in chunks])
    corpus = _Corpus(chunks, labels, weights, groups, len(classes), settings.sentences, folder)
    say(f"{len(weights):,} texts, {len(classes)} classes")
    candidates, bags = _find_candidates(corpus, settings)
    say(f"{len(candidates):,} candidate tokens")
    folds = find_folds(bags, settings.seed)
    corpus, bags = replace(corpus, folds=folds), replace(bags, folds=folds)
    overlapping = replace(settings.tokeniser, overlapping=True)
    reader = _find_reader(corpus, candidates, bags, replace(settings, overlapping=True))
    if reader.modifiers:
        say(f"modifiers: {', '.join(f'{m.word} × {m.factor:g}' for m in reader.modifiers)}")
        candidates = _silence(candidates, reader)
        bags = corpus.encode(candidates, overlapping, reader)
    results = []
    for vectors in tables:
        if results and not (vectors and vectors.suit(candidates)):
            break
        say(f"word vectors: {vectors.name if vectors else 'none'}")
        corpus = replace(corpus, vectors=vectors)
        own = replace(bags, vectors=vectors and vectors.of(candidates))
        chosen, measured = tune(partial(_weigh, corpus, reader), candidates, own, settings, say)
        loss = measured["held_out_log_loss"] + DOUBT * (vectors is None)
        results.append((loss, chosen, measured, corpus))
        if measured["held_out_accuracy"] == 1:
            break  # there is nothing to gain
    _, chosen, measured, corpus = min(results, key=lambda result: result[0])
    _, vocabulary, fitted = _weigh(corpus, reader, chosen.known, chosen.bags, chosen.settings)
    if len(fitted.kept) < len(vocabulary):
        vocabulary = take_tokens(vocabulary, fitted.kept)
        fitted = fitted._replace(weights=fitted.weights[fitted.kept])
    if corpus.vectors is not None and settings.max_tokens is None:
        unwanted = {*settings.exclude, *(settings.stop_words or ())}
        unwanted |= {word for word in corpus.vectors.rows if reader.turns(word)}
        vocabulary, fitted = _add_unseen(vocabulary, fitted, corpus.vectors, unwanted)
    tuned = replace(chosen.settings, vectors=corpus.vectors and corpus.vectors.name)
    return _model(
        vocabulary, fitted, plain_names(classes), tuned, reader, measured | _quantiles(lengths)
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
    counts = np.zeros((len(words), vocabulary.counts.shape[1]), dtype=np.int64)
    every = Vocabulary([*vocabulary.surfaces, *words], np.concatenate([vocabulary.counts, counts]))
    return every, fitted._replace(weights=np.concatenate([fitted.weights, more]))


def plain_names(classes: np.ndarray) -> tuple[Any, ...]:
    """Classes as a model folder can hold them: texts, numbers, truth values; anything else by what
    it says."""
    return tuple(
        value if isinstance(value, str | int | float | bool) else str(value)
        for value in classes.tolist()
    )


def _count_characters(texts: TextBytes) -> np.ndarray:
    starts = (texts.data & 0xC0) != 0x80  # other bytes continue a character
    return np.array(
        [np.count_nonzero(starts[first:last]) for first, last in pairwise(texts.offsets.tolist())]
    )


def _quantiles(lengths: np.ndarray) -> dict[str, list[int]]:
    """The 1 % and 99 % quantiles of the lengths in characters; of fewer than 100 texts they would
    mean nothing."""
    return (
        {LENGTHS: np.quantile(lengths, [0.01, 0.99]).round().astype(int).tolist()}
        if len(lengths) >= 100
        else {}
    )


def _find_candidates(corpus: _Corpus, settings: Settings) -> tuple[Vocabulary, Bags]:
    """All words and phrases that enough texts, and enough groups, have; and the texts and sentences
    with them."""
    tokeniser = replace(settings.tokeniser, overlapping=True)
    min_df = settings.min_df or 1
    most = {"words": MOST_WORDS, "phrases": MOST_PHRASES}
    known = choose_tokens(corpus, corpus.classes, settings.longest_phrase, **most, min_df=min_df)
    bags = corpus.encode(known, tokeniser)
    of_texts = np.zeros((len(known), corpus.classes), dtype=np.int64)
    of_groups = np.zeros_like(of_texts)
    for bag in bags:
        if bag.is_whole:
            of_texts += replace(bag, groups=np.arange(len(bag))).counts(weighted=False)
            of_groups += bag.counts(weighted=False)
    known.counts[:] = of_texts
    keep = of_groups.sum(axis=1) >= min_df
    if settings.exclude or settings.stop_words:
        excluded, stop_words = set(settings.exclude), set(settings.stop_words or ())
        keep &= [
            excluded.isdisjoint(words) and not stop_words.issuperset(words) for words in _cut(known)
        ]
    if not keep.any():
        raise InputError(
            f"`texts`: no token occurs in {min_df} of them; lower `min_df`, or give more texts."
        )
    return (known, bags) if keep.all() else _take(known, bags, np.flatnonzero(keep))


def _cut(known: Vocabulary) -> Iterator[list[str]]:
    """The words of each token."""
    return (s.split(" ") if s.isascii() else cut_surface(s) for s in known.surfaces)


def _take(known: Vocabulary, bags: Bags, tokens: np.ndarray) -> tuple[Vocabulary, Bags]:
    return take_tokens(known, tokens), bags.take(tokens)


def _silence(candidates: Vocabulary, reader: Reader) -> Vocabulary:
    """Without the modifiers that turn votes: they say nothing by themselves."""
    speaking = [not reader.turns(surface) for surface in candidates.surfaces]
    return take_tokens(candidates, np.flatnonzero(speaking))


def _find_reader(corpus: _Corpus, candidates: Vocabulary, bags: Bags, settings: Settings) -> Reader:
    """The modifiers that short texts show, if they lower the loss of texts that were not learnt."""
    if not settings.reading:
        return NOT_READ
    short = find_short(corpus)
    # Phrases such as "not good" would say a part of what modifiers do.
    is_word = np.flatnonzero([len(words) == 1 for words in _cut(candidates)])
    if len(short.texts) < FEWEST or not len(is_word):
        return NOT_READ
    words = take_tokens(candidates, is_word)
    before = _judge_words(words, bags.take(is_word), short, settings)
    reader = Reader(find_modifiers(short, before, SCOPE), SCOPE)
    if not reader.modifiers:
        return NOT_READ
    gains = np.zeros(1)
    for turn in range(1 + REFINED):
        read = corpus.encode(candidates, settings.tokeniser, reader)
        after = _judge_words(words, read.take(is_word), short, settings)
        gains = before.losses() - after.losses() if not turn else gains
        if gains.mean() <= SURE * gains.std() / np.sqrt(len(gains)):
            return NOT_READ
        reader = Reader(refine(short, after, reader), SCOPE)
    return reader


def _judge_words(words: Vocabulary, bags: Bags, short: Short, settings: Settings) -> Evidence:
    """What the weights of single words say of short texts from which they were not learnt."""
    how = {"strength": settings.strength or 1.0, "scaling": settings.scaling or "contrast"}
    settings = replace(settings, **how)
    rows = 1 if bags.classes == 2 else bags.classes
    ids = np.array([words.index.get(word, -1) for word in short.words])
    votes, logits = np.zeros((FOLDS, len(ids), rows)), np.empty((len(bags.labels), rows))
    shares = np.empty(len(bags.labels))
    for fold in range(FOLDS):
        weights, bias, typical, *_ = _regress(bags.without(fold), settings, None)
        votes[fold, ids >= 0] = weights[ids[ids >= 0]]
        held_out, mine = list(bags.held_out(fold)), np.flatnonzero(bags.folds == fold)
        sizes = np.concatenate([bag.sizes for bag in held_out])
        shares[mine] = (typical + TYPICAL_WEIGHT) / (sizes + TYPICAL_WEIGHT)
        sums = np.concatenate([bag.matrix @ weights for bag in held_out])
        logits[mine] = shares[mine][:, None] * sums + bias
    chosen = short.texts
    about = shares[chosen], bags.labels[chosen], bags.weights[chosen]
    return Evidence(votes, bags.folds[chosen], logits[chosen], *about)


def _weigh(
    corpus: _Corpus,
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
    fitted = _regress(bags.without(fold), settings, start)
    if settings.max_tokens is None and settings.overlapping:
        return bags, candidates, fitted
    kept = _best(bags.without(fold), fitted.weights, settings.max_tokens)
    vocabulary, start = take_tokens(candidates, kept), fitted._replace(weights=fitted.weights[kept])
    bags = corpus.encode(vocabulary, settings.tokeniser, reader)
    return bags, vocabulary, _regress(bags.without(fold), settings, start)


def _regress(bags: Bags, settings: Settings, start: Fitted | None) -> Fitted:
    """The weights of the tokens that enough of the texts have; those of others are 0."""
    assert settings.strength is not None
    assert settings.scaling is not None
    of_groups: Any = sum(bag.counts(weighted=False).sum(axis=1) for bag in bags if bag.is_whole)
    kept = np.flatnonzero(of_groups >= max(1, settings.min_df or 1))
    part = bags.take(kept)
    typical = float(np.concatenate([bag.sizes for bag in part if bag.is_whole]).mean())
    how = {"with_bias": settings.bias, "consistent": settings.consistent, "folder": bags.folder}
    start = start and start._replace(weights=start.weights[kept])
    scale = scales(part, settings.scaling)
    found = regress(
        part, settings.strength, scale, typical, **how, start=start, vectors=part.vectors
    )
    weights = np.zeros((bags.tokens, found.weights.shape[1]))
    weights[kept] = found.weights
    return found._replace(weights=weights, kept=kept)


def _best(bags: Bags, weights: np.ndarray, most: int | None) -> np.ndarray:
    """The tokens that matter most, the heaviest first: where places count once, these take them."""
    heaviest = np.abs(weights).max(axis=1)
    documents = sum(np.bincount(bag.matrix.indices, minlength=bag.tokens) for bag in bags)
    kept = np.argsort(-heaviest * np.sqrt(documents), kind="stable")[:most]
    return kept[np.argsort(-heaviest[kept], kind="stable")]


def _told(settings: Settings) -> dict[str, Any]:
    """The settings as plain data; of lists of words, how many."""
    return asdict(settings) | {
        "exclude": len(settings.exclude),
        "stop_words": len(settings.stop_words or ()),
    }


def _model(
    vocabulary: Vocabulary,
    fitted: Fitted,
    names: tuple[Any, ...],
    settings: Settings,
    reader: Reader,
    measured: dict[str, Any],
) -> TextModel:
    assert settings.alpha is not None
    assert settings.neutral_weight is not None
    assert settings.gate is not None
    temperature = measured.pop("temperature")
    return TextModel(
        vocabulary=vocabulary,
        weights=fitted.weights / temperature,
        bias=fitted.bias_of_mean(settings.neutral_weight) / temperature,
        classes=names,
        modifiers=reader.modifiers,
        rule=VotingRule(
            scope=reader.scope,
            gate=settings.gate,
            alpha=settings.alpha,
            neutral_weight=settings.neutral_weight,
        ),
        tokeniser=settings.tokeniser,
        metrics={"settings": _told(settings)} | measured,
    )
