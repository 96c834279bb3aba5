"""Which words modify those after them, and by which factors: found in training texts, without a
list of words.

A modifier shows in texts of a sentence or two: words that stand after it say something else there
than elsewhere. For each of the most frequent words m let s(m) be the sum of the votes of the words
in its scope, by weights that were fitted without the text, and n(m) their number; then the logit of
a text is a (its logit by those weights) + sum of c(m) s(m) + d(m) n(m), the factor of m is
1 + c(m) / a and its shift d(m) / a: what speaks for itself, such as "not", mutes and moves votes.
Words enter one by one, the most significant first, as long as there is one that is."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import compress, product
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from hardmax.text._texts import TextBytes
from hardmax.text.reading import ANY, MUTED, Modifier, Reader
from hardmax.text.vocabulary import number_words_of
from hardmax.train.bag import both, log_loss, losses_of

# of a text from which modifiers are learned: labels of longer ones are about more than a sentence
MOST_WORDS = 60
MOST_TEXTS = 400_000
CANDIDATES = 400
FEWEST = 50  # texts that have a modifier
KNOWN, SHARED = 5, 3  # texts that have a word of a form, and such words of a form
SIGNIFICANT = 5.0  # standard errors of the slope of a modifier
SURE = 3.0  # standard errors by which modifiers must lower the loss
# A modifier mutes votes, multiplies them by so much, or weakens them and moves logits by so much.
STRENGTHENS, WEAKENS, MOVES = 1.5, 3 / 4, 0.1
MOST_MODIFIERS = 30
# At most this many enter together, if they are nearly as significant as the first.
AT_ONCE, NEARLY = 4, 0.75
LARGEST = 3.0
TINY = 1e-9
# English words, and by what they multiply votes in pairs of phrases of the Stanford Sentiment
# Treebank (Socher et al. 2013), where a mere wrapper such as "it is" counts as 1.
ENGLISH = {
    **dict.fromkeys(("not", "*n't", "never", "no"), -0.1),
    **dict.fromkeys(("nothing", "neither", "nor", "less", "lack", "lacks", "fails"), 0.1),
    **{"without": -0.4, "hardly": -0.5, "few": 0.2, "too": 0.4, "only": 0.5},
}
_VERBS = ("are", "ca", "could", "did", "do", "does", "had", "has", "have", "is", "was", "wo")
SHORT_FORMS = {*(f"{verb}nt" for verb in _VERBS), "cannot"}
PRIOR = 5.0  # of the square of a change of factors and shifts: so much is added to twice the loss


class Short(NamedTuple):
    """Short texts: their words as numbers, one text after the other, with -1 where a clause
    ends."""

    texts: np.ndarray
    """Their places among all texts."""
    stream: np.ndarray
    owners: np.ndarray
    """Which of the short texts each word is in."""
    words: list[str]


def find_short(texts: TextBytes) -> Short:
    """The short ones among texts."""
    stream, owners, words = number_words_of(texts)
    sizes = np.bincount(owners, stream >= 0, minlength=len(texts))
    short = np.flatnonzero(sizes <= MOST_WORDS)
    short = short[:: -(-len(short) // MOST_TEXTS) or 1]
    kept = np.isin(owners, short)
    return Short(short, stream[kept], np.searchsorted(short, owners[kept]), words)


def forms_of(word: str) -> list[str]:
    """A word, and the forms that it shares with others: what is round an apostrophe.

    >>> forms_of("wouldn't"), forms_of("n'est"), forms_of("good")
    (["wouldn't", "*n't", "wouldn'*"], ["n'est", "*n'est", "n'*"], ['good'])
    """
    before, apostrophe, after = word.partition("'")
    if not apostrophe:
        return [word]
    return [word, f"{ANY}{before[-1:]}'{after}", f"{before}'{ANY}"]


def _candidates(
    short: Short, unwanted: Collection[str]
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The most frequent words and forms, the candidates that each word is (words, 3), -1 for none,
    and the number of texts that have each."""
    size = max(len(short.words), 1)
    is_word = short.stream >= 0
    seen = np.unique(short.owners[is_word] * np.int64(size) + short.stream[is_word])
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
    counts[[name in unwanted for name in names]] = 0
    chosen = np.argsort(-counts, kind="stable")[:CANDIDATES]
    chosen = chosen[counts[chosen] >= FEWEST]
    place = np.full(len(names) + 1, -1)
    place[chosen] = np.arange(len(chosen))
    return [names[c] for c in chosen.tolist()], place[of_word], counts[chosen]


class Evidence(NamedTuple):
    """What is known of short texts without having learned from them."""

    votes: np.ndarray
    """Of each word, by the weights of each fold, (folds, words, rows)."""
    speaks: np.ndarray
    """Which words have votes, if shifts of them are to be found; else none."""
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


def find_modifiers(
    short: Short, known: Evidence, scope: int, unwanted: Collection[str] = ()
) -> tuple[Modifier, ...]:
    """The modifiers, the most significant first."""
    names, of_word, counts = _candidates(short, unwanted)
    if not names:
        return ()
    found = sum_scopes(short, known, _in_scope(short, of_word, scope))
    chosen: list[int] = []
    columns, fitted = _fit(known, found, chosen)
    while len(chosen) < MOST_MODIFIERS:
        sizes = np.abs(_standard_scores(columns, fitted, known, found))
        sizes[chosen] = 0
        if sizes.max(initial=0) < SIGNIFICANT:
            break
        best = np.argsort(-sizes, kind="stable")[:AT_ONCE]
        chosen += best[sizes[best] >= max(SIGNIFICANT, NEARLY * sizes.max())].tolist()
        columns, fitted = _fit(known, found, chosen)
    factors, shifts = _changes(columns, fitted, len(chosen))
    chosen_names = [names[c] for c in chosen]
    modifiers = _modifiers(chosen_names, 1 + factors, shifts, counts[chosen].tolist())
    found, texts = {modifier.word for modifier in modifiers}, counts.tolist()
    named = zip(names, texts, strict=True)
    likely = (Modifier(word, ENGLISH[word], n) for word, n in named if word in ENGLISH)
    return (*modifiers, *(modifier for modifier in likely if modifier.word not in found))


def _changes(
    columns: np.ndarray, fitted: np.ndarray, modifiers: int
) -> tuple[np.ndarray, np.ndarray]:
    """By how much the factors and shifts of modifiers differ from those of the votes so far."""
    changes = fitted[1 : len(columns)] / fitted[0]
    shifts = changes[modifiers:] if len(changes) > modifiers else np.zeros(modifiers)
    return changes[:modifiers], shifts


def refine(short: Short, known: Evidence, reader: Reader) -> tuple[Modifier, ...]:
    """The same modifiers, with factors that suit weights that were fitted with them."""
    of_word = np.array(reader.numbers_of(short.words))
    strengths = np.array([modifier.strength for modifier in reader.modifiers])
    near = _in_scope(short, of_word[:, None], reader.scope)
    # A word attends to the strongest, of equals the nearest, which come first; a modifier to none.
    places, numbers = near[:, of_word[short.stream[near[0]]] < 0]
    order = np.lexsort((-strengths[numbers], places))
    is_first = np.diff(places[order], prepend=-1) > 0
    found = sum_scopes(short, known, np.stack([places, numbers])[:, order[is_first]])
    columns, fitted = _fit(known, found, range(len(strengths)), PRIOR)
    before = np.array([modifier.factor for modifier in reader.modifiers])
    factors, shifts = _changes(columns, fitted, len(before))
    shifts = shifts + [modifier.shift for modifier in reader.modifiers]
    words, texts = zip(*((m.word, m.texts) for m in reader.modifiers), strict=True)
    return _modifiers(words, factors + before, shifts, texts)


def with_short_forms(modifiers: tuple[Modifier, ...], words: Iterable[str]) -> tuple[Modifier, ...]:
    """The modifiers, and words such as "dont" that are none yet, but in texts, as "*n't" is."""
    named = {modifier.word: modifier for modifier in modifiers}
    if "*n't" not in named:
        return modifiers
    there = sorted(SHORT_FORMS.intersection(words).difference(named))
    return (*modifiers, *(replace(named["*n't"], word=word, texts=0) for word in there))


def _modifiers(
    words: Iterable[str], factors: np.ndarray, shifts: np.ndarray, texts: Iterable[int]
) -> tuple[Modifier, ...]:
    """Those that change votes enough."""
    factors = np.clip(factors, -LARGEST, LARGEST)
    moves = (np.abs(shifts) >= MOVES) & (factors <= WEAKENS)
    enough = (factors <= MUTED) | (factors >= STRENGTHENS) | moves
    found = zip(words, factors.tolist(), texts, shifts.tolist(), strict=True)
    made = (Modifier(*about) for about in found)
    return tuple(compress(made, enough))


def _in_scope(short: Short, of_word: np.ndarray, scope: int) -> np.ndarray:
    """Places of words, and candidates in whose scopes they are, (2, pairs), the nearest first;
    `of_word` are the candidates that each word is (words, forms), or -1."""
    places = np.arange(len(short.stream))
    is_break = short.stream < 0
    clauses = np.cumsum(is_break) + short.owners * np.int64(len(places) + 1)
    pairs = [np.empty((2, 0), dtype=int)]
    for distance in range(1, scope + 1):
        after, before = places[distance:], places[: len(places) - distance]
        near = (clauses[after] == clauses[before]) & ~is_break[after] & ~is_break[before]
        after, words = after[near], short.stream[before[near]]
        for form in range(of_word.shape[1]):
            candidates = of_word[words, form]
            pairs.append(np.stack([after, candidates])[:, candidates >= 0])
    return np.concatenate(pairs, axis=1)


def sum_scopes(short: Short, known: "Evidence", pairs: np.ndarray) -> "_Sums":
    """The votes of the words of pairs, each counted once for a candidate."""
    size = np.int64(pairs[1].max(initial=0) + 1)
    places, candidates = np.divmod(np.unique(pairs[0] * size + pairs[1]), size)
    texts, words = short.owners[places], short.stream[places]
    votes = known.votes[known.folds[texts], words]
    keys, which = np.unique(texts * size + candidates, return_inverse=True)
    sums = np.zeros((len(keys), votes.shape[1]))
    np.add.at(sums, which, votes)
    numbers = np.bincount(which, known.speaks[words], minlength=len(keys))
    texts, candidates = np.divmod(keys, size)
    shares = known.shares[texts][:, None]
    return _Sums(texts, candidates, sums * shares, numbers[:, None] * shares)


class _Sums(NamedTuple):
    """For pairs of a text and a candidate in it the sum of the votes in its scopes, by class, and
    their number."""

    texts: np.ndarray
    candidates: np.ndarray
    sums: np.ndarray
    numbers: np.ndarray


def _fit(
    known: Evidence, found: _Sums, chosen: Sequence[int], ridge: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """The logits and the sums of some candidates, and their numbers, as columns (columns, texts,
    rows), the coefficients of these, and after them the bias."""
    texts, rows = known.logits.shape
    tables = (found.sums, found.numbers) if known.speaks.any() else (found.sums,)
    columns = np.zeros((1 + len(tables) * len(chosen), texts, rows))
    columns[0] = known.logits
    for column, (table, candidate) in zip(columns[1:], product(tables, chosen), strict=True):
        mine = found.candidates == candidate
        column[found.texts[mine]] = table[mine]
    count = len(columns)
    is_change = (np.arange(count + rows) > 0) & (np.arange(count + rows) < count)

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        z = np.tensordot(x[:count], columns, 1) + x[count:]
        value, slopes = log_loss(z, known.labels, known.weights)
        gradient = np.append(np.tensordot(columns, slopes, 2), slopes.sum(axis=0))
        changes = np.where(is_change, x, 0.0)
        return value + 0.5 * ridge * float(changes @ changes), gradient + ridge * changes

    start = np.append(1.0, np.zeros(count - 1 + rows))
    options = {"maxiter": 100}
    return columns, minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x


def _standard_scores(
    columns: np.ndarray, fitted: np.ndarray, known: Evidence, found: _Sums
) -> np.ndarray:
    """The score test of each candidate: how many standard errors its slope is from 0 where the
    others are fitted."""
    logits = np.tensordot(fitted[: len(columns)], columns, 1) + fitted[len(columns) :]
    rows, count = logits.shape[1], int(found.candidates.max(initial=-1)) + 1
    chances = softmax(both(logits), axis=1)[:, -rows:]
    truth = known.labels[:, None] == (np.arange(rows) if rows > 1 else 1)
    residuals = (truth - chances) * known.weights[:, None]
    texts, which, sums, _ = found
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
