"""What a layer may have besides a step and a metric: a value matrix, a mask, heads, a
feed-forward block, normalisation."""

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from hardmax._common.validation import InputError, check_choice, shorten
from hardmax._layer.attention import Attention, Ties, plain_attention
from hardmax._tokens.batches import read_table
from hardmax._tokens.rationals import fractions_of, read_number, to_fractions


@dataclass(frozen=True, eq=False)
class Head:
    """One of several heads of attention: it looks along its own metric, and its mean counts with
    its weight, through its own value matrix.

    Parameters
    ----------
    metric : array_like of shape (d, d), optional
        The matrix A of this head; the identity by default.
    weight : number or str, default 1
        Positive. With weights a_h, ``w_i = sum of a_h w_i^h / sum of a_h``.
    value : array_like of shape (d, d), optional
        The value matrix of this head; that of the `Dynamics` by default.
    mask : "causal", "strict" or array_like of bool of shape (n, n), optional
        Who may attend to whom with this head; as the `Dynamics` says by default.
    ties : {"average", "leftmost", "rightmost"}, optional
        Attend to all tokens that tie, the default, or to the first or the last of them.

    Examples
    --------
    >>> from hardmax import Dynamics, step
    >>> step([[1, 1], [1, -1]], Dynamics(1, heads=[Head(), Head([[1, 0], [0, -1]])])).tolist()
    [[1.0, 0.5], [1.0, -0.5]]
    """

    metric: Any = None
    weight: Any = 1
    value: Any = None
    mask: Any = None
    ties: str | None = None

    def __post_init__(self) -> None:
        weight = read_number(self.weight, "`weight`")
        if weight <= 0:
            raise InputError(f"`weight` must be positive, not {shorten(self.weight)}.")
        metric = None if self.metric is None else read_square(self.metric)
        value = None if self.value is None else read_value(self.value)
        mask = None if self.mask is None else read_mask(self.mask)
        ties = None if self.ties in (None, "average") else Ties(self.ties).which
        vars(self).update(metric=metric, weight=weight, value=value, mask=mask, ties=ties)

    def to_dict(self) -> dict[str, Any]:
        """The head as plain data, exactly."""
        known = {name: to_plain(part) for name, part in vars(self).items() if part is not None}
        return {"metric": None} | known


def to_plain(part: Any) -> Any:
    """A part of a layer as plain data, exactly: its numbers are texts."""
    if isinstance(part, np.ndarray):
        part = part.tolist()
    if isinstance(part, list | tuple):
        return [to_plain(each) for each in part]
    if isinstance(part, Attention):
        return plain_attention(part)
    if isinstance(part, Head | FeedForward):
        return part.to_dict()
    return part if isinstance(part, bool | str) else str(Fraction(part))


@dataclass(frozen=True, eq=False)
class FeedForward:
    """A feed-forward block with a residual connection: ``z + W2 relu(W1 z + b1) + b2``.

    Parameters
    ----------
    inner : array_like of shape (m, d)
        The weights W1 of the m hidden units.
    inner_bias : array_like of shape (m,) or None
        Their biases b1; None for zeros.
    outer : array_like of shape (d, m)
        The weights W2 of the coordinates.
    outer_bias : array_like of shape (d,), optional
        Their biases b2; 0 by default.

    Examples
    --------
    >>> from hardmax import Dynamics, step
    >>> block = FeedForward([[1, 0]], [-1], [[0], [2]], [0, "1/2"])
    >>> step([["3", "0"]], Dynamics(1, feed_forward=block)).tolist()
    [[Fraction(3, 1), Fraction(9, 2)]]
    """

    inner: Any
    """The weights of the hidden units, (m, d), in Fractions."""
    inner_bias: Any
    """Their biases, (m,)."""
    outer: Any
    """The weights of the coordinates, (d, m)."""
    outer_bias: Any = None
    """Their biases, (d,)."""

    def __post_init__(self) -> None:
        inner, outer = read_fractions(self.inner, "inner"), read_fractions(self.outer, "outer")
        if outer.shape != inner.shape[::-1]:
            shapes = "{} by {}, and `outer` {} by {}".format(*inner.shape, *outer.shape)
            wish = "must have as many rows as `outer` has columns, and the reverse"
            raise InputError(f"`inner` {wish}: it is {shapes}.")
        hidden, coordinates = inner.shape
        vars(self).update(
            inner=inner,
            inner_bias=_read_bias(self.inner_bias, "inner_bias", hidden),
            outer=outer,
            outer_bias=_read_bias(self.outer_bias, "outer_bias", coordinates),
        )

    def __call__(self, tokens: np.ndarray) -> np.ndarray:
        """Tokens (n, d), in Fractions, after the block."""
        return feed(tokens, *self.parts)

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """W1, b1, W2 and b2."""
        return self.inner, self.inner_bias, self.outer, self.outer_bias

    def to_dict(self) -> dict[str, Any]:
        """The block as plain data, exactly."""
        return {name: to_plain(table) for name, table in vars(self).items()}


def feed(
    tokens: np.ndarray,
    inner: np.ndarray,
    inner_bias: np.ndarray,
    outer: np.ndarray,
    outer_bias: np.ndarray,
) -> np.ndarray:
    """z + W2 relu(W1 z + b1) + b2 of tokens (n, d), in rationals of any kind."""
    hidden = tokens @ inner.T + inner_bias
    return tokens + np.where(hidden > 0, hidden, 0) @ outer.T + outer_bias


def _read_bias(bias: Any, name: str, size: int) -> np.ndarray:
    """A list of this many numbers; zeros by default."""
    rows = read_fractions([[0] * size if bias is None else bias], name)
    if rows.shape[1] != size:
        raise InputError(
            f"`{name}` must have {size} numbers, one for each row of its weights, "
            f"not {rows.shape[1]}.",
        )
    return rows[0]


def read_feed_forward(block: Any) -> FeedForward:
    """A feed-forward block, or what `Dynamics.to_dict` wrote of one."""
    if isinstance(block, FeedForward):
        return block
    if isinstance(block, dict):
        with suppress(TypeError):  # other parts than its own
            return FeedForward(**block)
    wish = "FeedForward(inner, inner_bias, outer, outer_bias)"
    raise InputError(f"`feed_forward` must be {wish}, not {shorten(block)}.")


def read_normalise(normalise: Any) -> str:
    """ "sphere", "layer" or "plain"."""
    return check_choice(normalise, ("sphere", "layer", "plain"), "`normalise`", also=" or None")


def read_heads(heads: Any) -> tuple[Head, ...]:
    """Heads, or what `Dynamics.to_dict` wrote of them."""
    if isinstance(heads, list | tuple) and heads:
        read = tuple(Head(**head) if isinstance(head, dict) else head for head in heads)
        if all(isinstance(head, Head) for head in read):
            return read
    raise InputError(
        f"`heads` must be a list of Head(metric, weight, value, …), not {shorten(heads)}.",
    )


def read_step(alpha: Any, name: str = "`alpha`") -> Fraction:
    """A step size, positive."""
    step = read_number(alpha, name)
    if step <= 0:
        raise InputError(f"{name} must be positive, not {shorten(alpha)}. Try 0.5 or '1/2'.")
    return step


def read_alpha(alpha: Any) -> Fraction | tuple[Fraction, ...]:
    """One step size for all layers, or one for each of the first layers ("2,1,1/2"), of which the
    last one stays."""
    if isinstance(alpha, str) and "," in alpha:
        alpha = alpha.split(",")
    if not (isinstance(alpha, list | tuple) or (isinstance(alpha, np.ndarray) and alpha.ndim == 1)):
        return read_step(alpha)
    if not len(alpha):
        raise InputError("`alpha` must have at least one step.")
    steps = [read_step(each, f"`alpha` (layer {layer})") for layer, each in enumerate(alpha)]
    while len(steps) > 1 and steps[-2] == steps[-1]:
        steps.pop()
    return tuple(steps) if len(steps) > 1 else steps[0]


def split_rows(matrix: Any) -> Any:
    """The rows of a matrix that was typed as "2,1;1,1"; any other as it came."""
    if not isinstance(matrix, str):
        return matrix
    return [row.split(",") for row in matrix.strip(" ;").split(";")]


def read_square(matrix: Any, name: str = "metric") -> np.ndarray:
    """A square table of numbers, also typed as "2,1;1,1", read-only, in which -0.0 becomes 0.0."""
    table = read_table(split_rows(matrix), f"`{name}`") + 0
    rows, columns = table.shape
    if rows != columns:
        raise InputError(f"`{name}` must be square, not {rows} by {columns}.")
    table.flags.writeable = False
    return table


def read_fractions(matrix: Any, name: str) -> np.ndarray:
    """A table of numbers, also typed as "2,1;1,1", in Fractions."""
    return to_fractions(read_table(split_rows(matrix), f"`{name}`") + 0, f"`{name}`")


def read_value(matrix: Any) -> np.ndarray:
    """A value matrix in Fractions."""
    return to_fractions(read_square(matrix, "value"), "`value`")


def read_mask(mask: Any) -> np.ndarray | str:
    """ "causal", "strict", or a boolean table (n, n) in which every token has something to attend
    to."""
    if isinstance(mask, str) and mask in ("causal", "strict"):
        return mask
    table_wish = "a square table of booleans (numpy.tri(n, dtype=bool), a file of 0 and 1)"
    wish = f"'causal', 'strict' or {table_wish}"
    try:
        table = np.array(mask)
    except Exception:  # each library has its own errors for what it cannot do
        table = np.empty(0)
    if table.ndim != 2 or len({*table.shape}) != 1 or table.dtype != bool:
        raise InputError(f"`mask` must be {wish}, not {shorten(mask)}.")
    if not table.any(axis=1).all():
        token = int(np.flatnonzero(~table.any(axis=1))[0])
        raise InputError(f"`mask` leaves token {token} nothing to attend to.")
    table.flags.writeable = False
    return table


def is_strict(mask: Any) -> bool:
    """Whether tokens attend to earlier ones only."""
    return isinstance(mask, str) and mask == "strict"


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
    return np.array([fractions_of(row) for row in found])
