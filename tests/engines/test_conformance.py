"""Every way to run the dynamics against the rational oracle: which token attends to which, who
leads since when, and where."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from agreement import assert_same_as_oracle, distance, forced
from hypothesis import given, settings
from hypothesis import strategies as st
from known import KNOWN
from strategies import any_metric_problems, problems

import hardmax as hm
from hardmax._float import shells
from hardmax._float.bounds import SlackFactors
from hardmax._float.search import SEARCHES


def as_stored(floats: np.ndarray) -> oracle.Cloud:
    """Floats as the binary fractions they are."""
    return [[Fraction(x) for x in row] for row in floats.tolist()]


def exact(tokens, dynamics, layers):
    return hm.simulate(tokens, dynamics, layers=layers, arithmetic="exact")


def certified(tokens, dynamics, layers, search=None):
    with forced(search):
        return hm.simulate(tokens, dynamics, layers=layers)


def doubting_everything(tokens, dynamics, layers):
    """Floats prove nothing: exact positions decide whatever they cannot rule out by far."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SlackFactors, "slack", lambda _, norms, *rest: np.full(len(norms), np.inf))
        return certified(tokens, dynamics, layers)


def in_the_tree(tokens, dynamics, layers):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shells, "_OUTERMOST", 1)  # all but the outermost point: the tree
        return certified(tokens, dynamics, layers, "shells")


WAYS = [exact, certified, doubting_everything, in_the_tree]


@settings(max_examples=60)
@given(st.one_of(problems(), any_metric_problems()), st.sampled_from(WAYS))
def test_attended_sets_leaders_and_tokens_are_the_true_ones(problem, run):
    cloud, metric, alpha = problem
    found = run(cloud, hm.Dynamics(alpha, metric), 4)
    assert_same_as_oracle([found], cloud, metric, alpha, 4)


@given(problems(max_d=3, max_n=7))
def test_the_closed_form_agrees_with_forty_layers_walked_one_by_one(problem):
    cloud, metric, alpha = problem
    assert_same_as_oracle(
        [certified(cloud, hm.Dynamics(alpha, metric), 40)], cloud, metric, alpha, 40
    )


@given(problems())
def test_float_tokens_are_the_binary_fractions_they_are_also_in_the_kernel_for_batches(problem):
    cloud, metric, alpha = problem
    floats, dynamics = np.array(cloud, dtype=np.float64), hm.Dynamics(alpha, metric)
    stored = as_stored(floats)
    assert_same_as_oracle([certified(floats, dynamics, 3)], stored, metric, alpha, 3)
    runs = hm.simulate([floats], dynamics, layers=3)
    history = list(oracle.walk(stored, alpha, metric, 3))
    for layer, (expected, _) in enumerate(history):
        assert distance(runs.at(layer)[0], expected) <= runs.error[0] * (1 + 1e-9)
    assert runs.leaders[0].tolist() == list(oracle.leaders_of(history))


@pytest.mark.parametrize("search", [name for name in SEARCHES if name != "dense"])
@given(st.data())
def test_searches_made_for_large_clouds_choose_truly_in_small_ones_full_of_ties(search, data):
    only = SEARCHES[search].only_in
    cloud, metric, alpha = data.draw(problems(only, only) if only else problems())
    run = certified(cloud, hm.Dynamics(alpha, metric), 3, search)
    assert_same_as_oracle([run], cloud, metric, alpha, 3)


def test_random_clouds_are_decided_by_floats_as_by_integers():
    rng, handed_over = np.random.default_rng(20250701), 0
    for number in range(60):
        cloud, dynamics = rng.standard_normal((50, 2 + number % 7)), hm.Dynamics("1/2")
        run, truth = certified(cloud, dynamics, 8), exact(cloud, dynamics, 8)
        handed_over += run.arithmetic == "exact"
        assert run.settled_at == truth.settled_at
        assert run.leader_layers.tolist() == truth.leader_layers.tolist()
        for layer in range(9):
            assert run.attended(layer).tolist() == truth.attended(layer).tolist()
    assert handed_over <= 1


@pytest.mark.parametrize("known", KNOWN, ids=str)
@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_known_clouds_and_the_traps_end_where_they_should_at_any_depth(known, arithmetic):
    dynamics = hm.Dynamics(known.alpha, known.metric)
    run = hm.simulate(known.tokens, dynamics, layers=10_000, arithmetic=arithmetic)
    assert tuple(run.leaders) == known.leaders
    assert distance(run.at(10_000), known.limits) <= run.error
    # Leaders may take a few layers to appear; from then on the distance shrinks by g every layer.
    began = run.settled_at or 0
    first = distance(run.at(began), known.limits)
    for layers in (10, 100):
        shrunk = float(dynamics.contraction) ** (layers - began)
        assert distance(run.at(layers), known.limits) <= shrunk * first + 2 * run.error
