"""The style of all figures, and how they are written to files.

Whatever figures need of matplotlib is imported here, so that there is one message if it is not
installed."""

# ruff: noqa: F401
import io
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from hardmax._common.files import write_whole
from hardmax._common.validation import InputError, MissingExtra, check_instance, check_path

try:
    from matplotlib import rc_context, rcParams
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch, PathPatch, Polygon
    from matplotlib.path import Path as MarkerPath
    from matplotlib.patheffects import withStroke
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    from mpl_toolkits.mplot3d.axes3d import Axes3D
except ImportError:
    raise MissingExtra("Drawing", "figures") from None

DPI = 160
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


def style_context() -> AbstractContextManager[None]:
    """A block in which figures have the look of the package."""
    return rc_context(_RULES)


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


def check_axes(value: Any) -> Axes:
    """Axes of matplotlib."""
    return check_instance(value, Axes, "`ax`", "axes of matplotlib, such as pyplot.gca()")


def new_axes(size: tuple[float, float], d: int = 2, count: int = 1, **look: Any) -> Any:
    """Axes of a new figure of pyplot, or several side by side, in a layout that makes room for
    legends; for three dimensions, axes in space."""
    from matplotlib import pyplot

    # Not inside our look: with its first figure pyplot loads its backend, and what that sets (in a
    # notebook, that figures are shown) would be undone at the end of the look.
    figure = pyplot.figure(figsize=size, dpi=DPI, layout="constrained")
    with style_context():
        look["projection"] = "3d" if d == 3 else None
        return figure.subplots(1, count, subplot_kw=look)


@contextmanager
def drawing(ax: Any, size: tuple[float, float], title: str, **above: Any) -> Iterator[Axes]:
    """A block in the look of the package, with the axes that were given, or those of a new figure,
    which get a title: panels have no room for it."""
    drawn = new_axes(size) if ax is None else check_axes(ax)
    with style_context():
        yield drawn
        if ax is None:
            drawn.set_title(title, loc="left", **above)


def hide_frame(ax: Axes) -> None:
    """Without the frame of the axes, but for the line below."""
    ax.spines[["top", "right", "left"]].set_visible(False)


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure to a `.png`, `.svg` or `.pdf`, completely or not at all; the same figure gives
    the same bytes."""
    check_instance(figure, Figure, "`figure`", "a figure of matplotlib")
    kind = check_path(path).suffix.lower()
    # Without a date the same figure is the same file, byte for byte.
    undated = {".png": None, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    if kind not in undated:
        raise InputError(f"`path` must end in .png, .svg or .pdf, not {kind or 'nothing'!r}.")
    buffer = io.BytesIO()
    with style_context():
        figure.savefig(buffer, format=kind[1:], metadata=undated[kind])
    write_whole(path, buffer.getvalue())
