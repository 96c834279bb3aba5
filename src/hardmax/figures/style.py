"""One look for all figures, and how they are written to files."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardmax._files import write_whole
from hardmax._validation import InputError, check_instance, check_path
from hardmax.figures.mpl import Axes, Figure, rc_context
from hardmax.figures.palette import SHADE

DPI = 160
_RULES: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "figure.dpi": DPI,
    "savefig.bbox": "tight",
    "savefig.facecolor": "white",
    "svg.hashsalt": "hardmax",
    # Text stays text, which can be searched, copied and read aloud.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}


@contextmanager
def our_look() -> Iterator[None]:
    """Within this block figures are made in the look of the package."""
    with rc_context(_RULES):
        yield


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
    check_instance(figure, Figure, "`figure`", "a figure of matplotlib")
    suffix = check_path(path).suffix
    kind = suffix.lstrip(".").lower()
    if kind not in ("png", "svg", "pdf"):
        raise InputError(f"`path` must end in .png, .svg or .pdf, not {suffix or 'nothing'!r}.")
    buffer = io.BytesIO()
    # Without a date the same figure is the same file, byte for byte.
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with our_look():
        figure.savefig(buffer, format=kind, metadata=undated)
    return buffer.getvalue()
