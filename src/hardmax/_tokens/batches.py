"""One cloud or many: arrays, lists, ragged batches.

One table of numbers, read exactly: float64 where it holds every number given, Fractions where it does not.

numpy rounds where kinds of numbers meet: beside a float the whole number 2^53 + 1 becomes 2^53, and two tokens become
one. So a list is looked at entry by entry, and an array by its kind.

One cloud or many: the forms in which tokens come, and give-back of results in the same form.

A cloud is a table `(n, d)`. A batch is a list of clouds, an array `(B, n, d)`, or `Ragged`: all tokens in one table
with offsets. Checks are made here, at the door, of all clouds at once where they fit into one table; nothing behind it
checks again.

What tokens may come as, for type checkers: lists tell whether they hold one cloud or many.

Arrays, tensors and tables do not: the type of an array seldom says how many axes it has, so what comes of one is `Any`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from fractions import Fraction
from itertools import chain
from typing import Any, TypeAlias, overload

import numpy as np

from hardmax._format import pluralize
from hardmax._tokens.rationals import objects_in, plain, to_fractions
from hardmax._tokens.tensors import TensorKind, concatenate, is_plain_table, is_tensor, rows_together, stack, to_numpy
from hardmax._validation import InputError, check_numeric, normalize_index, shorten

# Below this size float64 holds every whole number, and what it rounds does not come out below it.
FIRST_UNSURE_INTEGER = 2**53
LARGEST_FLOAT = int(np.finfo(np.float64).max)
_FLOATS: set[type] = {float, np.float64}
_NUMBERS: set[type] = {*_FLOATS, int, bool}


def read_table(values: Any, name: str) -> np.ndarray:
    """A table `(n, d)` of the numbers given, all finite; `name` is for errors.

    >>> read_table([[2**53, 0.5]], "`tokens`")
    array([[9.00719925e+15, 5.00000000e-01]])
    >>> read_table([[2**53 + 1, 0.5]], "`tokens`")
    array([[Fraction(9007199254740993, 1), Fraction(1, 2)]], dtype=object)
    """
    table = np.ascontiguousarray(exact_table(values, name))
    token = first_not_finite(table)
    if token is not None:
        raise not_finite(name, token, table[token])
    return table


def exact_table(values: Any, name: str) -> np.ndarray:
    """As `read_table`, but floats may be nan or infinite, and lie in memory as they like."""
    array = as_array(values, name)
    if array.ndim != 2:
        is_metric = name.endswith("metric`")
        shape = "(d, d)" if is_metric else "(n, d)"
        hint = "For tokens on a line pass shape (n, 1)." if array.ndim == 1 and not is_metric else ""
        came = f"of shape {shorten(array.shape)}" if array.ndim else shorten(values)
        raise InputError(f"{name} must be a table of shape {shape}, not {came}. {hint}".rstrip())
    if array.shape[0] == 0:
        raise InputError(f"{name} is empty: a cloud needs at least one token.")
    if array.shape[1] == 0:
        raise InputError(f"{name} has tokens without coordinates: d must be at least 1.")
    floats = _floats_of_array(array, name)
    return _shown_as_floats(to_fractions(array, name), name) if floats is None else floats


def float_array(values: Any, name: str, dtype: Any = np.float64) -> np.ndarray:
    """Real numbers in an array of any shape, rounded to floats; they may be nan or infinite.

    >>> float_array(["1/2", 3], "`bias`", np.float32)
    array([0.5, 3. ], dtype=float32)
    """
    is_empty = isinstance(values, list | tuple) and not values
    array = np.empty(0) if is_empty else as_array(values, name)
    floats = _floats_of_array(array, name)
    if floats is None:
        floats = _shown_as_floats(np.atleast_2d(to_fractions(array, name)), name).reshape(array.shape)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(floats, dtype=dtype).reshape(array.shape)


def first_not_finite(table: np.ndarray) -> int | None:
    """The first row with a nan or an infinity, if there is one."""
    if table.dtype == object or np.isfinite(table).all():
        return None
    return int(np.argmin(np.isfinite(table).all(axis=1)))


def not_finite(name: str, token: int, row: np.ndarray) -> InputError:
    """The error for a row with a nan or an infinity."""
    return InputError(f"{name} must be finite: token {token} is {shorten(row.tolist())}. Remove or mend it.")


def _shown_as_floats(table: np.ndarray, name: str) -> np.ndarray:
    """Rationals are exact at any size, but people are shown floats, which end at 1.8e308."""
    for token, row in enumerate(table):
        if any(abs(value) > LARGEST_FLOAT for value in row):
            raise InputError(f"{name}: token {token} lies beyond 1.8e308, the largest float. Scale the cloud.")
    return table


# ---------------------------------------------------------------- whatever is given, as an array


def as_array(values: Any, name: str) -> np.ndarray:
    """The numbers given as an array of any shape and kind, none of them rounded."""
    if type(values) is np.ndarray:
        return values
    if isinstance(values, list | tuple):
        return _array_of_rows(values, name)
    return to_numpy(values, name) if is_tensor(values) else _array_of_container(values, name)


def _array_of_rows(rows: Sequence[Any], name: str) -> np.ndarray:
    if not rows:
        raise InputError(f"{name} is empty: a cloud needs at least one token.")
    if not set(map(type, rows)) <= {list, tuple}:
        rows = [row if isinstance(row, list | tuple) else _row(row, name) for row in rows]
        _check_lengths(rows, name)
        return _objects(rows, name)
    _check_lengths(rows, name)
    floats = _floats_of_entries(list(chain.from_iterable(rows)))
    return _objects(rows, name) if floats is None else floats.reshape(len(rows), -1)


def _row(row: Any, name: str) -> Any:
    """A row that makes an array of itself; any other as it came."""
    check_numeric(row, name)
    return as_array(row, name) if hasattr(type(row), "__array__") else row


def _check_lengths(rows: Sequence[Any], name: str) -> None:
    lengths = [len(row) if isinstance(row, list | tuple) or getattr(row, "ndim", 0) else None for row in rows]
    for token, length in enumerate(lengths if lengths[0] is not None else ()):
        if length != lengths[0]:
            came = "a single number" if length is None else f"{length} coordinates"
            raise InputError(f"{name}: token {token} has {came}, the tokens before it have {lengths[0]}.")


def _objects(rows: Sequence[Any], name: str) -> np.ndarray:
    """Every entry as it came: told to make objects, numpy does not look for a kind that would suit them all."""
    try:
        return np.asarray(rows, dtype=object)
    except Exception:  # rows of different shapes, or such as fail when they are looked at
        wish = "a table of shape (n, d), not rows of different shapes"
        raise InputError(f"{name} must be {wish}: {shorten(rows)}.") from None


def _array_of_container(values: Any, name: str) -> np.ndarray:
    """What is no list, array or tensor makes an array of itself."""
    check_numeric(values, name)
    try:
        array = np.asarray(values)
        is_mixed = array.ndim == 2 and array.dtype.kind == "f" and not _is_of_one_kind(values)
    except Exception:  # each library has its own names for what it cannot do
        raise InputError(
            f"{name} cannot be read as an array: it is {shorten(type(values))}. Pass a list of rows."
        ) from None
    # A data frame of whole numbers and floats has rounded the whole numbers by now.
    if is_mixed and (np.abs(array[np.isfinite(array)]) >= FIRST_UNSURE_INTEGER).any():
        raise InputError(
            f"{name}: {type(values).__name__} makes floats of columns of different kinds, which leaves out whole "
            "numbers beyond 2^53. Pass an array or a list of rows."
        )
    return array


def _is_of_one_kind(container: Any) -> bool:
    columns = getattr(container, "dtypes", None)
    if isinstance(columns, Iterable):
        return len(set(map(str, columns))) == 1
    return hasattr(container, "dtype")


# ---------------------------------------------------------------- the same numbers as float64, or None


def _floats_of_array(array: np.ndarray, name: str) -> np.ndarray | None:
    """The numbers of an array as float64; None if it does not hold them all, or if some have to be read first."""
    if array.dtype == np.float64:
        return array
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "O":
        floats = _floats_of_entries(array.ravel().tolist())
        return None if floats is None else floats.reshape(array.shape)
    if kind == "U":
        return None
    if kind not in "biuf":
        raise InputError(f"{name} must hold real numbers, not {array.dtype}. Convert it to float64 first.")
    if kind == "f" and size > 8:
        return _floats_of_longer(array)
    floats = array.astype(np.float64, copy=False)
    if kind in "iu" and size == 8 and not _is_sure(floats):
        # Python compares whole numbers with floats as they are; numpy would round them first.
        return floats if floats.ravel().tolist() == array.ravel().tolist() else None
    return floats


def _floats_of_longer(array: np.ndarray) -> np.ndarray | None:
    with np.errstate(over="ignore"):
        floats = array.astype(np.float64)
    return floats if (floats == array).all() else None


def _floats_of_entries(entries: list[Any]) -> np.ndarray | None:
    kinds = set(map(type, entries))
    if not kinds <= _NUMBERS:
        entries = list(map(plain, entries))
        kinds = set(map(type, entries))
    if not kinds <= _NUMBERS:
        return None
    try:
        floats = np.array(entries, dtype=np.float64)
    except OverflowError:  # a whole number beyond the largest float
        return None
    if kinds <= _FLOATS or _is_sure(floats) or not np.isfinite(floats).all():
        return floats
    return floats if floats.tolist() == entries else None


def _is_sure(floats: np.ndarray) -> bool:
    """Whether whole numbers that became these floats cannot have been rounded."""
    return bool(floats.max(initial=0) < FIRST_UNSURE_INTEGER and floats.min(initial=0) > -FIRST_UNSURE_INTEGER)


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
                f"`offsets` must run from 0 to the number of tokens ({len(tokens)}), not {shorten(offsets.tolist())}."
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
        shape = f"{pluralize(tokens, 'token')} in {pluralize(dimension, 'dimension')}"
        return f"Ragged({pluralize(len(self), 'cloud')}, {shape}{more})"

    def __getitem__(self, cloud: int) -> Any:
        return self.tokens[_slice_of(self.offsets, normalize_index(cloud, len(self), "`cloud`"))]


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
        raise InputError(f"`multiplicities` must be {tokens} whole numbers from 1 up, not {shorten(counts.tolist())}.")
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
        raise InputError(f"{name} must be whole numbers, not {shorten(values)}.")
    if array.size and max(int(array.max()), -int(array.min())) >= 2**63:
        raise InputError(f"{name} must be whole numbers below 2^63, not {shorten(values)}.")
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


Number: TypeAlias = int | float | str | Fraction | Decimal
OneCloud: TypeAlias = Sequence[Sequence[Number]]
ManyClouds: TypeAlias = Ragged | Sequence[Sequence[Sequence[Number]]]
