"""Which words modify those after them, and by which factors: found in training texts, without a
list of words.

A modifier shows in texts of a sentence or two: words that stand after it say something else there
than elsewhere. For each of the most frequent words m let s(m) be the sum of the votes of the words
in its scope, by weights that were fitted without the text; then the logit of a text is a (its logit
by those weights) + sum of c(m) s(m), and the factor of m is 1 + c(m) / a. Words enter one by one,
the most significant first, as long as there is one that is."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, softmax

from hardmax.text.reading import ANY, Modifier, Reader
from hardmax.text.vocabulary import number_words_of
from hardmax.train.bag import log_loss, losses_of
from hardmax.train.kernels import sum_scopes

# of a text from which modifiers are learnt: labels of longer ones are about more than a sentence
MOST_WORDS = 60
MOST_TEXTS = 100_000
CANDIDATES = 400
FEWEST = 50  # texts that have a modifier
KNOWN, SHARED = 5, 3  # texts that have a word of a form, and such words of a form
SIGNIFICANT = 5.0  # standard errors of the slope of a modifier
SURE = 3.0  # standard errors by which modifiers must lower the loss
LEAST = 0.25  # by so much a factor differs from 1
MOST_MODIFIERS = 30
AT_ONCE, NEARLY = 4, 0.75  # so many enter together, if they are nearly as significant as the first
LARGEST = 3.0
TINY = 1e-9


class Short(NamedTuple):
    """Short texts: their words as numbers, one text after the other, with -1 where a clause
    ends."""

    texts: np.ndarray
    """Their places among all texts."""
    stream: np.ndarray
    offsets: np.ndarray
    words: list[str]


def find_short(chunks: Iterable[tuple[Any, np.ndarray]]) -> Short:
    """The short ones among the texts of all chunks."""
    numbers: dict[str, int] = {}
    texts, streams, sizes, first = [], [np.empty(0, dtype=int)], [], 0
    for found, labels in chunks:
        stream, owners, own = number_words_of(found, numbers)
        stream = np.where(stream >= 0, own[stream], -1) if len(own) else stream.astype(int)
        short = np.bincount(owners, stream >= 0, minlength=len(labels)) <= MOST_WORDS
        streams.append(stream[short[owners]])
        sizes += np.bincount(owners, minlength=len(labels))[short].tolist()
        texts += (first + np.flatnonzero(short)).tolist()
        first += len(labels)
        if len(texts) > MOST_TEXTS:
            break
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=int)]).astype(int)
    return Short(np.array(texts, dtype=int), np.concatenate(streams), offsets, list(numbers))


def forms_of(word: str) -> list[str]:
    """A word, and the forms that it shares with others: what is round an apostrophe.

    >>> forms_of("wouldn't"), forms_of("n'est"), forms_of("good")
    (["wouldn't", "*n't", "wouldn'*"], ["n'est", "*n'est", "n'*"], ['good'])
    """
    before, apostrophe, after = word.partition("'")
    if not apostrophe:
        return [word]
    return [word, f"{ANY}{before[-1:]}'{after}", f"{before}'{ANY}"]


def _candidates(short: Short) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The most frequent words and forms, the candidates that each word is (words, 3), -1 for none,
    and the number of texts that have each."""
    texts = np.repeat(np.arange(len(short.texts)), np.diff(short.offsets))
    size = max(len(short.words), 1)
    is_word = short.stream >= 0
    seen = np.unique(texts[is_word] * np.int64(size) + short.stream[is_word])
    texts, words = seen // size, seen % size
    numbers: dict[str, int] = {}
    of_word = np.full((len(short.words), 3), -1)
    for word in np.flatnonzero(np.bincount(words, minlength=size) >= KNOWN).tolist():
        for place, form in enumerate(forms_of(short.words[word])):
            of_word[word, place] = numbers.setdefault(form, len(numbers))
    has = of_word[words]
    pairs = np.unique((texts[:, None] * np.int64(max(len(numbers), 1)) + has)[has >= 0])
    counts = np.bincount(pairs % max(len(numbers), 1), minlength=len(numbers))
    names = list(numbers)
    # A form that hardly any words share is as good as its words.
    shared = np.bincount(of_word[of_word >= 0], minlength=len(names))
    counts[[ANY in name and shared[number] < SHARED for number, name in enumerate(names)]] = 0
    chosen = np.argsort(-counts, kind="stable")[:CANDIDATES]
    chosen = chosen[counts[chosen] >= FEWEST]
    place = np.full(len(names) + 1, -1)
    place[chosen] = np.arange(len(chosen))
    return [names[c] for c in chosen.tolist()], place[of_word], counts[chosen]


class Evidence(NamedTuple):
    """What is known of short texts without having learnt from them."""

    votes: np.ndarray
    """Of each word, by the weights of each fold, (folds, words, rows)."""
    folds: np.ndarray
    """The fold of each text."""
    logits: np.ndarray
    shares: np.ndarray
    """What sums of votes are multiplied by in each text."""
    labels: np.ndarray
    weights: np.ndarray

    def losses(self) -> np.ndarray:
        """The log loss of each text."""
        return losses_of(self.logits, self.labels)[0]


def find_modifiers(short: Short, known: Evidence, scope: int) -> tuple[Modifier, ...]:
    """The modifiers, the most significant first."""
    names, of_word, counts = _candidates(short)
    if not names:
        return ()
    found = _Sums.of(short, known, of_word, np.zeros(len(names)), scope, only_strongest=False)
    chosen: list[int] = []
    columns = known.logits[None]
    fitted = _fit(columns, known)
    while len(chosen) < MOST_MODIFIERS:
        sizes = np.abs(_standard_scores(columns, fitted, known, found))
        sizes[chosen] = 0
        if sizes.max(initial=0) < SIGNIFICANT:
            break
        best = np.argsort(-sizes, kind="stable")[:AT_ONCE]
        chosen += best[sizes[best] >= max(SIGNIFICANT, NEARLY * sizes.max())].tolist()
        columns = np.concatenate([known.logits[None], found.columns(chosen, known.logits.shape)])
        fitted = _fit(columns, known)
    factors = 1 + fitted[1 : len(columns)] / fitted[0]
    return _modifiers([names[c] for c in chosen], factors, counts[chosen].tolist())


def refine(short: Short, known: Evidence, reader: Reader) -> tuple[Modifier, ...]:
    """The same modifiers, with factors that suit weights that were fitted with them."""
    of_word = np.full((len(short.words), 3), -1)
    of_word[:, 0] = reader.numbers_of(short.words)
    strengths = np.array([modifier.strength for modifier in reader.modifiers])
    found = _Sums.of(short, known, of_word, strengths, reader.scope, only_strongest=True)
    columns = np.concatenate(
        [known.logits[None], found.columns(range(len(strengths)), known.logits.shape)]
    )
    fitted = _fit(columns, known)
    factors = [m.factor for m in reader.modifiers] + fitted[1 : len(columns)] / fitted[0]
    return _modifiers(
        [m.word for m in reader.modifiers], factors, [m.texts for m in reader.modifiers]
    )


def _modifiers(
    words: Iterable[str], factors: np.ndarray, texts: Iterable[int]
) -> tuple[Modifier, ...]:
    """Those whose factors differ enough from 1."""
    found = zip(words, np.clip(factors, -LARGEST, LARGEST).tolist(), texts, strict=True)
    return tuple(
        Modifier(word, factor, count) for word, factor, count in found if abs(factor - 1) >= LEAST
    )


class _Sums(NamedTuple):
    """For pairs of a text and a candidate in it the sum of the votes in its scopes, by class."""

    texts: np.ndarray
    candidates: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(
        cls,
        short: Short,
        known: Evidence,
        of_word: np.ndarray,
        strengths: np.ndarray,
        scope: int,
        *,
        only_strongest: bool,
    ) -> "_Sums":
        said = short.stream, short.offsets, known.votes, known.folds
        texts, candidates, sums = sum_scopes(*said, of_word, strengths, scope, only_strongest)
        return cls(texts, candidates, sums * known.shares[texts][:, None])

    def columns(self, chosen: Iterable[int], shape: tuple[int, ...]) -> np.ndarray:
        """The sums of some candidates, (candidates, texts, rows)."""
        found = []
        for candidate in chosen:
            column, mine = np.zeros(shape), self.candidates == candidate
            column[self.texts[mine]] = self.sums[mine]
            found.append(column)
        return np.array(found)


def _chances(z: np.ndarray) -> np.ndarray:
    """The probabilities of the classes, or of the second of two."""
    return expit(z) if z.shape[1] == 1 else softmax(z, axis=1)


def _fit(columns: np.ndarray, known: Evidence) -> np.ndarray:
    """The coefficients of the columns (columns, texts, rows), and after them the bias."""
    count = len(columns)

    def loss(found: np.ndarray) -> tuple[float, np.ndarray]:
        z = np.tensordot(found[:count], columns, 1) + found[count:]
        value, slopes = log_loss(z, known.labels, known.weights)
        return value, np.append(np.tensordot(columns, slopes, 2), slopes.sum(axis=0))

    start = np.append(1.0, np.zeros(count - 1 + columns.shape[2]))
    return minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x


def _standard_scores(
    columns: np.ndarray, fitted: np.ndarray, known: Evidence, found: _Sums
) -> np.ndarray:
    """The score test of each candidate: how many standard errors its slope is from 0 where the
    others are fitted."""
    chances = _chances(np.tensordot(fitted[: len(columns)], columns, 1) + fitted[len(columns) :])
    rows, count = chances.shape[1], int(found.candidates.max(initial=-1)) + 1
    truth = known.labels[:, None] == (np.arange(rows) if rows > 1 else 1)
    residuals = (truth - chances) * known.weights[:, None]
    texts, which, sums = found
    slopes = np.bincount(which, (sums * residuals[texts]).sum(axis=1), minlength=count)
    p, weights = chances[texts], known.weights[texts]
    own = (p * sums).sum(axis=1)

    def covariance(other: np.ndarray) -> np.ndarray:
        together = (p * sums * other).sum(axis=1) - own * (p * other).sum(axis=1)
        return np.bincount(which, weights * together, minlength=count)

    shared = np.stack([covariance(column[texts]) for column in columns])
    means = (chances * columns).sum(axis=2)
    scaled = np.sqrt(chances * known.weights[:, None]) * columns
    among = np.tensordot(scaled, scaled, ((1, 2), (1, 2))) - (means * known.weights) @ means.T
    variance = covariance(sums) - (shared * np.linalg.lstsq(among, shared, rcond=None)[0]).sum(
        axis=0
    )
    return np.where(variance > TINY, slopes / np.sqrt(np.maximum(variance, TINY)), 0.0)
