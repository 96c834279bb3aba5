"""Words and numbers that the summaries of several commands share."""

import shutil
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hardmax.cli.output import is_terminal

if TYPE_CHECKING:
    from hardmax.trajectory import Trajectory

SHOWN_ROWS, SHOWN_LEADERS, SHOWN_TOKENS = 20, 12, 4

DECIDED_BY = {
    "certified": "certified: floats, every choice proved",
    "exact": "exact: integers",
    "float": "float: nothing is proved",
}


def size_of(run: "Trajectory") -> str:
    """How many tokens, in what space."""
    return f"{run.n} in {run.d} dimension{'s' * (run.d != 1)}"


def leaders_of(run: "Trajectory") -> str:
    """How many, and who appeared at which layer.

    The tokens are grouped by layer, since most leaders lead from the start.
    """
    groups = []
    for layer in sorted(set(run.leader_layers.tolist())):
        tokens = [str(token) for token in run.leaders[run.leader_layers == layer]]
        groups.append(f"since layer {layer}: {some(tokens, SHOWN_LEADERS)}")
    return f"{len(run.leaders)} ({'; '.join(groups)})" if groups else "none"


def settled(layer: int | None) -> str:
    """The layer, if there is one."""
    return "not yet" if layer is None else f"layer {layer}"


def coordinate(value: float) -> str:
    """Six digits for the eye, all of them on a pipe."""
    return f"{value:.6g}" if is_terminal() else repr(value)


def token_list(tokens: Sequence[int]) -> str:
    """The first few for the eye, all of them on a pipe."""
    texts = [str(token) for token in tokens]
    return some(texts, SHOWN_TOKENS) if is_terminal() else " ".join(texts)


def some(texts: Sequence[str], limit: int) -> str:
    """At most so many of them, and how many were left out.

    >>> some(["a", "b", "c"], 2)
    'a, b, … 1 more'
    """
    shown = ", ".join(texts[:limit])
    return shown if len(texts) <= limit else f"{shown}, … {len(texts) - limit} more"


def say(paragraph: str) -> None:
    """Prints a paragraph, broken between words where the terminal ends; in one line on a pipe."""
    print(textwrap.fill(paragraph, columns()) if is_terminal() else paragraph)


def coordinates_shown(dimension: int, beside: int) -> int:
    """How many coordinates fit on the terminal `beside` so many characters; all of them on a pipe."""
    # A coordinate takes about 12 characters.
    return min(dimension, max(1, (columns() - beside) // 12)) if is_terminal() else dimension


def columns() -> int:
    """How wide the terminal is."""
    return shutil.get_terminal_size().columns
