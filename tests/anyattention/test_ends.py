"""Limits beyond the paper's layer, and those of tokens that follow moving tokens: proved, or not
claimed."""

import json
import math
import re
import time
from fractions import Fraction
from itertools import chain

import numpy as np
import oracle
import pytest
from any_layers import layers
from effort import examples
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from known import rational
from strategies import alphas, clouds, identity, problems, spd_metrics

import hardmax as hm
from hardmax._exact.general import GeneralSolver
from hardmax._exact.leads import Term
from hardmax._exact.power_sums import Means, PowerSum
from hardmax._exact.vectors import exact_table
from hardmax._layer.attended import AttendedIndices
from hardmax._limits.certify import digest
from hardmax.theorem import theorem_reason

LAYERS = 40
CAUSAL = [[4, 0], [1, 3], [2, 6], [4, -3], [-2, 6]]


def square():
    """50 tokens of the authors' experiments with value matrices of rank one."""
    return np.random.RandomState(1).uniform(-5, 5, (2, 50)).T


def long_chain(exponent):
    """Token 4 follows the middle of 2 and 3, which go to 0 and 1, until it is ahead of both: at m =
    3 / delta."""
    x = 2 - Fraction(1, 2**exponent)
    return [[x, 2], [x, -2], [2, 1], [2, -1], ["1/2", 0]]


@settings(max_examples=examples(400))
@given(layers(max_n=6, max_d=2))
def test_sets_that_are_said_to_last_for_ever_do_and_limits_are_approached(problem):
    cloud, dynamics, *_ = problem
    lim = hm.limit(cloud, dynamics, max_layers=12)
    if lim.settled_at is None:
        return
    run = hm.simulate(cloud, dynamics, layers=12)
    for layer in range(lim.settled_at, 13):
        assert run.attended(layer).tolist() == lim.run.attended(layer).tolist()
    # Far on, tokens are where they are said to end, or far away.
    far = lim.run.settled_at + 10**9
    near, ends = lim.run.at(far), lim.limit_points
    moving = np.isinf(ends)
    assert np.isin(np.flatnonzero(moving.any(axis=1)), lim.run.moving).all()
    size = 1 + np.abs(ends[~moving]).max(initial=0)
    assert np.allclose(near[~moving], ends[~moving], atol=1e-9 * size)
    assert (near[moving] * np.sign(ends[moving]) > 1000).all()


@settings(max_examples=examples(400))
@given(clouds(min_d=1, max_d=2, max_n=7), alphas, st.data())
def test_the_general_walker_jumps_over_layers_as_if_it_had_seen_them(cloud, alpha, data):
    metric = data.draw(spd_metrics(len(cloud[0])))
    dynamics = hm.Dynamics(alpha, metric)
    points = hm.simulate(cloud, dynamics, layers=0).points
    phases = []
    for phase in GeneralSolver().phases(points, dynamics):
        phases.append(phase)
        if phase.until is None or phase.until > LAYERS:
            break
    for layer, (tokens, sets) in enumerate(oracle.walk(cloud, alpha, metric, LAYERS)):
        phase = next(p for p in phases if p.until is None or layer < p.until)
        of_token = points.of_token.tolist()
        places = phase.exactly.later(of_token, layer - phase.layer)
        assert [list(place) for place in places] == tokens
        for point, truth in zip(of_token, sets, strict=True):
            chosen = [points.members[p].tolist() for p in phase.choices[point].tolist()]
            assert set(chain.from_iterable(chosen)) == truth


LONG = [(14, 49_153), (52, 13_510_798_882_111_489)]


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
@pytest.mark.parametrize(("exponent", "layer"), LONG)
def test_a_chain_that_ends_after_any_number_of_layers_is_decided_at_once(
    exponent, layer, arithmetic
):
    start = time.process_time()
    lim = hm.limit(long_chain(exponent), hm.Dynamics("1/2"), arithmetic=arithmetic)
    assert lim.settled_at == layer
    assert lim.leaders.tolist() == [0, 1, 4]
    assert lim.run.leader_layers.tolist() == [0, 0, layer]
    kinds = [str(lim.clusters.kind_of(token)) for token in range(lim.n)]
    assert kinds == [f"vertex {vertex}" for vertex in (0, 1, 0, 1, 4)]
    assert lim.run.attended(layer - 2)[4].tolist() == [2, 3]
    assert lim.run.attended(layer - 1)[4].tolist() == [2, 3, 4]
    assert time.process_time() - start < 5
    proof = dict(lim.prove())
    assert hm.verify(proof)
    for change, off in ((1, 1), (1, -1), (2, 1), (2, -1)):
        forged = json.loads(json.dumps(proof))
        forged["attended"][change]["from"] += off
        if change == 2:
            forged["settled_at"] += off
        del forged["sha256"]
        assert not hm.verify(forged | {"sha256": digest(forged)})
    # m = 3 / delta - 1 layers before it is level with 2 and 3 in the first coordinate.
    assert layer - 1 == 3 * 2**exponent


def test_what_cannot_be_written_down_is_not_claimed():
    x = 2 - Fraction(1, 2**52)
    cloud = [*long_chain(52), [-x, 2], [-x, -2], ["-1/2", 0]]
    lim = hm.limit(cloud, hm.Dynamics("1/2"))
    assert lim.leaders.tolist() == [0, 1, 4, 5, 6]
    assert lim.limit_points[7].tolist() == [float(-x), 0]
    assert {*map(str, lim.clusters.kinds)} == {"elsewhere"}
    with pytest.raises(hm.InputError, match="more than 100,000 digits"):
        lim.prove()


def ties_in_balance(random, kind):
    """Clouds that are mirrored, on the axes, or on a lattice."""
    n, d = int(random.integers(2, 9)), int(random.integers(1, 4))
    if kind == 0:
        half = random.integers(-8, 9, (n, d)) / 4
        mirror = np.where(random.random(d) < 0.5, -1, 1)
        return np.concatenate([half, half * mirror])
    if kind == 1:
        cloud = np.zeros((n + 2, d))
        axes = random.integers(0, d, n + 2)
        cloud[np.arange(n + 2), axes] = random.integers(-9, 10, n + 2)
        return np.concatenate([cloud, random.integers(-3, 4, (2, d))])
    return random.integers(-3, 4, (n + 4, d)).astype(float)


def test_mirrored_axis_and_lattice_clouds_all_settle():
    random = np.random.default_rng(0)
    for case in range(examples(2000)):
        cloud = ties_in_balance(random, case % 3)
        d = cloud.shape[1]
        root = random.integers(-2, 3, (d, d))
        metric = (root @ root.T + np.eye(d, dtype=int)).tolist() if case % 2 else None
        alpha = random.choice(["1/1000", "1/100", "1/10", "1/3", "1/2", "1", "2", "10"])
        lim = hm.limit(cloud.tolist(), hm.Dynamics(str(alpha), metric))
        told = cloud.tolist(), metric, alpha, lim.stop_reason
        assert lim.settled_at is not None, told
        assert hm.verify(lim), told


# The first token follows others for two layers, and would go too far with them.
HASTY = (rational("0 0, 0 -1, 0 2, 0 -2, -1 0, -1 1"), None, Fraction(1))


@example(HASTY, True)
@example(HASTY, False)
@given(problems(max_n=8, max_d=3), st.booleans())
def test_the_layer_from_which_on_all_are_near_is_right(problem, general):
    cloud, metric, alpha = problem
    # A value matrix that is the identity: the same, by the general walker.
    value = identity(len(cloud[0])) if general else None
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric, value=value))
    settled = lim.settled_at
    assume(settled is not None and settled < 40)
    kept = hm.Limit(hm.simulate(cloud, lim.run.dynamics, layers=settled))  # with all phases
    squares = []
    for layer in range(settled + 50):
        way = lim.run.at(layer, exact=True) - lim.exact_limit_points()
        squares.append(max((way**2).sum(axis=1)))
    for reached in {*squares[: settled + 2], Fraction(1, 10**6)} - {0}:
        eps = Fraction(math.sqrt(reached)) * Fraction(1001, 1000)
        first = lim.layers_to(eps)
        assert kept.layers_to(eps) == first
        if first < len(squares):
            assert max(squares[first:]) <= eps**2
            assert first == 0 or squares[first - 1] > eps**2


def test_the_settling_lemma_is_false_with_a_mask():
    dynamics = hm.Dynamics(1, [[2, 1], [1, 1]], mask="causal")
    run = hm.simulate(CAUSAL, dynamics, layers=3)
    sets = [run.attended(layer).tolist() for layer in range(3)]
    assert sets[0] == [[0], [0], [2], [0], [2]]  # all follow leaders
    assert sets[1] == [[0], [0], [2], [2], [2]]
    assert sets[2] == sets[1]
    lim = hm.limit(CAUSAL, dynamics)
    assert lim.settled_at == 1
    assert lim.leaders.tolist() == [0, 2]
    assert lim.limit_points.tolist() == [[4, 0], [4, 0], [2, 6], [2, 6], [2, 6]]
    assert theorem_reason(lim)
    assert hm.verify(lim)


def alone_at(run, layers):
    """Who attends to itself alone, at each of these layers."""
    found = []
    for layer in layers:
        sets = run.attended(layer).tolist()
        found.append({i for i, chosen in enumerate(sets) if chosen == [i]})
    return found


def test_with_a_value_matrix_of_rank_one_tokens_end_on_lines_and_leaders_are_lost():
    lim = hm.limit(square(), hm.Dynamics(1, value=[[1, 1], [1, 1]]))
    assert lim.settled_at == 10
    limits = lim.exact_limit_points()
    assert len({sum(point) for point in limits.tolist()}) == 10
    assert len({tuple(point) for point in limits.tolist()}) == 50
    assert len(lim.clusters) == 50
    alone = alone_at(lim.run, range(11))
    once = set.union(*alone)
    assert len(once) == 25
    assert len(once - alone[10]) == 15
    assert sorted(alone[10]) == lim.leaders.tolist()
    # Along (1, -1) nothing ever moves.
    start = lim.run.at(0, exact=True)
    assert (limits @ [1, -1] == start @ [1, -1]).all()


def test_with_a_nilpotent_value_matrix_most_tokens_never_settle():
    dynamics = hm.Dynamics(1, value=[["1/2", "1/2"], ["-1/2", "-1/2"]])
    layers_walked = 150
    run = hm.simulate(square(), dynamics, layers=layers_walked)
    assert run.settled_at is None
    late = range(layers_walked - 100, layers_walked + 1)
    alone = alone_at(run, late)
    assert set.intersection(*alone) == set.union(*alone)
    assert len(alone[0]) == 12
    assert np.abs(np.asarray(run)).max() < 6.734
    start, end = run.at(0, exact=True), run.at(layers_walked, exact=True)
    assert (end @ [1, 1] == start @ [1, 1]).all()


def test_equal_tokens_that_a_mask_keeps_apart_lead_and_end_as_one():
    # Token 1 attends to 0 alone and is where it is, until 0 moves.
    mask = np.array([[False, False, True], [True, False, False], [False, False, True]])
    dynamics = hm.Dynamics(1, mask=mask)
    lim = hm.limit([[1], [1], [2]], dynamics)
    assert lim.leaders.tolist() == [2]
    assert lim.clusters.labels.tolist() == [0, 0, 0]
    oneself = hm.Dynamics(1, mask=np.eye(2, dtype=bool))
    apart = hm.limit([[2], [2]], oneself)
    assert apart.leaders.tolist() == [0, 1]
    assert apart.clusters.labels.tolist() == [0, 0]


def test_means_that_go_round_never_come_to_rest_and_chains_do():
    places = np.array([[1.0], [-2.0], [0.0]])
    start = PowerSum({Term(0): exact_table(places)})

    def steps(sets, *counts):
        means = Means(AttendedIndices.of_sets(sets), np.array(counts))
        found = means.steps_to_rest(start)
        return None if found is None else len(found)

    assert steps([[1], [0], [2]], 1, 5, 3) is None
    assert steps([[0, 1], [0], [2]], 1, 5, 3) is None
    assert steps([[1], [2], [2]], 1, 5, 3) == 3
    # The first two cancel, counted with multiplicity.
    assert steps([[0, 1], [0, 1], [2]], 2, 1, 1) == 2


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
def test_runs_whose_fractions_grow_long_are_given_up_in_time(monkeypatch):
    cloud = [[3, 1], [-1, 2], [1, -2]]
    dynamics = hm.Dynamics("1/3", [[0, -1], [1, 0]], value=[[1, 1], [-1, 1]])
    longer = hm.limit(cloud, dynamics, max_layers=60)
    assert (longer.settled_at, longer.run.layers) == (None, 60)
    monkeypatch.setattr("hardmax._runs.walk._MOST_WORK", 3000)
    lim = hm.limit(cloud, dynamics)
    assert 1 < lim.run.layers < 60
    digits = re.search(r"exact positions have (\d+) digits by now", lim.stop_reason)
    assert digits
    assert int(digits[1]) > 5


def test_tokens_that_move_for_ever_are_said_to():
    # Only second coordinates are compared, and what token 1 attends to moves it along the first,
    # for ever.
    dynamics = hm.Dynamics(1, [[0, 0], [0, 1]], value=[[0, 1], [0, 0]])
    with pytest.warns(UserWarning, match="the theorem does not apply"):
        lim = hm.limit([[0, 2], [0, 1]], dynamics)
    assert lim.settled_at == 0
    assert lim.run.moving.tolist() == [1]
    assert lim.limit_points.tolist() == [[0, 2], [np.inf, 1]]
    far = 10**6
    assert lim.run.at(far)[1].tolist() == [far, 1]
    assert "1 token move for ever" in lim.stop_reason
    with pytest.raises(hm.InputError, match="moves for ever"):
        _ = lim.exact_limit_points()
    with pytest.raises(hm.InputError, match="moves for ever"):
        lim.layers_to(1)
