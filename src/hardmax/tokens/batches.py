"""One cloud or many: the forms in which tokens come, and give-back of results in the same form.

A cloud is a table `(n, d)`. A batch is a list of clouds, an array `(B, n, d)`, or `Ragged`: all tokens in one table
with offsets. Checks are made here, at the door; nothing behind it checks again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np

from hardmax.errors import InputError
from hardmax.tokens.rationals import short, to_fractions
from hardmax.tokens.tensors import TensorKind, concatenate, is_plain_table, is_tensor, rows_together, stack, to_numpy

LARGEST_EXACT_INTEGER = 2**53
LARGEST_FLOAT = int(np.finfo(np.float64).max)


class Layout(Enum):
    """One cloud, or how many were put together."""

    CLOUD = auto()
    LIST = auto()
    STACK = auto()
    RAGGED = auto()


@dataclass(frozen=True)
class Form:
    """How the tokens came, and so how results go back."""

    layout: Layout
    tensors: TensorKind | None = None

    @property
    def is_single(self) -> bool:
        return self.layout is Layout.CLOUD

    def given_back(self, numbers: Any) -> Any:
        """An array as a tensor of the kind in which the tokens came, if they did."""
        return numbers if self.tensors is None else self.tensors.tensor(numbers)


@dataclass(frozen=True, eq=False, init=False)
class Ragged:
    """Many clouds in one table: cloud b is `tokens[offsets[b]:offsets[b + 1]]`.

    `multiplicities[t]` says how often token t counts (once, if None): what merging repeated tokens gives.

    >>> Ragged([[1.0], [2.0], [3.0]], offsets=[0, 1, 3])[1].tolist()
    [[2.0], [3.0]]
    """

    tokens: Any  # an array, or the tensor that was given
    offsets: np.ndarray
    multiplicities: np.ndarray | None

    def __init__(self, tokens: Any, offsets: Any, multiplicities: Any = None) -> None:
        tokens = tokens if is_plain_table(tokens) else read_table(tokens, "`tokens`")
        offsets = _whole_numbers(offsets, "`offsets`")
        if offsets.ndim != 1 or len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != len(tokens):
            raise InputError(
                f"`offsets` must run from 0 to the number of tokens ({len(tokens)}), not {short(offsets.tolist())}."
            )
        if (np.diff(offsets) <= 0).any():
            empty = int(np.argmax(np.diff(offsets) <= 0))
            raise InputError(f"`offsets` must increase: cloud {empty} would be empty. Leave empty clouds out.")
        object.__setattr__(self, "tokens", tokens)
        object.__setattr__(self, "offsets", offsets)
        counts = None if multiplicities is None else _read_multiplicities(multiplicities, len(tokens))
        object.__setattr__(self, "multiplicities", counts)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, cloud: int) -> Any:
        return self.tokens[self.offsets[cloud] : self.offsets[cloud + 1]]


@dataclass(frozen=True, eq=False)
class Cloud:
    """The checked tokens of one cloud: float64, or an object array of Fractions."""

    tokens: np.ndarray
    multiplicities: np.ndarray | None = None


def read_batch(tokens: Any) -> tuple[list[Cloud], Form]:
    """The clouds in `tokens`, checked, and the form they came in."""
    if isinstance(tokens, Ragged):
        return _ragged_clouds(tokens), Form(Layout.RAGGED, kind_of(tokens))
    tokens = rows_together(tokens)
    kind = kind_of(tokens)
    if not isinstance(tokens, list | tuple):
        tokens = to_numpy(tokens) if is_tensor(tokens) else np.asarray(tokens)
        if tokens.ndim == 3:
            clouds = [Cloud(read_table(cloud, f"`tokens` (cloud {b})")) for b, cloud in enumerate(tokens)]
            return clouds, Form(Layout.STACK, kind)
        return [Cloud(read_table(tokens, "`tokens`"))], Form(Layout.CLOUD, kind)
    if _depth(tokens) < 3:
        return [Cloud(read_table(tokens, "`tokens`"))], Form(Layout.CLOUD)
    clouds = [Cloud(read_table(cloud, f"`tokens` (cloud {b})")) for b, cloud in enumerate(tokens)]
    for b, cloud in enumerate(clouds):
        if cloud.tokens.shape[1] != clouds[0].tokens.shape[1]:
            raise InputError(
                f"`tokens`: all clouds of a batch must have one dimension; cloud 0 has {clouds[0].tokens.shape[1]}, "
                f"cloud {b} has {cloud.tokens.shape[1]}."
            )
    return clouds, Form(Layout.LIST, kind)


def kind_of(tokens: Any) -> TensorKind | None:
    """The kind of tensors in which tokens came, if they did."""
    return TensorKind.of(tokens.tokens if isinstance(tokens, Ragged) else tokens)


def restore(form: Form, clouds: Sequence[Any]) -> Any:
    """Tables, one for each cloud, arrays or tensors, in the form in which the tokens came."""
    match form.layout:
        case Layout.CLOUD:
            return form.given_back(clouds[0])
        case Layout.LIST:
            return [form.given_back(cloud) for cloud in clouds]
        case Layout.STACK:
            return form.given_back(stack(clouds))
        case Layout.RAGGED:
            return Ragged(form.given_back(concatenate(clouds)), np.cumsum([0, *map(len, clouds)]))


def read_table(values: Any, name: str) -> np.ndarray:
    """A float64 table `(n, d)`, or one of Fractions where the entries are rationals, integers beyond 2^53 or texts."""
    values = rows_together(values)
    values = to_numpy(values) if is_tensor(values) else values
    table = values if isinstance(values, np.ndarray) else _rows_to_array(values, name)
    if table.ndim != 2:
        hint = "For tokens on a line pass shape (n, 1)." if table.ndim == 1 else ""
        raise InputError(f"{name} must be a table of shape (n, d), not of shape {table.shape}. {hint}".rstrip())
    if table.shape[0] == 0:
        raise InputError(f"{name} is empty: a cloud needs at least one token.")
    if table.shape[1] == 0:
        raise InputError(f"{name} has tokens without coordinates: d must be at least 1.")
    if table.dtype.kind in "iu" and np.abs(table.astype(object)).max() > LARGEST_EXACT_INTEGER:
        return to_fractions(table, name)
    if table.dtype.kind in "biuf" and table.dtype.itemsize <= 8:
        return _finite_floats(table, name)
    if table.dtype.kind in "OUS":
        return _shown_as_floats(to_fractions(table, name), name)
    raise InputError(f"{name} must hold real numbers, not {table.dtype}. Convert it to float64 first.")


def _finite_floats(table: np.ndarray, name: str) -> np.ndarray:
    floats = np.ascontiguousarray(table, dtype=np.float64)
    if not np.isfinite(floats).all():
        token = int(np.argmin(np.isfinite(floats).all(axis=1)))
        raise InputError(f"{name} must be finite: token {token} is {short(floats[token].tolist())}. Remove or mend it.")
    return floats


def _shown_as_floats(table: np.ndarray, name: str) -> np.ndarray:
    """Rationals are exact at any size, but people are shown floats, which end at 1.8e308."""
    for token, row in enumerate(table):
        if any(abs(value) > LARGEST_FLOAT for value in row):
            raise InputError(f"{name}: token {token} lies beyond 1.8e308, the largest float. Scale the cloud.")
    return table


def _rows_to_array(values: Any, name: str) -> np.ndarray:
    if not isinstance(values, list | tuple):
        return np.asarray(values)
    lengths = [len(row) if isinstance(row, list | tuple | np.ndarray) else None for row in values]
    if lengths and lengths[0] is not None:
        for token, length in enumerate(lengths):
            if length != lengths[0]:
                came = "a single number" if length is None else f"{length} coordinates"
                raise InputError(f"{name}: token {token} has {came}, the tokens before it have {lengths[0]}.")
    if not values:
        raise InputError(f"{name} is empty: a cloud needs at least one token.")
    numbers = np.asarray(values, dtype=object)
    if numbers.ndim != 2:
        return numbers
    plain = all(isinstance(value, float | int | np.floating | np.integer) for value in numbers.flat)
    return np.asarray(values) if plain else numbers


def _ragged_clouds(ragged: Ragged) -> list[Cloud]:
    bounds = list(zip(ragged.offsets[:-1].tolist(), ragged.offsets[1:].tolist(), strict=True))
    counts = ragged.multiplicities
    tokens = read_table(ragged.tokens, "`tokens`") if is_tensor(ragged.tokens) else ragged.tokens
    return [Cloud(tokens[a:b], None if counts is None else counts[a:b]) for a, b in bounds]


def _read_multiplicities(values: Any, tokens: int) -> np.ndarray:
    counts = _whole_numbers(values, "`multiplicities`")
    if counts.shape != (tokens,) or (counts < 1).any():
        raise InputError(f"`multiplicities` must be {tokens} whole numbers from 1 up, not {short(counts.tolist())}.")
    return counts


def _whole_numbers(values: Any, name: str) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must be whole numbers, not {short(values)}.")
    return array.astype(np.int64)


def _depth(values: Any) -> int:
    if isinstance(values, list | tuple):
        return 1 + (_depth(values[0]) if values else 0)
    return int(getattr(values, "ndim", 0))
