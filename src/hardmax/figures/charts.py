"""Charts of a classifier (its heaviest tokens, how well it is calibrated) and of a sweep (any two
of its columns)."""

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
from hardmax.figures.palette import BLUE, FAINT, INK, VERMILION, look_of_class

if TYPE_CHECKING:
    import pyarrow

    from hardmax.text.text_model import TextModel

LONGEST_NAME = 32  # characters
_HATCHES = ("////", "", "....", "\\\\\\\\", "xxxx", "----")  # never colour alone


def plot_weights(
    model: "TextModel",
    top: int = 10,
    *,
    only: Collection[int] | None = None,
    ax: Any = None,
    figsize: Any = None,
) -> style.Axes:
    """The heaviest tokens of each class, or of some, as bars; on the axes, or on those of a new
    figure."""
    bars = heaviest(model, check_int(top, "`top`", at_least=1, at_most=500), only)
    figure = (
        style.new_figure(style.check_figsize(figsize, (5.6, 1.4 + 0.22 * len(bars))))
        if ax is None
        else None
    )
    with style.style_context():
        given = figure.add_subplot() if figure else style.check_axes(ax)
        draw_weights(model, bars, given, inside=ax is not None)
    return given


def draw_weights(model: "TextModel", bars: Sequence[Bar], ax: style.Axes, *, inside: bool) -> None:
    """Horizontal bars of `heaviest`, the first on top, in the colour and the hatch of their
    classes; with a legend inside the axes, or below them, where the layout makes room."""
    handles = []
    for side in sorted({bar.class_index for bar in bars}):
        mine = [(row, bar) for row, bar in enumerate(bars) if bar.class_index == side]
        look: dict[str, Any] = {"ec": "white", "lw": 0, "hatch": _HATCHES[side % len(_HATCHES)]}
        look["fc"] = look_of_class(side, len(model.classes))[0]
        group = ax.barh(
            [row for row, _ in mine], [bar.value for _, bar in mine], height=0.8, **look
        )
        ax.bar_label(group, [bar.note for _, bar in mine], padding=3, fontsize="small", color=INK)
        name = escape_mathtext(truncate(f"for {model.classes[side]}", LONGEST_NAME))
        handles.append(style.Patch(label=name, **look))
    place: dict[str, Any] = (
        {"loc": "best"} if inside else {"loc": "outside lower center", "ncols": 2}
    )
    (ax if inside else ax.figure).legend(handles=handles, frameon=False, fontsize="small", **place)
    ax.set_yticks(
        range(len(bars)), [escape_mathtext(truncate(bar.name, LONGEST_NAME)) for bar in bars]
    )
    ax.set_ylim(len(bars) - 0.4, -0.6)
    lowest, highest = (
        min([0.0, *(bar.value for bar in bars)]),
        max([0.0, *(bar.value for bar in bars)]),
    )
    room = 0.16 * ((highest - lowest) or 1.0)  # for the notes
    ax.set_xlim(lowest - room * (lowest < 0), highest + room * (highest > 0 or lowest == 0))
    ax.axvline(0, color=FAINT, lw=0.8, zorder=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(
        "weight (the logit is a mean of weights)"
        + ("" if len(model.classes) == 2 else ", above the mean of all classes")
    )
    ax.set_title(f"heaviest of {len(model.vocabulary):,} tokens", loc="left")


def reliability_figure(curve: tuple[np.ndarray, np.ndarray, np.ndarray]) -> style.Figure:
    """A reliability diagram of what `calibration_curve` gives: mean probability of each bin against
    its accuracy."""
    confidence, right, texts = curve
    low = max(0.0, min(confidence.min(), right.min()) - 0.05)
    error = float((np.abs(confidence - right) * texts).sum() / texts.sum())
    with style.style_context():
        figure = style.Figure(figsize=(4.4, 4.4))
        ax = figure.add_subplot()
        ax.plot([low, 1], [low, 1], color=FAINT, lw=0.9, ls="--", label="perfectly calibrated")
        ax.vlines(
            confidence,
            confidence,
            right,
            colors=VERMILION,
            lw=1.6,
            alpha=0.7,
            zorder=2,
            label="gap",
        )
        ax.plot(confidence, right, color=BLUE, marker="o", ms=4, lw=1.1, zorder=3, label="model")
        ax.set_aspect("equal")
        ax.set(
            xlim=(low, 1.02), ylim=(low, 1.02), xlabel="predicted probability", ylabel="accuracy"
        )
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_title(
            f"{int(texts.sum()):,} texts, expected calibration error {error:.4f}", loc="left"
        )
        ax.legend(loc="upper left", frameon=False, fontsize=8)
    return figure


def sweep_figure(table: "pyarrow.Table", x: str, y: str, *, by: str | None = None) -> style.Figure:
    """One column of a sweep against another: means, and where the middle half of the cells is; a
    line for each value of a third column."""
    names = [x, y, by] if by else [x, y]
    if missing := [name for name in names if name not in table.column_names]:
        known = ", ".join(table.column_names)
        raise InputError(f"The sweep has no column {shorten(missing[0])}: there are {known}.")
    columns = {name: table[name].to_pylist() for name in names}
    rows = list(
        zip(columns[x], columns[y], columns[by] if by else [""] * table.num_rows, strict=True)
    )
    cells = [
        (_as_number(a), _as_number(b), group)
        for a, b, group in rows
        if a is not None and b is not None
    ]
    if not cells or any(isinstance(value, str) for a, b, _ in cells for value in (a, b)):
        raise InputError(f"{shorten(x)} and {shorten(y)} must be columns of numbers to be drawn.")
    with style.style_context():
        figure = style.Figure(figsize=(5.2, 3.6))
        ax = figure.add_subplot()
        for number, group in enumerate(dict.fromkeys(group for *_, group in cells)):
            color, marker = look_of_class(number, 3)
            places = sorted({a for a, _, own in cells if own == group})
            at = {
                place: [b for a, b, own in cells if (a, own) == (place, group)] for place in places
            }
            low, high = np.array([np.quantile(values, (0.25, 0.75)) for values in at.values()]).T
            label = escape_mathtext(truncate(f"{by} = {group}", LONGEST_NAME)) if by else None
            means = [float(np.mean(values)) for values in at.values()]
            ax.plot(list(at), means, color=color, marker=marker, ms=4, lw=1.2, label=label)
            ax.fill_between(list(at), low, high, color=color, alpha=0.15, lw=0)
        smallest, largest = min(a for a, *_ in cells), max(a for a, *_ in cells)
        if smallest > 0 and largest >= 50 * smallest:
            ax.set_xscale("log")
        ax.set(xlabel=escape_mathtext(x), ylabel=escape_mathtext(y))
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_title(f"mean and middle half of {len(cells):,} cells", loc="left")
        if by:
            ax.legend(frameon=False, fontsize=8)
    return figure


def _as_number(value: Any) -> Any:
    """Of a step size, which is a text such as 1/2, the number."""
    with suppress(ValueError, ZeroDivisionError):
        return float(Fraction(value)) if isinstance(value, str) else value
    return value
