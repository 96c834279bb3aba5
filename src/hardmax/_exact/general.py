"""The walker for every layer that `Dynamics` describes, in integers and fractions: whatever the
others refuse.

Attended sets last until the first lead of a point that is not attended to is no longer negative, or
one of several that are attended to has a lead over another: leads follow from the closed forms of
positions (`forms`, `leads`)."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.validation import InputError
from hardmax._exact.argmax import _relative, directions_of, products
from hardmax._exact.forms import (
    Form,
    Means,
    Motion,
    Place,
    Sets,
    Table,
    at_first,
    closed_form,
    integers,
    longest,
    one_layer,
    placed,
)
from hardmax._exact.leads import Key, Lead, binomial_product, sign_of
from hardmax._exact.positions import Phase
from hardmax._exact.solver import is_negative_throughout
from hardmax._exact.trapped import never_settle
from hardmax._exact.vectors import (
    DIGIT,
    MOST_DIGITS,
    TooLong,
    Vector,
    check_length,
    power,
    running_products,
)
from hardmax._layer.attended import AttendedIndices
from hardmax._layer.attention import Localmax, TopK
from hardmax._layer.parts import Steps
from hardmax._layer.rules import allowed_pairs, attended_among
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import IntegerCloud, to_fractions
from hardmax.dynamics import Dynamics

_STRAIGHT = ((0, 0, 0), (0, 1, 0), (0, 2, 0))
_BLOCK = 2**18  # scores computed at once
_MOST_LAYERS = 10**5  # of a rule, which has to be asked for each
_BITS = 256  # of what a rule leaves of the way: a layer loses less than 2^-254 of it


class Cloud:
    """The points of one run, who may attend to whom, and what follows from where they are."""

    def __init__(self, points: Points, dynamics: Dynamics) -> None:
        self.dynamics, self.counts, n = dynamics, points.multiplicities, points.count
        mask = allowed_pairs(dynamics, n)
        self.allowed = None if mask is None else [np.flatnonzero(row).tolist() for row in mask]
        self.everybody = list(range(n))

    def may_attend(self, i: int) -> list[int]:
        return self.everybody if self.allowed is None else self.allowed[i]

    def scores(
        self, form: Form, pending: Sequence[int]
    ) -> Iterator[tuple[int, dict[Key, Sequence[int]]]]:
        """For each of some points the scores of all points along its direction: sums of terms, by
        their exponents."""
        keys, tables = list(form), integers(form.values())
        block = max(1, _BLOCK // (len(tables[0]) * len(keys) ** 2))
        for start in range(0, len(pending), block):
            some, parts = pending[start : start + block], {}
            for (e, r, k), rows in zip(keys, tables, strict=True):
                looks = directions_of([rows[i] for i in some], self.dynamics)
                for (f, s, h), others in zip(keys, tables, strict=True):
                    found = products(looks, others)
                    for size, factor in binomial_product(k, h).items():
                        parts.setdefault((e + f, r + s, size), []).append((factor, found))
            for row, i in enumerate(some):
                terms = {
                    key: [(factor, found[row]) for factor, found in each]
                    for key, each in parts.items()
                }
                yield i, {key: _total(each) for key, each in terms.items()}

    def attended(
        self, place: Place, pending: Sequence[int], keep: Fraction
    ) -> tuple[list[list[int]], float]:
        """Whom each of some points attends to, and a relative lead of theirs (0, if it was not
        compared)."""
        found, leads, unit = [], [math.inf], self.unit(place.values())
        for i, scores in self.scores({(e, 0, 0): z for e, z in place.items()}, pending):
            others = self.may_attend(i)
            if self.dynamics.attention is not None:
                (column,) = scores.values()
                found.append(
                    attended_among(
                        self.dynamics, {j: int(column[j]) for j in others}, self.counts, unit
                    )
                )
                leads.append(0)
            elif len(scores) == 1:
                (column,) = scores.values()
                best = max(column[j] for j in others)
                found.append([j for j in others if column[j] == best])
                lower = [column[j] for j in others if column[j] != best]
                leads += [int(best - max(lower))] if lower else []
            else:
                found.append(_furthest(others, scores, keep))
                leads.append(0)
        if (lead := min(leads)) in (0, math.inf):
            return found, float(lead)
        return found, _relative(
            int(lead), IntegerCloud.of(next(iter(place.values()))), self.dynamics
        )

    def unit(self, tables: Iterable[Table]) -> int:
        """What a score of 1 is in `scores`; it matters for other kinds of attention than hardmax
        only."""
        if self.dynamics.attention is None:
            return 1
        return (
            IntegerCloud.of(np.concatenate(list(tables))).denominator ** 2
            * self.dynamics.metric_denominator
        )

    def lasts(self, form: Form, chosen: Sets, keep: Fraction) -> bool:
        """Whether sets that are not those of hardmax stay for ever: scores are above or below the
        least that counts, which is that of one token, up to a slack."""
        attention, unit = self.dynamics.attention, self.unit(form.values())
        slack = Fraction(attention.slack) * unit if isinstance(attention, Localmax) else Fraction(0)
        for i, columns in self.scores(form, self.everybody):
            others, inside = self.may_attend(i), {*chosen[i]}
            if isinstance(attention, TopK) and self.counts[others].sum() <= attention.k:
                continue  # all count, whatever their scores

            def lead(
                j: int, k: int, more: Fraction, columns: dict[Key, Sequence[int]] = columns
            ) -> Lead:
                terms = {
                    key: more.denominator * int(column[j] - column[k])
                    for key, column in columns.items()
                }
                return Lead(terms | {(0, 0, 0): terms.get((0, 0, 0), 0) + more.numerator}, keep)

            def now(j: int, columns: dict[Key, Sequence[int]] = columns) -> int:
                return sum(int(column[j]) for (_, _, k), column in columns.items() if not k)

            first = max(others, key=now) if slack else min(chosen[i], key=now)
            leads = [
                lead(j, first, slack) if j not in inside else lead(first, j, -slack)
                for j in others
                if j != first
            ]
            leads += [lead(j, first, Fraction(0)) for j in inside - {first}] if slack else []
            if not all(
                not each.parts or (each.sign(0) < 0 and each.first_reached() is None)
                for each in leads
            ):
                return False
        return True

    def first_change(
        self, form: Form, chosen: Sets, pending: Sequence[int], keep: Fraction
    ) -> int | None:
        """After how many layers the sets of some points may be others; None: never."""
        soonest: int | None = None
        for i, columns in self.scores(form, pending):
            first, tied = chosen[i][0], chosen[i][1:]
            for j in [
                *tied,
                *(j for j in self.doubtful(i, columns, first) if j != first and j not in tied),
            ]:
                lead = Lead(
                    {key: column[j] - column[first] for key, column in columns.items()}, keep
                )
                event = (1 if lead.parts else None) if j in tied else lead.first_reached(soonest)
                soonest = soonest if event is None else event
                if soonest == 1:
                    return 1
        return soonest

    def doubtful(self, i: int, columns: dict[Key, Sequence[int]], first: int) -> list[int]:
        """The points whose lead over one that is attended to is not sure to be negative for ever.

        Without k >= 1 it is the mix b0 (1 - t)^2 + b1 t (1 - t) + b2 t^2, t = g^m, with b2 < 0 the
        lead now."""
        if any(e for e, _, _ in columns):
            return self.may_attend(i)
        tests = [columns[0, 0, 0], *(column for (_, _, k), column in columns.items() if k)]
        if (0, 1, 0) in columns:
            tests.append(
                [a + 2 * b for a, b in zip(columns[0, 1, 0], columns[0, 0, 0], strict=True)]
            )
        doubtful = {
            j for column in tests for j, score in enumerate(column) if score > column[first]
        }
        return [j for j in self.may_attend(i) if j in doubtful]

    def lasting(
        self, form: Form, chosen: Sets, pending: Sequence[int], keep: Fraction, constant: bool
    ) -> int | None:
        """For how many layers, at least 1, the sets are sure to be these, which they are a layer
        later; None: for ever. Positions are those of the form for any steps to come, or for
        constant ones."""
        if constant and self.dynamics.attention is None:
            return self.first_change(form, chosen, pending, keep)
        if constant:
            return None if self.lasts(form, chosen, keep) else 1
        is_straight = self.dynamics.attention is None and form.keys() <= {*_STRAIGHT}
        is_rule = isinstance(self.dynamics.steps, Steps)
        if is_rule and is_straight and self.lasts_whatever_the_steps(form, chosen, pending):
            return None
        return 1

    def lasts_whatever_the_steps(self, form: Form, chosen: Sets, pending: Sequence[int]) -> bool:
        """Whether points that go straight keep their attended sets all the way."""
        for i, columns in self.scores(form, pending):
            first = chosen[i][0]
            for j in self.may_attend(i):
                a0, a1, a2 = (
                    int(columns[key][j] - columns[key][first]) if key in columns else 0
                    for key in _STRAIGHT
                )
                stays = (
                    not (a0 or a1 or a2) if j in chosen[i] else is_negative_throughout(a0, a1, a2)
                )
                if not stays:
                    return False
        return True


def _total(terms: list[tuple[int, Sequence[int]]]) -> Sequence[int]:
    """The sum of some rows of scores, each times a factor."""
    (factor, total), *others = terms
    total = total if factor == 1 else [factor * score for score in total]
    for factor, scores in others:
        total = [a + factor * b for a, b in zip(total, scores, strict=True)]
    return total


def _furthest(others: Sequence[int], scores: dict[Key, Sequence[int]], keep: Fraction) -> list[int]:
    best: list[int] = []
    for j in others:
        lead = (
            sign_of(
                {e: int(scores[e, 0, 0][j] - scores[e, 0, 0][best[0]]) for e, _, _ in scores}, keep
            )
            if best
            else 1
        )
        best = [j] if lead > 0 else [*best, j] if lead == 0 else best
    return best


def leading(chosen: Sets, form: Form, keep: Fraction) -> np.ndarray:
    """Which points attend to their own place alone, as long as the form holds."""
    return np.array(
        [
            all(i == j or _coincide(form, i, j, keep) for j in several)
            for i, several in enumerate(chosen)
        ]
    )


def _coincide(form: Form, i: int, j: int, keep: Fraction) -> bool:
    """Whether two points are always in the same place."""
    ways = {key: table[i] - table[j] for key, table in form.items() if (table[i] != table[j]).any()}
    if len({key[1:] for key in ways}) == len(ways):
        return not ways
    for exponents in {key[1:] for key in ways}:
        powers = {key[0]: way for key, way in ways.items() if key[1:] == exponents}
        columns = zip(*IntegerCloud.of(np.array(list(powers.values()))).numerators, strict=True)
        if any(sign_of(dict(zip(powers, column, strict=True)), keep) for column in columns):
            return False
    return True


@dataclass(frozen=True, eq=False, kw_only=True)
class GeneralPhase(Phase):
    """Points in closed form."""

    form: Form
    counts: np.ndarray
    dynamics: Dynamics
    bits: int
    """Of the longest denominator."""

    @property
    def is_by_rule(self) -> bool:
        return isinstance(self.dynamics.steps, Steps)

    def power(self, exponent: int, *, exact: bool = False) -> Fraction:
        """g^exponent: exactly, or to 50 digits where that is long."""
        if self.keep == 1:
            return Fraction(1)
        if exact:
            check_length(self.keep, exponent)
            return self.keep**exponent
        return power(self.keep, exponent)

    def share(self, m: int, *, exact: bool = False) -> Fraction:
        """What is left of the way after m layers whose steps follow a rule: exactly, or to some 50
        digits."""
        bits = math.inf if exact else _BITS
        for layer, (above, below) in enumerate(running_products(self._contractions(), bits)):
            if layer == m:
                return Fraction(above, below)
            if exact and below.bit_length() > 4 * MOST_DIGITS:
                break
        message = f"`layer` {self.layer + m} has no exact tokens that could be worked with: their fractions would have"
        raise TooLong(
            f"{message} more than {MOST_DIGITS:,} digits. Ask for an earlier layer, or for floats (`at`)."
        )

    def _contractions(self) -> Iterator[tuple[int, int]]:
        """g = 1 / (1 + alpha a), V = a P, of each layer from the first of this phase on: numerator,
        denominator."""
        alpha_at = self.dynamics.alpha_at
        motion = Motion.of(self.dynamics, alpha_at(self.layer))
        assert motion.keep is not None, "there is a closed form"
        scale = (1 / motion.keep - 1) / alpha_at(self.layer)
        for layer in itertools.count(self.layer):
            alpha = alpha_at(layer)
            part = scale.denominator * alpha.denominator
            yield part, part + scale.numerator * alpha.numerator

    def left(self) -> Fraction | None:
        """What is left of the way in the end; None: not known."""
        steps = self.dynamics.steps
        if not isinstance(steps, Steps):
            return Fraction(0)
        if steps.keeps is None or (steps.keeps and self.dynamics.value is not None):
            return None
        shares = (1 + self.dynamics.alpha_at(k) for k in range(self.layer))
        return math.prod(shares, start=Fraction(steps.keeps))

    def at(self, m: int, *, exact: bool = False) -> Table:
        """The points m layers later, as Fractions."""
        total: Any = 0
        for (e, r, k), table in self.form.items():
            if r and self.is_by_rule:
                total = total + self.share(m, exact=exact) * table
            elif m >= k and table.any():
                total = total + math.comb(m, k) * self.power(e + r * m, exact=exact) * table
        return total + 0 * next(iter(self.form.values()))

    def limits(self, *, exact: bool = False) -> Table:
        """Where the points end, as Fractions."""
        if len(self.moving):
            raise InputError(f"Point {self.moving[0]} moves for ever: it has no limit.")
        total: Any = 0
        for (e, r, _), table in self.form.items():
            share = Fraction(1)
            if r:
                left = self.left() if table.any() else Fraction(0)
                if left is None:
                    raise InputError(
                        "`alpha`: the product of all 1 / (1 + alpha) is not known: give Steps `keeps`."
                    )
                share = left
            total = total + (share and share * self.power(e, exact=exact)) * table
        return total

    @cached_property
    def moving(self) -> np.ndarray:
        """The points that are proved to move for ever: to infinity, if the phase lasts for ever, or
        within bounds."""
        if self.until is not None:
            # Where this can be proved, no power of g is in the positions.
            here = next(iter(self.form.values()))
            endless = never_settle(here, self.counts, self.choices.lists(), self.dynamics)
            return np.array(endless, dtype=np.int64)
        drift = [table for (_, r, k), table in self.form.items() if r == 0 and k]
        return (
            np.flatnonzero(sum(map(np.abs, drift), np.zeros((1, 1))).any(axis=1))
            if drift
            else np.empty(0, np.int64)
        )

    @cached_property
    def positions(self) -> np.ndarray:
        return self.floats_at(self.layer)

    @cached_property
    def targets(self) -> np.ndarray:
        """Where the points end, or go: infinite coordinates where they move for ever."""
        if not len(self.moving):
            return self.limits().astype(np.float64)
        ends = self.at(0).astype(np.float64)
        for (_, _, k), table in self.form.items():
            if k:
                ends[table > 0], ends[table < 0] = np.inf, -np.inf
        return ends

    def floats_at(self, layer: int) -> np.ndarray:
        return self.at(layer - self.layer).astype(np.float64)

    @property
    def exactly(self) -> "GeneralView":
        return GeneralView(self)


@dataclass(frozen=True, eq=False)
class GeneralView:
    """Where points are in a phase, as fractions."""

    phase: GeneralPhase
    exact: bool = True

    @property
    def work(self) -> int:
        """What it costs to go on, in products of digits."""
        table = next(iter(self.phase.form.values()))
        return table.size * len(table) * (self.phase.bits // DIGIT) ** 2

    def positions(self, points: Sequence[int]) -> list[Vector]:
        return self.later(points, 0)

    def targets(self, points: Sequence[int]) -> list[Vector]:
        return [tuple(row) for row in self.phase.limits(exact=self.exact)[list(points)]]

    def later(self, points: Sequence[int], layers: int) -> list[Vector]:
        return [tuple(row) for row in self.phase.at(layers, exact=self.exact)[list(points)]]

    def rounded(self) -> "GeneralView":
        return GeneralView(self.phase, exact=False)


def last_outside(phases: Sequence[GeneralPhase], goal: Fraction) -> int:
    """The last layer at which a squared distance of a point from its limit is larger than the goal,
    or -1."""
    if phases[-1].is_by_rule:
        return _last_outside_by_rule(phases, goal)
    ends = {(e, r, k): table for (e, r, k), table in phases[-1].form.items() if r == 0}
    for phase in reversed(phases):
        form = phase.form | {
            key: phase.form.get(key, 0 * table) - table for key, table in ends.items()
        }
        scale = (
            IntegerCloud.of(np.concatenate(list(form.values()))).denominator ** 2 * goal.denominator
        )
        last, within = -1, None if phase.until is None else phase.until - phase.layer - 1
        for rows in zip(*integers(form.values()), strict=True):
            square: dict[Key, int] = {(0, 0, 0): -int(goal * scale)}
            for (e, r, k), x in zip(form, rows, strict=True):
                for (f, s, h), y in zip(form, rows, strict=True):
                    product = goal.denominator * sum(map(mul, x, y))
                    for size, factor in binomial_product(k, h).items():
                        key = (e + f, r + s, size)
                        square[key] = square.get(key, 0) + factor * product
            last = max(last, Lead(square, phase.keep).last_positive(last, within))
        if last >= 0:
            return phase.layer + last
    return -1


def _last_outside_by_rule(phases: Sequence[GeneralPhase], goal: Fraction) -> int:
    """The same, if steps follow a rule: all phases but the last are single layers, and in that one
    all points go straight, so that distances shrink with what is left of the way."""
    *before, last = phases
    limits, left = last.limits(exact=True), last.left() or Fraction(0)
    longest_way = (last.form.get((0, 1, 0), 0 * limits) ** 2).sum(axis=1).max()

    def is_outside(share: Fraction) -> bool:
        return (share - left) ** 2 * longest_way > goal

    # Where nobody moves any more there need not be a closed form.
    shares = running_products(last._contractions(), _BITS) if longest_way else iter([(0, 1)])
    for m, pair in enumerate(itertools.islice(shares, _MOST_LAYERS)):
        share = Fraction(*pair)
        if is_outside(share):
            continue
        if is_outside(share + share / 2**200) and is_outside(last.share(m, exact=True)):
            continue
        if m:
            return last.layer + m - 1
        outside = (
            phase.layer
            for phase in reversed(before)
            if ((phase.at(0) - limits) ** 2).sum(axis=1).max() > goal
        )
        return next(outside, -1)
    raise InputError(
        f"`eps`: tokens are not that near after {_MOST_LAYERS:,} layers, and each has its own step."
    )


@dataclass(frozen=True)
class GeneralSolver:
    """Fractions decide, for any `Dynamics`."""

    arithmetic: str = "exact"

    def phases(self, points: Points, dynamics: Dynamics) -> Iterator[GeneralPhase]:
        """The phases from layer 0 on; ends after one that lasts for ever."""
        if dynamics.heads is not None:
            from hardmax._exact.heads import walk_heads

            yield from walk_heads(points, dynamics)
            return
        cloud, layer, steps = Cloud(points, dynamics), 0, dynamics.steps
        constant_from = (
            math.inf
            if isinstance(steps, Steps)
            else len(steps) - 1
            if isinstance(steps, tuple)
            else 0
        )
        # Powers of g are those of the step that stays.
        stays = Motion.of(
            dynamics, dynamics.alpha_at(0 if isinstance(steps, Steps) else int(constant_from))
        )
        keep = stays.keep or Fraction(1)
        # Who follows a leader does so for ever, if all may be attended to and nobody leaves the
        # hull.
        is_convex = dynamics.value is None and dynamics.mask is None and dynamics.attention is None
        place: Place = {0: to_fractions(points.coordinates, "`tokens`")}
        pending = np.arange(points.count)
        choices = AttendedIndices.of_single(pending)
        found, margin = cloud.attended(place, pending.tolist(), keep)
        unchanged = False
        while True:
            choices = choices.with_rows(pending, AttendedIndices.of_sets(found))
            chosen = choices.lists()
            if is_convex:
                pending = np.flatnonzero(~choices.follows_leader)
            motion = (
                stays if layer >= constant_from else Motion.of(dynamics, dynamics.alpha_at(layer))
            )
            means = Means(chosen, points.multiplicities)
            linear = one_layer(place, means, motion)
            after = placed(linear, 1, keep)
            ahead = cloud.attended(after, pending.tolist(), keep)
            stays_once = ahead[0] == [chosen[i] for i in pending]
            form, lasting = linear, 1
            known = closed_form(place, linear, means, motion) if stays_once else None
            if known is not None:
                is_constant = layer >= constant_from or known.keys() <= {(0, 0, 0)}
                lasting = cloud.lasting(known, chosen, pending.tolist(), keep, is_constant)
                form = linear if lasting == 1 else known
            yield GeneralPhase(
                layer=layer,
                until=None if lasting is None else layer + lasting,
                choices=choices,
                is_leader=leading(chosen, at_first(place) if lasting == 1 else form, keep),
                margin=margin,
                keep=keep,
                unchanged=unchanged,
                form=form,
                counts=points.multiplicities,
                dynamics=dynamics,
                bits=max(map(longest, place.values())),
            )
            if lasting is None:
                return
            layer += lasting
            unchanged = lasting == 1 and stays_once
            place = after if lasting == 1 else placed(form, lasting, keep)
            found, margin = ahead if lasting == 1 else cloud.attended(place, pending.tolist(), keep)
