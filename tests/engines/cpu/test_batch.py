"""Many small clouds in one kernel: where fractions have them, to the bits of each alone, and given
up in time."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from agreement import distance

import hardmax as hm
from hardmax._float.batch import UNDECIDED, WALKED, tokens_at, walk_batch
from hardmax._kernels.parallel import limit_threads

HALF = hm.Dynamics("1/2")
U, G = Fraction(1, 2**53), Fraction(1, 3)


def assert_same_as_one_by_one(batch, dynamics, layers):
    runs = hm.simulate(batch, dynamics, layers=layers)
    assert isinstance(runs, hm.results.Runs)
    alone = [hm.simulate(cloud, dynamics, layers=layers) for cloud in batch]
    for layer in {0, layers // 2, layers}:
        for tokens, run in zip(runs.at(layer), alone, strict=True):
            assert np.array_equal(tokens, run.at(layer))
    for index, (run, single) in enumerate(zip(runs, alone, strict=True)):
        leaders = single.leaders.tolist()
        assert runs.leaders[index].tolist() == leaders
        assert run.leaders.tolist() == leaders
        assert runs.settled_at[index] == single.settled_at
        assert run.arithmetic == single.arithmetic


SHAPES = [(1, False, 4), (1, True, 40), (2, False, 0), (2, True, 4), (8, False, 40), (8, True, 0)]


@pytest.mark.parametrize(("d", "metric", "layers"), SHAPES)
def test_random_clouds_of_all_sizes_are_walked_to_the_same_bits(d, metric, layers):
    rng = np.random.default_rng(d)
    sizes = rng.integers(1, 90, size=40).tolist()
    batch = [rng.standard_normal((n, d)) for n in sizes]
    batch += [np.repeat(cloud, 3, axis=0) for cloud in batch[:5]]
    matrix = np.eye(d) * 2 + 0.3 * np.ones((d, d)) if metric else None
    assert_same_as_one_by_one(batch, hm.Dynamics("1/3", matrix), layers)


@pytest.mark.parametrize("metric", [None, [[2, 1, 0], [1, 3, 0], [0, 0, 1]]])
@pytest.mark.parametrize("layers", [0, 2, 9])
def test_tokens_leaders_and_settling_are_those_of_fractions(metric, layers):
    dynamics, rng = hm.Dynamics("1/3", metric), np.random.default_rng(layers)
    sizes = rng.integers(1, 21, 12).tolist()
    batch = [rng.integers(-512, 513, (n, 3)) / 256.0 + 0.3 for n in sizes]
    batch = [np.concatenate([cloud, cloud[:2]]) for cloud in batch]
    tokens = np.concatenate(batch)
    offsets = np.cumsum([0, *(len(cloud) for cloud in batch)])
    outcome = walk_batch(tokens, offsets, dynamics, layers)
    contraction = dynamics.contraction
    later, limits = (tokens_at(outcome, offsets, contraction, at) for at in (layers, None))
    decided = np.flatnonzero(outcome.settled != UNDECIDED)
    assert len(decided)
    for b in decided.tolist():
        rows = slice(*offsets[b : b + 2].tolist())
        truth = hm.simulate(tokens[rows], dynamics, layers=layers, arithmetic="exact")
        settled = truth.settled_at
        path = oracle.run(exact_rows(tokens[rows]), G, metric, layers)
        assert outcome.settled[b] == (WALKED if settled is None else settled)
        error = Fraction(float(outcome.errors[b]))
        longest = Fraction(float(np.linalg.norm(tokens[rows], axis=1).max()))
        assert error <= 8 * U * longest * (layers + 1)
        wished = {settled: outcome.tokens, layers: later}
        for layer, found in wished.items():
            if layer is not None:
                assert distance(found[rows], path[layer]) <= error
        if settled is not None:
            ends = np.array(truth.at("limit"), dtype=float)
            assert np.abs(limits[rows] - ends).max() <= error
        since = outcome.leader_since[rows]
        assert np.flatnonzero(since >= 0).tolist() == truth.leaders.tolist()
        assert since[truth.leaders].tolist() == truth.leader_layers.tolist()


def exact_rows(tokens: np.ndarray) -> oracle.Cloud:
    return [[Fraction(x) for x in row] for row in tokens.tolist()]


@pytest.mark.parametrize("exponent", [-101, -99, 99, 102])
def test_clouds_too_large_or_too_small_for_the_bounds_are_given_up(exponent):
    tokens = np.array([[1.0, 0.5], [-1.0, 0.25]]) * 2.0**exponent
    outcome = walk_batch(tokens, np.array([0, 2]), HALF, 3)
    assert (outcome.settled[0] == UNDECIDED) == (abs(exponent) > 100)


@pytest.mark.parametrize("units", [0, 2, 4, 5, 8])
def test_a_lead_within_the_slack_is_given_up_and_one_beyond_it_is_not(units):
    # Along (1, 0) the second token trails the first by so many u, where 2 E is a little more than 4
    # u.
    trailing = 1.0 - units * 2.0**-53
    tokens = np.array([[1.0, 0.0], [trailing, 2.0**-30], [-1.0, 0.0]])
    outcome = walk_batch(tokens, np.array([0, 3]), HALF, 0)
    assert (outcome.settled[0] == UNDECIDED) == (units <= 4)


def test_the_same_bits_at_any_number_of_threads_and_progress_in_clouds(told):
    tokens = np.random.default_rng(3).standard_normal((4100 * 9, 2))
    results = []
    offsets = np.arange(0, len(tokens) + 1, 9)
    for threads in (1, 2, 7):
        with limit_threads(threads):
            outcome = walk_batch(tokens, offsets, HALF, 8)
            results.append(outcome.tokens.tobytes())
    assert len(set(results)) == 1
    assert told == [("clouds", 4096, 4100), ("clouds", 4100, 4100)] * 3
