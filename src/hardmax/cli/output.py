"""Results go to stdout, messages and progress bars to stderr; colours and bars are for terminals only.

Whatever is printed may quote a text from elsewhere: control characters are escaped here, for every command.
"""

import math
import shutil
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from hardmax._format import escape_json, pluralize, sanitize_line, sanitize_text

if TYPE_CHECKING:
    from rich.text import Text

    from hardmax.trajectory import Trajectory

BAR_DELAY = 0.5  # seconds: a bar that comes and goes would only flicker
SHOWN_ROWS, SHOWN_LEADERS, SHOWN_TOKENS = 20, 12, 4

ARITHMETICS = {
    "certified": "certified: floats, every choice proved",
    "exact": "exact: integers",
    "float": "float: nothing is proved",
}


def is_terminal() -> bool:
    """Whether stdout is a terminal, not a pipe or a file."""
    return sys.stdout.isatty()


def columns() -> int:
    """Width of the terminal."""
    return shutil.get_terminal_size().columns


def notify(text: str) -> None:
    """Print one line to stderr; a command does not fail because nobody can read it."""
    with suppress(OSError):
        print(sanitize_line(text), file=sys.stderr)


def print_text(text: object) -> None:
    """Print lines as they are, on a terminal too: no markup, colours or line breaks of rich."""
    print(sanitize_text(str(text)))


def print_paragraph(text: str) -> None:
    """Print a paragraph, wrapped on a terminal, in one line on a pipe."""
    print(textwrap.fill(text, columns()) if is_terminal() else text)


def print_json(document: Any) -> None:
    """Print one line of strict JSON: no nan, no infinity."""
    print(escape_json(document, encoding=sys.stdout.encoding or "utf-8"))


def print_facts(facts: Sequence[tuple[str, str]], *, comment: str = "") -> None:
    """Print names and values; on a pipe, lines that start with `comment`."""
    if not is_terminal():
        for name, value in facts:
            print(sanitize_line(f"{comment}{name}: {value}"))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, value in facts:
        table.add_row(_literal(name), _literal(value))
    Console().print(table)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()) -> None:
    """Print a table: aligned on a terminal, tab-separated on a pipe. Columns named in `right` are right-aligned."""
    if not is_terminal():
        for row in (header, *rows):
            print("\t".join(map(sanitize_line, row)))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in header:
        table.add_column(_literal(name), justify="right" if name in right else "left", no_wrap=name in right)
    for row in rows:
        table.add_row(*map(_literal, row))
    Console().print(table)


def _literal(text: str) -> "Text":
    # Rich reads [brackets] in a plain string as markup.
    from rich.text import Text

    return Text(sanitize_line(text))


@contextmanager
def progress_bar(task: str) -> Iterator[Callable[..., None] | None]:
    """A function of (done, total) and maybe a note that draws a bar on stderr; None if stderr is no terminal."""
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
        yield lambda done, total, note="": progress.update(bar, completed=done, total=total, note=note)
    finally:
        delayed.cancel()
        delayed.join()
        progress.stop()


def finite_or_none(number: float) -> float | None:
    """For JSON, which has no nan and no infinity."""
    return number if math.isfinite(number) else None


def at_most(texts: Sequence[str], limit: int) -> str:
    """The first few, and how many more there are.

    >>> at_most(["a", "b", "c"], 2)
    'a, b, … 1 more'
    """
    shown = ", ".join(texts[:limit])
    return shown if len(texts) <= limit else f"{shown}, … {len(texts) - limit} more"


def rows_shown(number: int) -> int:
    """How many of so many rows are printed: the first ones on a terminal, all of them on a pipe."""
    return min(number, SHOWN_ROWS) if is_terminal() else number


def print_rest(number: int, noun: str) -> None:
    """Print how many rows `rows_shown` left out, if any."""
    if rows_shown(number) < number:
        print(f"... {pluralize(number - rows_shown(number), f'more {noun}')}")


def format_coordinates(point: Sequence[float], *, beside: int) -> list[str]:
    """On a terminal with six digits, as many as fit beside so many characters, and an ellipsis; all of it on a pipe."""
    if not is_terminal():
        return [repr(value) for value in point]
    shown = max(2, (columns() - beside) // 12)  # characters of a coordinate
    return [f"{value:.6g}" for value in point[:shown]] + ["…"] * (shown < len(point))


def format_tokens(tokens: Sequence[int]) -> str:
    """The first few token numbers on a terminal, all of them on a pipe."""
    texts = [str(token) for token in tokens]
    return at_most(texts, SHOWN_TOKENS) if is_terminal() else " ".join(texts)


def run_facts(run: "Trajectory") -> list[tuple[str, str]]:
    """What a run and its limit have in common. Leaders are grouped by layer, since most lead from the start."""
    groups = []
    for layer in sorted(set(run.leader_layers.tolist())):
        tokens = [str(token) for token in run.leaders[run.leader_layers == layer]]
        groups.append(f"since layer {layer}: {at_most(tokens, SHOWN_LEADERS)}")
    return [
        ("tokens", f"{run.n} in {pluralize(run.d, 'dimension')}"),
        ("alpha", str(run.dynamics.alpha)),
        ("leaders", f"{len(run.leaders)} ({'; '.join(groups)})" if groups else "none"),
        ("settled at", "not yet" if run.settled_at is None else f"layer {run.settled_at}"),
        ("arithmetic", ARITHMETICS[run.arithmetic]),
    ]
