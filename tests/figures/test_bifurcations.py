"""`bifurcations(...).plot()`: bars from one step size to the next, a row for each token, a colour
for each leader."""

# pyright: reportAttributeAccessIssue=false, reportIndexIssue=false, reportArgumentType=false
from fractions import Fraction

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure

from hardmax._beyond.algebraic import AlgebraicNumber
from hardmax._beyond.bifurcations import Bifurcations, Interval, Outcome
from hardmax.figures.palette import FAINT, SHADE

# Token 3 changes sides, and then has no one leader.
FIRST = Outcome((0, 2), ((0,), (0,), (2,), (2,), (0, 2)))
SECOND = Outcome((0, 1, 2), ((0,), (1,), (2,), (1,), (0, 1, 2, 3)))


def drawn(*outcomes: Outcome | None, at: list[str]) -> Axes:
    """Outcomes between the given step sizes, from the first to the last."""
    ends = [AlgebraicNumber.of(Fraction(number)) for number in at]
    intervals = tuple(map(Interval, ends[:-1], ends[1:], outcomes))
    found = Bifurcations(tuple(ends[1:-1]), intervals)
    return found.plot(ax=Figure().add_subplot())


def texts(ax: Axes) -> dict[tuple[float, float], str]:
    written = [text for text in ax.texts if text.get_text() and not hasattr(text, "xy")]
    return {text.get_position(): text.get_text() for text in written}


def test_a_bar_goes_from_one_step_size_to_the_next_and_has_the_colour_of_the_leader():
    ax = drawn(FIRST, SECOND, at=["1/2", "1", "3"])
    bars = {}
    for (bar,) in ax.containers:
        (left, low), (right, high) = bar.get_bbox().get_points()
        place = round((low + high) / 2), left, round(right, 9)
        bars[place] = high - low, bar.get_facecolor()
    assert len(bars) == 10
    for outcome, ends in ((FIRST, (0.5, 1.0)), (SECOND, (1.0, 3.0))):
        for token, attended in enumerate(outcome.attended):
            height, color = bars[token, *ends]
            expected = bars[attended[0], *ends][1] if len(attended) == 1 else FAINT
            assert same_color(color, expected)
            assert height == pytest.approx(0.86 if token in outcome.leaders else 0.5)
    assert bars[0, 0.5, 1.0] == bars[0, 1.0, 3.0]  # a leader keeps its colour
    assert ax.get_xlim() == (0.5, 3.0)
    assert ax.get_yticks().tolist() == [0, 1, 2, 3, 4]


def test_leaders_have_stars_and_the_others_say_whom_they_attend_to():
    ax = drawn(FIRST, SECOND, at=["1/2", "1", "3"])
    starred = [line for line in ax.lines if line.get_marker() == "*"]
    places = [(0.75, 0), (0.75, 2), (2, 0), (2, 1), (2, 2)]
    assert sorted(tuple(line.get_xydata()[0]) for line in starred) == places
    written = texts(ax)
    first = [written.pop((0.75, token)) for token in (1, 3, 4)]
    assert first == ["0", "2", "0, 2"]
    assert written == {(2, 3): "1", (2, 4): "0, 1, 2, …"}


def test_what_is_not_decided_says_so_over_all_rows():
    ax = drawn(FIRST, None, SECOND, at=["1", "2", "4", "5"])
    assert texts(ax)[3, 2] == "not decided"
    (span,) = [patch for patch in ax.patches if same_color(patch.get_facecolor(), SHADE)]
    to_data = ax.transData.inverted()
    assert span.get_extents().transformed(to_data).intervalx.tolist() == [2, 4]
    assert texts(drawn(None, at=["1", "3"])) == {(2, 0): "not decided"}


def test_every_value_has_a_line_and_names_do_not_run_into_each_other():
    at = ["0", "1/100", "1/50", "1/2", "3/5", "13/20", "1"]
    ax = drawn(*[FIRST, SECOND] * 3, at=at)
    dashed = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed == [float(Fraction(value)) for value in at[1:-1]]
    names = {note.xy[0]: note.get_text() for note in ax.texts if hasattr(note, "xy")}
    assert names == {0.01: "1/100", 0.5: "1/2", 0.65: "13/20"}
    # What is too narrow to write in has bars alone.
    assert {round(x, 3) for x, _ in texts(ax)} == {0.26, 0.55, 0.625, 0.825}
