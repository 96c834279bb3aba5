"""Infinitely many layers in one picture: where every token starts, which way it goes, and where it ends."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hardmax.figures import inputs
from hardmax.figures.asked import LimitLike, face_of, is_elsewhere
from hardmax.figures.inputs import validate_params
from hardmax.figures.marks import marks
from hardmax.figures.mpl import Artist, Axes, Axes3D, Line2D, PathCollection, Text, withStroke
from hardmax.figures.palette import ELSEWHERE, INK, LEADER, PROJECTION, look_of, room
from hardmax.figures.polytopes import draw_polytope
from hardmax.figures.views import View, prepare, view_of
from hardmax.geometry.polytope import Polytope

MOST_BENDS, MOST_LABELS = 100, 60
MOST_TOKENS = 5000
"""Of more tokens than this only every second, third, … is drawn: the rest would be a blot."""


@dataclass(frozen=True)
class DrawnLimit:
    """What `draw_limit` drew; ways and starts have an entry for each cluster, faces one for each projection."""

    hull: list[Artist]
    ways: list[Line2D]
    starts: list[PathCollection]
    leaders: PathCollection
    labels: list[Text]
    projections: PathCollection
    faces: list[Line2D]
    elsewhere: PathCollection


@validate_params(lim=inputs.a_limit, ax=inputs.an_axes)
def draw_limit(lim: LimitLike, ax: Axes) -> DrawnLimit:
    """Tokens and their ways to the limits, in the colour and shape of their cluster.

    Leaders are stars with their numbers. Projections of the origin onto a face are diamonds, with strong lines to the
    leaders that span the face; a limit of any other kind is a cross. The hull of the leaders is shaded.
    """
    view = view_of(lim.run.floats_at(0), ax)
    prepare(ax, view, view.path(lim.run.floats_at(0)[None])[0])
    clusters = lim.clusters
    ends = view.places(clusters.points)
    projected = [label for label, kind in enumerate(clusters.kinds) if face_of(kind)]
    elsewhere = [label for label, kind in enumerate(clusters.kinds) if is_elsewhere(kind)]
    every = drawn_every(lim)
    path, labels = view.path(_bends(lim)[:, ::every]), clusters.labels[::every]
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels, minlength=len(clusters))
    members = np.split(order, np.cumsum(sizes)[:-1])
    small = room(len(labels))
    return DrawnLimit(
        hull=_draw_hull(lim, view, ax),
        ways=[_draw_ways(path[:, tokens], label, small, ax) for label, tokens in enumerate(members)],
        starts=[_draw_starts(path[0, tokens], label, small, ax) for label, tokens in enumerate(members)],
        leaders=_draw_leaders(lim, view, ax),
        labels=_draw_labels(lim, view, ax),
        projections=_draw_ends(ends, projected, PROJECTION, ax),
        faces=[_draw_face(lim, label, view, ax) for label in projected],
        elsewhere=_draw_ends(ends, elsewhere, ELSEWHERE, ax),
    )


def drawn_every(lim: LimitLike) -> int:
    """m, where every m-th token is drawn."""
    return (lim.run.n - 1) // MOST_TOKENS + 1


def _bends(lim: LimitLike) -> np.ndarray:
    """The tokens (k, n, d) wherever their ways bend: where attended sets change, and at the limit."""
    layers = lim.run.decided_at[:: len(lim.run.decided_at) // MOST_BENDS + 1]
    return np.stack([*(lim.run.floats_at(layer) for layer in layers), lim.float_points])


def _draw_hull(lim: LimitLike, view: View, ax: Axes) -> list[Artist]:
    if not len(lim.leaders):
        return []
    # Of a projected polytope the shadow is shown. Its metric is of no concern here.
    return draw_polytope(Polytope(view.places(lim.float_points[lim.distinct_leaders])), ax)


def _draw_ways(path: np.ndarray, label: int, thin: float, ax: Axes) -> Line2D:
    gaps = np.full((1, *path.shape[1:]), np.nan)
    # One line with gaps is drawn a hundred times faster than a line for each token.
    joined = np.concatenate([path, gaps]).swapaxes(0, 1).reshape(-1, path.shape[2])
    (line,) = ax.plot(*joined.T, color=look_of(label)[0], lw=1.1 * thin, alpha=0.7, zorder=2)
    return line


def _draw_starts(places: np.ndarray, label: int, small: float, ax: Axes) -> PathCollection:
    color, shape = look_of(label)
    return marks(places, ax, s=36 * small, color=color, marker=shape, edgecolors="white", lw=0.5 * small, zorder=3)


def _draw_leaders(lim: LimitLike, view: View, ax: Axes) -> PathCollection:
    places = view.places(lim.float_points[lim.leaders])
    colors = [look_of(label)[0] for label in lim.clusters.labels[lim.leaders].tolist()]
    return marks(places, ax, s=150, c=colors, marker=LEADER, edgecolors=INK, lw=0.6, zorder=6)


def _draw_labels(lim: LimitLike, view: View, ax: Axes) -> list[Text]:
    """The numbers of the leaders at the corners of the hull that is seen; within a shadow they would hide the rest."""
    if not 0 < len(lim.distinct_leaders) <= MOST_LABELS:
        return []
    places = view.places(lim.float_points[lim.distinct_leaders])
    away = places - places.mean(axis=0)
    lengths = np.linalg.norm(away, axis=1, keepdims=True)
    away = np.where(lengths > 0, away / np.where(lengths > 0, lengths, 1), np.sqrt(0.5))
    corners = Polytope(places).indices
    return [_label(str(lim.distinct_leaders[corner]), places[corner], away[corner], ax) for corner in corners]


def _label(name: str, place: np.ndarray, away: np.ndarray, ax: Axes) -> Text:
    halo = [withStroke(linewidth=2, foreground="white")]
    if isinstance(ax, Axes3D):
        x, y, z = place.tolist()
        return ax.text(x, y, z, f"  {name}", fontsize=8, path_effects=halo, zorder=7)
    x, y = away.tolist()
    # Long numbers begin or end beside their star, else they would cover it.
    beside = "left" if x > 0.4 else "right" if x < -0.4 else "center"
    return ax.annotate(
        name,
        (float(place[0]), float(place[1])),
        textcoords="offset points",
        xytext=(8 * x, 11 * y),
        ha=beside,
        va="center",
        fontsize=8,
        path_effects=halo,
        zorder=7,
    )


def _draw_ends(ends: np.ndarray, labels: Sequence[int], marker: str, ax: Axes) -> PathCollection:
    colors = [look_of(label)[0] for label in labels]
    return marks(ends[list(labels)], ax, s=64, c=colors, marker=marker, edgecolors=INK, lw=0.6, zorder=5)


def _draw_face(lim: LimitLike, label: int, view: View, ax: Axes) -> Line2D:
    """Lines from a projection to the leaders whose hull it is the nearest point of."""
    corners, end = lim.float_points[list(face_of(lim.clusters.kinds[label]))], lim.clusters.points[label]
    there_and_back = np.stack([np.broadcast_to(end, corners.shape), corners], axis=1).reshape(-1, lim.run.d)
    (line,) = ax.plot(
        *view.places(there_and_back).T, color=look_of(label)[0], lw=3, alpha=0.5, solid_capstyle="round", zorder=2
    )
    return line
