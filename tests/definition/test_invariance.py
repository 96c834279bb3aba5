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
    straight, shuffled = run(cloud, dynamics), run([cloud[i] for i in order], dynamics)
    assert (shuffled.at(LAYERS, exact=True) == straight.at(LAYERS, exact=True)[order]).all()
    assert {order[i] for i in shuffled.leaders} == set(straight.leaders.tolist())


@given(clouds(), st.data())
def test_rotations_and_signed_permutations_commute_with_a_run(cloud, data):
    turn = data.draw(
        st.one_of(signed_permutations(len(cloud[0])), rational_rotations(len(cloud[0])))
    )
    dynamics = hm.Dynamics("1/2")
    straight, turned = run(cloud, dynamics), run(mapped(turn, cloud), dynamics)
    assert turned.at(LAYERS, exact=True).tolist() == mapped(
        turn, straight.at(LAYERS, exact=True).tolist()
    )
    assert all(sets(turned, k) == sets(straight, k) for k in range(LAYERS + 1))


@given(problems(), st.data())
def test_a_rotation_of_the_cloud_and_of_the_metric_together_commutes_with_a_run(problem, data):
    cloud, metric, alpha = problem
    assume(metric is not None)
    turn = data.draw(rational_rotations(len(cloud[0])))
    turned_metric = product(product(turn, metric), transposed(turn))
    straight = run(cloud, hm.Dynamics(alpha, metric))
    turned = run(mapped(turn, cloud), hm.Dynamics(alpha, turned_metric))
    assert turned.at(LAYERS, exact=True).tolist() == mapped(
        turn, straight.at(LAYERS, exact=True).tolist()
    )


@given(problems(), st.sampled_from([Fraction(1, 7), Fraction(3), Fraction(10) ** 30]))
def test_scaling_commutes_with_a_run_and_scaling_the_metric_changes_nothing(problem, factor):
    cloud, metric, alpha = problem
    dynamics = hm.Dynamics(alpha, metric)
    straight = run(cloud, dynamics)
    scaled = run([[factor * x for x in token] for token in cloud], dynamics)
    assert (scaled.at(LAYERS, exact=True) == factor * straight.at(LAYERS, exact=True)).all()
    if metric is not None:
        stretched = hm.Dynamics(alpha, [[factor * x for x in row] for row in metric])
        assert (
            run(cloud, stretched).at(LAYERS, exact=True) == straight.at(LAYERS, exact=True)
        ).all()


def test_translation_does_not_commute():
    cloud, shift = np.array([[1.0], [-1.0]]), np.array([5.0])
    dynamics = hm.Dynamics(1)
    assert not np.array_equal(hm.step(cloud + shift, dynamics), hm.step(cloud, dynamics) + shift)


@given(clouds(max_n=6), st.data())
def test_a_token_given_twice_is_a_token_of_multiplicity_two(cloud, data):
    counts = data.draw(st.lists(st.integers(1, 3), min_size=len(cloud), max_size=len(cloud)))
    repeated = [token for token, count in zip(cloud, counts, strict=True) for _ in range(count)]
    firsts = np.cumsum([0, *counts[:-1]])
    dynamics = hm.Dynamics("1/2")
    merged = hm.Clouds(
        np.array(cloud, dtype=object), offsets=[0, len(cloud)], multiplicities=counts
    )
    (weighted,) = hm.simulate(merged, dynamics, layers=LAYERS, arithmetic="exact")
    spelt_out = run(repeated, dynamics)
    assert (weighted.at(LAYERS, exact=True) == spelt_out.at(LAYERS, exact=True)[firsts]).all()
    by_definition = oracle.run(repeated, Fraction(1, 2), layers=LAYERS)[LAYERS]
    assert spelt_out.at(LAYERS, exact=True).tolist() == by_definition
    assert set(firsts[weighted.leaders]) == set(spelt_out.leaders) & set(firsts)


@pytest.mark.parametrize("arithmetic", ["certified", "exact", "float"])
def test_multiplicity_matters_at_a_tie(arithmetic):
    square = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
    once = hm.simulate(square, hm.Dynamics(1), layers=20, arithmetic=arithmetic)
    twice = hm.simulate([[1, 1], *square], hm.Dynamics(1), layers=20, arithmetic=arithmetic)
    assert np.allclose(once.at(20)[4], (1, 0), atol=1e-4)
    assert np.allclose(twice.at(20)[5], (1, 1), atol=1e-4)
