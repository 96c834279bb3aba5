"""Closed forms of the positions while no attended set changes.

With B = (I + alpha V)^-1 alpha V a layer is z' = z + B (w - z). While no attended set changes, it
is linear in the tokens. Closed forms, m layers later, are sums of terms g^(e + r m) C(m, k),
each times a table (`PowerSum`):

* *V = a P, P^2 = P, a > 0* (the identity, if there is no V). B = (1 - g) P with g = 1 / (1 + alpha
  a). The part (I - P) z stands still; let y = P z. With M for the mean over the attended set, a
  layer is g y + (1 - g) M y, so m of them are the sum over k of C(m, k) g^(m-k) (1 - g)^k M^k y. If
  M w = w for w = M^L y, this is w + g^m sum over k < L of C(m, k) ((1 - g) / g)^k (M^k y - w).
  Points go straight if L is 1, and in *chains*, after points that move themselves, if it is larger.
  If attention goes round in circles there is no such L.
* *V^2 = 0*. Then B = alpha V, V z stands still for ever, and z(m) = z + m B (w - z).
* *Anything else*, such as cycles of attention, a value matrix for each head or a feed-forward
  block: one layer at a time, unless nothing moves.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._exact.leads import Term
from hardmax._exact.vectors import SHORT, common_rows, exact_table, flint
from hardmax._layer.attended import AttendedIndices
from hardmax._layer.parts import FeedForward, feed
from hardmax._layer.rules import rescaling
from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics

Table = np.ndarray
"""A row of rationals of python-flint for each point."""

_SAMPLE = 128  # numbers of a table whose lengths are looked at


class PowerSum(dict[Term, Table]):
    """Positions m layers from now: a sum of terms, each times a table. Those of now alone have
    powers g^e only."""

    @property
    def moves(self) -> bool:
        return any(term.rate or term.degree for term in self)

    def map(self, change: Callable[[Table], Table]) -> "PowerSum":
        return PowerSum({term: change(table) for term, table in self.items()})

    def integers(self) -> IntegerCloud:
        """The rows of all tables, one after the other, over one denominator."""
        return IntegerCloud(*common_rows(np.concatenate(list(self.values())).tolist()))

    def only(self, points: Any) -> "PowerSum":
        return self.map(lambda table: table[points])

    def rows(self) -> dict[Term, list[list[int]]]:
        """The tables times their common denominator."""
        rows, n = self.integers().numerators, len(next(iter(self.values())))
        return {term: rows[k * n : (k + 1) * n] for k, term in enumerate(self)}

    def bits(self) -> int:
        """Of the longest denominator."""
        return max(map(_longest, self.values()))

    def after(self, m: int, contraction: Fraction) -> "PowerSum":
        """The positions m layers later, by powers of g; powers that are close are put together."""
        parts: dict[int, Table] = {}
        for (e, r, k), table in self.items():
            if m < k or not table.any():
                continue
            scaled = table if k == 0 or m == k else math.comb(m, k) * table
            parts[e + r * m] = parts[e + r * m] + scaled if e + r * m in parts else scaled
        merged: dict[int, Table] = {}
        base = 0
        for e in sorted(parts):
            is_close = (e - base) * contraction.denominator.bit_length() <= SHORT
            if base in merged and is_close and _longest(merged[base]) <= 2 * SHORT:
                merged[base] = merged[base] + parts[e] * flint(contraction) ** (e - base)
            else:
                merged[e], base = parts[e], e
        merged = merged or {0: 0 * next(iter(self.values()))}
        return PowerSum({Term(e): table for e, table in merged.items()})


def _longest(table: Table) -> int:
    some = table.ravel()[:: 1 + table.size // _SAMPLE].tolist()
    return max(int(value.q).bit_length() for value in some)


class Motion(NamedTuple):
    """How tokens move over a layer: by `push` (a matrix or a number) times the way to the mean."""

    push: Any
    contraction: Fraction | None
    """g: below 1 if V = a P, 1 if V^2 = 0, None for anything else."""
    projection: np.ndarray | None = None
    is_plain: bool = False
    """Whether tokens are not divided: then it is by `push` times the mean itself."""

    @classmethod
    def of(cls, dynamics: Dynamics, alpha: Fraction) -> "Motion":
        value = dynamics.value
        if dynamics.traits.mixed:
            return cls(None, None)
        if dynamics.normalise == "plain":
            push = flint(alpha) if value is None else exact_table(alpha * value)
            return cls(push, None, is_plain=True)
        if value is None:
            contraction = 1 / (1 + alpha)
            return cls(flint(1 - contraction), contraction)
        push = exact_table(rescaling(dynamics, alpha) @ value * alpha)
        square = value @ value
        if not square.any():
            return cls(push, Fraction(1))
        entry = tuple(np.argwhere(value)[0])
        scale: Any = square[entry] / value[entry]
        if scale > 0 and (square == scale * value).all():
            return cls(push, 1 / (1 + alpha * scale), exact_table(value / scale))
        return cls(push, None)

    def pushed(self, table: Table) -> Table:
        return _times(self.push, table)

    def driven(self, table: Table) -> Table:
        """The part of the positions that can move."""
        return table if self.projection is None else table @ self.projection.T


class Means:
    """Means over the attended sets, counted with multiplicity: M, a matrix of rationals."""

    def __init__(self, chosen: AttendedIndices, counts: np.ndarray) -> None:
        self.chosen, self.firsts = chosen, chosen.firsts
        self.none = np.flatnonzero(chosen.sizes == 0)
        self.rows = np.flatnonzero(chosen.sizes > 1)
        if len(self.rows):
            # Many may attend to the same several.
            firsts, self.same = chosen.distinct(self.rows)
            self.distinct = chosen.of_rows(firsts)
            self.weights = counts[self.distinct.indices].astype(object)[:, None]

    def __call__(self, table: Table) -> Table:
        means = table[self.firsts]
        means[self.none] = 0 * means[self.none]
        if len(self.rows):
            starts = self.distinct.offsets[:-1]
            sums = np.add.reduceat(self.weights * table[self.distinct.indices], starts)
            means[self.rows] = (sums / np.add.reduceat(self.weights, starts))[self.same]
        return means

    def ends_at(self, rest: np.ndarray) -> bool:
        """Whether all chains of attention end at points that are at rest, rather than go round in
        circles."""
        while not rest.all():
            after = rest | self.chosen.all_of(rest[self.chosen.indices])
            if np.array_equal(after, rest):
                return False
            rest = after
        return True

    def steps_to_rest(self, start: PowerSum) -> list[PowerSum] | None:
        """y, M y, M^2 y, … up to the first that M leaves as it is; None if there is none."""
        after = start.map(self)
        if _same(after.map(self), after):
            return [start] if _same(after, start) else [start, after]
        still = [(after[term] == y).all(axis=1) for term, y in start.items()]
        if not self.ends_at(np.logical_and.reduce(still)):
            return None
        steps = [start]
        for _ in range(len(self.chosen)):
            if _same(after, steps[-1]):
                return steps
            steps.append(after)
            after = after.map(self)
        return None


class HeadMeans:
    """The weighted mean of the means of several heads."""

    def __init__(self, means: list[Means], dynamics: Dynamics, alpha: Fraction) -> None:
        heads = dynamics.all_heads
        self.weighted = list(zip((flint(head.weight) for head in heads), means, strict=True))
        self.pushes: list[Any] = []
        self.is_plain = dynamics.normalise == "plain"
        if dynamics.traits.mixed:
            scale = alpha * rescaling(dynamics, alpha)
            for head in heads:
                push = (
                    head.weight * scale if head.value is None else head.weight * scale @ head.value
                )
                self.pushes.append(exact_table(push))

    def moves(self, z: Table) -> Table:
        """How tokens move, if each head pushes them through its own value matrix."""
        pairs, start = zip(self.pushes, self.weighted, strict=True), 0 if self.is_plain else z
        return reduce(add, (_times(push, means(z) - start) for push, (_, means) in pairs))

    def __call__(self, table: Table) -> Table:
        return reduce(add, (weight * means(table) for weight, means in self.weighted))

    def steps_to_rest(self, start: PowerSum) -> list[PowerSum] | None:
        """The same, if a single step leads to rest."""
        after = start.map(self)
        return [start, after] if _same(after, after.map(self)) else None


def _same(left: PowerSum, right: PowerSum) -> bool:
    return all((left[term] == table).all() for term, table in right.items())


def _times(push: Any, table: Table) -> Table:
    """A table times a number, or a matrix times each of its rows."""
    return table @ push.T if isinstance(push, np.ndarray) else push * table


def one_layer(place: PowerSum, means: Means | HeadMeans, motion: Motion) -> PowerSum:
    """Where the points are now and a layer later, whatever happens then."""

    def moves(z: Table) -> Table:
        if motion.push is None and isinstance(means, HeadMeans):
            return means.moves(z)
        return motion.pushed(means(z) if motion.is_plain else means(z) - z)

    steps = {Term(e, 0, 1): moves(z) for (e, _, _), z in place.items()}
    return PowerSum(place | {term: step for term, step in steps.items() if step.any()})


def fed(place: PowerSum, linear: PowerSum, block: FeedForward | None) -> PowerSum:
    """The same with a feed-forward block after attention, if there is one: positions are then a
    single table."""
    if block is None:
        return linear
    inner, (inner_bias, outer_bias) = (
        exact_table(block.inner),
        (exact_table(bias[None])[0] for bias in (block.inner_bias, block.outer_bias)),
    )
    here = place[Term(0)]
    (after,) = linear.after(1, Fraction(1)).values()
    step = feed(after, inner, inner_bias, exact_table(block.outer), outer_bias) - here
    return PowerSum(place | ({Term(0, 0, 1): step} if step.any() else {}))


def course_of(
    place: PowerSum, linear: PowerSum, means: Means | HeadMeans, motion: Motion
) -> "Course | None":
    """Where the points are m layers later as long as the sets stay, if that is known; `linear`
    holds for a layer."""
    if motion.contraction == 1 or not linear.moves:
        return Course.straight_on(linear)
    if motion.contraction is None:
        return None
    driven = place.map(motion.driven)
    steps = means.steps_to_rest(driven)
    if steps is None:
        return None
    still = {term: table - driven[term] for term, table in place.items()}
    corners = [PowerSum({term: still[term] + y for term, y in step.items()}) for step in steps]
    return Course(corners, motion.contraction)


@dataclass(frozen=True, eq=False)
class Course:
    """Where points are m layers from now while no attended set changes.

    With P(N = k) = C(m, k) g^(m-k) (1 - g)^k they are at the mean of c_min(N, K) over N, where the
    corners c_k are what M^k makes of the points, and the last one rests. So the lead of j over c
    for i is the mean of <A c_p(i), c_q(j) - c_q(c)> over two such numbers p and q that do not
    depend on each other: if no sum of that for (p, q) and for (q, p) is positive, the lead never
    is."""

    corners: list[PowerSum]
    """Empty where points do not go so: then there is a form only."""
    contraction: Fraction

    @classmethod
    def straight_on(cls, form: PowerSum) -> "Course":
        course = cls([] if form.moves else [form], Fraction(1))
        vars(course)["form"] = form
        return course

    @cached_property
    def form(self) -> PowerSum:
        """The positions as a sum of terms: of a long chain that is long."""
        *steps, ends = self.corners
        form = dict(ends)
        for k, step in enumerate(steps):
            factor = flint((1 - self.contraction) / self.contraction) ** k
            ways = {Term(t.power, 1, k): factor * (step[t] - end) for t, end in ends.items()}
            form |= {term: way for term, way in ways.items() if way.any()}
        return PowerSum(form)

    @property
    def depth(self) -> int:
        """How many means are taken until nothing moves any more."""
        return len(self.corners) - 1 if self.corners else 1

    @property
    def moves(self) -> bool:
        return self.depth > 0

    @cached_property
    def integers(self) -> np.ndarray | None:
        """The corners, one after the other, over one denominator: (K + 1, n, d); None where there
        are none, or powers of g in them."""
        if not self.corners or self.corners[0].keys() != {Term(0)}:
            return None
        tables = PowerSum({Term(k): corner[Term(0)] for k, corner in enumerate(self.corners)})
        return np.array([*tables.rows().values()], dtype=object)

    @property
    def ends(self) -> PowerSum:
        """Where the points end, or are a layer later."""
        if self.corners:
            return self.corners[-1]
        return PowerSum({term: table for term, table in self.form.items() if not term.rate})
