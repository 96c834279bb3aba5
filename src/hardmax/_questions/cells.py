"""Cells of starting points: convex polygons with rational corners.

A quadratic q(x) = c + <b, x> + k <A x, x> on a convex cell with the corners v_1, … is the mix of
its values at pairs of corners: x = sum of p_i v_i gives q(x) = sum of p_i p_j q(v_i, v_j), where
q(v, w) = c + <b, v + w> / 2 + k <A v, w>, made symmetric. So what holds for all pairs, q >= 0 say,
holds in the cell, and if one of the values is not 0, q > 0 inside."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
from flint import fmpq, fmpz_mat

from hardmax._common.cached import cached_property
from hardmax._tokens.rationals import dot

_FINE = 40  # bits of the coefficients of lines that stand for curves


class Cell:
    """A part of the plane in which one token starts; its corners (w, x, y), counterclockwise, are
    integers that stand for the points (x / w, y / w), w > 0."""

    def __init__(self, corners: Sequence[Sequence[int]], metric: Sequence[Sequence[int]]) -> None:
        self.corners, self.metric = corners, metric

    @classmethod
    def of_box(
        cls, ends: Sequence[tuple[Fraction, Fraction]], metric: Sequence[Sequence[int]]
    ) -> "Cell":
        """A rectangle, from two intervals."""
        (left, right), (bottom, top) = ends
        unit = math.lcm(*(end.denominator for pair in ends for end in pair))
        places = (left, bottom), (right, bottom), (right, top), (left, top)
        return cls([(unit, int(unit * x), int(unit * y)) for x, y in places], metric)

    @cached_property
    def area(self) -> fmpq:
        """The area, exactly."""
        (w, x, y), *others = self.corners
        total = fmpq(0)
        for (v, a, b), (u, c, d) in pairwise(others):  # a fan of triangles
            twice = w * (a * d - b * c) - x * (v * d - b * u) + y * (v * c - a * u)
            total += fmpq(twice, 2 * w * v * u)
        return total

    @cached_property
    def pairs(self) -> fmpz_mat:
        """What the coefficients (c, b, k) are multiplied by for each pair of corners: sums of the
        products are positive multiples of the values there."""
        rows = []
        for (v, *x), (w, *y) in combinations_with_replacement(self.corners, 2):
            square = self._product(x, y) + self._product(y, x)
            rows.append([2 * v * w, *(a * w + b * v for a, b in zip(x, y, strict=True)), square])
        return fmpz_mat(rows).transpose()

    def _product(self, x: Sequence[int], y: Sequence[int]) -> int:
        return dot([dot(row, x) for row in self.metric], y)

    def cut(self, line: Sequence[int]) -> "list[Cell | None]":
        """The parts where c + <b, x> is positive and negative."""
        heights = [dot(line, corner) for corner in self.corners]
        above, below = [], []
        for k, (here, height) in enumerate(zip(self.corners, heights, strict=True)):
            there, other = self.corners[k - 1], heights[k - 1]
            if height * other < 0:
                sign = 1 if height > 0 else -1
                mixed = [sign * (height * a - other * b) for a, b in zip(there, here, strict=True)]
                common = math.gcd(*mixed)
                crossing = [x // common for x in mixed]
                above.append(crossing)
                below.append(crossing)
            if height >= 0:
                above.append(here)
            if height <= 0:
                below.append(here)
        parts = [(above, max(heights) > 0), (below, min(heights) < 0)]
        return [Cell(corners, self.metric) if some else None for corners, some in parts]

    def split(self, lead: Sequence[int]) -> list["Cell"]:
        """Parts of the cell: the more of them keep a sign of the quadratic, the better."""
        *line, bend = lead
        parts = self._beside_curve(lead) if bend else self.cut(line)
        if len(parts) - parts.count(None) < 2:
            parts = self._halves()
        return [part for part in parts if part is not None]

    def _beside_curve(self, lead: Sequence[int]) -> "list[Cell | None]":
        """Three parts: where the quadratic is positive, where negative, and what is left between
        two parallels of a tangent; none if that is more than half."""
        fine = [x << _FINE for x in lead]
        line = self._tangent(fine)
        unit = max(1, max(map(abs, line)) >> _FINE)
        line = [x // unit for x in line]
        rest = [x - unit * y for x, y in zip(fine, [*line, 0], strict=True)]
        (sums,) = (fmpz_mat([rest]) * self.pairs).tolist()
        values = [fmpq(x, unit * int(w)) for x, w in zip(sums, self.pairs.tolist()[0], strict=True)]
        low, high = int(min(values).floor()), int(max(values).ceil())
        positive, band = self.cut([line[0] + low, *line[1:]])
        if band is None:
            return [positive]
        band, negative = band.cut([line[0] + high, *line[1:]])
        if band is not None and 2 * band.area > self.area:
            return []
        return [positive, band, negative]

    def _tangent(self, lead: Sequence[int]) -> list[int]:
        """The linear function that touches a quadratic about in the middle of the cell."""
        c, *b, k = lead
        middle = [Fraction(x) for x in self._floats.mean(axis=0)]
        look = [dot(row, middle) for row in self.metric]
        back = [dot(column, middle) for column in zip(*self.metric, strict=True)]
        slopes = [x + k * (y + z) for x, y, z in zip(b, look, back, strict=True)]
        return [round(x) for x in (c - k * dot(look, middle), *slopes)]

    @cached_property
    def _floats(self) -> np.ndarray:
        return np.array([[x / w for x in rest] for w, *rest in self.corners])

    def _halves(self) -> "list[Cell | None]":
        """Two parts, cut across the longer side; one if floats see no middle."""
        low, high = self._floats.min(axis=0), self._floats.max(axis=0)
        axis = int(np.argmax(high - low))
        middle = Fraction((low[axis] + high[axis]) / 2)
        line = [-middle.numerator, 0, 0]
        line[1 + axis] = middle.denominator
        return self.cut(line)
