"""Long searches: a line of stderr says how far they are, and Ctrl-C ends them with what they
have."""

import io
import sys
from itertools import count
from typing import Any

import pytest

import hardmax as hm
from hardmax._common import progress
from hardmax._common.progress import Reporting, Search

SQUARE = hm.clouds.square(inside=[("1/2", "1/5")])
BETAS = [10, 20, 30, 40]
SEARCHES: Any = {
    "falsify": lambda: hm.falsify("Theorem 1.1"),
    "basins": lambda: hm.basins(SQUARE, tolerance=0),
    "bifurcations": lambda: hm.bifurcations(hm.clouds.emerging_leader(), ("1/10", 2)),
    "softmax_gap": lambda: hm.softmax_gap(SQUARE, hm.Dynamics(1), BETAS, layers=3),
}


def ctrl_c_at(monkeypatch, call):
    calls = count()

    def press(self, done, total, note=""):
        if next(calls) == call:
            raise KeyboardInterrupt

    monkeypatch.setattr(Search, "__call__", press)


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_ctrl_c_ends_a_search_which_says_so(search, monkeypatch):
    whole = search()
    ctrl_c_at(monkeypatch, 3)
    part = search()
    assert (whole.interrupted, part.interrupted) == (False, True)
    assert "interrupted" in repr(part)
    assert "interrupted" not in repr(whole)


def test_intervals_before_ctrl_c_are_known_and_the_rest_is_not(monkeypatch):
    first, *_ = SEARCHES["bifurcations"]().intervals
    ctrl_c_at(monkeypatch, 3)
    found = SEARCHES["bifurcations"]()
    assert found.values == ()  # where the search ended is no step size at which something changes
    known, left = found.intervals
    assert (known.low, known.outcome) == (first.low, first.outcome)
    assert known.high == left.low < first.high
    assert (left.outcome, float(left.high)) == (None, 2)


def test_temperatures_before_ctrl_c_are_known(monkeypatch):
    whole = SEARCHES["softmax_gap"]()
    ctrl_c_at(monkeypatch, 3)
    part = SEARCHES["softmax_gap"]()
    assert part.distances.tolist() == whole.distances[:3].tolist()
    assert part.betas == whole.betas[:3]


def test_after_ctrl_c_all_of_the_box_is_in_a_region_or_undecided(monkeypatch):
    ctrl_c_at(monkeypatch, 1)
    part = SEARCHES["basins"]()
    shares = [region.share for region in (*part.regions, part.undecided)]
    assert sum(shares) == pytest.approx(1)
    assert part.undecided.share > 0


def test_ctrl_c_before_the_first_vector_leaves_a_metric_undecided(monkeypatch):
    ctrl_c_at(monkeypatch, 0)
    found = hm.find_metric(SQUARE, leaders=[0])
    assert repr(found) == "MetricSearch(undecided, interrupted)"


def test_an_interrupted_sweep_has_the_rows_of_the_first_tasks(monkeypatch):
    ctrl_c_at(monkeypatch, 1)
    with pytest.warns(UserWarning, match="interrupted: the table has the rows of 2 of 3 tasks"):
        table = hm.sweep({"n": [3, 4, 5], "d": 2, "seeds": 2}, hm.Dynamics(1))
    assert table["n"].to_pylist() == [3, 3, 4, 4]
    assert table.schema.metadata == {b"interrupted": b"2 of 3 tasks"}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_line_is_kept_up_to_date_on_a_terminal_only(stream, monkeypatch):
    shown = stream()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setattr(progress, "SILENT", -1)
    monkeypatch.setattr(progress, "BETWEEN", -1)
    report = Reporting("cases")
    report(1, 2000)
    report(1000, 2000, "or less")
    written = shown.getvalue().split("\r")
    is_terminal = stream is Terminal
    expected = ["cases: 1 of 2,000", "cases: 1,000 of 2,000 or less"] * is_terminal
    assert [line.strip() for line in written if line] == expected
    report(2000, 2000)
    assert shown.getvalue().endswith(" \r" * is_terminal)
