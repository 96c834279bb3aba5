"""Where one token ends, as long as its start x is in a cell.

As long as attended sets are known, each point is at a + b x, with a point a and a number b, since
layers take means. So the score <A z_i, z_j> is a quadratic c + <b, x> + k <A x, x>, and so is the
lead of one point over another. An itinerary is what is attended to, layer by layer; cells that have
it in common share all positions and quadratics."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hardmax._common.cached import cached_property
from hardmax._exact.argmax import products
from hardmax._questions.cells import Cell, Quadratic
from hardmax._tokens.rationals import IntegerCloud, dot
from hardmax.dynamics import Dynamics

Sets = Mapping[int, tuple[int, ...]]
"""Points that each of some points attends to, or may attend to."""


class Layer(NamedTuple):
    """The paper's layer, A up to a factor, and the multiplicities of points."""

    dynamics: Dynamics
    metric: Sequence[Sequence[int]]
    counts: Sequence[int]


class Itinerary:
    """All points at a layer, before which attended sets are known; the last point starts at x."""

    def __init__(self, places: IntegerCloud, layer: Layer, followers: Sets, number: int) -> None:
        self.places, self.layer, self.number = places, layer, number
        self.followers = followers
        """Those that follow a leader, for ever."""
        everybody = tuple(range(len(places.numerators)))
        self.anybody: Sets = {i: everybody for i in everybody if i not in followers}
        self._steps: dict[tuple[tuple[int, ...], ...], Step] = {}

    @cached_property
    def scores(self) -> dict[int, list[Quadratic]]:
        """For each point that follows no leader the scores of all."""
        return {i: self.scores_along(self.places.numerators[i]) for i in self.anybody}

    def scores_along(self, row: Sequence[int]) -> list[Quadratic]:
        """The scores of all points along A (a + b x), up to a positive factor."""
        *a, b = row
        metric = self.layer.metric
        look = [dot(line, a) for line in metric]
        scores = []
        for *place, share in self.places.numerators:
            back = [dot(column, place) for column in zip(*metric, strict=True)]
            linear = [share * x + b * y for x, y in zip(look, back, strict=True)]
            scores.append([dot(look, place), *linear, b * share])
        return scores

    def attended(self, cell: Cell, candidates: Sets) -> tuple[Sets, Quadratic | None]:
        """Whom points may attend to at almost all x in a cell, if these are the candidates; and a
        lead that has no sign there, if there is one. Without one, they attend to all that are
        left."""
        asked = [i for i, several in candidates.items() if len(several) > 1]
        if not asked:
            return candidates, None
        pairs = cell.pairs(self.layer.metric)
        middle = [sum(column) for column in zip(*pairs[: len(cell.corners)], strict=True)]
        left, doubtful = dict(candidates), None
        for i in asked:
            scores = self.scores[i]
            best = max(candidates[i], key=lambda j: dot(scores[j], middle))
            leads = []
            for j in candidates[i]:
                leads.append([x - y for x, y in zip(scores[best], scores[j], strict=True)])
            kept = []
            for j, lead, values in zip(candidates[i], leads, products(leads, pairs), strict=True):
                low = min(values)
                if low < 0 or not any(values):
                    kept.append(j)
                if low < 0 and (doubtful is None or doubtful[-1]):
                    doubtful = lead  # one that is linear, if there is one
            left[i] = tuple(kept)
        return left, doubtful

    def step(self, sets: Sets) -> "Step":
        """What follows if points attend to these."""
        key = tuple(sets.values())
        if key not in self._steps:
            self._steps[key] = Step(self, {**self.followers, **sets})
        return self._steps[key]


class Step:
    """An itinerary, and whom all points attend to next."""

    def __init__(self, itinerary: Itinerary, sets: Sets) -> None:
        self.itinerary, self.sets = itinerary, sets
        self.stay = {i: c for i, c in sets.items() if len(c) == 1 and sets[c[0]] == c}
        """Those that follow a leader from now on."""

    @cached_property
    def _targets(self) -> tuple[list[list[int]], int]:
        """The means of attended sets times a common denominator, and that."""
        counts, rows = self.itinerary.layer.counts, self.itinerary.places.numerators
        totals = [sum(counts[j] for j in self.sets[i]) for i in range(len(rows))]
        common = math.lcm(*totals)
        targets = []
        for i, total in enumerate(totals):
            weights = [counts[j] * (common // total) for j in self.sets[i]]
            columns = zip(*(rows[j] for j in self.sets[i]), strict=True)
            targets.append([dot(weights, column) for column in columns])
        return targets, common

    @cached_property
    def after(self) -> Itinerary:
        """All points one layer on."""
        now, (targets, common) = self.itinerary, self._targets
        alpha = now.layer.dynamics.alpha
        here, there = alpha.denominator * common, alpha.numerator
        moved = [
            [here * x + there * y for x, y in zip(*rows, strict=True)]
            for rows in zip(now.places.numerators, targets, strict=True)
        ]
        denominator = (alpha.numerator + alpha.denominator) * common * now.places.denominator
        places = IntegerCloud(moved, denominator).reduced()
        return Itinerary(places, now.layer, self.stay, now.number + 1)

    @cached_property
    def _ties(self) -> list[tuple[tuple[int, ...], list[Quadratic]]] | None:
        """The attended sets of points that move and have a tie, with the scores of all points along
        A times their targets; None if a target moves."""
        now, (targets, common) = self.itinerary, self._targets
        ways = [
            [common * x - y for x, y in zip(*rows, strict=True)]
            for rows in zip(now.places.numerators, targets, strict=True)
        ]
        counts = now.layer.counts
        for attended in self.sets.values():
            left = [[counts[j] * x for x in ways[j]] for j in attended]
            if any(map(sum, zip(*left, strict=True))):
                return None
        ties = [i for i, attended in self.sets.items() if len(attended) > 1 and any(ways[i])]
        return [(self.sets[i], now.scores_along(targets[i])) for i in ties]

    def lasts(self, cell: Cell) -> bool:
        """Whether it is sure that these sets stay for ever at almost all x in the cell: all targets
        stand still, and along A times the target of a point that moves and has a tie nobody lies
        further out than those tied (`_exact.solver`)."""
        if len(self.stay) == len(self.sets):
            return True
        if self._ties is None:
            return False
        pairs = cell.pairs(self.itinerary.layer.metric) if self._ties else []
        for attended, scores in self._ties:
            values = products(scores, pairs)
            first = values[attended[0]]
            if any(values[j] != first for j in attended):
                return False
            if any(x < y for row in values for x, y in zip(first, row, strict=True)):
                return False
        return True
