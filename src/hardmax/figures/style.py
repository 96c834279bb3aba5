"""One look for all figures: colours that everybody can tell apart, and never colour alone."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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


def plain_axes(ax: Axes) -> None:
    """Equal scales and no frame: positions matter, numbers are read off the tokens."""
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a picture whole or not at all; the suffix (.png, .svg, .pdf) says which kind."""
    kind = Path(path).suffix.lstrip(".").lower()
    if kind not in ("png", "svg", "pdf"):
        raise InputError(f"`path` must end in .png, .svg or .pdf, not {Path(path).suffix or 'nothing'!r}.")
    buffer = io.BytesIO()
    # Without a date the same figure is the same file, byte for byte.
    figure.savefig(buffer, format=kind, metadata={"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind))
    write_whole(path, buffer.getvalue())
