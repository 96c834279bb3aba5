"""Sources of tokens in chunks: memory maps, Parquet files and Dask arrays."""

import glob
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._common.columns import open_parquet
from hardmax._common.progress import Reporting
from hardmax._common.validation import (
    InputError,
    check_numeric,
    check_path,
    require_extra,
    shorten,
)
from hardmax._kernels.parallel import limit_threads
from hardmax._tokens.columns import ColumnChoice, choose_columns, refuse_row_numbers
from hardmax.io import WHOLE

COORDINATES = 2**20  # of a chunk, where we choose its size
BLOCKS = 16  # of a dask array whose results are in this process at once
_LOOKED_AT = 1000  # rows of a file, to see whether a column numbers them


@dataclass
class LocalChunks:
    """Chunks that this process reads one after the other."""

    dimension: int
    read: Callable[[], Iterator[Any]]
    count: int

    def map(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """What a function returns for each chunk; it takes the tokens, the row of the first, and
        the arguments."""
        first, report = 0, Reporting("tokens")
        for chunk in self.read():
            table = read_chunk(chunk, first)
            if len(table):
                yield function(table, first, *arguments)
            first += len(table)
            report(first, self.count)


@dataclass
class DaskChunks:
    """Blocks of a dask array, each examined where it is."""

    array: Any

    def __post_init__(self) -> None:
        if np.isnan(self.array.shape).any():
            self.array = self.array.compute_chunk_sizes()
        _check_shape(self.array.shape)
        if self.array.numblocks[1] > 1:
            raise InputError("`tokens`: a token is in several blocks. Use .rechunk({1: -1}).")
        self.dimension, self.sizes = self.array.shape[1], self.array.chunks[0]

    def map(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """As that of `LocalChunks`."""
        import dask

        shared, first, blocks = dask.delayed(arguments, traverse=False), 0, []
        for block, size in zip(self.array.to_delayed().ravel(), self.sizes, strict=True):
            span = first, (size, self.dimension)
            blocks.append(dask.delayed(_on_block)(block, span, function, shared))
            first += size
        report = Reporting("tokens")
        for start in range(0, len(blocks), BLOCKS):
            with warnings.catch_warnings():
                # The tokens that others may attend to go out with each block.
                warnings.filterwarnings("ignore", "Sending large graph")
                done = dask.compute(*blocks[start : start + BLOCKS])
            for pieces in done:
                yield from pieces
            report(sum(self.sizes[: start + BLOCKS]), first)


def _on_block(block: Any, span: Any, function: Any, shared: tuple[Any, ...]) -> list[Any]:
    first, shape = span
    check_numeric(block, "`tokens`")
    if np.shape(block) != shape:  # the declared one numbers the tokens
        found = f"a block of Dask must have the declared shape {shape}, not {np.shape(block)}"
        raise InputError(f"`tokens`: {found}. Give `map_blocks` or `from_delayed` true shapes.")
    table = read_chunk(block, first)
    step = max(1, COORDINATES // table.shape[1])
    with limit_threads(1):  # Dask has a block for each of its threads
        return [
            function(table[start : start + step], first + start, *shared)
            for start in range(0, len(table), step)
        ]


def read_chunk(chunk: Any, first: int) -> np.ndarray:
    """The tokens of a chunk in float64, none of them rounded; `first` is the row of the first
    one."""
    if hasattr(chunk, "columns"):  # a batch of pyarrow
        columns: Any = [column.to_numpy(zero_copy_only=False) for column in chunk.columns]
    else:
        columns = np.asarray(chunk).T
    table = np.empty((len(columns[0]), len(columns)))
    for axis, column in enumerate(columns):
        if column.dtype.kind not in "biuf" or column.dtype.itemsize > 8:
            wish = "floats or integers of up to 8 bytes"
            raise InputError(f"`tokens` must be {wish}, not {column.dtype}.")
        np.add(column, 0.0, out=table[:, axis])  # -0.0 becomes 0.0
        if column.dtype.kind in "iu" and (np.abs(table[:, axis]) >= 2.0**53).any():
            wish = "integers below 2^53: float64 does not store all larger ones"
            raise InputError(f"`tokens` must be {wish}.")
    is_finite = np.isfinite(table).all(axis=1)
    if not is_finite.all():
        row = int(is_finite.argmin())
        found = f"token {first + row:,} is {shorten(table[row].tolist())}"
        raise InputError(f"`tokens` must be finite: {found}.")
    return table


def is_stream(tokens: Any) -> bool:
    """Whether tokens are read chunk by chunk: a memory map, Parquet files, a dataset of pyarrow, a
    Dask array."""
    if isinstance(tokens, np.memmap):
        return tokens.ndim == 2
    if isinstance(tokens, str | Path):
        return Path(tokens).suffix.lower() not in WHOLE
    return type(tokens).__module__.startswith(("dask.array", "pyarrow._dataset"))


def open_chunks(tokens: Any, columns: ColumnChoice) -> LocalChunks | DaskChunks:
    """The chunks of what `is_stream` recognizes."""
    if not isinstance(tokens, np.memmap) and not hasattr(tokens, "numblocks"):
        return _open_dataset(tokens, columns)
    if columns is not None:
        raise InputError("`columns` are chosen from files: an array has none.")
    if not isinstance(tokens, np.memmap):
        return DaskChunks(tokens)
    count, dimension = _check_shape(tokens.shape)
    step = max(1, COORDINATES // dimension)

    def read() -> Iterator[Any]:
        return (tokens[start : start + step] for start in range(0, count, step))

    return LocalChunks(dimension, read, count)


def _check_shape(shape: Any) -> Any:
    if len(shape) == 2 and all(shape):
        return shape
    wish = "a table of shape (n, d) that is not empty"
    raise InputError(f"`tokens` must be {wish}, not of shape {shorten(shape)}.")


def _open_dataset(tokens: Any, columns: ColumnChoice) -> LocalChunks:
    require_extra("Reading Parquet", "tables", "pyarrow")
    name = "`tokens`"
    if isinstance(tokens, str | Path):
        path = str(check_path(tokens, "`tokens`"))
        name = f"`{shorten(path, 80)}`"
        files = sorted(glob.glob(path))  # noqa: PTH207  the path may be absolute
        if not files:
            wish = "a Parquet file, a folder of them or a pattern such as 'points/*.parquet'"
            raise InputError(f"{name} does not exist: expected {wish}.")
        tokens = files[0] if files == [path] else files
    try:
        tokens = open_parquet(tokens) if isinstance(tokens, str | list) else tokens
        count, names = tokens.count_rows(), tokens.schema.names
    except Exception as error:  # whatever the bytes of a file that is not Parquet happen to mean
        problem = f"cannot be read as Parquet: {shorten(str(error), 100)}"
        raise InputError(f"{name} {problem}. Save it again.") from None
    if not count or not names:
        raise InputError(f"{name} is empty: a cloud needs at least one token.")
    chosen = [names[number] for number in choose_columns(names, columns, name)]
    # One batch ahead: by default there are sixteen, and as many files are open.
    options = {
        "columns": chosen,
        "batch_size": max(1, COORDINATES // len(chosen)),
        "batch_readahead": 1,
        "fragment_readahead": 1,
    }
    if columns is None:
        begin = tokens.head(_LOOKED_AT, columns=chosen).columns
        refuse_row_numbers(names, [column.to_pylist() for column in begin], name)
    return LocalChunks(len(chosen), lambda: tokens.to_batches(**options), count)
