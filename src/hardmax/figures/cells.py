"""From where a token looks towards each leader."""

import numpy as np

from hardmax._validation import InputError
from hardmax.figures import inputs
from hardmax.figures.asked import LimitLike
from hardmax.figures.inputs import validate_params
from hardmax.figures.mpl import Axes, Polygon
from hardmax.figures.palette import look_of
from hardmax.figures.views import prepare, view_of
from hardmax.geometry.halfspaces import leader_cells

TINT = 0.16


@validate_params(lim=inputs.a_limit, ax=inputs.an_axes)
def draw_cells(lim: LimitLike, ax: Axes) -> list[Polygon]:
    """A cone for each leader that has one, in the colour of its cluster; `draw_limit` over it names them.

    A token in the cone of a leader goes there, once only leaders are attended to.
    """
    if lim.run.d > 2:
        raise InputError(f"`draw_cells` draws in the plane, not in dimension {lim.run.d}.")
    start = lim.run.floats_at(0)
    view = view_of(start, ax)
    prepare(ax, view, view.path(start[None])[0])
    if not len(lim.leaders):
        return []
    metric = np.eye(2)
    if lim.run.dynamics.metric is not None:
        metric[: lim.run.d, : lim.run.d] = np.array(lim.run.dynamics.metric, dtype=np.float64)
    leaders = lim.distinct_leaders
    cells = leader_cells(view.places(lim.float_points[leaders]), ax.axis(), metric)
    drawn = []
    for label, cell in zip(lim.clusters.labels[leaders].tolist(), cells, strict=True):
        if len(cell):
            # The outline tells neighbours apart where colours do not.
            polygon = Polygon(cell, facecolor=look_of(label)[0], edgecolor="white", alpha=TINT, lw=2, zorder=0)
            drawn.append(ax.add_patch(polygon))
    return drawn
