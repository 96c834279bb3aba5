"""stdout is data, stderr is narration; colours and progress are for terminals.

Whatever is printed may quote a text from elsewhere: here it is made harmless, whoever it came from.
"""

import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from hardmax._format import escape_json, sanitize_line, sanitize_text

A_WHILE = 5.0  # seconds without a word


def is_terminal() -> bool:
    """Whether somebody reads along."""
    return sys.stdout.isatty()


def narrate(sentence: str) -> None:
    """Says on stderr what happens; a command does not fail because nobody can be told."""
    narrate_lines(sanitize_line(sentence))


def narrate_lines(text: str) -> None:
    """The same with several lines."""
    with suppress(OSError):
        print(sanitize_text(text), file=sys.stderr)


def print_text(text: object) -> None:
    """Prints lines as they are, on a terminal too: without markup, colours or breaks."""
    print(sanitize_text(str(text)))


def print_json(document: Any) -> None:
    """One line of strict JSON: no nan, no infinity."""
    print(escape_json(document, encoding=sys.stdout.encoding or "utf-8"))


def print_facts(facts: Sequence[tuple[str, str]], *, comment: str = "") -> None:
    """Names and values under each other; on a pipe, lines that start with `comment`."""
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
    """A table for the eye on a terminal, lines with tabs on a pipe. Columns named in `right` are set to the right."""
    if not is_terminal():
        for row in (header, *rows):
            print("\t".join(map(sanitize_line, row)))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in header:
        table.add_column(_literal(name), justify="right" if name in right else "left")
    for row in rows:
        table.add_row(*map(_literal, row))
    Console().print(table)


def _literal(text: str) -> Any:
    # Rich reads [brackets] in a plain text as markup.
    from rich.text import Text

    return Text(sanitize_line(text))


@contextmanager
def progress_bar(task: str) -> Iterator[Callable[..., None] | None]:
    """A function to call with (done, all), and maybe a note, drawn on stderr; None where nobody is watching.

    Where nothing is told for a while, the bar shows that work goes on.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = (*Progress.get_default_columns(), TimeElapsedColumn(), TextColumn("{task.fields[note]}"))
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    bar = progress.add_task(task, total=None, note="")

    def update(done: int, total: int, note: str = "") -> None:
        if total > 1:  # a bar for one thing would only flicker
            progress.start()
        progress.update(bar, completed=done, total=total, note=note)

    waiting = threading.Timer(A_WHILE, progress.start)
    waiting.daemon = True
    waiting.start()
    try:
        yield update
    finally:
        waiting.cancel()
        waiting.join()
        progress.stop()


def finite_or_none(number: float) -> float | None:
    """For JSON, which has no nan and no infinity."""
    return number if math.isfinite(number) else None
