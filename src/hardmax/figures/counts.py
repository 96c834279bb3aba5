"""`limits(...).plot()` and `softmax_gap(...).plot()`: charts of many clouds and of many
temperatures."""

from collections import Counter
from typing import Any

from hardmax._common.format import pluralize
from hardmax.figures import style
from hardmax.figures.palette import BLUE
from hardmax.figures.style import Axes

_SIZE = 5.6, 3.4


def plot_counts(found: Any, ax: Any) -> Axes:
    """How many clouds of `Runs` or `Limits` have how many leaders: a bar for each number."""
    counts = Counter(map(len, found.leaders))
    with style.drawing(ax, _SIZE, f"leaders of {pluralize(len(found), 'cloud')}") as ax:
        ax.bar([*counts], [*counts.values()], color=BLUE)
        ax.set(xlabel="leaders", ylabel="clouds")
        ax.locator_params(integer=True)
        style.hide_frame(ax)
    return ax


def plot_gap(found: Any, ax: Any) -> Axes:
    """The distances of a `SoftmaxGap` by beta, with their errors, on logarithmic axes."""
    betas = [*map(float, found.betas)]
    with style.drawing(ax, _SIZE, f"softmax to hardmax, {pluralize(found.layers, 'layer')}") as ax:
        ax.errorbar(betas, found.distances, found.errors, color=BLUE, marker="o")
        ax.set(xscale="log", yscale="log", xlabel="beta", ylabel="largest difference")
    return ax
