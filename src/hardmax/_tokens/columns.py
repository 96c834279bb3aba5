"""Tables whose columns have names: which of them are coordinates.

A column that numbers the rows would be one more coordinate, the largest of all, and decide every
limit. So it is refused, unless it was chosen."""

import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from numbers import Real
from typing import Any

from hardmax._common.validation import InputError, shorten
from hardmax._tokens.rationals import as_array

ColumnChoice = str | Sequence[str] | None
"""Names, in a list or separated by commas; "all", which are not looked at; or None for all."""

# As tables call it, and pandas where a nameless one was read or written.
_ROW_NAME = re.compile(r"(.*[\W_])?id|index|unnamed: 0|", re.IGNORECASE)
_NAMED = 8  # columns
_FEWEST = 3  # rows: of fewer, nothing can be told from 0, 1


def choose_columns(names: Sequence[str], columns: Any, shown: str) -> list[int]:
    """The numbers of the columns that were chosen."""
    if columns is None or columns == "all":
        return list(range(len(names)))
    wanted = next(csv.reader([columns]), []) if isinstance(columns, str) else columns
    if not isinstance(wanted, list | tuple) or not wanted:
        wish = "names such as ['x', 'y'] or 'x,y', or 'all'"
        raise InputError(f"`columns` must be {wish}, not {shorten(columns)}.", argument="columns")
    number_of = {name.strip(): number for number, name in enumerate(names)}
    chosen = [number_of.get(str(name).strip()) for name in wanted]
    for name, number in zip(wanted, chosen, strict=True):
        if number is None:
            known = f"{shown} has {', '.join(names)}"
            raise InputError(
                f"`columns` has {shorten(name)}, but {known}. Name one of them.", argument="columns"
            )
        if chosen.count(number) > 1:
            raise InputError(f"`columns` has {shorten(name)} twice.", argument="columns")
    return [number for number in chosen if number is not None]


def refuse_row_numbers(names: Sequence[str], columns: Sequence[Any], shown: str) -> None:
    """Refuse a table in which some columns number the rows, by name or by what they hold."""
    rest, numbering = [], []
    for place, (name, column) in enumerate(zip(names, columns, strict=True), 1):
        if _ROW_NAME.fullmatch(name.strip()) or _counts(column):
            numbering.append(repr(name) if name.strip() else f"{place}, without a name,")
        elif "/" in str(column[0]) or _number(column[0]) is not None:  # not a column of texts
            rest.append(name)
    if rest and numbering:
        problem = f"{shown}: column {numbering[0]} numbers the rows."
        raise leave_out(problem, rest, ", or columns='all' to take it as a coordinate")


def leave_out(problem: str, rest: Sequence[str], otherwise: str = "") -> InputError:
    """An error about a column, which says how to choose the others."""
    more = [*rest[:_NAMED], "…"] if len(rest) > _NAMED else rest
    choice = f"columns='{','.join(more)}'"
    way_out = f"Use {choice} to leave it out{otherwise}."
    return InputError(f"{problem} {way_out}", also=(choice, "columns='all'"))


def _counts(column: Any) -> bool:
    """Whether a column is 0, 1, 2, … or 1, 2, 3, …"""
    first = _number(column[0]) if len(column) >= _FEWEST else None
    if first not in (0, 1):
        return False
    return all(_number(value) == number for number, value in enumerate(column, int(first)))


def _number(cell: Any) -> Any:
    """The number in a cell, which may be text; None if it is something else."""
    with suppress(ValueError):
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
            raise InputError(f"`columns` is for {wish}, not {shorten(tokens)}.", argument="columns")
        return tokens
    if columns is None:
        table = as_array(tokens, "`tokens`")
        refuse_row_numbers(names, table.T, "`tokens`")
        return table
    chosen = choose_columns(names, columns, "`tokens`")
    if hasattr(tokens, "iloc"):
        return as_array(tokens.iloc[:, chosen], "`tokens`")
    return as_array(tokens.select([names[number] for number in chosen]), "`tokens`")


def _names(tokens: Any) -> list[str] | None:
    """The names of the columns of a data frame."""
    if hasattr(tokens, "iter_rows") or hasattr(tokens, "itertuples"):
        return [str(name) for name in tokens.columns]
    is_arrow = type(tokens).__module__ == "pyarrow.lib"
    return getattr(tokens, "column_names", None) if is_arrow else None
