"""`basins(...).plot()`: the regions of one token's start, in the plane or on the line."""

from itertools import count, cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.figures import style
from hardmax.figures.palette import FAINT, LEADER, SHADE, look_of_leader
from hardmax.figures.plane import marks
from hardmax.figures.style import Axes, MarkerPath, PathPatch

if TYPE_CHECKING:
    from hardmax._questions.basins import Basins, Region

_HATCHES = "//", "..", "\\\\", "--", "xx", "||", "++", "oo"
_MOST_NAMED = 12  # regions in the legend


def plot_basins(found: "Basins", ax: Any) -> Axes:
    """Regions on the axes, or on those of a new figure: a colour and a hatch for each."""
    is_plane = len(found.box) == 2
    size = 6.4, 4.8 if is_plane else 2.4
    with style.drawing(ax, size, f"Where token {found.token} ends, by its start") as ax:
        looks = zip(map(look_of_leader, count()), cycle(_HATCHES), strict=False)
        for number, region in enumerate(found.regions):
            look = {"facecolor": SHADE, "label": region.name if number < _MOST_NAMED else "_"}
            if region.name != "itself":
                (color, _), hatch = next(looks)
                look |= {"facecolor": (color, 0.55), "hatch": hatch}
            _fill(region, ax, **look)
        if found.undecided.cells:
            _fill(found.undecided, ax, facecolor=style.ink(), label="undecided")
        box = [[float(end) for end in pair] for pair in found.box]
        ax.set(xlim=box[0], ylim=box[1] if is_plane else (0, 1))
        if is_plane:
            ax.set(aspect="equal", xlabel="$z_1$", ylabel="$z_2$")
        else:
            ax.set(xlabel="$z$", yticks=[])
        _draw_others(found, ax)
        ax.tick_params(color=FAINT)
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    return ax


def _draw_others(found: "Basins", ax: Axes) -> None:
    """The tokens that stay where they are, with their numbers; stars where others end."""
    places = found.tokens.astype(float)
    if places.shape[1] == 1:
        places = np.column_stack([places, np.full(len(places), 0.5)])
    names = [token for token in range(len(places) + 1) if token != found.token][: len(places)]
    leads = np.isin(names, [region.leader for region in found.regions if region.leader is not None])
    look = {"color": style.ink(), "edgecolors": style.ground(), "lw": 0.5, "zorder": 4}
    marks(places[~leads], ax, marker="o", s=24, **look)
    marks(places[leads], ax, marker=LEADER, s=110, **look)
    for place, token in zip(places, names, strict=True):
        ax.annotate(str(token), place, (4, 4), textcoords="offset points", zorder=5)


def _fill(region: "Region", ax: Axes, **look: Any) -> None:
    """All cells of a region as one shape."""
    cells = []
    for cell in region.cells:
        table = cell.astype(float)
        if table.shape[1] == 1:
            (low,), (high,) = table
            table = np.array([[low, 0], [high, 0], [high, 1], [low, 1]])
        cells.append(MarkerPath(np.vstack([table, table[:1]]), closed=True))
    # With smooth edges the cells would show.
    shape = MarkerPath.make_compound_path(*cells)
    ax.add_patch(PathPatch(shape, lw=0, edgecolor=(style.ink(), 0.25), antialiased=False, **look))
