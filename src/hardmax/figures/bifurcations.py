"""`bifurcations(...).plot()`: whom every token attends to in the end, along the step size."""

from typing import TYPE_CHECKING, Any

from hardmax._common.format import pluralize
from hardmax.figures import style
from hardmax.figures.palette import GREY, INK, LEADER, SHADE, look_of_leader

if TYPE_CHECKING:
    from hardmax._beyond.bifurcations import Bifurcations, Outcome

_NARROWEST = 0.02  # share of the width that an interval must have to be labelled
_MOST_NUMBERED = 30  # tokens of which all have a number beside their row
_LABEL = 0.14  # share of the width that the name of a value takes


def plot_bifurcations(found: "Bifurcations", *, ax: Any = None, figsize: Any = None) -> style.Axes:
    """Bars on the axes, or on those of a new figure: a row for each token, a colour for each
    leader."""
    rows = max(len(outcome.attended) if outcome else 1 for outcome in _outcomes(found))
    figure = (
        style.new_figure(style.check_figsize(figsize, (6.4, 1.5 + 0.26 * rows)))
        if ax is None
        else None
    )
    with style.style_context():
        given = figure.add_subplot() if figure else style.check_axes(ax)
        if figure:
            title = f"{pluralize(len(found.values), 'bifurcation')}: whom each token ends with"
            given.set_title(title, loc="left", pad=18)
        _draw(found, given, rows)
    return given


def _outcomes(found: "Bifurcations") -> "list[Outcome | None]":
    return [interval.outcome for interval in found.intervals]


def _draw(found: "Bifurcations", ax: style.Axes, rows: int) -> None:
    leaders = sorted(
        {leader for outcome in _outcomes(found) if outcome for leader in outcome.leaders}
    )
    number = {leader: place for place, leader in enumerate(leaders)}
    low, high = float(found.intervals[0].low), float(found.intervals[-1].high)
    for interval in found.intervals:
        left, right = float(interval.low), float(interval.high)
        if interval.outcome is None:
            ax.axvspan(left, right, color=SHADE, zorder=0)
            look = {"ha": "center", "va": "center", "fontsize": 8, "color": INK}
            ax.text(
                (left + right) / 2, (rows - 1) / 2, "not decided", rotation=90, clip_on=True, **look
            )
            continue
        for token, several in enumerate(interval.outcome.attended):
            color = look_of_leader(number.get(several[0], GREY) if len(several) == 1 else GREY)[0]
            leads = token in interval.outcome.leaders
            ax.barh(
                token,
                right - left,
                left=left,
                height=0.86 if leads else 0.5,
                color=color,
                ec="white",
                lw=0.6,
            )
            if right - left > _NARROWEST * (high - low):
                text = (
                    ""
                    if leads
                    else ", ".join(map(str, several[:3])) + (", …" if len(several) > 3 else "")
                )
                look = {"ha": "center", "va": "center", "fontsize": 7, "color": INK}
                ax.text((left + right) / 2, token, text, **look, clip_on=True)
                if leads:
                    ax.plot((left + right) / 2, token, LEADER, color=INK, ms=8)
    labelled = low - (high - low)
    for value in found.values:
        ax.axvline(float(value), color=INK, lw=1, ls="--")
        if float(value) - labelled > _LABEL * (high - low):
            labelled, above = (
                float(value),
                {"xytext": (0, 3), "textcoords": "offset points", "ha": "center"},
            )
            ax.annotate(
                str(value),
                (labelled, 1),
                xycoords=("data", "axes fraction"),
                va="bottom",
                fontsize=8,
                **above,
            )
    ax.set(xlabel="alpha", ylabel="token", xlim=(low, high), ylim=(rows - 0.4, -0.6))
    if rows <= _MOST_NUMBERED:
        ax.set_yticks(range(rows))
    ax.spines[["top", "right", "left"]].set_visible(False)
