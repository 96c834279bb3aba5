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


def power(exponent):
    # What is below exp(-10^5) is 0 in the digits of all these tests.
    return mpmath.exp(exponent) if exponent > -(10**5) else 0


def definition(cloud, beta, alpha, metric, mask, layers):
    """The layers by their definition, with the digits that mpmath is set to."""
    z = [[mpmath.mpmathify(x) for x in token] for token in cloud.tolist()]
    for _ in range(layers):
        after = []
        for token, allowed in zip(z, mask, strict=True):
            look = [sum(map(mul, row, token)) for row in metric]
            exponents = [beta * sum(map(mul, look, other)) for other in z]
            seen = [*zip(exponents, allowed, strict=True)]
            top = max(x for x, may in seen if may)
            powers = [power(x - top) if may else 0 for x, may in seen]
            columns = zip(*z, strict=True)
            mean = [sum(map(mul, powers, column)) / sum(powers) for column in columns]
            moved = zip(token, mean, strict=True)
            after.append([(x + alpha * m) / (1 + alpha) for x, m in moved])
        z = after
    return z


def test_no_coordinate_is_outside_its_enclosure():
    random = np.random.default_rng(1)
    with mpmath.workdps(200):
        for case in range(RUNS):
            n, d, layers = (int(random.integers(1, most)) for most in (5, 3, 6))
            cloud = random.standard_normal((n, d))
            beta = int(random.choice([1, 10, 300]))
            root, alpha = random.integers(-2, 3, (d, d)), [1, 2, 5][case % 3]
            everybody = np.ones((n, n), dtype=bool)
            mask = np.tri(n, dtype=bool) if case % 2 else everybody
            error = float(random.choice([1e-6, 1e-12, 1e-15]))
            dynamics = hm.Dynamics(alpha, root, mask=mask, attention=hm.Softmax(beta))
            run = hm.simulate(cloud, dynamics, layers=layers, error=error)
            assert run.error <= error
            truth = definition(cloud, beta, alpha, root.tolist(), mask, layers)
            assert abs(truth - run.at(layers)).max() <= run.error


magnitudes = st.integers(-150, 150)
betas = magnitudes.map(lambda k: Fraction(100) ** k)
scales = magnitudes.map(lambda k: Fraction(10) ** k)
steps = st.sampled_from([Fraction(1, 2), Fraction(3)])
few_tokens = clouds(min_n=2, max_n=4, max_d=2)


@settings(max_examples=examples(2000))
@given(few_tokens, betas, scales, steps, st.integers(1, 3), st.data())
def test_enclosures_hold_the_truth_at_every_magnitude(cloud, beta, scale, alpha, layers, data):
    cloud = np.array(cloud) * scale
    n, d = cloud.shape
    metric = data.draw(spd_metrics(d))
    error = float(np.abs(cloud).max() or 1) * 1e-12
    masks = np.ones((n, n), dtype=bool), np.tri(n, dtype=bool)
    mask = data.draw(st.sampled_from(masks))
    dynamics = hm.Dynamics(alpha, metric, mask=mask, attention=hm.Softmax(beta))
    run = hm.simulate(cloud, dynamics, layers=layers, error=error)
    assert np.isfinite(np.asarray(run)).all()
    assert run.error <= error
    # At a tie a layer makes errors larger by beta times a score: so many digits, and some to spare.
    digits = len(str(int(beta * scale**2) + 1)) + 4
    with mpmath.workdps(60 + (layers + 1) * digits):
        matrix = [[mpmath.mpmathify(x) for x in row] for row in metric or identity(d)]
        beta, alpha = map(mpmath.mpmathify, (beta, alpha))
        truth = definition(cloud, beta, alpha, matrix, mask, layers)
        off = np.array(truth) - run.at(layers)
        assert abs(off).max() <= run.error


LARGE = [(1e9, 100, 1e-3), (1, 1e21, 1e-12), (1e150, 1e300, 1e140)]


@pytest.mark.parametrize(("scale", "beta", "error"), LARGE)
def test_exponents_too_large_for_floats_leave_no_coordinate_unknown(scale, beta, error):
    # All three lead, by far more than 1 / beta: softmax leaves them where they are.
    cloud = scale * np.array([[1, 0.3], [0.7, -1], [-0.4, 0.9]])
    soft = hm.Dynamics("1/2", attention=hm.Softmax(beta))
    run = hm.simulate(cloud, soft, layers=30, error=error)
    assert run.error <= error
    off = np.abs(np.asarray(run) - cloud)
    assert off.max() <= run.error


def test_a_value_matrix_steps_and_copies_have_their_part():
    cloud, beta = [[1.0, 2.0], [0.5, -1.0], [0.5, -1.0]], hm.Softmax(2)
    plain = hm.Dynamics("1/2", attention=beta)
    halves = hm.Dynamics(1, value=[["1/2", 0], [0, "1/2"]], attention=beta)
    run = hm.simulate(cloud, plain, layers=3)
    same = hm.simulate(cloud, halves, layers=3)
    assert np.allclose(run.at(3), same.at(3), atol=1e-11)
    assert (run.at(3)[1] == run.at(3)[2]).all()
    changing = hm.Dynamics(["1/2", 3], attention=beta)
    twice = hm.simulate(cloud, changing, layers=2)
    assert (run.at(1) == twice.at(1)).all()
    assert not (run.at(2) == twice.at(2)).all()
    counted = hm.Clouds(cloud[:2], [0, 2], [1, 2])
    (copies,) = hm.simulate(counted, plain, layers=1)
    assert np.allclose(copies.at(1), run.at(1)[:2], atol=1e-11)


def test_what_cannot_be_enclosed_is_refused():
    cloud = [[1.0], [2.0]]
    soft = hm.Dynamics(1, attention=hm.Softmax(1))
    with pytest.raises(hm.InputError, match="less than float64 can store"):
        hm.simulate(cloud, soft, layers=1, error=1e-30)
    for call in (hm.attended, hm.step):
        with pytest.raises(hm.InputError, match="softmax attends to all tokens"):
            call(cloud, soft)
    with pytest.raises(hm.InputError, match="This layer needs `layers`"):
        hm.simulate(cloud, soft)


PAPER = json.loads(FIGURE_2.read_text())["figure2"]
GAPS = [("triangle", "1/2", 0.969), ("emerging leader", "41/1296", 0.952), ("square", "2", 0.634)]


@pytest.mark.parametrize(("name", "delta", "constant"), GAPS)
def test_the_distance_to_hardmax_falls_like_one_over_beta(name, delta, constant):
    betas = [3000, 10_000]
    found = hm.softmax_gap(PAPER[name], hm.Dynamics("1/2"), betas)
    assert found.delta == Fraction(delta)
    assert found.distances * betas == pytest.approx(constant, abs=2e-3)
    assert (found.errors < 1e-9).all()


NON_LEADERS = PAPER["non-leader clusters"]


def test_at_a_fixed_depth_softmax_tends_to_hardmax_even_where_limits_tie():
    # With 60 layers a follower is still (2/3)^60 = 2.7e-11 from its leader.
    cloud, half = hm.io.parse_decimals(NON_LEADERS), hm.Dynamics("1/2")
    found = hm.softmax_gap(cloud, half, [10**8, 10**11, 10**15], layers=60)
    assert found.layers == 60
    assert found.distances == pytest.approx([0.999866, 0.912209, 0], abs=1e-6)
    with mpmath.workdps(1300):
        everyone, metric = np.ones((10, 10), dtype=bool), np.eye(2, dtype=int).tolist()
        soft = definition(cloud, 10**13, mpmath.mpf("0.5"), metric, everyone, 60)
        run = hm.simulate(cloud, half, layers=60)
        hard = np.vectorize(mpmath.mpmathify)(run.at(60, exact=True))
        assert 8e-101 < abs(np.array(soft) - hard).max() < 9e-101


@pytest.mark.parametrize("betas", [[100, 10_000], [10**8]])
def test_where_limits_tie_the_distance_stays(betas):
    # Over so many layers that followers have weight beside their leaders.
    found = hm.softmax_gap(NON_LEADERS, hm.Dynamics("1/2"), betas)
    weightless = math.ceil(math.log(2 * betas[-1], 1.5))
    assert found.layers == 60 + weightless
    assert found.delta == 0
    assert (found.distances > 0.99).all()
    assert f"{found.layers} layers" in repr(found)


def test_the_default_depth_knows_the_scale_of_the_tokens_and_the_step():
    cloud = np.array([[3.0], [-1.0], [1.0]])
    for scale in (1, 8, 0.25):
        found = hm.softmax_gap(cloud * scale, hm.Dynamics(1), [10 / scale**2])
        assert found.layers == 60 + math.ceil(math.log2(90))
    small = hm.softmax_gap(cloud / 1024, hm.Dynamics(1), [10])
    assert small.layers == 60
    message = "followers have weight only after over 10,000 layers; give a"
    with pytest.raises(hm.InputError, match=message):
        hm.softmax_gap(cloud, hm.Dynamics("1/100000"), [10])


def test_a_tie_alone_does_not_keep_softmax_away_and_one_limit_has_no_delta():
    tied = [[1, 1], [1, -1], [0.5, 0]]
    found = hm.softmax_gap(tied, hm.Dynamics(1), [100, 10_000])
    assert found.delta == 0
    assert found.distances[1] < 0.02 * found.distances[0]
    found = hm.softmax_gap([[1, 2]] * 3, hm.Dynamics(1), [10])
    assert found.delta is None
    assert found.distances.max() <= found.errors.max()
