"""From the tokens of texts to votes, logits and probabilities."""

import math
from typing import NamedTuple

import numpy as np

from hardmax._kernels.compiling import njit, njit_parallel

TEXTS = 64  # a task for a thread


class Said(NamedTuple):
    """Text t has the tokens `ids[offsets[t]:offsets[t + 1]]`, whose weights are multiplied by their
    factors, and moved by their shifts."""

    ids: np.ndarray
    factors: np.ndarray
    shifts: np.ndarray
    offsets: np.ndarray


class Voting(NamedTuple):
    """The parameters of a model: a token keeps `share` of its vote, and takes the rest from its
    leader."""

    weights: np.ndarray  # float64
    bias: np.ndarray
    gate: float
    share: float
    neutral_weight: int


class Votes(NamedTuple):
    """What each token adds to the logits, whether it is active; the logits and probabilities of
    each text."""

    votes: np.ndarray
    active: np.ndarray
    logits: np.ndarray
    probabilities: np.ndarray


@njit
def _probabilities(logits, probabilities):
    rows = len(logits)
    if rows == 1:
        # Both from the smaller exponential, so that neither is rounded to nothing.
        small = math.exp(-abs(logits[0]))
        more = 1 if logits[0] >= 0.0 else 0
        probabilities[more], probabilities[1 - more] = 1.0 / (1.0 + small), small / (1.0 + small)
        return
    top, whole = -np.inf, 0.0
    for row in range(rows):
        top = max(top, logits[row])
    for row in range(rows):
        probabilities[row] = math.exp(logits[row] - top)
        whole += probabilities[row]
    for row in range(rows):
        probabilities[row] /= whole


@njit_parallel(lambda said, *_: -(-(len(said.offsets) - 1) // TEXTS))
def vote_texts(first, last, said, voting, found):
    """Count the votes of each text, added in the order of its tokens.

    A token is active if its largest vote is more than the gate's share of the largest in its text;
    the others add nothing. With two classes an active token may move towards the leader of its
    side, the largest vote there."""
    weights, votes = voting.weights, found.votes
    rows = len(voting.bias)
    for text in range(first * TEXTS, min(last * TEXTS, len(said.offsets) - 1)):
        start, end = said.offsets[text], said.offsets[text + 1]
        largest, high, low = 0.0, 0.0, 0.0
        for t in range(start, end):
            for row in range(rows):
                vote = weights[said.ids[t], row] * said.factors[t] + said.shifts[t]
                votes[t, row] = vote
                largest, high, low = max(largest, abs(vote)), max(high, vote), min(low, vote)
        least, size = voting.gate * largest, end - start + voting.neutral_weight
        found.logits[text] = 0.0
        for t in range(start, end):
            strength = 0.0
            for row in range(rows):
                strength = max(strength, abs(votes[t, row]))
            found.active[t] = strength > least
            for row in range(rows):
                vote = votes[t, row] if found.active[t] else 0.0
                if voting.share < 1.0 and vote != 0.0:
                    leader = high if vote > 0.0 else low
                    vote = voting.share * vote + (1.0 - voting.share) * leader
                votes[t, row] = vote / size
                found.logits[text, row] += votes[t, row]
        for row in range(rows):
            found.logits[text, row] += voting.bias[row]
        _probabilities(found.logits[text], found.probabilities[text])
