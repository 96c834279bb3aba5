"""The dynamics in integers over a common denominator, without any floats, so that it can check the
others.

With alpha = p/q the layer is z' = (q z + p w) / (p + q). All points share one denominator, so
scores of one row are compared as integers. For how many layers do the attended sets stay as they
are?

Write u_i = z_i - w_i for the way a point has still to go. A target w_i stands still over a layer if
the ways of those it averages cancel: the sum of m_c u_c over C_i is 0. (One attended point must not
move; several may, if they balance.) If some target moves, the sets are computed again after one
layer. Otherwise all points go straight, at z_i(t) = w_i + t u_i with t = g^m, as long as the
attended sets stay. Do they? For c in C_i, <A z_i, u_c> is not negative, since w_c is a mean of
points none of which lies further along A z_i than z_c; and these numbers cancel, so each is 0.
Hence:

* *A still point (u_i = 0)* keeps its attended set: for j outside it, <A z_i, z_j(t) - z_c(t)> mixes
  the value at z_j, which is negative, with the one at w_j, which is not positive.
* *A point with a single attended point c* keeps it. c stands still, so it is among those that it
  attends to itself. Then <A z_i(t), z_j(t) - c> mixes, with weights t^2, t(1-t), (1-t)t, (1-t)^2,
  its values at (z_i, z_j), negative, and at (z_i, w_j), (c, z_j), (c, w_j), none of them positive.
* *A moving point with a tie* keeps it for ever if along A w_i, too, nobody lies further out than
  the tied points: the reasoning above then holds for w_i in place of z_i, and the same four corners
  do the rest.
* *Otherwise* the tie breaks in the next layer, or the first j joins or overtakes at the first m >=
  1 at which a0 + a1 t + a2 t^2 is not negative, where with c in C_i

      a0 = <A w_i, w_j - w_c>,   a1 = <A u_i, w_j - w_c> + <A w_i, u_j - u_c>,   a2 = <A u_i, u_j -
      u_c>.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hardmax._exact.argmax import Rows, by_all_scores, directions_of, products
from hardmax._exact.positions import ExactPhase
from hardmax._exact.vectors import (
    Enclosed,
    IntegerVector,
    common_rows,
    enclosed_power,
    weighted_sum,
)
from hardmax._layer.attended import AttendedIndices
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics

# Of an enclosure that is tried first, beyond those that it cannot do without.
_BITS = 128


@dataclass(frozen=True)
class ExactSolver:
    """Integers decide."""

    engine: Any = None
    arithmetic: str = "exact"

    def phases(self, points: Points, dynamics: Dynamics) -> Iterator[ExactPhase]:
        """The phases from layer 0 on; ends after one that lasts for ever."""
        cloud, layer = points.integers, 0
        counts = points.multiplicities.tolist()
        pending = np.arange(points.count)
        choices = AttendedIndices.of_single(pending)
        while True:
            chosen = by_all_scores(cloud.rows(pending.tolist()), cloud, dynamics)
            choices = choices.with_rows(pending, AttendedIndices.of_sets(chosen.lists))
            lists = choices.lists()
            positions, targets = _with_means(cloud, lists, counts)
            lasting = layers_unchanged(positions, targets, lists, counts, dynamics)
            rows = positions.numerators
            phase = ExactPhase(
                layer=layer,
                until=None if lasting is None else layer + lasting,
                choices=choices,
                # With a metric that is not positive definite distinct points can meet; those that
                # have met are one.
                is_leader=np.array(
                    [all(rows[j] == rows[i] for j in several) for i, several in enumerate(lists)]
                ),
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


def _with_means(
    cloud: IntegerCloud, chosen: list[list[int]], counts: list[int]
) -> tuple[IntegerCloud, IntegerCloud]:
    """The points and the means of their attended sets, both over one common denominator."""
    places, means = [IntegerVector(row, cloud.denominator) for row in cloud.numerators], []
    for several in chosen:
        weights = [counts[j] for j in several]
        mean = (
            weighted_sum([places[j] for j in several], weights, over=sum(weights))
            if len(several) > 1
            else None
        )
        means.append(mean or places[several[0]])
    rows, denominator = common_rows([*places, *means])
    return IntegerCloud(rows[: len(places)], denominator), IntegerCloud(
        rows[len(places) :], denominator
    )


def layers_unchanged(
    positions: IntegerCloud,
    targets: IntegerCloud,
    chosen: list[list[int]],
    counts: list[int],
    dynamics: Dynamics,
) -> int | None:
    """How many layers the closed form holds before attended sets may differ (at least 1); None: for
    ever."""
    w = targets.numerators
    u = [
        [a - b for a, b in zip(*rows, strict=True)]
        for rows in zip(positions.numerators, w, strict=True)
    ]
    moving = [any(way) for way in u]
    for several in chosen:
        ways = [[counts[j] * x for x in u[j]] for j in several if moving[j]]
        if any(map(sum, zip(*ways, strict=True))):
            return 1
    ties = [i for i, several in enumerate(chosen) if len(several) > 1 and moving[i]]
    if not ties:
        return None
    along_targets = by_all_scores(targets.rows(ties), positions, dynamics).lists
    doubtful = [
        i for i, far in zip(ties, along_targets, strict=True) if not set(chosen[i]) <= set(far)
    ]
    return soonest(first_change(i, w, u, chosen[i], dynamics) for i in doubtful)


def first_change(i: int, w: Rows, u: Rows, tied: Iterable[int], dynamics: Dynamics) -> int | None:
    """The first layer at which the attended set of row i is another, if all rows go straight; None:
    there is none.

    Rows are targets w and ways u of points over one denominator; `tied` are the rows that row i
    attends to."""
    directions = directions_of([w[i], u[i]], dynamics)
    (ww, uw), (wu, uu) = products(directions, w), products(directions, u)
    scores = [
        (int(a0), int(a1) + int(a1_too), int(a2))
        for a0, a1, a1_too, a2 in zip(ww, uw, wu, uu, strict=True)
    ]
    curves = {scores[c] for c in tied}
    if len(curves) > 1:
        return 1
    ((c0, c1, c2),) = curves
    others = set(range(len(w))) - set(tied)
    return soonest(
        layers_negative(a0 - c0, a1 - c1, a2 - c2, dynamics.contraction)
        for a0, a1, a2 in (scores[j] for j in others)
    )


def soonest(events: Iterable[int | None]) -> int | None:
    """The first of some events, of which None never comes."""
    return min((event for event in events if event is not None), default=None)


def layers_negative(a0: int, a1: int, a2: int, keep: Fraction) -> int | None:
    """For how many layers m = 0, 1, … a0 + a1 t + a2 t^2 at t = keep^m is negative, as it is at t =
    1; None: always.

    >>> layers_negative(1, 0, -2, Fraction(1, 2)), layers_negative(-1, 0, 0, Fraction(1, 2))
    (1, None)
    """
    curve = Curve(a0, a1, a2, keep)
    if a0 > 0 or (a0 == 0 and a1 > 0):
        # Negative at 1, positive near 0: it changes sign once, and stays.
        return curve.first_reached()
    if is_negative_throughout(a0, a1, a2):
        return None
    # Negative at both ends, with a hump at t = -a1 / (2 a2): up to there the values grow with m,
    # then they fall.
    past_hump = Curve(a1, 2 * a2, 0, keep).first_reached()
    before = past_hump - 1
    if before and curve.reached(before):
        return curve.first_reached(by=before)
    return past_hump if curve.reached(past_hump) else None


def is_negative_throughout(a0: int, a1: int, a2: int) -> bool:
    """Whether a0 + a1 t + a2 t^2, negative at t = 1, is negative for all t in (0, 1]."""
    if a0 > 0 or (a0 == 0 and a1 > 0):
        return False
    return a0 == 0 or a2 >= 0 or not 0 < a1 < -2 * a2 or a1 * a1 < 4 * a0 * a2


@dataclass(frozen=True)
class Curve:
    """The values a0 + a1 t + a2 t^2 at t = keep^m, m = 0, 1, …: where they are not negative,
    decided exactly.

    Exact powers have m times as many digits as `keep`, so a sign is read off an enclosure of t
    wherever that decides. Where it does not, more digits are taken, at last all of them. They are
    seldom many: with keep = p/q in lowest terms a value is 0 only if q^m divides the last
    coefficient that is not 0."""

    a0: int
    a1: int
    a2: int
    keep: Fraction

    def first_reached(self, by: float = math.inf) -> int:
        """The first m >= 1 at which the value is not negative, or `by`; it must be bound to come,
        and to stay."""
        # Twice the bits of 1/alpha: the errors of that many layers eat as many, and as many tell
        # two layers apart.
        bits = _BITS + 2 * self.keep.denominator.bit_length()
        # t at the layers 1, 2, 4, … up to one where it is reached; then on from the one before, in
        # ever smaller steps.
        ladder, layer = [Enclosed.of(self.keep, bits)], 1
        while layer < by and not self.reached(layer, ladder[-1]):
            ladder.append(ladder[-1].times(ladder[-1], bits))
            layer *= 2
        if layer == 1:
            return 1
        layer, here = layer // 2, ladder[-2]
        for rung in reversed(range(len(ladder) - 2)):
            there = here.times(ladder[rung], bits)
            if layer + 2**rung < by and not self.reached(layer + 2**rung, there):
                layer, here = layer + 2**rung, there
        return layer + 1

    def reached(self, layer: int, t: Enclosed | None = None) -> bool:
        """Whether the value at a layer from 1 up is not negative; `t`, if given, encloses
        keep^layer."""
        bits = _BITS
        while layer * self.keep.denominator.bit_length() > bits:
            known = self._sign_known(t or enclosed_power(self.keep, layer, bits))
            if known is not None:
                return known
            t, bits = None, bits if t else 2 * bits
        p, q = self.keep.numerator**layer, self.keep.denominator**layer
        return self.a0 * q * q + self.a1 * p * q + self.a2 * p * p >= 0

    def _sign_known(self, t: Enclosed) -> bool | None:
        """Whether the value is not negative, or None where the enclosure of t leaves that open."""
        linear = sorted((self.a1 * t.low, self.a1 * t.high))
        square = sorted((self.a2 * t.low**2, self.a2 * t.high**2))
        least, most = (
            (self.a0 << 2 * t.shift) + (a << t.shift) + b
            for a, b in zip(linear, square, strict=True)
        )
        return True if least >= 0 else False if most < 0 else None
