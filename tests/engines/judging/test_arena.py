"""Leaving out who can no longer win must change nothing."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from effort import examples
from hypothesis import given, settings
from strategies import Problem, problems

import hardmax as hm
from hardmax._attended import Choices
from hardmax._float import active_set as arena
from hardmax._float.active_set import ActiveSet


def settled_run(cloud, dynamics, fewest_points: float):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arena, "_FEWEST_POINTS", fewest_points)
        return hm.simulate(cloud, dynamics, stop=hm.Settled())


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("alpha", ["1/10", "1/2", "3"])
@pytest.mark.parametrize("seed", range(4))
def test_everybody_attends_to_the_same_with_and_without_those_left_out(d, alpha, seed):
    rng = np.random.default_rng(seed)
    cloud = rng.standard_normal((600, d)) + rng.standard_normal(d) * (seed % 2)
    metric = None if seed < 2 else np.diag(np.arange(1.0, d + 1))
    few, all_of_them = (settled_run(cloud, hm.Dynamics(alpha, metric), least) for least in (0, np.inf))
    assert few.settled_at == all_of_them.settled_at
    for layer in range(few.settled_at + 1):
        assert np.array_equal(few.phases[layer].choices.indices, all_of_them.phases[layer].choices.indices)
    assert np.abs(few.at(few.settled_at) - all_of_them.at(few.settled_at)).max() <= few.error + all_of_them.error
    assert (few.margins <= all_of_them.margins * (1 + 1e-9)).all()


def test_most_of_a_large_cloud_is_left_out():
    cloud = np.random.default_rng(0).standard_normal((20_000, 3))
    run = hm.simulate(cloud, hm.Dynamics("1/2"), stop=hm.Settled())
    second = run.phases[1].places
    assert isinstance(second, ActiveSet)
    assert len(second) < 2_500


@settings(max_examples=examples(200))
@given(problems(min_d=2, max_d=4))
def test_small_clouds_full_of_ties_too(problem: Problem):
    cloud, metric, alpha = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arena, "_FEWEST_POINTS", 0)
        run = hm.simulate(cloud, hm.Dynamics(alpha, metric), layers=5)
    for layer, (_, sets) in enumerate(oracle.walk(cloud, alpha, metric, 5)):
        assert [set(attended.tolist()) for attended in run.attended(layer)] == sets


def test_after_many_layers_everybody_is_asked_again():
    looks, slack = np.ones((1, 2)), np.array([1e-14])
    ends = np.array([[1.0, 0.0], [-1.0, 0.0]])
    among = {"keep": Fraction(1, 2), "multiplicities": np.ones(3), "places": ends, "members": np.array([0, 1])}
    late = ActiveSet(layer=0, lead=1.0, errors=np.zeros(2), worst=0.0, **among)
    for _ in range(60):
        assert late.suffices(looks, slack) == (late.lead * np.sqrt(2) > 1e-14)
        late = late.after_layers(Choices.of_single(np.array([0, 1, 0])), 1)
    assert not late.suffices(looks, slack)


def test_everybody_is_somewhere_whoever_has_left_the_arena():
    cloud = np.random.default_rng(1).standard_normal((600, 3))
    few, all_of_them = (settled_run(cloud, hm.Dynamics("1/2"), least) for least in (0, np.inf))
    assert any(len(phase.places.spectators) > 1 for phase in few.phases)
    for layer in range(few.settled_at + 3):
        assert np.abs(few.at(layer) - all_of_them.at(layer)).max() <= few.error + all_of_them.error


@pytest.mark.parametrize("size", [1.0, 2.0**-470])
def test_a_point_that_comes_to_have_no_direction_attends_also_to_those_left_out(size):
    # Along the last axis the metric is negative: the token there goes to its opposite, and is 0 a layer later.
    turns = 2 * np.pi * np.arange(20) / 20
    leaders = np.column_stack([10 * np.cos(turns), 10 * np.sin(turns), np.arange(20) % 2])
    followers = np.random.default_rng(0).uniform([1, -1, 0.2], [7, 1, 0.8], (60, 3))
    cloud = np.concatenate([leaders[1:], [[0, 0, size], [0, 0, -2 * size]], followers, leaders[:1]])
    dynamics = hm.Dynamics("1/2", np.diag([1.0, 1.0, -1.0]))
    few, all_of_them = (settled_run(cloud, dynamics, least) for least in (0, np.inf))
    assert len(few.phases[1].places) < len(cloud) == len(few.attended(1)[19])
    for layer in range(4):
        assert few.attended(layer).tolist() == all_of_them.attended(layer).tolist()
        assert np.abs(few.at(layer) - all_of_them.at(layer)).max() <= few.error + all_of_them.error


@pytest.mark.parametrize("size", [1.0, 2.0**-12])
def test_whoever_has_left_trails_by_the_lead_also_those_who_left_long_before(size, monkeypatch):
    monkeypatch.setattr(arena, "_FEWEST_POINTS", 0)
    rng = np.random.default_rng(0)
    corners = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    places = np.concatenate([corners, [[0.99999, 0.0]], rng.uniform(-0.9, 0.9, (59, 2))]) * size
    follows = np.concatenate([np.arange(4), rng.integers(0, 4, 60)])
    waits = follows.copy()
    waits[44:] = rng.integers(4, 44, 20)  # so far they attend to points that are no leaders
    kwargs = {"multiplicities": np.ones(64, dtype=np.int64), "places": places, "errors": np.zeros(64), "worst": 0.0}
    now = ActiveSet(layer=0, keep=Fraction(1, 2), **kwargs)
    turns = np.linspace(0, 2 * np.pi, 720)
    looks = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    for choices, layers, left in ((waits, 12, 25), (follows, 1, 6), (follows, 3, 5)):
        now = now.after_layers(Choices.of_single(choices), layers)
        assert len(now) == left
        scores = now.everybody() @ looks.T
        assert now.members is not None
        gone = np.setdiff1d(np.arange(64), now.members)
        assert 0 < now.lead <= (scores[now.members].max(axis=0) - scores[gone].max(axis=0)).min()
        assert now.suffices(looks, np.full(720, now.lead * 0.99))
        assert not now.suffices(looks, np.full(720, now.lead * 1.01))
        slack = np.full(720, 1e-15)
        contest = now.hold(hm.Cpu("all"), looks, slack, np.zeros(720, dtype=np.int64))
        assert (scores[contest.winners, np.arange(720)] >= scores.max(axis=0) - 1e-12).all()
        assert contest.gap <= now.lead * (1 + 1e-12)


def test_errors_are_the_larger_of_both_ends_and_what_a_step_adds():
    rng = np.random.default_rng(1)
    places, errors = rng.standard_normal((6, 2)), rng.uniform(1e-12, 1e-11, 6)
    kwargs = {"multiplicities": np.ones(6, dtype=np.int64), "places": places, "errors": errors, "worst": 2e-11}
    now = ActiveSet(layer=0, keep=Fraction(1, 2), **kwargs)
    norms = np.linalg.norm(places, axis=1)
    longest = norms.max()
    step = 7 * 2.0**-53
    single = np.array([1, 1, 4, 0, 4, 2])
    later = now.after_layers(Choices.of_single(single), 2)
    wished = np.maximum(errors, errors[single]) + step * np.maximum(norms, norms[single])
    assert later.errors == pytest.approx(wished, rel=1e-5)
    assert (later.errors > wished).all()
    assert later.worst == pytest.approx(2e-11 + step * longest, rel=1e-5)
    assert later.layer == 2
    ties = [[1], [1], [0, 4, 5], [0], [4], [2, 3]]
    tied = now.after_layers(Choices.of_sets(ties), 1)
    mean = 4 * 2.0**-53 * longest
    firsts = np.array([several[0] for several in ties])
    wished = np.maximum(errors, errors[firsts]) + step * np.maximum(norms, norms[firsts])
    wished[[2, 5]] = errors.max() + step * longest + mean
    assert tied.errors == pytest.approx(wished, rel=1e-5)
    assert tied.worst == pytest.approx(2e-11 + step * longest + mean, rel=1e-5)
    assert tied.places[2] == pytest.approx((places[2] + places[[0, 4, 5]].mean(axis=0)) / 2)
