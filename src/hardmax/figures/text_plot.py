"""A text as its votes: a bar for each active token, and the votes that modified ones would have
otherwise."""

from typing import TYPE_CHECKING, Any

from hardmax._common.format import truncate
from hardmax.figures import style
from hardmax.figures.labels import escape_mathtext
from hardmax.figures.palette import look_of_class
from hardmax.figures.style import Axes, Patch

if TYPE_CHECKING:
    from hardmax.text.explain import Explanation

MOST = 20  # tokens
_LONGEST = 34  # characters of a name


def plot_text(why: "Explanation", ax: Any = None) -> Axes:
    """Draw the votes of a text, on these axes or those of a new figure."""
    shown = why.active[:MOST]
    ax = style.axes_for(ax, None, (5.6, 1.2 + 0.24 * max(len(shown), 3)))
    with style.style_context():
        _draw(why, ax)
    return ax


def _draw(why: "Explanation", ax: Axes) -> None:
    """Bars with the largest vote on top; an arrow leads from the vote without modifiers to the
    vote."""
    shown, names = why.active[:MOST], []
    arrow = {"arrowstyle": "->", "color": style.ink(), "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
    for row, entry in enumerate(shown):
        color = look_of_class(entry.class_index, len(why.model.classes))[0]
        hatch = "////" * (entry.vote < 0)
        ax.barh(row, entry.vote, height=0.72, color=color, hatch=hatch, ec=style.ground(), lw=0)
        name = entry.word
        if entry.modifiers:
            name = f"{entry.word} ← {', '.join(entry.modifiers)}"
            ax.barh(row, entry.weight, height=0.72, fc="none", ec=style.ink(), lw=0.8, ls=":")
            ax.annotate("", (entry.vote, row), (entry.weight, row), arrowprops=arrow)
        names.append(escape_mathtext(truncate(name, _LONGEST)))
    style.name_rows(ax, names)
    left_out = len(why.active) - len(shown)
    note = f"; {left_out:,} smaller ones are not shown" if left_out else ""
    ax.set_xlabel(escape_mathtext(truncate(f"vote towards {why.positive_class}{note}", 70)))
    ax.set_title(escape_mathtext(why.answer), loc="left")
    classes, handles = why.model.classes, []
    for number in sorted({entry.class_index for entry in shown}):
        label = escape_mathtext(truncate(f"for {classes[number]}", _LONGEST))
        handles.append(Patch(fc=look_of_class(number, len(classes))[0], label=label))
    ax.legend(handles=handles, frameon=False, fontsize="small")
