"""The style of all figures, and how they are written to files.

Whatever figures need of matplotlib is imported here, so that there is one message if it is not
installed."""

# ruff: noqa: F401
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._common.files import write_whole
from hardmax._common.validation import (
    InputError,
    MissingExtra,
    check_instance,
    check_path,
    check_real,
    shorten,
)

try:
    from matplotlib import rc_context, rcParams
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch, PathPatch, Polygon
    from matplotlib.path import Path as MarkerPath
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Annotation
    from matplotlib.ticker import MaxNLocator
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    from mpl_toolkits.mplot3d.axes3d import Axes3D
except ImportError:
    raise MissingExtra("Drawing", "figures") from None

DPI = 160
LARGEST_FIGURE = 100  # inches
FASTEST = 50  # frames per second that a GIF can store
_RULES: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "figure.dpi": DPI,
    "savefig.bbox": "tight",
    "svg.hashsalt": "hardmax",
    # Text stays text, which can be searched, copied and read aloud.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
_SMALL: dict[Any, Any] = {"savefig.bbox": None, "font.size": 7, "axes.titlesize": 8}


@contextmanager
def style_context(*, small: bool = False) -> Iterator[None]:
    """Within this block figures have the look of the package; small ones keep their size, and have
    small text."""
    with rc_context(_RULES | _SMALL if small else _RULES):
        yield


def ink() -> str:
    """The colour of text: black, or white if the user's style has a dark ground."""
    return rcParams["text.color"]


def ground() -> str:
    """What marks and text are set off with."""
    return rcParams["axes.facecolor"]


def sign(marker: str, color: str, text: str, size: float, *, line: str = "none") -> Line2D:
    """An entry of a legend: a mark, or a line."""
    look = {"marker": marker, "color": color, "markersize": size, "mew": 0.0}
    return Line2D([], [], ls=line, lw=1.2, label=text, **look)


def new_figure(figsize: tuple[float, float]) -> Any:
    """A figure of pyplot, which shows it, whose layout makes room for legends."""
    from matplotlib import pyplot

    # Not inside our look: with its first figure pyplot loads its backend, and what that sets (in a
    # notebook, that figures are shown) would be undone at the end of the look.
    return pyplot.figure(figsize=figsize, dpi=DPI, layout="constrained")


def axes_for(ax: Any, figsize: Any, default: tuple[float, float]) -> Axes:
    """The axes that were given, or those of a new figure."""
    if ax is not None:
        return check_axes(ax)
    figure = new_figure(check_figsize(figsize, default))
    with style_context():
        return figure.add_subplot()


def hide_frame(ax: Axes, *sides: str) -> None:
    """Without the frame of the axes on these sides."""
    for side in sides:
        ax.spines[side].set_visible(False)


def check_axes(value: Any) -> Axes:
    """Axes of matplotlib."""
    return check_instance(value, Axes, "`ax`", "axes of matplotlib, such as pyplot.gca()")


def check_figsize(value: Any, default: tuple[float, float]) -> tuple[float, float]:
    """Width and height of a figure in inches."""
    if value is None:
        return default
    if isinstance(value, list | tuple) and len(value) == 2:
        width, height = (check_real(side, "`figsize`", above=0) for side in value)
        if max(width, height) <= LARGEST_FIGURE:
            return width, height
    expected = f"a width and a height up to {LARGEST_FIGURE} inches"
    raise InputError(f"`figsize` must be {expected}, not {shorten(value)}.")


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure to a `.png`, `.svg` or `.pdf`, completely or not at all; the same figure gives
    the same bytes."""
    check_instance(figure, Figure, "`figure`", "a figure of matplotlib")
    suffix = check_path(path).suffix
    kind = suffix.lstrip(".").lower()
    if kind not in ("png", "svg", "pdf"):
        raise InputError(f"`path` must end in .png, .svg or .pdf, not {suffix or 'nothing'!r}.")
    buffer = io.BytesIO()
    # Without a date the same figure is the same file, byte for byte.
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with style_context():
        figure.savefig(buffer, format=kind, metadata=undated)
    write_whole(path, buffer.getvalue())


def write_gif(
    figure: Figure, path: Path, frames: Iterable[int], draw: Callable[[int], None], *, fps: float
) -> None:
    """Write a `.gif`, completely or not at all: `draw` draws the frame of each number on the
    figure."""
    from PIL import Image

    canvas, images, buffer = FigureCanvasAgg(figure), [], io.BytesIO()
    for number in frames:
        draw(number)
        canvas.draw()
        images.append(Image.fromarray(np.array(canvas.buffer_rgba())).convert("RGB"))
    timing = {"duration": round(1000 / fps), "loop": 0}
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], **timing)
    write_whole(path, buffer.getvalue())
