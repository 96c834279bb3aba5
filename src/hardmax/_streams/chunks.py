"""Sources of tokens in chunks: memory maps, Parquet, Zarr and Dask arrays."""

import glob
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._common.columns import open_parquet
from hardmax._common.format import pluralize
from hardmax._common.validation import (
    InputError,
    Progress,
    check_numeric,
    check_path,
    check_progress,
    require_extra,
    shorten,
)
from hardmax._kernels.parallel import limit_threads
from hardmax._tokens.columns import ColumnChoice, choose_columns, read_frame, refuse_row_numbers
from hardmax.io import READ_WHOLE

COORDINATES = 2**20  # of a chunk, where we choose its size
# of a dask array, or more on a large cluster, are examined before their results are put together
_BLOCKS = 64
_ANSWERED = 2**24  # coordinates of blocks whose large results are in this process at once
_LOOKED_AT = 1000  # rows of a file, to see whether a column numbers them
_LOST = (
    "The scheduler of Dask cannot be reached: start it again, connect a new Client and repeat the "
    "call"
)


def is_stream(tokens: Any) -> bool:
    """Whether tokens are read chunk by chunk: a memory map, Parquet files, a dataset of pyarrow, an
    array of Zarr or Dask."""
    if isinstance(tokens, np.memmap):
        return tokens.ndim == 2
    if isinstance(tokens, str | Path):
        return Path(tokens).suffix.lower() not in READ_WHOLE
    return _library(tokens) in ("zarr", "dask", "pyarrow")


def _library(tokens: Any) -> str:
    name = type(tokens).__module__
    return "" if name.startswith("pyarrow") and "dataset" not in name else name.partition(".")[0]


@dataclass
class LocalChunks:
    """Chunks that this process reads one after the other. Counts, if given, are for `progress`."""

    dimension: int
    read: Callable[[], Iterator[Any]]
    count: int
    progress: Progress | None = None

    def map(
        self, function: Callable[..., Any], *arguments: Any, is_large: bool = False
    ) -> Iterator[Any]:
        """What a function returns for each piece of a chunk; it takes the tokens, the row of the
        first, and the arguments. Of large results, few are in memory together."""
        first = 0
        for chunk in self.read():
            table = read_chunk(chunk, first)
            yield from _on_pieces(table, first, function, arguments)
            first += len(table)
            if self.progress is not None:
                self.progress(first, self.count)


def _on_pieces(
    table: np.ndarray, first: int, function: Any, arguments: tuple[Any, ...]
) -> Iterator[Any]:
    step = max(1, COORDINATES // table.shape[1])
    for start in range(0, len(table), step):
        yield function(table[start : start + step], first + start, *arguments)


@dataclass
class DaskChunks:
    """Blocks of a dask array, each examined where it is."""

    array: Any
    progress: Progress | None = None

    def __post_init__(self) -> None:
        array = self.array
        self.at_once = max(_BLOCKS, 2 * _check_cluster())
        if np.isnan(array.shape).any():
            with _explained(array):
                array = _checked(array).compute_chunk_sizes()
        _check_shape(array.shape)
        # Put together, blocks would lose their masks.
        self.array = _checked(array).rechunk({1: -1}) if array.numblocks[1] > 1 else array
        self.dimension, self.sizes = array.shape[1], self.array.chunks[0]
        self.firsts = np.cumsum([0, *self.sizes]).tolist()

    def _lazily(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
        """The results for the pieces of each block, not computed."""
        from dask import delayed

        shared = delayed(arguments, traverse=False)
        spans = zip(self.firsts, self.firsts[1:], strict=False)
        return [
            delayed(_on_block)(block, (span, (0, self.dimension)), function, shared)
            for block, span in zip(self.array.to_delayed().ravel(), spans, strict=True)
        ]

    def map(
        self, function: Callable[..., Any], *arguments: Any, is_large: bool = False
    ) -> Iterator[Any]:
        """As that of `LocalChunks`."""
        import dask

        blocks, at_once = self._lazily(function, arguments), self.at_once
        if is_large:
            at_once = min(at_once, max(1, _ANSWERED // (max(self.sizes) * self.dimension)))
        for start in range(0, len(blocks), at_once):
            batch = blocks[start : start + at_once]
            with _explained(self.array), warnings.catch_warnings():
                # The tokens that others may attend to go out with each block.
                warnings.filterwarnings("ignore", "Sending large graph")
                done = dask.compute(*batch)
            for pieces in done:
                yield from pieces
            if self.progress is not None:
                self.progress(self.firsts[start + len(batch)], self.firsts[-1])

    def arrays(
        self, example: dict[str, Any], function: Callable[..., Any], *arguments: Any
    ) -> dict[str, Any]:
        """The columns that `map` yields as dask arrays, not computed; an example of them says how
        they look."""
        import dask.array as da
        from dask import delayed

        answers, arrays = self._lazily(function, arguments), {}
        for name, column in example.items():
            parts = []
            for answer, size in zip(answers, self.sizes, strict=True):
                shape = (size, *column.shape[1:])
                part = delayed(_join)(answer, name, column[:0])
                parts.append(da.from_delayed(part, shape, column.dtype))
            arrays[name] = da.concatenate(parts)
        return arrays


def _join(pieces: list[dict[str, np.ndarray]], name: str, empty: np.ndarray) -> np.ndarray:
    return np.concatenate([empty, *(piece[name] for piece in pieces)])


@contextmanager
def _explained(array: Any) -> Iterator[None]:
    """Errors of a cluster that computes blocks of an array, in one line."""
    try:
        yield
    except CancelledError:
        raise RuntimeError(f"{_LOST}.") from None
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # without a cluster, distributed may be missing
            raise
        raise _out_of_memory(array, *error.args) from None


def _out_of_memory(array: Any, task: Any, _: Any, allowed: int) -> InputError:
    what, way_out = f"a block (of up to {shorten(array.chunksize)})", "Make blocks smaller"
    if str(task).startswith("original-"):  # so `da.from_array` names what is not in memory
        what, way_out = "the whole cloud", "Open it with `da.from_zarr` or `da.from_npy_stack`"
    died = f"{pluralize(allowed + 1, 'worker')} of Dask died, one after the other, over {what}"
    reason = "probably for lack of memory"
    return InputError(f"`tokens`: {died}, {reason}. {way_out}, or give workers more memory.")


def _check_cluster() -> int:
    """The number of threads of Dask's cluster, 0 if there is none. One on which the package is
    missing or another is refused: workers would die of our tasks, one after the other, and Dask
    wait for new ones for ever."""
    if "distributed" not in sys.modules:
        return 0
    from distributed import get_client

    try:
        client: Any = get_client()
        versions, threads = client.get_versions(packages=["hardmax"]), client.nthreads()
    except ValueError:  # no cluster: Dask computes in this process
        return 0
    except OSError as error:
        raise RuntimeError(f"{_LOST} ({error}).") from None
    here = versions["client"]["packages"]["hardmax"]
    for name, process in {"scheduler": versions["scheduler"], **versions["workers"]}.items():
        version = process["packages"]["hardmax"]
        if version != here:
            has = "does not have hardmax" if version is None else f"has hardmax {version}"
            way_out = "Install the same version everywhere"
            raise RuntimeError(f"Dask: {name} {has}, but this process has {here}. {way_out}.")
    return sum(threads.values())


def _checked(array: Any) -> Any:
    def check(block: Any, block_info: Any) -> np.ndarray:
        return _check_block(block, block_info[0]["array-location"])

    return array.map_blocks(check, meta=np.empty((0, 0), array.dtype))


def _check_block(block: Any, span: Any) -> np.ndarray:
    """A block without a mask and of the shape that its array declares, which numbers the tokens."""
    check_numeric(block, "`tokens`")
    table, declared = np.asarray(block), tuple(end - start for start, end in span)
    # A size that is not declared is nan, from which none differs by more than 0.
    if table.ndim != 2 or (np.abs(np.subtract(table.shape, declared)) > 0).any():
        wish = f"a block of Dask must have the declared shape {declared}, not {table.shape}"
        raise InputError(f"`tokens`: {wish}. Give `map_blocks` or `from_delayed` true shapes.")
    return table


def _on_block(block: Any, span: Any, function: Any, shared: tuple[Any, ...]) -> list[Any]:
    first = span[0][0]
    table = read_chunk(_check_block(block, span), first)
    with limit_threads(1):  # Dask has a block for each of its threads
        return list(_on_pieces(table, first, function, shared))


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
            raise InputError(
                f"`tokens` must be floats or integers of up to 8 bytes, not {column.dtype}."
            )
        np.add(column, 0.0, out=table[:, axis])  # -0.0 becomes 0.0
        if column.dtype.kind in "iu" and (np.abs(table[:, axis]) >= 2.0**53).any():
            raise InputError(
                "`tokens` must be integers below 2^53: float64 does not store all larger ones."
            )
    if not np.isfinite(table).all():
        row = int(np.argmin(np.isfinite(table).all(axis=1)))
        raise InputError(
            f"`tokens` must be finite: token {first + row:,} is {shorten(table[row].tolist())}."
        )
    return table


def open_chunks(
    tokens: Any, progress: Progress | None, columns: ColumnChoice = None
) -> LocalChunks | DaskChunks:
    """The chunks of what `is_stream` recognizes."""
    check_progress(progress)
    library = _library(tokens)
    if isinstance(tokens, str | Path) or library == "pyarrow":
        return _open_dataset(tokens, progress, columns)
    if library == "dask" and "array" not in type(tokens).__module__:
        message = f"`tokens` must be a Dask array, not a {type(tokens).__name__} of Dask"
        raise InputError(f"{message}: a DataFrame has `.to_dask_array()`.")
    read_frame(tokens, columns)  # arrays have no columns to choose
    shape = _check_shape(tokens.shape)
    if library == "dask":
        return DaskChunks(tokens, progress)
    count, dimension = shape
    step = max(1, COORDINATES // dimension)
    if library == "zarr":
        step = max(1, step // tokens.chunks[0]) * tokens.chunks[0]

    def read() -> Iterator[Any]:
        return (tokens[start : start + step] for start in range(0, count, step))

    return LocalChunks(dimension, read, count, progress)


def _check_shape(shape: Any) -> Any:
    if len(shape) == 2 and all(shape):
        return shape
    wish = "a table of shape (n, d) that is not empty"
    raise InputError(f"`tokens` must be {wish}, not of shape {shorten(shape)}.")


def _open_dataset(tokens: Any, progress: Progress | None, columns: ColumnChoice) -> LocalChunks:
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
        raise InputError(
            f"{name} cannot be read as Parquet: {shorten(str(error), 100)}. Save it again."
        ) from None
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
        first = next(batch for batch in tokens.to_batches(**options) if len(batch))
        begin = [column.to_pylist() for column in first.slice(0, _LOOKED_AT).columns]
        refuse_row_numbers(names, begin, name)
    return LocalChunks(len(chosen), lambda: tokens.to_batches(**options), count, progress)
