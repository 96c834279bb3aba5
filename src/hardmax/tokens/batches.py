"""One cloud or many: the forms in which tokens come, and give-back of results in the same form.

A cloud is a table `(n, d)`. A batch is a list of clouds, an array `(B, n, d)`, or `Ragged`: all tokens in one table
with offsets. Checks are made here, at the door, of all clouds at once where they fit into one table; nothing behind it
checks again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, overload

import numpy as np

from hardmax.checking import place, short
from hardmax.errors import InputError
from hardmax.tokens.rationals import objects_in, plain
from hardmax.tokens.tables import as_array, exact_table, first_not_finite, not_finite, read_table
from hardmax.tokens.tensors import TensorKind, concatenate, is_plain_table, is_tensor, rows_together, stack
from hardmax.wording import counted

# Means are taken in floats as well, which count no further one by one.
LARGEST_COUNT = 2**53


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


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Ragged:
    """Many clouds in one table: cloud b is `tokens[offsets[b]:offsets[b + 1]]`.

    `multiplicities[t]` says how often token t counts (once, if None): what merging repeated tokens gives. Those of
    a cloud may add up to 2^53.

    >>> Ragged([[1.0], [2.0], [3.0]], offsets=[0, 1, 3])[1].tolist()
    [[2.0], [3.0]]
    """

    tokens: Any  # an array, or the tensor that was given
    offsets: np.ndarray
    multiplicities: np.ndarray | None

    def __init__(self, tokens: Any, offsets: Any, multiplicities: Any = None) -> None:
        tokens = tokens if is_plain_table(tokens) else read_table(tokens, "`tokens`")
        offsets = whole_numbers(offsets, "`offsets`")
        if offsets.ndim != 1 or len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != len(tokens):
            raise InputError(
                f"`offsets` must run from 0 to the number of tokens ({len(tokens)}), not {short(offsets.tolist())}."
            )
        stops = offsets[1:] <= offsets[:-1]
        if stops.any():
            empty = int(np.argmax(stops))
            raise InputError(f"`offsets` must increase: cloud {empty} would be empty. Leave empty clouds out.")
        object.__setattr__(self, "tokens", tokens)
        object.__setattr__(self, "offsets", offsets)
        counts = None if multiplicities is None else _read_multiplicities(multiplicities, offsets)
        object.__setattr__(self, "multiplicities", counts)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        tokens, dimension = self.tokens.shape
        more = "" if self.multiplicities is None else ", with multiplicities"
        shape = f"{counted(tokens, 'token')} in {counted(dimension, 'dimension')}"
        return f"Ragged({counted(len(self), 'cloud')}, {shape}{more})"

    def __getitem__(self, cloud: int) -> Any:
        return self.tokens[_slice_of(self.offsets, place(cloud, len(self), "`cloud`"))]


@dataclass(frozen=True, eq=False)
class Cloud:
    """The checked tokens of one cloud: float64, or an object array of Fractions."""

    tokens: np.ndarray
    multiplicities: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Packed(Sequence[Cloud]):
    """Clouds in one table: cloud b is `tokens[offsets[b]:offsets[b + 1]]`, made when asked for.

    The table is a copy: a run answers from it when the caller's array may long be another.
    """

    tokens: np.ndarray
    offsets: np.ndarray
    multiplicities: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> Cloud: ...
    @overload
    def __getitem__(self, index: slice) -> list[Cloud]: ...
    def __getitem__(self, index: int | slice) -> Cloud | list[Cloud]:
        if isinstance(index, slice):
            return [self[b] for b in range(len(self))[index]]
        there = _slice_of(self.offsets, range(len(self))[index])
        return Cloud(self.tokens[there], None if self.multiplicities is None else self.multiplicities[there])


def read_batch(tokens: Any) -> tuple[Sequence[Cloud], Form]:
    """The clouds in `tokens`, checked, and the form they came in."""
    if isinstance(tokens, Ragged):
        table = read_table(tokens.tokens, "`tokens`") if is_tensor(tokens.tokens) else tokens.tokens.copy()
        return Packed(table, tokens.offsets, tokens.multiplicities), Form(Layout.RAGGED, kind_of(tokens))
    tokens = rows_together(tokens)
    kind = kind_of(tokens)
    if isinstance(tokens, list | tuple):
        if _depth(tokens) < 3:
            return [Cloud(read_table(tokens, "`tokens`"))], Form(Layout.CLOUD)
        return _listed_clouds(tokens), Form(Layout.LIST, kind)
    array = as_array(tokens, "`tokens`")
    if array.ndim != 3:
        return [Cloud(read_table(array, "`tokens`"))], Form(Layout.CLOUD, kind)
    if len(array) == 0:
        raise InputError("`tokens` is empty: a batch needs at least one cloud.")
    # Objects and texts are read one by one anyway, and what is wrong with them is told with the cloud.
    stacked = array.dtype.kind not in "OU" and array.size
    return _stacked_clouds(array) if stacked else _listed_clouds(list(array)), Form(Layout.STACK, kind)


def _stacked_clouds(array: np.ndarray) -> Packed:
    clouds, n, d = array.shape
    table = exact_table(array.reshape(clouds * n, d), "`tokens`")
    return _packed(np.array(table, order="C"), np.arange(0, clouds * n + 1, n))


def _listed_clouds(clouds: Sequence[Any]) -> Sequence[Cloud]:
    tables = [exact_table(cloud, f"`tokens` (cloud {b})") for b, cloud in enumerate(clouds)]
    dimension = tables[0].shape[1]
    for b, table in enumerate(tables):
        if table.shape[1] != dimension:
            raise InputError(
                f"`tokens`: all clouds of a batch must have one dimension; cloud 0 has {dimension}, "
                f"cloud {b} has {table.shape[1]}."
            )
    if any(table.dtype == object for table in tables):
        return [Cloud(read_table(table, f"`tokens` (cloud {b})")) for b, table in enumerate(tables)]
    return _packed(np.concatenate(tables), np.cumsum([0, *map(len, tables)]))


def _packed(table: np.ndarray, offsets: np.ndarray) -> Packed:
    row = first_not_finite(table)
    if row is not None:
        cloud = int(np.searchsorted(offsets, row, side="right")) - 1
        raise not_finite(f"`tokens` (cloud {cloud})", row - int(offsets[cloud]), table[row])
    return Packed(table, offsets)


def kind_of(tokens: Any) -> TensorKind | None:
    """The kind of tensors in which tokens came, if they did."""
    return TensorKind.of(tokens.tokens if isinstance(tokens, Ragged) else tokens)


def restore(form: Form, clouds: Sequence[Any], multiplicities: np.ndarray | None) -> Any:
    """Tables, one for each cloud, arrays or tensors, in the form in which the tokens came; counted, if they came so."""
    match form.layout:
        case Layout.CLOUD:
            return form.given_back(clouds[0])
        case Layout.LIST:
            return [form.given_back(cloud) for cloud in clouds]
        case Layout.STACK:
            return form.given_back(stack(clouds))
        case Layout.RAGGED:
            table = form.given_back(concatenate(clouds))
            return Ragged(table, np.cumsum([0, *map(len, clouds)]), multiplicities)


def _read_multiplicities(values: Any, offsets: np.ndarray) -> np.ndarray:
    counts, tokens = whole_numbers(values, "`multiplicities`"), int(offsets[-1])
    if counts.shape != (tokens,) or (counts < 1).any():
        raise InputError(f"`multiplicities` must be {tokens} whole numbers from 1 up, not {short(counts.tolist())}.")
    if int(counts.max()) * tokens > LARGEST_COUNT:
        for cloud, total in enumerate(np.add.reduceat(counts.astype(object), offsets[:-1])):
            if total > LARGEST_COUNT:
                raise InputError(
                    f"`multiplicities` of cloud {cloud} add up to {total}: floats count to 2^53. Divide them by a "
                    "common factor, which changes nothing."
                )
    return counts


def whole_numbers(values: Any, name: str) -> np.ndarray:
    """An int64 array of numbers that came as whole numbers, which True and 2.0 did not."""
    if isinstance(values, list | tuple):
        array = objects_in(values, name)
        are_whole = all(type(plain(entry)) is int for entry in array.ravel().tolist())
    else:
        array = as_array(values, name)
        are_whole = array.dtype.kind in "iu"
    if not are_whole:
        raise InputError(f"{name} must be whole numbers, not {short(values)}.")
    if array.size and max(int(array.max()), -int(array.min())) >= 2**63:
        raise InputError(f"{name} must be whole numbers below 2^63, not {short(values)}.")
    return array.astype(np.int64)


def _slice_of(offsets: np.ndarray, cloud: int) -> slice:
    return slice(int(offsets[cloud]), int(offsets[cloud + 1]))


def _depth(values: Any) -> int:
    """How many levels of lists and axes of arrays there are, looking at the first item of each; a few, of many."""
    depth = 0
    while isinstance(values, list | tuple) and depth < 4:
        depth += 1
        values = values[0] if values else None
    axes = getattr(values, "ndim", 0) if hasattr(type(values), "__array__") or is_tensor(values) else 0
    return depth + (axes if isinstance(axes, int) else 0)
