"""Enclosures of softmax hold the truth that mpmath computes; zero temperature and infinite
depth."""

import json
import math
from fractions import Fraction
from operator import mul
from pathlib import Path

import mpmath
import numpy as np
import pytest
from effort import THOROUGH, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import clouds, identity, spd_metrics

import hardmax as hm

RUNS = 2000 if THOROUGH else 60
FIGURE_2 = Path(__file__).parents[2] / "examples/paper/data/authors.json"


def definition(cloud, beta, alpha, metric, mask, layers):
    """The layers by their definition, with the digits that mpmath is set to."""
    z, d = [[mpmath.mpmathify(x) for x in token] for token in cloud.tolist()], cloud.shape[1]
    for _ in range(layers):
        after = []
        for i, token in enumerate(z):
            look = [sum(metric[a][b] * token[b] for b in range(d)) for a in range(d)]
            exponents = [beta * sum(map(mul, look, other)) for other in z]
            top = max(x for x, allowed in zip(exponents, mask[i], strict=True) if allowed)
            # What is below exp(-10^5) is 0 in the digits of all these tests.
            counted = [mask[i][j] and x - top > -(10**5) for j, x in enumerate(exponents)]
            powers = [mpmath.exp(x - top) if counted[j] else 0 for j, x in enumerate(exponents)]
            total = sum(powers)
            means = [
                sum(p * other[a] for p, other in zip(powers, z, strict=True)) / total
                for a in range(d)
            ]
            after.append(
                [(x + alpha * mean) / (1 + alpha) for x, mean in zip(token, means, strict=True)]
            )
        z = after
    return z


def test_no_coordinate_is_outside_its_enclosure():
    random = np.random.default_rng(1)
    with mpmath.workdps(200):
        for case in range(RUNS):
            n, d, layers = (
                int(random.integers(1, 5)),
                int(random.integers(1, 3)),
                int(random.integers(1, 6)),
            )
            cloud, beta = random.standard_normal((n, d)), int(random.choice([1, 10, 300]))
            root, alpha = random.integers(-2, 3, (d, d)), [1, 2, 5][case % 3]
            mask = np.tri(n, dtype=bool) if case % 2 else np.ones((n, n), dtype=bool)
            error = float(random.choice([1e-6, 1e-12, 1e-15]))
            dynamics = hm.Dynamics(alpha, root, mask=mask, attention=hm.Softmax(beta))
            run = hm.simulate(cloud, dynamics, layers=layers, error=error)
            assert run.error <= error
            truth = definition(cloud, beta, alpha, root.tolist(), mask, layers)
            for row, found in zip(truth, run.at(layers).tolist(), strict=True):
                assert all(abs(x - y) <= run.error for x, y in zip(row, found, strict=True))


magnitudes = st.integers(-150, 150)


@settings(max_examples=examples(2000))
@given(
    clouds(min_n=2, max_n=4, max_d=2),
    magnitudes.map(lambda k: Fraction(100) ** k),
    magnitudes.map(lambda k: Fraction(10) ** k),
    st.sampled_from([Fraction(1, 2), Fraction(3)]),
    st.integers(1, 3),
    st.data(),
)
def test_enclosures_hold_the_truth_at_every_magnitude(cloud, beta, scale, alpha, layers, data):
    cloud = np.array(cloud) * scale
    n, d = cloud.shape
    metric, error = data.draw(spd_metrics(d)), float(np.abs(cloud).max() or 1) * 1e-12
    mask = data.draw(st.sampled_from([np.ones((n, n), dtype=bool), np.tri(n, dtype=bool)]))
    dynamics = hm.Dynamics(alpha, metric, mask=mask, attention=hm.Softmax(beta))
    run = hm.simulate(cloud, dynamics, layers=layers, error=error)
    assert np.isfinite(np.asarray(run)).all()
    assert run.error <= error
    # At a tie a layer makes errors larger by beta times a score: so many digits, and some to spare.
    largest = int(beta * scale**2) + 1
    with mpmath.workdps(60 + (layers + 1) * (len(str(largest)) + 4)):
        matrix = [[mpmath.mpmathify(x) for x in row] for row in metric or identity(d)]
        beta, alpha = map(mpmath.mpmathify, (beta, alpha))
        truth = definition(cloud, beta, alpha, matrix, mask, layers)
        off = np.array(truth) - run.at(layers)
        assert abs(off).max() <= run.error


@pytest.mark.parametrize(
    ("scale", "beta", "error"), [(1e9, 100, 1e-3), (1, 1e21, 1e-12), (1e150, 1e300, 1e140)]
)
def test_exponents_too_large_for_floats_leave_no_coordinate_unknown(scale, beta, error):
    # All three lead, by far more than 1 / beta: softmax leaves them where they are.
    cloud = np.array([[1, 0.3], [0.7, -1], [-0.4, 0.9]]) * scale
    soft = hm.Dynamics("1/2", attention=hm.Softmax(beta))
    run = hm.simulate(cloud, soft, layers=30, error=error)
    assert run.error <= error
    assert (np.abs(np.asarray(run) - cloud) <= run.error).all()


def test_a_value_matrix_steps_and_copies_have_their_part():
    cloud, beta = [[1.0, 2.0], [0.5, -1.0], [0.5, -1.0]], hm.Softmax(2)
    plain = hm.simulate(cloud, hm.Dynamics("1/2", attention=beta), layers=3).at(3)
    value = hm.Dynamics(1, value=[["1/2", 0], [0, "1/2"]], attention=beta)
    (copies,) = hm.simulate(
        hm.Clouds([[1.0, 2.0], [0.5, -1.0]], [0, 2], [1, 2]),
        hm.Dynamics(1, attention=beta),
        layers=1,
    )
    assert np.allclose(plain, hm.simulate(cloud, value, layers=3).at(3), atol=1e-11)
    assert (plain[1] == plain[2]).all()
    once, twice = (
        hm.simulate(cloud, hm.Dynamics(a, attention=beta), layers=2) for a in ("1/2", ["1/2", 3])
    )
    assert (once.at(1) == twice.at(1)).all()
    assert not (once.at(2) == twice.at(2)).all()
    assert np.allclose(
        copies.at(1),
        hm.simulate(cloud, hm.Dynamics(1, attention=beta), layers=1).at(1)[:2],
        atol=1e-11,
    )


def test_what_cannot_be_enclosed_is_refused():
    cloud, soft = [[1.0], [2.0]], hm.Dynamics(1, attention=hm.Softmax(1))
    with pytest.raises(hm.InputError, match="less than float64 can store"):
        hm.simulate(cloud, soft, layers=1, error=1e-30)
    for call in (hm.attended, hm.step):
        with pytest.raises(hm.InputError, match="softmax attends to all tokens"):
            call(cloud, soft)
    with pytest.raises(hm.InputError, match="This layer needs `layers`"):
        hm.simulate(cloud, soft)


@pytest.mark.parametrize(
    ("name", "delta", "constant"),
    [("triangle", "1/2", 0.969), ("emerging leader", "41/1296", 0.952), ("square", "2", 0.634)],
)
def test_the_distance_to_hardmax_falls_like_one_over_beta(name, delta, constant):
    found = hm.softmax_gap(
        json.loads(FIGURE_2.read_text())["figure2"][name], hm.Dynamics("1/2"), [3000, 10_000]
    )
    assert found.delta == Fraction(delta)
    assert found.distances * [3000, 10_000] == pytest.approx([constant] * 2, abs=2e-3)
    assert (found.errors < 1e-9).all()


NON_LEADERS = json.loads(FIGURE_2.read_text())["figure2"]["non-leader clusters"]


def test_at_a_fixed_depth_softmax_tends_to_hardmax_even_where_limits_tie():
    # With 60 layers a follower is still (2/3)^60 = 2.7e-11 from its leader.
    cloud, half = hm.io.parse_decimals(NON_LEADERS), hm.Dynamics("1/2")
    found = hm.softmax_gap(cloud, half, [10**8, 10**11, 10**15], layers=60)
    assert found.layers == 60
    assert found.distances == pytest.approx([0.999866, 0.912209, 0], abs=1e-6)
    with mpmath.workdps(1300):
        everyone, metric = np.ones((10, 10), dtype=bool), [[1, 0], [0, 1]]
        soft = definition(cloud, 10**13, mpmath.mpf("0.5"), metric, everyone, 60)
        hard = np.vectorize(mpmath.mpmathify)(
            hm.simulate(cloud, half, layers=60).at(60, exact=True)
        )
        assert 8e-101 < abs(np.array(soft) - hard).max() < 9e-101


@pytest.mark.parametrize("betas", [[100, 10_000], [10**8]])
def test_where_limits_tie_the_distance_stays(betas):
    # Over so many layers that followers have weight beside their leaders.
    found = hm.softmax_gap(NON_LEADERS, hm.Dynamics("1/2"), betas)
    assert found.layers == 60 + math.ceil(math.log(2 * betas[-1], 1.5))
    assert found.delta == 0
    assert (found.distances > 0.99).all()
    assert f"{found.layers} layers" in repr(found)


def test_the_default_depth_knows_the_scale_of_the_tokens_and_the_step():
    cloud = np.array([[3.0], [-1.0], [1.0]])
    depths = [hm.softmax_gap(cloud * k, hm.Dynamics(1), [10 / k**2]).layers for k in (1, 8, 0.25)]
    assert depths == [60 + math.ceil(math.log2(90))] * 3
    assert hm.softmax_gap(cloud / 1024, hm.Dynamics(1), [10]).layers == 60
    with pytest.raises(
        hm.InputError, match="followers have weight only after over 10,000 layers; give a"
    ):
        hm.softmax_gap(cloud, hm.Dynamics("1/100000"), [10])


def test_a_tie_alone_does_not_keep_softmax_away_and_one_limit_has_no_delta():
    found = hm.softmax_gap([[1, 1], [1, -1], [0.5, 0]], hm.Dynamics(1), [100, 10_000])
    assert found.delta == 0
    assert found.distances[1] < 0.02 * found.distances[0]
    found = hm.softmax_gap([[1, 2]] * 3, hm.Dynamics(1), [10])
    assert found.delta is None
    assert found.distances.max() <= found.errors.max()
