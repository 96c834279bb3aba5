"""The ledger, by the engines: what mass each word of a cloud has in the mean of its last layer.

The mean of layer K gives point i the mass m_i / N. A layer backwards, point i keeps the share g = 1 / (1 + alpha) of
its mass and gives the rest to the points it attends to, by their multiplicities:

    before_j = g mass_j + (1 - g) sum over i with j in C_i of mass_i m_j / (sum of m over C_i).

`hardmax.text.model.kernels.walking` does the same where all attended sets are single points that floats prove.
"""

from typing import TYPE_CHECKING

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.dynamics import Dynamics
from hardmax.tokens.batches import Ragged

if TYPE_CHECKING:
    from hardmax.runs.trajectory import Trajectory


def walk_cloud(tokens: np.ndarray, counts: np.ndarray, dynamics: Dynamics, layers: int) -> "Trajectory":
    """The run of the distinct words of one text, each as often as `counts` says."""
    from hardmax.runs.simulation import simulate  # most texts do not need the engines, which take a while to import

    return simulate(Ragged(tokens, [0, len(tokens)], counts.astype(np.int64)), dynamics, layers=layers)[0]


def masses(run: "Trajectory", counts: np.ndarray, layers: int) -> np.ndarray:
    """The mass of each word; they add up to 1.

    >>> run = walk_cloud(np.array([[2.0], [1.0]]), np.array([1, 1]), Dynamics(1), layers=1)
    >>> masses(run, np.array([1, 1]), layers=1).tolist()
    [0.75, 0.25]
    """
    weights = run.points.multiplicities.astype(np.float64)
    mass = weights / weights.sum()
    keep = float(run.dynamics.keep)
    for layer in reversed(range(layers)):
        mass = _hand_back(mass, keep, run.attended(layer).choices, weights)
    return (mass / weights)[run.points.of_token] * counts


def _hand_back(mass: np.ndarray, keep: float, choices: Choices, weights: np.ndarray) -> np.ndarray:
    giver = np.repeat(np.arange(len(choices)), choices.sizes)
    share = weights[choices.indices] / np.add.reduceat(weights[choices.indices], choices.offsets[:-1])[giver]
    before = keep * mass
    np.add.at(before, choices.indices, (1 - keep) * mass[giver] * share)
    return before
