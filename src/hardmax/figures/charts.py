"""Charts of a classifier: its heaviest tokens, the tokens that lead most often, and how well it is calibrated."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._format import truncate
from hardmax._tokens.batches import float_array
from hardmax._validation import InputError, check_int, shorten
from hardmax.figures import style
from hardmax.figures.cards import Bar, heaviest
from hardmax.figures.layout import escape_mathtext
from hardmax.figures.palette import BLUE, FAINT, INK, VERMILION, look_of_class

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

LONGEST_NAME = 32  # characters
_HATCHES = ("////", "", "....", "\\\\\\\\", "xxxx", "----")  # never colour alone


def draw_bars(bars: Sequence[Bar], classes: int, ax: style.Axes) -> list[Any]:
    """Horizontal bars, the first on top, in the colour and the hatch of their classes: the patches."""
    drawn = []
    for row, bar in enumerate(bars):
        drawn += ax.barh(row, bar.value, ec="white", lw=0, height=0.8, **_look(bar.side, classes))
        beside = {"ha": "right", "x": -3} if bar.value < 0 else {"ha": "left", "x": 3}
        ax.annotate(
            bar.note, (bar.value, row), xytext=(beside["x"], 0), textcoords="offset points", ha=beside["ha"],
            va="center", fontsize="small", color=INK,
        )  # fmt: skip
    ax.set_yticks(range(len(bars)), [escape_mathtext(truncate(bar.name, LONGEST_NAME)) for bar in bars])
    ax.set_ylim(len(bars) - 0.4, -0.6)
    lowest, highest = min([0.0, *(bar.value for bar in bars)]), max([0.0, *(bar.value for bar in bars)])
    room = 0.16 * ((highest - lowest) or 1.0)  # for the notes
    ax.set_xlim(lowest - room * (lowest < 0), highest + room * (highest > 0 or lowest == 0))
    ax.axvline(0, color=FAINT, lw=0.8, zorder=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return drawn


def bar_axes(bars: Sequence[Bar], figsize: Any = None) -> style.Axes:
    """The axes of a new figure of pyplot, with room for so many bars."""
    figure = style.new_figure(style.check_figsize(figsize, _size(bars)))
    with style.our_look():
        return figure.add_subplot()


def _size(bars: Sequence[Bar]) -> tuple[float, float]:
    return 5.6, 1.2 + 0.22 * len(bars)


def class_legend(names: Sequence[object], which: Collection[int]) -> list[style.Patch]:
    """What the colours and hatches of these classes mean."""
    return [
        style.Patch(
            ec="white", lw=0, label=escape_mathtext(truncate(f"for {name}", LONGEST_NAME)), **_look(number, len(names))
        )
        for number, name in enumerate(names)
        if number in which
    ]


def _look(side: int, classes: int) -> dict[str, Any]:
    return {"fc": look_of_class(side, classes)[0], "hatch": _HATCHES[side % len(_HATCHES)]}


# ---------------------------------------------------------------- model.plot()


def plot_weights(
    model: "TextModel", top: int = 10, *, only: Collection[int] | None = None, ax: Any = None, figsize: Any = None
) -> style.Axes:
    """The heaviest tokens of each class as bars, on the axes or on those of a new figure."""
    bars = heaviest(model, check_int(top, "`top`", at_least=1, at_most=500), only)
    given = bar_axes(bars, figsize) if ax is None else style.check_axes(ax)
    with style.our_look():
        draw_weights(model, bars, given)
    return given


def weights_figure(model: "TextModel", top: int = 15) -> style.Figure:
    """`plot_weights` as a figure of its own, without pyplot."""
    bars = heaviest(model, top)
    with style.our_look():
        figure = style.Figure(figsize=_size(bars), layout="constrained")
        draw_weights(model, bars, figure.add_subplot())
    return figure


def draw_weights(model: "TextModel", bars: Sequence[Bar], ax: style.Axes) -> None:
    """Bars of `heaviest`, with a title, a legend and the name of the axis."""
    draw_bars(bars, len(model.classes), ax)
    two = len(model.classes) == 2
    ax.set_xlabel("weight in the logit" if two else "weight in the logit, above the mean of all classes")
    ax.set_title(f"heaviest of {len(model.vocabulary):,} tokens", loc="left")
    ax.legend(handles=class_legend(model.classes, {bar.side for bar in bars}), frameon=False, fontsize="small")


# ---------------------------------------------------------------- calibration


@dataclass(frozen=True)
class DrawnReliability:
    """What `draw_reliability` drew."""

    diagonal: style.Line2D
    """Where a perfectly calibrated model lies."""
    points: style.Line2D
    """A point for each bin."""
    gaps: style.LineCollection
    """From each point to the diagonal."""


def draw_reliability(curve: Any, ax: style.Axes) -> DrawnReliability:
    """Draw a reliability diagram: mean probability of each bin against its accuracy.

    Parameters
    ----------
    curve : tuple of three arrays of one length
        Mean probability, accuracy and number of texts of each bin, as `calibration_curve` gives them.
    ax : matplotlib Axes
        Where to draw.

    Returns
    -------
    DrawnReliability
        The artists.

    Examples
    --------
    >>> from matplotlib.figure import style.Figure
    >>> len(draw_reliability(([0.6, 0.9], [0.5, 1.0], [10, 10]), style.Figure().subplots()).gaps.get_segments())
    2
    """
    confidence, right, _ = _check_curve(curve)
    low = max(0.0, min(confidence.min(), right.min()) - 0.05)
    (diagonal,) = style.check_axes(ax).plot(
        [low, 1], [low, 1], color=FAINT, lw=0.9, ls="--", zorder=1, label="perfectly calibrated"
    )
    ends = [[(c, c), (c, r)] for c, r in zip(confidence.tolist(), right.tolist(), strict=True)]
    gaps = style.LineCollection(ends, colors=VERMILION, linewidths=1.6, alpha=0.7, zorder=2, label="gap")
    ax.add_collection(gaps)
    (points,) = ax.plot(confidence, right, color=BLUE, marker="o", ms=4, lw=1.1, zorder=3, label="model")
    ax.set_aspect("equal")
    ax.set(xlim=(low, 1.02), ylim=(low, 1.02), xlabel="predicted probability", ylabel="accuracy")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return DrawnReliability(diagonal, points, gaps)


def reliability_figure(curve: Any) -> style.Figure:
    """`draw_reliability` as a figure of its own, with the expected calibration error in its title."""
    confidence, right, texts = _check_curve(curve)
    with style.our_look():
        figure = style.Figure(figsize=(4.4, 4.4))
        ax = figure.add_subplot()
        draw_reliability(curve, ax)
        error = float((np.abs(confidence - right) * texts).sum() / texts.sum())
        ax.set_title(f"{int(texts.sum()):,} texts, expected calibration error {error:.4f}", loc="left")
        ax.legend(loc="upper left", frameon=False, fontsize=8)
    return figure


def _check_curve(value: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if isinstance(value, tuple | list) and len(value) == 3:
        parts = [float_array(part, "`curve`") for part in value]
        same = all(part.shape == parts[0].shape and part.ndim == 1 and part.size for part in parts)
        if same and all(np.isfinite(part).all() for part in parts):
            return parts[0], parts[1], parts[2]
    raise InputError(
        f"`curve` must be what `calibration_curve` gives, three arrays of one length, not {shorten(value)}."
    )
