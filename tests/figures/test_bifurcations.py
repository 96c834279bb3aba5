"""`bifurcations(...).plot()`: bars from one step size to the next, a row for each token, a colour
for each leader."""

# pyright: reportCallIssue=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportIndexIssue=false
from fractions import Fraction
from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color, to_hex
from matplotlib.figure import Figure

from hardmax._beyond.algebraic import AlgebraicNumber
from hardmax._beyond.bifurcations import Bifurcations, Interval, Outcome
from hardmax.figures.palette import FAINT, SHADE

# Token 3 changes sides, and then has no one leader.
FIRST = Outcome((0, 2), ((0,), (0,), (2,), (2,), (0, 2)))
SECOND = Outcome((0, 1, 2), ((0,), (1,), (2,), (1,), (0, 1, 2, 3)))


def made(*outcomes: Outcome | None, at: list[str]) -> Bifurcations:
    """Outcomes between the given step sizes, from the first to the last."""
    ends = [AlgebraicNumber.of(Fraction(number)) for number in at]
    intervals = tuple(map(Interval, ends[:-1], ends[1:], outcomes))
    return Bifurcations(tuple(ends[1:-1]), intervals, (None,) * (len(ends) - 2))


def drawn(found: Bifurcations) -> Axes:
    return found.plot(ax=Figure().add_subplot())


def bars(ax: Axes) -> dict[tuple[int, float, float], tuple[Any, Any]]:
    """Height and colour of the bar of a token between two step sizes."""
    found = {}
    for patch in ax.containers:
        (bar,) = patch
        (left, low), (right, high) = bar.get_bbox().get_points()
        token = round((low + high) / 2)
        ends = (round(float(left), 9), round(float(right), 9))
        assert (low + high) / 2 == pytest.approx(token)
        found[token, *ends] = (high - low, to_hex(bar.get_facecolor()))
    return found


def texts(ax: Axes) -> dict[tuple[float, float], str]:
    told: list[Any] = [text for text in ax.texts if text.get_text() and not hasattr(text, "xy")]
    return {
        tuple(round(number, 9) for number in text.get_position()): text.get_text() for text in told
    }


def test_a_bar_goes_from_one_step_size_to_the_next_and_has_the_colour_of_the_leader():
    ax = drawn(made(FIRST, SECOND, at=["1/2", "1", "3"]))
    found = bars(ax)
    assert len(found) == 10
    for outcome, ends in ((FIRST, (0.5, 1.0)), (SECOND, (1.0, 3.0))):
        height, color = (
            {token: found[token, *ends][part] for token in range(5)} for part in (0, 1)
        )
        for token, attended in enumerate(outcome.attended):
            same = color[token] == (color[attended[0]] if len(attended) == 1 else FAINT.lower())
            assert same, token
        assert len({color[leader] for leader in outcome.leaders}) == len(outcome.leaders)
        wide = min(height[leader] for leader in outcome.leaders)
        assert wide > max(height[token] for token in range(5) if token not in outcome.leaders)
        assert max(height.values()) < 1  # rows do not meet
    assert found[0, 0.5, 1.0] == found[0, 1.0, 3.0]  # a leader keeps its colour
    assert ax.get_xlim() == (0.5, 3.0)
    bottom, top = ax.get_ylim()
    assert bottom > 4 + 0.43
    assert top < -0.43
    assert ax.get_yticks().tolist() == [0, 1, 2, 3, 4]


def test_leaders_have_stars_and_the_others_say_whom_they_attend_to_in_the_middle_of_their_bars():
    ax = drawn(made(FIRST, SECOND, at=["1/2", "1", "3"]))
    stars = {tuple(line.get_xydata()[0]) for line in ax.lines if line.get_marker() == "*"}
    assert stars == {(0.75, 0), (0.75, 2), (2, 0), (2, 1), (2, 2)}
    assert texts(ax) == {
        (0.75, 1): "0",
        (0.75, 3): "2",
        (0.75, 4): "0, 2",
        (2, 3): "1",
        (2, 4): "0, 1, 2, …",
    }
    three = SECOND._replace(attended=(*SECOND.attended[:4], (0, 1, 2)))
    assert texts(drawn(made(three, at=["1", "2"])))[1.5, 4] == "0, 1, 2"


def test_what_is_not_decided_says_so_over_all_rows():
    ax = drawn(made(FIRST, None, SECOND, at=["1", "2", "4", "5"]))
    assert texts(ax)[3, 2] == "not decided"
    (span,) = [patch for patch in ax.patches if same_color(patch.get_facecolor(), SHADE)]
    assert span.get_extents().transformed(ax.transData.inverted()).intervalx.tolist() == [2, 4]
    assert len(bars(ax)) == 10
    nothing = drawn(made(None, at=["1", "3"]))
    assert texts(nothing) == {(2, 0): "not decided"}


def test_every_value_has_a_line_and_names_do_not_run_into_each_other():
    at = ["0", "1/100", "1/50", "1/2", "3/5", "13/20", "1"]
    found = made(*[FIRST, SECOND] * 3, at=at)
    ax = drawn(found)
    dashed = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed == [float(value) for value in found.values]
    names = {note.xy[0]: note.get_text() for note in ax.texts if hasattr(note, "xy")}
    assert names == {0.01: "1/100", 0.5: "1/2", 0.65: "13/20"}
    assert {note.xy[1] for note in ax.texts if hasattr(note, "xy")} == {1}  # above the rows
    # What is too narrow to write in has bars alone.
    assert {x for x, _ in texts(ax)} == {0.26, 0.55, 0.625, 0.825}


@pytest.mark.parametrize(("tokens", "numbered"), [(1, True), (30, True), (31, False)])
def test_a_new_figure_grows_with_its_rows_and_says_how_many_values_there_are(tokens, numbered):
    everybody = Outcome(tuple(range(tokens)), tuple((token,) for token in range(tokens)))
    ax, usual = (
        made(everybody, None, at=["1", "2", "3"]).plot(figsize=size) for size in (None, (5, 4))
    )
    assert ax.get_title(loc="left") == "1 bifurcation: whom each token ends with"
    assert (len(ax.get_yticks()) == tokens) == numbered
    height = 0.8 * ax.figure.get_size_inches()[1] / tokens
    assert 0.15 < height < 2  # of a row, in inches
    assert usual.figure.get_size_inches().tolist() == [5, 4]
