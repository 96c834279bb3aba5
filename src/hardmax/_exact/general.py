"""The walker for every layer that `Dynamics` describes, in integers and fractions: whatever the others refuse.

With B = (I + alpha V)^-1 alpha V a layer is z' = z + B (w - z). While no attended set changes, it is linear in the
tokens. Closed forms, m layers later, are sums of g^(e + r m) C(m, k) v (see `leads`):

* *V = a P, P^2 = P, a > 0* (the identity, if there is no V). B = (1 - g) P with g = 1 / (1 + alpha a). The part
  (I - P) z stands still; let y = P z. If the means of y over all attended sets stand still, y goes straight:
  w + g^m (y - w). If they move, and nobody attends to itself in a roundabout way, they do so in *chains*: with
  y_j = W + sum_k g^m C(m, k) q_k for the mean of those that i attends to, y_i = W + g^m (y_i(0) - W) +
  (1 - g) / g sum_k g^m C(m, k + 1) q_k, as C(m + 1, k + 1) - C(m, k + 1) = C(m, k) shows.
* *V^2 = 0*. Then B = alpha V, V z stands still for ever, and z(m) = z + m B (w - z).
* *Anything else*, such as cycles of attention: one layer at a time, unless nothing moves.

The sets last until the first lead of a token outside, or of one of several inside, says otherwise.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from hardmax._attended import Choices
from hardmax._exact.argmax import _relative, by_all_scores, directions_of, products
from hardmax._exact.leads import Key, Lead, binomial_product, sign_of
from hardmax._exact.positions import Phase
from hardmax._exact.solver import layers_negative
from hardmax._exact.trapped import never_settle
from hardmax._exact.vectors import DIGIT, SHORT, Vector, check_length, power
from hardmax._layer import Steps
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import IntegerCloud, to_fractions
from hardmax._validation import InputError
from hardmax.dynamics import Dynamics

Table = np.ndarray
"""A row of Fractions for each point."""
Place = dict[int, Table]
"""Positions as sums of g^e times a table, by e."""
Form = dict[Key, Table]
"""Positions as sums of terms g^(e + r m) C(m, k) times a table."""
Sets = Sequence[Sequence[int]]

_STRAIGHT = {(0, 0, 0), (0, 1, 0), (0, 2, 0)}


class Motion(NamedTuple):
    """How tokens move over a layer: by `push` (a matrix or a number) times the way to the mean."""

    push: Any
    keep: Fraction | None
    """g: below 1 if V = a P, 1 if V^2 = 0, None for anything else."""
    projection: np.ndarray | None = None

    @classmethod
    def of(cls, dynamics: Dynamics, alpha: Fraction) -> "Motion":
        value = dynamics.value
        if value is None:
            return cls(alpha / (1 + alpha), 1 / (1 + alpha))
        push: Any = alpha * (dynamics.rescaling(alpha) @ value)
        square, where = value @ value, np.argwhere(value)
        if not square.any():
            return cls(push, Fraction(1))
        scale = square[tuple(where[0])] / value[tuple(where[0])]
        if scale > 0 and (square == scale * value).all():
            return cls(push, 1 / (1 + alpha * scale), value / scale)
        return cls(push, None)

    def pushed(self, table: Table) -> Table:
        return table @ self.push.T if isinstance(self.push, np.ndarray) else self.push * table

    def driven(self, table: Table) -> Table:
        """The part of the positions that can move."""
        return table if self.projection is None else table @ self.projection.T


class Means:
    """Means over the attended sets, counted with multiplicity."""

    def __init__(self, chosen: Sets, counts: np.ndarray) -> None:
        self.sets = {tuple(several): np.array(several) for several in chosen}
        self.keys = [tuple(several) for several in chosen]
        self.counts = counts.astype(object)

    def __call__(self, table: Table) -> Table:
        weights = self.counts
        means = {key: weights[c] @ table[c] / weights[c].sum() for key, c in self.sets.items()}
        return np.array([means[key] for key in self.keys])


def one_layer(place: Place, means: Means, motion: Motion) -> Form:
    """Where the points are now and a layer later, whatever happens then."""
    steps = {(e, 0, 1): motion.pushed(means(z) - z) for e, z in place.items()}
    return {(e, 0, 0): z for e, z in place.items()} | {key: table for key, table in steps.items() if table.any()}


def closed_form(place: Place, chosen: Sets, counts: np.ndarray, motion: Motion) -> tuple[Form, bool]:
    """Where the points are m layers later, and whether that holds as long as the sets stay (else for one layer)."""
    means = Means(chosen, counts)
    linear = one_layer(place, means, motion)
    if motion.keep == 1 or not any(k for _, _, k in linear):
        return linear, True
    if motion.keep is None:
        return linear, False
    driven = {e: motion.driven(z) for e, z in place.items()}
    ways = {e: y - means(y) for e, y in driven.items()}
    if not any(means(way).any() for way in ways.values()):
        straight = {(e, 0, 0): place[e] - way for e, way in ways.items()}
        return straight | {(e, 1, 0): way for e, way in ways.items() if way.any()}, True
    chains = _chains(driven, chosen, counts, motion.keep)
    if chains is None:
        return linear, False
    form = {key: np.zeros_like(next(iter(place.values()))) + Fraction(0) for row in chains for key in row}
    for i, row in enumerate(chains):
        for key, vector in row.items():
            form[key][i] = vector
    for e, z in place.items():
        form[e, 0, 0] = form[e, 0, 0] + z - driven[e]
    return {key: table for key, table in form.items() if key[1:] == (0, 0) or table.any()}, True


def _chains(driven: Place, chosen: Sets, counts: np.ndarray, keep: Fraction) -> list[Form] | None:
    """The closed form of each point, those that it attends to first; None if attention goes round in a circle."""
    found: list[Form | None] = [None] * len(chosen)
    open_points, stack = set(), list(range(len(chosen)))
    while stack:
        i = stack[-1]
        if found[i] is not None:
            stack.pop()
            continue
        others = [j for j in chosen[i] if j != i]
        missing = [j for j in others if found[j] is None]
        if missing:
            if i in open_points:
                return None
            open_points.add(i)
            stack += missing
            continue
        open_points.discard(i)
        here: Form = {(e, 0, 0): y[i] for e, y in driven.items()}
        if others:
            mean: Form = {}
            for j in others:
                for key, vector in (found[j] or {}).items():
                    mean[key] = mean.get(key, 0) + int(counts[j]) * vector
            total = int(counts[others].sum())
            mean = {key: vector / total for key, vector in mean.items()}
            stands = {key: vector for key, vector in mean.items() if key[1] == 0 or vector.any()}
            if len(others) < len(chosen[i]):
                if any(key not in here or (vector != here[key]).any() for key, vector in stands.items()):
                    return None
            else:
                ahead = {(e, 1, k + 1): (1 - keep) / keep * v for (e, r, k), v in stands.items() if r == 1}
                start = {(e, 1, 0): here[e, 0, 0] - mean[e, 0, 0] for e in driven}
                here = {(e, 0, 0): mean[e, 0, 0] for e in driven} | start | ahead
        found[i] = here
    return [form or {} for form in found]


def _placed(form: Form, m: int, keep: Fraction) -> Place:
    """The positions m layers later, by powers of g; powers that are close are put together."""
    parts: Place = {}
    for (e, r, k), table in form.items():
        if (scaled := math.comb(m, k) * table).any():
            parts[e + r * m] = parts.get(e + r * m, 0) + scaled
    place: Place = {}
    for e in sorted(parts):
        base = max(place, default=None)
        if base is not None and (e - base) * keep.denominator.bit_length() <= SHORT and _bits(place[base]) <= 2 * SHORT:
            place[base] = place[base] + parts[e] * keep ** (e - base)
        else:
            place[e] = parts[e]
    return place or {0: 0 * next(iter(form.values()))}


def _bits(table: Table) -> int:
    return max(value.denominator.bit_length() for value in table.flat)


def _integers(tables: Iterable[Table]) -> list[list[list[int]]]:
    """The tables times their common denominator."""
    tables = list(tables)
    rows = IntegerCloud.of(np.concatenate(tables)).numerators
    n = len(tables[0])
    return [rows[start : start + n] for start in range(0, len(rows), n)]


class Cloud:
    """The points of one run, who may attend to whom, and what follows from where they are."""

    def __init__(self, points: Points, dynamics: Dynamics) -> None:
        self.dynamics, self.counts, n = dynamics, points.multiplicities, points.count
        mask = dynamics.allowed(n)
        self.allowed = None if mask is None else [np.flatnonzero(row).tolist() for row in mask]
        self.everybody = list(range(n))

    def may_attend(self, i: int) -> list[int]:
        return self.everybody if self.allowed is None else self.allowed[i]

    def attended(self, place: Place, pending: Sequence[int], keep: Fraction) -> tuple[list[list[int]], float]:
        """Whom each of some points attends to, and a relative lead of theirs."""
        if not pending:
            return [], math.inf
        if len(place) == 1 and self.allowed is None:
            cloud = IntegerCloud.of(next(iter(place.values())))
            return by_all_scores(cloud.rows(pending), cloud, self.dynamics)
        tables = dict(zip(place, _integers(place.values()), strict=True))
        looks = {e: directions_of([rows[i] for i in pending], self.dynamics) for e, rows in tables.items()}
        found, leads = [], []
        for row, i in enumerate(pending):
            scores: dict[int, list[int]] = {}
            for e, look in looks.items():
                for f, rows in tables.items():
                    (column,) = products([look[row]], rows)
                    before = scores.get(e + f, [0] * len(rows))
                    scores[e + f] = [int(a) + b for a, b in zip(column, before, strict=True)]
            others = self.may_attend(i)
            if len(scores) == 1:
                (column,) = scores.values()
                best = max(column[j] for j in others)
                found.append([j for j in others if column[j] == best])
                leads += [best - max(lower)] if (lower := [column[j] for j in others if column[j] != best]) else []
            else:
                found.append(_furthest(others, scores, keep))
                leads.append(0)
        cloud = IntegerCloud(next(iter(tables.values())), 1)
        return found, math.inf if not leads else 0.0 if not min(leads) else _relative(min(leads), cloud, self.dynamics)

    def first_change(self, form: Form, chosen: Sets, pending: Sequence[int], keep: Fraction) -> int | None:
        """After how many layers the sets of some points may be others; None: never."""
        keys, tables = list(form), _integers(form.values())
        soonest: int | None = None
        for i in pending:
            looks = directions_of([rows[i] for rows in tables], self.dynamics)
            columns: dict[Key, list[int]] = {}
            for (f, s, h), rows in zip(keys, tables, strict=True):
                for (e, r, k), scores in zip(keys, products(looks, rows), strict=True):
                    numbers = list(map(int, scores))
                    for power_of_m, factor in binomial_product(k, h).items():
                        column = columns.setdefault((e + f, r + s, power_of_m), [0] * len(rows))
                        for j, score in enumerate(numbers):
                            column[j] += factor * score
            first, tied = chosen[i][0], set(chosen[i])
            is_straight = columns.keys() <= _STRAIGHT
            for j in self.may_attend(i):
                lead = {key: column[j] - column[first] for key, column in columns.items()}
                if j in tied:
                    if any(lead.values()) and Lead(lead, keep).parts:
                        return 1
                    continue
                if is_straight:
                    # The mix b0 (1 - t)^2 + b1 t (1 - t) + b2 t^2 with b2 < 0: most leads are decided here.
                    b0 = lead[0, 0, 0]
                    if b0 <= 0 and lead.get((0, 1, 0), 0) + 2 * b0 <= 0:
                        continue
                event = Lead(lead, keep).first_reached(soonest)
                if event is not None:
                    soonest = event if soonest is None else min(soonest, event)
                    if soonest == 1:
                        return 1
        return soonest

    def lasts_whatever_the_steps(self, form: Form, chosen: Sets, pending: Sequence[int]) -> bool:
        """Whether points that go straight keep their attended sets all the way."""
        tables = dict(zip(form, _integers(form.values()), strict=True))
        w = tables[0, 0, 0]
        u = tables.get((0, 1, 0), [[0] * len(w[0])] * len(w))
        for i in pending:
            looks = directions_of([w[i], u[i]], self.dynamics)
            (ww, uw), (wu, uu) = products(looks, w), products(looks, u)
            scores = [(int(a), int(b) + int(c), int(d)) for a, b, c, d in zip(ww, uw, wu, uu, strict=True)]
            c0, c1, c2 = scores[chosen[i][0]]
            leads = {j: (scores[j][0] - c0, scores[j][1] - c1, scores[j][2] - c2) for j in self.may_attend(i)}
            for j, lead in leads.items():
                if any(lead) if j in chosen[i] else layers_negative(*lead, Fraction(1, 2)) is not None:
                    return False
        return True


def _furthest(others: Sequence[int], scores: dict[int, list[int]], keep: Fraction) -> list[int]:
    best: list[int] = []
    for j in others:
        lead = sign_of({e: column[j] - column[best[0]] for e, column in scores.items()}, keep) if best else 1
        best = [j] if lead > 0 else [*best, j] if lead == 0 else best
    return best


def _are_equal(place: Place, i: int, j: int, keep: Fraction) -> bool:
    if all((z[i] == z[j]).all() for z in place.values()):
        return True
    if len(place) == 1:
        return False
    rows = np.array([z[i] - z[j] for z in place.values()])
    numerators = IntegerCloud.of(rows).numerators
    return all(not sign_of(dict(zip(place, column, strict=True)), keep) for column in zip(*numerators, strict=True))


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

    def share(self, m: int) -> Fraction:
        """What is left of the way after m layers whose steps follow a rule."""
        motions = (Motion.of(self.dynamics, self.dynamics.alpha_at(self.layer + k)) for k in range(m))
        return math.prod((motion.keep or 1 for motion in motions), start=Fraction(1))

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
                total = total + self.share(m) * table
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
                    raise InputError("`alpha`: the product of all 1 / (1 + alpha) is not known: give Steps `keeps`.")
                share = left
            total = total + (share and share * self.power(e, exact=exact)) * table
        return total

    @cached_property
    def moving(self) -> np.ndarray:
        """The points that are proved to move for ever: to infinity, if the phase lasts for ever, or within bounds."""
        if self.until is not None:
            is_alone = self.keep == 1 and set(self.form) <= {(0, 0, 0), (0, 0, 1)} and self.dynamics.mask is None
            if not is_alone or self.dynamics.value is None or not isinstance(self.dynamics.steps, Fraction):
                return np.empty(0, np.int64)
            metric = None if self.dynamics.metric is None else np.array(self.dynamics.metric)
            push = Motion.of(self.dynamics, self.dynamics.alpha).push
            found = never_settle(self.form[0, 0, 0], self.counts, self.choices.lists(), metric, push)
            return np.array(found, dtype=np.int64)
        drift = [table for (_, r, k), table in self.form.items() if r == 0 and k]
        return np.flatnonzero(sum(map(np.abs, drift), np.zeros((1, 1))).any(axis=1)) if drift else np.empty(0, np.int64)

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
        return table.size * (self.phase.bits // DIGIT) ** 2

    def positions(self, points: Sequence[int]) -> list[Vector]:
        return self.later(points, 0)

    def targets(self, points: Sequence[int]) -> list[Vector]:
        return [tuple(row) for row in self.phase.limits(exact=self.exact)[list(points)]]

    def later(self, points: Sequence[int], layers: int) -> list[Vector]:
        return [tuple(row) for row in self.phase.at(layers, exact=self.exact)[list(points)]]

    def rounded(self) -> "GeneralView":
        return GeneralView(self.phase, exact=False)


def last_outside(phases: Sequence[GeneralPhase], goal: Fraction) -> int:
    """The last layer at which a squared distance of a point from its limit is larger than the goal, or -1."""
    ends = {(e, r, k): table for (e, r, k), table in phases[-1].form.items() if r == 0}
    for phase in reversed(phases):
        form = phase.form | {key: phase.form.get(key, 0 * table) - table for key, table in ends.items()}
        scale = IntegerCloud.of(np.concatenate(list(form.values()))).denominator ** 2 * goal.denominator
        last, within = -1, None if phase.until is None else phase.until - phase.layer - 1
        for rows in zip(*_integers(form.values()), strict=True):
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


@dataclass(frozen=True)
class GeneralSolver:
    """Fractions decide, for any `Dynamics`."""

    arithmetic: str = "exact"

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[GeneralPhase]:
        """The phases from layer 0 on; ends after one that lasts for ever."""
        cloud, layer, steps = Cloud(points, dynamics), 0, dynamics.steps
        constant_from = math.inf if isinstance(steps, Steps) else len(steps) - 1 if isinstance(steps, tuple) else 0
        # Powers of g are those of the step that stays.
        stays = Motion.of(dynamics, dynamics.alpha_at(0 if isinstance(steps, Steps) else int(constant_from)))
        keep = stays.keep or Fraction(1)
        # Who follows a leader does so for ever, if all may be attended to and nobody leaves the hull.
        is_convex = dynamics.value is None and dynamics.mask is None
        place: Place = {0: to_fractions(points.coordinates, "`tokens`")}
        pending = np.arange(points.count)
        choices = Choices.of_single(pending)
        found, margin = cloud.attended(place, pending.tolist(), keep)
        while True:
            choices = choices.with_rows(pending, Choices.of_sets(found))
            chosen = choices.lists()
            if is_convex:
                pending = np.flatnonzero(~choices.follows_leader)
            motion = stays if layer >= constant_from else Motion.of(dynamics, dynamics.alpha_at(layer))
            form, holds = closed_form(place, chosen, points.multiplicities, motion)
            lasting: int | None = 1
            after = _placed(one_layer(place, Means(chosen, points.multiplicities), motion), 1, keep)
            ahead = cloud.attended(after, pending.tolist(), keep)
            if ahead[0] != [chosen[i] for i in pending]:
                pass  # the sets of the next layer are others
            elif holds and (layer >= constant_from or form.keys() <= {(0, 0, 0)}):
                lasting = cloud.first_change(form, chosen, pending.tolist(), keep)
            elif holds and isinstance(steps, Steps) and form.keys() <= _STRAIGHT:
                lasting = None if cloud.lasts_whatever_the_steps(form, chosen, pending.tolist()) else 1
            if lasting == 1 and layer < constant_from:
                form = one_layer(place, Means(chosen, points.multiplicities), motion)
            yield GeneralPhase(
                layer=layer,
                until=None if lasting is None else layer + lasting,
                choices=choices,
                is_leader=np.array(
                    [all(i == j or _are_equal(place, i, j, keep) for j in several) for i, several in enumerate(chosen)]
                ),
                margin=margin,
                keep=keep,
                form=form,
                counts=points.multiplicities,
                dynamics=dynamics,
                bits=max(map(_bits, place.values())),
            )
            if lasting is None:
                return
            layer += lasting
            place = after if lasting == 1 else _placed(form, lasting, keep)
            found, margin = ahead if lasting == 1 else cloud.attended(place, pending.tolist(), keep)
