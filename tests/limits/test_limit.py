"""The limit against sixty exact layers, its kinds against their definition, its certificate against the checker."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from known import KNOWN, Known
from strategies import Problem, any_metric_problems, clouds, spd_metrics

import hardmax as hm
from hardmax._clusters import FaceProjection, OtherLimit, Vertex

DEEP = 60
alphas = st.sampled_from([Fraction(text) for text in ("1", "1/2", "2", "1/3", "1/10", "10", "7/3")])


@st.composite
def limit_problems(draw) -> Problem:
    cloud = draw(clouds(max_d=4, max_n=8))
    return cloud, draw(spd_metrics(len(cloud[0]))), draw(alphas)


@settings(max_examples=examples(500))
@given(limit_problems())
def test_the_limit_is_where_sixty_exact_layers_lead_and_its_certificate_verifies(problem: Problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), arithmetic="exact")
    assert lim.settled_at is not None
    limits = lim.exact_points.tolist()
    path = oracle.run(cloud, alpha, metric, DEEP)
    start, end = path[lim.settled_at], path[DEEP]
    shrunk = lim.run.dynamics.contraction ** (DEEP - lim.settled_at)
    # From settling on every token goes straight, so layer 60 is known to the last digit.
    assert end == [mixed(w, z, shrunk) for w, z in zip(limits, start, strict=True)]
    size = max(abs(x) for token in cloud for x in token) or 1
    reach = max(abs(w - z) for ws, zs in zip(limits, start, strict=True) for w, z in zip(ws, zs, strict=True))
    off = max(abs(w - z) for ws, zs in zip(limits, end, strict=True) for w, z in zip(ws, zs, strict=True))
    assert off <= shrunk * reach + Fraction(size, 10**6)
    assert_kinds_are_right(lim, metric)
    assert hm.verify(lim.certificate), hm.verify(lim.certificate).reason


def oracle_at(cloud, alpha, metric, layer):
    *_, (last, _) = oracle.walk(cloud, alpha, metric, layer)
    return last


def mixed(w, z, share):
    return [a + share * (b - a) for a, b in zip(w, z, strict=True)]


def assert_kinds_are_right(lim: hm.Limit, metric) -> None:
    limits = lim.exact_points.tolist()
    places = {leader: limits[leader] for leader in lim.leaders.tolist()}
    for w, kind in zip(limits, lim.kind, strict=True):
        match kind:
            case Vertex(leader):
                assert places[leader] == w
            case FaceProjection(vertices, weights):
                assert w not in places.values()
                assert sum(weights) == 1
                assert min(weights) >= 0
                assert w == [
                    sum(p * x for p, x in zip(weights, column, strict=True)) for column in columns(places, vertices)
                ]
                # The hyperplane through w with normal A w: the face lies in it, all leaders on the side of the origin.
                look = oracle.apply(metric, w)
                level = oracle.dot(look, w)
                assert all(oracle.dot(look, places[v]) == level for v in vertices)
                assert all(oracle.dot(look, place) <= level for place in places.values())
            case OtherLimit():
                assert not lim.theorem_applies


def columns(places, vertices):
    return zip(*(places[v] for v in vertices), strict=True)


@settings(max_examples=examples(500))
@given(limit_problems())
def test_certified_and_exact_give_the_same_limit(problem: Problem):
    cloud, metric, alpha = problem
    dynamics = hm.Dynamics(alpha, metric)
    exact, certified = hm.limit(cloud, dynamics, arithmetic="exact"), hm.limit(cloud, dynamics)
    assert certified.certified
    assert certified.settled_at == exact.settled_at
    assert certified.clusters.labels.tolist() == exact.clusters.labels.tolist()
    assert certified.clusters.kinds == exact.clusters.kinds
    assert np.linalg.norm(certified.points - exact.points, axis=1).max() <= certified.bound + exact.bound
    assert certified.certificate == exact.certificate


@pytest.mark.parametrize("known", KNOWN, ids=str)
@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_known_clouds_end_where_they_should(known: Known, arithmetic: str):
    lim = hm.limit(known.tokens, hm.Dynamics(known.alpha, known.metric), arithmetic=arithmetic)
    assert np.allclose(lim.points, np.array(known.limits, dtype=float), rtol=0, atol=1e-14)
    assert tuple(lim.leaders) == known.leaders
    assert tuple(lim.leader_layers) == known.leader_layers
    assert hm.verify(lim.certificate)


@settings(max_examples=examples(300))
@given(any_metric_problems(max_d=3, max_n=7))
def test_nothing_is_claimed_where_the_theorem_does_not_apply_and_nothing_is_proved(problem: Problem):
    cloud, metric, alpha = problem
    dynamics = hm.Dynamics(alpha, metric)
    lim = hm.limit(cloud, dynamics, arithmetic="exact", at_most=40)
    if lim.settled_at is None:
        assert not lim.certified
        assert set(map(type, lim.clusters.kinds)) == {OtherLimit}
        with pytest.raises(hm.InputError, match="no proof"):
            _ = lim.certificate
        with pytest.raises(hm.InputError, match="not settled"):
            lim.layers_to(0.1)
        later = np.array(oracle_at(cloud, alpha, metric, 45), dtype=float)
        assert np.linalg.norm(later - lim.points, axis=1).max() <= lim.bound
    else:
        assert hm.verify(lim.certificate), hm.verify(lim.certificate).reason
        # From settling on every token goes straight to its limit: three layers later it is as near as it should be.
        settled, later = (oracle_at(cloud, alpha, metric, lim.settled_at + more) for more in (0, 3))
        shrunk = lim.run.dynamics.contraction**3
        assert later == [mixed(w, z, shrunk) for w, z in zip(lim.exact_points.tolist(), settled, strict=True)]


def test_tokens_that_chase_one_another_are_reported():
    corners = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    lim = hm.limit(corners, hm.Dynamics(1, [[0, -1], [1, 0]]), at_most=60)
    assert lim.settled_at is None
    assert not lim.theorem_applies
    assert lim.theorem_reason == "the metric is not symmetric positive definite"
    assert lim.cycle is not None
    assert (lim.cycle.period, lim.cycle.since, lim.cycle.chase) == (1, 0, (0, 1, 2, 3))
    assert lim.bound < 1e-6
    assert "repeat with period 1" in lim.stopped


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        ([[1, 0], [0, 0], [0, 1]], "token 1 is zero"),
        ([[1, 0], [0, 1], [1, 0]], "repeated"),
        ([[1, 0], [0, 1]], ""),
    ],
)
def test_it_says_when_the_theorem_does_not_apply(tokens, reason):
    lim = hm.limit(tokens, hm.Dynamics(1))
    assert reason in lim.theorem_reason
    assert lim.theorem_applies == (reason == "")


def test_a_zero_token_in_balance_stays_the_projection_of_the_origin_on_the_whole_polytope():
    lim = hm.limit([[1, 1], [1, -1], [-1, -1], [-1, 1], [0, 0]], hm.Dynamics(1))
    kind = lim.kind[4]
    assert isinstance(kind, FaceProjection)
    assert kind.vertices == (0, 1, 2, 3)
    assert lim.points[4].tolist() == [0, 0]


def test_the_distance_shrinks_by_the_same_factor_in_every_layer_after_settling():
    lim = hm.limit(hm.clouds.gaussian(60, 3, seed=4), hm.Dynamics("1/2"))
    settled = lim.settled_at
    at_settling = lim.distance_to_limit(settled)
    for more in (0, 1, 2, 10, 50):
        assert lim.distance_to_limit(settled + more) == pytest.approx(at_settling * (2 / 3) ** more)
        walked = np.linalg.norm(lim.run.at(settled + more) - lim.points, axis=1).max()
        assert walked == pytest.approx(lim.distance_to_limit(settled + more), abs=1e-14)


@pytest.mark.parametrize("eps", ["1/8", 0.1, 1e-6, "1e-300", 100])
def test_layers_to_is_the_first_layer_from_which_on_all_are_close(eps):
    for seed in range(5):
        lim = hm.limit(hm.clouds.gaussian(20, 2, seed=seed), hm.Dynamics("1/3"), arithmetic="exact")
        layer, near = lim.layers_to(eps), Fraction(str(eps))
        assert lim.distance_to_limit(layer) <= float(near) * (1 + 1e-12)
        assert layer == 0 or lim.distance_to_limit(layer - 1) > float(near) * (1 - 1e-12)


def test_an_exact_hit_counts():
    lim = hm.limit([[4], [2], [-4]], hm.Dynamics(1))
    assert [lim.distance_to_limit(k) for k in range(4)] == [2, 1, 0.5, 0.25]
    assert [lim.layers_to(eps) for eps in ("2", "1", "0.5", "0.25", "0.3")] == [0, 1, 2, 3, 3]


@settings(max_examples=examples(300))
@given(
    # Where logarithms of 50 digits say one layer too many: 4, 9, 1/2, 1/4, 1/1000; and where they do not.
    st.sampled_from(["4", "9", "1/2", "1/4", "1/1000", "1", "7/3", "1/10", "1/1000000"]),
    st.integers(1, 200),
    st.sampled_from([Fraction(1, 10**80), Fraction(-1, 10**80), Fraction(0)]),
)
def test_an_exact_hit_counts_whatever_alpha_is_and_a_miss_by_a_hair_does_not(alpha, layer, off):
    # The token 2 follows 4 and is at a distance of 2 keep^m at layer m.
    lim = hm.limit([[4], [2], [-4]], hm.Dynamics(alpha), arithmetic="exact")
    eps = 2 * lim.run.dynamics.contraction**layer
    assert lim.layers_to(eps * (1 + off)) == layer + (off < 0)


@settings(max_examples=examples(300))
@given(st.fractions(min_value=Fraction(1, 10**9), max_value=2), st.sampled_from(["4", "1/2", "1/1000", "10"]))
def test_layers_to_is_the_least_number_of_layers_that_is_enough(eps, alpha):
    lim = hm.limit([[4], [2], [-4]], hm.Dynamics(alpha), arithmetic="exact")
    layer, keep = lim.layers_to(eps), lim.run.dynamics.contraction
    assert 2 * keep**layer <= eps
    assert layer == 0 or 2 * keep ** (layer - 1) > eps


def test_a_distance_may_be_a_float_of_numpy_and_is_the_decimal_it_is_written_as():
    lim = hm.limit([[4], [2], [-4]], hm.Dynamics("9"))
    # The floats 2e-k are no powers of ten; what is written is.
    assert [lim.layers_to(eps) for eps in (0.2, 0.02, 2e-9)] == [1, 2, 9]
    assert [lim.layers_to(np.float64(eps)) for eps in (0.2, 0.02, 2e-9)] == [1, 2, 9]
    assert lim.layers_to(np.float32(0.25)) == lim.layers_to(0.25) == lim.layers_to("0.25") == 1
    assert lim.layers_to(np.int64(1)) == lim.layers_to(1) == 1
    for eps in map(np.float32, (0.1, 0.2, 0.3, 0.7)):
        # The token is as near as is written after one layer, no matter on which side of that the float32 is.
        alpha = 2 / Fraction(repr(float(eps))) - 1
        assert hm.limit([[4], [2], [-4]], hm.Dynamics(alpha)).layers_to(eps) == 1


def test_an_exact_hit_before_settling_counts():
    # 0 attends to both tokens, and settles one layer later.
    lim = hm.limit([[0], [1]], hm.Dynamics(1))
    assert lim.settled_at == 1
    assert [lim.layers_to(eps) for eps in ("2", "1", "0.999", "3/4", "0.7")] == [0, 0, 1, 1, 2]


def test_leaders_that_have_met_share_a_place():
    # Each looks away from itself: 1 and -1 meet in 0, where they attend to nobody but themselves.
    lim = hm.limit([[1], [-1]], hm.Dynamics(1, [[-1]]))
    assert lim.leaders.tolist() == [0, 1]
    assert lim.distinct_leaders.tolist() == [0]
    assert lim.clusters.labels.tolist() == [0, 0]
    assert lim.polytope.f_vector == (1,)


@pytest.mark.parametrize("layer", [2.5, -1, "3", True, None, np.float64(2)])
def test_the_layer_of_a_distance_is_a_whole_number(layer):
    lim = hm.limit([[4], [2], [-4]], hm.Dynamics(1))
    with pytest.raises(hm.InputError, match="`layer` must be a whole number from 0 up"):
        lim.distance_to_limit(layer)


def test_layers_to_a_distance_beyond_the_range_of_floats_costs_nothing():
    lim = hm.limit([[4.0], [2.0]], hm.Dynamics("1/1000000"))
    assert lim.layers_to("1e-300") > 6 * 10**8


def test_batches_are_lists_of_limits():
    stack = np.random.default_rng(0).standard_normal((5, 12, 2))
    lims = hm.limit(stack, hm.Dynamics(1))
    assert len(lims) == 5
    assert all(
        np.array_equal(lim.points, hm.limit(cloud, hm.Dynamics(1)).points)
        for lim, cloud in zip(lims, stack, strict=True)
    )


def test_the_polytope_is_the_hull_of_the_leaders():
    lim = hm.limit(hm.clouds.gaussian(200, 3, seed=1), hm.Dynamics("1/2"))
    assert lim.polytope.f_vector[0] == len(lim.leaders)
    assert lim.polytope.contains(lim.points, 1e-12).all()
    assert lim.polytope.distance(lim.points).max() < 1e-9


def _circle(count: int) -> np.ndarray:
    angles = np.random.default_rng(0).uniform(0, 2 * np.pi, count)
    return np.c_[np.cos(angles), np.sin(angles)]


@pytest.mark.parametrize(
    "cloud",
    [[[1, 1e-13], [1, -1e-13], [-1, 0]], [[1, 1], [1, -1], [1 + 1e-13, 0], [-2, 0]], _circle(20_000)],
    ids=["two close leaders", "one close to an edge", "many on a circle"],
)
def test_every_leader_is_a_vertex_however_close_and_facets_that_floats_do_not_find_are_refused(cloud):
    lim = hm.limit(cloud, hm.Dynamics(1))
    assert np.array_equal(lim.polytope.vertices, lim.points[lim.leaders])
    assert lim.polytope.dimension == 2
    assert repr(lim.polytope) == f"Polytope(dimension 2 in R^2, {len(lim.leaders)} vertices)"
    with pytest.raises(hm.InputError, match="vertices floats find"):
        _ = lim.polytope.facets


def test_a_tie_that_settles_under_a_matrix_without_a_norm_ends_elsewhere():
    cloud = [[1, 1], [1, -1], [-1, -1], [-1, 1], ["1/2", 0]]
    lim = hm.limit(cloud, hm.Dynamics("1/2", [[2, 1], [0, 1]]))
    assert lim.settled_at is not None
    assert not lim.theorem_applies
    assert lim.polytope.f_vector[0] == len(lim.distinct_leaders)
    assert hm.verify(lim.certificate)


def test_a_cloud_without_leaders_has_no_polytope():
    corners = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    lim = hm.limit(corners, hm.Dynamics(1, [[0, -1], [1, 0]]), at_most=5)
    with pytest.raises(hm.InputError, match="no leaders"):
        _ = lim.polytope


def test_floats_find_a_limit_but_prove_none():
    lim = hm.limit(hm.clouds.gaussian(30, 2), hm.Dynamics(1), arithmetic="float")
    assert lim.settled_at is not None
    assert not lim.certified
    with pytest.raises(hm.InputError, match="proves nothing"):
        _ = lim.certificate


@pytest.mark.parametrize("eps", [0, -1, "close", None])
def test_a_distance_must_be_positive(eps):
    with pytest.raises(hm.InputError, match="`eps`"):
        hm.limit([[1.0]], hm.Dynamics(1)).layers_to(eps)


def test_a_million_tokens_in_the_plane_and_ten_thousand_in_sixteen_dimensions():
    large = hm.limit(hm.clouds.gaussian(1_000_000, 2, seed=7), hm.Dynamics("1/2"))
    assert large.certified
    assert len(large.leaders) < 40
    assert large.clusters.sizes.sum() == 1_000_000
    wide = hm.limit(hm.clouds.gaussian(10_000, 16, seed=7), hm.Dynamics("1/2"))
    assert wide.certified
    assert len(wide.clusters) == len(wide.leaders)
