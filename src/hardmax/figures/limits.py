"""`lim.plot()`: where every token of a cloud starts, which way it goes, and where it ends."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._format import pluralize
from hardmax._validation import InputError, check_int, shorten
from hardmax.figures import plane, style
from hardmax.figures.palette import ELSEWHERE, INK, LEADER, PROJECTION, look_of_leader
from hardmax.trajectory import Trajectory

if TYPE_CHECKING:
    from hardmax.limits import Limit

MOST_CLUSTERS_IN_LEGEND = 18


@dataclass(frozen=True)
class DrawnLimit:
    """What `draw_limit` drew."""

    hull: list[style.Artist]
    """The hull of the leaders."""
    paths: list[style.Line2D]
    """From the starts to the limits, a line for each cluster that moves."""
    starts: list[style.PathCollection]
    """Where they begin."""
    leaders: style.PathCollection
    """Stars."""
    projections: style.PathCollection
    """Limits that are the projection of the origin onto a face."""
    faces: list[style.Line2D]
    """For each of these, lines to the leaders that span the face."""
    elsewhere: style.PathCollection
    """Limits of any other kind."""


def draw_limit(lim: "Limit", ax: style.Axes, *, most: int = plane.MOST_TOKENS) -> DrawnLimit:
    """Draw tokens and their paths to the limits, in the colour and shape of their cluster.

    Leaders are numbered stars, and have the colours that `draw_layer` gives them. Projections of the origin onto a face
    are diamonds, with strong lines to the leaders that span the face; a limit of any other kind is a cross. The hull of
    the leaders is shaded.

    Parameters
    ----------
    lim : Limit
        The limit of one cloud.
    ax : matplotlib Axes
        Where to draw; three-dimensional axes for tokens in space, if you like.
    most : int, default 5000
        Of more tokens than this only every second, third, … is drawn.

    Returns
    -------
    DrawnLimit
        The artists.

    Examples
    --------
    >>> from matplotlib.figure import style.Figure
    >>> import hardmax as hm
    >>> lim = hm.limit(hm.clouds.square(), hm.Dynamics("1/2"))
    >>> len(draw_limit(lim, style.Figure().subplots()).leaders.get_offsets())
    4
    """
    view = _prepare(lim, ax)
    every = (lim.run.n - 1) // check_int(most, "`most`", at_least=1) + 1
    kinds, number = lim.clusters.kinds, _numbers(lim)
    ends, leaders = view.places(lim.clusters.points), lim.distinct_leaders
    projected = [label for label, kind in enumerate(kinds) if hasattr(kind, "vertices")]
    others = [
        label for label, kind in enumerate(kinds) if not hasattr(kind, "vertices") and not hasattr(kind, "leader")
    ]
    look = {"s": 64, "edgecolors": INK, "lw": 0.6, "zorder": 5}
    colors = [look_of_leader(group)[0] for group in number.tolist()]
    spots = view.places(lim.float_points[leaders])
    paths, starts = plane.draw_flow(view.path(_bends(lim, every)), number[lim.clusters.labels[::every]], ax)
    groups = number[lim.clusters.labels[leaders]].tolist()
    return DrawnLimit(
        # Of a projected polytope the shadow is shown. Its metric does not matter here.
        hull=plane.draw_polytope(spots, ax) if len(leaders) else [],
        paths=paths,
        starts=starts,
        leaders=plane.draw_leaders(spots, groups, [str(token) for token in leaders.tolist()], ax),
        projections=plane.marks(ends[projected], ax, c=[colors[c] for c in projected], marker=PROJECTION, **look),
        faces=[_draw_face(lim, label, view, colors[label], ax) for label in projected],
        elsewhere=plane.marks(ends[others], ax, c=[colors[c] for c in others], marker=ELSEWHERE, **look),
    )


def _prepare(lim: "Limit", ax: style.Axes) -> plane.View:
    if not isinstance(getattr(lim, "run", None), Trajectory):
        raise InputError(
            f"`lim` must be a Limit, as `limit` gives for one cloud, not {shorten(lim)}.", argument="`lim`"
        )
    starts = lim.run.floats_at(0)
    view = plane.view_of(starts, style.check_axes(ax))
    plane.prepare(ax, view, view.path(starts[None])[0], "limit")
    return view


def _numbers(lim: "Limit") -> np.ndarray:
    """A number for the look of each cluster: those of leaders first, in the order of these."""
    leading = lim.clusters.labels[lim.distinct_leaders]
    rest = np.setdiff1d(np.arange(len(lim.clusters)), leading)
    numbers = np.empty(len(lim.clusters), dtype=int)
    numbers[np.concatenate([leading, rest])] = np.arange(len(numbers))
    return numbers


def _bends(lim: "Limit", every: int) -> np.ndarray:
    """Some of the tokens (k, n, d) wherever their paths bend: where attended sets change, and at the limit."""
    bends = lim.run.decided_at[:: len(lim.run.decided_at) // plane.MOST_BENDS + 1]
    return np.stack([*(lim.run.floats_at(layer)[::every] for layer in bends), lim.float_points[::every]])


def _draw_face(lim: "Limit", label: int, view: plane.View, color: str, ax: style.Axes) -> style.Line2D:
    """Lines from a projection to the leaders whose hull it is the nearest point of."""
    corners, end = lim.float_points[list(lim.clusters.kinds[label].vertices)], lim.clusters.points[label]
    there_and_back = np.stack([np.broadcast_to(end, corners.shape), corners], axis=1).reshape(-1, lim.run.d)
    places = view.places(there_and_back)
    (line,) = ax.plot(*places.T, color=color, lw=3, alpha=0.5, solid_capstyle="round", zorder=2)
    return line


# ---------------------------------------------------------------- with a title and a legend


def plot_limit(lim: "Limit", *, ax: Any = None, figsize: Any = None) -> style.Axes:
    """`draw_limit` on the axes; on new ones with a title and a legend."""
    if ax is not None:
        draw_limit(lim, ax)
        return ax
    return _draw_on(style.new_figure(style.check_figsize(figsize, _size(lim))), lim)


def limit_figure(lim: "Limit") -> style.Figure:
    """`draw_limit` as a figure of its own, without pyplot, with a title and a legend."""
    with style.our_look():
        figure = style.Figure(figsize=_size(lim), layout="constrained")
    _draw_on(figure, lim)
    return figure


def _size(lim: "Limit") -> tuple[float, float]:
    return 6.4, 2.6 if lim.run.d == 1 else 4.6


def _draw_on(figure: Any, lim: "Limit") -> style.Axes:
    with style.our_look():
        ax = figure.add_subplot(projection=plane.projection_for(lim.run.d))
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
    """What the plane.marks mean, and what each cluster is: the largest ones if there are too many."""
    kinds, settled, number = lim.clusters.kinds, lim.settled_at is not None, _numbers(lim)
    signs = [style.sign(LEADER, INK, "leader, with its token number", 11)] if len(lim.leaders) else []
    if any(hasattr(kind, "vertices") for kind in kinds):
        signs.append(style.sign(PROJECTION, INK, "projection of the origin onto a face", 7))
    if not all(hasattr(kind, "vertices") or hasattr(kind, "leader") for kind in kinds):
        signs.append(style.sign(ELSEWHERE, INK, "another limit" if settled else "last seen here", 7))
    if not settled:
        return signs
    sizes = lim.clusters.sizes
    largest = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLUSTERS_IN_LEGEND])
    for label in largest[np.argsort(number[largest])].tolist():
        color, shape = look_of_leader(int(number[label]))
        signs.append(style.sign(shape, color, f"{kinds[label]}: {pluralize(int(sizes[label]), 'token')}", 6))
    left = len(kinds) - len(largest)
    return [*signs, style.sign("", INK, f"and {pluralize(left, 'smaller cluster')}", 0)] if left else signs
