"""Where one token ends, as long as its start x is in a cell.

As long as attended sets are known, each point is at a + b x, with a point a and a number b, since
layers take means. So the score <A z_i, z_j> is a quadratic c + <b, x> + k <A x, x>, and so is the
lead of one point over another. An itinerary is what is attended to, layer by layer; cells that have
it in common share all positions and quadratics. Points with b = 0 are where they are whatever x is:
who of them is furthest is known at once."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import fmpz_mat

from hardmax._common.cached import cached_property
from hardmax._questions.cells import Cell, Quadratic
from hardmax._tokens.rationals import dot

Sets = Mapping[int, tuple[int, ...]]
"""Points that each of some points attends to, or may attend to."""
Rows = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Layer:
    """The paper's layer, and the multiplicities of points."""

    alpha: Fraction
    metric: Rows
    """A up to a factor."""
    counts: Sequence[int]
    furthest: dict[tuple[tuple[int, ...], ...], Sets] = field(default_factory=dict)
    """By points with b = 0, whom of them each attends to if there is nobody else."""


class Itinerary:
    """All points at a layer, before which attended sets are known: rows (a, b), up to a common
    positive factor. The last point starts at x."""

    def __init__(self, rows: Rows, layer: Layer, followers: Sets, number: int) -> None:
        self.rows, self.layer, self.followers, self.number = rows, layer, followers, number
        self._scores: dict[tuple[int, int], Quadratic] = {}
        self._steps: dict[tuple[tuple[int, ...], ...], Step] = {}

    @cached_property
    def candidates(self) -> Sets:
        """Whom points that follow no leader may attend to."""
        everybody = tuple(range(len(self.rows)))
        moving = tuple(j for j in everybody if self.rows[j][-1])
        still = [j for j in everybody if not self.rows[j][-1]]
        key = tuple(tuple(self.rows[j]) for j in still)
        if key not in self.layer.furthest:
            self.layer.furthest[key] = self._furthest(still)
        first = self.layer.furthest[key]
        pending = [i for i in everybody if i not in self.followers]
        return {i: (*first[i], *moving) if i in first else everybody for i in pending}

    def _furthest(self, still: Sequence[int]) -> Sets:
        if not still:
            return {}
        places = fmpz_mat([list(self.rows[j][:-1]) for j in still])
        directions = places * fmpz_mat([list(row) for row in self.layer.metric]).transpose()
        table = (directions * places.transpose()).tolist()
        found = {}
        for i, scores in zip(still, table, strict=True):
            best = max(scores)
            found[i] = tuple(j for j, score in zip(still, scores, strict=True) if score == best)
        return found

    def score(self, i: int, j: int) -> Quadratic:
        """<A z_i, z_j>, up to a positive factor that is the same for all."""
        if (i, j) not in self._scores:
            self._scores[i, j] = self.score_along(self.rows[i], j)
        return self._scores[i, j]

    def score_along(self, row: Sequence[int], j: int) -> Quadratic:
        """The score of a point along A (a + b x)."""
        (*a, b), (*place, share) = row, self.rows[j]
        look = [dot(line, a) for line in self.layer.metric]
        back = [dot(column, place) for column in zip(*self.layer.metric, strict=True)]
        linear = [share * x + b * y for x, y in zip(look, back, strict=True)]
        return [dot(look, place), *linear, b * share]

    def narrowed(
        self, cell: Cell, candidates: Sets, asked: Iterable[int]
    ) -> tuple[Sets, Quadratic | None]:
        """Candidates of whom some points attend to at almost all x in a cell, fewer for those
        asked; and a lead that has no sign there, if there is one. Without one, these attend to all
        that are left."""
        left, doubts = dict(candidates), []
        for i in asked:
            several = candidates.get(i, ())
            if len(several) < 2:
                continue
            scores = [self.score(i, j) for j in several]
            best = max(scores, key=cell.value_inside)
            leads = [[x - y for x, y in zip(best, score, strict=True)] for score in scores]
            kept = []
            for j, lead, values in zip(several, leads, cell.values(leads), strict=True):
                low = min(values)
                if low < 0 or not any(values):
                    kept.append(j)
                if low < 0:
                    doubts.append((bool(lead[-1]), low, lead))  # linear ones first
            left[i] = tuple(kept)
        return left, min(doubts)[-1] if doubts else None

    def follows_leader(self, i: int, candidates: Sets) -> bool:
        """Whether a point attends to a leader alone, as it then does for ever."""
        sets = {**self.followers, **candidates}
        return len(sets[i]) == 1 and sets[sets[i][0]] == sets[i]

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
    def _targets(self) -> tuple[Rows, int]:
        """The means of attended sets times a common denominator, and that."""
        counts, rows = self.itinerary.layer.counts, self.itinerary.rows
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
        here, there = now.layer.alpha.denominator * common, now.layer.alpha.numerator
        moved = [
            [here * x + there * y for x, y in zip(*rows, strict=True)]
            for rows in zip(now.rows, targets, strict=True)
        ]
        return Itinerary(moved, now.layer, self.stay, now.number + 1)

    @cached_property
    def _ties(self) -> list[tuple[int, Sequence[int]]] | None:
        """The points that move and have a tie, with their targets; None if a target moves."""
        (targets, common), rows = self._targets, self.itinerary.rows
        counts = self.itinerary.layer.counts
        ways = []
        for row, target in zip(rows, targets, strict=True):
            ways.append([common * x - y for x, y in zip(row, target, strict=True)])
        for attended in self.sets.values():
            left = [[counts[j] * x for x in ways[j]] for j in attended]
            if any(map(sum, zip(*left, strict=True))):
                return None
        ties = [i for i, attended in self.sets.items() if len(attended) > 1 and any(ways[i])]
        return [(i, targets[i]) for i in ties]

    def lasts(self, cell: Cell) -> bool:
        """Whether it is sure that these sets stay for ever at almost all x in the cell: all targets
        stand still, and along A times the target of a point that moves and has a tie nobody lies
        further out than those tied."""
        if self._ties is None:
            return False
        for i, target in self._ties:
            scores = [self.itinerary.score_along(target, j) for j in range(len(self.sets))]
            first = scores[self.sets[i][0]]
            leads = [[x - y for x, y in zip(first, score, strict=True)] for score in scores]
            values = cell.values(leads)
            if any(any(values[j]) for j in self.sets[i]) or min(map(min, values)) < 0:
                return False
        return True
