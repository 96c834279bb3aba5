"""The ledger, by the engines: what mass each word of a cloud has in the mean of its last layer, whom it follows, and
where it ends.

The mean of layer K gives point i the mass m_i / N. A layer backwards, point i keeps the share g = 1 / (1 + alpha) of
its mass and gives the rest to the points it attends to, by their multiplicities:

    before_j = g mass_j + (1 - g) sum over i with j in C_i of mass_i m_j / (sum of m over C_i).

Infinitely many layers end with those in which no attended set ever changes again: after them all mass is with leaders.
`hardmax.text.model.kernels.walking` does the same where all attended sets are single points that floats prove.
"""

import math
from typing import TYPE_CHECKING

import numpy as np

from hardmax._attended import Choices
from hardmax._tokens.batches import Ragged
from hardmax.dynamics import Dynamics
from hardmax.text.model.checks import DEEPEST

if TYPE_CHECKING:
    from hardmax.trajectory import Trajectory


def walk_cloud(tokens: np.ndarray, counts: np.ndarray, dynamics: Dynamics, layers: float) -> "Trajectory":
    """The run of the distinct words of one text, each as often as `counts` says; of infinitely many layers, those until
    it has settled, or the first 10,000 where it has not by then."""
    from hardmax.simulation import simulate
    from hardmax.stops import AfterLayers, Settled

    stop = Settled(DEEPEST) if math.isinf(layers) else AfterLayers(int(layers))
    return simulate(Ragged(tokens, [0, len(tokens)], counts.astype(np.int64)), dynamics, stop=stop)[0]


def masses(run: "Trajectory", counts: np.ndarray, layers: float) -> np.ndarray:
    """The mass of each word; they add up to 1.

    >>> run = walk_cloud(np.array([[2.0], [1.0]]), np.array([1, 1]), Dynamics(1), layers=1)
    >>> masses(run, np.array([1, 1]), layers=1).tolist()
    [0.75, 0.25]
    """
    weights = run.points.multiplicities.astype(np.float64)
    mass, keep = weights, float(run.dynamics.contraction)
    if _goes_on_for_ever(run, layers):
        mass = _hand_to_leaders(mass, run.attended(run.layers).choices, weights)
    for layer in reversed(range(run.layers)):
        mass = _hand_back(mass, keep, run.attended(layer).choices, weights)
    of_word = run.points.of_token
    return mass[of_word] * (counts / weights[of_word]) / weights.sum()


def ends(run: "Trajectory", layers: float) -> np.ndarray:
    """Where each word is after the last layer, or for ever."""
    return run.float_ends() if _goes_on_for_ever(run, layers) else run.floats_at(run.layers)


def follows(run: "Trajectory") -> np.ndarray:
    """For each word the place of the leader to whom alone it attends at the last layer; -1 if there is none such.

    Words with one vector are one point; the last of them stands for it.

    >>> follows(walk_cloud(np.array([[2.0], [1.0], [-1.0]]), np.ones(3), Dynamics(1), layers=1)).tolist()
    [0, 0, 2]
    """
    choices, of_word = run.attended(run.layers).choices, run.points.of_token
    place = np.empty(run.points.count, dtype=np.int64)
    place[of_word] = np.arange(len(of_word))
    first = choices.firsts(np.arange(len(choices)))
    return np.where(choices.follows_leader, place[first], -1)[of_word]


def _goes_on_for_ever(run: "Trajectory", layers: float) -> bool:
    return math.isinf(layers) and run.settled_at is not None


def _hand_back(mass: np.ndarray, keep: float, choices: Choices, weights: np.ndarray) -> np.ndarray:
    giver = np.repeat(np.arange(len(choices)), choices.sizes)
    share = weights[choices.indices] / np.add.reduceat(weights[choices.indices], choices.offsets[:-1])[giver]
    before = keep * mass
    np.add.at(before, choices.indices, (1 - keep) * mass[giver] * share)
    return before


def _hand_to_leaders(mass: np.ndarray, choices: Choices, weights: np.ndarray) -> np.ndarray:
    """What `_hand_back` comes to if it is repeated for ever: whatever a point keeps, by keeping or by attending to
    itself among others, it gives to the others in the end.

    Those to whom it attends are longer than itself, so that no mass comes back, and in the end leaders have all of it.
    """
    giver = np.repeat(np.arange(len(choices)), choices.sizes)
    leads = choices.is_leader
    goes = (choices.indices != giver) | leads[giver]
    giver, taker = giver[goes], choices.indices[goes]
    share = weights[taker] / np.bincount(giver, weights[taker], minlength=len(choices))[giver]
    while mass[~leads].any():
        mass = np.bincount(taker, mass[giver] * share, minlength=len(choices))
    return mass
