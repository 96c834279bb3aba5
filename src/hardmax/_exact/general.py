"""Any layer that `Dynamics` describes, in integers and fractions: whatever the others refuse.

Attended sets last until the first lead of a point that is not attended to is no longer negative, or
one of several that are attended to has a lead over another: leads follow from the closed forms of
positions (`power_sums`, `leads`).

Several heads: w_i is the weighted mean of the means over the attended sets of each head, which has
its own metric. If all w_i stand still, tokens go straight to them, and each head has leads along
its own directions. Anything else goes one layer at a time."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.validation import InputError
from hardmax._exact.argmax import Attended, directions_of, product_matrix, relative_lead
from hardmax._exact.leads import (
    Lead,
    Scores,
    Term,
    sign_of,
    soonest,
)
from hardmax._exact.positions import Phase, PhaseView
from hardmax._exact.power_sums import (
    Course,
    HeadMeans,
    Means,
    Motion,
    PowerSum,
    Table,
    course_of,
    fed,
    one_layer,
)
from hardmax._exact.vectors import (
    DIGIT,
    check_length,
    exact_table,
    flint,
    power,
)
from hardmax._layer.attended import AttendedIndices
from hardmax._layer.attention import HARDMAX, Threshold, Ties
from hardmax._layer.parts import is_strict
from hardmax._layer.rules import (
    allowed_pairs,
    attended_among,
    split_heads,
)
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import dot, rounding_of
from hardmax.dynamics import Dynamics

FOREVER, ONE_LAYER = None, 1
_BLOCK = 2**18  # scores computed at once


class AttentionHead:
    """One head of a layer: which tokens may attend to which, what points attend to, and for how
    long."""

    def __init__(self, points: Points, dynamics: Dynamics, contraction: Fraction) -> None:
        self.dynamics, self.contraction = dynamics, contraction
        self.counts, self.everybody = points.multiplicities, range(points.count)
        attention = dynamics.attention or HARDMAX
        self.is_threshold = isinstance(attention, Threshold)
        # What stays ahead of all others is attended to, whatever the rule for ties.
        self.may_last = self.is_threshold or isinstance(attention, Ties)
        known = attention if isinstance(attention, Threshold) else HARDMAX
        self.k, self.slack = known.k, Fraction(known.slack)
        self.is_strict = is_strict(dynamics.mask)
        self.is_causal = isinstance(dynamics.mask, str) and not self.is_strict
        self.mask = None if self.is_causal else allowed_pairs(dynamics, points.count)

    @property
    def products(self) -> int:
        """Of scores that a coordinate takes part in, all of them exact."""
        return len(self.everybody)

    def may_attend(self, i: int) -> Sequence[int]:
        if self.is_causal:
            return range(i + 1)
        return self.everybody if self.mask is None else np.flatnonzero(self.mask[i]).tolist()

    def scores(self, positions: PowerSum, pending: Sequence[int]) -> Iterator[tuple[int, Scores]]:
        """For each of some points the scores of all points along its direction."""
        tables = positions.rows()
        block = max(1, _BLOCK // (len(self.everybody) * len(tables) ** 2))
        for start in range(0, len(pending), block):
            askers = pending[start : start + block]
            totals: dict[Term, Any] = {}
            for left, rows in tables.items():
                directions = directions_of([rows[i] for i in askers], self.dynamics)
                for right, points in tables.items():
                    products = product_matrix(directions, points)
                    for term, factor in (left * right).items():
                        more = factor * products
                        totals[term] = totals[term] + more if term in totals else more
            columns = {term: total.tolist() for term, total in totals.items()}
            for row, i in enumerate(askers):
                scores = {term: table[row] for term, table in columns.items()}
                yield i, Scores(scores, self.contraction)

    def attended(self, place: PowerSum, pending: Sequence[int]) -> Attended:
        """What each of some points attends to, and a relative lead of theirs (0, if it was not
        compared)."""
        sets, leads, unit = [], [math.inf], self._unit(place)
        for i, scores in self.scores(place, pending):
            chosen, lead = self._furthest(self.may_attend(i), scores, unit)
            sets.append(chosen)
            leads.append(lead)
        margin = min(leads)
        if margin not in (0, math.inf):
            margin = relative_lead(int(margin), place.integers(), self.dynamics)
        return Attended(sets, float(margin))

    def _furthest(self, among: Sequence[int], scores: Scores, unit: int) -> tuple[Any, float]:
        """Those that count, and their lead, or 0."""
        if not among:
            return [], math.inf
        if len(scores.columns) > 1:
            # Points are sums of several terms after a jump, and others than hardmax never jump to a
            # layer (`first_change`).
            assert self.dynamics.attention is None
            return _furthest_by_sign(among, scores), 0
        (column,) = scores.columns.values()
        if self.dynamics.attention is not None:
            return self.attended_among({j: int(column[j]) for j in among}, unit), 0
        best = max(column[j] for j in among)
        lower = [column[j] for j in among if column[j] != best]
        lead = int(best - max(lower)) if lower else math.inf
        return [j for j in among if column[j] == best], lead

    def attended_among(self, scores: dict[int, int], unit: int) -> list[int]:
        return attended_among(self.dynamics, scores, self.counts, unit)

    def _unit(self, positions: PowerSum) -> int:
        """What a score of 1 is in `scores`; it matters for other kinds of attention than hardmax
        only."""
        if self.dynamics.attention is None:
            return 1
        return positions.integers().denominator ** 2 * self.dynamics.metric_denominator

    def first_change(
        self, course: Course, sets: AttendedIndices, pending: Sequence[int]
    ) -> int | None:
        """After how many layers of constant steps the sets of some points may be others."""
        if self.dynamics.attention is not None:
            stay = self.may_last and self._thresholds_stay(course, sets)
            return FOREVER if stay else ONE_LAYER
        attends = sets.sizes > 0
        rivals = ((i, sets[i].tolist(), self.may_attend(i)) for i in pending if attends[i])
        return self._soonest_change(course, rivals)

    def _soonest_change(
        self, course: Course, rivals: Iterable[tuple[int, list[int], Sequence[int]]]
    ) -> int | None:
        """The same for some points, what they attend to, and who else may be attended to."""
        change: int | None = FOREVER
        for i, chosen, others in rivals:
            few = self._unsettled(course, i, chosen, others)
            if len(few) > 1:
                ((_, scores),) = self.scores(course.form.only([i, *few]), [0])
                tied = sum(j in chosen for j in few)
                numbers = range(1, 1 + len(few))
                change = scores.first_change(numbers[:tied], numbers[tied:], change)
            if change == ONE_LAYER:
                break
        return change

    def _unsettled(
        self, course: Course, i: int, chosen: list[int], others: Sequence[int]
    ) -> list[int]:
        """The first of those that a point attends to, then who of the others the corners of the
        course do not prove to tie with it, or to stay behind it, for ever."""
        several = [*chosen, *sorted({*others}.difference(chosen))]
        if len(several) == 1 or course.integers is None:
            return several
        corners, tied = course.integers, len(chosen)
        directions = directions_of(corners[:, i].tolist(), self.dynamics)
        places = corners[:, several].transpose(1, 0, 2)
        scores = product_matrix(directions, places.reshape(-1, places.shape[2]).tolist())
        shape = len(corners), len(several), len(corners)
        scores = np.array(scores.tolist(), dtype=object).reshape(shape)
        leads = scores + scores.transpose(2, 1, 0)
        leads = leads - leads[:, :1]
        is_open = np.append(leads[:, :tied] != 0, leads[:, tied:] > 0, axis=1).any(axis=(0, 2))
        return [chosen[0], *(j for j, left in zip(several, is_open, strict=True) if left)]

    def _thresholds_stay(self, course: Course, sets: AttendedIndices) -> bool:
        """Whether scores stay above or below the least that counts."""
        form = course.form
        slack = self.slack * self._unit(form)
        for i, scores in self.scores(form, self.everybody):
            among = self.may_attend(i)
            if self.counts[[*among]].sum() <= self.k:
                continue  # all count, whatever their scores
            inside = {*sets[i].tolist()}
            if slack:
                mark = max(among, key=scores.now)
            else:
                mark = min(sorted(inside), key=scores.now)
            leads = threshold_leads(scores, among, inside, slack, mark)
            if not all(lead.stays_negative for lead in leads):
                return False
        return True


def threshold_leads(
    scores: Scores, among: Sequence[int], inside: set[int], slack: Fraction, mark: int
) -> Iterator[Lead]:
    """Leads that have to stay negative, or 0: over the last that counts, the mark, and of that one;
    with a slack, over the first less the slack, and it has to stay the first."""
    for j in among:
        if j not in inside:
            yield scores.lead(j, mark, slack)
        elif j != mark:
            yield scores.lead(mark, j, -slack)
            if slack:
                yield scores.lead(j, mark)


def _furthest_by_sign(among: Sequence[int], scores: Scores) -> list[int]:
    best: list[int] = []
    for j in among:
        ways = scores.columns.items() if best else ()
        lead = {term.power: int(column[j] - column[best[0]]) for term, column in ways}
        sign = sign_of(lead, scores.contraction)
        if sign > 0:
            best = []
        if sign >= 0:
            best.append(j)
    return best


def _leading(
    places: Sequence[PowerSum], sets: AttendedIndices, contraction: Fraction
) -> np.ndarray:
    """Which points attend to points alone that are where they are at all corners of a course."""
    owners = np.repeat(np.arange(len(sets)), sets.sizes)
    same = owners == sets.indices
    (left,) = np.nonzero(~same)
    for place in places:
        ways = PowerSum(
            {term: x[owners[left]] - x[sets.indices[left]] for term, x in place.items()}
        )
        apart = np.any([way.any(axis=1) for way in ways.values()], axis=0)
        if len({term[1:] for term in place}) < len(place):  # only powers of g can cancel
            for pair in np.flatnonzero(apart).tolist():
                columns = zip(*(row for (row,) in ways.only([pair]).rows().values()), strict=True)
                leads = (dict(zip(place, column, strict=True)) for column in columns)
                apart[pair] = any(Lead(lead, contraction).parts for lead in leads)
        left = left[~apart]
    same[left] = True
    return sets.all_of(same) & (sets.sizes > 0)


@dataclass(frozen=True, eq=False, kw_only=True)
class GeneralPhase(Phase):
    """Points in closed form."""

    course: Course
    bits: int
    """Of the longest denominator."""
    products: int
    """Exact products that a coordinate takes part in at a layer."""

    @property
    def form(self) -> PowerSum:
        return self.course.form

    def _power(self, exponent: int, *, exact: bool) -> Fraction:
        """g^exponent: exactly, or to 50 digits where that is long."""
        if self.contraction == 1:
            return Fraction(1)
        if exact:
            check_length(self.contraction, exponent)
            return self.contraction**exponent
        return power(self.contraction, exponent)

    def _at(self, m: int, *, exact: bool = False) -> Table:
        """The points m layers later."""
        corners, total = self.course.corners, 0
        form = corners[0] if corners and not m else self.form
        for (e, r, k), table in form.items():
            if m >= k and table.any():
                share = math.comb(m, k) * flint(self._power(e + r * m, exact=exact))
                total = total + share * table
        return total + 0 * next(iter(form.values()))

    def _limits(self, *, exact: bool = False) -> Table:
        """Where the points end."""
        if len(self.moving):
            raise InputError(f"Point {self.moving[0]} moves for ever: it has no limit.")
        ends = self.course.ends.items()
        total: Any = sum(flint(self._power(e, exact=exact)) * table for (e, *_), table in ends)
        return total

    @cached_property
    def moving(self) -> np.ndarray:
        """The points that move for ever, to infinity, as the phase lasts for ever."""
        if self.until is not None:
            return np.empty(0, dtype=int)
        drifts = np.zeros(len(self.choices), dtype=bool)
        for term, table in self.course.ends.items():
            if term.degree:
                drifts |= (table != 0).any(axis=1)
        return np.flatnonzero(drifts)

    @cached_property
    def targets(self) -> np.ndarray:
        """Where the points end, or go: infinite coordinates where they move for ever."""
        if not len(self.moving):
            return _rounded(self._limits())
        ends = _rounded(self._at(0))
        for (_, _, k), table in self.course.ends.items():
            if k:
                ends[table > 0], ends[table < 0] = np.inf, -np.inf
        return ends

    def ends(self) -> np.ndarray:
        return self.targets

    def floats_at(self, layer: int) -> np.ndarray:
        return _rounded(self._at(layer - self.layer))

    @cached_property
    def error(self) -> float:
        """No point of the phase is further than this from its floats: it is at a mean of the
        corners, or between where it is at the first layer and at the last."""
        last = self.layer if self.until is None else self.until
        tables = [self.floats_at(self.layer), self.floats_at(last)]
        for corner in self.course.corners:
            parts = (flint(self._power(e, exact=False)) * x for (e, *_), x in corner.items())
            total: Any = sum(parts)
            tables.append(_rounded(total))
        return rounding_of(np.concatenate(tables))

    @property
    def exactly(self) -> PhaseView:
        table = next(iter(self.course.ends.values()))
        return PhaseView(self, table.size * self.products * (self.bits // DIGIT) ** 2)

    def exact_at(self, layer: int | None, points: Sequence[int], *, exact: bool) -> Table:
        """The points at a layer, or where they end."""
        if layer is None:
            table = self._limits(exact=exact)
        else:
            table = self._at(layer - self.layer, exact=exact)
        return table[list(points)]


def _rounded(table: Table) -> np.ndarray:
    """The nearest floats: older releases of python-flint do not convert."""
    return np.array([[int(x.p) / int(x.q) for x in row] for row in table.tolist()])


def last_outside(phases: Sequence[GeneralPhase], goal: Fraction) -> int:
    """The last layer at which a squared distance of a point from its limit is larger than the goal,
    or -1."""
    ends = {term: table for term, table in phases[-1].form.items() if term.rate == 0}
    for phase in reversed(phases):
        ways = {term: phase.form.get(term, 0 * table) - table for term, table in ends.items()}
        form = PowerSum(phase.form | ways)
        scale = form.integers().denominator ** 2 * goal.denominator
        last, within = -1, None if phase.until is None else phase.until - phase.layer - 1
        for rows in zip(*form.rows().values(), strict=True):
            square = Counter({Term(0): -int(goal * scale)})
            parts = list(zip(form, rows, strict=True))
            for (left, x), (right, y) in itertools.product(parts, repeat=2):
                product = goal.denominator * dot(x, y)
                for term, factor in (left * right).items():
                    square[term] += factor * product
            last = max(last, Lead(square, phase.contraction).last_positive(last, within))
        if last >= 0:
            return phase.layer + last
    return -1


@dataclass(frozen=True)
class GeneralSolver:
    """Fractions decide, for any `Dynamics`."""

    arithmetic: str = "exact"
    head_type: ClassVar[type[AttentionHead]] = AttentionHead

    @property
    def exact(self) -> "GeneralSolver":
        """A solver whose phases have exact positions."""
        return self

    def phases(self, points: Points, dynamics: Dynamics) -> Iterator[GeneralPhase]:
        """The phases from layer 0 on; ends after one that lasts for ever."""
        return GeneralWalker(points, dynamics, self.head_type).walk()


def union_of(heads: Sequence[Any]) -> AttendedIndices:
    """For each point those that it attends to with any head."""
    if len(heads) == 1:
        return heads[0]
    count = len(heads[0])
    pairs = [np.repeat(np.arange(count), sets.sizes) * count + sets.indices for sets in heads]
    owners, indices = np.divmod(np.unique(np.concatenate(pairs)), count)
    return AttendedIndices(indices, np.searchsorted(owners, np.arange(count + 1)))


class GeneralWalker:
    """Any layer, phase by phase: points are sums of powers of g. It looks a layer ahead: if sets
    change there, nothing else has to be known."""

    layer = 0

    def __init__(self, points: Points, dynamics: Dynamics, head_type: type[AttentionHead]) -> None:
        self.dynamics, self.counts = dynamics, points.multiplicities
        self.constant_from = len(dynamics.steps) - 1
        # Powers of g are those of the step that stays.
        self.motion = Motion.of(dynamics, dynamics.alpha_at(self.constant_from))
        self.contraction = self.motion.contraction or Fraction(1)
        is_hardmax = isinstance(dynamics.attention, Ties | None)
        # Whether a follower follows for ever: if all may be attended to and no point leaves
        # the hull.
        is_open = dynamics.mask is None and dynamics.heads is None
        self.followers_stay = is_hardmax and is_open and dynamics.traits.convex
        is_mixed = dynamics.heads is not None and dynamics.value is not None
        # Known for many layers only if nothing moves.
        self.has_no_form = is_mixed or dynamics.traits.mixed or dynamics.feed_forward is not None
        self.heads = [head_type(points, head, self.contraction) for head in split_heads(dynamics)]
        self.place = PowerSum({Term(0): exact_table(points.coordinates)})
        self.attended_now: list[Attended] = []

    def walk(self) -> Iterator[GeneralPhase]:
        """The phases from layer 0 on; ends after one that lasts for ever."""
        pending, unchanged = np.arange(len(self.counts)), False
        choices = AttendedIndices.of_single(pending)
        while True:
            self.attended_now = self.attended_now or self._attended_at(self.place, pending)
            union = union_of([head.sets for head in self.attended_now])
            choices = choices.with_rows(pending, union)
            if self.followers_stay:
                pending = np.flatnonzero(~choices.follows_leader)
            means, motion = self._means(choices)
            linear = fed(
                self.place, one_layer(self.place, means, motion), self.dynamics.feed_forward
            )
            after = linear.after(1, self.contraction)
            attended_next = self._attended_at(after, pending)
            heads = zip(self.sets_of_heads, attended_next, strict=True)
            stays = all(now.of_rows(pending).same_as(later.sets) for now, later in heads)
            form, course, duration = None, Course.straight_on(linear), ONE_LAYER
            if stays and not (self.has_no_form and linear.moves):
                form = course_of(self.place, linear, means, motion)
            if form is not None:
                duration = self._first_change(form, pending.tolist())
                course = course if duration == ONE_LAYER else form
            is_single = duration == ONE_LAYER
            places = [self.place] if is_single else course.corners or [course.form]
            yield GeneralPhase(
                layer=self.layer,
                until=FOREVER if duration is None else self.layer + duration,
                choices=choices,
                margin=min(head.margin for head in self.attended_now),
                is_leader=_leading(places, choices, self.contraction),
                contraction=self.contraction,
                unchanged=unchanged,
                course=course,
                bits=self.place.bits(),
                products=self.heads[0].products,
            )
            if duration is None:
                return
            unchanged = is_single and stays
            self.place, self.attended_now = after, attended_next
            if not is_single:
                self.place, self.attended_now = course.form.after(duration, self.contraction), []
            self.layer += duration

    def _attended_at(self, place: PowerSum, pending: np.ndarray) -> list[Attended]:
        found = [head.attended(place, pending.tolist()) for head in self.heads]
        return [Attended(AttendedIndices.of_sets(sets), margin) for sets, margin in found]

    def _means(self, choices: AttendedIndices) -> tuple[Any, Motion]:
        """Where points go at this layer, and how far."""
        dynamics, motion = self.dynamics, self.motion
        alpha = dynamics.alpha_at(self.layer)
        if self.layer < self.constant_from:
            motion = Motion.of(dynamics, alpha)
        if dynamics.heads is None:
            self.sets_of_heads = [choices]
            return Means(choices, self.counts), motion
        self.sets_of_heads = [head.sets for head in self.attended_now]
        of_heads = [Means(chosen, self.counts) for chosen in self.sets_of_heads]
        return HeadMeans(of_heads, dynamics, alpha), motion

    def _first_change(self, form: Course, pending: list[int]) -> int | None:
        """After how many layers the sets of the pending points may be others."""
        # A block may undo the step of one layer, and not that of another.
        is_alike = self.dynamics.feed_forward is None or self.layer >= self.constant_from
        if not form.moves and is_alike:
            return FOREVER
        if self.layer < self.constant_from:
            return ONE_LAYER
        heads = zip(self.heads, self.sets_of_heads, strict=True)
        return soonest(head.first_change(form, chosen, pending) for head, chosen in heads)
