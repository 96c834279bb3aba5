"""`basins(...).plot()`: the regions of one token's start, in the plane or on the line."""

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.figures import style
from hardmax.figures.palette import FAINT, LEADER, SHADE, look_of_leader
from hardmax.figures.plane import marks
from hardmax.figures.style import Axes, MarkerPath, PathPatch

if TYPE_CHECKING:
    from hardmax._questions.basins import Basins, Region

_HATCHES = "", "//", "..", "\\\\", "--", "xx", "||", "++", "oo"
_MOST_NAMED = 12  # regions in the legend
_MARKED = (0, 0, 0, 0.25)


def plot_basins(found: "Basins", ax: Any, figsize: Any) -> Axes:
    """Regions on the axes, or on those of a new figure: a colour and a hatch for each."""
    given = style.axes_for(ax, figsize, (6.4, 4.8 if len(found.box) == 2 else 2.4))
    with style.style_context():
        if ax is None:
            given.set_title(f"Where token {found.token} ends, by its start", loc="left")
        _draw(found, given)
    return given


def _draw(found: "Basins", ax: Axes) -> None:
    hatches, leaders = cycle(_HATCHES[1:]), 0
    for number, region in enumerate(found.regions):
        name = region.name
        look: dict[str, Any] = {"facecolor": SHADE, "hatch": ""}
        if name != "itself":
            look = {"facecolor": (look_of_leader(leaders)[0], 0.55), "hatch": next(hatches)}
            leaders += 1
        look["label"] = name if number < _MOST_NAMED else "_"
        _fill(region, ax, **look)
    if found.undecided.cells:
        _fill(found.undecided, ax, facecolor=style.ink(), hatch="", label="undecided")
    (low, high), *others = [[float(end) for end in pair] for pair in found.box]
    bottom, top = others[0] if others else (0.0, 1.0)
    ax.set(xlim=(low, high), ylim=(bottom, top), xlabel="$z_1$" if others else "$z$")
    places = found.tokens.astype(float)
    if others:
        ax.set(aspect="equal", ylabel="$z_2$")
    else:
        ax.set_yticks([])
        places = np.column_stack([places, np.full(len(places), 0.5)])
    look = {"color": style.ink(), "edgecolors": style.ground(), "lw": 0.5, "zorder": 4}
    leading = [region.leader for region in found.regions if region.leader is not None]
    names = [token for token in range(len(places) + 1) if token != found.token]
    leads = np.isin(names[: len(places)], leading)
    for chosen, marker, size in ((~leads, "o", 24), (leads, LEADER, 110)):
        marks(places[chosen], ax, marker=marker, s=size, **look)
    for place, token in zip(places, names, strict=False):
        ax.annotate(str(token), place, (4, 4), textcoords="offset points", zorder=5)
    ax.tick_params(color=FAINT)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)


def _fill(region: "Region", ax: Axes, **look: Any) -> None:
    """All cells of a region as one shape."""
    corners, codes = [], []
    for cell in region.cells:
        table = cell.astype(float)
        if table.shape[1] == 1:
            (low,), (high,) = table
            table = np.array([[low, 0], [high, 0], [high, 1], [low, 1]])
        corners += [table, table[:1]]
        codes += [MarkerPath.MOVETO, *[MarkerPath.LINETO] * (len(table) - 1), MarkerPath.CLOSEPOLY]
    shape = MarkerPath(np.vstack(corners), codes)
    # With smooth edges the cells would show.
    ax.add_patch(PathPatch(shape, lw=0, edgecolor=_MARKED, antialiased=False, **look))
