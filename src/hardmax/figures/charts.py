"""Charts of a classifier (its heaviest tokens, how well it is calibrated) and of a sweep (any two
of its columns)."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.format import truncate
from hardmax._common.validation import InputError, check_int, shorten
from hardmax.figures import style
from hardmax.figures.cards import Bar, heaviest
from hardmax.figures.labels import escape_mathtext
from hardmax.figures.palette import (
    BLUE,
    CYCLE,
    FAINT,
    SHAPES,
    VERMILION,
    look_of_class,
)
from hardmax.figures.style import Axes, Figure, Patch

if TYPE_CHECKING:
    import pyarrow

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


def sweep_figure(table: "pyarrow.Table", x: str, y: str, *, by: str | None = None) -> Figure:
    """One column of a sweep against another: means, and where the middle half of the cells is; a
    line for each value of a third column."""
    for name in filter(None, (x, y, by)):
        if name not in table.column_names:
            known = ", ".join(table.column_names)
            raise InputError(f"The sweep has no column {shorten(name)}: there are {known}.")
    xs, ys = ([_as_number(value) for value in table[name].to_pylist()] for name in (x, y))
    groups = table[by].to_pylist() if by else [""] * table.num_rows
    cells = [cell for cell in zip(xs, ys, groups, strict=True) if None not in cell[:2]]
    if not cells or any(isinstance(value, str) for cell in cells for value in cell[:2]):
        raise InputError(f"{shorten(x)} and {shorten(y)} must be columns of numbers to be drawn.")
    with style.style_context():
        figure = Figure(figsize=(5.2, 3.6))
        ax = figure.add_subplot()
        for number, group in enumerate(dict.fromkeys(group for *_, group in cells)):
            label = _short(f"{by} = {group}") if by else None
            own = [(place, value) for place, value, other in cells if other == group]
            _draw_means(own, ax, number, label)
        places = [place for place, *_ in cells]
        smallest, largest = min(places), max(places)
        if smallest > 0 and largest >= 50 * smallest:
            ax.set_xscale("log")
        ax.set(xlabel=escape_mathtext(x), ylabel=escape_mathtext(y))
        style.hide_frame(ax, "top", "right")
        ax.set_title(f"mean and middle half of {len(cells):,} cells", loc="left")
        if by:
            ax.legend(frameon=False, fontsize=8)
    return figure


def _draw_means(cells: list[tuple[float, float]], ax: Axes, number: int, label: str | None) -> None:
    """The means of the values at each place, and a band for the middle half of them."""
    color, marker = CYCLE[number % len(CYCLE)], SHAPES[number % len(SHAPES)]
    values = defaultdict(list)
    for place, value in sorted(cells, key=lambda cell: cell[0]):
        values[place].append(value)
    low, high = np.array([np.quantile(some, (0.25, 0.75)) for some in values.values()]).T
    means = [float(np.mean(some)) for some in values.values()]
    ax.plot(list(values), means, color=color, marker=marker, ms=4, lw=1.2, label=label)
    ax.fill_between(list(values), low, high, color=color, alpha=0.15, lw=0)


def _as_number(value: Any) -> Any:
    """Of a step size, which is a text such as 1/2, the number."""
    with suppress(ValueError, ZeroDivisionError):
        return float(Fraction(value)) if isinstance(value, str) else value
    return value
