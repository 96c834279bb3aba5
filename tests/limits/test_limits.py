"""Limits against the layers of the oracle, kinds against their definition, certificates against the
checker; one or many."""

import json
import pickle
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import oracle
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from known import KNOWN, rational
from oracle import apply, dot
from refusals import refuses
from strategies import Problem, any_metric_problems, clouds, identity, spd_metrics, subtracted

import hardmax as hm
from hardmax._limits.clusters import FaceProjection, OtherLimit, Vertex
from hardmax.geometry import project_exact
from hardmax.theorem import theorem_reason

HALF = hm.Dynamics("1/2")
SQUARE = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
CORNERS = [[1, 0], [0, 1], [-1, 0], [0, -1]]
QUARTER_TURN = hm.Dynamics(1, [[0, -1], [1, 0]])
STEPS = [(1, 1), (1, 2), (2, 1), (1, 3), (1, 10), (10, 1), (7, 3)]
alphas = st.sampled_from([Fraction(*step) for step in STEPS])


@st.composite
def limit_problems(draw) -> Problem:
    cloud = draw(clouds(max_d=4, max_n=8))
    return cloud, draw(spd_metrics(len(cloud[0]))), draw(alphas)


def mixed(w, z, share):
    return [a + share * (b - a) for a, b in zip(w, z, strict=True)]


PAPER = (hm.clouds.nonleader_clusters().tolist(), None, Fraction(1, 2))


@settings(max_examples=examples(500))
@example(PAPER)
@given(limit_problems())
def test_limits_are_where_exact_layers_lead_of_the_kinds_of_the_theorem_and_proved(problem):
    cloud, metric, alpha = problem
    dynamics = hm.Dynamics(alpha, metric)
    lim, certified = hm.limit(cloud, dynamics, arithmetic="exact"), hm.limit(cloud, dynamics)
    assert lim.settled_at is not None
    limits, layers = lim.exact_limit_points().tolist(), lim.settled_at + 8
    path = oracle.run(cloud, alpha, metric, layers)
    shrunk = dynamics.contraction**8
    # From settling on every token goes straight, so all later layers are known to the last digit.
    pairs = zip(limits, path[lim.settled_at], strict=True)
    assert path[layers] == [mixed(w, z, shrunk) for w, z in pairs]
    assert len(lim.clusters) == len(set(map(tuple, limits)))
    assert_kinds_are_right(lim, metric)
    assert certified.certified
    assert certified.clusters.labels.tolist() == lim.clusters.labels.tolist()
    assert certified.clusters.kinds == lim.clusters.kinds
    gaps = np.linalg.norm(certified.limit_points - lim.limit_points, axis=1)
    assert gaps.max() <= certified.limit_error + lim.limit_error
    assert certified.prove() == lim.prove()
    assert hm.verify(lim), hm.verify(lim).reason


def assert_kinds_are_right(lim: hm.Limit, metric) -> None:
    """Each leader is a vertex; each limit lies on the boundary of their hull, at a leader or at the
    projection of the origin onto a face."""
    limits = lim.exact_limit_points().tolist()
    places = {leader: limits[leader] for leader in lim.leaders.tolist()}
    if not theorem_reason(lim):
        for place in places.values():
            heights = [dot(apply(metric, place), other) for other in places.values()]
            highest = [other for other, x in zip(places, heights, strict=True) if x == max(heights)]
            assert [places[other] for other in highest] == [place]
    kinds = map(lim.clusters.kind_of, range(lim.n))
    for w, kind in zip(limits, kinds, strict=True):
        look = apply(metric, w)
        heights = {v: dot(look, place) for v, place in places.items()}
        match kind:
            case Vertex(leader):
                assert places[leader] == w
            case FaceProjection(vertices, weights):
                assert w not in places.values()
                assert sum(weights) == 1
                assert min(weights) >= 0
                columns = zip(*(places[v] for v in vertices), strict=True)
                assert w == [dot(list(weights), list(column)) for column in columns]
                # The hyperplane through w with normal A w: the face lies in it, all leaders on the
                # side of the origin.
                highest = {heights[v] for v in vertices} | {dot(look, w)}
                assert highest == {max(heights.values())}
            case OtherLimit():
                assert theorem_reason(lim)


def norm(metric, token):
    """At least the length of a token in the norm of the metric."""
    return (1 + dot(apply(metric, token), token)) / 2


@given(limit_problems())
def test_a_hyperplane_through_a_token_near_a_vertex_has_the_other_limits_behind_it(problem):
    # Figure 5, in the norm of the metric, with a delta from the inequality of Cauchy and Schwarz:
    # <A x, y - x> <= <A s, t - s> + delta (2 |s| + |s - t|) + 2 delta² for x near s and y near t.
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric))
    limits = lim.exact_limit_points().tolist()
    vertices = [limits[leader] for leader in lim.leaders.tolist()]
    deltas = [Fraction(1)]
    for s, t in product(vertices, limits):
        if s == t:
            continue
        way = subtracted(s, t)
        lead = dot(apply(metric, s), way)
        assert lead > 0
        deltas.append(lead / (3 + 2 * norm(metric, s) + norm(metric, way)))
    matrix = metric or identity(len(cloud[0]))
    trace = sum(row[axis] for axis, row in enumerate(matrix))
    # In the Euclidean norm: |u|_A² <= trace(A) |u|².
    layer = lim.layers_to(min(deltas) / (1 + trace))
    tokens = lim.run.at(layer, exact=True).tolist()
    pairs = [*zip(tokens, limits, strict=True)]
    for x, s in pairs:
        if s not in vertices:
            continue
        look = apply(metric, x)
        elsewhere = [place for y, t in pairs if t != s for place in (y, t)]
        heights = [dot(look, subtracted(place, x)) for place in elsewhere]
        assert max(heights, default=-1) < 0 <= dot(look, subtracted(s, x))


@pytest.mark.parametrize("known", KNOWN, ids=str)
@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_known_clouds_end_where_they_should(known, arithmetic):
    dynamics = hm.Dynamics(known.alpha, known.metric)
    lim = hm.limit(known.tokens, dynamics, arithmetic=arithmetic)
    expected = np.array(known.limits, dtype=float)
    assert np.allclose(lim.limit_points, expected, rtol=0, atol=1e-14)
    assert tuple(lim.leaders) == known.leaders
    assert tuple(lim.run.leader_layers) == known.leader_layers
    assert hm.verify(lim.prove())


@settings(max_examples=examples(300))
@given(any_metric_problems(max_d=3, max_n=7))
def test_nothing_is_claimed_where_the_theorem_does_not_apply_and_nothing_is_proved(problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), arithmetic="exact", max_layers=40)
    if lim.settled_at is None:
        assert not lim.certified
        assert set(map(type, lim.clusters.kinds)) == {OtherLimit}
        with refuses("no proof"):
            _ = lim.prove()
        with refuses("not settled"):
            lim.layers_to(0.1)
        later = np.array(oracle.run(cloud, alpha, metric, 45)[-1], dtype=float)
        off = np.linalg.norm(later - lim.limit_points, axis=1)
        assert off.max() <= lim.limit_error
    else:
        assert hm.verify(lim), hm.verify(lim).reason
        path = oracle.run(cloud, alpha, metric, lim.settled_at + 3)
        pairs = zip(lim.exact_limit_points().tolist(), path[lim.settled_at], strict=True)
        left = lim.run.dynamics.contraction**3
        assert path[-1] == [mixed(w, z, left) for w, z in pairs]


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_clusters_are_numbered_by_their_first_token_wherever_its_leader_is(arithmetic):
    cloud = [[1.0], [-2.0], [0.5], [-1.0], [3.0]]
    lim = hm.limit(cloud, hm.Dynamics(1), arithmetic=arithmetic)
    assert lim.leaders.tolist() == [1, 4]
    assert lim.clusters.labels.tolist() == [0, 1, 0, 1, 0]
    assert lim.clusters.limit_points.tolist() == [[3.0], [-2.0]]
    assert len({lim.clusters, lim.clusters}) == 1  # compared by identity, not array by array


def test_leaders_that_have_met_share_a_place():
    # Each looks away from itself: 1 and -1 meet in 0, where they attend to nobody but themselves.
    lim = hm.limit([[1], [-1]], hm.Dynamics(1, [[-1]]))
    assert lim.leaders.tolist() == [0, 1]
    assert lim.distinct_leaders.tolist() == [0]
    assert lim.clusters.labels.tolist() == [0, 0]
    assert lim.polytope().dimension == 0


def test_the_polytope_is_the_hull_of_the_leaders():
    lim = hm.limit(hm.clouds.gaussian(200, 3, seed=1), HALF)
    assert len(lim.polytope().vertices) == len(lim.leaders)
    for point in lim.clusters.limit_points:  # within it
        nearest, _ = project_exact(lim.polytope().vertices, target=point)
        found = np.array(nearest, dtype=float)
        np.testing.assert_allclose(found, point, atol=1e-12)
    with refuses("no leaders"):
        _ = hm.limit(CORNERS, QUARTER_TURN, max_layers=5).polytope()


def test_every_leader_is_a_vertex_however_close_and_facets_that_floats_do_not_find_are_refused():
    lim = hm.limit([[1, 1e-13], [1, -1e-13], [-1, 0]], hm.Dynamics(1))
    assert np.array_equal(lim.polytope().vertices, lim.limit_points[lim.leaders])
    with refuses("vertices floats find"):
        _ = lim.polytope().facets


# One token ties leaders, until another overtakes them: after 1.335 / alpha layers.
OVERTAKEN = rational("0 -2 2, -4 4 -4, -1 4 1, -3 4 -3, 0 -3 2, -4 1 1, -1 1 2")


@pytest.mark.parametrize("alpha", ["1e-6", "1e-14", "1e-17"])
def test_a_cloud_whose_exact_numbers_would_fill_memory_is_decided_without_writing_them_down(alpha):
    lim = hm.limit(OVERTAKEN, hm.Dynamics(alpha))
    assert lim.settled_at is not None
    assert abs(lim.settled_at * float(alpha) - 1.335) < 1e-3
    assert len(lim.leaders) == 4
    same = hm.limit(OVERTAKEN, hm.Dynamics("1/1000"))
    assert (lim.limit_points == same.limit_points).all()
    assert lim.layers_to(1e-9) > lim.settled_at


def _batch() -> np.ndarray:
    batch = np.random.default_rng(3).normal(size=(40, 12, 2))
    batch[::3, 5] = batch[::3, 4]  # some tokens come twice
    batch[7, :5] = SQUARE  # has a tie
    return batch


def test_limits_of_many_clouds_are_those_of_each():
    limits: Any = hm.limits(_batch(), HALF)
    for number, cloud in enumerate(_batch()):
        alone = hm.limit(cloud, HALF)
        assert repr(limits[number]) == repr(alone)
        assert limits.settled_at[number] == alone.settled_at
        assert np.array_equal(limits.limit_points[number], alone.limit_points)
        assert limits.clusters[number].kinds == alone.clusters.kinds
    assert repr(limits) == "Limits(40 clouds, 40 settled)"


def test_limits_have_the_attributes_of_a_limit():
    alone, several = hm.limit(SQUARE, HALF), hm.limits([SQUARE, SQUARE[:4]], HALF)
    names = {*dir(alone)} & {*dir(several)} - {"d"}
    assert {"n", "settled_at", "certified", "leaders", "limit_points", "clusters"} <= names
    for name in names:
        one, many = getattr(alone, name), getattr(several, name)
        if not name.startswith("_") and not callable(one):
            assert len(many) == 2
            assert str(many[0]) == str(one)


# It settles at layer 51.
LATE = rational(
    "2 -1 -1, 0 2 0, 0 -2 2, -1 0 -1, -2 -2 1, 0 -1 0, -1 -2 -1, 1 1 1, -2 2 -1, 0 0 0, .5 .5 .5"
)
TURNED = [[0, 0, -1], [0, -1, 0], [1, 0, 0]]
# Settled at layer 0, which floats know some layers later: a tied token is never overtaken.
TIED = rational("10 10 0 0, 10 -10 0 0, 0 0 0 50, 15 0 -9 10, 1 0 1 0")


@settings(max_examples=examples(200))
@example((LATE, TURNED, Fraction(1, 10)), 50)
@example((LATE, TURNED, Fraction(1, 10)), 51)
@example((TIED, None, Fraction(1, 100)), 3)
@given(any_metric_problems(max_d=3, max_n=7), st.integers(0, 12))
def test_the_last_layer_is_one_whoever_looks(problem, last):
    cloud, metric, alpha = problem
    dynamics = hm.Dynamics(alpha, metric)
    exact = hm.limit(cloud, dynamics, arithmetic="exact", max_layers=last)
    others = [hm.limit(cloud, dynamics, max_layers=last)]
    others += hm.limits([cloud, cloud], dynamics, max_layers=last)
    for other in others:
        assert (other.settled_at, other.stop_reason) == (exact.settled_at, exact.stop_reason)
    if exact.settled_at is None:
        assert exact.run.layers == last
    else:
        assert exact.settled_at <= last


def test_where_a_cloud_has_not_settled_limit_points_are_its_last_layer():
    slow = np.random.default_rng(3).standard_normal((2, 200, 3))
    found = hm.limits(slow, hm.Dynamics("1/10"), max_layers=0)
    assert found.settled_at == [None, None]
    assert np.array_equal(found.limit_points, slow)


@pytest.mark.parametrize("tokens", [[SQUARE], np.ones((2, 1, 1))])
def test_many_clouds_are_asked_for_apart(tokens):
    with refuses("`limits` takes many"):
        hm.limit(tokens, HALF)


@pytest.mark.parametrize("tokens", [SQUARE, [1]])
def test_one_cloud_is_asked_for_apart(tokens):
    with refuses("`limit` takes one"):
        hm.limits(tokens, HALF)


def test_properties_do_not_raise():
    lim = hm.limit(CORNERS, QUARTER_TURN, max_layers=5)
    for name in dir(type(lim)):
        assert hasattr(lim, name)


def test_a_limit_of_a_batch_can_be_pickled_without_the_batch():
    clouds: list[np.ndarray] = list(np.random.default_rng(0).normal(size=(1000, 20, 2)))
    lim = hm.limits(clouds, HALF)[3]
    data = pickle.dumps(lim)
    assert len(data) < 50_000
    assert np.array_equal(pickle.loads(data).limit_points, lim.limit_points)


def test_a_limit_is_a_table():
    lim = hm.limit(SQUARE, HALF)
    table = lim.to_pandas()
    assert list(table.columns) == ["token", "z0", "z1", "cluster", "kind", "leader_since"]
    assert np.array_equal(table[["z0", "z1"]].to_numpy(), lim.limit_points)
    assert table.kind.tolist() == [*(f"vertex {i}" for i in range(4)), "face 0, 1"]
    leaders = table[table.leader_since.notna()]
    assert leaders.token.tolist() == lim.leaders.tolist()
    assert leaders.leader_since.tolist() == lim.run.leader_layers.tolist()


def test_a_certificate_is_checked_as_data_as_a_file_and_as_a_limit(tmp_path):
    lim, path = hm.limit(SQUARE, HALF), tmp_path / "proof.json"
    lim.prove().save(path)
    for one in (lim, path, str(path), lim.prove()):
        assert hm.verify(one)
    assert hm.verify(path) == hm.verify(lim)
    path.write_text(json.dumps(lim.prove() | {"settled_at": 7}))
    assert hm.verify(path).decided
    assert not hm.verify(path)
    with refuses(r"expected .json"):
        lim.prove().save(tmp_path / "proof.npz")


@pytest.mark.parametrize("certificate", [None, [{}], b"{}", "nowhere.json", "data.json"])
def test_what_is_no_certificate_is_an_error_and_not_refused(certificate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.json").write_text("[1, 2]")
    with refuses():
        hm.verify(certificate)


def test_why_a_run_ended_is_said_in_words():
    late = [[2 - 2.0**-14, 2], [2 - 2.0**-14, -2], [2, 1], [2, -1], [0.5, 0]]
    settled = hm.limit(hm.clouds.square(), HALF)
    unsettled = hm.limit(late, HALF, max_layers=0)
    assert settled.stop_reason == "settled at layer 0: no attended set ever changes again"
    assert unsettled.stop_reason == "gave up at layer 0: not settled yet"
    pushed = hm.Dynamics(1, [[0, 0], [0, 1]], value=[[0, 1], [0, 0]])
    with pytest.warns(UserWarning, match="the theorem does not apply"):
        moving = hm.limit([[0, 2], [0, 1], [0, 0.5]], pushed)
    assert moving.stop_reason == f"{settled.stop_reason}; 2 tokens move for ever"
