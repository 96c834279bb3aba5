"""`lim.plot()`: where every token of a cloud starts, which way it goes, and where it ends."""

from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_int, shorten
from hardmax._limits.clusters import FaceProjection, OtherLimit
from hardmax._runs.trajectory import Trajectory
from hardmax.figures import plane, style
from hardmax.figures.palette import ELSEWHERE, INK, LEADER, PROJECTION, look_of_leader

if TYPE_CHECKING:
    from hardmax.limits import Limit

MOST_CLUSTERS_IN_LEGEND = 18


def draw_limit(lim: "Limit", ax: style.Axes, *, most: int = plane.MOST_TOKENS) -> plane.Artists:
    """Draw tokens and their paths to the limits, in the colour and shape of their cluster.

    Leaders are numbered stars, and have the colours that `draw_layer` gives them. Projections of
    the origin onto a face are diamonds, with strong lines to the leaders that span the face; a
    limit of any other kind is a cross. The hull of the leaders is shaded.

    Parameters
    ----------
    lim : Limit
        The limit of one cloud.
    ax : matplotlib Axes
        Where to draw; may be three-dimensional if the tokens are.
    most : int, default 5000
        Of more tokens than this only every second, third, … is drawn.

    Returns
    -------
    dict of lists of matplotlib Artist
        "leaders", "labels", "paths", "starts", "projections", "faces" (the strong lines),
        "elsewhere" and "hull".

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import hardmax as hm
    >>> lim = hm.limit(hm.clouds.square(), hm.Dynamics("1/2"))
    >>> len(draw_limit(lim, Figure().subplots())["leaders"][0].get_offsets())
    4
    """
    view, every = _prepare(lim, ax), (lim.run.n - 1) // check_int(most, "`most`", at_least=1) + 1
    clusters, number, leaders = lim.clusters, _numbers(lim), lim.distinct_leaders
    corners, groups = (
        view.places(lim.float_points[leaders]),
        number[clusters.labels[leaders]].tolist(),
    )
    projected = {
        label: kind for label, kind in enumerate(clusters.kinds) if isinstance(kind, FaceProjection)
    }
    others = [label for label, kind in enumerate(clusters.kinds) if isinstance(kind, OtherLimit)]
    path = np.stack(
        [*plane.bends(lim.run, lim.run.layers + 1, np.s_[::every]), lim.float_points[::every]]
    )
    return {
        # Of a projected polytope the shadow is shown. Its metric does not matter here.
        "hull": plane.draw_hull(corners, ax) if len(leaders) else [],
        **plane.draw_flow(view.path(path), number[clusters.labels[::every]], ax),
        "faces": [_draw_face(lim, label, face, view, ax) for label, face in projected.items()],
        "projections": [_draw_ends(lim, list(projected), view, number, PROJECTION, ax)],
        "elsewhere": [_draw_ends(lim, others, view, number, ELSEWHERE, ax)],
        **plane.draw_leaders(corners, groups, leaders.tolist(), ax),
    }


def _prepare(lim: "Limit", ax: style.Axes) -> plane.View:
    if not isinstance(getattr(lim, "run", None), Trajectory):
        raise InputError(
            f"`lim` must be a Limit, as `limit` gives for one cloud, not {shorten(lim)}."
        )
    return plane.prepare(ax, lim.run.floats_at(0), "limit")


def _numbers(lim: "Limit") -> np.ndarray:
    """A number for the look of each cluster: those of leaders first, in the order of these."""
    leading = lim.clusters.labels[lim.distinct_leaders]
    rest = np.setdiff1d(np.arange(len(lim.clusters)), leading)
    return np.argsort(np.concatenate([leading, rest]))


def _draw_ends(
    lim: "Limit",
    labels: list[int],
    view: plane.View,
    number: np.ndarray,
    marker: str,
    ax: style.Axes,
) -> style.PathCollection:
    colors = [look_of_leader(group)[0] for group in number[labels].tolist()]
    look = {"s": 64, "c": colors, "marker": marker, "edgecolors": INK, "lw": 0.6, "zorder": 5}
    return plane.marks(view.places(lim.clusters.points[labels]), ax, **look)


def _draw_face(
    lim: "Limit", label: int, face: FaceProjection, view: plane.View, ax: style.Axes
) -> style.Line2D:
    """Lines from a projection to the leaders whose hull it is the nearest point of."""
    corners = view.places(lim.float_points[list(face.vertices)])
    end = view.places(lim.clusters.points[[label]])
    color = look_of_leader(int(_numbers(lim)[label]))[0]
    look = {"color": color, "lw": 3, "alpha": 0.5, "solid_capstyle": "round", "zorder": 2}
    return plane.draw_lines(np.stack([np.broadcast_to(end, corners.shape), corners]), ax, **look)


# ---------------------------------------------------------------- with a title and a legend


def plot_limit(lim: "Limit", *, ax: Any = None, figsize: Any = None) -> style.Axes:
    """`draw_limit` on the axes; on new ones with a title and a legend."""
    if ax is not None:
        draw_limit(lim, ax)
        return ax
    return _draw_on(style.new_figure(style.check_figsize(figsize, _size(lim))), lim)


def limit_figure(lim: "Limit") -> style.Figure:
    """`draw_limit` as a figure of its own, without pyplot, with a title and a legend."""
    figure = style.Figure(figsize=_size(lim), dpi=style.DPI, layout="constrained")
    _draw_on(figure, lim)
    return figure


def _size(lim: "Limit") -> tuple[float, float]:
    return 6.4, 2.6 if lim.run.d == 1 else 4.6


def _draw_on(figure: Any, lim: "Limit") -> style.Axes:
    with style.style_context():
        ax = figure.add_subplot(projection="3d" if lim.run.d == 3 else None, anchor="NW")
        _prepare(lim, ax)
        ax.set_title(_title(lim), loc="left")
        figure.legend(handles=_legend(lim), loc="outside right upper", frameon=False, fontsize=8)
        # Labels find room on axes that are where they will be.
        figure.get_layout_engine().execute(figure)
        draw_limit(lim, ax)
    return ax


def _title(lim: "Limit") -> str:
    every = (lim.run.n - 1) // plane.MOST_TOKENS + 1
    count = pluralize(lim.run.n, "token") + (f" (one in {every} drawn)" if every > 1 else "")
    if lim.settled_at is not None:
        return f"{count}, settled at layer {lim.settled_at}"
    return f"{count}, not settled at layer {lim.run.layers:,}:\nlimits within {lim.bound:.2g}"


def _legend(lim: "Limit") -> list[style.Line2D]:
    """What the marks mean, and what each cluster is: the largest ones if there are too many."""
    kinds, settled, number = lim.clusters.kinds, lim.settled_at is not None, _numbers(lim)
    signs = (
        [style.sign(LEADER, INK, "leader, with its token number", 11)] if len(lim.leaders) else []
    )
    if any(isinstance(kind, FaceProjection) for kind in kinds):
        signs.append(style.sign(PROJECTION, INK, "projection of the origin onto a face", 7))
    if any(isinstance(kind, OtherLimit) for kind in kinds):
        signs.append(
            style.sign(ELSEWHERE, INK, "another limit" if settled else "last seen here", 7)
        )
    if not settled:
        return signs
    sizes = lim.clusters.sizes
    largest = np.argsort(-sizes, kind="stable")[:MOST_CLUSTERS_IN_LEGEND]
    for label in largest[np.argsort(number[largest])].tolist():
        color, shape = look_of_leader(int(number[label]))
        signs.append(
            style.sign(shape, color, f"{kinds[label]}: {pluralize(int(sizes[label]), 'token')}", 6)
        )
    left = len(kinds) - len(largest)
    return (
        [*signs, style.sign("", INK, f"and {pluralize(left, 'smaller cluster')}", 0)]
        if left
        else signs
    )
