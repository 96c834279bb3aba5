"""Results go to stdout, messages and progress bars to stderr; colours and bars are for terminals
only.

Whatever is printed may quote a text from elsewhere: control characters are escaped here, for every
command."""

import math
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from hardmax import __version__
from hardmax._common.format import (
    LONGEST_LINE,
    escape_json,
    sanitize_line,
    sanitize_text,
    shorten_middle,
)

BAR_DELAY = 0.5  # seconds: a bar that comes and goes would only flicker
SHOWN_ROWS, SHOWN_ITEMS = 20, 6


def is_terminal() -> bool:
    """Whether stdout is a terminal, not a pipe or a file."""
    return sys.stdout.isatty()


def notify(text: str) -> None:
    """Print one line to stderr; a command does not fail because nobody can read it."""
    with suppress(OSError):
        print(shorten_middle(sanitize_line(text), 2 * LONGEST_LINE), file=sys.stderr)


def print_text(text: object) -> None:
    """Print lines as they are, on a terminal too: no markup, colours or line breaks of rich."""
    print(sanitize_text(str(text)))


def print_json(document: Any) -> None:
    """Print one line of strict JSON, with no nan and no infinity, and the version of hardmax."""
    if isinstance(document, dict):
        document = {"hardmax": __version__} | document
    print(escape_json(document, encoding=sys.stdout.encoding or "utf-8"))


def print_facts(document: Mapping[str, Any], *names: str) -> None:
    """Print the values of these names, or of all, that are known; on a pipe, as comments before a
    table."""
    facts = [
        (name.replace("_", " "), document[name])
        for name in names or document
        if document.get(name) not in (None, "")
    ]
    if not is_terminal():
        for name, value in facts:
            print(f"# {sanitize_line(name)}: {format_value(value)}")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, value in facts:
        table.add_row(Text(sanitize_line(name)), Text(format_value(value)))
    Console().print(table)


def print_table(header: Sequence[object], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table: aligned, and its first rows, on a terminal; all of it, separated by tabs, on a
    pipe."""
    if not is_terminal():
        for row in (header, *rows):
            print("\t".join(map(format_value, row)))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = iter(rows)
    shown = list(islice(rows, SHOWN_ROWS))
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for number, name in enumerate(header):
        numeric = all(isinstance(row[number], int | float | None) for row in shown)
        short = all(len(format_value(row[number])) <= 12 for row in shown)
        table.add_column(
            Text(format_value(name)), justify="right" if numeric else "left", no_wrap=short
        )
    for row in shown:
        table.add_row(*(Text(format_value(value)) for value in row))
    Console().print(table)
    if rest := sum(1 for _ in rows):
        print(f"... {rest:,} more")


def format_value(value: Any) -> str:
    """A value in one line, floats with six digits; `--json` has all of them. On a terminal, lists
    are shortened, too."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, list | tuple):
        shown = list(map(format_value, value))
        return at_most(shown, SHOWN_ITEMS) if is_terminal() else " ".join(shown)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int) and is_terminal():
        return f"{value:,}"
    return sanitize_line(value)


def at_most(texts: Sequence[str], limit: int) -> str:
    """The first few, and how many more there are: a, b, … 1 more."""
    shown = ", ".join(texts[:limit])
    return shown if len(texts) <= limit else f"{shown}, … {len(texts) - limit:,} more"


def fit_columns(point: Sequence[Any], *, beside: int) -> list[Any]:
    """On a terminal as many coordinates as fit beside so many characters, and an ellipsis; all of
    them on a pipe."""
    fitting = (
        max(2, (shutil.get_terminal_size().columns - beside) // 12) if is_terminal() else len(point)
    )
    return [*point[:fitting], *["…"] * (fitting < len(point))]


def finite_or_none(number: float) -> float | None:
    """For JSON, which has no nan and no infinity."""
    return number if math.isfinite(number) else None


@contextmanager
def progress_bar(task: str) -> Iterator[Callable[..., None] | None]:
    """A function of (done, total) and maybe a note that draws a bar on stderr; None if stderr is no
    terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    bars = (*Progress.get_default_columns(), TimeElapsedColumn(), TextColumn("{task.fields[note]}"))
    progress = Progress(*bars, console=Console(stderr=True), transient=True)
    bar = progress.add_task(task, total=None, note="")
    delayed = threading.Timer(BAR_DELAY, progress.start)
    delayed.daemon = True
    delayed.start()
    try:
        yield lambda done, total, note="": progress.update(
            bar, completed=done, total=total, note=note
        )
    finally:
        delayed.cancel()
        delayed.join()
        progress.stop()
