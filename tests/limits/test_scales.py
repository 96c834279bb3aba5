"""Errors, distances and bounds against exact fractions, at every scale that tokens can have."""

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from effort import some
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm

SCALES = [1e-300, 1e-200, 1e-160, 1.0, 1e100, 1e160, 1e300]
ALPHA = Fraction(1, 2)
HALF = hm.Dynamics(ALPHA)
# Leaders at once, a leader that emerges, and ties that last.
CLOUDS = {
    "gaussian": hm.clouds.gaussian(9, 2, seed=3),
    "emerging leader": np.array(hm.clouds.emerging_leader(), dtype=np.float64),
    "face": np.array([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0], [0.25, 0.25]]),
}
SMALLEST = Fraction(float(np.nextafter(0, 1)))


def fractions(table: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(float(value)) for value in row] for row in table]


def squares(one: list[list[Fraction]], other: list[list[Fraction]]) -> list[Fraction]:
    """The squared distance of each token from its counterpart."""
    return [
        sum(((a - b) ** 2 for a, b in zip(*rows, strict=True)), Fraction(0)) for rows in zip(one, other, strict=True)
    ]


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
@pytest.mark.parametrize("scale", some(SCALES))
@pytest.mark.parametrize("name", CLOUDS)
def test_no_token_is_further_from_the_truth_than_the_error_says(name, scale, arithmetic):
    cloud = CLOUDS[name] * scale
    run = hm.simulate(cloud, HALF, layers=40, arithmetic=arithmetic)
    path = oracle.run(fractions(cloud), ALPHA, None, 40)
    off = max(max(squares(fractions(run.at(layer)), path[layer])) for layer in (0, 1, 2, 7, 40))
    assert off <= Fraction(run.error) ** 2
    # Nor is the error a worthless number: some units in the last place of the longest token.
    longest = max(squares(path[0], [[Fraction(0)] * 2] * len(cloud)))
    allowed = Fraction(2 if arithmetic == "exact" else 100, 2**53)
    assert (Fraction(run.error) - 2 * SMALLEST) ** 2 <= allowed**2 * longest


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", CLOUDS)
def test_distances_to_the_limit_are_those_of_exact_fractions(name, scale):
    cloud = CLOUDS[name] * scale
    lim = hm.limit(cloud, HALF, arithmetic="exact")
    path = oracle.run(fractions(cloud), ALPHA, None, 40)
    for layer in range(41):
        truth = max(squares(path[layer], lim.exact_points.tolist()))
        assert is_nearest_root(lim.distance_to_limit(layer), truth)


def is_nearest_root(length: float, square: Fraction) -> bool:
    """Whether the root of the square rounds to the length: it lies between the middles to the neighbouring floats."""
    below, above = (Fraction(float(np.nextafter(length, towards))) for towards in (0.0, np.inf))
    here = Fraction(length)
    return ((below + here) / 2) ** 2 <= square <= ((here + above) / 2) ** 2


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", CLOUDS)
def test_certified_distances_are_those_of_exact_fractions_up_to_the_error(name, scale):
    cloud = CLOUDS[name] * scale
    lim, exact = hm.limit(cloud, HALF), hm.limit(cloud, HALF, arithmetic="exact")
    for layer in (0, 1, 2, 5, 30, 200):
        assert abs(lim.distance_to_limit(layer) - exact.distance_to_limit(layer)) <= 2 * lim.bound
        assert exact.distance_to_limit(layer) > 0 or scale < 1e-200


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", CLOUDS)
def test_no_limit_is_further_from_the_points_than_the_bound_says(name, scale):
    cloud = CLOUDS[name] * scale
    for arithmetic in ("certified", "exact"):
        lim = hm.limit(cloud, HALF, arithmetic=arithmetic)
        truth = hm.limit(cloud, HALF, arithmetic="exact").exact_points.tolist()
        assert max(squares(fractions(lim.points), truth)) <= Fraction(lim.bound) ** 2
        assert lim.bound <= 1e-13 * np.abs(cloud).max()


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", CLOUDS)
def test_layers_to_a_distance_are_counted_alike_at_every_scale(name, scale):
    cloud = CLOUDS[name] * scale
    lim = hm.limit(cloud, HALF, arithmetic="exact")
    path = oracle.run(fractions(cloud), ALPHA, None, 60)
    apart = [max(squares(tokens, lim.exact_points.tolist())) for tokens in path]
    for share in ("3", "1/2", "1/100", "1/1000000"):
        eps = Fraction(share) * Fraction(scale)
        first = next(layer for layer in range(61) if all(square <= eps**2 for square in apart[layer:]))
        assert lim.layers_to(eps) == first
        if float(eps) > 1e-290:  # subnormal floats are not what they are written as
            assert abs(lim.layers_to(float(eps)) - first) <= 1


@pytest.mark.parametrize("scale", SCALES)
def test_where_a_run_has_not_settled_all_limits_stay_within_the_bound(scale):
    # 0 attends to both tokens, then follows the other one: it goes as far as the hull is wide.
    lim = hm.limit(np.array([[0.0], [1.0]]) * scale, HALF, at_most=0)
    assert lim.settled_at is None
    assert scale <= lim.bound <= 1.001 * scale
    corners = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]) * scale
    turning = hm.Dynamics(1, [[0, -1], [1, 0]])
    lim = hm.limit(corners, turning, at_most=4)
    later = oracle.run(fractions(corners), Fraction(1), [[0, -1], [1, 0]], 40)[-1]  # type: ignore[list-item]
    assert max(squares(fractions(lim.points), later)) <= Fraction(lim.bound) ** 2
    assert lim.bound <= scale


def test_the_bound_of_an_unsettled_run_counts_what_floats_do_not_show():
    # Four tokens chase one another around a place, too near for floats to tell them apart.
    step, third = Fraction(1, 10**25), Fraction(1, 3)
    turn = [[3, -4, 0], [4, 3, 0], [0, 0, 5]]
    upright = [[3, 0, -4], [0, 5, 0], [4, 0, 3]]
    corners = [[x * step, y * step, third] for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    cloud = [oracle.apply(rational(turn), oracle.apply(rational(upright), corner)) for corner in corners]
    look = matmul(turn, matmul(upright, matmul([[0, -1, 0], [1, 0, 0], [0, 0, 0]], matmul(flip(upright), flip(turn)))))
    lim = hm.limit(cloud, hm.Dynamics(1, look), at_most=5)
    assert lim.settled_at is None
    assert len(np.unique(lim.points, axis=0)) == 1
    later = oracle.run(cloud, Fraction(1), rational(look), 20)[-1]
    assert 0 < max(squares(fractions(lim.points), later)) <= Fraction(lim.bound) ** 2


def rational(matrix: list[list[int]]) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in matrix]


def matmul(one: list[list[int]], other: list[list[int]]) -> list[list[int]]:
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*other, strict=True)] for row in one
    ]


def flip(matrix: list[list[int]]) -> list[list[int]]:
    return [list(column) for column in zip(*matrix, strict=True)]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", CLOUDS)
def test_the_polytope_of_the_leaders_is_the_same_at_every_scale(name, scale):
    lim, unit = hm.limit(CLOUDS[name] * scale, HALF), hm.limit(CLOUDS[name], HALF)
    assert lim.distinct_leaders.tolist() == unit.distinct_leaders.tolist()
    assert lim.polytope.f_vector == unit.polytope.f_vector
    assert lim.polytope.contains(lim.points).all()
    ways = np.array([[3.0, 1.0], [-2.0, 5.0], [0.0, 0.1]])
    assert lim.polytope.distance(ways * scale) / scale == pytest.approx(unit.polytope.distance(ways), rel=1e-9)
    assert lim.polytope.contains(ways * scale).tolist() == unit.polytope.contains(ways).tolist()


@settings(max_examples=100)
@given(st.sampled_from(SCALES), st.sampled_from(list(CLOUDS)), st.integers(0, 10**12))
def test_a_distance_beyond_settling_is_a_power_of_the_share_that_is_kept(scale, name, layer):
    lim = hm.limit(CLOUDS[name] * scale, HALF, arithmetic="exact")
    settled = lim.settled_at
    assert settled is not None
    shrunk = Fraction(2, 3) ** min(layer, 5000)
    first = max(squares(lim.run.exact_at(settled).tolist(), lim.exact_points.tolist()))
    assert is_nearest_root(lim.distance_to_limit(settled + layer), first * shrunk**2)


@pytest.mark.parametrize("scale", ["1e-160", "1", "1e160"])
@pytest.mark.parametrize("seed", range(6))
def test_the_furthest_is_found_among_those_that_floats_cannot_rank(seed, scale):
    # Followers of (10, 0) on a circle around it, or a little outside: by less than their coordinates are rounded.
    rng, unit = np.random.default_rng(seed), Fraction(scale)
    cloud = [[10 * unit, Fraction(0)]]
    for slope, more in zip(rng.integers(-500, 500, 40).tolist(), rng.permutation(40).tolist(), strict=True):
        t, radius = Fraction(slope, 1000), 1 + Fraction(more, 10**20)
        cosine, sine = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
        cloud.append([unit * (10 - radius * cosine), unit * radius * sine])
    lim = hm.limit(cloud, HALF, arithmetic="exact")
    assert lim.leaders.tolist() == [0]
    assert lim._square_at_settling == (unit * (1 + Fraction(39, 10**20))) ** 2


def test_a_distance_beyond_the_largest_float_is_infinite():
    lim = hm.limit([[1.7e308, 1.7e308], [1.0, 1.0]], HALF)
    assert lim.distance_to_limit(0) == math.inf
    assert lim.distance_to_limit(2) < math.inf
    assert lim.bound < 1e300
