"""Results go to stdout, messages and progress to stderr.

Whatever is printed may quote a text from elsewhere: control characters are escaped here, for every
command."""

import math
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hardmax import __version__
from hardmax._common.format import escape_json, sanitize_line, sanitize_text, truncate

SHOWN_ROWS, LONGEST_CELL, LONGEST_FACT = 20, 40, 200  # on a terminal


def is_terminal() -> bool:
    """Whether stdout is a terminal, not a pipe or a file."""
    return sys.stdout.isatty()


def notify(text: str) -> None:
    """Print one line to stderr; a command does not fail because nobody can read it."""
    with suppress(OSError):
        print(sanitize_line(text), file=sys.stderr)


def print_text(text: object) -> None:
    """Print lines as they are."""
    print(sanitize_text(str(text)))


def print_json(document: Any) -> None:
    """Print one line of strict JSON with the version of hardmax."""
    if isinstance(document, dict):
        document = {"hardmax": __version__} | document
    print(escape_json(document, encoding=sys.stdout.encoding or "utf-8"))


def print_facts(document: Mapping[str, Any], *names: str) -> None:
    """Print the values of these names, or of all, that are known; on a pipe, as comments before a
    table."""
    comment = "" if is_terminal() else "# "
    for name in names or document:
        if document.get(name) not in (None, ""):
            fact = f"{comment}{name.replace('_', ' ')}: {format_value(document[name])}"
            print(_fit(sanitize_line(fact), LONGEST_FACT))


def print_table(header: Sequence[object], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table: aligned, and its first rows, on a terminal; all of it, separated by tabs, on a
    pipe."""
    lines = [[sanitize_line(format_value(cell)) for cell in row] for row in (header, *rows)]
    if not is_terminal():
        for line in lines:
            print("\t".join(line))
        return
    print()
    shown = [[_fit(cell, LONGEST_CELL) for cell in line] for line in lines[: SHOWN_ROWS + 1]]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    columns = shutil.get_terminal_size().columns
    for line in shown:
        print(_fit("  ".join(map(str.ljust, line, widths)).rstrip(), columns))
    if len(lines) > len(shown):
        print(f"... {len(lines) - len(shown):,} more")


def print_frames(frames: Mapping[str, Any], *, as_json: bool) -> None:
    """Print tables of pandas under their names."""
    if as_json:
        print_json({name: each.reset_index().to_dict("records") for name, each in frames.items()})
        return
    for name, each in frames.items():
        print_text(f"\n{name}\n{each.to_string(max_colwidth=LONGEST_CELL)}")


def print_clouds(found: Sequence[Mapping[str, Any]], *names: str) -> None:
    """Print a row for each of many clouds, with what is known of them."""
    header = [name for name in names if name in found[0]]
    rows = ([number, *map(one.get, header)] for number, one in enumerate(found))
    print_table(["cloud", *header], rows)


def _fit(line: str, width: int) -> str:
    return truncate(line, width) if is_terminal() else line


def format_value(value: Any) -> str:
    """A value in one line, floats with six digits; `--json` has all of them."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, list | tuple):
        return " ".join(map(format_value, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def finite_or_none(number: float) -> float | None:
    """For JSON, which has no nan and no infinity."""
    return number if math.isfinite(number) else None
