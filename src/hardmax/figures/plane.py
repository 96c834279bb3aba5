"""Clouds on axes: how tokens of any dimension are laid on paper, and the marks, paths and hulls that figures share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._validation import InputError, normalize_index
from hardmax.figures import style
from hardmax.figures.layout import place_labels, principal_axes
from hardmax.figures.palette import BLUE, FAINT, INK, LEADER, SHADE, VERMILION, look_of_leader, mark_scale
from hardmax.geometry._hull import going_round
from hardmax.geometry.polytope import Polytope

MOST_TOKENS = 5000
"""Of more tokens than this only some are drawn: the rest would be a blot."""
MOST_BENDS, MOST_LABELS = 100, 40
SEE_THROUGH = (INK, 0.07)  # grey on white, and what is behind it still shows
STAR = 130.0


# ---------------------------------------------------------------- any dimension on paper


@dataclass(frozen=True, eq=False)
class View:
    """A linear map (d, 2 or 3) onto the paper, and the names of its axes."""

    axes: np.ndarray
    names: tuple[str, ...]
    falling: bool = False
    """Tokens on a line would hide their paths: they start above it, and come down."""

    def places(self, points: np.ndarray) -> np.ndarray:
        """Where points (n, d) are drawn: (n, 2 or 3)."""
        return points @ self.axes

    def path(self, path: np.ndarray) -> np.ndarray:
        """Where tokens are drawn on their way: from (k, n, d) to (k, n, 2 or 3)."""
        drawn = path @ self.axes
        if self.falling:
            drawn[:, :, 1] = np.linspace(1, 0, len(path))[:, None]
        return drawn


def view_of(tokens: np.ndarray, ax: style.Axes) -> View:
    """The view of tokens (n, d) on these axes: themselves where they fit, else principal coordinates.

    >>> from matplotlib.figure import style.Figure
    >>> view_of(np.eye(4), style.Figure().subplots()).names
    ('principal coordinate 1 of 4', 'principal coordinate 2')
    """
    d = tokens.shape[1]
    names = ("$z_1$", "$z_2$", "$z_3$")
    if isinstance(ax, style.Axes3D):
        if d != 3:
            raise InputError(f"`ax` is in three dimensions, but the tokens have {d}: take plane axes.")
        return View(np.eye(3), names)
    if d == 1:
        return View(np.array([[1.0, 0.0]]), ("$z$", ""), falling=True)
    if d == 2:
        return View(np.eye(2), names[:2])
    return View(principal_axes(tokens), (f"principal coordinate 1 of {d}", "principal coordinate 2"))


def projection_for(d: int) -> str | None:
    """The kind of axes on which tokens of that dimension are drawn: in space for three, else in the plane."""
    return "3d" if d == 3 else None


def prepare(ax: style.Axes, view: View, starts: np.ndarray, end: str) -> None:
    """Axes with numbers for a cloud that starts at these places, and the origin if it is near.

    They are the same at all layers: no token ever leaves the hull of the first. `end` names where tokens on a line
    come down to.
    """
    near = np.abs(starts.mean(axis=0)).max() <= 3 * np.ptp(starts, axis=0).max()
    if isinstance(ax, style.Axes3D):
        _prepare_space(ax, view, starts, near)
        return
    ax.set_aspect("equal")
    ax.axis(window(np.vstack([starts, np.zeros((int(near), 2))])))
    ax.set(xlabel=view.names[0], ylabel=view.names[1])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(style.MaxNLocator(5, steps=[1, 2, 5, 10]))
    for side in ax.spines.values():
        side.set_color(SHADE)
    ax.tick_params(color=FAINT, labelcolor=INK, labelsize="small")
    if view.falling:
        ax.set_aspect("auto")
        ax.set(ylim=(-0.25, 1.15), yticks=[1, 0], yticklabels=["start", end])
    if near:
        draw_origin(ax)


def _prepare_space(ax: style.Axes3D, view: View, starts: np.ndarray, near: bool) -> None:
    ax.computed_zorder = False  # stars lie over facets, whichever is in front
    low, high = starts.min(axis=0), starts.max(axis=0)
    reach = float((high - low).max()) / 2 or 1.0
    x, y, z = ((low + high) / 2).tolist()
    ax.set(xlim=(x - reach, x + reach), ylim=(y - reach, y + reach), zlim=(z - reach, z + reach))
    ax.set(xlabel=view.names[0], ylabel=view.names[1], zlabel=view.names[2])
    ax.set_box_aspect((1, 1, 1), zoom=0.9)
    ax.tick_params(labelsize="x-small", pad=0)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_major_locator(style.MaxNLocator(4))
        axis.pane.set_alpha(0.0)
        axis.labelpad = -4
        axis._axinfo["grid"].update(color=SHADE, linewidth=0.5)
    if near:
        ax.scatter(0, 0, 0, s=30, marker="+", color=FAINT, linewidths=0.8)


def window(places: np.ndarray) -> tuple[float, float, float, float]:
    """A square (left, right, bottom, top) with room around the places.

    >>> window(np.array([[0.0, 0.0], [20.0, 10.0]]))
    (-2.0, 22.0, -7.0, 17.0)
    """
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    reach = float(np.abs(places - middle).max()) * 1.2 or 1.0
    x, y = middle.tolist()
    return x - reach, x + reach, y - reach, y + reach


# ---------------------------------------------------------------- marks, paths, hulls


def draw_origin(ax: style.Axes) -> style.PathCollection:
    """A small plus at the origin."""
    return ax.scatter(0, 0, s=30, marker="+", color=FAINT, linewidths=0.8, zorder=2)


def draw_tokens(
    tokens: np.ndarray, ax: style.Axes, *, leaders: Sequence[int] | np.ndarray = (), color: str = FAINT
) -> tuple[style.PathCollection, style.PathCollection]:
    """Leaders as stars, the others as circles: both collections."""
    leads = np.isin(np.arange(len(tokens)), leaders)
    circles = ax.scatter(*tokens[~leads].T, s=26, c=color, edgecolors="white", linewidths=0.6, zorder=3)
    stars = ax.scatter(*tokens[leads].T, s=110, c=INK, marker=LEADER, edgecolors="white", linewidths=0.6, zorder=4)
    return circles, stars


def draw_paths(path: np.ndarray, ax: style.Axes, *, color: str = FAINT, width: float = 0.9) -> list[style.Line2D]:
    """The path of each token, from `path` of shape (layers, n, 2)."""
    return ax.plot(path[:, :, 0], path[:, :, 1], color=color, lw=width, zorder=2)


def marks(places: np.ndarray, ax: style.Axes, **look: Any) -> style.PathCollection:
    """A mark at each place (n, 2 or 3)."""
    # In space matplotlib pales what is far away, and a pale colour is another colour.
    flat = {"depthshade": False} if isinstance(ax, style.Axes3D) else {}
    return ax.scatter(*places.T, **look, **flat)


def draw_lines(path: np.ndarray, ax: style.Axes, **look: Any) -> style.Line2D:
    """Paths (k, n, 2 or 3) as one line with gaps, which is drawn a hundred times faster than a line for each."""
    gaps = np.full((1, *path.shape[1:]), np.nan)
    joined = np.concatenate([path, gaps]).swapaxes(0, 1).reshape(-1, path.shape[2])
    (line,) = ax.plot(*joined.T, **look)
    return line


def draw_flow(
    path: np.ndarray, groups: np.ndarray, ax: style.Axes
) -> tuple[list[style.Line2D], list[style.PathCollection]]:
    """Paths (k, n, 2 or 3) of the tokens that move, and small marks at their starts, in the look of their groups."""
    moves = np.ptp(path, axis=0).max(axis=1) > 0
    path, groups, small = path[:, moves], groups[moves], mark_scale(len(groups))
    lines, starts = [], []
    for group in np.unique(groups).tolist():
        mine, (color, shape) = path[:, groups == group], look_of_leader(group)
        lines.append(draw_lines(mine, ax, color=color, lw=1.1 * small, alpha=0.6, zorder=2))
        look = {"marker": shape, "color": color, "edgecolors": "white", "lw": 0.4 * small, "zorder": 3}
        starts.append(marks(mine[0], ax, s=28 * small**0.5, **look))
    return lines, starts


def draw_leaders(
    places: np.ndarray, groups: Sequence[int], names: Sequence[str], ax: style.Axes
) -> style.PathCollection:
    """Stars in the colours of their groups, with their names (of very many those for which there is room)."""
    size = STAR * mark_scale(len(places)) ** 0.5
    colors = [look_of_leader(group)[0] for group in groups]
    stars = marks(places, ax, s=size, c=colors, marker=LEADER, edgecolors=INK, lw=0.5, zorder=6)
    if not isinstance(ax, style.Axes3D):
        reach = [size**0.5 / 2] * len(places)
        shown = slice(MOST_LABELS)
        place_labels(places[shown], names[shown], reach[shown], ax, centre=places.mean(axis=0))
        return stars
    halo = [style.withStroke(linewidth=2, foreground="white")]
    for name, (x, y, z) in zip(names[:MOST_LABELS], places.tolist(), strict=False):
        ax.text(x, y, z, f"  {name}", fontsize=8, path_effects=halo, zorder=7)
    return stars


def draw_polytope(polytope: Any, ax: style.Axes) -> list[style.Artist]:
    """Draw a polytope: a shaded polygon, translucent facets in space, or the segment or point that is left of it.

    Parameters
    ----------
    polytope : Polytope or array_like of shape (n, 2) or (n, 3)
        The polytope, or points whose hull it is.
    ax : matplotlib Axes
        Where to draw; three-dimensional axes for a polytope in space.

    Returns
    -------
    list of matplotlib Artist
        What was drawn.

    Examples
    --------
    >>> from matplotlib.figure import style.Figure
    >>> [type(artist).__name__ for artist in draw_polytope([[0, 0], [1, 0], [0, 1]], style.Figure().subplots())]
    ['Polygon']
    """
    given = polytope if isinstance(polytope, Polytope) else Polytope(polytope)
    corners = given.vertices
    space = 3 if isinstance(style.check_axes(ax), style.Axes3D) else 2
    if corners.shape[1] != space:
        raise InputError(
            f"`polytope` lies in {corners.shape[1]} dimensions, these axes have {space}: draw a projection of it."
        )
    if given.dimension == 0:
        return [ax.scatter(*corners.T, s=20, color=FAINT, zorder=1)]
    if given.dimension == 1:
        return list(ax.plot(*corners.T, color=FAINT, lw=1.2, zorder=1))
    if isinstance(ax, style.Axes3D):
        facets = [corners[list(face)] for face in given.faces(2)]
        ordered = [facet[going_round(facet)] for facet in facets]
        collection = style.Poly3DCollection(ordered, facecolor=SEE_THROUGH, edgecolor=FAINT, linewidths=0.7, zorder=1)
        ax.add_collection3d(collection)
        return [collection]
    shade = style.Polygon(corners[going_round(corners)], facecolor=SEE_THROUGH, edgecolor=FAINT, lw=0.8, zorder=1)
    ax.add_patch(shade)
    return [shade]


# ---------------------------------------------------------------- one cloud, several arithmetics


def arithmetics_figure(runs: Mapping[str, Any], watched: Sequence[int], goals: np.ndarray) -> style.Figure:
    """A panel for each run in the plane, with the `watched` tokens and the points where they belong, `goals`."""
    with style.our_look():
        figure = style.Figure(figsize=(3.6 * len(runs), 4.1))
        panels = figure.subplots(1, len(runs), squeeze=False)[0]
        for ax, (title, run) in zip(panels, runs.items(), strict=True):
            _draw_watched(run, ax, [normalize_index(token, run.n, "`watched`") for token in watched], goals)
            ax.set_title(title)
        figure.supxlabel("star: leader    ring: where a watched token belongs    cross: it ends elsewhere", fontsize=8)
        figure.tight_layout()
    return figure


def _draw_watched(run: Any, ax: style.Axes, watched: Sequence[int], goals: np.ndarray) -> None:
    """All paths; the watched ones blue with a dot if they end where they belong, else red with a cross."""
    style.plain_axes(ax)
    path = np.asarray(run)
    draw_polytope(path[-1][run.leaders], ax)
    draw_paths(path, ax)
    draw_tokens(path[0], ax, leaders=run.leaders)
    ax.scatter(*goals.T, s=120, facecolors="none", edgecolors=FAINT, linewidths=1.4, zorder=2)
    for token, goal in zip(watched, goals, strict=True):
        right = bool(np.allclose(path[-1, token], goal, atol=1e-9))
        color = BLUE if right else VERMILION
        draw_paths(path[:, [token]], ax, color=color, width=1.8)
        ax.scatter(*path[0, token], s=34, c=color, edgecolors="white", linewidths=0.6, zorder=5)
        ax.scatter(*path[-1, token], s=70, c=color, marker="o" if right else "X", edgecolors="white", zorder=6)
        ax.annotate(
            f"token {token}", path[0, token], textcoords="offset points", xytext=(6, -9), fontsize=8, color=color
        )
