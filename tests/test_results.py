"""Everything that functions return: one readable line, and a picture where there is one."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from refusals import refuses

import hardmax as hm
from hardmax import results
from hardmax.results import AlgebraicNumber, Bifurcations, Broken

HALF = hm.Dynamics("1/2")
CLOUD = hm.clouds.nonleader_clusters()
MANY = hm.clouds.gaussian(60, 2)
LONG = AlgebraicNumber((-(10**40), 0, 0, 0, 0, 3), 0)


@cache
def a_limit() -> hm.Limit:
    return hm.limit(CLOUD, HALF)


@cache
def values() -> Bifurcations:
    return hm.bifurcations(hm.clouds.emerging_leader(), ("1/10", 2))


def streamed(folder: Any) -> Any:
    tokens = np.memmap(folder / "tokens", dtype=np.float64, mode="w+", shape=MANY.shape)
    tokens[:] = MANY
    return hm.limit(tokens, HALF)


# How each is made, here with much to say, and whether it draws itself.
MADE: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "AlgebraicNumber": (lambda _: LONG, False),
    "AttendedSets": (lambda _: hm.attended(np.zeros((60, 2)), HALF), False),
    "Basins": (lambda _: hm.basins(MANY[:12], effort=300), True),
    "Bifurcations": (lambda _: values(), True),
    "Broken": (lambda _: Broken("it moves", layer=3, token=0), False),
    "Certificate": (lambda _: a_limit().prove(), False),
    "Falsification": (lambda _: hm.falsify("all tokens meet"), True),
    "Limit": (lambda _: a_limit(), True),
    "Limits": (lambda _: hm.limits([CLOUD, CLOUD[:3]], HALF), True),
    "MetricSearch": (lambda _: hm.find_metric(MANY[:5], leaders=[1]), False),
    "Region": (lambda _: hm.basins([[1], [-1]], box=[(-2, 2)]).undecided, False),
    "Run": (lambda _: a_limit().run, True),
    "Runs": (lambda _: hm.simulate([CLOUD, CLOUD[:3]], HALF), True),
    "SoftmaxGap": (lambda _: hm.softmax_gap(CLOUD, HALF, range(1, 9), layers=2), True),
    "StreamedLimit": (streamed, False),
    "TheoremReport": (lambda _: hm.check_theorem(a_limit()), False),
    "Verdict": (lambda _: hm.verify(a_limit().prove()), False),
}


def test_the_table_is_complete():
    assert [*MADE] == sorted(results.__all__)


@pytest.mark.parametrize("name", MADE)
def test_it_is_one_readable_line(name, tmp_path):
    found = MADE[name][0](tmp_path)
    assert isinstance(found, getattr(results, name))
    line = repr(found)
    assert line.startswith(name)
    assert "\n" not in line
    assert 10 < len(line) <= 120
    assert not any(len(word) > 30 for word in line.split())


@pytest.mark.parametrize("name", [name for name, (_, draws) in MADE.items() if draws])
def test_it_draws_itself_on_axes_of_mine_and_gives_a_new_figure_a_title(name, tmp_path):
    found, mine = MADE[name][0](tmp_path), Figure().add_subplot()
    assert found.plot(ax=mine) is mine
    assert mine.has_data()
    assert found.plot().get_title(loc="left")
    with refuses("`ax` must be axes of matplotlib"):
        found.plot(ax=3)


@pytest.mark.parametrize("name", [name for name, (_, draws) in MADE.items() if not draws])
def test_the_others_have_no_picture(name, tmp_path):
    assert not hasattr(MADE[name][0](tmp_path), "plot")


def test_bars_count_clouds_by_their_leaders():
    bars: Any = hm.limits([[[1], [2]], [[3]], [[1], [-1]]], HALF).plot().patches
    places = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in bars}
    assert places == {1: 2, 2: 1}


def test_without_a_counterexample_there_is_nothing_to_draw():
    with refuses("there is no counterexample in 2 cases"):
        hm.falsify("Theorem 1.1", tries=2).plot()


def test_an_interval_says_who_leads():
    said = [str(interval) for interval in values().intervals]
    assert said[1] == "Interval((5 - √13)/6 to (5 + √13)/6: leaders 0, 1, 2)"
