"""Distances to the limit at every scale, against exact fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known import rational

import hardmax as hm
from hardmax._limits.clusters import squared_distance

SCALES = [1e-300, 1e-160, 1.0, 1e160, 1e300]
ALPHA = Fraction(1, 2)
HALF = hm.Dynamics(ALPHA)
# Leaders at once, a leader that emerges, and ties that last.
FACE = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0], [0.25, 0.25]]
CLOUDS = {"gaussian": hm.clouds.gaussian(9, 2, seed=3), "face": np.array(FACE)}
CLOUDS["emerging leader"] = np.array(hm.clouds.emerging_leader(), dtype=np.float64)
scaled = pytest.mark.parametrize("scale", SCALES)


def fractions(table: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(float(value)) for value in row] for row in table]


def furthest(one: list[list[Fraction]], other: list[list[Fraction]]) -> Any:
    """The largest squared distance of a token from its counterpart."""
    squares = []
    for rows in zip(one, other, strict=True):
        squares.append(sum((a - b) ** 2 for a, b in zip(*rows, strict=True)))
    return max(squares)


@scaled
@pytest.mark.parametrize("name", CLOUDS)
def test_distances_layers_and_bounds_are_those_of_exact_fractions(name, scale):
    cloud = CLOUDS[name] * scale
    lim, certified = hm.limit(cloud, HALF, arithmetic="exact"), hm.limit(cloud, HALF)
    limits, settled = lim.exact_limit_points().tolist(), lim.settled_at or 0
    path = oracle.run(fractions(cloud), ALPHA, None, 60)
    apart = [furthest(tokens, limits) for tokens in path]
    last = lim.run.phases[-1]
    assert squared_distance(lim.run, last, settled) == apart[settled]
    for share in ("3", "1/2", "1/100", "1/1000000"):
        eps = Fraction(share) * Fraction(scale)
        beyond = [layer for layer, square in enumerate(apart) if square > eps**2]
        expected = beyond[-1] + 1 if beyond else 0
        assert lim.layers_to(eps) == expected
        assert certified.layers_to(eps) == expected
    for each in (lim, certified):
        off = furthest(fractions(each.limit_points), limits)
        assert off <= Fraction(each.limit_error) ** 2
        assert each.limit_error <= 1e-13 * np.abs(cloud).max()
    # Nor is the error of a run a worthless number: some units in the last place.
    zero = [[Fraction(0)] * 2] * len(cloud)
    longest = furthest(path[0], zero)
    for each, units in ((lim.run, 2), (certified.run, 100)):
        off = [furthest(fractions(each.at(k)), path[k]) for k in (0, 1, 2, 7, 40)]
        error = Fraction(each.error)
        assert max(off) <= error**2
        spare = 2 * Fraction(float(np.nextafter(0, 1)))
        assert (error - spare) ** 2 <= Fraction(units, 2**53) ** 2 * longest


@scaled
def test_where_a_run_has_not_settled_all_limits_stay_within_the_bound(scale):
    # 0 attends to both tokens, then follows the other one: it goes as far as the hull is wide.
    lim = hm.limit(scale * np.array([[0.0], [1.0]]), HALF, max_layers=0)
    assert scale <= lim.limit_error <= 1.001 * scale
    corners = scale * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    turn: Any = [[0, -1], [1, 0]]
    lim = hm.limit(corners, hm.Dynamics(1, turn), max_layers=4)
    later = oracle.run(fractions(corners), Fraction(1), turn, 40)[-1]
    off = furthest(fractions(lim.limit_points), later)
    assert off <= Fraction(lim.limit_error) ** 2
    assert lim.limit_error <= scale


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
def test_the_bound_is_about_tokens_that_have_limits():
    away = hm.Dynamics(1, [[-1, 0], [0, -1]], value=[[0, 1], [0, 0]])
    nobody = hm.limit([[0, 1], [0, -1]], away)
    somebody = hm.limit([[0, 1], [0, -1], [0, 0]], away)
    assert nobody.limit_points.tolist() == [[-np.inf, 1], [np.inf, -1]]
    assert nobody.limit_error == 0
    assert somebody.limit_points[2].tolist() == [0, 0]
    assert 0 < somebody.limit_error < 1e-15


def test_limits_further_out_than_any_token_was_are_rounded_by_more():
    cloud = rational("-5/2 -5, -9 4, -3/2 -2, 4 5/2, 9 -17/2, -15/2 7/2, 5/2 2")
    dynamics = hm.Dynamics("1/3", value=[[4, -4], [2, -2]], attention="topk:7")
    lim = hm.limit(cloud, dynamics)
    off = furthest(fractions(lim.limit_points), lim.exact_limit_points().tolist())
    assert 0 < off <= Fraction(lim.limit_error) ** 2


# Logarithms of 50 digits say one layer too many for the first five.
STEPS = ["4", "9", "1/2", "1/4", "1/1000", "1", "7/3", "1/10", "1/1000000"]
HAIR = Fraction(1, 10**80)


@given(st.sampled_from(STEPS), st.integers(1, 200), st.sampled_from([HAIR, -HAIR, Fraction(0)]))
def test_an_exact_hit_counts_whatever_alpha_is_and_a_miss_by_a_hair_does_not(alpha, layer, off):
    # The token 2 follows 4 and is at a distance of 2 keep^m at layer m.
    lim = hm.limit([[4], [2], [-4]], hm.Dynamics(alpha), arithmetic="exact")
    eps = 2 * lim.run.dynamics.contraction**layer
    assert lim.layers_to(eps * (1 + off)) == layer + (off < 0)


def test_a_distance_may_be_a_float_of_numpy_and_is_the_decimal_it_is_written_as():
    lim = hm.limit([[4], [2], [-4]], hm.Dynamics("9"))
    # The floats 2e-k are no powers of ten; what is written is.
    for kind in (float, np.float64, str):
        layers = [lim.layers_to(kind(eps)) for eps in (0.2, 0.02, 2e-9)]
        assert layers == [1, 2, 9]
    kinds: list[Any] = [np.float32(0.25), np.int64(1)]
    assert [lim.layers_to(eps) for eps in kinds] == [1, 1]


def test_an_exact_hit_before_settling_counts():
    # 0 attends to both tokens, and settles one layer later.
    lim = hm.limit([[0], [1]], hm.Dynamics(1))
    assert lim.settled_at == 1
    layers = [lim.layers_to(eps) for eps in ("2", "1", "0.999", "3/4", "0.7")]
    assert layers == [0, 0, 1, 1, 2]


# One token ties leaders, until another overtakes them: after 1.335 / alpha layers.
ROWS = "0 -2 2, -4 4 -4, -1 4 1, -3 4 -3, 0 -3 2, -4 1 1, -1 1 2"
OVERTAKEN = rational(ROWS)
EPS = ("1e-3", "1", "2", "3", "4", "5", "6", "7", "7.3", "100")


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_layers_to_a_distance_are_those_of_the_definition_also_within_an_event(arithmetic):
    lim = hm.limit(OVERTAKEN, hm.Dynamics("1/20"), arithmetic=arithmetic)
    assert lim.settled_at == 28
    path = oracle.run(OVERTAKEN, Fraction(1, 20), None, 250)
    limits = lim.exact_limit_points().tolist()
    squares = [furthest(tokens, limits) for tokens in path]
    for eps in EPS:
        near = Fraction(eps) ** 2
        beyond = [layer for layer, square in enumerate(squares) if square > near]
        expected = beyond[-1] + 1 if beyond else 0
        assert lim.layers_to(eps) == expected


@pytest.mark.parametrize("alpha", ["1/5000", "1e-12"])
def test_a_limit_with_a_long_event_answers_at_once(alpha):
    lim = hm.limit(OVERTAKEN, hm.Dynamics(alpha), max_layers=10**13)
    assert lim.settled_at is not None
    assert float(Fraction(alpha)) * lim.settled_at == pytest.approx(1.335, abs=1e-3)
    for eps in EPS:
        layer, square = lim.layers_to(eps), Fraction(eps) ** 2
        layers = range(max(0, layer - 1), layer + 1)
        far = [squared_distance(lim.run, lim.run.phase_at(k), k) for k in layers]
        assert far[-1] <= square
        assert far[0] > square or layer == 0


@pytest.mark.parametrize("scale", ["1e-160", "1", "1e160"])
def test_the_furthest_is_found_among_those_that_floats_cannot_rank(scale):
    # Followers of (10, 0) on a circle around it, or a little outside: by less than their
    # coordinates are rounded.
    rng, unit = np.random.default_rng(0), Fraction(scale)
    cloud = [[10 * unit, Fraction(0)]]
    slopes = rng.integers(-500, 500, 40).tolist()
    for slope, more in zip(slopes, rng.permutation(40).tolist(), strict=True):
        t, radius = Fraction(slope, 1000), 1 + Fraction(more, 10**20)
        x, y = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
        cloud.append([unit * (10 - radius * x), unit * radius * y])
    lim = hm.limit(cloud, HALF, arithmetic="exact")
    assert lim.leaders.tolist() == [0]
    largest = (unit * (1 + Fraction(39, 10**20))) ** 2
    assert squared_distance(lim.run, lim.run.phases[-1], 0) == largest


def test_distances_beyond_the_largest_float_are_counted():
    lim = hm.limit([[1.7e308, 1.7e308], [1.0, 1.0]], HALF)
    layers = [lim.layers_to(Fraction(10) ** k) for k in (308, 307)]
    assert layers == [3, 8]
    assert lim.limit_error < 1e300
