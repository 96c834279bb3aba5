"""A search that skips points must change nothing: neither who wins, nor who comes close, nor the
smallest lead."""

from fractions import Fraction

import numpy as np
import pytest
from agreement import assert_same
from hypothesis import given
from hypothesis import strategies as st

from hardmax._exact.argmax import by_all_scores
from hardmax._float import tree
from hardmax._float.argmax import search_dense
from hardmax._float.bounds import SlackFactors, float_metric
from hardmax._float.plane import search_plane
from hardmax._float.search import SEARCHES
from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics

U = 2.0**-53
PRUNING = [name for name in SEARCHES if name != "dense"]


@pytest.fixture(autouse=True, scope="module")
def few_rows_go_into_the_tree():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "_FEWEST_ROWS", 0)
        yield


def on_a_sphere(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    points = rng.standard_normal((n, d))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def clouds(rng: np.random.Generator):
    for d in (1, 2, 3, 20):
        yield rng.standard_normal((1500, d))
    yield rng.standard_normal((1500, 3)) + 40
    yield rng.integers(-9, 10, size=(1500, 2)).astype(float)
    yield rng.integers(-3, 4, size=(700, 4)).astype(float)
    yield on_a_sphere(rng, 5000, 2)
    yield on_a_sphere(rng, 3000, 3) + np.arange(3)
    yield on_a_sphere(rng, 33, 6)
    yield np.stack([rng.uniform(0, 6, 5000)] * 2, axis=1)  # a line
    yield rng.standard_normal((1500, 2)) * [1, 1e-9] + [0, 1]
    small, large = rng.standard_normal((300, 3)), rng.standard_normal((3, 2))
    yield np.concatenate([rng.standard_normal((300, 3)), 1e-12 * small])
    yield np.concatenate([rng.standard_normal((300, 2)), 1e9 * large])
    yield np.zeros((40, 2))
    nothing = 1e-310 * rng.standard_normal((400, 12))
    yield np.concatenate([rng.standard_normal((400, 12)), nothing])
    yield rng.standard_normal((1, 3))


@pytest.mark.parametrize("name", PRUNING)
@pytest.mark.parametrize("relative", [0.0, 1e-3])
def test_every_search_finds_what_all_scores_give(name, relative):
    for points in clouds(np.random.default_rng(0)):
        if SEARCHES[name].only_in not in (None, points.shape[1]):
            continue
        directions = points[:: 1 if len(points) < 1000 else 3]
        lengths = np.linalg.norm(directions, axis=1)
        longest = np.linalg.norm(points, axis=1).max()
        slack = relative * lengths * longest + 1e-15
        found = SEARCHES[name].function(directions, points, slack)
        assert_same(found, search_dense(directions, points, slack))


@pytest.mark.parametrize("d", [70_000, 150_528])
@pytest.mark.parametrize("positive", [0.5, 1])
def test_products_of_bytes_do_not_overflow_in_many_dimensions(d, positive):
    # A bug that was: from d = 133,144 on, products of 127 by 127 do not fit into 32 bits.
    signs = np.where(np.random.default_rng(d).random(d) < positive, 1.0, -1.0)
    lengths = np.array([1, 1 - 2.0**-7, -1, 2.0**-7 - 1])
    points, slack = np.outer(lengths, signs), np.full(4, 1e-6)
    found = SEARCHES["rounded"].function(points, points, slack)
    assert_same(found, search_dense(points, points, slack))


def full_of_ties(rng: np.random.Generator, kind: str, d: int) -> np.ndarray:
    """Points of which many are furthest together, or differ by less than rounding."""
    n = int(rng.integers(3, 80))
    turns = 2 * np.pi * np.arange(n) / n
    match kind:
        case "lattice":
            return rng.integers(-2, 3, (60, d)) / rng.choice([1, 3, 10])
        case "circle":
            circle = np.stack([np.cos(turns), np.sin(turns)], axis=1)[:, :d]
            return np.hstack([circle, np.zeros((n, max(0, d - 2)))])
        case "sphere":
            turned = on_a_sphere(rng, 40, d)[:, rng.permutation(d)]
            return turned * rng.choice([-1.0, 1.0], (40, d))
        case _:  # neighbours, far from the origin or near to it
            centre = 10.0 ** rng.uniform(-3, 12) * on_a_sphere(rng, 1, d)
            ulp = 2.0**-52 * np.abs(centre).max()
            return centre + ulp * rng.integers(-3, 4, (60, d))


KINDS = ["lattice", "circle", "sphere", "neighbours"]


@pytest.mark.parametrize("name", SEARCHES)
@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
def test_whoever_is_furthest_in_truth_is_among_the_choices(name, seed, kind):
    rng = np.random.default_rng(seed)
    d = SEARCHES[name].only_in or int(rng.integers(1, 5))
    points = np.unique(full_of_ties(rng, kind, d), axis=0)
    norms = np.linalg.norm(points, axis=1)
    factors = SlackFactors.of(d, float_metric(Dynamics(1)))
    slack = factors.slack(norms, 0.0, norms.max(), 0.0)
    choices = SEARCHES[name].function(points, points, slack).choices()
    exactly = IntegerCloud.of(points)
    truth = by_all_scores(exactly, exactly, Dynamics(1)).sets
    for row, furthest in enumerate(truth):
        assert set(furthest) <= set(choices[row].tolist())


def test_a_block_of_the_tree_at_a_right_angle_is_not_passed_over_by_rounding(monkeypatch):
    # A bug that was: what was counted as a candidate was not written, and memory was read as it is.
    collect = tree._collect

    def into_minus_ones(*arguments):
        arguments[-1][:] = -1
        collect(*arguments)

    monkeypatch.setattr(tree, "_collect", into_minus_ones)
    factors = SlackFactors.of(2, float_metric(Dynamics(1)))
    for seed in (4294967260, *range(60)):
        points = np.unique(full_of_ties(np.random.default_rng(seed), "neighbours", 2), axis=0)
        norms = np.linalg.norm(points, axis=1)
        slack = factors.slack(norms, 0.0, norms.max(), 0.0)
        found = SEARCHES["tree"].function(points, points, slack)
        assert (found.candidates.indices >= 0).all()


NORMALS = np.array([(3, 4), (5, 12), (8, 15), (20, 21), (1, 0), (-4, 3)], dtype=float)


def along_an_edge(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Points on an edge of a hull and a few units in the last place inside of it; directions across
    the edge, nearly.

    The angles of what lies inside differ by less than rounding: the furthest of it is looked up
    wrongly now and then."""
    across, height = NORMALS[rng.integers(6)], float(rng.integers(1, 9))
    along, base = np.array([-across[1], across[0]]), across * height
    places = np.append([-1.0, 1.0], rng.integers(-7, 8, 2) / 8)
    edge = base + along * places[:, None]
    count = rng.integers(2, 12)
    inside = base + along * rng.uniform(-0.99, 0.99, (count, 1))
    inside -= across * rng.uniform(0, 8, (count, 1)) * U * height
    beyond = along * rng.uniform(-1, 1, (4, 1))
    far = beyond - base * rng.uniform(0.5, 2)
    nearly = across + along * rng.uniform(-4, 4, (4, 1)) * U
    points = np.unique(np.concatenate([edge, inside, far]), axis=0)
    return np.concatenate([[across], [across / 3], nearly]), points


def test_in_the_plane_the_furthest_is_not_missed_where_angles_differ_by_less_than_rounding():
    for seed in range(200):
        directions, points = along_an_edge(np.random.default_rng(seed))
        longest = np.linalg.norm(points, axis=1).max()
        lengths = np.linalg.norm(directions, axis=1)
        found = search_plane(directions, points, 4 * U * longest * lengths)
        choices = found.choices()
        exactly = points.astype(object) + Fraction(0)
        asking = directions.astype(object) + Fraction(0)
        for row, scores in enumerate(asking @ exactly.T):
            furthest = set(np.flatnonzero(scores == max(scores)))
            assert furthest <= set(choices[row].tolist()), (seed, row)


@pytest.mark.parametrize("name", ["rounded", "shells", "tree"])
def test_the_smallest_lead_is_found_though_it_is_large_and_of_a_single_row(name):
    # Along seven axes the furthest lead by more than 9, along the last one by 5: over a point that
    # bytes rule out.
    rng, axes = np.random.default_rng(0), np.eye(8)
    inner = rng.uniform(-0.5, 0.5, (900, 8))
    points = np.concatenate([10 * axes, -10 * axes, 5 * axes[-1:], inner])
    lengths = rng.uniform(1, 1.1, (400, 1))
    directions = lengths * axes[np.arange(400) % 7]
    for row in (5, 100, 301):
        changed = directions.copy()
        changed[row] = 1.09 * axes[-1]
        found = SEARCHES[name].function(changed, points, np.full(400, 1e-9))
        assert found.gap == pytest.approx(1.09 * 5, rel=1e-9)
