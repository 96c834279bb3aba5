"""From texts with labels to a model: vocabulary, folds, settings that suit the texts, weights, calibration."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from hardmax._compile import interpreted
from hardmax._validation import InputError
from hardmax.text._texts import TextBytes, read_texts
from hardmax.text.corpora import Corpus, stream_corpus
from hardmax.text.encoding import NOT_READ, encode
from hardmax.text.explain import LENGTHS
from hardmax.text.reading import Reader
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import Tokeniser, cut_surface
from hardmax.text.vocabulary import Vocabulary, choose_tokens, take_tokens, with_counts
from hardmax.train.bag import TYPICAL_WEIGHT, Bags, Stored, regress, scales, to_matrix
from hardmax.train.kernels import gather
from hardmax.train.reading import FEWEST, SURE, Evidence, Short, find_modifiers, find_short, refine
from hardmax.train.settings import Settings
from hardmax.train.vectors import Vectors, read_vectors

FOLDS = 3
MANY_TEXTS = 20_000  # of more, one fold is enough to choose the strength
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
ALPHAS = ("0", "1/4", "1/2", "1", "2")
NEUTRAL_WEIGHTS = (1, 2, 5, 10, 20, 50, 100, 200)
FEW_TEXTS = 1_000  # up to so many, English word vectors are tried
DOUBT = 0.02  # of held-out log loss: word vectors mostly help, and few texts do not say this for sure
SHORT = 8  # known tokens: probabilities of texts cut to so many count as much as those of whole texts
MOST_WORDS, MOST_PHRASES = 60_000, 120_000
CHARACTERS = 1 << 24  # of texts that are in memory at the same time, if they come from tables
_SENTENCES, _SHORTEST = 3, 15  # of a text, and the bytes of one
_LATIN_ENDS = re.compile(rb"\s(?<=[.!?]\s)\s*|<br ?/?>|\n+")
_WIDE_ENDS = re.compile("[。！？]".encode())
_SENTENCE_ENDS = re.compile(rb"%s|(?<=%s)|(?<=%s)|(?<=%s)" % (_LATIN_ENDS.pattern, *map(str.encode, "。！？")))
SCOPE = 4  # words
REFINED = 1  # times that factors and weights are fitted in turn, after the first
_SMALL = 4096  # tokens that are gathered without waiting for numba
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
        cls, texts: TextBytes, labels: np.ndarray, *, sentences: bool, rng: np.random.Generator, folder: Path | None
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
        return cls(Stored(folder, every, offsets, np.concatenate([np.arange(len(texts)), owners]).astype(int)), labels)

    def read(self) -> tuple[TextBytes, np.ndarray]:
        """The texts and sentences, and the text that each comes from."""
        data, offsets, owners = self.stored.load()
        return TextBytes(data, offsets), owners


@dataclass(frozen=True, eq=False)
class _Corpus:
    chunks: list[_Chunk]
    weights: np.ndarray
    groups: np.ndarray
    folds: np.ndarray
    classes: int
    sentences: float
    """The weight of a sentence."""
    reader: Reader
    """The modifiers that change what tokens say."""
    folder: Path | None
    """For what is not kept in memory."""
    vectors: Vectors | None = None

    def __iter__(self) -> Iterator[tuple[TextBytes, np.ndarray]]:
        """The texts of each chunk, without the sentences, and their classes."""
        for chunk in self.chunks:
            yield chunk.read()[0].part(0, len(chunk.labels)), chunk.labels

    def encode(self, vocabulary: Vocabulary, tokeniser: Tokeniser) -> Bags:
        """The texts and sentences with the tokens of a vocabulary, as modifiers change them."""
        stored, first = [], 0
        for chunk in self.chunks:
            texts, owners = chunk.read()
            matrix = to_matrix(encode(texts, vocabulary, tokeniser, self.reader), len(vocabulary))
            is_whole, rows = np.arange(len(owners)) < len(chunk.labels), owners + first
            first += len(chunk.labels)
            for fold, whole in product(range(FOLDS), (True, False)):
                chosen = np.flatnonzero((self.folds[rows] == fold) & (is_whole == whole))
                weights = self.weights[rows[chosen]] * (1 if whole else self.sentences)
                rest = chunk.labels[owners[chosen]], weights, self.groups[rows[chosen]]
                if len(chosen) or whole:  # a fold may have no texts
                    part = matrix[chosen]
                    arrays = part.data, part.indices, part.indptr, *rest
                    stored.append((fold, whole, Stored(self.folder, *arrays)))
        vectors = self.vectors and self.vectors.of(vocabulary)
        return Bags(stored, len(vocabulary), self.classes, self.folder, vectors)


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
        Texts that belong together, such as reviews of one film: they are held out together, and a token that several
        of them have counts once.
    progress : callable, optional
        Called with a line for each step.

    Returns
    -------
    TextModel
        The model; `model.metrics` says what was chosen, and what was measured on held-out texts.

    Examples
    --------
    >>> model = fit(["a good film", "so good", "a bad film", "so bad"] * 5, [1, 1, 0, 0] * 5)
    >>> model.decided(["good", "nothing known"]).tolist()
    [True, False]
    """
    settings = settings or Settings()
    found = read_texts(texts)
    classes, numbers = np.unique(np.asarray(labels), return_inverse=True)
    if len(numbers) != len(found):
        raise InputError(f"`labels` has {len(numbers)} entries: expected {len(found)}, one for each text.")
    weights = np.ones(len(found)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    of_group = np.arange(len(found)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    rng, with_sentences = np.random.default_rng(settings.seed), settings.sentences > 0
    chunk = _Chunk.of(found, numbers, sentences=with_sentences, rng=rng, folder=None)
    return _fit([chunk], _count_characters(found), classes, settings, weights, of_group, None, progress)


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

    Texts, and after that their tokens, are kept in files of a temporary folder; they are gone through chunk by chunk.

    Parameters
    ----------
    source : str, Path, Dask DataFrame or iterable of tables
        What `read_corpus` reads, such as a folder of Parquet files; or tables of any library that narwhals knows, which
        are taken one after another.
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
        for part in stream_corpus(source, **columns, on_bad_rows=on_bad_rows, characters=CHARACTERS):
            for note in part.notes:
                say(note)
            bad += part.bad
            if not part.texts:
                continue
            found = read_texts(part.texts)
            lengths.append(_count_characters(found))
            labels.append(np.asarray(part.labels))
            chunks.append(_Chunk.of(found, labels[-1], sentences=with_sentences, rng=rng, folder=Path(name)))
        if bad:
            say(Corpus([], [], tuple(bad)).describe_bad())
        classes, numbers = np.unique(np.concatenate(labels), return_inverse=True)
        bounds = np.cumsum([len(each) for each in labels])[:-1]
        chunks = [replace(chunk, labels=own) for chunk, own in zip(chunks, np.split(numbers, bounds), strict=True)]
        equal, groups = np.ones(len(numbers)), np.arange(len(numbers))
        return _fit(chunks, np.concatenate(lengths), classes, settings, equal, groups, Path(name), progress)


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
        raise InputError(f"`labels` has only the label {classes.tolist()[0]!r}: expected at least two classes.")
    weights = weights / weights.mean()  # equal weights are as none
    folds = _folds(np.concatenate([chunk.labels for chunk in chunks]), groups, len(classes), settings.seed)
    corpus = _Corpus(chunks, weights, groups, folds, len(classes), settings.sentences, NOT_READ, folder)
    say(f"{len(weights):,} texts, {len(classes)} classes")
    candidates, bags = _find_candidates(corpus, settings)
    say(f"{len(candidates):,} candidate tokens")
    tables = _find_tables(settings, candidates, len(weights))
    reader = _find_reader(corpus, candidates, settings)
    if reader.modifiers:
        say(f"modifiers: {', '.join(f'{each.word} × {each.factor:g}' for each in reader.modifiers)}")
        corpus = replace(corpus, reader=reader)
        candidates = _silence(candidates, reader)
        bags = corpus.encode(candidates, replace(settings.tokeniser, overlapping=True))
    results = []
    for vectors in tables:
        say(f"word vectors: {vectors.name if vectors else 'none'}")
        corpus = replace(corpus, vectors=vectors)
        bags = replace(bags, vectors=vectors and vectors.of(candidates))
        tuned, chosen = _tune(corpus, candidates, bags, settings, say)
        loss = chosen["held_out_log_loss"] + DOUBT * (vectors is None)
        results.append((loss, (tuned, chosen), (corpus, bags)))
        if chosen["held_out_accuracy"] == 1:
            break  # there is nothing to gain
    _, (tuned, chosen), (corpus, bags) = min(results, key=lambda result: result[0])
    _, vocabulary, votes, bias, typical, slope = _weigh(corpus, candidates, bags, tuned)
    if corpus.vectors is not None and settings.max_tokens is None:
        vocabulary, votes = _add_unseen(vocabulary, votes, corpus.vectors, slope, settings)
    tuned = replace(tuned, vectors=corpus.vectors and corpus.vectors.name)
    measured = chosen | _quantiles(lengths)
    return _model(vocabulary, votes, bias, typical, plain_names(classes), tuned, reader, measured)


def _find_tables(settings: Settings, candidates: Vocabulary, texts: int) -> list[Vectors | None]:
    """The tables of word vectors that are to be tried, None for none."""
    if settings.vectors != "auto":
        return [None if settings.vectors is None else read_vectors(settings.vectors)]
    if texts > FEW_TEXTS or settings.consistent:
        return [None]
    english = read_vectors("english")
    return [None, english] if english.suit(candidates) else [None]


def _add_unseen(
    vocabulary: Vocabulary, weights: np.ndarray, vectors: Vectors, slope: np.ndarray, settings: Settings
) -> tuple[Vocabulary, np.ndarray]:
    """The vocabulary and its weights, and after them words that are only in the table of vectors."""
    words, more = vectors.unseen(vocabulary, slope, {*settings.exclude, *settings.stop_words})
    counts = np.zeros((len(words), vocabulary.counts.shape[1]), dtype=np.int64)
    every = Vocabulary([*vocabulary.surfaces, *words], np.concatenate([vocabulary.counts, counts]))
    return every, np.concatenate([weights, more])


def plain_names(classes: np.ndarray) -> tuple[Any, ...]:
    """Classes as a model folder can hold them: texts, numbers, truth values; anything else by what it says."""
    return tuple(value if isinstance(value, str | int | float | bool) else str(value) for value in classes.tolist())


def _count_characters(texts: TextBytes) -> np.ndarray:
    starts = (texts.data & 0xC0) != 0x80  # other bytes continue a character
    return np.array([np.count_nonzero(starts[first:last]) for first, last in pairwise(texts.offsets.tolist())])


def _quantiles(lengths: np.ndarray) -> dict[str, list[int]]:
    """The 1 % and 99 % quantiles of the lengths in characters; of fewer than 100 texts they would mean nothing."""
    return {LENGTHS: np.quantile(lengths, [0.01, 0.99]).round().astype(int).tolist()} if len(lengths) >= 100 else {}


def _find_candidates(corpus: _Corpus, settings: Settings) -> tuple[Vocabulary, Bags]:
    """All words and phrases that enough texts, and enough groups, have; and the texts and sentences with them."""
    tokeniser = replace(settings.tokeniser, overlapping=True)
    most, min_df = {"words": MOST_WORDS, "phrases": MOST_PHRASES}, max(1, settings.min_df)
    known = choose_tokens(corpus, corpus.classes, settings.longest_phrase, **most, min_df=min_df)
    bags = corpus.encode(known, tokeniser)
    of_texts = np.zeros((len(known), corpus.classes), dtype=np.int64)
    of_groups = np.zeros_like(of_texts)
    for bag in bags:
        if bag.is_whole:
            of_texts += replace(bag, groups=np.arange(len(bag))).counts(weighted=False)
            of_groups += bag.counts(weighted=False)
    known = with_counts(known, of_texts)
    keep = of_groups.sum(axis=1) >= settings.min_df
    if settings.exclude or settings.stop_words:
        excluded, stop_words = set(settings.exclude), set(settings.stop_words)
        words = [set(surface.split(" ") if surface.isascii() else cut_surface(surface)) for surface in known.surfaces]
        keep &= [excluded.isdisjoint(each) and not each <= stop_words for each in words]
    if not keep.any():
        raise InputError(f"`texts`: no token occurs in {settings.min_df} of them; lower `min_df`, or give more texts.")
    if keep.all():
        return known, bags
    known = take_tokens(known, np.flatnonzero(keep))
    return known, corpus.encode(known, tokeniser)


def _silence(candidates: Vocabulary, reader: Reader) -> Vocabulary:
    """Without the modifiers that turn votes: they say nothing by themselves."""
    turning = {number for number, modifier in enumerate(reader.modifiers) if modifier.factor < 0}
    speaking = [reader.number_of(surface) not in turning for surface in candidates.surfaces]
    return take_tokens(candidates, np.flatnonzero(speaking))


def _find_reader(corpus: _Corpus, candidates: Vocabulary, settings: Settings) -> Reader:
    """The modifiers that short texts show, if they lower the loss of texts that were not learnt."""
    short = find_short(corpus)
    is_word = [index for index, surface in enumerate(candidates.surfaces) if len(cut_surface(surface)) == 1]
    if not settings.reading or len(short.texts) < FEWEST or not is_word:
        return NOT_READ
    # Phrases such as "not good" would say a part of what modifiers do.
    words = take_tokens(candidates, np.array(is_word))
    before = _judge_words(corpus, words, short, settings)
    reader = Reader(find_modifiers(short, before, SCOPE), SCOPE)
    if not reader.modifiers:
        return NOT_READ
    after = _judge_words(replace(corpus, reader=reader), words, short, settings)
    gains = before.losses() - after.losses()
    if gains.mean() <= SURE * gains.std() / np.sqrt(len(gains)):
        return NOT_READ
    for _ in range(REFINED):
        reader = Reader(refine(short, after, reader), SCOPE)
        after = _judge_words(replace(corpus, reader=reader), words, short, settings)
    return Reader(refine(short, after, reader), SCOPE)


def _judge_words(corpus: _Corpus, words: Vocabulary, short: Short, settings: Settings) -> Evidence:
    """What the weights of single words say of short texts from which they were not learnt."""
    bags = corpus.encode(words, Tokeniser(longest_phrase=1))
    settings = replace(settings, strength=settings.strength or 1.0)
    rows = 1 if corpus.classes == 2 else corpus.classes
    ids = np.array([words.index.get(word, -1) for word in short.words])
    votes, logits = np.zeros((FOLDS, len(ids), rows)), np.empty((len(corpus.weights), rows))
    shares = np.empty(len(corpus.weights))
    for fold in range(FOLDS):
        weights, bias, typical, _ = _regress(bags.without(fold), settings)
        votes[fold, ids >= 0] = weights[ids[ids >= 0]]
        held_out, mine = list(bags.held_out(fold)), np.flatnonzero(corpus.folds == fold)
        sizes = np.concatenate([bag.sizes for bag in held_out])
        shares[mine] = (typical + TYPICAL_WEIGHT) / (sizes + TYPICAL_WEIGHT)
        sums = np.concatenate([bag.matrix @ weights for bag in held_out])
        logits[mine] = shares[mine][:, None] * sums + bias
    labels, chosen = np.concatenate([chunk.labels for chunk in corpus.chunks]), short.texts
    return Evidence(
        votes, corpus.folds[chosen], logits[chosen], shares[chosen], labels[chosen], corpus.weights[chosen]
    )  # fmt: skip


def _weigh(
    corpus: _Corpus, candidates: Vocabulary, bags: Bags, settings: Settings, fold: int | None = None
) -> tuple[Bags, Vocabulary, np.ndarray, np.ndarray, float, np.ndarray]:
    """All texts with the tokens of the vocabulary, the vocabulary, the weight of each of its tokens for each class, the
    bias, the mean number of tokens of a text, and what vectors are multiplied by; without the texts of a fold."""
    found = _regress(bags.without(fold), settings)
    if settings.max_tokens is None and settings.overlapping:
        return bags, candidates, *found
    vocabulary = _best(candidates, bags.without(fold), found[0], settings.max_tokens)
    bags = corpus.encode(vocabulary, settings.tokeniser)
    return bags, vocabulary, *_regress(bags.without(fold), settings)


def _regress(bags: Bags, settings: Settings) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    assert settings.strength is not None
    typical = float(np.concatenate([bag.sizes for bag in bags if bag.is_whole]).mean())
    how = {"with_bias": settings.bias, "consistent": settings.consistent, "folder": bags.folder}
    scale, how["vectors"] = scales(bags, settings.smoothing), bags.vectors
    weights, bias, slope = regress(bags, settings.strength, scale, typical, **how)
    return weights, bias, typical, slope


def _best(candidates: Vocabulary, bags: Bags, weights: np.ndarray, most: int | None) -> Vocabulary:
    """The tokens that matter most, the heaviest first: where places count once, these take them."""
    heaviest = np.abs(weights).max(axis=1)
    documents = sum(np.bincount(bag.matrix.indices, minlength=bag.tokens) for bag in bags)
    kept = np.argsort(-heaviest * np.sqrt(documents), kind="stable")[:most]
    return take_tokens(candidates, kept[np.argsort(-heaviest[kept], kind="stable")])


def _tune(
    corpus: _Corpus, candidates: Vocabulary, bags: Bags, settings: Settings, say: Progress
) -> tuple[Settings, dict[str, Any]]:
    """The settings with what was None chosen on held-out texts, and what was measured there."""

    def hold_out(fold: int, strength: float) -> _HeldOut:
        tried = replace(settings, strength=strength)
        every, _, weights, bias, typical, _ = _weigh(corpus, candidates, bags, tried, fold)
        return _HeldOut.of(every.held_out(fold), weights, bias, typical, settings.gates)

    texts = len(corpus.weights)
    few = 1 if texts > MANY_TEXTS else FOLDS
    best: tuple[float, float, list[_HeldOut]] | None = None
    for strength in STRENGTHS if settings.strength is None else (settings.strength,):
        held_out = [hold_out(fold, strength) for fold in range(few)]
        loss = _calibrate(held_out, 0, 1.0, TYPICAL_WEIGHT)[1]
        say(f"strength {strength:g}: held-out log loss {loss:.4f}")
        if best is not None and loss > best[0]:
            break
        best = loss, strength, held_out
    assert best is not None
    _, strength, held_out = best
    held_out += [hold_out(fold, strength) for fold in range(few, FOLDS)]
    alphas = ALPHAS if settings.alpha is None else (settings.alpha,)
    alphas = alphas if corpus.classes == 2 else ("0",)
    table = {(g, alpha): _accuracy(held_out, g, _share(alpha)) for g in range(len(settings.gates)) for alpha in alphas}
    top = max(table.values())
    slack = 0.25 * np.sqrt(top * (1 - top) / texts)
    # As few active tokens as possible, and as much gathering, at hardly any price.
    g, alpha = max(
        (pair for pair, accuracy in table.items() if accuracy >= top - slack),
        key=lambda pair: (pair[0], _share(pair[1]) < 1, table[pair]),
    )
    choices = NEUTRAL_WEIGHTS if settings.neutral_weight is None else (settings.neutral_weight,)
    weight = min(choices, key=lambda weight: _calibrate(held_out, g, _share(alpha), weight, short=True)[1])
    temperature, loss = _calibrate(held_out, g, _share(alpha), weight)
    gate = settings.gates[g]
    active = float(np.mean(np.concatenate([part.active[g] for part in held_out])))
    chosen = f"gate {gate:g}, alpha {alpha}, neutral weight {weight}"
    say(f"{chosen}: held-out accuracy {table[g, alpha]:.4f}, {active:.1f} active tokens per text")
    measured = {
        "held_out_accuracy": table[g, alpha],
        "held_out_log_loss": loss,
        "held_out_active_tokens": active,
        "temperature": temperature,
    }
    return replace(settings, strength=strength, gate=gate, alpha=alpha, neutral_weight=weight), measured


def _bias(bias: np.ndarray, typical: float, neutral_weight: int) -> np.ndarray:
    """The bias of a mean: what it is beside the tokens of a text of typical size does not depend on the weight."""
    return bias / (typical + neutral_weight)


def _share(alpha: str) -> float:
    """What a token keeps of its own in one layer."""
    return 1.0 if alpha == "0" else float(1 / (1 + Fraction(alpha)))


def _folds(labels: np.ndarray, groups: np.ndarray, classes: int, seed: int) -> np.ndarray:
    """The fold of each text: groups stay together, and every class is spread over the folds."""
    rng = np.random.default_rng(seed)
    fold_of_group = np.empty(int(groups.max()) + 1, dtype=np.int64)
    label_of_group = np.zeros(len(fold_of_group), dtype=np.int64)
    label_of_group[groups] = labels
    for label in range(classes):
        members = rng.permutation(np.flatnonzero(label_of_group == label))
        fold_of_group[members] = (np.arange(len(members)) + label) % FOLDS
    return fold_of_group[groups]


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Held-out texts: sums of weights of active tokens and of their leaders, by gate, text and class."""

    labels: np.ndarray
    sizes: np.ndarray
    own: np.ndarray
    lead: np.ndarray
    active: np.ndarray
    bias: np.ndarray
    typical: float
    short: "tuple[np.ndarray, np.ndarray, np.ndarray]"

    @classmethod
    def of(
        cls, bags: Bags, weights: np.ndarray, bias: np.ndarray, typical: float, gates: Sequence[float]
    ) -> "_HeldOut":
        parts = []
        for bag in bags:
            matrix, starts, sizes = bag.matrix, bag.matrix.indptr, bag.sizes
            said = matrix.indices, matrix.data
            cut = np.minimum(sizes, SHORT)
            places = np.arange(cut.sum()) + np.repeat(starts[:-1] - np.cumsum(cut) + cut, cut)
            short = _gather(said[0][places], said[1][places], np.concatenate([[0], np.cumsum(cut)]), weights, gates)
            parts.append((bag.labels, sizes, *_gather(*said, starts, weights, gates), cut, *short[:2]))
        # Those of gates have one row for each gate.
        labels, sizes, own, lead, active, cut, short_own, short_lead = (
            np.concatenate(each, axis=0 if each[0].ndim == 1 else 1) for each in zip(*parts, strict=True)
        )
        return cls(labels, sizes, own, lead, active, bias, typical, (cut, short_own, short_lead))

    def logits(self, gate: int, share: float, neutral_weight: int, short: bool = False) -> np.ndarray:
        """Before they are divided by the temperature."""
        sizes, own, lead = self.short if short else (self.sizes, self.own, self.lead)
        return (share * own[gate] + (1 - share) * lead[gate]) / (sizes + neutral_weight)[:, None] + _bias(
            self.bias, self.typical, neutral_weight
        )


def _gather(
    ids: np.ndarray, factors: np.ndarray, offsets: np.ndarray, weights: np.ndarray, gates: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    texts, rows = len(offsets) - 1, weights.shape[1]
    own, lead = np.zeros((len(gates), texts, rows)), np.zeros((len(gates), texts, rows))
    active = np.zeros((len(gates), texts), dtype=np.int64)
    with interpreted(gather, if_small=len(ids) <= _SMALL):
        said = ids.astype(np.int64), factors, offsets.astype(np.int64)
        gather(*said, weights, np.array(gates, dtype=float), own, lead, active)
    return own, lead, active


def _accuracy(held_out: list[_HeldOut], gate: int, share: float) -> float:
    """Share of texts whose class is found; texts without an active token count half."""
    right = []
    for part in held_out:
        logits = part.logits(gate, share, TYPICAL_WEIGHT)
        if logits.shape[1] == 1:
            right.append(np.where(logits[:, 0] == 0, 0.5, (logits[:, 0] > 0) == part.labels))
        else:
            right.append(np.where(part.active[gate] == 0, 0.5, logits.argmax(axis=1) == part.labels))
    return float(np.concatenate(right).mean())


def _calibrate(
    held_out: list[_HeldOut], gate: int, share: float, neutral_weight: int, *, short: bool = False
) -> tuple[float, float]:
    """The temperature at which held-out texts have the smallest log loss, and this loss; with texts cut short, too."""
    whole, cut = (
        np.concatenate([part.logits(gate, share, neutral_weight, short=is_cut) for part in held_out])
        for is_cut in (False, short)
    )
    labels = np.concatenate([part.labels for part in held_out])

    def loss(exponent: float, logits: np.ndarray) -> float:
        z = np.hstack([np.zeros_like(logits), logits] if logits.shape[1] == 1 else [logits]) * np.exp(exponent)
        z = z - z.max(axis=1, keepdims=True)
        logs = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
        right = logs[np.arange(len(z)), labels].mean()
        # As if one text more had been of any class: no text is certain, however well the classes are separated.
        return float(-(len(z) * right + logs.mean()) / (len(z) + 1))

    found: Any = minimize_scalar(loss, bounds=(-6, 12), args=(whole,), method="bounded", options={"xatol": 1e-3})
    more = loss(found.x, cut) if short else 0.0
    return float(np.exp(-found.x)), float(found.fun) + more


def _told(settings: Settings) -> dict[str, Any]:
    """The settings as plain data; of lists of words, how many."""
    return asdict(settings) | {name: len(getattr(settings, name)) for name in ("exclude", "stop_words")}


def _model(
    vocabulary: Vocabulary,
    weights: np.ndarray,
    bias: np.ndarray,
    typical: float,
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
        weights=weights / temperature,
        bias=_bias(bias, typical, settings.neutral_weight) / temperature,
        classes=names,
        modifiers=reader.modifiers,
        scope=reader.scope,
        gate=settings.gate,
        alpha=settings.alpha,
        neutral_weight=settings.neutral_weight,
        tokeniser=settings.tokeniser,
        metrics={"settings": _told(settings)} | measured,
    )
