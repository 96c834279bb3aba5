"""What a layer may have besides a step and a metric: other steps, a value matrix, a mask."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from hardmax._common.validation import InputError, check_int, shorten
from hardmax._tokens.batches import read_table
from hardmax._tokens.rationals import Number, read_number

FULL: Any = math.inf
"""A full step: alpha is infinite, and a token jumps onto its target."""


@dataclass(frozen=True)
class Steps:
    """Step sizes by a rule: layer k has the step ``rule(k)``.

    Parameters
    ----------
    rule : callable
        From the layer 0, 1, … to its step size, a positive number.
    product : number or str, optional
        The product of all ``1 / (1 + rule(k))``: 0 if the steps add up to infinity. It cannot be
        checked, so it is yours to prove; without it, tokens that still move have no known limit.

    Examples
    --------
    >>> Steps(lambda k: Fraction(2, k + 2), product=0).at(1)
    Fraction(2, 3)
    """

    rule: Callable[[int], Number]
    product: Number | None = None

    def __post_init__(self) -> None:
        if not callable(self.rule):
            raise InputError(
                f"`rule` must be a function of the layer, not {shorten(self.rule)}.",
                argument="rule",
            )
        if self.product is not None:
            product = read_number(self.product, "`product`")
            if not 0 <= product < 1:
                raise InputError(
                    f"`product` must be from 0 to less than 1, not {shorten(self.product)}.",
                    argument="product",
                )
            object.__setattr__(self, "product", product)

    def at(self, layer: int) -> Fraction:
        """The step of a layer.

        Parameters
        ----------
        layer : int
            From 0 up.
        """
        layer = check_int(layer, "`layer`", at_least=0)
        return read_step(self.rule(layer), f"`alpha` at layer {layer}")


@dataclass(frozen=True, eq=False)
class Head:
    """One of several heads of attention: it looks along its own metric, and its mean counts with
    its weight.

    Parameters
    ----------
    metric : array_like of shape (d, d), optional
        The matrix A of this head; the identity by default.
    weight : number or str, default 1
        Positive. With weights a_h, ``w_i = sum of a_h w_i^h / sum of a_h``.

    Examples
    --------
    >>> from hardmax import Dynamics, step
    >>> step([[1, 1], [1, -1]], Dynamics(1, heads=[Head(), Head([[1, 0], [0, -1]])])).tolist()
    [[1.0, 0.5], [1.0, -0.5]]
    """

    metric: Any = None
    weight: Number = 1

    def __post_init__(self) -> None:
        weight = read_number(self.weight, "`weight`")
        if weight <= 0:
            raise InputError(
                f"`weight` must be positive, not {shorten(self.weight)}.", argument="weight"
            )
        vars(self).update(metric=read_square(self.metric, "metric"), weight=weight)


def read_heads(heads: Any) -> tuple[Head, ...] | None:
    """Heads, or what `Dynamics.to_dict` wrote of them."""
    if heads is None:
        return None
    if isinstance(heads, list | tuple) and heads:
        read = tuple(Head(**head) if isinstance(head, dict) else head for head in heads)
        if all(isinstance(head, Head) for head in read):
            return read
    raise InputError(
        f"`heads` must be a list of Head(metric, weight), not {shorten(heads)}.", argument="heads"
    )


def read_step(alpha: Any, name: str = "`alpha`") -> Fraction:
    """A step size, positive."""
    step = read_number(alpha, name)
    if step <= 0:
        raise InputError(
            f"{name} must be positive, not {shorten(alpha)}. Try 0.5 or '1/2'.", argument="alpha"
        )
    return step


def _read_first(alpha: Any, name: str) -> Fraction:
    """A step that does not stay for ever, so it may be full: "inf"."""
    is_full = isinstance(alpha, str | float) and str(alpha).strip() == str(FULL)
    return FULL if is_full else read_step(alpha, name)


def read_steps(alpha: Any) -> Fraction | tuple[Fraction, ...] | Steps:
    """One step size for all layers, one for each of the first layers ("2,1,1/2"), or a rule."""
    if isinstance(alpha, Steps):
        return alpha
    if isinstance(alpha, str) and "," in alpha:
        alpha = alpha.split(",")
    if isinstance(alpha, list | tuple) or (isinstance(alpha, np.ndarray) and alpha.ndim == 1):
        if not len(alpha):
            raise InputError("`alpha` must have at least one step.", argument="alpha")
        *first, last = alpha
        steps = [_read_first(each, f"`alpha` (layer {layer})") for layer, each in enumerate(first)]
        steps.append(read_step(last, f"`alpha` (layer {len(first)})"))
        while len(steps) > 1 and steps[-2] == steps[-1]:  # the last one stays for ever
            steps.pop()
        return tuple(steps) if len(steps) > 1 else steps[0]
    return read_step(alpha)


def split_rows(matrix: Any) -> Any:
    """The rows of a matrix that was typed as "2,1;1,1"; any other as it came."""
    if not isinstance(matrix, str):
        return matrix
    return [row.split(",") for row in matrix.strip(" ;").split(";")]


def read_square(matrix: Any, name: str) -> np.ndarray | None:
    """A square table of numbers, also typed as "2,1;1,1", read-only, in which -0.0 becomes 0.0;
    None for the identity."""
    if matrix is None:
        return None
    table = read_table(split_rows(matrix), f"`{name}`") + 0
    rows, columns = table.shape
    if rows != columns:
        raise InputError(f"`{name}` must be square, not {rows} by {columns}.", argument=name)
    table.flags.writeable = False
    return table


def read_mask(mask: Any) -> np.ndarray | str | None:
    """ "causal", or a boolean table (n, n) in which nobody is left without anybody to attend to."""
    if mask is None or (isinstance(mask, str) and mask == "causal"):
        return mask
    wish = "'causal' or a square table of booleans (numpy.tri(n, dtype=bool), a file of 0 and 1)"
    try:
        table = np.array(mask)
    except Exception:  # each library has its own errors for what it cannot do
        table = np.empty(0)
    if table.ndim != 2 or len({*table.shape}) != 1 or table.dtype != bool:
        raise InputError(f"`mask` must be {wish}, not {shorten(mask)}.", argument="mask")
    if not table.any(axis=1).all():
        token = int(np.flatnonzero(~table.any(axis=1))[0])
        raise InputError(f"`mask` leaves token {token} nobody to attend to.", argument="mask")
    table.flags.writeable = False
    return table


def inverse(matrix: np.ndarray) -> np.ndarray | None:
    """The inverse of a square matrix of Fractions; None if there is none.

    >>> matrix = np.array([[2, 1], [1, 1]], dtype=object)
    >>> inverse(matrix).tolist() == [[1, -1], [-1, 2]]
    True
    """
    rows = [[fmpq(*number.as_integer_ratio()) for number in row] for row in matrix.tolist()]
    try:
        found = fmpq_mat(rows).inv().tolist()
    except ZeroDivisionError:
        return None
    return np.array([[Fraction(int(number.p), int(number.q)) for number in row] for row in found])
