"""Walking in integers over a common denominator: the truth.

With alpha = p/q the layer is z' = (q z + p w) / (p + q). All points share one denominator, so scores of one row are
compared as integers. A cloud whose targets all stand still is carried on by the closed form of `phase`, up to the
next event or for ever (see `events`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._attended import Choices
from hardmax._exact.argmax import Chooser
from hardmax._exact.events import layers_unchanged
from hardmax._exact.positions import ExactPhase
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics


@dataclass(frozen=True)
class ExactSolver:
    """Integers decide; `choose` says which scores they look at."""

    choose: Chooser
    arithmetic: str = "exact"
    machine: Any = None  # integers are multiplied by whatever there is

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[ExactPhase]:
        cloud, layer = points.integers, 0
        counts = points.multiplicities.tolist()
        choices = Choices.of_single(np.arange(points.count))
        pending = np.arange(points.count)
        while True:
            chosen = self.choose(cloud.rows(pending.tolist()), cloud, dynamics)
            choices = choices.with_rows(pending, Choices.of_sets(chosen.lists))
            lists = choices.lists()
            positions, targets = with_means(cloud, lists, counts)
            lasting = layers_unchanged(positions, targets, lists, counts, dynamics, self.choose)
            phase = ExactPhase(
                layer=layer,
                until=None if lasting is None else layer + lasting,
                choices=choices,
                is_leader=leaders(positions, lists),
                margin=chosen.margin,
                keep=dynamics.contraction,
                positions=positions,
                targets=targets,
            )
            yield phase
            if lasting is None:
                return
            pending = np.flatnonzero(~choices.follows_leader)
            layer += lasting
            cloud = phase.integers_at(layer)


def with_means(cloud: IntegerCloud, chosen: list[list[int]], counts: list[int]) -> tuple[IntegerCloud, IntegerCloud]:
    """The points and the means of their attended sets, both over one common denominator."""
    voters = [sum(counts[j] for j in several) for several in chosen]
    common = math.lcm(*(total for total, several in zip(voters, chosen, strict=True) if len(several) > 1))
    rows = cloud.numerators
    positions = [[common * value for value in row] for row in rows]
    targets = []
    for several, total in zip(chosen, voters, strict=True):
        if len(several) == 1:
            targets.append(positions[several[0]])
            continue
        weights = [counts[j] * (common // total) for j in several]
        columns = zip(*(rows[j] for j in several), strict=True)
        targets.append([sum(w * value for w, value in zip(weights, column, strict=True)) for column in columns])
    denominator = cloud.denominator * common
    return IntegerCloud(positions, denominator), IntegerCloud(targets, denominator)


def leaders(positions: IntegerCloud, chosen: list[list[int]]) -> np.ndarray:
    """Which points attend to no other point: leaders.

    With a metric that is not positive definite, distinct points can meet; those that have met are one point.
    """
    rows = positions.numerators
    return np.array([all(j == i or rows[j] == rows[i] for j in several) for i, several in enumerate(chosen)])
