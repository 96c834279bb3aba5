"""The one door to pyarrow for tables of texts; without it, the error names the extra that brings it."""

from typing import Any

from hardmax._validation import MissingExtra

try:
    import pyarrow
    import pyarrow.compute
    import pyarrow.csv
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError:
    raise MissingExtra("Scoring tables", "tables") from None

# Most of what these hold is made when they are imported, so that no checker of types knows it.
pa: Any = pyarrow
pc: Any = pyarrow.compute
arrow_csv: Any = pyarrow.csv
ipc: Any = pyarrow.ipc
parquet: Any = pyarrow.parquet

Table = Any  # pyarrow.Table
Array = Any  # pyarrow.Array
Schema = Any  # pyarrow.Schema


def is_text(kind: Any) -> bool:
    """Whether a column of that type holds texts."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def one_array(column: Any) -> Array:
    """A column in one piece."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
