"""Tokens of the plane that move for ever within bounds, under a value matrix V = u v^T with <u, v>
= 0.

A layer is z' = z + alpha u <v, w - z>, so tokens move along u, and s = <v, z> stands still. Let F
be the tokens that attend to themselves alone, and suppose that each of the others is now in a
segment z_i + [l, h] u that lies within the interior of the hull of F. There, whatever the direction
A z (if it is not 0), the furthest tokens are in F. So those in F stand still for another layer, and
token i goes from x to x + alpha (s_f - s_i), with f the furthest of F along A (z_i + x u), or to a
mean of such values at a tie. If that maps [l, h] into itself for every i, all of this holds at the
next layer, too, and for ever. If in addition no shift is 0, all others move at every layer by no
less than the smallest shift, and within bounds: they never settle, and their attended sets never
stop changing."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hardmax.dynamics import Dynamics

_MOST_ROUNDS = 100

Point = tuple[Fraction, ...]


class Line(NamedTuple):
    """The score a + b x of a point of F along A (z_i + x u), by how much x changes if it is the
    furthest, and how many tokens it counts for."""

    a: Fraction
    b: Fraction
    shift: Fraction
    tokens: int

    def at(self, x: Fraction) -> Fraction:
        return self.a + self.b * x


def never_settle(
    z: np.ndarray, counts: np.ndarray, chosen: Sequence[Sequence[int]], dynamics: Dynamics
) -> list[int]:
    """The points that are proved to move for ever in bounds, all but those that stand still for
    ever; or none."""
    fixed = [i for i, several in enumerate(chosen) if list(several) == [i]]
    moving = [i for i in range(len(z)) if i not in set(fixed)]
    if not _is_covered(dynamics) or not moving or len(fixed) < 3:
        return []
    hull = _hull([tuple(z[i]) for i in fixed])
    if len(hull) < 3:
        return []
    metric = np.eye(2, dtype=int) if dynamics.metric is None else np.array(dynamics.metric)
    push = dynamics.alpha * np.array(dynamics.value)
    u = push[:, (push != 0).any(axis=0).argmax()]
    # alpha V = u v^T with this u, v scaled to fit.
    row = (u != 0).argmax()
    v = push[row] / u[row]
    for i in moving:
        start, way = metric @ z[i], metric @ u
        lines = []
        for f in fixed:
            shift = v @ (z[f] - z[i])
            lines.append(Line(start @ z[f], way @ z[f], shift, int(counts[f])))
        bounds = _trap(lines)
        if bounds is None or _vanishes(start, way, bounds):
            return []
        if not all(_is_inside(tuple(z[i] + x * u), hull) for x in bounds):
            return []
    return moving


def _is_covered(dynamics: Dynamics) -> bool:
    """Whether the proof above is about these dynamics."""
    value = dynamics.value
    if value is None or len(value) != 2 or not value.any() or (value @ value).any():
        return False
    others = dynamics.attention, dynamics.heads, dynamics.mask, dynamics.feed_forward
    return all(part is None for part in others) and isinstance(dynamics.steps, Fraction)


def _hull(points: list[Point]) -> list[Point]:
    """The vertices of the hull of points of the plane, counterclockwise."""
    hull: list[Point] = []
    for way in (sorted(points), sorted(points, reverse=True)):
        start = len(hull)
        for point in way:
            while len(hull) - start >= 2 and _turn(hull[-2], hull[-1], point) <= 0:
                hull.pop()
            hull.append(point)
        hull.pop()
    return hull


def _turn(a: Point, b: Point, c: Point) -> Fraction:
    """Positive, if it is to the left from a over b to c."""
    (ax, ay), (bx, by), (cx, cy) = a, b, c
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


def _is_inside(point: Point, hull: list[Point]) -> bool:
    return all(_turn(a, b, point) > 0 for a, b in pairwise([*hull, hull[0]]))


def _vanishes(start: np.ndarray, way: np.ndarray, bounds: tuple[Fraction, Fraction]) -> bool:
    """Whether start + x way is 0 for an x between two bounds."""
    low, high = bounds
    x: Any = -(start @ way) / (way @ way) if way.any() else low  # where it is shortest
    return low <= x <= high and not (start + x * way).any()


def _trap(lines: list[Line]) -> tuple[Fraction, Fraction] | None:
    """An interval around 0 that is mapped into itself by x -> x + shift of the highest line; None
    if none was found, or if a point of it may stand still."""
    low = high = Fraction(0)
    for _ in range(_MOST_ROUNDS):
        knots = _knots(lines, low, high)
        ends = []
        for left, right in pairwise(knots):
            # Between two knots one line is the highest, or several that coincide; at a knot there
            # are more. A mean of shifts leads to between where they lead.
            for x in (left, (left + right) / 2, right):
                best = max(line.at(x) for line in lines)
                highest = [line for line in lines if line.at(x) == best]
                if not sum(line.tokens * line.shift for line in highest):
                    return None
                sources = (left, right) if left < x < right else (x,)
                ends += [end + line.shift for line in highest for end in sources]
        if min(ends) >= low and max(ends) <= high:
            return low, high
        low, high = min(low, *ends), max(high, *ends)
    return None


def _knots(lines: list[Line], low: Fraction, high: Fraction) -> list[Fraction]:
    """The bounds, and between them the places at which the highest line is another."""
    knots, x = [low], low
    while True:
        best = max(line.at(x) for line in lines)
        # Of the highest lines the steepest goes on; the next one is that which meets it first.
        steepest = max((line for line in lines if line.at(x) == best), key=lambda line: line.b)
        steeper = [line for line in lines if line.b > steepest.b]
        meets = [x + (best - line.at(x)) / (line.b - steepest.b) for line in steeper]
        x = min(meets, default=high)
        if x >= high:
            return [*knots, high]
        knots.append(x)
