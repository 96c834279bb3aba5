"""How tokens of any dimension are laid on paper."""

from dataclasses import dataclass

import numpy as np

from hardmax._validation import InputError
from hardmax.figures.flat import principal_axes, remark_on
from hardmax.figures.mpl import Axes, Axes3D
from hardmax.figures.palette import FAINT
from hardmax.figures.plane import draw_origin, window
from hardmax.figures.style import plain_axes


@dataclass(frozen=True, eq=False)
class View:
    """A linear map `axes` (d, 2 or 3) onto the paper, and what a reader must be told about it."""

    axes: np.ndarray
    remark: str = ""
    falling: bool = False
    """Tokens on a line would hide their ways: they start above it, and come down to their limits."""

    def places(self, points: np.ndarray) -> np.ndarray:
        """Where points of the limit are drawn: (n, 2 or 3)."""
        return points @ self.axes

    def path(self, path: np.ndarray) -> np.ndarray:
        """Where tokens are drawn on their way: from (k, n, d) to (k, n, 2 or 3)."""
        drawn = path @ self.axes
        if self.falling:
            drawn[:, :, 1] = np.linspace(1, 0, len(path))[:, None]
        return drawn


def view_of(tokens: np.ndarray, ax: Axes) -> View:
    """The view of these tokens (n, d) on these axes: themselves where they fit, else principal coordinates.

    >>> from matplotlib.figure import Figure
    >>> view_of(np.eye(4), Figure().subplots()).remark
    'first two principal coordinates of 4'
    """
    d = tokens.shape[1]
    if isinstance(ax, Axes3D):
        if d != 3:
            raise InputError(f"`ax` is in three dimensions, but the tokens have {d}: take plane axes.")
        return View(np.eye(3))
    if d == 1:
        return View(np.array([[1.0, 0.0]]), falling=True)
    if d == 2:
        return View(np.eye(2))
    return View(principal_axes(tokens), remark_on(d))


def projection_for(d: int) -> str | None:
    """The kind of axes on which tokens of that dimension are drawn: in space for three, else in the plane."""
    return "3d" if d == 3 else None


def prepare(ax: Axes, view: View, starts: np.ndarray) -> None:
    """Axes that hold a cloud which starts at these places, and the origin if it is near."""
    near = np.abs(starts.mean(axis=0)).max() <= 3 * np.ptp(starts, axis=0).max()
    if isinstance(ax, Axes3D):
        ax.computed_zorder = False  # stars lie over facets, whichever is in front
        ax.set_axis_off()
        low, high = starts.min(axis=0), starts.max(axis=0)
        reach = float((high - low).max()) / 2 or 1.0
        x, y, z = ((low + high) / 2).tolist()
        ax.set(xlim=(x - reach, x + reach), ylim=(y - reach, y + reach), zlim=(z - reach, z + reach))
        ax.set_box_aspect((1, 1, 1))
        if near:
            ax.scatter(0, 0, 0, s=30, marker="+", color=FAINT, linewidths=0.8)
        return
    plain_axes(ax, frame=True)
    ax.axis(window(np.vstack([starts, np.zeros((int(near), 2))])))
    if view.falling:
        ax.set_aspect("auto")
        ax.set(ylim=(-0.25, 1.15), yticks=[1, 0], yticklabels=["start", "limit"])
    if near:
        draw_origin(ax)
