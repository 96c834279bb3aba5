"""A text as its votes: a bar for each active token, and what modified ones would say otherwise."""

from typing import TYPE_CHECKING, Any

from hardmax._common.format import truncate
from hardmax.figures import style
from hardmax.figures.labels import escape_mathtext
from hardmax.figures.palette import FAINT, INK, look_of_class

if TYPE_CHECKING:
    from hardmax.text.explain import Explanation

MOST = 20  # tokens
_LONGEST = 34  # characters of a name


def plot_text(why: "Explanation", ax: Any = None) -> style.Axes:
    """Draw the votes of a text, on these axes or those of a new figure."""
    shown = why.active[:MOST]
    ax = (
        style.new_figure((5.6, 1.2 + 0.24 * max(len(shown), 3))).add_subplot()
        if ax is None
        else style.check_axes(ax)
    )
    with style.style_context():
        _draw(why, ax)
    return ax


def _draw(why: "Explanation", ax: style.Axes) -> None:
    """Bars with the largest vote on top; an arrow leads from what a token would say to what it
    says."""
    shown = why.active[:MOST]
    for row, entry in enumerate(shown):
        color = look_of_class(entry.class_index, len(why.model.classes))[0]
        ax.barh(
            row,
            entry.vote,
            height=0.72,
            color=color,
            hatch="////" * (entry.vote < 0),
            ec="white",
            lw=0,
        )
        if entry.modifiers:
            ax.barh(row, entry.weight, height=0.72, fc="none", ec=INK, lw=0.8, ls=":")
            arrow = {"arrowstyle": "->", "color": INK, "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", (entry.vote, row), (entry.weight, row), arrowprops=arrow)
    names = [
        f"{entry.word} ← {', '.join(entry.modifiers)}" if entry.modifiers else entry.word
        for entry in shown
    ]
    ax.set_yticks(range(len(shown)), [escape_mathtext(truncate(name, _LONGEST)) for name in names])
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    ax.axvline(0, color=FAINT, lw=0.8, zorder=0)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    left = (
        f"; {len(why.active) - len(shown):,} smaller ones are not shown"
        if len(why.active) > len(shown)
        else ""
    )
    ax.set_xlabel(escape_mathtext(truncate(f"vote towards {why.positive_class}{left}", 70)))
    ax.set_title(escape_mathtext(why.answer), loc="left")
