"""Every way to run the dynamics against the rational oracle: who attends to whom, who leads since
when, and where."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from agreement import assert_same_as_oracle, distance
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from known import KNOWN
from strategies import any_metric_problems, problems

import hardmax as hm
from hardmax._float import shells, tree
from hardmax._float.bounds import SlackFactors
from hardmax._float.search import CPU, ONLY_IN, SEARCHES, Cpu


def run_exact(tokens, dynamics, layers):
    return hm.simulate(tokens, dynamics, layers=layers, arithmetic="exact")


def run_certified(tokens, dynamics, layers, cpu=CPU):
    return hm.simulate(tokens, dynamics, layers=layers, engine=cpu)


def as_stored(floats: np.ndarray) -> oracle.Cloud:
    """Floats as the binary fractions they are."""
    return [[Fraction(x) for x in row] for row in floats.tolist()]


def run_doubting_everything(tokens, dynamics, layers, cpu=CPU):
    """Certified, but floats prove nothing: exact positions decide whatever they cannot rule out by
    far."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SlackFactors, "slack", lambda _, norms, *rest: np.full(len(norms), np.inf))
        return run_certified(tokens, dynamics, layers, cpu)


PROVED = [run_exact, run_certified, run_doubting_everything]


@settings(max_examples=examples(2000))
@given(problems())
def test_attended_sets_leaders_and_tokens_are_the_true_ones(problem):
    cloud, metric, alpha = problem
    dynamics = hm.Dynamics(alpha, metric)
    assert_same_as_oracle([run(cloud, dynamics, 4) for run in PROVED], cloud, metric, alpha, 4)


@settings(max_examples=examples(400))
@given(any_metric_problems())
def test_they_are_the_true_ones_for_metrics_that_the_theorem_excludes(problem):
    cloud, metric, alpha = problem
    dynamics = hm.Dynamics(alpha, metric)
    assert_same_as_oracle([run(cloud, dynamics, 4) for run in PROVED], cloud, metric, alpha, 4)


@settings(max_examples=examples(200))
@given(problems(max_d=3, max_n=7))
def test_the_closed_form_agrees_with_forty_layers_walked_one_by_one(problem):
    cloud, metric, alpha = problem
    run = hm.simulate(cloud, hm.Dynamics(alpha, metric), layers=40)
    assert_same_as_oracle([run], cloud, metric, alpha, 40)


@settings(max_examples=examples(600))
@given(problems())
def test_float_tokens_are_taken_as_the_binary_fractions_they_are(problem):
    cloud, metric, alpha = problem
    floats = np.array(cloud, dtype=np.float64)
    assert_same_as_oracle(
        [run_certified(floats, hm.Dynamics(alpha, metric), 3)], as_stored(floats), metric, alpha, 3
    )


@pytest.mark.parametrize("search", [name for name in SEARCHES if name != "dense"])
@settings(max_examples=examples(200))
@given(st.data())
def test_searches_made_for_large_clouds_choose_truly_in_small_ones_full_of_ties(search, data):
    cloud, metric, alpha = data.draw(
        problems(*[ONLY_IN[search]] * 2) if search in ONLY_IN else problems()
    )
    run = run_certified(cloud, hm.Dynamics(alpha, metric), 3, Cpu(search))
    assert_same_as_oracle([run], cloud, metric, alpha, 3)


@settings(max_examples=examples(300))
@given(problems())
def test_in_the_tree_points_are_chosen_truly(problem):
    cloud, metric, alpha = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shells, "_OUTERMOST", 1)  # all but the outermost point: the tree
        patch.setattr(tree, "_FEWEST_ROWS", 0)
        run = run_certified(cloud, hm.Dynamics(alpha, metric), 3, Cpu("shells"))
    assert_same_as_oracle([run], cloud, metric, alpha, 3)


@settings(max_examples=examples(300))
@given(problems())
def test_the_kernel_for_batches_walks_truly(problem):
    cloud, metric, alpha = problem
    floats = np.array(cloud, dtype=np.float64)
    runs = hm.simulate([floats], hm.Dynamics(alpha, metric), layers=3)
    history = list(oracle.walk(as_stored(floats), alpha, metric, 3))
    for layer, (expected, _) in enumerate(history):
        assert distance(runs.at(layer)[0], expected) <= runs.error * (1 + 1e-9)
    assert runs.leaders[0].tolist() == list(oracle.leaders_of(history))


@pytest.mark.parametrize("known", KNOWN, ids=str)
@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_known_clouds_and_the_traps_end_where_they_should_at_any_depth(known, arithmetic):
    run = hm.simulate(
        known.tokens, hm.Dynamics(known.alpha, known.metric), layers=10_000, arithmetic=arithmetic
    )
    assert tuple(run.leaders) == known.leaders
    assert distance(run.at(10_000), known.limits) <= run.error
    # Leaders may take a few layers to appear; from then on the distance shrinks by g every layer.
    first = distance(run.at(run.settled_at or 0), known.limits)
    for layers in (10, 100):
        shrunk = float(run.dynamics.contraction) ** (layers - (run.settled_at or 0))
        assert distance(run.at(layers), known.limits) <= shrunk * first + 2 * run.error
