"""`bifurcations(...).plot()`: what every token attends to in the end, along the step size."""

from typing import TYPE_CHECKING, Any

from hardmax._common.format import first_few, pluralize
from hardmax.figures import style
from hardmax.figures.palette import GREY, INK, LEADER, SHADE, look_of_leader
from hardmax.figures.style import Axes

if TYPE_CHECKING:
    from hardmax._beyond.bifurcations import Bifurcations, Outcome

_NARROWEST = 0.02  # share of the width that an interval must have to be labelled
_NAME = 0.14  # share of the width that the name of a value takes
_MOST_NUMBERED = 30  # tokens of which all have a number beside their row


def plot_bifurcations(found: "Bifurcations", ax: Any) -> Axes:
    """Bars on the axes, or on those of a new figure: a row for each token, a colour for each
    leader."""
    outcomes = [interval.outcome for interval in found.intervals if interval.outcome]
    leaders = sorted({leader for outcome in outcomes for leader in outcome.leaders})
    rows = max((len(outcome.attended) for outcome in outcomes), default=1)
    count = pluralize(len(found.values), "bifurcation")
    title, size = f"{count}: what each token ends with", (6.4, 1.5 + 0.26 * rows)
    with style.drawing(ax, size, title, pad=18) as ax:
        low, high = float(found.intervals[0].low), float(found.intervals[-1].high)
        ax.set(xlabel="alpha", ylabel="token", xlim=(low, high), ylim=(rows - 0.4, -0.6))
        for interval in found.intervals:
            ends = float(interval.low), float(interval.high)
            if interval.outcome is not None:
                _draw_bars(interval.outcome, leaders, ends, ax)
                continue
            ax.axvspan(*ends, color=SHADE, zorder=0)
            _write("not decided", sum(ends) / 2, (rows - 1) / 2, ax, rotation=90, color=style.ink())
        above: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "fontsize": 8}
        named = low - high
        for value in found.values:
            place = float(value)
            ax.axvline(place, color=style.ink(), lw=1, ls="--")
            if place - named > _NAME * (high - low):
                ax.annotate(str(value), (place, 1.02), ha="center", **above)
                named = place
        if rows <= _MOST_NUMBERED:
            ax.set_yticks(range(rows))
        style.hide_frame(ax)
    return ax


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
            _write(first_few(map(str, attended), 3), sum(ends) / 2, token, ax)


def _write(text: str, x: float, y: float, ax: Axes, *, color: str = INK, rotation: int = 0) -> None:
    # On bars, which are never dark.
    look: dict[str, Any] = {"ha": "center", "va": "center", "clip_on": True, "fontsize": 7}
    ax.text(x, y, text, color=color, rotation=rotation, **look)
