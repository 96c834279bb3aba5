"""`bifurcations(...).plot()`: whom every token attends to in the end, along the step size."""

from typing import TYPE_CHECKING, Any

from hardmax._common.format import first_few, pluralize
from hardmax.figures import style
from hardmax.figures.palette import GREY, INK, LEADER, SHADE, look_of_leader
from hardmax.figures.style import Axes

if TYPE_CHECKING:
    from hardmax._beyond.bifurcations import Bifurcations, Outcome

_NARROWEST = 0.02  # share of the width that an interval must have to be labelled
_MOST_NUMBERED = 30  # tokens of which all have a number beside their row
_LABEL = 0.14  # share of the width that the name of a value takes


def plot_bifurcations(bifurcations: "Bifurcations", ax: Any, figsize: Any) -> Axes:
    """Bars on the axes, or on those of a new figure: a row for each token, a colour for each
    leader."""
    outcomes = [interval.outcome for interval in bifurcations.intervals]
    rows = max(len(outcome.attended) if outcome else 1 for outcome in outcomes)
    given = style.axes_for(ax, figsize, (6.4, 1.5 + 0.26 * rows))
    with style.style_context():
        if ax is None:
            count = pluralize(len(bifurcations.values), "bifurcation")
            given.set_title(f"{count}: whom each token ends with", loc="left", pad=18)
        _draw(bifurcations, given, rows)
    return given


def _draw(bifurcations: "Bifurcations", ax: Axes, rows: int) -> None:
    intervals = bifurcations.intervals
    outcomes = [interval.outcome for interval in intervals if interval.outcome]
    leaders = sorted({leader for outcome in outcomes for leader in outcome.leaders})
    low, high = float(intervals[0].low), float(intervals[-1].high)
    ax.set(xlabel="alpha", ylabel="token", xlim=(low, high), ylim=(rows - 0.4, -0.6))
    for interval in intervals:
        ends = float(interval.low), float(interval.high)
        if interval.outcome is None:
            ax.axvspan(*ends, color=SHADE, zorder=0)
            middle = (rows - 1) / 2
            look: dict[str, Any] = {"fontsize": 8, "rotation": 90, "color": style.ink()}
            _write("not decided", sum(ends) / 2, middle, ax, **look)
        else:
            _draw_bars(interval.outcome, leaders, ends, ax)
    _name_values(bifurcations, ax)
    if rows <= _MOST_NUMBERED:
        ax.set_yticks(range(rows))
    style.hide_frame(ax, "top", "right", "left")


def _draw_bars(outcome: "Outcome", leaders: list[int], ends: tuple[float, float], ax: Axes) -> None:
    """A bar for each token, from one end of the interval to the other."""
    left, right = ends
    low, high = ax.get_xlim()
    is_wide = right - left > _NARROWEST * (high - low)
    for token, attended in enumerate(outcome.attended):
        is_single = len(attended) == 1 and attended[0] in leaders
        color = look_of_leader(leaders.index(attended[0]) if is_single else GREY)[0]
        leads = token in outcome.leaders
        height = 0.86 if leads else 0.5
        ax.barh(token, right - left, height, left, color=color, ec=style.ground(), lw=0.6)
        if is_wide and leads:
            ax.plot(sum(ends) / 2, token, LEADER, color=INK, ms=8)
        elif is_wide:
            _write(first_few(map(str, attended), 3), sum(ends) / 2, token, ax, fontsize=7)


def _write(text: str, x: float, y: float, ax: Axes, *, color: Any = INK, **look: Any) -> None:
    # On bars, which are never dark.
    ax.text(x, y, text, color=color, **look, ha="center", va="center", clip_on=True)


def _name_values(bifurcations: "Bifurcations", ax: Axes) -> None:
    """A dashed line at each value, and its name above it where there is room."""
    low, high = ax.get_xlim()
    last_named = low - (high - low)
    place = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    for value in bifurcations.values:
        ax.axvline(float(value), color=style.ink(), lw=1, ls="--")
        if float(value) - last_named > _LABEL * (high - low):
            last_named = float(value)
            look = {"ha": "center", "va": "bottom", "fontsize": 8}
            ax.annotate(str(value), (last_named, 1), (0, 3), **place, **look)
