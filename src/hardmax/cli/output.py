"""Results go to stdout, messages and progress to stderr.

Whatever is printed may quote a text from elsewhere: control characters are escaped here, for every
command."""

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from hardmax import __version__
from hardmax._common.format import escape_json, sanitize_line, sanitize_text

SILENT, BETWEEN = 0.5, 0.1  # seconds before progress is shown, and before it is shown again
SHOWN_ROWS, SHOWN_ITEMS, SHOWN_COORDINATES = 20, 6, 4  # on a terminal


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
            shown = sanitize_line(name.replace("_", " "))
            print(f"{comment}{shown}: {format_value(document[name])}")


def print_table(header: Sequence[object], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table: aligned, and its first rows, on a terminal; all of it, separated by tabs, on a
    pipe."""
    lines = [list(map(format_value, row)) for row in (header, *rows)]
    if not is_terminal():
        for line in lines:
            print("\t".join(line))
        return
    print()
    shown = lines[: SHOWN_ROWS + 1]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for line in shown:
        cells = map(str.ljust, line, widths)
        print("  ".join(cells).rstrip())
    if len(lines) > len(shown):
        print(f"... {len(lines) - len(shown):,} more")


def format_value(value: Any) -> str:
    """A value in one line, floats with six digits; `--json` has all of them. On a terminal, lists
    are shortened, too."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, list | tuple):
        most = SHOWN_ITEMS if is_terminal() else len(value)
        rest = [f"… {len(value) - most:,} more"] * (len(value) > most)
        return " ".join([*map(format_value, value[:most]), *rest])
    if isinstance(value, float):
        return f"{value:.6g}"
    return sanitize_line(value)


def fit_columns(point: Sequence[Any]) -> list[Any]:
    """The first coordinates on a terminal, and an ellipsis; all of them on a pipe."""
    most = SHOWN_COORDINATES if is_terminal() else len(point)
    return [*point[:most], *["…"] * (len(point) > most)]


def finite_or_none(number: float) -> float | None:
    """For JSON, which has no nan and no infinity."""
    return number if math.isfinite(number) else None


@contextmanager
def progress_bar(task: str) -> Iterator[Callable[..., None] | None]:
    """A function of (done, total) and maybe a note that keeps a line of stderr up to date; None if
    stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    due = time.monotonic() + SILENT

    def show(done: int, total: int, note: str = "") -> None:
        nonlocal due
        if time.monotonic() > due:
            due = time.monotonic() + BETWEEN
            print(f"\r\x1b[K{task}: {done:,} of {total:,} {note}", end="", file=sys.stderr)

    try:
        yield show
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
