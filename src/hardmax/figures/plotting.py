"""`run.plot()` and `lim.plot()`: pictures on axes that are given, or on a new figure of pyplot, which shows it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hardmax.checking import real_number, takes
from hardmax.errors import InputError
from hardmax.figures import inputs
from hardmax.figures.asked import LimitLike, RunLike
from hardmax.figures.layers import draw_layer
from hardmax.figures.limit_figure import tell_limit
from hardmax.figures.limits import draw_limit
from hardmax.figures.mpl import Axes
from hardmax.figures.style import our_look
from hardmax.figures.views import projection_for

SIDE = 3.0  # of a panel, in inches


@takes(run=inputs.a_run)
def plot_run(run: RunLike, layers: Any = None, *, ax: Any = None, figsize: Any = None) -> Any:
    """`draw_layer` of one layer, the last if none is named, or of a row of them: the axes, or an array of them."""
    if layers is None or np.ndim(layers) == 0:
        (shown,) = inputs.layers([run.layers if layers is None else layers], "`layers`")
        given = _new_axes(run, 1, figsize)[0] if ax is None else inputs.an_axes(ax, "`ax`")
        return draw_titled(run, shown, given)
    several = inputs.layers(layers, "`layers`")
    panels = _new_axes(run, len(several), figsize) if ax is None else _given_axes(ax, len(several))
    for panel, layer in zip(panels, several, strict=True):
        draw_titled(run, layer, panel)
    return panels


@takes(lim=inputs.a_limit)
def plot_limit(lim: LimitLike, *, ax: Any = None, figsize: Any = None) -> Axes:
    """`draw_limit` on the axes; on new ones with a title and a key."""
    if ax is not None:
        draw_limit(lim, inputs.an_axes(ax, "`ax`"))
        return ax
    with our_look():
        new = _new_axes(lim.run, 1, figsize or (6.4, 2.6 if lim.run.d == 1 else 4.4))[0]
        draw_limit(lim, new)
        tell_limit(lim, new)
    return new


def draw_titled(run: RunLike, layer: int, ax: Axes) -> Axes:
    """One layer of a run, with its number, and the hull of the leaders shaded."""
    with our_look():
        draw_layer(run, layer, ax, hull=True)
        ax.set_title(f"layer {layer:,}", loc="left")
    return ax


def _new_axes(run: RunLike, count: int, figsize: Any) -> np.ndarray:
    from matplotlib import pyplot

    height = SIDE * (0.5 if run.d == 1 else 1.0)
    size = (SIDE * count, height + 0.3) if figsize is None else _size(figsize)
    kind = {"projection": projection_for(run.d)}
    with our_look():
        return pyplot.subplots(1, count, squeeze=False, figsize=size, subplot_kw=kind, layout="constrained")[1][0]


def _given_axes(ax: Any, count: int) -> np.ndarray:
    panels = [inputs.an_axes(each, "`ax` (each)") for each in (ax if isinstance(ax, Sequence | np.ndarray) else [ax])]
    if len(panels) != count:
        raise InputError(f"`ax` must be as many axes as there are layers, {count}, not {len(panels)}.")
    return np.array(panels, dtype=object)


def _size(figsize: Any) -> tuple[float, float]:
    if isinstance(figsize, Sequence) and not isinstance(figsize, str | bytes) and len(figsize) == 2:
        width, height = (real_number(side, "`figsize`", above=0) for side in figsize)
        return width, height
    raise InputError("`figsize` must be a width and a height in inches, such as (6, 4).")
