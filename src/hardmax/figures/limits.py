"""`lim.plot()`: where every token of a cloud starts, which way it goes, and where it ends."""

from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_int, shorten
from hardmax.figures import plane, style
from hardmax.figures.palette import ELSEWHERE, LEADER, PROJECTION, look_of_leader
from hardmax.figures.style import Axes, Figure, Line2D, PathCollection

if TYPE_CHECKING:
    from hardmax.infinite_depth import Limit

MOST_CLUSTERS_IN_LEGEND = 18


def draw_limit(lim: "Limit", ax: Axes, *, most: int = plane.MOST_TOKENS) -> plane.Artists:
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
    if not hasattr(getattr(lim, "run", None), "details"):
        wish = "a Limit, as `limit` gives for one cloud"
        raise InputError(f"`lim` must be {wish}, not {shorten(lim)}.")
    most = check_int(most, "`most`", at_least=1)
    view = plane.prepare(ax, plane.extent(lim.run), "limit")
    some = np.s_[:: (lim.n - 1) // most + 1]
    clusters, number, leaders = lim.clusters, _numbers(lim), lim.distinct_leaders
    ends = _ends(lim)
    corners = view.places(ends[leaders])
    groups = number[clusters.labels[leaders]].tolist()
    # Of a projected polytope the shadow is shown. Its metric does not matter here.
    drawn: plane.Artists = {"hull": plane.draw_hull(corners, ax) if len(leaders) else []}
    path = np.stack([*plane.bends(lim.run, lim.run.layers + 1, some), ends[some]])
    drawn |= plane.draw_flow(view.path(path), number[clusters.labels[some]], ax)
    faces = _labels_of(lim, "vertices")
    drawn["faces"] = [_draw_face(lim, label, view, ax) for label in faces]
    drawn["projections"] = [_draw_ends(lim, faces, view, PROJECTION, ax)]
    drawn["elsewhere"] = [_draw_ends(lim, _elsewhere(lim), view, ELSEWHERE, ax)]
    return drawn | plane.draw_leaders(corners, groups, leaders.tolist(), ax)


def _ends(lim: "Limit") -> np.ndarray:
    """The limit of every token; the last layer if the run did not settle."""
    return lim.run._floats_at(lim.run.layers if lim.settled_at is None else "limit")


def _numbers(lim: "Limit") -> np.ndarray:
    """A number for the look of each cluster: those of leaders first, in the order of these."""
    leading = lim.clusters.labels[lim.distinct_leaders]
    rest = np.setdiff1d(np.arange(len(lim.clusters)), leading)
    return np.argsort(np.concatenate([leading, rest]))


def _labels_of(lim: "Limit", field: str) -> list[int]:
    """The clusters whose kind has a field: "leader" or "vertices"."""
    return [label for label, kind in enumerate(lim.clusters.kinds) if hasattr(kind, field)]


def _elsewhere(lim: "Limit") -> list[int]:
    """The clusters of all other kinds."""
    known = {*_labels_of(lim, "leader"), *_labels_of(lim, "vertices")}
    return sorted({*range(len(lim.clusters))} - known)


def _draw_ends(
    lim: "Limit", labels: list[int], view: plane.View, marker: str, ax: Axes
) -> PathCollection:
    colors = [look_of_leader(group)[0] for group in _numbers(lim)[labels].tolist()]
    look = {"c": colors, "marker": marker, "edgecolors": style.ink(), "lw": 0.6}
    return plane.marks(view.places(lim.clusters.limit_points[labels]), ax, s=64, zorder=5, **look)


def _draw_face(lim: "Limit", label: int, view: plane.View, ax: Axes) -> Line2D:
    """Lines from a projection to the leaders whose hull it is the nearest point of."""
    face: Any = lim.clusters.kinds[label]
    corners = view.places(_ends(lim)[list(face.vertices)])
    end = view.places(lim.clusters.limit_points[[label]])
    color = look_of_leader(int(_numbers(lim)[label]))[0]
    look = {"lw": 3, "alpha": 0.5, "solid_capstyle": "round", "zorder": 2}
    lines = np.stack([np.broadcast_to(end, corners.shape), corners])
    return plane.draw_lines(lines, ax, color=color, **look)


# ---------------------------------------------------------------- with a title and a legend


def plot_limit(lim: "Limit", ax: Any, figsize: Any) -> Axes:
    """`draw_limit` on the axes; on new ones with a title and a legend."""
    if ax is not None:
        draw_limit(lim, ax)
        return ax
    return _draw_on(style.new_figure(style.check_figsize(figsize, _size(lim))), lim)


def limit_figure(lim: "Limit") -> Figure:
    """`draw_limit` as a figure of its own, without pyplot, with a title and a legend."""
    figure = Figure(figsize=_size(lim), dpi=style.DPI, layout="constrained")
    _draw_on(figure, lim)
    return figure


def _size(lim: "Limit") -> tuple[float, float]:
    return 6.4, 2.6 if lim.d == 1 else 4.6


def _draw_on(figure: Any, lim: "Limit") -> Axes:
    with style.style_context():
        ax = figure.add_subplot(projection="3d" if lim.d == 3 else None, anchor="NW")
        ax.set_title(_title(lim), loc="left")
        figure.legend(handles=_legend(lim), loc="outside right upper", frameon=False, fontsize=8)
        draw_limit(lim, ax)
    return ax


def _title(lim: "Limit") -> str:
    every = (lim.n - 1) // plane.MOST_TOKENS + 1
    count = pluralize(lim.n, "token") + (f" (one in {every} drawn)" if every > 1 else "")
    if lim.settled_at is not None:
        return f"{count}, settled at layer {lim.settled_at}"
    return f"{count}, not settled at layer {lim.run.layers:,}:\nlimits within {lim.limit_error:.2g}"


def _legend(lim: "Limit") -> list[Line2D]:
    """What the marks mean, and what each cluster is: the largest ones if there are too many."""
    kinds, is_settled, number = lim.clusters.kinds, lim.settled_at is not None, _numbers(lim)
    signs, ink = [], style.ink()
    if len(lim.leaders):
        signs.append(style.sign(LEADER, ink, "leader, with its token number", 11))
    if _labels_of(lim, "vertices"):
        signs.append(style.sign(PROJECTION, ink, "projection of the origin onto a face", 7))
    if _elsewhere(lim):
        name = "another limit" if is_settled else "last seen here"
        signs.append(style.sign(ELSEWHERE, ink, name, 7))
    if not is_settled:
        return signs
    sizes = lim.clusters.sizes
    largest = np.argsort(-sizes, kind="stable")[:MOST_CLUSTERS_IN_LEGEND]
    for label in largest[np.argsort(number[largest])].tolist():
        color, shape = look_of_leader(int(number[label]))
        tokens = pluralize(int(sizes[label]), "token")
        signs.append(style.sign(shape, color, f"{kinds[label]}: {tokens}", 6))
    left_out = len(kinds) - len(largest)
    if left_out:
        signs.append(style.sign("", ink, f"and {pluralize(left_out, 'smaller cluster')}", 0))
    return signs
