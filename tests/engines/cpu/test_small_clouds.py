"""Small clouds in a kernel: where fractions have them, to within the error that is told, and given up in time."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracle
import pytest

import hardmax as hm
from hardmax._batch import (
    LEVELS,
    UNDECIDED,
    WALKED,
    WIDTH,
    Rules,
    Then,
    _choose_all,
    _enter,
    _level,
    depths,
    make_room,
    walk,
    walk_batch,
)
from hardmax._float.bounds import float_metric, kernel_factors

U = Fraction(1, 2**53)
METRICS = {"identity": None, "turned": [[2, 1, 0], [1, 3, 0], [0, 0, 1]]}


def batch(seed: int, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Clouds of 1 to 20 tokens, some of them repeated, one after the other, and where each begins."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 21, 12)
    clouds = [rng.integers(-512, 513, (n, d)) / 256.0 + 0.3 for n in sizes]
    clouds = [np.concatenate([cloud, cloud[:2]]) for cloud in clouds]
    return np.concatenate(clouds), np.concatenate([[0], np.cumsum([len(cloud) for cloud in clouds])])


def exact_rows(tokens: np.ndarray) -> oracle.Cloud:
    return [[Fraction(x) for x in row] for row in tokens.tolist()]


def furthest_off(found: np.ndarray, wished: oracle.Cloud) -> Fraction:
    pairs = zip(exact_rows(found), wished, strict=True)
    return max(sum(((x - y) ** 2 for x, y in zip(*rows, strict=True)), Fraction(0)) for rows in pairs)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("layers", [0, 2, 9])
def test_tokens_leaders_and_settling_are_those_of_fractions(metric, layers):
    dynamics = hm.Dynamics("1/3", metric)
    tokens, offsets = batch(layers)
    walked = {then: walk_batch(tokens, offsets, dynamics, layers, then=then) for then in Then}
    seen = set()
    for b, (start, end) in enumerate(pairwise(offsets.tolist())):
        truth = hm.simulate(tokens[start:end], dynamics, layers=layers, arithmetic="exact")
        path = oracle.run(exact_rows(tokens[start:end]), Fraction(1, 3), metric, layers)
        settled = truth.settled_at
        for then, outcome in walked.items():
            seen.add(int(np.sign(outcome.settled[b])))
            if outcome.settled[b] == UNDECIDED:
                continue
            assert outcome.settled[b] == (WALKED if settled is None else settled)
            wished = path[-1 if settled is None or then is Then.GO_ON else settled]
            if then is Then.ARRIVE and settled is not None:
                wished = exact_rows(np.array(truth.ends(), dtype=np.float64))
            error = Fraction(float(outcome.errors[b]))
            square = furthest_off(outcome.tokens[start:end], wished)
            assert square <= (error + (2 * U * 4 if then is Then.ARRIVE else 0)) ** 2
            longest = Fraction(float(np.linalg.norm(tokens[start:end], axis=1).max()))
            assert error <= 7 * U * longest * (layers + 1) * Fraction(101, 100) + Fraction(1, 2**800)
            since = {int(t): int(layer) for t, layer in zip(truth.leaders, truth.leader_layers, strict=True)}
            found = outcome.leader_since[start:end].tolist()
            assert {t: layer for t, layer in enumerate(found) if layer >= 0} == since
    assert walked[Then.STAY].undecided.tolist() == np.flatnonzero(walked[Then.STAY].settled == UNDECIDED).tolist()
    assert seen >= {0}


@pytest.mark.parametrize("size", [2.0**-101, 2.0**-99, 2.0**99, 2.0**102])
def test_clouds_too_large_or_too_small_for_the_bounds_are_given_up(size):
    tokens = np.array([[1.0, 0.5], [-1.0, 0.25]]) * size
    outcome = walk_batch(tokens, np.array([0, 2]), hm.Dynamics("1/2"), 3)
    assert (outcome.settled[0] == UNDECIDED) == (not 2.0**-100 < size < 2.0**100)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_a_lead_within_the_slack_is_given_up_and_one_beyond_it_is_not(d):
    factors = np.array(kernel_factors(d, float_metric(hm.Dynamics(1))))
    for gap, proved in ((0.0, False), (0.5, False), (0.99, False), (1.01, True)):
        room = make_room(3, d, 1)
        # Along (1, 0, …) of length 1 the second trails the first by so many slacks.
        slack = factors[0] + factors[1] * 2e-12
        room.points[:, :2] = 0.0
        room.points[0, 0], room.points[0, 1] = 1.0, 1.0 - gap * slack
        room.reach[:3] = np.inf
        room.final[:3] = False
        chosen = np.empty(3, np.int32)
        rules = Rules(np.empty((0, 0)), 0.5, 1, factors)
        found, largest = _choose_all(room, 2, rules, 1e-12, chosen)
        assert found == proved
        assert largest == pytest.approx(1.0, rel=1e-12)
        assert not proved or chosen[:2].tolist() == [0, 0]


def test_an_error_that_grows_layer_by_layer_is_the_step_of_each():
    # A chain: each token attends to the next longer one, so that the first layers have no end.
    turns = np.linspace(0, 1.4, 9)
    tokens = np.stack([np.cos(turns), np.sin(turns)], axis=1) * (1 + turns[:, None])
    factors = np.array(kernel_factors(2, float_metric(hm.Dynamics(1))))
    room = make_room(9, 2, 4)
    room.points[:, :9] = tokens.T
    room.reach[:] = np.inf
    layer, for_ever, error, more = walk(room, 9, Rules(np.empty((0, 0)), 0.75, 3, factors))
    exact = hm.simulate(tokens, hm.Dynamics("1/3"), layers=3, arithmetic="exact")
    assert (layer == 3 and not for_ever) == (exact.settled_at is None)
    largest = np.linalg.norm(tokens, axis=1).max()
    assert more == pytest.approx(factors[3] * largest)
    assert error == pytest.approx(layer * factors[3] * largest)
    for k in range(layer + 1):
        assert room.chosen[k].tolist() == [int(several[0]) for several in exact.attended(k)]
    assert pytest.approx(np.array(exact.at(layer), dtype=np.float64), abs=1e-14) == room.points[:, :9].T


def test_points_come_in_columns_from_long_to_short_and_nobody_is_beyond_its_reach():
    tokens = np.random.default_rng(0).standard_normal((50, 3))
    first = np.arange(0, 50, 2)
    points, reach, order = np.zeros((3, 25 + WIDTH)), np.empty(25 + WIDTH), np.empty(25, np.int64)
    _enter(tokens, first, 25, np.empty(25), np.empty(LEVELS + 1, np.int64), order, points, reach)
    assert sorted(order.tolist()) == list(range(25))
    assert np.array_equal(points[:, order], tokens[first].T)
    lengths = np.linalg.norm(points[:, :25], axis=0)
    for column in range(25):
        assert lengths[column:].max() <= reach[column] * (1 + 1e-12)
        assert reach[column] <= lengths.max() * (1 + 1e-12)
    assert (np.diff(reach[:25]) <= 0).all()
    assert np.median(reach[:25] / lengths) < 1.1
    assert [_level(share, 1.0) for share in (1.0, 0.99, 0.5, 0.0, np.inf)] == [0, 0, LEVELS // 2, LEVELS - 1, 0]


def test_how_far_clouds_are_walked_and_what_of_the_way_is_left():
    half = hm.Dynamics(1)
    assert Then.GO_ON.shares(half, 5).tolist() == [0.5**k for k in range(6)]
    assert Then.GO_ON.shares(half, 7, 2).tolist() == [0.5**5, 0.5**6, 0.5**7]
    assert Then.STAY.shares(half, 3).tolist() == [1.0] * 4
    assert Then.ARRIVE.shares(half, 9, 2).tolist() == [0.0] * 3
    for layers in (0, 1, 16, 17, 300):
        walked = list(depths(layers))
        assert walked == sorted(set(walked))
        assert walked[-1] == layers


def test_progress_is_told_in_clouds_and_every_cloud_is_walked():
    tokens, told = np.random.default_rng(2).standard_normal((3 * 4100, 2)), []
    offsets = np.arange(0, len(tokens) + 1, 3)
    outcome = walk_batch(tokens, offsets, hm.Dynamics("1/2"), 200, progress=lambda *counts: told.append(counts))
    assert told == [(4096, 4100), (4100, 4100)]
    assert (outcome.settled >= 0).all()
    alone = walk_batch(tokens[-3:], np.array([0, 3]), hm.Dynamics("1/2"), 200)
    assert np.array_equal(outcome.tokens[-3:], alone.tokens)
