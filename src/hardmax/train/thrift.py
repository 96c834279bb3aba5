"""How many tokens are enough: twice as many must tell more of the held-out texts apart, or they are left out.

A token that says nothing still stands somewhere, and where no other token is on its side, it leads. Which ones say
something is asked of texts: a linear model of one half of them decides the other half, with more and more of its
tokens, those with the largest say first, and the other way round.
"""

from dataclasses import dataclass

import numpy as np

from hardmax.text.tokens.encoding import Encoded
from hardmax.train.choosing import log_odds, weigh
from hardmax.train.clouds import as_clouds, pick

_WORTHWHILE = 4  # times fewer: the layers have some use for tokens that a linear model can just do without
_STEPS = 15  # of the descent: the order of the tokens is there long before their last digits


@dataclass(frozen=True, eq=False)
class _Courses:
    """How the decision on each text changes as its tokens come in; at first it has none, and a guess decides."""

    text: np.ndarray
    known: np.ndarray  # how many tokens are known by then
    right: np.ndarray  # 1 if the decision is right, else 0; of a guess, the chance


def enough_tokens(encoded: Encoded, labels: np.ndarray, tokens: int, *, strength: float, thrift: float) -> int:
    """The number of tokens beyond which twice as many do not tell `thrift` more texts apart.

    It is where (texts decided rightly) - thrift * log2(tokens) is largest. Every class counts the same, however many
    texts it has. Where nothing can be learned, or more than a quarter of the tokens is needed, all are kept.

    >>> ids = np.array([[c, 2 + n % 7] for n in range(40) for c in (0, 1)])  # "good" or "bad", and one of seven others
    >>> texts = Encoded(ids.ravel(), np.ones(160), np.arange(0, 161, 2))
    >>> enough_tokens(texts, np.arange(80) % 2, tokens=9, strength=1.0, thrift=3.0)
    2
    """
    half = _halve(labels)
    parts = [_judge(encoded, labels, tokens, strength, ~judges, judges) for judges in (half, ~half)]
    counts = np.bincount(labels)
    weights = (len(labels) / (len(counts) * np.maximum(counts, 1)))[labels]
    right = np.sum([_along(part, part.right * weights[part.text], tokens) for part in parts], axis=0)
    gains = (right - right[0])[1:] - thrift * np.log2(np.arange(1, tokens + 1))
    enough = int(gains.argmax()) + 1
    return enough if gains.max() > 0 and _WORTHWHILE * enough <= tokens else tokens


def _halve(labels: np.ndarray) -> np.ndarray:
    """Which texts are in the first half: every second of each class, in an order of chance, always the same."""
    order = np.random.default_rng(len(labels)).permutation(len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    first = np.zeros(len(labels), dtype=np.bool_)
    first[by_class[::2]] = True
    return first


def _judge(
    encoded: Encoded, labels: np.ndarray, tokens: int, strength: float, teaches: np.ndarray, judges: np.ndarray
) -> _Courses:
    """The courses of the texts that judge, by a linear model of those that teach."""
    says = _says(pick(encoded, np.flatnonzero(teaches)), labels[teaches], labels.max() + 1, tokens, strength)
    known = np.zeros(tokens + 1, dtype=np.int64)  # the token of number `tokens` stands for none
    known[np.argsort(-np.abs(says).max(axis=0), kind="stable")] = np.arange(1, tokens + 1)
    texts = as_clouds(pick(encoded, np.flatnonzero(judges)), extra=tokens)
    order = np.lexsort((known[texts.ids], texts.cloud_of_token))
    ids, text = texts.ids[order], np.flatnonzero(judges)[texts.cloud_of_token]
    winner, most = np.zeros(len(ids), dtype=np.int64), np.full(len(ids), -np.inf)
    for c, say in enumerate(says):
        sums = np.cumsum(np.append(say, 0.0)[ids])
        sums -= np.repeat(sums[texts.offsets[:-1]], np.diff(texts.offsets))  # each text starts with none: 0
        winner, most = np.where(sums > most, c, winner), np.maximum(sums, most)
    right = np.where(ids == tokens, 1 / len(says), winner == labels[text])
    return _Courses(text, known[ids], right)


def _says(encoded: Encoded, labels: np.ndarray, classes: int, tokens: int, strength: float) -> np.ndarray:
    """What each token says for each class, (classes, tokens)."""

    def say(c: int) -> np.ndarray:
        return weigh(encoded, labels == c, log_odds(encoded, labels == c, tokens), strength, _STEPS)

    if classes == 2:
        second = say(1)
        return np.array([-second, second])
    return np.array([say(c) for c in range(classes)])


def _along(courses: _Courses, values: np.ndarray, tokens: int) -> np.ndarray:
    """The sum of the texts' values for every number of known tokens, 0 to `tokens`."""
    before = np.concatenate([[0.0], values[:-1]])
    before[courses.known == 0] = 0.0
    return np.cumsum(np.bincount(courses.known, values - before, minlength=tokens + 1))
