"""For how long the attended sets stay as they are, decided exactly.

Write u_i = z_i - w_i for the way a point has still to go. A target w_i stands still over a layer if the ways of those
it averages cancel: the sum of m_c u_c over C_i is 0. (One attended point must not move; several may, if they balance.)
If some target moves, we look again after one layer. Otherwise all points go straight, z_i(t) = w_i + t u_i with
t = g^m, as long as the attended sets stay. Do they? For c in C_i, <A z_i, u_c> is not negative, since w_c is a mean of
points none of which lies further along A z_i than z_c; and these numbers cancel, so each is 0. Hence:

* *A still point (u_i = 0)* keeps its attended set: for j outside it, <A z_i, z_j(t) - z_c(t)> mixes the value at z_j,
  which is negative, with the one at w_j, which is not positive.
* *A point with a single attended point c* keeps it. c stands still, so it is among those that it attends to itself.
  Then <A z_i(t), z_j(t) - c> mixes, with weights t^2, t(1-t), (1-t)t, (1-t)^2, its values at (z_i, z_j), negative, and
  at (z_i, w_j), (c, z_j), (c, w_j), none of them positive.
* *A moving point with a tie* keeps it for ever if along A w_i, too, nobody lies further out than the tied points: the
  reasoning above then holds for w_i in place of z_i, and the same four corners do the rest.
* *Otherwise* the tie breaks in the next layer, or the first j joins or overtakes at the first m >= 1 at which
  a0 + a1 t + a2 t^2 is not negative, where with c in C_i

      a0 = <A w_i, w_j - w_c>,   a1 = <A u_i, w_j - w_c> + <A w_i, u_j - u_c>,   a2 = <A u_i, u_j - u_c>.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from hardmax._exact.argmax import Chooser, directions_of, products
from hardmax._exact.vectors import Enclosed, enclosed_power
from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics

Rows = list[list[int]]

# Of an enclosure that is tried first, beyond those that it cannot do without.
_BITS = 128


def layers_unchanged(
    positions: IntegerCloud,
    targets: IntegerCloud,
    chosen: list[list[int]],
    counts: list[int],
    dynamics: Dynamics,
    choose: Chooser,
) -> int | None:
    """How many layers the closed form holds before attended sets may differ (at least 1); None: for ever."""
    w = targets.numerators
    u = [[a - b for a, b in zip(*rows, strict=True)] for rows in zip(positions.numerators, w, strict=True)]
    moving = [any(way) for way in u]
    if not all(_cancel(several, counts, u, moving) for several in chosen):
        return 1
    moving_ties = [i for i, several in enumerate(chosen) if len(several) > 1 and moving[i]]
    if not moving_ties:
        return None
    along_targets = choose(targets.rows(moving_ties), positions, dynamics).lists
    doubtful = [i for i, far in zip(moving_ties, along_targets, strict=True) if not set(chosen[i]) <= set(far)]
    return _soonest(_first_change(i, w, u, chosen[i], dynamics) for i in doubtful)


def _cancel(several: list[int], counts: list[int], u: Rows, moving: list[bool]) -> bool:
    """Whether the ways still to go of several points cancel, counted with multiplicity."""
    on_the_way = [j for j in several if moving[j]]
    return not any(sum(counts[j] * u[j][axis] for j in on_the_way) for axis in range(len(u[0])))


def _first_change(i: int, w: Rows, u: Rows, tied: list[int], dynamics: Dynamics) -> int | None:
    """The first layer at which the attended set of point i is another, if everybody goes straight."""
    directions = directions_of([w[i], u[i]], dynamics)
    (ww, uw), (wu, uu) = products(directions, w), products(directions, u)
    scores = [(int(a0), int(a1) + int(a1_too), int(a2)) for a0, a1, a1_too, a2 in zip(ww, uw, wu, uu, strict=True)]
    c0, c1, c2 = scores[tied[0]]
    if any(scores[c] != (c0, c1, c2) for c in tied):
        return 1
    others = set(range(len(w))) - set(tied)
    return _soonest(
        layers_negative(a0 - c0, a1 - c1, a2 - c2, dynamics.contraction) for a0, a1, a2 in (scores[j] for j in others)
    )


def _soonest(events: Iterable[int | None]) -> int | None:
    return min((event for event in events if event is not None), default=None)


def layers_negative(a0: int, a1: int, a2: int, keep: Fraction) -> int | None:
    """For how many layers m = 0, 1, … the value a0 + a1 t + a2 t^2 at t = keep^m is sure to be negative, as at t = 1.

    None if it is negative for all t in (0, 1]. If it is not, but no layer hits where it is positive, the answer is the
    first layer past that place: from there on it is negative for ever.

    >>> layers_negative(1, 0, -2, Fraction(1, 2)), layers_negative(-1, 0, 0, Fraction(1, 2))
    (1, None)
    """
    curve = Curve(a0, a1, a2, keep)
    if a0 > 0 or (a0 == 0 and a1 > 0):
        # Negative at 1, positive near 0: it changes sign once, and stays.
        return curve.first_reached()
    if a0 == 0 or a2 >= 0 or not 0 < a1 < -2 * a2 or a1 * a1 < 4 * a0 * a2:
        return None
    # Negative at both ends, with a hump at t = -a1 / (2 a2): up to there the values grow with m, then they fall.
    past_hump = Curve(a1, 2 * a2, 0, keep).first_reached()
    before = past_hump - 1
    return curve.first_reached(by=before) if before and curve.reached(before) else past_hump


@dataclass(frozen=True)
class Curve:
    """The values a0 + a1 t + a2 t^2 at t = keep^m, m = 0, 1, …: where they are not negative, decided exactly.

    Exact powers have m times as many digits as `keep`, so a sign is read off an enclosure of t wherever that decides.
    Where it does not, more digits are taken, at last all of them. They are seldom many: with keep = p/q in lowest terms
    a value is 0 only if q^m divides the last coefficient that is not 0.
    """

    a0: int
    a1: int
    a2: int
    keep: Fraction

    def first_reached(self, by: int | None = None) -> int:
        """The first m >= 1 at which the value is not negative, or `by`; it must be bound to come, and to stay."""
        # Twice the bits of 1/alpha: the errors of that many layers eat as many, and as many tell two layers apart.
        bits = _BITS + 2 * self.keep.denominator.bit_length()
        # t at the layers 1, 2, 4, … up to one where it is reached; then on from the one before, in ever smaller steps.
        ladder, layer = [Enclosed.of(self.keep, bits)], 1
        while not self._reached(layer, ladder[-1], by):
            ladder.append(ladder[-1].times(ladder[-1], bits))
            layer *= 2
        if layer == 1:
            return 1
        layer, here = layer // 2, ladder[-2]
        for rung in reversed(range(len(ladder) - 2)):
            there = here.times(ladder[rung], bits)
            if not self._reached(layer + 2**rung, there, by):
                layer, here = layer + 2**rung, there
        return layer + 1

    def reached(self, layer: int) -> bool:
        """Whether the value at a layer from 1 up is not negative."""
        bits = _BITS
        while layer * self.keep.denominator.bit_length() > bits:
            known = self._sign_known(enclosed_power(self.keep, layer, bits))
            if known is not None:
                return known
            bits *= 2
        p, q = self.keep.numerator**layer, self.keep.denominator**layer
        return self.a0 * q * q + self.a1 * p * q + self.a2 * p * p >= 0

    def _reached(self, layer: int, t: Enclosed, by: int | None) -> bool:
        if by is not None and layer >= by:
            return True
        known = self._sign_known(t)
        return self.reached(layer) if known is None else known

    def _sign_known(self, t: Enclosed) -> bool | None:
        """Whether the value is not negative, or None where the enclosure of t leaves that open."""
        constant = self.a0 << 2 * t.shift
        least = constant + (_smallest(self.a1, t.low, t.high) << t.shift) + _smallest(self.a2, t.low**2, t.high**2)
        if least >= 0:
            return True
        most = constant - (_smallest(-self.a1, t.low, t.high) << t.shift) - _smallest(-self.a2, t.low**2, t.high**2)
        return False if most < 0 else None


def _smallest(factor: int, low: int, high: int) -> int:
    return factor * (low if factor >= 0 else high)
