"""THE definition. Tokens z_1 … z_n, a metric A, a step alpha > 0:

    C_i  = { j : <A z_i, z_j> is largest }          the attended set of token i
    w_i  = mean of z_j over j in C_i
    z_i' = (z_i + alpha w_i) / (1 + alpha)          one layer

`attended` and `step` below are these three lines in rational arithmetic. They are meant to be read, and every engine
must agree with them; `simulate` is the same mathematics made fast.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from hardmax._attended import AttendedSets, Choices
from hardmax._format import html_card, html_note, html_table
from hardmax._metric import check_positive_definite, check_square, check_symmetric, is_metric
from hardmax._tokens.batches import Cloud, Ragged, read_batch, read_table, restore
from hardmax._tokens.points import Points, merge
from hardmax._tokens.rationals import IntegerCloud, Number, read_number
from hardmax._validation import InputError, check_bool, check_instance, shorten

SHOWN_OF_METRIC, LONGEST_CELL = 8, 8


@dataclass(frozen=True, init=False, eq=False)
class Dynamics:
    """The parameters of a layer: the step `alpha` and the `metric` A (the identity, if None).

    A float alpha is the decimal it is written as (0.1 is 1/10). The metric must be symmetric positive definite, as the
    theorem asks; `any_metric=True` admits every square matrix, for which leaders and limits need not exist.

    >>> Dynamics(0.1).alpha, Dynamics("1/2", metric=[[2, 1], [1, 1]]).contraction
    (Fraction(1, 10), Fraction(2, 3))
    """

    alpha: Fraction
    matrix: np.ndarray | None
    """The metric as an array that cannot be written on: float64, or Fractions where float64 does not hold it."""

    def __init__(self, alpha: Number, metric: Any = None, *, any_metric: bool = False) -> None:
        step = read_number(alpha, "`alpha`")
        if step <= 0:
            raise InputError(f"`alpha` must be positive, not {shorten(alpha)}. Try 0.5 or '1/2'.", argument="alpha")
        any_metric = check_bool(any_metric, "`any_metric`")
        object.__setattr__(self, "alpha", step)
        object.__setattr__(self, "matrix", None if metric is None else _read_metric(metric))
        if not any_metric and self.matrix is not None:
            check_symmetric(self.matrix)
            check_positive_definite(self.matrix)
            vars(self)["is_definite"] = True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dynamics):
            return NotImplemented
        if self.matrix is None or other.matrix is None:
            return self.alpha == other.alpha and self.matrix is other.matrix
        return self.alpha == other.alpha and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Equal matrices, of floats or of Fractions, have equal floats.
        return hash((self.alpha, None if self.matrix is None else self.matrix.astype(np.float64).tobytes()))

    def __repr__(self) -> str:
        metric = "" if self.metric is None else ", metric=" + str([[str(x) for x in row] for row in self.metric])
        return f"Dynamics(alpha={str(self.alpha)!r}{metric})"

    def to_dict(self) -> dict[str, Any]:
        """alpha and the metric as plain data, as exact as they are."""
        metric = self.metric
        return {
            "alpha": str(self.alpha),
            "metric": None if metric is None else [[str(entry) for entry in row] for row in metric],
        }

    def _repr_html_(self) -> str:
        if self.matrix is None:
            return html_card(f"Dynamics(alpha = {self.alpha}, metric: identity)")
        size, some = len(self.matrix), slice(SHOWN_OF_METRIC)
        rows = [[_cell(Fraction(number)) for number in row] for row in self.matrix[some, some].tolist()]
        cut = f"its first {SHOWN_OF_METRIC} rows and columns" if size > SHOWN_OF_METRIC else ""
        return html_card(f"Dynamics(alpha = {self.alpha}, metric: {size} by {size})", html_table(rows), html_note(cut))

    @cached_property
    def metric(self) -> tuple[tuple[Fraction, ...], ...] | None:
        """The metric in Fractions; None for the identity."""
        return None if self.matrix is None else tuple(tuple(map(Fraction, row)) for row in self.matrix.tolist())

    @cached_property
    def is_definite(self) -> bool:
        """Whether the metric is symmetric positive definite, as the identity is: decided exactly, and once."""
        return self.matrix is None or is_metric(self.matrix)

    @cached_property
    def contraction(self) -> Fraction:
        """The share g = 1 / (1 + alpha) of itself that a token keeps in a layer."""
        return 1 / (1 + self.alpha)

    @property
    def metric_integers(self) -> list[list[int]] | None:
        """The metric times its common denominator: a positive factor changes no attended set."""
        return None if self._as_integers is None else self._as_integers.numerators

    @property
    def metric_denominator(self) -> int:
        """By what `metric_integers` are the metric; 1 for the identity."""
        return 1 if self._as_integers is None else self._as_integers.denominator

    @cached_property
    def _as_integers(self) -> IntegerCloud | None:
        return None if self.matrix is None else IntegerCloud.of(self.matrix)

    def check_dimension(self, dimension: int) -> None:
        if self.matrix is not None and len(self.matrix) != dimension:
            size = len(self.matrix)
            raise InputError(
                f"`metric` is {size} by {size}, but the tokens have {dimension} coordinates.", argument="metric"
            )


def _cell(number: Fraction) -> str:
    """A number of the metric as it is, or the decimal near it where that has too many digits."""
    written = str(number)
    return written if len(written) <= LONGEST_CELL else f"≈{float(number):.4g}"


def check_dynamics(dynamics: Any) -> Dynamics:
    """The parameters of a layer that were given, if they are that."""
    return check_instance(dynamics, Dynamics, "`dynamics`", "a Dynamics, such as Dynamics(0.5)")


def attended(tokens: Any, dynamics: Dynamics) -> AttendedSets | list[AttendedSets]:
    """The attended set of every token, exactly; a list of them, one for each cloud, if `tokens` is a batch.

    >>> attended([[1, 1], [1, -1], [0.5, 0]], Dynamics(1))
    AttendedSets([[0], [1], [0, 1]])
    """
    dynamics = check_dynamics(dynamics)
    clouds, form = read_batch(tokens)
    sets = []
    for cloud in clouds:
        points = _checked_points(cloud, dynamics)
        sets.append(AttendedSets(Choices.of_lists(_attended_points(points.integers, dynamics)), points))
    return sets[0] if form.is_single else sets


def step(tokens: Any, dynamics: Dynamics) -> Any:
    """The tokens one layer later, in the form and kind of numbers in which they came (floats are rounded once).

    >>> step([[1, 1], [1, -1], [0.5, 0]], Dynamics(1)).tolist()
    [[1.0, 1.0], [1.0, -1.0], [0.75, 0.0]]
    """
    dynamics = check_dynamics(dynamics)
    clouds, form = read_batch(tokens)
    moved = []
    for cloud in clouds:
        points = _checked_points(cloud, dynamics)
        after = _moved_points(points, _attended_points(points.integers, dynamics), dynamics.alpha)
        moved.append(after.astype(cloud.tokens.dtype)[points.of_token])
    return restore(form, moved, tokens.multiplicities if isinstance(tokens, Ragged) else None)


def _checked_points(cloud: Cloud, dynamics: Dynamics) -> Points:
    dynamics.check_dimension(cloud.tokens.shape[1])
    return merge(cloud)


def _attended_points(points: IntegerCloud, dynamics: Dynamics) -> list[list[int]]:
    chosen = []
    for z in points.numerators:
        direction = z if dynamics.matrix is None else [_dot(row, z) for row in dynamics.metric_integers or ()]
        scores = [_dot(direction, other) for other in points.numerators]
        best = max(scores)
        chosen.append([j for j, score in enumerate(scores) if score == best])
    return chosen


def _moved_points(points: Points, chosen: list[list[int]], alpha: Fraction) -> np.ndarray:
    z, counts = points.integers.fractions(), points.multiplicities.astype(object)
    means = np.array([counts[c] @ z[c] / counts[c].sum() for c in chosen])
    return (z + alpha * means) / (1 + alpha)


def _dot(x: list[int], y: list[int]) -> int:
    return sum(a * b for a, b in zip(x, y, strict=True))


def _read_metric(metric: Any) -> np.ndarray:
    # A copy, since the caller's array may become another; adding zero turns -0.0 into 0.0.
    table = read_table(metric, "`metric`") + 0
    check_square(table)
    table.flags.writeable = False
    return table
