"""Few words that count: those that say least in a bag of words are silenced, and the others learn to do without.

A word that is silenced is still known, and follows the neutral leader; a phrase is left out, so that a short text is
not drowned by phrases that say nothing. It costs less accuracy to silence some at a time: half, then to solve the bag
of words again, and half of the rest.
"""

from typing import NamedTuple

import numpy as np

from hardmax.text.tokens.encoding import Encoded
from hardmax.train.bag import STEPS, Way, solve_bag
from hardmax.train.clouds import restrict

_ON_THE_WAY = STEPS // 3  # steps of the descent, where the order of the tokens is all that is asked for


class Pruned(NamedTuple):
    """The numbers of the tokens that are known, in order, and which of them say something."""

    known: np.ndarray
    loud: np.ndarray


def prune(encoded: Encoded, labels: np.ndarray, is_word: np.ndarray, way: Way, share: float) -> Pruned:
    """Silence all tokens but those that say most, to which a `share` of all that is said in the texts belongs.

    `is_word` says of every token whether it is a word, and no phrase.

    >>> texts = Encoded(np.array([0, 2, 0, 1, 2, 1]), np.ones(6, dtype=np.int32), np.array([0, 2, 3, 5, 6]))
    >>> found = prune(texts, np.array([0, 0, 1, 1]), np.array([True, True, False]), Way(10.0), share=0.7)
    >>> found.known.tolist(), found.loud.tolist()
    ([0, 1], [True, True])
    """
    tokens = len(is_word)
    met = np.bincount(encoded.ids, minlength=tokens)
    speaks = np.ones(tokens, dtype=np.bool_)
    for part in halvings(share):
        known = np.flatnonzero(speaks | is_word)
        bag = solve_bag(restrict(encoded, known, tokens), labels, speaks[known], way, _ON_THE_WAY)
        says = np.sqrt((bag.says**2).sum(axis=0))
        stays = _loudest(says, np.where(speaks[known], met[known], 0), part * len(encoded.ids))
        speaks[:] = False
        speaks[known[stays]] = True
    known = np.flatnonzero(speaks | is_word)
    return Pruned(known, speaks[known])


def halvings(share: float) -> list[float]:
    """The shares on the way to one, none less than half of the one before.

    >>> halvings(0.25), halvings(0.7)
    ([0.5, 0.25], [0.7])
    """
    steps = max(1, int(np.ceil(-np.log2(share))))
    return [share ** (n / steps) for n in range(1, steps)] + [share]


def _loudest(says: np.ndarray, met: np.ndarray, most: float) -> np.ndarray:
    """The numbers of the tokens that say most, met no more than `most` times together; the loudest in any case."""
    order = np.argsort(-says, kind="stable")
    order = order[says[order] > 0]
    enough = int(np.searchsorted(np.cumsum(met[order]), most, side="right"))
    return order[: max(enough, 1)]
