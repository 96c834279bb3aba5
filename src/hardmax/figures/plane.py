"""Clouds in the plane: tokens, the ways they went, and the polygon of their leaders."""

from collections.abc import Sequence

import numpy as np

from hardmax.figures import inputs
from hardmax.figures.inputs import validate_params
from hardmax.figures.mpl import Axes, Line2D, PathCollection, Polygon
from hardmax.figures.palette import FAINT, INK, SHADE


def window(places: np.ndarray) -> tuple[float, float, float, float]:
    """A square (left, right, bottom, top) with room around the places.

    >>> window(np.array([[0.0, 0.0], [20.0, 10.0]]))
    (-2.0, 22.0, -7.0, 17.0)
    """
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    reach = float(np.abs(places - middle).max()) * 1.2 or 1.0
    x, y = middle.tolist()
    return x - reach, x + reach, y - reach, y + reach


@validate_params(tokens=inputs.in_plane, ax=inputs.an_axes, leaders=inputs.numbers_of_tokens, color=inputs.a_color)
def draw_tokens(
    tokens: np.ndarray, ax: Axes, *, leaders: Sequence[int] | np.ndarray = (), color: str = FAINT
) -> tuple[PathCollection, PathCollection]:
    """Leaders as stars, the others as circles. Gives back both collections."""
    leads = np.isin(np.arange(len(tokens)), leaders)
    circles = ax.scatter(*tokens[~leads].T, s=26, c=color, edgecolors="white", linewidths=0.6, zorder=3)
    stars = ax.scatter(*tokens[leads].T, s=110, c=INK, marker="*", edgecolors="white", linewidths=0.6, zorder=4)
    return circles, stars


@validate_params(path=inputs.path_in_plane, ax=inputs.an_axes, color=inputs.a_color, width=inputs.a_width)
def draw_paths(path: np.ndarray, ax: Axes, *, color: str = FAINT, width: float = 0.9) -> list[Line2D]:
    """The way of each token, from `path` of shape (layers, n, 2)."""
    return ax.plot(path[:, :, 0], path[:, :, 1], color=color, lw=width, zorder=2)


@validate_params(ax=inputs.an_axes)
def draw_origin(ax: Axes) -> PathCollection:
    """A small plus where zero is: a token looks away from it."""
    return ax.scatter(0, 0, s=30, marker="+", color=FAINT, linewidths=0.8, zorder=2)


@validate_params(leaders=inputs.in_plane, ax=inputs.an_axes)
def draw_leader_polygon(leaders: np.ndarray, ax: Axes) -> Polygon:
    """The convex hull of the leaders' positions, shaded.

    Leaders are the vertices of a polytope, so going round their centre visits them in order.
    """
    offsets = leaders - leaders.mean(axis=0)
    order = np.argsort(np.arctan2(offsets[:, 1], offsets[:, 0]))
    polygon = Polygon(leaders[order], closed=True, facecolor=SHADE, edgecolor=FAINT, lw=0.8, zorder=1)
    ax.add_patch(polygon)
    return polygon
