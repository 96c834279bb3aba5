"""Charts of a classifier: its heaviest tokens, and how well it is calibrated."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.format import truncate
from hardmax._common.validation import check_int
from hardmax.figures import style
from hardmax.figures.cards import Bar, heaviest
from hardmax.figures.labels import escape_mathtext
from hardmax.figures.palette import (
    BLUE,
    FAINT,
    VERMILION,
    look_of_class,
)
from hardmax.figures.style import Axes, Figure, Patch

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

LONGEST_NAME = 32  # characters
_HATCHES = ("////", "", "....", "\\\\\\\\", "xxxx", "----")  # never colour alone


def plot_weights(
    model: "TextModel",
    top: int,
    only: Collection[int] | None,
    ax: Any,
    figsize: Any,
) -> Axes:
    """The heaviest tokens of each class, or of some, as bars; on the axes, or on those of a new
    figure."""
    bars = heaviest(model, check_int(top, "`top`", at_least=1, at_most=500), only)
    given = style.axes_for(ax, figsize, (5.6, 1.4 + 0.22 * len(bars)))
    with style.style_context():
        draw_weights(model, bars, given, inside=ax is not None)
    return given


def draw_weights(model: "TextModel", bars: Sequence[Bar], ax: Axes, *, inside: bool) -> None:
    """Horizontal bars of `heaviest`, the first on top, in the colour and the hatch of their
    classes; with a legend inside the axes, or below them, where the layout makes room."""
    handles = []
    for number in sorted({bar.class_index for bar in bars}):
        rows = [row for row, bar in enumerate(bars) if bar.class_index == number]
        color = look_of_class(number, len(model.classes))[0]
        hatch = _HATCHES[number % len(_HATCHES)]
        look: dict[str, Any] = {"fc": color, "ec": style.ground(), "lw": 0, "hatch": hatch}
        group = ax.barh(rows, [bars[row].value for row in rows], height=0.8, **look)
        notes = [bars[row].note for row in rows]
        ax.bar_label(group, notes, padding=3, fontsize="small")
        handles.append(Patch(label=_short(f"for {model.classes[number]}"), **look))
    legend = ax.legend if inside else ax.figure.legend
    place: dict[str, Any] = (
        {"loc": "best"} if inside else {"loc": "outside lower center", "ncols": 2}
    )
    legend(handles=handles, frameon=False, fontsize="small", **place)
    style.name_rows(ax, [_short(bar.name) for bar in bars])
    values = [0.0, *(bar.value for bar in bars)]
    lowest, highest = min(values), max(values)
    room = 0.16 * ((highest - lowest) or 1.0)  # for the notes
    ax.set_xlim(lowest - room * (lowest < 0), highest + room * (highest > 0 or lowest == 0))
    above = ", above the mean of all classes" * (len(model.classes) > 2)
    ax.set_xlabel(f"weight (the logit is a mean of weights){above}")
    ax.set_title(f"heaviest of {len(model.vocabulary):,} tokens", loc="left")


def _short(name: str) -> str:
    return escape_mathtext(truncate(name, LONGEST_NAME))


def reliability_figure(curve: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Figure:
    """A reliability diagram of what `calibration_curve` gives: mean probability of each bin against
    its accuracy."""
    confidence, accuracy, texts = curve
    low = max(0.0, min(confidence.min(), accuracy.min()) - 0.05)
    error = float((np.abs(confidence - accuracy) * texts).sum() / texts.sum())
    with style.style_context():
        figure = Figure(figsize=(4.4, 4.4))
        ax = figure.add_subplot()
        diagonal = {"color": FAINT, "lw": 0.9, "ls": "--", "label": "perfectly calibrated"}
        ax.plot([low, 1], [low, 1], **diagonal)
        gap = {"colors": VERMILION, "lw": 1.6, "alpha": 0.7, "label": "gap"}
        ax.vlines(confidence, confidence, accuracy, zorder=2, **gap)
        line = {"color": BLUE, "marker": "o", "ms": 4, "lw": 1.1, "label": "model"}
        ax.plot(confidence, accuracy, zorder=3, **line)
        ax.set_aspect("equal")
        ax.set(xlim=(low, 1.02), ylim=(low, 1.02))
        ax.set(xlabel="predicted probability", ylabel="accuracy")
        style.hide_frame(ax, "top", "right")
        title = f"{int(texts.sum()):,} texts, expected calibration error {error:.4f}"
        ax.set_title(title, loc="left")
        ax.legend(loc="upper left", frameon=False, fontsize=8)
    return figure
