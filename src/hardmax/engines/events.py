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

from collections.abc import Callable, Iterable
from fractions import Fraction

from hardmax.dynamics import Dynamics
from hardmax.engines.choosing import Chooser, turned
from hardmax.engines.integers import products
from hardmax.tokens.rationals import IntegerCloud

Rows = list[list[int]]


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
    looks = turned([w[i], u[i]], dynamics)
    (ww, uw), (wu, uu) = products(looks, w), products(looks, u)
    scores = [(int(a0), int(a1) + int(a1_too), int(a2)) for a0, a1, a1_too, a2 in zip(ww, uw, wu, uu, strict=True)]
    c0, c1, c2 = scores[tied[0]]
    if any(scores[c] != (c0, c1, c2) for c in tied):
        return 1
    others = set(range(len(w))) - set(tied)
    return _soonest(
        layers_negative(a0 - c0, a1 - c1, a2 - c2, dynamics.keep) for a0, a1, a2 in (scores[j] for j in others)
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

    def reached(m: int) -> bool:
        t = keep**m
        p, q = t.numerator, t.denominator
        return a0 * q * q + a1 * p * q + a2 * p * p >= 0

    if a0 > 0 or (a0 == 0 and a1 > 0):
        # Negative at 1, positive near 0: it changes sign once, and stays.
        return _first(reached)
    if a0 == 0 or a2 >= 0 or not 0 < a1 < -2 * a2 or a1 * a1 < 4 * a0 * a2:
        return None
    # Negative at both ends, with a hump at t = -a1 / (2 a2): up to there the values grow with m, then they fall.
    past_hump = _first(lambda m: -2 * a2 * (keep**m).numerator <= a1 * (keep**m).denominator)
    before = past_hump - 1
    return _first_between(reached, 0, before) if before and reached(before) else past_hump


def _first(holds: Callable[[int], bool]) -> int:
    """The first m >= 1 at which a condition holds that is bound to come true, and then stays true."""
    high = 1
    while not holds(high):
        high *= 2
    return _first_between(holds, high // 2, high)


def _first_between(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first m in (low, high] at which a condition holds, given that it holds from some m up to `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
