"""`lim.plot()`: where every token of a cloud starts, which way it goes, and where it ends."""

from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, shorten
from hardmax.figures import plane, style
from hardmax.figures.palette import ELSEWHERE, LEADER, PROJECTION, look_of_leader
from hardmax.figures.style import Axes, Line2D

if TYPE_CHECKING:
    from hardmax.infinite_depth import Limit

MOST_CLUSTERS_IN_LEGEND = 18


def draw_limit(lim: "Limit", ax: Axes) -> plane.Artists:
    """Draw tokens and their paths to the limits, in the colour and shape of their cluster; of very
    many tokens every second, third, …

    Leaders are numbered stars, and have the colours that `draw_layer` gives them. Projections of
    the origin onto a face are diamonds, with strong lines to the leaders that span the face; a
    limit of any other kind is a cross. The hull of the leaders is shaded.

    Parameters
    ----------
    lim : Limit
        The limit of one cloud.
    ax : matplotlib Axes
        Where to draw; may be three-dimensional if the tokens are.

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
    if not hasattr(getattr(lim, "run", None), "phases"):
        wish = "a Limit, as `limit` gives for one cloud"
        raise InputError(f"`lim` must be {wish}, not {shorten(lim)}.")
    view = plane.prepare(ax, lim.run, "limit")
    clusters, number, leaders = lim.clusters, _numbers(lim), lim.distinct_leaders
    some = plane.thin(np.arange(lim.n))
    # The last layer if the run did not settle.
    ends = lim.run.floats_at(lim.run.layers if lim.settled_at is None else "limit")
    corners = view.places(ends[leaders])
    # Of a projected polytope the shadow is shown. Its metric does not matter here.
    drawn = {"hull": plane.draw_hull(corners, ax)}
    path = np.stack([*plane.bends(lim.run, lim.run.layers + 1, some), ends[some]])
    drawn |= plane.draw_flow(view.path(path), number[clusters.labels[some]], ax)
    drawn["faces"], points = [], view.places(clusters.limit_points)
    colors = np.array([look_of_leader(group)[0] for group in number.tolist()])
    for label in _labels(lim, "vertices"):
        kind: Any = clusters.kinds[label]
        span = view.places(ends[list(kind.vertices)])
        lines = np.stack([np.broadcast_to(points[label], span.shape), span])
        look = {"lw": 3, "alpha": 0.5, "solid_capstyle": "round", "zorder": 2}
        drawn["faces"].append(plane.draw_lines(lines, ax, color=colors[label], **look))
    marks = {"projections": (PROJECTION, "vertices"), "elsewhere": (ELSEWHERE, "")}
    for name, (marker, field) in marks.items():
        labels = _labels(lim, field)
        look = {"marker": marker, "edgecolors": style.ink(), "lw": 0.6, "zorder": 5}
        drawn[name] = [plane.marks(points[labels], ax, s=64, c=colors[labels], **look)]
    groups = number[clusters.labels[leaders]].tolist()
    return drawn | plane.draw_leaders(corners, groups, leaders.tolist(), ax)


def _numbers(lim: "Limit") -> np.ndarray:
    """A number for the look of each cluster: those of leaders first, in the order of these."""
    leading = lim.clusters.labels[lim.distinct_leaders]
    rest = np.setdiff1d(np.arange(len(lim.clusters)), leading)
    return np.argsort(np.concatenate([leading, rest]))


def _labels(lim: "Limit", field: str) -> list[int]:
    """The clusters whose kind has this first field, "vertices", or, for "", none."""
    first = [next(iter(vars(kind)), "") for kind in lim.clusters.kinds]
    return [label for label, name in enumerate(first) if name == field]


# ---------------------------------------------------------------- with a title and a legend


def plot_limit(lim: "Limit", ax: Any) -> Axes:
    """`draw_limit` on the axes; on new ones with a title and a legend."""
    is_new = ax is None
    if is_new:
        ax = style.new_axes((6.4, 2.6 if lim.d == 1 else 4.6), lim.d, anchor="NW")
    with style.style_context():
        draw_limit(lim, ax)
        if is_new:
            ax.set_title(_title(lim), loc="left")
            beside: Any = {"loc": "outside right upper", "frameon": False, "fontsize": 8}
            ax.figure.legend(handles=_legend(lim), **beside)
    return ax


def _title(lim: "Limit") -> str:
    some = " (some drawn)" if lim.n > plane.MOST_TOKENS else ""
    count = pluralize(lim.n, "token") + some
    if lim.settled_at is not None:
        return f"{count}, settled at layer {lim.settled_at}"
    return f"{count}, not settled at layer {lim.run.layers:,}:\nlimits within {lim.limit_error:.2g}"


def _legend(lim: "Limit") -> list[Line2D]:
    """What the marks mean, and what each cluster is: the largest ones if there are too many."""
    kinds, is_settled, number = lim.clusters.kinds, lim.settled_at is not None, _numbers(lim)
    signs, ink = [], style.ink()
    if len(lim.leaders):
        signs.append(style.sign(LEADER, ink, "leader, with its token number", 11))
    if _labels(lim, "vertices"):
        signs.append(style.sign(PROJECTION, ink, "projection of the origin onto a face", 7))
    if _labels(lim, ""):
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
