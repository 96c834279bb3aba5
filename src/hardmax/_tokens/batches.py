"""Tokens at the door: one cloud or many, read exactly, and results returned in the form in which
the tokens came.

A cloud is a table `(n, d)`; a batch is a list of clouds, an array `(B, n, d)` or a `Clouds`.
Numbers become float64 where it stores all of them exactly, else Fractions: numpy rounds where types
meet, and beside a float the integer 2^53 + 1 becomes 2^53, so that two tokens become one. Nothing
behind the door checks again."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, normalize_index, shorten
from hardmax._tokens.columns import read_frame
from hardmax._tokens.rationals import Number, as_array, plain, to_fractions
from hardmax._tokens.tensors import TensorKind, concatenate, is_tensor, to_float64

_NUMBERS: set[type] = {float, int, bool}
_PLAIN = _NUMBERS | {str, Decimal, Fraction}
"""Types that `plain` leaves as they are."""


def read_table(values: Any, name: str) -> np.ndarray:
    """A table `(n, d)` of finite numbers; `name` is for errors."""
    array = as_array(values, name)
    if array.ndim and len(array) == 0:
        raise InputError(f"{name} is empty: a cloud needs at least one token.")
    if array.ndim != 2:
        came = f"of shape {shorten(array.shape)}" if array.ndim else shorten(values)
        message = f"{name} must be a table of shape (n, d), not {came}."
        if array.ndim == 1:
            message += " Are there rows of different lengths? Tokens on a line have shape (n, 1)."
        raise InputError(message)
    if array.shape[1] == 0:
        raise InputError(f"{name} has tokens without coordinates: d must be at least 1.")
    floats = _floats(array, name)
    table = np.ascontiguousarray(to_fractions(array, name) if floats is None else floats)
    if table.dtype != object and not np.isfinite(table).all():
        row = int(np.argmin(np.isfinite(table).all(axis=1)))
        token = shorten(table[row].tolist())
        raise InputError(f"{name} must be finite: token {row} is {token}. Remove or replace it.")
    return table


def float_array(values: Any, name: str, dtype: Any = np.float64) -> np.ndarray:
    """Real numbers in an array of any shape, rounded to floats; they may be nan or infinite."""
    array = as_array(values, name)
    floats = _floats(array, name)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(
            to_fractions(array, name) if floats is None else floats, dtype=dtype
        )


def _floats(array: np.ndarray, name: str) -> np.ndarray | None:
    """The numbers as float64; None if some are neither floats nor integers, or would be rounded."""
    kind = array.dtype.kind
    if array.dtype == np.float64:
        return array
    if kind not in "biufOU":
        raise InputError(
            f"{name} must hold real numbers, not {array.dtype}. Convert it to float64 first."
        )
    entries = array.ravel().tolist() if kind in "OU" or array.dtype.itemsize > 8 else []
    if not set(map(type, entries)) <= _PLAIN:
        entries = list(map(plain, entries))
    if not set(map(type, entries)) <= _NUMBERS:
        return None
    try:
        floats = np.array(entries or array, dtype=float).reshape(array.shape)
    except OverflowError:  # an integer beyond the largest float
        return None
    if kind not in "iuO" or not np.isfinite(floats).all():
        return floats
    if kind != "O" and np.abs(floats).max(initial=0) < 2**53:
        return floats
    # Python compares integers with floats as they are; numpy would round them first.
    numbers = entries or array.ravel().tolist()
    return floats if floats.ravel().tolist() == numbers else None


class Layout(Enum):
    """One cloud, or how several were put together."""

    CLOUD = auto()
    LIST = auto()
    STACK = auto()
    RAGGED = auto()


@dataclass(frozen=True)
class Container:
    """The form in which tokens came, and in which results are returned."""

    layout: Layout
    tensors: TensorKind | None = None

    @property
    def is_single(self) -> bool:
        return self.layout is Layout.CLOUD


class Clouds:
    """Many clouds of different sizes in one table.

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        The tokens of all clouds; a tensor stays one.
    offsets : array_like of int
        Cloud b is ``tokens[offsets[b]:offsets[b + 1]]``.
    multiplicities : array_like of int, optional
        How often each token counts: once, if not given.

    Examples
    --------
    >>> Clouds([[1.0], [2.0], [3.0]], offsets=[0, 1, 3])[1].tolist()
    [[2.0], [3.0]]
    """

    def __init__(self, tokens: Any, offsets: Any, multiplicities: Any = None) -> None:
        is_table = is_tensor(tokens) and tokens.ndim == 2
        if not is_table or to_float64(tokens, tokens.device) is None:
            tokens = read_table(tokens, "`tokens`")
        offsets = whole_numbers(offsets, "`offsets`")
        ends = offsets[[0, -1]].tolist() if offsets.ndim == 1 and len(offsets) else None
        if ends != [0, len(tokens)] or (np.diff(offsets) <= 0).any():
            wish = f"run from 0 to the number of tokens ({len(tokens)}), without empty clouds"
            raise InputError(f"`offsets` must {wish}, not {shorten(offsets.tolist())}.")
        self.tokens, self.offsets = tokens, offsets
        self.multiplicities = None
        if multiplicities is not None:
            counts = whole_numbers(multiplicities, "`multiplicities`")
            if counts.shape != (len(tokens),) or (counts < 1).any():
                wish = f"{len(tokens)} whole numbers from 1 up"
                raise InputError(
                    f"`multiplicities` must be {wish}, not {shorten(counts.tolist())}."
                )
            # Means are taken in floats as well, which count one by one to 2^53; int64 may overflow.
            if np.add.reduceat(counts.astype(object), offsets[:-1]).max() > 2**53:
                problem = "`multiplicities` of a cloud must add up to at most 2^53"
                raise InputError(f"{problem}. Divide them by a common factor.")
            self.multiplicities = counts

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"Clouds({pluralize(len(self), 'cloud')}, {pluralize(len(self.tokens), 'token')})"

    def __getitem__(self, cloud: int) -> Any:
        index = normalize_index(cloud, len(self), "`cloud`")
        return self.tokens[self.offsets[index] : self.offsets[index + 1]]


@dataclass(frozen=True, eq=False)
class Cloud:
    """The checked tokens of one cloud: float64, or an object array of Fractions."""

    tokens: np.ndarray
    multiplicities: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class PackedClouds(Sequence[Cloud]):
    """Checked clouds in one table: a copy, since the caller's array may change while a run still
    reads it."""

    tokens: np.ndarray
    offsets: np.ndarray
    multiplicities: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Cloud:  # pyright: ignore[reportIncompatibleMethodOverride]
        index = range(len(self))[index]
        rows = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        counts = None if self.multiplicities is None else self.multiplicities[rows]
        return Cloud(self.tokens[rows], counts)


def read_one(tokens: Any) -> Cloud:
    """The one cloud in `tokens`, checked."""
    clouds, form = read_batch(tokens)
    if not form.is_single:
        raise InputError("`tokens` must be one cloud of shape (n, d), not a batch.")
    return clouds[0]


def read_batch(tokens: Any) -> tuple[Sequence[Cloud], Container]:
    """The clouds in `tokens`, checked, and the form they came in."""
    tokens, kind = read_frame(tokens), kind_of(tokens)
    if isinstance(tokens, Clouds):
        table = np.array(read_table(tokens.tokens, "`tokens`"))
        packed = PackedClouds(table, tokens.offsets, tokens.multiplicities)
        return packed, Container(Layout.RAGGED, kind)
    is_list = isinstance(tokens, list | tuple)
    clouds = tokens if is_list else as_array(tokens, "`tokens`")
    axes = depth(clouds)
    if axes < 3 or (axes > 3 and not is_list):
        return [Cloud(read_table(clouds, "`tokens`"))], Container(Layout.CLOUD, kind)
    return _read_clouds(clouds), Container(Layout.LIST if is_list else Layout.STACK, kind)


def _read_clouds(clouds: Any) -> Sequence[Cloud]:
    if len(clouds) == 0:
        raise InputError("`tokens` is empty: a batch needs at least one cloud.")
    if all(map(_is_plain, clouds)) and len({cloud.shape[1] for cloud in clouds}) == 1:
        together = np.concatenate(clouds)
        if np.isfinite(together).all():
            return PackedClouds(together, np.cumsum([0, *map(len, clouds)]))
    tables = [read_table(cloud, f"`tokens` (cloud {b})") for b, cloud in enumerate(clouds)]
    dimension = tables[0].shape[1]
    for b, table in enumerate(tables):
        if table.shape[1] != dimension:
            came = f"cloud 0 has {dimension}, cloud {b} has {table.shape[1]}"
            raise InputError(f"`tokens`: all clouds must have one dimension; {came}.")
    if any(table.dtype == object for table in tables):
        return list(map(Cloud, tables))
    return PackedClouds(np.concatenate(tables), np.cumsum([0, *map(len, tables)]))


def _is_plain(cloud: Any) -> bool:
    """Whether a cloud is a table of floats already."""
    is_float = type(cloud) is np.ndarray and cloud.dtype == np.float64
    return is_float and cloud.ndim == 2 and cloud.size > 0


def kind_of(tokens: Any) -> TensorKind | None:
    """The kind of tensors in which tokens came, if they did."""
    return TensorKind.of(tokens.tokens if isinstance(tokens, Clouds) else tokens)


def restore(form: Container, clouds: Sequence[Any], multiplicities: np.ndarray | None) -> Any:
    """Tables, one for each cloud, arrays or tensors, in the form in which the tokens came."""
    return restore_table(
        form, concatenate(clouds), np.cumsum([0, *map(len, clouds)]), multiplicities
    )


def restore_table(
    form: Container, table: Any, offsets: np.ndarray, multiplicities: np.ndarray | None
) -> Any:
    """A table of all tokens, an array or a tensor, in the form in which they came."""
    table = table if form.tensors is None else form.tensors.tensor(table)
    match form.layout:
        case Layout.CLOUD:
            return table
        case Layout.LIST:
            return [table[start:end] for start, end in pairwise(offsets.tolist())]
        case Layout.STACK:
            return table.reshape(len(offsets) - 1, -1, table.shape[1])
        case Layout.RAGGED:
            return Clouds(table, offsets, multiplicities)


def whole_numbers(values: Any, name: str) -> np.ndarray:
    """An int64 array of integers; True and 2.0 are refused."""
    array = as_array(values, name)
    are_whole = array.dtype.kind in "iu"
    if array.dtype.kind == "O":
        are_whole = all(type(plain(entry)) is int for entry in array.ravel().tolist())
    extremes = [int(array.max()), -int(array.min())] if are_whole and array.size else []
    if not are_whole or max(extremes, default=0) >= 2**63:
        raise InputError(f"{name} must be whole numbers below 2^63, not {shorten(values)}.")
    return array.astype(int)


def depth(values: Any, at_most: int = 4) -> int:
    """How many levels of lists and axes of arrays there are, looking at the first item of each."""
    if isinstance(values, list | tuple):
        return 1 + (depth(values[0], at_most - 1) if values and at_most else 0)
    return values.ndim if isinstance(getattr(values, "ndim", None), int) else 0


# What type checkers know of one cloud and of many. An array whose number of axes they do not know
# counts as one cloud. Lists and arrays are apart: in one union, pyright finds no overload.
CloudList = Sequence[Sequence[Number]]
CloudArray = np.ndarray[tuple[int, int], Any]
BatchList = Clouds | Sequence[Sequence[Sequence[Number]]]
BatchArray = np.ndarray[tuple[int, int, int], Any] | Sequence[np.ndarray[Any, Any]]
