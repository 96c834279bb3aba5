"""A training as it goes: a row for each epoch, where somebody is watching."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from hardmax.train.log import Epoch
    from hardmax.train.recipe import Recipe

HEADER = ("epoch", "alpha", "loss", "accuracy", "leaders a text", "held-out loss", "held-out accuracy", "s")


@contextmanager
def training_table(recipe: "Recipe") -> "Iterator[Callable[[Epoch], None] | None]":
    """A function to call after every epoch, drawn on stderr; None where nobody is watching."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    reports: list[Epoch] = []
    with Live(_table(reports, recipe), console=Console(stderr=True), auto_refresh=False) as live:

        def update(report: "Epoch") -> None:
            reports.append(report)
            live.update(_table(reports, recipe), refresh=True)

        yield update
        live.update(_table(reports, recipe, over=True), refresh=True)


def _table(reports: "list[Epoch]", recipe: "Recipe", *, over: bool = False) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    done = reports[-1].epoch if reports else 0
    epochs = recipe.epochs * (2 if recipe.refit and recipe.validation_fraction else 1)
    now = "done" if over or done >= epochs else f"epoch {done + 1} of {epochs}"
    table = Table(box=SIMPLE_HEAD, pad_edge=False, caption=now, caption_justify="left")
    shown = HEADER if recipe.validation_fraction else HEADER[:5] + HEADER[7:]
    for name in shown:
        table.add_column(name, justify="right")
    for report in reports:
        row = _cells(report)
        table.add_row(*(row if recipe.validation_fraction else row[:5] + row[7:]))
    return table


def _cells(report: "Epoch") -> list[str]:
    loss, accuracy = report.validation_loss, report.validation_accuracy
    return [
        str(report.epoch),
        f"{report.alpha:.3g}",
        f"{report.loss:.4f}",
        f"{report.accuracy:.4f}",
        f"{report.leaders:.2f}",
        "" if loss is None else f"{loss:.4f}",
        "" if accuracy is None else f"{accuracy:.4f}",
        f"{report.seconds:.1f}",
    ]
