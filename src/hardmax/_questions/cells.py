"""Cells of starting points: convex polygons in the plane, boxes in other dimensions, with rational
corners.

A quadratic q(x) = c + <b, x> + k <A x, x> on a convex cell with the corners v_1, … is the mix of
its values at pairs of corners: x = sum of p_i v_i gives q(x) = sum of p_i p_j q(v_i, v_j), where
q(v, w) = c + <b, v + w> / 2 + k <A v, w>, made symmetric. So what holds for all pairs, q >= 0 say,
holds in the cell, and if one of the values is not 0, q > 0 inside."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import TypeAlias

from flint import fmpq

from hardmax._common.cached import cached_property
from hardmax._exact.argmax import products
from hardmax._tokens.rationals import dot

Corner: TypeAlias = tuple[int, ...]
"""(w, x, y, …) stands for the point (x / w, y / w, …); w is positive."""
Quadratic: TypeAlias = Sequence[int]
"""c, b and k; if k is left out it is linear."""
_FINE = 2**40  # so fine are the coefficients of lines that stand for curves


@dataclass(frozen=True, eq=False)
class Cell:
    """A part of the space in which one token starts."""

    corners: tuple[Corner, ...]

    @cached_property
    def floats(self) -> list[list[float]]:
        """The corners, up to rounding."""
        return [[x / w for x in rest] for w, *rest in self.corners]

    def pairs(self, metric: Sequence[Sequence[int]]) -> list[list[int]]:
        """For each pair of corners what the coefficients of a quadratic are multiplied by: its
        values are the products, divided by the first entries. The first pairs are those of corners
        with themselves."""
        same = [(corner, corner) for corner in self.corners]
        rows = []
        for (v, *x), (w, *y) in (*same, *combinations(self.corners, 2)):
            square = dot([dot(row, x) for row in metric], y) + dot(
                [dot(row, y) for row in metric], x
            )
            rows.append([2 * v * w, *(a * w + b * v for a, b in zip(x, y, strict=True)), square])
        return rows

    def halves(self) -> "list[Cell]":
        """The cell in two parts."""
        raise NotImplementedError

    def has_inside(self, point: Sequence[Fraction]) -> bool:
        """Whether a point is inside, and not on the border."""
        raise NotImplementedError

    def cut(self, line: Sequence[int]) -> "tuple[Cell | None, Cell | None] | None":
        """The parts where c + <b, x> is positive and negative; None if the cell cannot be cut."""
        raise NotImplementedError

    @cached_property
    def volume(self) -> fmpq:
        """Length, area or volume."""
        raise NotImplementedError

    def split(self, lead: Quadratic, metric: Sequence[Sequence[int]]) -> "list[Cell]":
        """Parts of the cell: the more of them keep a sign of the quadratic, the better."""
        *line, curvature = lead
        parts = self._beside_curve(lead, metric) if curvature else self.cut(line)
        return [part for part in parts or () if part] or self.halves()

    def _beside_curve(
        self, lead: Quadratic, metric: Sequence[Sequence[int]]
    ) -> "list[Cell | None]":
        """Three parts: where a linear function that is close to the quadratic says that this is
        positive, where negative, and what is left; none if that is more than half."""
        c, *b, k = lead
        middle = [sum(column) / len(column) for column in zip(*self.floats, strict=True)]
        points = [Fraction(x).limit_denominator(_FINE) for x in middle]
        # The gradient there, and the value of that plane at 0.
        slopes = []
        for r, (row, slope) in enumerate(zip(metric, b, strict=True)):
            both = [entry + other[r] for entry, other in zip(row, metric, strict=True)]
            slopes.append(slope + k * dot(both, points))
        square = sum(dot(row, points) * x for row, x in zip(metric, points, strict=True))
        wanted = [c - k * square, *slopes]
        unit = max(1, int(max(map(abs, wanted))) // _FINE)
        line = [round(x / unit) for x in wanted]
        rest = [x - unit * y for x, y in zip(lead, [*line, 0], strict=True)]
        pairs = self.pairs(metric)
        values = [
            Fraction(int(value), pair[0] * unit)
            for value, pair in zip(products([rest], pairs)[0], pairs, strict=True)
        ]
        low, high = math.floor(min(values)), math.ceil(max(values))
        found = []
        band: Cell | None = self
        for offset, part in ((low, 0), (high, 1)):
            parts = band and band.cut([line[0] + offset, *line[1:]])
            if not parts:
                return found
            found.append(parts[part])
            band = parts[1 - part]
        if band is not None and 2 * band.volume > self.volume:
            return []
        return [*found, band]


class CellPolygon(Cell):
    """A convex polygon, its corners counterclockwise."""

    @cached_property
    def volume(self) -> fmpq:
        (w, x, y), *others = self.corners
        total = fmpq(0)
        for (v, a, b), (u, c, d) in pairwise(others):  # a fan of triangles
            twice = w * (a * d - b * c) - x * (v * d - b * u) + y * (v * c - a * u)
            total += fmpq(twice, 2 * w * v * u)
        return total

    def has_inside(self, point: Sequence[Fraction]) -> bool:
        a, b = point
        for (w, x, y), (v, c, d) in pairwise([*self.corners, self.corners[0]]):
            # The sides are those of homogeneous coordinates.
            if (x * d - y * c) + (y * v - w * d) * a + (w * c - x * v) * b <= 0:
                return False
        return True

    def cut(self, line: Sequence[int]) -> tuple[Cell | None, Cell | None]:
        heights = [dot(line, corner) for corner in self.corners]
        if min(heights) >= 0:
            return self, None
        if max(heights) <= 0:
            return None, self
        above, below = [], []
        for k, (here, height) in enumerate(zip(self.corners, heights, strict=True)):
            there, other = self.corners[k - 1], heights[k - 1]
            if height * other < 0:
                sign = 1 if height > 0 else -1
                mixed = [sign * (height * a - other * b) for a, b in zip(there, here, strict=True)]
                common = math.gcd(*mixed)
                crossing = tuple(x // common for x in mixed)
                above.append(crossing)
                below.append(crossing)
            if height >= 0:
                above.append(here)
            if height <= 0:
                below.append(here)
        return CellPolygon(tuple(above)), CellPolygon(tuple(below))

    def halves(self) -> list[Cell]:
        pairs = combinations(self.floats, 2)
        (x, y), (a, b) = max(pairs, key=lambda ends: math.dist(*ends))
        length = max(abs(a - x), abs(b - y))
        if not length:
            return []
        way = [round(16 * (end - start) / length) for start, end in ((x, a), (y, b))]
        heights = [dot(way, corner) for corner in self.floats]
        t = middle(min(heights), max(heights))
        parts = self.cut([-t.numerator, *(t.denominator * step for step in way)])
        return [part for part in parts if part]


@dataclass(frozen=True, eq=False)
class Box(Cell):
    """An interval in each coordinate."""

    ends: tuple[tuple[Fraction, Fraction], ...]

    @classmethod
    def of(cls, ends: Sequence[tuple[Fraction, Fraction]]) -> "Box":
        corners = []
        for corner in product(*ends):
            w = math.lcm(*(x.denominator for x in corner))
            corners.append((w, *(int(w * x) for x in corner)))
        return cls(tuple(corners), tuple(ends))

    @cached_property
    def volume(self) -> fmpq:
        size = math.prod((high - low for low, high in self.ends), start=Fraction(1))
        return fmpq(size.numerator, size.denominator)

    def has_inside(self, point: Sequence[Fraction]) -> bool:
        return all(low < x < high for (low, high), x in zip(self.ends, point, strict=True))

    def cut(self, line: Sequence[int]) -> tuple[Cell | None, Cell | None] | None:
        (low, high), *others = self.ends
        if others:
            return None
        constant, slope = line
        if not slope:
            return (self, None) if constant >= 0 else (None, self)
        root = min(max(Fraction(-constant, slope), low), high)
        left = Box.of([(low, root)]) if low < root else None
        right = Box.of([(root, high)]) if root < high else None
        return (right, left) if slope > 0 else (left, right)

    def halves(self) -> list[Cell]:
        axis = max(range(len(self.ends)), key=lambda k: self.ends[k][1] - self.ends[k][0])
        low, high = self.ends[axis]
        t = middle(float(low), float(high))
        if not low < t < high:
            return []
        return [
            Box.of([*self.ends[:axis], ends, *self.ends[axis + 1 :]])
            for ends in ((low, t), (t, high))
        ]


def middle(low: float, high: float) -> Fraction:
    """A number about in the middle of two others, of few digits."""
    unit = Fraction(2) ** (math.frexp(high - low)[1] - 20)
    return round(Fraction((low + high) / 2) / unit) * unit
