"""Charts of a classifier: its heaviest tokens, and the votes of a text."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hardmax._common.format import sanitize_line, truncate
from hardmax._common.validation import check_int
from hardmax.figures import style
from hardmax.figures.palette import FAINT, look_of_class
from hardmax.figures.style import Axes

if TYPE_CHECKING:
    from hardmax.text.explain import Explanation
    from hardmax.text.text_model import TextModel

LONGEST_NAME = 34  # characters
MOST_VOTES = 20  # of a text
_HATCHES = ("////", "", "....", "\\\\\\\\", "xxxx", "----")  # never colour alone


class Bar(NamedTuple):
    """A bar: its name, its length, and the class whose colour and hatch it has."""

    name: str
    value: float
    class_index: int


def heaviest(model: "TextModel", top: int, only: Collection[int] | None = None) -> list[Bar]:
    """The heaviest tokens of each class, or of some; weights for the first of two classes are
    negative."""
    bars: list[Bar] = []
    is_two = len(model.classes) == 2
    for number in (1, 0) if is_two else range(len(model.classes)):
        if only is None or number in only:
            # Weights of two classes go down from the top, through zero.
            sign = -1 if is_two and number == 0 else 1
            words = model.keywords(model.classes[number], top)
            bars += [Bar(word.word, sign * word.weight, number) for word in words][::sign]
    return bars


def plot_weights(model: "TextModel", top: int, only: Collection[int] | None, ax: Any) -> Axes:
    """The heaviest tokens of each class, or of some, as bars; on the axes, or on those of a new
    figure."""
    bars = heaviest(model, check_int(top, "`top`", at_least=1, at_most=500), only)
    title, size = f"heaviest of {len(model.vocabulary):,} tokens", (5.6, 1.4 + 0.22 * len(bars))
    with style.drawing(ax, size, title) as ax:
        for group in _draw_bars(bars, model.classes, ax):
            ax.bar_label(group, fmt="{:+.3g}", padding=3, fontsize="small")
        ax.margins(x=0.16)  # for these numbers
        above = ", above the mean of all classes" * (len(model.classes) > 2)
        ax.set_xlabel(f"weight (the logit is a mean of weights){above}")
    return ax


def plot_text(why: "Explanation", ax: Any) -> Axes:
    """The votes of a text, the largest on top; an arrow leads from the vote that a modified token
    would have otherwise. On the axes, or on those of a new figure."""
    shown = why.active[:MOST_VOTES]
    size = 5.6, 1.2 + 0.24 * max(len(shown), 3)
    with style.drawing(ax, size, _shown(why.answer, 70)) as ax:
        ink = style.ink()
        arrow = {"arrowstyle": "->", "color": ink, "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
        bars = []
        for row, entry in enumerate(shown):
            name = entry.word
            if entry.modifiers:
                name += f" ← {', '.join(entry.modifiers)}"
                ax.barh(row, entry.weight, height=0.72, fc="none", ec=ink, lw=0.8, ls=":")
                ax.annotate("", (entry.vote, row), (entry.weight, row), arrowprops=arrow)
            bars.append(Bar(name, entry.vote, entry.class_index))
        _draw_bars(bars, why.model.classes, ax)
        left_out = len(why.active) - len(shown)
        note = f"; {left_out:,} smaller ones are not shown" if left_out else ""
        ax.set_xlabel(_shown(f"vote towards {why.positive_class}{note}", 70))
    return ax


def _draw_bars(bars: Sequence[Bar], classes: Sequence[Any], ax: Axes) -> list[Any]:
    """Horizontal bars, the first on top, in the colour and the hatch of their classes, with a
    legend."""
    groups = []
    for number in sorted({bar.class_index for bar in bars}):
        rows = [row for row, bar in enumerate(bars) if bar.class_index == number]
        look: dict[str, Any] = {"ec": style.ground(), "lw": 0, "height": 0.75}
        look["fc"] = look_of_class(number, len(classes))[0]
        look["hatch"] = _HATCHES[number % len(_HATCHES)]
        look["label"] = _shown(f"for {classes[number]}")
        groups.append(ax.barh(rows, [bars[row].value for row in rows], **look))
    if groups:
        ax.legend(frameon=False, fontsize="small", loc="best")
    ax.set_yticks(range(len(bars)), [_shown(bar.name) for bar in bars])
    ax.set_ylim(max(len(bars), 1) - 0.4, -0.6)
    ax.axvline(0, color=FAINT, lw=0.8, zorder=0)
    style.hide_frame(ax)
    ax.tick_params(axis="y", length=0)
    return groups


def _shown(text: object, most: int = LONGEST_NAME) -> str:
    """A text in one line for matplotlib, which takes dollars for a formula."""
    return truncate(sanitize_line(text), most).replace("$", r"\$")
