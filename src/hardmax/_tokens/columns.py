"""Tables whose columns have names: which of them are coordinates.

A column that numbers the rows would be one more coordinate, the largest of all, and decide every
limit. So it is refused, unless it was chosen."""

import csv
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from numbers import Real
from typing import Any

from hardmax._common.format import truncate
from hardmax._common.validation import InputError, shorten
from hardmax._tokens.rationals import as_array, is_arrow

ColumnChoice = str | Sequence[str] | None
"""Names, in a list or separated by commas; "all", which are not looked at; or None for all."""

# As tables call it, and pandas where a nameless one was read or written.
_ROW_NAME = re.compile(r"(.*[\W_])?id|index|unnamed: 0|", re.IGNORECASE)
_FEWEST = 3  # rows: of fewer, nothing can be told from 0, 1


def choose_columns(names: Sequence[str], columns: Any, shown: str) -> list[int]:
    """The numbers of the columns that were chosen."""
    if columns is None or columns == "all":
        return list(range(len(names)))
    wanted = next(csv.reader([columns]), []) if isinstance(columns, str) else columns
    known = [name.strip() for name in names]
    if isinstance(wanted, list | tuple) and wanted:
        chosen = [str(name).strip() for name in wanted]
        if {*chosen} <= {*known} and len({*chosen}) == len(chosen):
            return list(map(known.index, chosen))
    wish = f"names of columns, each once, such as 'x,y', or 'all'; {shown} has {', '.join(names)}"
    raise InputError(f"`columns` must be {wish}, not {shorten(columns)}.")


def refuse_row_numbers(names: Sequence[str], columns: Any, shown: str) -> None:
    """Refuse a table in which some columns number the rows, by name or by what they hold."""
    rest, numbering = [], []
    for name, column in zip(names, columns, strict=False):  # without rows there are no columns
        if _ROW_NAME.fullmatch(name.strip()) or _counts(column):
            numbering.append(repr(name) if name.strip() else "without a name")
        else:
            rest += [name] * (_number(column[0]) is not None)  # texts are no coordinates either
    if rest and numbering:
        problem = f"{shown}: column {numbering[0]} numbers the rows."
        raise leave_out(problem, rest, ", or `columns='all'` to take it as a coordinate")


def leave_out(problem: str, rest: Sequence[str], otherwise: str = "") -> InputError:
    """An error about a column, which says how to choose the others."""
    choice = f"`columns='{truncate(','.join(rest), 60)}'`"
    way_out = f"Use {choice} to leave it out{otherwise}."
    return InputError(f"{problem} {way_out}")


def _counts(column: Any) -> bool:
    """Whether a column is 0, 1, 2, … or 1, 2, 3, …"""
    first = _number(column[0])
    if len(column) < _FEWEST or first not in (0, 1):
        return False
    return all(_number(value) == number for number, value in enumerate(column, int(first)))


def _number(cell: Any) -> Any:
    """The number in a cell, which may be text; None if it is something else."""
    if isinstance(cell, str) and "/" in cell:
        return math.nan  # a quotient is a number, but numbers no row
    with suppress(ValueError, OverflowError):
        return float(cell) if isinstance(cell, str | Real) else None


def read_frame(tokens: Any, columns: ColumnChoice = None) -> Any:
    """The coordinates in a table of pandas, polars or Arrow, or in a list of them; anything else as
    it came."""
    if isinstance(tokens, list | tuple) and tokens and _names(tokens[0]) is not None:
        return [read_frame(table, columns) for table in tokens]
    names = _names(tokens)
    if names is None:
        if columns is not None:
            wish = "a file or data frame whose columns have names"
            raise InputError(f"`columns` is for {wish}, not {shorten(tokens)}.")
        return tokens
    table = as_array(tokens, "`tokens`")
    if columns is None:
        refuse_row_numbers(names, list(table.T), "`tokens`")
        return table
    return table[:, choose_columns(names, columns, "`tokens`")]


def _names(tokens: Any) -> list[str] | None:
    """The names of the columns of a data frame."""
    if is_arrow(tokens):
        return tokens.column_names
    is_frame = hasattr(tokens, "iter_rows") or hasattr(tokens, "itertuples")
    return [str(name) for name in tokens.columns] if is_frame else None
