"""A search that skips points must change nothing: neither who wins, nor who comes close, nor the smallest lead."""

from functools import cache

import numpy as np
import pytest
from agreement import assert_same
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from hardmax._float.argmax import ArgmaxResult, score_all
from hardmax._float.cones import cones
from hardmax._float.search import ONLY_IN, SEARCHES, suited

PRUNING = [name for name in SEARCHES if name != "all"]


def clouds(rng: np.random.Generator):
    for d in (1, 2, 3, 5, 20):
        yield rng.standard_normal((1500, d))
    yield rng.standard_normal((6000, 2))
    yield rng.standard_normal((1500, 3)) + 40
    yield rng.integers(-9, 10, size=(1500, 2)).astype(float)
    yield rng.integers(-3, 4, size=(700, 4)).astype(float)
    turns = rng.uniform(0, 2 * np.pi, 5000)
    yield np.stack([np.cos(turns), np.sin(turns)], axis=1)
    yield np.stack([turns, turns], axis=1)
    yield rng.standard_normal((1500, 2)) * [1, 1e-9] + [0, 1]
    yield np.concatenate([rng.standard_normal((1500, 2)), 1e-12 * rng.standard_normal((300, 2)), np.zeros((1, 2))])
    yield np.zeros((40, 2))
    yield np.concatenate([rng.standard_normal((400, 12)), 1e-310 * rng.standard_normal((400, 12))])
    yield rng.standard_normal((1, 3))


@cache
def contest(number: int, relative: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, ArgmaxResult]:
    """Directions, a cloud, a slack, and what scoring everybody finds: the same for every search."""
    points = list(clouds(np.random.default_rng(number)))[number]
    directions = points[:: 1 if len(points) < 2000 else 3]
    slack = relative * np.linalg.norm(directions, axis=1) * np.linalg.norm(points, axis=1).max() + 1e-15
    return directions, points, slack, score_all(directions, points, slack)


@pytest.mark.parametrize("name", PRUNING)
@pytest.mark.parametrize("number", range(16))
@pytest.mark.parametrize("relative", [0.0, 1e-15, 1e-12, 1e-3])
def test_every_search_finds_what_scoring_everybody_finds(name, number, relative):
    directions, points, slack, everybody = contest(number, relative)
    if points.shape[1] != ONLY_IN.get(name, points.shape[1]):
        pytest.skip("for another dimension")
    assert_same(SEARCHES[name](directions, points, slack), everybody)


@pytest.mark.parametrize("name", PRUNING)
def test_a_guess_changes_nothing_good_or_bad(name):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((1500, ONLY_IN.get(name, 2)))
    slack = np.full(1500, 1e-13)
    for guesses in (np.arange(1500), rng.integers(0, 1500, 1500)):
        assert_same(SEARCHES[name](points, points, slack, guesses), score_all(points, points, slack))


@pytest.mark.parametrize("d", [150_528, 200_000])
def test_in_so_many_dimensions_that_products_of_bytes_would_overflow_everybody_is_found(d):
    signs = np.where(np.random.default_rng(d).random(d) < 0.5, 1.0, -1.0)
    points = np.outer([1, 1 - 2.0**-7, -1, 2.0**-7 - 1], signs)
    slack, everybody = np.full(4, 1e-6), np.arange(4)
    assert_same(SEARCHES["rounded"](points, points, slack, everybody), score_all(points, points, slack))


def test_every_search_is_the_one_that_suits_some_contest():
    assert {suited(rows, 10_000, d) for rows in (1, 10_000) for d in (1, 2, 3, 20)} == set(SEARCHES)


@pytest.mark.parametrize("name", PRUNING)
@settings(max_examples=examples(200))
@given(st.integers(0, 2**32 - 1))
def test_on_small_clouds_too(name, seed):
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(1, 80), rng.integers(1, 40), ONLY_IN.get(name) or rng.integers(1, 6)
    points = rng.standard_normal((n, d)).round(int(rng.integers(0, 6)))
    directions = rng.standard_normal((m, d)).round(int(rng.integers(0, 6)))
    # No lead of a few decimals is as large as the slack, where a last digit would decide who comes close.
    slack = np.full(m, 1.2345678901234567 * 10.0 ** -float(rng.integers(1, 14)))
    assert_same(SEARCHES[name](directions, points, slack), score_all(directions, points, slack))


def along_an_edge(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points on an edge of a hull and a few units in the last place inside of it; directions across the edge, nearly.

    The angles of what lies inside differ by less than rounding: the furthest of it is looked up wrongly now and then.
    """
    rng = np.random.default_rng(seed)
    across = np.array([(3.0, 4.0), (5.0, 12.0), (8.0, 15.0), (20.0, 21.0), (1.0, 0.0), (-4.0, 3.0)][rng.integers(6)])
    along, height = np.array([-across[1], across[0]]), float(rng.integers(1, 9))
    base = across * height
    edge = base + along * np.concatenate([[-1.0, 1.0], rng.integers(-7, 8, 2) / 8])[:, None]
    inside = base + along * rng.uniform(-0.99, 0.99, (rng.integers(2, 12), 1))
    inside -= across * rng.uniform(0, 8, (len(inside), 1)) * 2.0**-53 * height
    far = -base * rng.uniform(0.5, 2) + along * rng.uniform(-1, 1, (4, 1))
    directions = np.concatenate([[across], [across / 3], across + along * rng.uniform(-4, 4, (4, 1)) * 2.0**-53])
    return directions, np.unique(np.concatenate([edge, inside, far]), axis=0)


def test_in_the_plane_nobody_who_comes_close_is_missed_where_angles_differ_by_less_than_rounding():
    for seed in range(examples(20_000)):
        directions, points = along_an_edge(seed)
        lengths = np.linalg.norm(points, axis=1).max() * np.linalg.norm(directions, axis=1)
        slack = 4 * 2.0**-53 * lengths
        found, wished = (SEARCHES[name](directions, points, slack) for name in ("plane", "all"))
        close = dict(zip(found.contested.tolist(), found.candidates, strict=True))
        for row, several in zip(wished.contested.tolist(), wished.candidates, strict=True):
            assert set(several.tolist()) <= set(close.get(row, np.empty(0)).tolist()), (seed, row)


@pytest.mark.parametrize("name", ["outward", "cones"])
def test_margins_are_not_overstated_where_rows_tie(name):
    rng = np.random.default_rng(0)
    # Along x two equal points tie, far ahead of all others: that leads by nothing, and nobody may leave early for it.
    # Along y one point leads by 4.1 another that lies further in than all that are looked at first.
    upright = [[0.0, 0.0, way * (8 + k / 64)] for k in range(32) for way in (1, -1)]
    inner = rng.uniform(-0.5, 0.5, (6000, 3))
    points = np.concatenate([[[9.0, 0.0, 0.0]] * 2, [[0.0, 9.0, 0.0]], upright, [[0.0, 4.9, 0.0]], inner])
    directions, slack = np.eye(3)[:2], np.full(2, 1e-13)
    found = (cones if name == "cones" else SEARCHES[name])(directions, points, slack)
    assert found.gap == pytest.approx(4.1, rel=1e-9)
    assert score_all(directions, points, slack).gap == pytest.approx(4.1, rel=1e-9)


@pytest.mark.parametrize("relative", [0.0, 1e-15, 1e-6, 1e-3, 0.1, 1.0])
@pytest.mark.parametrize("height", [1.0, 1e-3, 1e-12])
def test_in_the_plane_edges_full_of_points_hide_nobody(relative, height):
    rng = np.random.default_rng(3)
    points = rng.integers(-60, 61, size=(40_000, 2)) * [1.0, height]
    points = np.unique(points, axis=0)
    directions = np.concatenate([np.eye(2), -np.eye(2), rng.standard_normal((200, 2)), points[:300]])
    slack = relative * np.linalg.norm(directions, axis=1) * np.linalg.norm(points, axis=1).max() + 1e-15 * height
    assert_same(SEARCHES["plane"](directions, points, slack), score_all(directions, points, slack))


def test_in_the_plane_the_lead_over_the_next_row_of_a_lattice_is_told():
    points = np.stack(np.meshgrid(np.arange(-60.0, 61), np.arange(-60.0, 61)), axis=-1).reshape(-1, 2)
    directions = np.concatenate([np.eye(2), -np.eye(2)] * 50)
    assert SEARCHES["plane"](directions, points, np.full(200, 1e-9)).gap == 1


def test_in_the_plane_a_lead_over_whom_nobody_scored_is_not_forgotten():
    # A wide frame of two lines of points, so that none of those who are scored is out of reach, and a crowd inside.
    sides = np.linspace(-1, 1, 401)
    lines = [np.stack(np.broadcast_arrays(sides, np.full(401, y)), axis=1) for y in (-1.0, 1.0)]
    rng = np.random.default_rng(0)
    crowd = rng.uniform(-0.99, 0.99, (20_000, 2))
    points = np.unique(np.concatenate([*lines, crowd]), axis=0)
    directions = np.tile([[0.0, 1.0]], (200, 1))
    truth = 1 - points[points[:, 1] < 1, 1].max()
    assert SEARCHES["plane"](directions, points, np.full(200, 1e-9)).gap == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("name", ["rounded", "outward"])
def test_the_smallest_lead_is_found_though_it_is_large_and_of_a_single_row(name):
    # Along seven axes the furthest lead by more than 9, along the last one by 5: over a point that bytes rule out.
    rng = np.random.default_rng(0)
    points = np.concatenate([10 * np.eye(8), -10 * np.eye(8), 5 * np.eye(8)[-1:], rng.uniform(-0.5, 0.5, (900, 8))])
    directions = np.eye(8)[np.arange(400) % 7] * rng.uniform(1, 1.1, (400, 1))
    for row in (5, 100, 301):
        asked = directions.copy()
        asked[row] = 1.09 * np.eye(8)[-1]
        assert SEARCHES[name](asked, points, np.full(400, 1e-9)).gap == pytest.approx(1.09 * 5, rel=1e-9)
