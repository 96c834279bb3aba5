"""Any layer, decided by floats where they can: positions are exact rationals, rounded once at every
layer, so that no error is carried from layer to layer.

Write x_j for the floats that stand for z_j, |x_j - z_j| <= u |x_j|, a for the norm of the metric,
which is off by u a at most. The direction y_i = fl(A x_i) is off from A z_i by (gamma_d + 2 u + …)
a |x_i|, and the score fl(<y_i, x_j>) from <A z_i, z_j> by (2 d + 3) u a |x_i| |x_j| and terms of
u^2: (2 d + 8) u covers these, and what rounding does to lengths. Candidates are all whose scores
may count (`tree`); where they are not certain, integers choose among them.

**For ever.** With a mask, "who follows a leader does so for ever" is false: that leader need not
see what its followers see. What is true, with any mask, several heads and V = a P: if all points go
straight, from z_j to w_j, then with t = g^m the lead of j over c for i is

    b0 (1 - t)^2 + 2 b1 t (1 - t) + b2 t^2,     b0 = <A w_i, w_j - w_c>,   b2 = <A z_i, z_j - z_c>,
    2 b1 = <A w_i, z_j - z_c> + <A z_i, w_j - w_c>,

its values at the corners of both ways. It is negative at t = 1. If b0 and b1 are not positive, or
if b0 < 0 and b1^2 < b0 b2 (then the quadratic form is negative definite), it is negative for ever.
Three searches find all pairs for which floats do not prove that b0 <= 0 and b1 <= 0:

* b0: along A w_i, among the targets. Many points share one, and for those who share that of c, b0
  is 0 without any rounding; so equal targets are searched as one.
* the second half of b1 is at most the largest <A z_i, w_j - w_c>: along A z_i, among the targets.
* the first half then has to be below what that leaves: along A w_i, among the points.

Of the pairs that are left, integers decide (`leads`). Localmax adds its slack to all b; of top-k
and localmax, those who count must stay ahead of the last of them, or close to the first."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq

from hardmax._exact.argmax import Attended
from hardmax._exact.general import (
    ONE_LAYER,
    AttentionHead,
    GeneralPhase,
    GeneralSolver,
    threshold_leads,
)
from hardmax._exact.leads import Term
from hardmax._exact.power_sums import Course, PowerSum
from hardmax._float.bounds import (
    LARGEST,
    SAFETY,
    SMALLEST,
    UNDERFLOW,
    UNIT,
    float_metric,
    norms_above,
    relative_margin,
)
from hardmax._float.kernels import interpreted_if_small
from hardmax._float.tree import Askers, Tree, collect, rank, tree_of
from hardmax._layer.attended import AttendedIndices
from hardmax._layer.attention import Ties
from hardmax._tokens.points import Points
from hardmax.dynamics import Dynamics

# Fewer scores than this are made as integers at once.
FEW_SCORES = 2**12
# Leads that integers look at before the next layer is; of chains, all leads have to be looked at.
_MOST_LEADS, _MOST_IN_CHAINS = 4096, 2**16
_MOST_RANKS = 64
_MOST_PRODUCTS = 2**25
_DEFINITE = 1 - 2.0**-30


class Corners(NamedTuple):
    """The corners of a course as floats over one power of two, and for each corner labels of the
    points: those that are at one place there have the same."""

    places: list[np.ndarray]
    labels: list[np.ndarray]
    unit: Fraction


class FloatHead(AttentionHead):
    """Floats find candidates, and leads that are certain to stay negative."""

    def __init__(self, points: Points, dynamics: Dynamics, contraction: Fraction) -> None:
        super().__init__(points, dynamics, contraction)
        self.metric = float_metric(dynamics)
        self.error = (2 * points.dimension + 8) * UNIT * SAFETY * self.metric.norm

    @property
    def products(self) -> int:
        is_few = len(self.everybody) ** 2 <= FEW_SCORES
        return len(self.everybody) if is_few else 1

    def attended(self, place: PowerSum, pending: Sequence[int]) -> Attended:
        is_few = len(pending) * len(self.everybody) <= FEW_SCORES
        by_integers = is_few or self.is_strict or not self.may_last
        if by_integers or place.keys() != {Term(0)} or self.k > _MOST_RANKS:
            return super().attended(place, pending)
        (places,), unit = _floats([place[Term(0)]])
        rows = np.array(pending, dtype=np.int64)
        tree, askers = self._tree(places), self._askers(places, rows)
        slack = self._slack_in(unit)
        least = rank(askers, tree, self.k).least - slack * (1 + 4 * UNIT)
        choices, found = collect(askers, tree, least, self.k, slack * (1 - 4 * UNIT))
        contested = np.flatnonzero(~found.certain)
        chosen, leads = [], []
        for row in contested.tolist():
            several, lead = self._among(place, pending[row], choices[row].tolist())
            chosen.append(several)
            leads.append(lead)
        choices = choices.with_rows(contested, AttendedIndices.of_sets(chosen))
        attention = self.dynamics.attention
        if isinstance(attention, Ties):
            choices = AttendedIndices.of_single(attention.of_each(choices))
        if attention is not None:
            return Attended(choices, 0.0)
        smallest = min((lead for lead in leads if lead is not None), default=None)
        gap = max(0.0, float((least - found.beyond).min()))
        if smallest is not None:
            gap = min(gap, float(smallest * unit * self.metric.scale))
        longest = float(norms_above(places).max())
        return Attended(choices, relative_margin(gap, self.metric.norm, longest))

    def _among(
        self, place: PowerSum, i: int, among: list[int]
    ) -> tuple[list[int], Fraction | None]:
        """What a point attends to of its candidates, and the lead of the last over the next."""
        some = place.only([i, *among])
        ((_, scores),) = self.scores(some, [0])
        (column,) = scores.columns.values()
        numbers = dict(zip(among, map(int, column[1:]), strict=True))
        unit = some.integers().denominator ** 2 * self.dynamics.metric_denominator
        chosen = self.attended_among(numbers, unit)
        left = numbers.keys() - {*chosen}
        if not left:
            return chosen, None
        lead = min(numbers[j] for j in chosen) - max(numbers[j] for j in left)
        return chosen, Fraction(lead, unit)

    def _slack_in(self, unit: Fraction) -> float:
        return float(self.slack * unit * self.metric.scale)

    def _tree(self, places: np.ndarray, labels: np.ndarray | None = None) -> Tree:
        """All points, or one of each label: it may be attended to by any point that may attend to a
        point of that label."""
        counts, everybody = self.counts, np.arange(len(self.everybody))
        since, table = np.zeros_like(everybody), self.mask
        if self.is_causal:
            since = everybody
        if labels is not None:
            _, firsts = np.unique(labels, return_index=True)
            counts, since = counts[firsts], since[firsts]
            if table is not None:
                order = np.argsort(labels, kind="stable")
                starts = np.searchsorted(labels[order], np.arange(len(firsts)))
                table = np.logical_or.reduceat(table[:, order], starts, axis=1)
        return tree_of(places, counts, since, table)

    def _askers(self, places: np.ndarray, rows: np.ndarray) -> Askers:
        directions = np.ascontiguousarray(self.metric.directions(places[rows]))
        off = self.error * norms_above(places[rows])
        return Askers(rows, directions, norms_above(directions), off)

    def first_change(
        self, course: Course, sets: AttendedIndices, pending: Sequence[int]
    ) -> int | None:
        if self.dynamics.attention is not None or self.is_strict:
            return super().first_change(course, sets, pending)
        rows = np.array(pending, dtype=np.int64)
        corners = self._corners(course, rows)
        if corners is None:
            return self._first_of_few(course, sets, rows)
        doubts = self._doubts_of(corners, sets, rows, sets.firsts[rows])
        if doubts is None:
            return ONE_LAYER
        several = (sets.sizes[rows] > 1) | (doubts.sizes > 0)
        rivals = (
            (int(rows[row]), sets[rows[row]].tolist(), doubts[row].tolist())
            for row in np.flatnonzero(several).tolist()
        )
        return self._soonest_change(course, rivals)

    def _first_of_few(self, course: Course, sets: AttendedIndices, rows: np.ndarray) -> int | None:
        """The same where floats have nothing to say."""
        is_chain = self.contraction < 1 and self._is_large(rows)
        return ONE_LAYER if is_chain else super().first_change(course, sets, rows.tolist())

    def _is_large(self, rows: np.ndarray) -> bool:
        return len(rows) * len(self.everybody) > _MOST_IN_CHAINS

    def _thresholds_stay(self, course: Course, sets: AttendedIndices) -> bool:
        # Others attend to all they may.
        (rows,), form = np.nonzero(self._allowed_counts(self.counts) > self.k), course.form
        chosen = sets.of_rows(rows)
        corners = self._corners(course, rows)
        if corners is None:
            return not self._is_large(rows) and super()._thresholds_stay(course, sets)
        here = corners.places[0]
        directions = self.metric.directions(here)
        owners = np.repeat(rows, chosen.sizes)
        scores = np.einsum("id,id->i", directions[owners], here[chosen.indices])
        # The last of those who count comes first, or the first of them if there is a slack.
        order = np.lexsort((-scores if self.slack else scores, owners))
        marks = chosen.indices[order[chosen.offsets[:-1]]]
        doubts = self._doubts_of(corners, sets, rows, marks)
        if doubts is None:
            return False
        mark_of = np.repeat(marks, chosen.sizes)
        stay = self._is_negative(corners, owners, mark_of, chosen.indices, -self.slack)
        if self.slack:
            stay &= self._is_negative(corners, owners, chosen.indices, mark_of, Fraction(0))
        stay |= chosen.indices == mark_of
        unsure = np.add.reduceat(~stay, chosen.offsets[:-1]) > 0
        if np.count_nonzero(~stay) > _MOST_LEADS:
            return False
        for row in np.flatnonzero(unsure | (doubts.sizes > 0)).tolist():
            inside = chosen[row].tolist()
            some = form.only([rows[row], *inside, *doubts[row].tolist()])
            ((_, leads_of),) = self.scores(some, [0])
            numbers = range(1, 1 + len(inside) + int(doubts.sizes[row]))
            slack = self.slack * self._unit(some)
            within, mark = {*numbers[: len(inside)]}, 1 + inside.index(marks[row])
            leads = threshold_leads(leads_of, numbers, within, slack, mark)
            if not all(lead.stays_negative for lead in leads):
                return False
        return True

    def _allowed_counts(self, counts: np.ndarray) -> np.ndarray:
        """What the counts of those that each point may attend to add up to."""
        if self.is_causal:
            return np.cumsum(counts)
        if self.mask is None:
            return np.full(len(counts), counts.sum())
        return self.mask @ counts

    def _corners(self, course: Course, rows: np.ndarray) -> Corners | None:
        """The corners of a course, if there are any and many scores."""
        is_few = len(rows) * len(self.everybody) <= FEW_SCORES
        if is_few or not course.moves or not course.corners:
            return None
        if course.corners[0].keys() != {Term(0)}:
            return None
        tables = [corner[Term(0)] for corner in course.corners]
        places, unit = _floats(tables)
        labels = [np.arange(len(self.everybody))]
        for table, floats in zip(tables[1:], places[1:], strict=True):
            _, firsts, alike = np.unique(floats, axis=0, return_index=True, return_inverse=True)
            alike = alike.ravel()
            # Rationals that round to the same floats may differ: then each has a label of its own.
            (unequal,) = np.nonzero((table != table[firsts[alike]]).any(axis=1))
            alike[unequal] = len(firsts) + np.arange(len(unequal))
            labels.append(np.unique(alike, return_inverse=True)[1].ravel())
        return Corners(places, labels, unit)

    def _doubts_of(
        self, corners: Corners, sets: AttendedIndices, rows: np.ndarray, marks: np.ndarray
    ) -> AttendedIndices | None:
        """For each row those not attended to whose lead over its mark, and a slack more, floats
        cannot prove to be negative for ever. None: there are too many to look at."""
        if len(corners.places) == 2:
            pairs = self._searched(corners, rows, marks)
        else:
            pairs = self._allowed(rows, _MOST_PRODUCTS // len(corners.places) ** 2)
        if pairs is None:
            return None
        i, j = pairs
        able = ~_are_in(sets, rows[i], j) & self._may(rows[i], j)
        i, j = i[able], j[able]
        able = ~self._is_negative(corners, rows[i], j, marks[i], self.slack)
        i, j = i[able], j[able]
        if len(i) > _MOST_LEADS:
            return None
        return AttendedIndices(j, np.searchsorted(i, np.arange(len(rows) + 1)))

    def _allowed(self, rows: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        """All pairs of a row and a point that it may attend to; None: there are more than so
        many."""
        if self._allowed_counts(np.ones_like(self.counts))[rows].sum() > most:
            return None
        if self.mask is not None and not self.is_causal:
            i, j = np.nonzero(self.mask[rows])
            return i, j
        i, j = np.divmod(np.arange(len(rows) * len(self.everybody)), len(self.everybody))
        return i, j

    def _searched(
        self, corners: Corners, rows: np.ndarray, marks: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """All pairs that matter of points that go straight, and others."""
        (here, ends), (_, labels), unit = corners
        _, firsts = np.unique(labels, return_index=True)
        slack = self._slack_in(unit) * (1 + 4 * UNIT)
        targets, points = self._tree(ends[firsts], labels), self._tree(here)
        looks, aims = self._askers(here, rows), self._askers(ends, rows)
        classes, _ = collect(aims, targets, _least(aims, ends[marks]) - slack)
        most = rank(looks, targets).least
        most += 2 * (looks.off * targets.leaves.widest + UNDERFLOW)
        more = np.maximum(most - _least(looks, ends[marks]), 0.0)
        least = _least(aims, here[marks]) - more * (1 + 4 * UNIT) - 2 * slack
        others, _ = collect(aims, points, least)
        members = np.argsort(labels, kind="stable")
        ranges = AttendedIndices(
            members, np.searchsorted(labels[members], np.arange(len(firsts) + 1))
        )
        owner = np.repeat(np.arange(len(rows)), classes.sizes)
        matters = (classes.indices != labels[marks][owner]) | (slack > 0.0)
        owner, several = owner[matters], classes.indices[matters]
        if ranges.sizes[several].sum() + len(others.indices) > 64 * _MOST_LEADS:
            return None
        expanded = ranges.of_rows(several)
        i = np.append(
            np.repeat(owner, expanded.sizes), np.repeat(np.arange(len(rows)), others.sizes)
        )
        j = np.append(expanded.indices, others.indices)
        i, j = np.divmod(np.unique(i * len(labels) + j), len(labels))
        return i, j

    def _may(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Whether points may attend to others."""
        if self.is_causal:
            return j <= i
        return np.ones(len(i), dtype=bool) if self.mask is None else self.mask[i, j]

    def _is_negative(
        self, corners: Corners, i: np.ndarray, j: np.ndarray, over: np.ndarray, slack: Fraction
    ) -> np.ndarray:
        """Whether the lead of j over another point for i, and a slack more, is proved to be
        negative for ever."""
        places, labels, unit = corners
        directions = [self.metric.directions(x) for x in places]
        sizes = [norms_above(x) for x in places]
        size = float(slack * unit * self.metric.scale)
        more = size + 4 * UNIT * abs(size)

        def lead(p: int, q: int, some: Any) -> np.ndarray:
            looking, one, other = i[some], j[some], over[some]
            looks = directions[p][looking]
            scores = [np.einsum("id,id->i", looks, places[q][k]) for k in (one, other)]
            off = self.error * sizes[p][looking] * (sizes[q][one] + sizes[q][other])
            found = scores[0] - scores[1] + 2 * off + UNDERFLOW
            return np.where(labels[q][one] == labels[q][other], 0.0, found)

        def mixed(p: int, q: int, some: Any) -> np.ndarray:
            return (lead(p, q, some) + lead(q, p, some)) / 2 + more

        now = mixed(0, 0, slice(None))
        stays = now < 0
        if len(places) == 2:
            b0, b1 = mixed(1, 1, slice(None)), mixed(0, 1, slice(None))
            definite = (b0 < 0) & (b1 * b1 < b0 * now * _DEFINITE)
            return stays & (b0 <= 0) & ((b1 <= 0) | definite)
        for p, q in itertools.combinations_with_replacement(range(len(places)), 2):
            (left,) = np.nonzero(stays)
            stays[left] = mixed(p, q, left) <= 0
        return stays


def _are_in(sets: AttendedIndices, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Whether points attend to others."""
    count = len(sets)
    pairs = np.repeat(np.arange(count), sets.sizes) * count + sets.indices
    return np.isin(i * count + j, pairs)


def _least(askers: Askers, places: np.ndarray) -> np.ndarray:
    """What the score of a place is for each asker, at least."""
    scores = np.einsum("id,id->i", askers.directions, places)
    return scores - askers.off * norms_above(places) - UNDERFLOW


def _floats(tables: list[np.ndarray]) -> tuple[list[np.ndarray], Fraction]:
    """Tables of rationals as floats, all divided by one power of two, each number rounded once; and
    what a product of two numbers is divided by, as a factor."""
    try:
        floats = [table.astype(np.float64) for table in tables]
        largest = max(np.abs(table).max() for table in floats)
        if largest == 0.0 or SMALLEST <= largest <= LARGEST:
            return floats, Fraction(1)
    except OverflowError:
        pass
    largest = max(abs(number) for table in tables for number in table.flat)
    exponent = int(largest.p).bit_length() - int(largest.q).bit_length()
    scale = fmpq(2) ** -exponent
    scaled = [(scale * table).astype(np.float64) for table in tables]
    return scaled, Fraction(2) ** (-2 * exponent)


@dataclass(frozen=True)
class FloatGeneralSolver(GeneralSolver):
    """Floats decide where they can, for any `Dynamics`; integers decide the rest."""

    head_type = FloatHead

    def phases(self, points: Points, dynamics: Dynamics) -> Iterator[GeneralPhase]:
        """The phases from layer 0 on; ends after one that lasts for ever."""
        phases = super().phases(points, dynamics)
        while True:
            with interpreted_if_small(*points.coordinates.shape):
                phase = next(phases, None)
            if phase is None:
                return
            yield phase
