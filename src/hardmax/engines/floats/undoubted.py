"""Floats without doubt: contests decided exactly among tokens, which are the floats they are, and among neighbours,
whose exact differences are rounded only once."""

from collections.abc import Sequence

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.engines.floats.bounds import SAFETY, UNDERFLOW
from hardmax.engines.floats.kernels.furthest import mark_first_or_second, mark_furthest
from hardmax.engines.floats.metric import UNIT, FloatMetric

# Products of two numbers between these, and what rounding takes from them, neither underflow nor overflow.
_SMALLEST, _LARGEST = 2.0**-450, 2.0**450
_LARGEST_WHOLE = 2.0**53


def squares_fit(numbers: np.ndarray) -> bool:
    """Whether products of these numbers can be made without error."""
    sizes = np.abs(numbers)
    return bool(((sizes >= _SMALLEST) | (sizes == 0.0)).all()) and float(sizes.max()) <= _LARGEST


def exact_products(numbers: np.ndarray, metric: FloatMetric) -> np.ndarray | None:
    """The metric times each row, if nothing is rounded in it, nor in products of it with the rows; else None.

    All are whole multiples of a quantum. If every sum of sizes is below 2^53 of them, nothing is rounded in any order:
    a sum that rounding would bring to 2^53 is not below it.
    """
    if not squares_fit(numbers):
        return None
    if metric.matrix is None:
        return numbers
    if metric.error:
        return None
    largest = float((np.abs(numbers) @ np.abs(metric.matrix).T).max())
    if largest >= _LARGEST_WHOLE * _quantum(numbers) * _quantum(metric.matrix):
        return None
    directions = metric.directions(numbers)
    return directions if squares_fit(directions) else None


def adds_up_exactly(terms: np.ndarray, sizes: np.ndarray) -> bool:
    """Whether no sum of some of the terms is rounded, whatever the order; `sizes` are the sums of their sizes."""
    return float(sizes.max()) <= _LARGEST_WHOLE * _quantum(terms)


def _quantum(numbers: np.ndarray) -> float:
    """The largest power of two of which all numbers are whole multiples.

    >>> _quantum(np.array([3.0, 0.75, 0.0]))
    0.25
    """
    mantissas, exponents = np.frexp(numbers[numbers != 0.0])
    if not len(mantissas):
        return 1.0
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    lowest = (whole & -whole).astype(np.float64)
    return float(np.ldexp(lowest, exponents - 53).min())


def furthest_tokens(directions: np.ndarray, tokens: np.ndarray, contenders: Choices) -> tuple[Choices, float]:
    """Of the contenders along each direction who is furthest, exactly, and the smallest lead over the others."""
    furthest, leads = np.empty(len(contenders.indices), dtype=bool), np.empty(len(directions))
    mark_furthest(directions, tokens, contenders.indices, contenders.offsets, furthest, leads)
    sizes = np.add.reduceat(furthest.astype(np.int64), contenders.offsets[:-1])
    return Choices(contenders.indices[furthest], np.concatenate([[0], np.cumsum(sizes)])), float(leads.min())


def nearest(integers: np.ndarray) -> np.ndarray:
    """Integers divided by the largest, as the nearest floats."""
    largest = max(map(abs, integers.flat), default=0)
    return (integers / (largest or 1)).astype(np.float64)


def nearest_rows(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """The same, each row divided by its own largest."""
    return np.stack([nearest(np.array(row, dtype=object)) for row in rows])


def first_or_second(directions: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Which offsets, a column each, can be among the two furthest along a direction.

    Directions and offsets are off by one rounding in each coordinate, so that a score is off by less than (d + 4) u
    times the sum of the sizes of its products; what underflow takes is less than 2^-900, as no number exceeds 1.
    """
    close = np.empty((len(directions), len(offsets)), dtype=bool)
    share = (directions.shape[1] + 4) * UNIT * SAFETY
    mark_first_or_second(directions, np.ascontiguousarray(offsets.T), share, UNDERFLOW, close)
    return close
