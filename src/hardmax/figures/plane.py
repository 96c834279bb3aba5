"""Clouds on axes: how tokens of any dimension are laid on paper, and the marks, paths and hulls
that figures share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.format import sanitize_line
from hardmax._common.validation import InputError
from hardmax._layer.rules import moves_to_means
from hardmax.figures import style
from hardmax.figures.palette import FAINT, LEADER, SHADE, look_of_leader, mark_scale
from hardmax.figures.style import (
    Artist,
    Axes,
    Axes3D,
    Line2D,
    MaxNLocator,
    PathCollection,
    Poly3DCollection,
    Polygon,
    withStroke,
)
from hardmax.geometry._hull import going_round
from hardmax.geometry.polytope import Polytope

if TYPE_CHECKING:
    from hardmax._runs.trajectory import Trajectory

MOST_TOKENS = 5000
"""Of more tokens than this only some are drawn: the rest would be a blot."""
MOST_BENDS, MOST_LABELS = 100, 40
_STAR = 130.0
_BESIDE, _LABEL_HEIGHT, _LETTER = 11.0, 9.0, 5.0  # of labels, in points
_LABELS = "xlabel", "ylabel", "zlabel"
_SAMPLE = 20_000  # of so many tokens the directions of largest spread are found
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
        # Of so few columns BLAS makes heavy work.
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
    # The triangle of a QR decomposition has the same directions, and d rows instead of n.
    triangle = np.linalg.qr(some - some.mean(axis=0), mode="r")
    _, _, directions = np.linalg.svd(triangle, full_matrices=True)
    chosen = directions[:2]
    # A direction and its opposite are equally good: the largest entry is made positive, so that
    # pictures do not flip.
    largest = chosen[np.arange(2), np.abs(chosen).argmax(axis=1)]
    return (chosen * np.sign(largest)[:, None]).T


def bends(run: "Trajectory", end: int, tokens: np.ndarray | slice) -> list[np.ndarray]:
    """Some of the tokens (n, d) wherever their paths bend before a layer: where attended sets
    change."""
    layers = [layer for layer in run.details.decisions.layers if layer < end] or [0]
    every = len(layers) // MOST_BENDS + 1
    if run.details.points.count > MOST_TOKENS:
        every = len(layers)  # the start alone: each layer between has to be computed again
    return [run._floats_at(layer)[tokens] for layer in layers[::every]]


def extent(run: "Trajectory") -> np.ndarray:
    """The tokens (n, d) at the start, and also later if they may leave the hull of these."""
    if moves_to_means(run.dynamics):
        return run._floats_at(0)
    every = len(run.recorded) // MOST_BENDS + 1
    return np.concatenate([run._floats_at(k) for k in {*run.recorded[::every], run.layers}])


def prepare(ax: Axes, starts: np.ndarray, end: str) -> View:
    """Axes with numbers for a run of this extent, and the origin if it is near. They are the same
    at all layers. `end` names where tokens on a line come down to."""
    view = view_of(starts, ax)
    places = view.path(starts[None])[0]
    spread = np.ptp(places, axis=0).max()
    near = bool(np.abs(places.mean(axis=0)).max() <= 3 * spread)
    if isinstance(ax, Axes3D):
        _prepare_space(ax, places)
    else:
        ax.set_aspect("equal")
        origin = np.zeros((int(near), 2))
        ax.axis(window(np.vstack([places, origin])))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        for side in ax.spines.values():
            side.set_color(SHADE)
        ax.tick_params(color=FAINT, labelsize="small")
    ax.set(**dict(zip(_LABELS[: places.shape[1]], view.names, strict=False)))
    if view.falling:
        ax.set_aspect("auto")
        ax.set(ylim=(-0.25, 1.15), yticks=[1, 0], yticklabels=["start", end])
    if near:
        marks(np.zeros((1, places.shape[1])), ax, s=30, marker="+", c=FAINT, lw=0.8, zorder=2)
    return view


def _prepare_space(ax: Axes3D, places: np.ndarray) -> None:
    ax.computed_zorder = False  # stars lie over facets, whichever is in front
    low, high = places.min(axis=0), places.max(axis=0)
    reach = float((high - low).max()) / 2 or 1.0
    middle = (low + high) / 2
    x, y, z = np.transpose([middle - reach, middle + reach]).tolist()
    ax.set(xlim=x, ylim=y, zlim=z)
    ax.set_box_aspect((1, 1, 1), zoom=0.9)  # pyright: ignore[reportArgumentType]
    ax.grid(False)
    ax.tick_params(labelsize="x-small", pad=0)
    axes: Any = (ax.xaxis, ax.yaxis, ax.zaxis)
    for axis in axes:
        axis.set_major_locator(MaxNLocator(4))
        axis.pane.set_alpha(0.0)
        axis.labelpad = -4


def window(places: np.ndarray) -> tuple[float, float, float, float]:
    """A square (left, right, bottom, top) with room around the places.

    >>> window(np.array([[0.0, 0.0], [20.0, 10.0]]))
    (-2.0, 22.0, -7.0, 17.0)
    """
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    reach = float(np.abs(places - middle).max()) * 1.2 or 1.0
    x, y = middle.tolist()
    return x - reach, x + reach, y - reach, y + reach


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
    """Stars in the colours of their groups, and the numbers of the tokens; of very many, those that
    find room."""
    size = _STAR * mark_scale(len(places)) ** 0.5
    colors = [look_of_leader(group)[0] for group in groups]
    look = {"marker": LEADER, "edgecolors": style.ink(), "lw": 0.5, "zorder": 6}
    stars = marks(places, ax, s=size, c=colors, **look)
    labels = draw_labels(places, [str(token) for token in tokens], ax)
    return {"leaders": [stars], "labels": labels}


def draw_labels(places: np.ndarray, names: Sequence[str], ax: Axes) -> list[Any]:
    """Names beside places (n, 2 or 3), away from the middle of all; in the plane without those that
    would lie over others."""
    look: dict[str, Any] = {"fontsize": 8, "zorder": 8}
    look["path_effects"] = [withStroke(linewidth=2, foreground=style.ground())]
    if isinstance(ax, Axes3D):
        spots = zip(places[:MOST_LABELS].tolist(), names, strict=False)
        return [ax.text(x, y, z, f"  {name}", **look) for (x, y, z), name in spots]
    spots = ax.transData.transform(places) * 72 / ax.figure.dpi
    away = spots - spots.mean(axis=0) if len(spots) else spots
    length = np.hypot(*away.T)[:, None]
    ahead = np.broadcast_to([1.0, 0.0], away.shape)
    offsets = _BESIDE * np.divide(away, length, where=length > 1, out=ahead.copy())
    labels, written = [], np.empty((0, 2))
    look |= {"ha": "center", "va": "center", "textcoords": "offset points"}
    for name, place, spot, offset in zip(names, places, spots, offsets, strict=True):
        room = _LETTER * (1 + len(name)), _LABEL_HEIGHT
        is_free = not (np.abs(written - spot - offset) < room).all(axis=1).any()
        if not is_free or len(labels) == MOST_LABELS:
            continue
        written = np.vstack([written, spot + offset])
        labels.append(ax.annotate(escape_mathtext(name), place, offset, **look))
    return labels


def escape_mathtext(text: object) -> str:
    """The text in one line for matplotlib, which takes dollars for a formula."""
    return sanitize_line(text).replace("$", r"\$")


def draw_hull(places: np.ndarray, ax: Axes) -> list[Artist]:
    """The hull of places: a polygon, facets in space, or the segment or point that is left of
    it."""
    polytope = Polytope(places)
    corners = polytope.vertices
    if polytope.dimension == 0:
        return [ax.scatter(*corners.T, s=20, color=FAINT, zorder=1)]
    if polytope.dimension == 1:
        return list(ax.plot(*corners.T, color=FAINT, lw=1.2, zorder=1))
    look = {"facecolor": SHADE, "edgecolor": FAINT, "lw": 0.8, "zorder": 1}
    if isinstance(ax, Axes3D):
        facets = [corners[list(face)] for face in polytope.faces(2)]
        rounds = [facet[going_round(facet)] for facet in facets]
        return [ax.add_collection3d(Poly3DCollection(rounds, **look))]
    return [ax.add_patch(Polygon(corners[going_round(corners)], **look))]
