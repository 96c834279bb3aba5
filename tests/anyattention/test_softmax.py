"""Enclosures of softmax hold the truth, computed with 200 digits; zero temperature and infinite depth."""

import json
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from effort import THOROUGH
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import clouds

import hardmax as hm

RUNS = 2000 if THOROUGH else 60
FIGURE_2 = Path(__file__).parents[2] / "examples/paper/data/authors.json"


def in_200_digits(cloud, beta, alpha, metric, mask, layers):
    """The definition, with mpmath."""
    z, (n, d) = [[mpmath.mpf(x) for x in token] for token in cloud.tolist()], cloud.shape
    for _ in range(layers):
        after = []
        for i, token in enumerate(z):
            look = [sum(metric[a][b] * token[b] for b in range(d)) for a in range(d)]
            powers = [
                mpmath.exp(beta * sum(x * y for x, y in zip(look, z[j], strict=True))) if mask[i][j] else 0
                for j in range(n)
            ]
            total = sum(powers)
            means = [sum(p * other[a] for p, other in zip(powers, z, strict=True)) / total for a in range(d)]
            after.append([(x + alpha * mean) / (1 + alpha) for x, mean in zip(token, means, strict=True)])
        z = after
    return z


def test_no_coordinate_is_outside_its_enclosure():
    random = np.random.default_rng(1)
    with mpmath.workdps(200):
        for case in range(RUNS):
            n, d, layers = int(random.integers(1, 5)), int(random.integers(1, 3)), int(random.integers(1, 6))
            cloud, beta = random.standard_normal((n, d)), int(random.choice([1, 10, 300]))
            root, alpha = random.integers(-2, 3, (d, d)), [1, 2, 5][case % 3]
            mask = np.tri(n, dtype=bool) if case % 2 else np.ones((n, n), dtype=bool)
            error = float(random.choice([1e-6, 1e-12, 1e-15]))
            dynamics = hm.Dynamics(alpha, root, mask=mask, attention=hm.Softmax(beta, error))
            run = hm.simulate(cloud, dynamics, layers=layers)
            assert run.error <= error
            truth = in_200_digits(cloud, beta, alpha, root.tolist(), mask, layers)
            for row, found in zip(truth, run.at(layers).tolist(), strict=True):
                assert all(abs(x - y) <= run.error for x, y in zip(row, found, strict=True))


def test_a_value_matrix_steps_and_copies_have_their_part():
    cloud, beta = [[1.0, 2.0], [0.5, -1.0], [0.5, -1.0]], hm.Softmax(2)
    plain = hm.simulate(cloud, hm.Dynamics("1/2", attention=beta), layers=3).at(3)
    value = hm.Dynamics(1, value=[["1/2", 0], [0, "1/2"]], attention=beta)
    (copies,) = hm.simulate(
        hm.Ragged([[1.0, 2.0], [0.5, -1.0]], [0, 2], [1, 2]), hm.Dynamics(1, attention=beta), layers=1
    )
    assert np.allclose(plain, hm.simulate(cloud, value, layers=3).at(3), atol=1e-11)
    assert (plain[1] == plain[2]).all()
    once, twice = (hm.simulate(cloud, hm.Dynamics(a, attention=beta), layers=2) for a in ("1/2", ["1/2", 3]))
    assert (once.at(1) == twice.at(1)).all()
    assert not (once.at(2) == twice.at(2)).all()
    assert np.allclose(copies.at(1), hm.simulate(cloud, hm.Dynamics(1, attention=beta), layers=1).at(1)[:2], atol=1e-11)


@settings(max_examples=20)
@given(clouds(min_n=2, max_n=4, max_d=2), st.sampled_from(["1/2", "2"]))
def test_precision_is_raised_until_the_error_is_small(cloud, alpha):
    runs = [hm.simulate(cloud, hm.Dynamics(alpha, attention=hm.Softmax(50, e)), layers=6) for e in (1e-3, 1e-13)]
    assert [run.error <= e for run, e in zip(runs, (1e-3, 1e-13), strict=True)] == [True, True]
    assert runs[0].bits <= runs[1].bits
    assert (np.abs(runs[0].tokens - runs[1].tokens) <= runs[0].error + runs[1].error).all()


def test_what_cannot_be_enclosed_is_refused():
    cloud, soft = [[1.0], [2.0]], hm.Dynamics(1, attention=hm.Softmax(1))
    with pytest.raises(hm.InputError, match="less than float64 can store"):
        hm.simulate(cloud, hm.Dynamics(1, attention=hm.Softmax(1, 1e-30)), layers=1)
    for call in (hm.limit, hm.attended, hm.step):
        with pytest.raises(hm.InputError, match="softmax attends to all tokens"):
            call(cloud, soft)
    with pytest.raises(hm.InputError, match="Softmax takes `layers`"):
        hm.simulate(cloud, soft, stop=hm.Settled())


@pytest.mark.parametrize(
    ("name", "delta", "constant"),
    [("triangle", "1/2", 0.969), ("emerging leader", "41/1296", 0.952), ("square", "2", 0.634)],
)
def test_the_distance_to_hardmax_falls_like_one_over_beta(name, delta, constant):
    found = hm.temperature(json.loads(FIGURE_2.read_text())["figure2"][name], hm.Dynamics("1/2"), [3000, 10_000])
    assert found.delta == Fraction(delta)
    assert (found.threshold or 0) < 10_000
    assert found.constant == pytest.approx(constant, abs=6e-4)
    assert (found.errors < 1e-9).all()
    assert found.exponent == pytest.approx(-1, abs=1e-3)


def test_where_limits_tie_the_distance_stays():
    found = hm.temperature(
        json.loads(FIGURE_2.read_text())["figure2"]["non-leader clusters"], hm.Dynamics("1/2"), [100, 10_000]
    )
    assert (found.delta, found.threshold, found.constant) == (0, None, None)
    assert (found.distances > 0.99).all()


def test_a_tie_alone_does_not_keep_softmax_away_and_one_limit_has_no_delta():
    found = hm.temperature([[1, 1], [1, -1], [0.5, 0]], hm.Dynamics(1), [100, 10_000])
    assert (found.delta, found.threshold) == (0, None)
    assert found.distances[1] < 0.02 * found.distances[0]
    found = hm.temperature([[1, 2]] * 3, hm.Dynamics(1), [10])
    assert (found.delta, found.threshold, found.constant) == (None, None, None)
    assert found.distances.max() <= found.errors.max()
