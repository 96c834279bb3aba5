"""One look for all figures: colours that everybody can tell apart, and never colour alone."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardmax.checking import file_path, instance
from hardmax.errors import InputError, MissingExtra
from hardmax.tokens.files import write_whole

try:
    import matplotlib
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
except ImportError:
    raise MissingExtra("Drawing", "figures") from None

# Okabe and Ito's palette.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)
INK, FAINT, SHADE = "#222222", "#9A9A9A", "#EDEDED"
# Seven shapes and six colours: the first 42 pairs are all different, and neighbours differ in both.
SHAPES = ("o", "s", "^", "P", "v", "<", ">")
LEADER, PROJECTION, ELSEWHERE = "*", "D", "X"

_RULES: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "figure.dpi": 160,
    "savefig.bbox": "tight",
    "savefig.facecolor": "white",
    "svg.hashsalt": "hardmax",
}


@contextmanager
def our_look() -> Iterator[None]:
    """Within this block figures are made in the look of the package."""
    with matplotlib.rc_context(_RULES):
        yield


def look_of(number: int) -> tuple[str, str]:
    """The colour and the shape of the thing with this number.

    >>> look_of(0), look_of(6)
    (('#0072B2', 'o'), ('#0072B2', '>'))
    """
    return CYCLE[number % len(CYCLE)], SHAPES[number % len(SHAPES)]


def room(tokens: int) -> float:
    """By what the area of a mark is multiplied where so many tokens share the axes.

    >>> room(10), room(1000)
    (1.0, 0.2)
    """
    return min(1.0, (40 / max(tokens, 1)) ** 0.5)


def plain_axes(ax: Axes, *, frame: bool = False) -> None:
    """Equal scales and no numbers, since positions matter; a frame where panels would run into one another."""
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(frame)
        side.set_color(SHADE)


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a picture whole or not at all; the suffix (.png, .svg, .pdf) says which kind."""
    write_whole(path, figure_bytes(figure, path))


def figure_bytes(figure: Figure, path: str | Path) -> bytes:
    """What `save_figure` writes to that path."""
    instance(figure, Figure, "`figure`", "a figure of matplotlib")
    suffix = file_path(path).suffix
    kind = suffix.lstrip(".").lower()
    if kind not in ("png", "svg", "pdf"):
        raise InputError(f"`path` must end in .png, .svg or .pdf, not {suffix or 'nothing'!r}.")
    buffer = io.BytesIO()
    # Without a date the same figure is the same file, byte for byte.
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with our_look():
        figure.savefig(buffer, format=kind, metadata=undated)
    return buffer.getvalue()
