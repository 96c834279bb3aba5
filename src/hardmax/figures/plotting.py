"""`run.plot()` and `lim.plot()`: pictures on axes that are given, or on a new figure of pyplot, which shows it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hardmax._validation import InputError, check_int
from hardmax.figures import inputs
from hardmax.figures.asked import LimitLike, RunLike
from hardmax.figures.flat import remark_on
from hardmax.figures.inputs import validate_params
from hardmax.figures.layers import MOST_POINTS, draw_layer
from hardmax.figures.limit_figure import tell_limit
from hardmax.figures.limits import draw_limit
from hardmax.figures.mpl import Axes
from hardmax.figures.style import DPI, our_look
from hardmax.figures.views import projection_for

SIDE = 3.0  # of a panel, in inches


@validate_params(run=inputs.a_run, figsize=inputs.a_size)
def plot_run(run: RunLike, layers: Any = None, *, ax: Any = None, figsize: Any = None) -> Any:
    """`draw_layer` of one layer, the last if none is named, or of a row of them: the axes, or an array of them."""
    if not isinstance(layers, Sequence | np.ndarray):
        shown = run.layers if layers is None else check_int(layers, "`layers`", at_least=0)
        given = _new_axes(run, 1, figsize)[0] if ax is None else inputs.an_axes(ax, "`ax`")
        return draw_titled(run, shown, given)
    several = inputs.layers(layers, "`layers`")
    panels = _new_axes(run, len(several), figsize) if ax is None else _given_axes(ax, len(several))
    for panel, layer in zip(panels, several, strict=True):
        draw_titled(run, layer, panel)
    return panels


@validate_params(lim=inputs.a_limit, figsize=inputs.a_size)
def plot_limit(lim: LimitLike, *, ax: Any = None, figsize: Any = None) -> Axes:
    """`draw_limit` on the axes; on new ones with a title and a key."""
    if ax is not None:
        draw_limit(lim, inputs.an_axes(ax, "`ax`"))
        return ax
    new = _new_axes(lim.run, 1, figsize or (6.4, 2.6 if lim.run.d == 1 else 4.4))[0]
    with our_look():
        draw_limit(lim, new)
        tell_limit(lim, new)
    return new


def draw_titled(run: RunLike, layer: int, ax: Axes) -> Axes:
    """One layer of a run, with its number, and the hull of the leaders shaded."""
    some = f"some of {run.n:,} tokens drawn" if run.points.count > MOST_POINTS else ""
    told = (f"layer {layer:,}", "" if run.d == 3 else remark_on(run.d), some)
    with our_look():
        draw_layer(run, layer, ax, hull=True)
        ax.set_title("\n".join(filter(None, told)), loc="left")
    return ax


def _new_axes(run: RunLike, count: int, figsize: Any) -> np.ndarray:
    from matplotlib import pyplot

    height = SIDE * (0.5 if run.d == 1 else 1.0)
    size = figsize or (SIDE * count, height + 0.3)
    kind = {"projection": projection_for(run.d)}
    # Not inside our look: with its first figure pyplot loads its backend, and what that sets (in a notebook, that
    # figures are shown) would be taken back at the end of the look.
    figure = pyplot.figure(figsize=size, dpi=DPI, layout="constrained")
    with our_look():
        return figure.subplots(1, count, squeeze=False, subplot_kw=kind)[0]


def _given_axes(ax: Any, count: int) -> np.ndarray:
    given = ax.ravel().tolist() if isinstance(ax, np.ndarray) else ax if isinstance(ax, list | tuple) else [ax]
    panels = [inputs.an_axes(each, "`ax` (each)") for each in given]
    if len(panels) != count:
        raise InputError(f"`ax` must be as many axes as there are layers, {count}, not {len(panels)}.")
    return np.array(panels, dtype=object)
