"""Axes, tokens and paths as the figures of the paper have them."""

from collections.abc import Sequence

import numpy as np

from hardmax.figures.palette import FAINT, INK, LEADER, SHADE
from hardmax.figures.style import Axes, Line2D, PathCollection


def plain_axes(ax: Axes, *, frame: bool = False) -> None:
    """Equal scales and no numbers; a frame where panels would run into one another."""
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(frame)
        side.set_color(SHADE)


def draw_tokens(
    tokens: np.ndarray, ax: Axes, *, leaders: Sequence[int] | np.ndarray = (), color: str = FAINT
) -> tuple[PathCollection, PathCollection]:
    """Leaders as stars, the others as circles: both collections."""
    leads = np.isin(np.arange(len(tokens)), leaders)
    circles = ax.scatter(*tokens[~leads].T, s=26, c=color, edgecolors="white", linewidths=0.6, zorder=3)
    stars = ax.scatter(*tokens[leads].T, s=110, c=INK, marker=LEADER, edgecolors="white", linewidths=0.6, zorder=4)
    return circles, stars


def draw_paths(path: np.ndarray, ax: Axes, *, color: str = FAINT, width: float = 0.9) -> list[Line2D]:
    """The path of each token, from `path` of shape (layers, n, 2)."""
    return ax.plot(path[:, :, 0], path[:, :, 1], color=color, lw=width, zorder=2)
