"""Clouds on axes: how tokens of any dimension are laid on paper, and the marks, paths and hulls
that figures share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.validation import InputError
from hardmax.figures import style
from hardmax.figures.palette import FAINT, LEADER, SHADE, look_of_leader, mark_scale
from hardmax.figures.style import (
    Artist,
    Axes,
    Axes3D,
    Line2D,
    PathCollection,
    Poly3DCollection,
    Polygon,
    withStroke,
)
from hardmax.geometry._hull import going_round
from hardmax.geometry.polytope import Polytope

if TYPE_CHECKING:
    from hardmax._runs.run import Run

MOST_TOKENS = 5000
"""Of more tokens than this only some are drawn: the rest would be a blot."""
MOST_BENDS, MOST_LABELS = 100, 40
_STAR = 130.0
_BESIDE = 11.0  # points from a leader to its number
_LABELS = "xlabel", "ylabel", "zlabel"
_SAMPLE = 20_000  # the directions of largest spread are those of at most this many tokens
Artists = dict[str, list[Any]]
"""What a figure drew, by what it shows."""


@dataclass(frozen=True, eq=False)
class View:
    """A linear map (d, 2 or 3) onto the paper, and the names of its axes."""

    axes: np.ndarray
    names: tuple[str, ...]
    falling: bool = False
    """Tokens on a line would hide their paths: they start above it, and come down."""

    def places(self, points: np.ndarray) -> np.ndarray:
        """Where points (…, d) are drawn: (…, 2 or 3)."""
        # For so few columns BLAS is slow.
        return np.einsum("...d,dk->...k", points, self.axes)

    def path(self, path: np.ndarray) -> np.ndarray:
        """Where tokens are drawn on their way: from (k, n, d) to (k, n, 2 or 3)."""
        drawn = self.places(path)
        if self.falling:
            drawn[:, :, 1] = np.linspace(1, 0, len(path))[:, None]
        return drawn


def view_of(tokens: np.ndarray, ax: Axes) -> View:
    """The view of tokens (n, d) on these axes: themselves where they fit, else principal
    coordinates."""
    d, names = tokens.shape[1], ("$z_1$", "$z_2$", "$z_3$")
    if isinstance(style.check_axes(ax), Axes3D):
        if d != 3:
            raise InputError(
                f"`ax` is in three dimensions, but the tokens have {d}: use two-dimensional axes."
            )
        return View(np.eye(3), names)
    if d == 1:
        return View(np.array([[1.0, 0.0]]), ("$z$", ""), falling=True)
    if d == 2:
        return View(np.eye(2), names)
    names = f"principal coordinate 1 of {d}", "principal coordinate 2"
    return View(principal_axes(tokens), names)


def principal_axes(tokens: np.ndarray) -> np.ndarray:
    """The two directions (d, 2) in which the tokens (n, d) spread most, seen from the origin as it
    is.

    >>> tokens = np.array([[0.0, 3.0, 0.0], [0.0, -3.0, 0.0], [1.0, 0.0, 0.0]])
    >>> principal_axes(tokens).round(1).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    """
    some = tokens[:: len(tokens) // _SAMPLE + 1]
    some = some / (np.abs(some).max() or 1.0)  # whose squares are within the range of floats
    centred = some - some.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, [-1, -2]]
    # A direction and its opposite are equally good: the largest entry is made positive, so that
    # pictures do not flip.
    return axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])


def thin(tokens: np.ndarray) -> np.ndarray:
    """All of some tokens, or every second, third, … of them, so that not too many are drawn."""
    return tokens[:: len(tokens) // (MOST_TOKENS + 1) + 1]


def bends(run: "Run", end: int, tokens: np.ndarray) -> list[np.ndarray]:
    """Some of the tokens (n, d) wherever their paths bend before a layer: where attended sets
    change."""
    layers = [layer for layer in run.decided_at if layer < end] or [0]
    every = len(layers) // MOST_BENDS + 1
    if run.points.count > MOST_TOKENS:
        every = len(layers)  # the start alone: each layer between has to be computed again
    return [run.floats_at(layer)[tokens] for layer in layers[::every]]


def prepare(ax: Axes, run: "Run", end: str) -> View:
    """Axes with numbers for a run, and the origin if it is near. They are the same at all layers.
    `end` names where tokens on a line come down to."""
    starts = run.floats_at(0)
    view = view_of(starts, ax)
    if not run.dynamics.traits.convex:  # tokens may leave the hull of their starts
        every = len(run) // MOST_BENDS + 1
        later = {*range(0, len(run), every), run.layers}
        starts = np.concatenate([run.floats_at(layer) for layer in later])
    places = view.path(starts[None])[0]
    spread = np.ptp(places, axis=0).max()
    near = bool(np.abs(places.mean(axis=0)).max() <= 3 * spread)
    ax.set(**dict(zip(_LABELS[: places.shape[1]], view.names, strict=False)))
    if isinstance(ax, Axes3D):
        ax.set(**_window(places, 1))
        _prepare_space(ax)
    else:
        ax.set(aspect="equal", **_window(np.vstack([places, np.zeros((int(near), 2))]), 1.2))
        ax.locator_params(nbins=5)
        ax.spines[:].set_color(SHADE)
        ax.tick_params(color=FAINT, labelsize="small")
    if view.falling:
        ax.set_aspect("auto")
        ax.set(ylim=(-0.25, 1.15), yticks=[1, 0], yticklabels=["start", end])
    if near:
        marks(np.zeros((1, places.shape[1])), ax, s=30, marker="+", c=FAINT, lw=0.8, zorder=2)
    return view


def _prepare_space(ax: Axes3D) -> None:
    ax.computed_zorder = False  # stars lie over facets, whichever is in front
    ax.set_box_aspect((1, 1, 1), zoom=0.9)  # pyright: ignore[reportArgumentType]
    ax.grid(False)
    ax.locator_params(nbins=4)
    ax.tick_params(labelsize="x-small", pad=0)
    axes: Any = (ax.xaxis, ax.yaxis, ax.zaxis)
    for axis in axes:
        axis.pane.set_alpha(0.0)
        axis.labelpad = -4


def _window(places: np.ndarray, room: float) -> dict[str, Any]:
    """The ends of the axes: a square or a cube around the places, so much larger than it need be.

    >>> _window(np.array([[0.0, 0.0], [20.0, 10.0]]), 1.2)
    {'xlim': [-2.0, 22.0], 'ylim': [-7.0, 17.0]}
    """
    low, high = places.min(axis=0), places.max(axis=0)
    reach = float((high / 2 - low / 2).max()) * room or 1.0
    ends = (low + high)[:, None] / 2 + [-reach, reach]
    return dict(zip(("xlim", "ylim", "zlim"), ends.tolist(), strict=False))


def marks(places: np.ndarray, ax: Axes, **look: Any) -> PathCollection:
    """A mark at each place (n, 2 or 3)."""
    # In space matplotlib pales what is far away, and a pale colour is another colour.
    flat = {"depthshade": False} if isinstance(ax, Axes3D) else {}
    return ax.scatter(*places.T, **look, **flat)


def draw_lines(path: np.ndarray, ax: Axes, **look: Any) -> Line2D:
    """Paths (k, n, 2 or 3) as one line with gaps, which is drawn a hundred times faster than a line
    for each."""
    gaps = np.full((1, *path.shape[1:]), np.nan)
    joined = np.concatenate([path, gaps]).swapaxes(0, 1).reshape(-1, path.shape[2])
    return ax.plot(*joined.T, **look)[0]


def draw_flow(path: np.ndarray, groups: np.ndarray, ax: Axes) -> Artists:
    """Paths (k, n, 2 or 3) of the tokens that move, and small marks at their starts, in the look of
    their groups."""
    moves = np.ptp(path, axis=0).max(axis=1) > 0
    small = mark_scale(len(groups))
    path, groups = path[:, moves], groups[moves]
    line = {"lw": 1.1 * small, "alpha": 0.6, "zorder": 2}
    mark = {"s": 28 * small**0.5, "edgecolors": style.ground(), "lw": 0.4 * small, "zorder": 3}
    paths, starts = [], []
    for group in np.unique(groups).tolist():
        color, shape = look_of_leader(group)
        followers = path[:, groups == group]
        paths.append(draw_lines(followers, ax, color=color, **line))
        starts.append(marks(followers[0], ax, color=color, marker=shape, **mark))
    return {"paths": paths, "starts": starts}


def draw_leaders(
    places: np.ndarray, groups: Sequence[int], tokens: Sequence[int], ax: Axes
) -> Artists:
    """Stars in the colours of their groups, and the numbers of the tokens; of very many, some of
    these."""
    size = _STAR * mark_scale(len(places)) ** 0.5
    colors = [look_of_leader(group)[0] for group in groups]
    look = {"marker": LEADER, "edgecolors": style.ink(), "lw": 0.5, "zorder": 6}
    stars = marks(places, ax, s=size, c=colors, **look)
    return {"leaders": [stars], "labels": _draw_labels(places, tokens, ax)}


def _draw_labels(places: np.ndarray, tokens: Sequence[int], ax: Axes) -> list[Any]:
    """Numbers beside places (n, 2 or 3), away from the middle of all."""
    look: dict[str, Any] = {"fontsize": 8, "zorder": 8, "va": "center"}
    look["path_effects"] = [withStroke(linewidth=2, foreground=style.ground())]
    every = len(tokens) // (MOST_LABELS + 1) + 1
    labelled = list(zip(places.tolist(), map(str, tokens), strict=True))[::every]
    if isinstance(ax, Axes3D):
        return [ax.text(x, y, z, f"  {name}", **look) for (x, y, z), name in labelled]
    middle = places.mean(axis=0) if len(places) else 0
    labels = []
    for place, name in labelled:
        away = place - middle
        away = away / np.hypot(*away) if away.any() else np.array([1.0, 0.0])
        offset = {"xytext": _BESIDE * away, "textcoords": "offset points", "ha": "center"}
        labels.append(ax.annotate(name, place, **offset, **look))
    return labels


def draw_hull(places: np.ndarray, ax: Axes) -> list[Artist]:
    """The hull of places: a polygon, facets in space, or the segment or point that is left of
    it."""
    if not len(places):
        return []
    polytope = Polytope(places)
    corners = polytope.vertices
    if polytope.dimension == 0:
        return [ax.scatter(*corners.T, s=20, color=FAINT, zorder=1)]
    if polytope.dimension == 1:
        return list(ax.plot(*corners.T, color=FAINT, lw=1.2, zorder=1))
    look = {"facecolor": SHADE, "edgecolor": FAINT, "lw": 0.8, "zorder": 1}
    if isinstance(ax, Axes3D):
        facets = [corners]
        if polytope.dimension == 3:
            facets = [corners[list(face)] for face in polytope.facets]
        rounds = [facet[going_round(facet)] for facet in facets]
        return [ax.add_collection3d(Poly3DCollection(rounds, **look))]
    return [ax.add_patch(Polygon(corners[going_round(corners)], **look))]
