"""What the dynamics does not care about, and what it does, in exact arithmetic."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import clouds, problems, rational_rotations, signed_permutations

import hardmax as hm

LAYERS = 4


def run(cloud, dynamics):
    return hm.simulate(cloud, dynamics, layers=LAYERS, arithmetic="exact")


def last_of(trajectory):
    return trajectory.at(LAYERS, exact=True).tolist()


def sets(trajectory, layer):
    return [set(attended.tolist()) for attended in trajectory.attended(layer)]


def mapped(matrix, cloud):
    return [oracle.apply(matrix, token) for token in cloud]


def transposed(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def product(left, right):
    return transposed([oracle.apply(left, column) for column in transposed(right)])


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_the_tokens_does_not_matter(problem, random):
    cloud, metric, alpha = problem
    order = list(range(len(cloud)))
    random.shuffle(order)
    dynamics = hm.Dynamics(alpha, metric)
    straight = run(cloud, dynamics)
    shuffled = run([cloud[i] for i in order], dynamics)
    assert last_of(shuffled) == [last_of(straight)[i] for i in order]
    assert {order[i] for i in shuffled.leaders} == set(straight.leaders.tolist())


@given(clouds(), st.data())
def test_rotations_and_signed_permutations_commute_with_a_run(cloud, data):
    d = len(cloud[0])
    turn = data.draw(signed_permutations(d) | rational_rotations(d))
    dynamics = hm.Dynamics("1/2")
    straight, turned = run(cloud, dynamics), run(mapped(turn, cloud), dynamics)
    assert last_of(turned) == mapped(turn, last_of(straight))
    for layer in range(LAYERS + 1):
        assert sets(turned, layer) == sets(straight, layer)


@given(problems(), st.data())
def test_a_rotation_of_the_cloud_and_of_the_metric_together_commutes_with_a_run(problem, data):
    cloud, metric, alpha = problem
    assume(metric is not None)
    turn = data.draw(rational_rotations(len(cloud[0])))
    turned_metric = product(product(turn, metric), transposed(turn))
    straight = run(cloud, hm.Dynamics(alpha, metric))
    turned = run(mapped(turn, cloud), hm.Dynamics(alpha, turned_metric))
    assert last_of(turned) == mapped(turn, last_of(straight))


factors = st.sampled_from([Fraction(1, 7), Fraction(3), Fraction(10) ** 30])


def times(factor, rows):
    return [[factor * x for x in row] for row in rows]


@given(problems(), factors)
def test_scaling_commutes_with_a_run_and_scaling_the_metric_changes_nothing(problem, factor):
    cloud, metric, alpha = problem
    dynamics = hm.Dynamics(alpha, metric)
    straight = run(cloud, dynamics)
    scaled = run(times(factor, cloud), dynamics)
    assert last_of(scaled) == times(factor, last_of(straight))
    if metric is not None:
        stretched = hm.Dynamics(alpha, times(factor, metric))
        assert last_of(run(cloud, stretched)) == last_of(straight)


def test_translation_does_not_commute():
    cloud, shift = np.array([[1.0], [-1.0]]), np.array([5.0])
    dynamics = hm.Dynamics(1)
    moved = hm.step(cloud + shift, dynamics)
    assert not np.array_equal(moved, hm.step(cloud, dynamics) + shift)


@given(clouds(max_n=6), st.data())
def test_a_token_given_twice_is_a_token_of_multiplicity_two(cloud, data):
    n = len(cloud)
    counts = data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    repeated = []
    for token, count in zip(cloud, counts, strict=True):
        repeated += [token] * count
    firsts = np.cumsum([0, *counts[:-1]])
    dynamics = hm.Dynamics("1/2")
    tokens = np.array(cloud, dtype=object)
    merged = hm.Clouds(tokens, offsets=[0, n], multiplicities=counts)
    (weighted,) = hm.simulate(merged, dynamics, layers=LAYERS, arithmetic="exact")
    spelt_out = run(repeated, dynamics)
    by_definition = oracle.run(repeated, Fraction(1, 2), layers=LAYERS)[LAYERS]
    assert last_of(spelt_out) == by_definition
    assert last_of(weighted) == [by_definition[first] for first in firsts]
    assert set(firsts[weighted.leaders]) == set(spelt_out.leaders) & set(firsts)


@pytest.mark.parametrize("arithmetic", ["certified", "exact", "float"])
def test_multiplicity_matters_at_a_tie(arithmetic):
    square = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
    dynamics = hm.Dynamics(1)
    once = hm.simulate(square, dynamics, layers=20, arithmetic=arithmetic)
    twice = hm.simulate([[1, 1], *square], dynamics, layers=20, arithmetic=arithmetic)
    assert np.allclose(once.at(20)[4], (1, 0), atol=1e-4)
    assert np.allclose(twice.at(20)[5], (1, 1), atol=1e-4)
