"""The dynamics in integers over a common denominator, without any floats, so that it can check the others.

With alpha = p/q the layer is z' = (q z + p w) / (p + q). All points share one denominator, so scores of one row are
compared as integers. A cloud whose targets all stand still is carried on by the closed form of `ExactPhase`, up to the
next event or for ever (see `events`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._attended import Choices
from hardmax._exact.argmax import by_all_scores
from hardmax._exact.events import layers_unchanged
from hardmax._exact.positions import ExactPhase
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics


@dataclass(frozen=True)
class ExactSolver:
    """Integers decide."""

    machine: Any = None
    arithmetic: str = "exact"

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[ExactPhase]:
        """The phases from layer 0 on; ends after one that lasts for ever."""
        cloud, layer = points.integers, 0
        counts = points.multiplicities.tolist()
        pending = np.arange(points.count)
        choices = Choices.of_single(pending)
        while True:
            chosen = by_all_scores(cloud.rows(pending.tolist()), cloud, dynamics)
            choices = choices.with_rows(pending, Choices.of_lists(chosen.lists))
            lists = choices.lists()
            positions, targets = _with_means(cloud, lists, counts)
            lasting = layers_unchanged(positions, targets, lists, counts, dynamics)
            rows = positions.numerators
            phase = ExactPhase(
                layer=layer,
                until=None if lasting is None else layer + lasting,
                choices=choices,
                # With a metric that is not positive definite distinct points can meet; those that have met are one.
                is_leader=np.array([all(rows[j] == rows[i] for j in several) for i, several in enumerate(lists)]),
                margin=chosen.margin,
                keep=dynamics.keep,
                positions=positions,
                targets=targets,
            )
            yield phase
            if lasting is None:
                return
            pending = np.flatnonzero(~choices.follows_leader)
            layer += lasting
            cloud = phase.integers_at(layer)


def _with_means(cloud: IntegerCloud, chosen: list[list[int]], counts: list[int]) -> tuple[IntegerCloud, IntegerCloud]:
    """The points and the means of their attended sets, both over one common denominator."""
    totals = [sum(counts[j] for j in several) for several in chosen]
    common = math.lcm(*(total for total, several in zip(totals, chosen, strict=True) if len(several) > 1))
    positions = [[common * value for value in row] for row in cloud.numerators]
    targets = []
    for several, total in zip(chosen, totals, strict=True):
        if len(several) == 1:
            targets.append(positions[several[0]])
            continue
        weights = [counts[j] * (common // total) for j in several]
        columns = zip(*(cloud.numerators[j] for j in several), strict=True)
        targets.append([sum(w * value for w, value in zip(weights, column, strict=True)) for column in columns])
    denominator = cloud.denominator * common
    return IntegerCloud(positions, denominator), IntegerCloud(targets, denominator)
