"""The search behind `basins`.

The box of starts is cut into cells (`cells`). In each, the run is followed layer by layer
(`itineraries`) as long as every lead that is asked for has one sign in the whole cell; where one
has not, the cell is cut along it, exactly if it is linear in the start, else along lines beside the
curve. The largest cell that is not decided comes next."""

import heapq
from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

from flint import arb

from hardmax._questions.cells import Box, Cell, CellPolygon
from hardmax._questions.itineraries import Itinerary, Layer, Sets
from hardmax._questions.laws import (
    Gaussian,
    Normal,
    Uniform,
    enclose,
    enclose_probability,
    moments_of,
    total_volume,
)
from hardmax._questions.regions import Region
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics

_MOST_LAYERS = 200


class Open(NamedTuple):
    """A cell that is not decided."""

    cell: Cell
    itinerary: Itinerary
    candidates: Sets
    """Whom points may attend to there at this layer."""


class Search:
    """Cells: those of which the end is known, and those that are not decided."""

    def __init__(
        self, points: Points | None, weight: int, dynamics: Dynamics, box: Box, law: Any
    ) -> None:
        d, counts, rows, denominator = len(box.ends), [], [], 1
        if points is not None:
            counts, denominator = points.multiplicities.tolist(), points.integers.denominator
            rows = [[*row, 0] for row in points.integers.numerators]
        rows.append([*[0] * d, denominator])
        metric = dynamics.metric_integers or [[int(i == j) for j in range(d)] for i in range(d)]
        layer = Layer(dynamics, metric, [*counts, weight])
        start = Itinerary(IntegerCloud(rows, denominator), layer, {}, 0)
        cell: Cell = box
        if d == 2:
            left, left_above, right, right_above = box.corners
            cell = CellPolygon((left, right, right_above, left_above))
        self.law: Uniform | Normal = Uniform(box)
        if isinstance(law, Gaussian):
            self.law = Normal(moments_of(law, d))
        self.with_law, self.token, self.numbers = law is not None, len(rows) - 1, count()
        self.ends: dict[tuple[int, ...], list[Cell]] = {}
        self.given_up: list[Cell] = []
        self.queue: list[tuple[float, int, Open]] = []
        self.left = 0.0
        self._push(Open(cell, start, start.anybody))

    def _push(self, left: Open) -> None:
        weight = self.law.weight(left.cell)
        self.left += weight
        heapq.heappush(self.queue, (-weight, next(self.numbers), left))

    def step(self) -> None:
        """Decide the largest cell that is open, or cut it."""
        weight, _, (cell, itinerary, candidates) = heapq.heappop(self.queue)
        while itinerary.number < _MOST_LAYERS:
            sets, lead = itinerary.attended(cell, candidates)
            if lead is not None:
                parts = cell.split(lead, itinerary.layer.metric)
                for part in parts:
                    self._push(Open(part, itinerary, sets))
                if parts:
                    self.left += weight
                    return
                break
            step = itinerary.step(sets)
            if step.lasts(cell):
                self.left += weight
                self.ends.setdefault(step.sets[self.token], []).append(cell)
                return
            itinerary = step.after
            candidates = itinerary.anybody
        self.given_up.append(cell)

    def regions(self, names: Sequence[int]) -> tuple[tuple[Region, ...], Region]:
        """What is proved of each end, the largest first, and what is not; points have these
        names."""
        undecided = [*self.given_up, *(left.cell for *_, left in self.queue)]
        rest, shares = arb(1), {}
        if self.with_law:
            shares = {end: self.law.probability(cells) for end, cells in self.ends.items()}
            rest -= sum(shares.values(), arb(0))
        regions = []
        for end, cells in self.ends.items():
            attended = tuple(sorted(names[point] for point in end))
            bounds = None
            if self.with_law:
                bounds = enclose_probability(shares[end], shares[end] + rest)
            area = total_volume(cells)
            name = _name(attended, names[-1])
            regions.append(Region(attended, name, enclose(area, area), bounds, tuple(cells)))
        regions.sort(key=lambda region: -region.area.low)
        bounds = enclose_probability(arb(0), rest) if self.with_law else None
        area = total_volume(undecided)
        return tuple(regions), Region(
            (), "undecided", enclose(area, area), bounds, tuple(undecided)
        )


def _name(attended: Sequence[int], token: int) -> str:
    """Whom a token attends to in the end, in words."""
    if attended == (token,):
        return "itself"
    numbers = ", ".join(map(str, attended))
    return f"leader {numbers}" if len(attended) == 1 else f"face {numbers}"
