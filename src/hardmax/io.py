"""Clouds from files, exactly.

CSV and JSON files are text, so their numbers are the decimals written there: `0.1` is 1/10, not the
nearest binary fraction. npy, npz and Parquet files store floats, which are what they are."""

import csv
import io
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._common.files import ZIP_MAGIC, decode, parse_json, read_arrays, read_bytes, shown_name
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_path, require_extra, shorten
from hardmax._tokens.batches import Clouds, depth, read_table
from hardmax._tokens.columns import (
    ColumnChoice,
    choose_columns,
    leave_out,
    refuse_row_numbers,
)
from hardmax._tokens.rationals import finite_number, fits_float64, parse_decimals

__all__ = ["parse_decimals", "read_cloud"]

Table = np.ndarray  # (n, d), float64 or Fractions

_WISH = "expected a file of tokens, or `-` for standard input"
_COLUMN_NAME = re.compile(r"[\s#]*(?!(?:nan|inf|infinity)\s*$)[^\W\d]", re.IGNORECASE)


def read_cloud(path: str | Path, *, columns: ColumnChoice = None) -> Table | list[Table] | Clouds:
    """Read one cloud or several from a CSV, JSON, npy, npz or Parquet file.

    Parameters
    ----------
    path : str or Path
        The file; its suffix is its format. The string ``-`` is standard input, whose first bytes
        tell the format.
    columns : sequence of str or str, optional
        Columns of a CSV or Parquet file that are the coordinates, ["x", "y"] or "x,y"; those of a
        CSV file without a header are "1", "2", …. By default all of them, but one that numbers the
        rows (`id`, `index`, 0, 1, 2, …) is refused; "all" takes that one, too.

    Returns
    -------
    ndarray, list of ndarray or Clouds
        The tokens: float64 where it stores every number exactly, else Fractions.

    Notes
    -----
    CSV and Parquet have one token per row; CSV may have a header, and semicolons or tabs for
    commas. JSON has a list of rows, or a list of such lists for several clouds. npy has an array
    (n, d) or (B, n, d), npz the same as its only array or as `tokens`, also with `offsets` and
    `multiplicities`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "points.csv")
    ...     _ = path.write_text("x,y\\n0.5,2\\n-1,1e-3\\n")
    ...     read_cloud(path)[1].tolist()
    [Fraction(-1, 1), Fraction(1, 1000)]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "named.csv")
    ...     _ = path.write_text("id,x,y\\nA7,0.5,2\\nB2,-1,1\\n")
    ...     read_cloud(path, columns=["x", "y"])[1].tolist()
    [-1.0, 1.0]
    """
    check_path(path)
    name, data = shown_name(path), read_bytes(path, _WISH)
    suffix = Path(path).suffix.lower()
    if not suffix:
        first = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:4]
        known = {b"\x93NUM": ".npy", ZIP_MAGIC: ".npz", b"PAR1": ".parquet"}
        suffix = known.get(first, ".json" if first[:1] in (b"[", b"{") else ".csv")
    if suffix not in _READERS:
        raise InputError(
            f"{name} has the suffix {suffix!r}: expected one of {', '.join(_READERS)}."
        )
    if columns in (None, "all") or suffix in _NAMED:
        return _READERS[suffix](data, name, columns)
    problem = f"`columns` is for {', '.join(_NAMED)} files, whose columns have names"
    raise InputError(f"{problem}, not for {name}.")


def _read_csv(data: bytes, name: str, columns: ColumnChoice = None) -> Table:
    text = decode(data, name, "save it as UTF-8, or as .npy")
    first = text.lstrip().partition("\n")[0]
    # The semicolon first: where it separates, a comma may be somebody's decimal point.
    delimiter = next((mark for mark in ";\t" if mark in first), ",")
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    try:
        lines = [(reader.line_num, row) for row in reader if len(row) > 1 or "".join(row).strip()]
    except csv.Error as error:
        raise InputError(
            f"{name} line {reader.line_num} is not CSV ({error}): expected numbers."
        ) from None
    header = lines[0][1] if lines else []
    # pandas leaves the name of its index empty.
    has_names = any(header) and all(not cell or _COLUMN_NAME.match(cell) for cell in header)
    if has_names:
        del lines[0]
    if not lines:
        raise InputError(
            f"{name} holds no tokens: expected one per line, its coordinates separated by commas."
        )
    width = len(header)
    for line, row in lines:
        if len(row) != width:
            came = pluralize(len(row), "column")
            raise InputError(f"{name} line {line} has {came}: expected {width} as above.")
    names = [str(number) for number in range(1, width + 1)]
    if has_names:
        names = [cell.strip(" #") for cell in header]
    chosen = choose_columns(names, columns, name)
    if columns is None:
        refuse_row_numbers(names, list(zip(*(row for _, row in lines), strict=True)), name)
    numbers = []
    for line, row in lines:
        for column in chosen:
            where = f"{name} line {line}, column {column + 1}"
            try:
                numbers.append(finite_number(row[column], where))
            except InputError as error:
                rest = [names[other] for other in chosen if other != column]
                if not has_names or not rest:
                    raise
                raise leave_out(str(error), rest) from None
    return _stored(np.array(numbers, dtype=object).reshape(-1, len(chosen)))


def _read_json(data: bytes, name: str, _: ColumnChoice) -> Table | list[Table]:
    document = parse_json(data, name, "expected [[0, 1], [1, 0]]", parse_float=Decimal)
    tokens: Any = document.get("tokens") if isinstance(document, dict) else document
    if depth(tokens) > 2:
        return list(map(_stored, _read_tables(tokens, name)))
    return _stored(read_table(tokens, name))


def _read_tables(clouds: Any, name: str) -> list[Table]:
    return [read_table(cloud, f"{name} (cloud {n})") for n, cloud in enumerate(clouds)]


def _stored(numbers: np.ndarray) -> Table:
    """Exact numbers as float64 where it stores all of them, else as Fractions."""
    kind: Any = float if fits_float64(numbers) else Fraction
    return np.array(list(map(kind, numbers.ravel().tolist()))).reshape(numbers.shape)


def _read_arrays(data: bytes, name: str, _: ColumnChoice) -> Table | Clouds:
    arrays = read_arrays(data, name)
    if len(arrays) != 1 and "tokens" not in arrays:
        raise InputError(
            f"{name} holds the arrays {', '.join(sorted(arrays)) or '(none)'}: expected `tokens`."
        )
    tokens = arrays.get("tokens", next(iter(arrays.values())))
    if tokens.ndim == 3 and tokens.size:
        return np.stack(_read_tables(tokens, name))
    table = read_table(tokens, name)
    if "offsets" not in arrays:
        return table
    return Clouds(table, arrays["offsets"], arrays.get("multiplicities"))


def _read_parquet(data: bytes, name: str, columns: ColumnChoice) -> Table:
    require_extra("Reading Parquet", "tables", "pyarrow")
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.read_table(pyarrow.BufferReader(data))
    except Exception as error:  # a broken file raises whatever its bytes happen to mean
        raise InputError(
            f"{name} cannot be read as Parquet: {shorten(str(error), 100)}. Save it again."
        ) from None
    names = table.column_names
    chosen = choose_columns(names, columns, name)
    lists = [table.column(number).to_pylist() for number in chosen]
    if columns is None:
        refuse_row_numbers(names, lists, name)
    return read_table(list(zip(*lists, strict=True)), name)


_READERS = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".json": _read_json,
    ".npy": _read_arrays,
    ".npz": _read_arrays,
    ".parquet": _read_parquet,
}
_NAMED = (".csv", ".tsv", ".parquet")
WHOLE = {*_READERS} - {".parquet"}  # suffixes of files that are never read in chunks
