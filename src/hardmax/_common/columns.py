"""Results as tables of pandas and Arrow, all made of the same columns."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.files import write_whole
from hardmax._common.validation import require_extra

if TYPE_CHECKING:
    import pandas
    import pyarrow
    import pyarrow.dataset

# By name: arrays, of which masked ones have missing values, or lists of lists.
Columns = dict[str, Any]


class Tabular:
    """What results that are tables share."""

    def _columns(self) -> Columns:
        raise NotImplementedError

    def to_pandas(self) -> "pandas.DataFrame":
        """Make a pandas table of the rows described above (extra `tables`)."""
        require_extra("`to_pandas`", "tables", "pandas")
        import pandas

        return pandas.DataFrame(_unmasked(self._columns(), pandas.arrays.IntegerArray))

    def to_arrow(self) -> "pyarrow.Table":
        """Make an Arrow table of the rows described above (extra `tables`); polars and others read
        it."""
        require_extra("`to_arrow`", "tables", "pyarrow")
        import pyarrow as pa

        return pa.table(_unmasked(self._columns(), pa.array))


def _unmasked(columns: Columns, make: Any) -> Columns:
    """The columns, those with missing values made into what a library has for them."""
    made = dict(columns)
    for name, column in columns.items():
        if np.ma.isMA(column):
            made[name] = make(column.data, mask=np.ma.getmaskarray(column))
    return made


def stacked(tables: Sequence[Columns]) -> Columns:
    """Tables of clouds one below the other, with the number of the cloud before them."""
    rows = [len(next(iter(table.values()))) for table in tables]
    columns: Columns = {"cloud": np.repeat(np.arange(len(tables)), rows)}
    for name, first in tables[0].items():
        parts = [table[name] for table in tables]
        join = np.ma.concatenate if np.ma.isMA(first) else np.concatenate
        columns[name] = list(chain(*parts)) if isinstance(first, list) else join(parts)
    return columns


def open_parquet(source: Any, **how: Any) -> "pyarrow.dataset.Dataset":
    """Parquet files as a dataset. If it buffered ahead, what was read of a file would stay in
    memory to its end."""
    from pyarrow import dataset

    return dataset.dataset(source, format=dataset.ParquetFileFormat(pre_buffer=False), **how)


def write_parquet(path: Path, table: "pyarrow.Table", **how: Any) -> None:
    """Write an Arrow table to a Parquet file, completely or not at all."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, **how)
    write_whole(path, sink.getvalue())
