"""Cells of starting points: convex polygons with rational corners.

A quadratic q(x) = c + <b, x> + k <A x, x> on a convex cell with the corners v_1, … is the mix of
its values at pairs of corners: x = sum of p_i v_i gives q(x) = sum of p_i p_j q(v_i, v_j), where
q(v, w) = c + <b, v + w> / 2 + k <A v, w>, made symmetric. So what holds for all pairs, q >= 0 say,
holds in the cell, and if one of the values is not 0, q > 0 inside."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq, fmpz_mat

from hardmax._common.cached import cached_property
from hardmax._tokens.rationals import dot

Corner: TypeAlias = tuple[int, ...]
"""(w, x, y) stands for the point (x / w, y / w); w is positive."""
Quadratic: TypeAlias = Sequence[int]
"""The four coefficients c, b and k."""
_FINE = 40  # bits of the coefficients of lines that stand for curves


class Cell:
    """A part of the plane in which one token starts; its corners are counterclockwise."""

    def __init__(self, corners: Sequence[Corner], metric: Sequence[Sequence[int]]) -> None:
        self.corners, self.metric = tuple(corners), metric

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
    def floats(self) -> np.ndarray:
        """The corners, up to rounding."""
        return np.array([[x / w for x in rest] for w, *rest in self.corners])

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
    def _pairs(self) -> list[list[int]]:
        """What coefficients are multiplied by for each pair of corners, first those of a corner
        with itself: the value of a quadratic is the sum, divided by the first of these."""
        rows = []
        same = zip(self.corners, self.corners, strict=True)
        for (v, *x), (w, *y) in (*same, *combinations(self.corners, 2)):
            square = self._product(x, y) + self._product(y, x)
            rows.append([2 * v * w, *(a * w + b * v for a, b in zip(x, y, strict=True)), square])
        return rows

    def _product(self, x: Sequence[int], y: Sequence[int]) -> int:
        return dot([dot(row, x) for row in self.metric], y)

    @cached_property
    def _all_pairs(self) -> fmpz_mat:
        return fmpz_mat(self._pairs).transpose()

    @cached_property
    def _corners_alone(self) -> fmpz_mat:
        return fmpz_mat(self._pairs[: len(self.corners)]).transpose()

    def values(self, quadratics: Sequence[Quadratic]) -> Sequence[Sequence[Any]]:
        """Positive multiples of their values at pairs of corners; at corners if all are linear."""
        is_linear = not any(bend for *_, bend in quadratics)
        places = self._corners_alone if is_linear else self._all_pairs
        return (fmpz_mat(list(quadratics)) * places).tolist()

    def value_inside(self, quadratic: Quadratic) -> int:
        """A weighted sum of the values at corners, with positive weights."""
        return dot(quadratic, self._weighted_middle)

    @cached_property
    def _weighted_middle(self) -> list[int]:
        return [sum(column) for column in zip(*self._pairs[: len(self.corners)], strict=True)]

    def has_inside(self, x: Fraction, y: Fraction) -> bool:
        """Whether a point is inside, and not on the border."""
        for (w, a, b), (v, c, d) in pairwise([*self.corners, self.corners[0]]):
            # The sides are those of homogeneous coordinates.
            if (a * d - b * c) + (b * v - w * d) * x + (w * c - a * v) * y <= 0:
                return False
        return True

    def cut(self, line: Sequence[int]) -> "tuple[Cell | None, Cell | None]":
        """The parts where c + <b, x> is positive and negative."""
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
        return Cell(above, self.metric), Cell(below, self.metric)

    def split(self, lead: Quadratic) -> "list[Cell]":
        """Parts of the cell: the more of them keep a sign of the quadratic, the better."""
        *line, bend = lead
        parts = self._beside_curve(lead) if bend else self.cut(line)
        return [part for part in parts if part] or self._halves()

    def _beside_curve(self, lead: Quadratic) -> "Sequence[Cell | None]":
        """Three parts: where a linear function that is close to the quadratic says that this is
        positive, where negative, and what is left; none if that is more than half."""
        fine = [x << _FINE for x in lead]
        line = self._tangent(fine)
        unit = max(1, max(map(abs, line)) >> _FINE)
        line = [x // unit for x in line]
        rest = [x - unit * y for x, y in zip(fine, [*line, 0], strict=True)]
        scales = [unit * pair[0] for pair in self._pairs]
        values = [fmpq(*pair) for pair in zip(self.values([rest])[0], scales, strict=True)]
        low, high = int(min(values).floor()), int(max(values).ceil())
        positive, band = self.cut([line[0] + low, *line[1:]])
        if band is None:
            return [positive]
        band, negative = band.cut([line[0] + high, *line[1:]])
        if band is not None and 2 * band.area > self.area:
            return []
        return [positive, negative, band]

    def _tangent(self, lead: Quadratic) -> list[int]:
        """The linear function that touches a quadratic about in the middle of the cell."""
        c, *b, k = lead
        middle = [Fraction(x) for x in self.floats.mean(axis=0)]
        look = [dot(row, middle) for row in self.metric]
        back = [dot(column, middle) for column in zip(*self.metric, strict=True)]
        slopes = [x + k * (y + z) for x, y, z in zip(b, look, back, strict=True)]
        return [round(x) for x in (c - k * dot(look, middle), *slopes)]

    def _halves(self) -> "list[Cell]":
        """Two parts, cut across the longer side; none if floats see no middle."""
        low, high = self.floats.min(axis=0), self.floats.max(axis=0)
        axis = int(np.argmax(high - low))
        middle = Fraction((low[axis] + high[axis]) / 2)
        line = [-middle.numerator, 0, 0]
        line[1 + axis] = middle.denominator
        parts = [part for part in self.cut(line) if part]
        return parts if len(parts) == 2 else []
