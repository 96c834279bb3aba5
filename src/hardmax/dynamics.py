"""THE definition. Tokens z_1 … z_n, a metric A, a step alpha > 0:

    C_i  = { j : <A z_i, z_j> is largest }          the attended set of token i
    w_i  = mean of z_j over j in C_i
    z_i' = (z_i + alpha w_i) / (1 + alpha)          one layer

`attended` and `step` below are these three lines in rational arithmetic. They are meant to be read, and every engine
must agree with them; `simulate` is the same mathematics made fast.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from hardmax._attended import AttendedSets, Choices
from hardmax._metric import not_a_metric
from hardmax._tokens.batches import Cloud, Ragged, read_batch, read_table, restore
from hardmax._tokens.points import Points, merge
from hardmax._tokens.rationals import IntegerCloud, Number, read_number, to_fractions
from hardmax._validation import InputError, check_instance, shorten


@dataclass(frozen=True, init=False, eq=False)
class Dynamics:
    """Step size and metric of a layer.

    Parameters
    ----------
    alpha : number or str
        Step size, positive. A float stands for the decimal that it prints as: 0.1 is 1/10.
    metric : array_like of shape (d, d), optional
        The matrix A; the identity by default. Unless it is symmetric positive definite, leaders and limits need not
        exist, and `limit` warns.

    Examples
    --------
    >>> Dynamics(0.1).alpha, Dynamics("1/2", metric=[[2, 1], [1, 1]]).contraction
    (Fraction(1, 10), Fraction(2, 3))
    """

    alpha: Fraction
    """The step size."""
    matrix: np.ndarray | None
    """The metric, read-only: float64, or Fractions where float64 cannot represent it; None for the identity."""

    def __init__(self, alpha: Number, metric: Any = None) -> None:
        step = read_number(alpha, "`alpha`")
        if step <= 0:
            raise InputError(f"`alpha` must be positive, not {shorten(alpha)}. Try 0.5 or '1/2'.", argument="alpha")
        matrix = None
        if metric is not None:
            matrix = read_table(metric, "`metric`") + 0  # a copy; -0.0 becomes 0.0
            rows, columns = matrix.shape
            if rows != columns:
                raise InputError(f"`metric` must be square, not {rows} by {columns}.", argument="metric")
            matrix.flags.writeable = False
        object.__setattr__(self, "alpha", step)
        object.__setattr__(self, "matrix", matrix)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dynamics):
            return NotImplemented
        return self.alpha == other.alpha and np.array_equal(self.matrix, other.matrix)  # pyright: ignore[reportArgumentType]

    def __hash__(self) -> int:
        return hash(self.alpha)

    def __repr__(self) -> str:
        metric = "" if self.matrix is None else f", metric={self.to_dict()['metric']}"
        return f"Dynamics(alpha={str(self.alpha)!r}{metric})"

    def to_dict(self) -> dict[str, Any]:
        """Return alpha and the metric as plain data, exactly."""
        metric = None if self.metric is None else [[str(entry) for entry in row] for row in self.metric]
        return {"alpha": str(self.alpha), "metric": metric}

    @cached_property
    def metric(self) -> tuple[tuple[Fraction, ...], ...] | None:
        """The metric in Fractions; None for the identity."""
        return None if self.matrix is None else tuple(tuple(map(Fraction, row)) for row in self.matrix.tolist())

    @property
    def is_definite(self) -> bool:
        """Whether the metric is symmetric positive definite, as the theorem assumes; decided exactly, and once."""
        return not self.indefinite_reason

    @cached_property
    def indefinite_reason(self) -> str:
        """Why the metric is not symmetric positive definite; empty if it is."""
        return "" if self.matrix is None else not_a_metric(self.matrix)

    def check_definite(self) -> "Dynamics":
        """Return these dynamics, if the metric is symmetric positive definite; else raise an InputError."""
        if self.is_definite:
            return self
        message = f"`metric` must be symmetric positive definite: {self.indefinite_reason}."
        raise InputError(message, argument="metric")

    @cached_property
    def contraction(self) -> Fraction:
        """The factor 1 / (1 + alpha) by which a layer shrinks the distance of a token to its target."""
        return 1 / (1 + self.alpha)

    @cached_property
    def metric_denominator(self) -> int:
        """The common denominator of the metric; 1 for the identity."""
        return 1 if self.matrix is None else IntegerCloud.of(self.matrix).denominator

    @cached_property
    def metric_integers(self) -> list[list[int]] | None:
        """The metric times its common denominator: a positive factor changes no attended set."""
        return None if self.matrix is None else IntegerCloud.of(self.matrix).numerators

    def check_dimension(self, dimension: int) -> None:
        """Raise an InputError if the metric does not fit tokens of a dimension.

        Parameters
        ----------
        dimension : int
            Number of coordinates of a token.
        """
        if self.matrix is not None and (size := len(self.matrix)) != dimension:
            message = f"`metric` is {size} by {size}, but the tokens have {dimension} coordinates."
            raise InputError(message, argument="metric")


def check_dynamics(dynamics: Any) -> Dynamics:
    """The dynamics that were given, if they are that."""
    return check_instance(dynamics, Dynamics, "`dynamics`", "a Dynamics, such as Dynamics(0.5)")


def attended(tokens: Any, dynamics: Dynamics) -> AttendedSets | list[AttendedSets]:
    """Attended set of every token, computed exactly.

    Parameters
    ----------
    tokens : array_like of shape (n, d), or a batch of clouds
        The tokens.
    dynamics : Dynamics
        Step size and metric.

    Returns
    -------
    AttendedSets or list of AttendedSets
        One for each cloud, if `tokens` is a batch.

    Examples
    --------
    >>> attended([[1, 1], [1, -1], [0.5, 0]], Dynamics(1))
    AttendedSets([[0], [1], [0, 1]])
    """
    dynamics = check_dynamics(dynamics)
    clouds, form = read_batch(tokens)
    sets = [AttendedSets(Choices.of_sets(chosen), points) for points, chosen in _attended_points(clouds, dynamics)]
    return sets[0] if form.is_single else sets


def step(tokens: Any, dynamics: Dynamics) -> Any:
    """The tokens one layer later, in the form and kind of numbers in which they came (floats are rounded once).

    >>> step([[1, 1], [1, -1], [0.5, 0]], Dynamics(1)).tolist()
    [[1.0, 1.0], [1.0, -1.0], [0.75, 0.0]]
    """
    dynamics = check_dynamics(dynamics)
    clouds, form = read_batch(tokens)
    moved = []
    for cloud, (points, chosen) in zip(clouds, _attended_points(clouds, dynamics), strict=True):
        z, counts = to_fractions(points.coordinates, "`tokens`"), points.multiplicities.astype(object)
        means = np.array([counts[c] @ z[c] / counts[c].sum() for c in chosen])
        after = (z + dynamics.alpha * means) / (1 + dynamics.alpha)
        moved.append(after.astype(cloud.tokens.dtype)[points.of_token])
    return restore(form, moved, tokens.multiplicities if isinstance(tokens, Ragged) else None)


def _attended_points(clouds: Iterable[Cloud], dynamics: Dynamics) -> Iterator[tuple[Points, list[list[int]]]]:
    """The distinct points of each cloud, and those that each of them attends to."""
    for cloud in clouds:
        dynamics.check_dimension(cloud.tokens.shape[1])
        points, chosen = merge(cloud), []
        for z in points.integers.numerators:
            direction = z if dynamics.matrix is None else [_dot(row, z) for row in dynamics.metric_integers or ()]
            scores = [_dot(direction, other) for other in points.integers.numerators]
            best = max(scores)
            chosen.append([j for j, score in enumerate(scores) if score == best])
        yield points, chosen


def _dot(x: list[int], y: list[int]) -> int:
    return sum(a * b for a, b in zip(x, y, strict=True))
