"""`check_theorem` on clouds that satisfy the theorem, on claims that are false, and published
traps."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from unittest.mock import patch

import numpy as np
import oracle
import pytest
from effort import examples
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from known import KNOWN
from oracle import apply, dot
from refusals import refuses
from strategies import any_metric_problems, identity, problems, scaled, subtracted

import hardmax as hm
from hardmax import theorem
from hardmax._limits.clusters import OtherLimit, Vertex, find_clusters
from hardmax._runs.walk import run_points
from hardmax.theorem import FAILS, HOLDS, SILENT, UNDECIDED

HALF, SLOW = hm.Dynamics("1/2"), hm.Dynamics("1/700")
TIES = hm.clouds.nonleader_clusters()
CLOUD = hm.clouds.gaussian(8, 2, seed=8)  # settles after more than 500 layers of alpha = 1/700
EXIST, LEAD, SIT, CONVERGE, BOUNDARY, PROJECT, SEPARATE = theorem.CLAIMS


@settings(max_examples=examples(300))
@given(st.one_of(problems(max_n=7, max_d=3), any_metric_problems(max_n=7, max_d=3)))
def test_no_statement_fails_and_those_of_the_theorem_are_silent_where_it_does_not_apply(problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), max_layers=40)
    with patch.object(theorem, "PATIENCE", 40):
        report = hm.check_theorem(lim)
    assert report, str(report)
    assert not theorem.theorem_reason(lim) or {one.verdict for one in report} == {SILENT}
    if lim.settled_at is not None:
        assert not claims(report, UNDECIDED)
        # What the report speaks of happens in the definition, too: the sets of the settled layer
        # stay.
        later = [sets for _, sets in oracle.walk(cloud, alpha, metric, lim.settled_at + 8)][
            lim.settled_at :
        ]
        assert all(sets == later[0] for sets in later)


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_no_statement_fails_on_a_known_cloud(known):
    lim = hm.limit(known.tokens, hm.Dynamics(known.alpha, known.metric))
    expected = SILENT if theorem.theorem_reason(lim) else HOLDS
    assert [one.verdict for one in hm.check_theorem(lim)] == [expected] * len(theorem.CLAIMS)


def claims(report: hm.results.TheoremReport, verdict: str) -> set[str]:
    return {one.claim for one in report if one.verdict == verdict}


@pytest.mark.parametrize("layers", [500, 20])
def test_a_claim_that_is_false_fails_even_if_the_cloud_has_not_settled(layers, monkeypatch):
    # A run in which everybody is said to lead: the check works on the cloud and not on the claim.
    def everybody_leads(*arguments):
        run = run_points(*arguments)
        run.leader_since[:] = 0
        return run

    monkeypatch.setattr(theorem, "PATIENCE", layers)
    monkeypatch.setattr(theorem, "run_points", everybody_leads)
    report = hm.check_theorem(hm.limit(CLOUD, SLOW, max_layers=20))
    assert not report
    assert {LEAD, SIT} <= claims(report, FAILS)
    assert claims(report, HOLDS)


def settled_at_once(*arguments):
    # The emerging leader and its followers still change at layer 1.
    return replace(run_points(*arguments), settled_at=0, layers=0)


def all_limits_are(kind):
    def changed(run):
        clusters = find_clusters(run)
        return replace(clusters, kinds=(kind,) * len(clusters))

    return changed


@pytest.mark.parametrize(
    ("name", "tokens", "wrong", "expected"),
    [
        ("theorem.run_points", hm.clouds.emerging_leader(), settled_at_once, {CONVERGE, BOUNDARY}),
        ("infinite_depth.find_clusters", TIES, all_limits_are(OtherLimit()), {PROJECT}),
        ("infinite_depth.find_clusters", TIES, all_limits_are(Vertex(0)), {SEPARATE}),
    ],
)
def test_what_is_said_of_limits_fails_if_it_is_false(name, tokens, wrong, expected, monkeypatch):
    lim = hm.limit(tokens, HALF)
    assert claims(hm.check_theorem(lim), HOLDS) == set(theorem.CLAIMS)
    monkeypatch.setattr(f"hardmax.{name}", wrong)
    report = hm.check_theorem(lim)
    assert not report
    assert expected <= claims(report, FAILS)


def determinant(rows):
    if not rows:
        return Fraction(1)
    first, *rest = rows
    minors = [[row[:k] + row[k + 1 :] for row in rest] for k in range(len(first))]
    return sum((-1) ** k * x * determinant(minors[k]) for k, x in enumerate(first))


@settings(max_examples=examples(300))
@given(st.one_of(problems(max_n=5, max_d=3), any_metric_problems(max_n=5, max_d=3)))
def test_the_theorem_is_about_distinct_nonzero_tokens_and_positive_definite_metrics(problem):
    cloud, metric, alpha = problem
    matrix = metric or identity(len(cloud[0]))
    minors = [determinant([row[:k] for row in matrix[:k]]) for k in range(1, len(matrix) + 1)]
    transposed = [list(column) for column in zip(*matrix, strict=True)]
    is_definite = matrix == transposed and min(minors) > 0
    are_distinct = len(set(map(tuple, cloud))) == len(cloud)
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), max_layers=1)
    applies = is_definite and are_distinct and all(map(any, cloud))
    assert (not theorem.theorem_reason(lim)) == applies


nonzero_problems = problems(max_n=7, max_d=3).filter(lambda problem: all(map(any, problem[0])))


@settings(max_examples=examples(300))
@given(nonzero_problems)
def test_leaders_are_the_vertices_and_limits_on_the_boundary_of_their_hull(problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), max_layers=40)
    assume(lim.settled_at is not None)
    limits = lim.exact_limit_points().tolist()
    vertices = [limits[leader] for leader in lim.distinct_leaders.tolist()]
    assert {*map(tuple, vertices)} == {tuple(limits[leader]) for leader in lim.leaders.tolist()}
    assert np.allclose(lim.polytope().vertices, np.array(vertices, dtype=float), atol=1e-12)
    # <A l, .> is largest at the leader l alone, so it is a vertex; and <A w, .> at the limit w.
    for vertex in vertices:
        scores = [dot(apply(metric, vertex), place) for place in vertices]
        furthest = [place for place, x in zip(vertices, scores, strict=True) if x == max(scores)]
        assert furthest == [vertex]
    for limit in limits:
        direction = apply(metric, limit)
        assert any(direction)
        assert dot(direction, limit) == max(dot(direction, place) for place in vertices)


@settings(max_examples=examples(300))
@given(nonzero_problems)
def test_every_token_comes_as_close_to_its_limit_as_you_like(problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), max_layers=40)
    assume(lim.settled_at is not None)
    limits = lim.exact_limit_points().tolist()
    layers = oracle.run(cloud, alpha, metric, lim.settled_at + 2)[-3:]
    ways = [[subtracted(z, w) for z, w in zip(layer, limits, strict=True)] for layer in layers]
    for now, next_layer in pairwise(ways):
        assert next_layer == [scaled(lim.run.dynamics.contraction, way) for way in now]
    assert np.allclose(lim.limit_points, np.array(limits, dtype=float), atol=1e-12)
    assert len(lim.clusters) == len(set(map(tuple, limits)))


@settings(max_examples=examples(300))
@example((hm.clouds.nonleader_clusters().tolist(), None, Fraction(1, 2)))
@given(nonzero_problems)
def test_a_limit_is_a_vertex_or_the_projection_of_the_origin_onto_a_face(problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), max_layers=40)
    assume(lim.settled_at is not None)
    limits, leaders = lim.exact_limit_points().tolist(), lim.distinct_leaders.tolist()
    for limit, kind in zip(limits, map(lim.clusters.kind_of, range(lim.n)), strict=True):
        if isinstance(kind, Vertex):
            face, weights = (kind.leader,), (Fraction(1),)
        else:
            face, weights = kind.vertices, kind.weights  # an OtherLimit has none
        # It is a mean of the face, to which A w is normal, and no other leader is on that face.
        parts = [scaled(share, limits[v]) for share, v in zip(weights, face, strict=True)]
        assert min(weights) >= 0
        assert sum(weights) == 1
        assert [sum(column) for column in zip(*parts, strict=True)] == limit
        heights = [dot(apply(metric, limit), subtracted(limits[v], limit)) for v in leaders]
        furthest = [v for v, height in zip(leaders, heights, strict=True) if height == 0]
        assert (max(heights), furthest) == (0, sorted(face))


def norm(metric, token):
    """At least the length of a token in the norm of the metric."""
    return (1 + dot(apply(metric, token), token)) / 2


@settings(max_examples=examples(300))
@given(problems(max_n=7, max_d=3), st.sampled_from(["1/2", "1", "2"]))
def test_a_hyperplane_through_a_token_near_a_vertex_has_the_other_limits_behind_it(problem, alpha):
    # Figure 5, in the norm of the metric, with a delta from the inequality of Cauchy and Schwarz:
    # <A x, y - x> <= <A s, t - s> + delta (2 |s| + |s - t|) + 2 delta² for x near s and y near t.
    cloud, metric, _ = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), max_layers=40)
    assume(lim.settled_at is not None)
    limits = lim.exact_limit_points().tolist()
    vertices = [limits[leader] for leader in lim.leaders.tolist()]
    deltas = [Fraction(1)]
    for s, t in [(s, t) for s, t in product(vertices, limits) if s != t]:
        lead = dot(apply(metric, s), subtracted(s, t))
        assert lead > 0
        deltas.append(lead / (3 + 2 * norm(metric, s) + norm(metric, subtracted(s, t))))
    trace = sum(row[axis] for axis, row in enumerate(metric)) if metric else len(cloud[0])
    # In the Euclidean norm: |u|_A² <= trace(A) |u|².
    layer = lim.layers_to(min(deltas) / (1 + trace))
    tokens = lim.run.at(layer, exact=True).tolist()
    for x, s in [(x, s) for x, s in zip(tokens, limits, strict=True) if s in vertices]:
        elsewhere = [(y, t) for y, t in zip(tokens, limits, strict=True) if t != s]
        heights = [dot(apply(metric, x), subtracted(y, x)) for both in elsewhere for y in both]
        assert max(heights, default=-1) < 0 <= dot(apply(metric, x), subtracted(s, x))


def test_a_cloud_that_settles_late_is_followed_to_where_it_settles():
    lim = hm.limit(CLOUD, SLOW)
    assert (lim.settled_at or 0) > theorem.PATIENCE
    assert {statement.verdict for statement in hm.check_theorem(lim)} == {HOLDS}


def test_no_more_layers_are_walked_in_integers_than_can_be_afforded():
    run = hm.simulate(
        np.random.default_rng(0).normal(size=(200, 3)), hm.Dynamics("1/999999999999"), layers=1
    )
    most, bits = theorem._patience(run), (10**12).bit_length()
    cost = [k * 200**2 * 3 * (k * bits // theorem.DIGIT) ** 2 for k in (most - 1, most)]
    assert cost[0] <= theorem.MOST_WORK < cost[1]


@pytest.mark.parametrize("limit", [("PATIENCE", 60), ("MOST_WORK", 10**6)])
def test_what_is_not_settled_within_what_can_be_afforded_is_undecided_and_does_not_fail(
    limit, monkeypatch
):
    monkeypatch.setattr(theorem, *limit)
    report = hm.check_theorem(hm.simulate(CLOUD, SLOW, layers=3))
    assert report
    assert claims(report, UNDECIDED) == set(theorem.CLAIMS) - {EXIST}
    assert all("not settled within" in one.detail for one in report if one.verdict == UNDECIDED)


@pytest.mark.parametrize("gap", ["1e-17", "1e-100"])
def test_leaders_closer_than_rounding_are_told_apart(gap):
    # Tokens of one length on both sides of a direction: each is furthest its own way, by very
    # little.
    step = Fraction(gap)
    cosine, sine = (1 - step**2) / (1 + step**2), 2 * step / (1 + step**2)
    cloud = [
        (cosine, sine),
        (cosine, -sine),
        (Fraction(-1), Fraction(0)),
        (cosine / 2, Fraction(0)),
    ]
    lim = hm.limit([[3 * x - 4 * y, 4 * x + 3 * y] for x, y in cloud], HALF)
    assert lim.distinct_leaders.tolist() == [0, 1, 2]
    assert {one.verdict for one in hm.check_theorem(lim)} == {HOLDS}


def test_a_leader_that_emerges_late_is_alone_where_it_stays_and_need_not_be_on_its_way():
    # At layer 1 token 0 still follows token 1, with leader 3 ahead of it; at layer 2 it leads.
    lim = hm.limit([["10", "0"], ["11", "3"], ["0", "45"], ["10.95", "-31"]], hm.Dynamics("1/10"))
    assert lim.run.leader_since.tolist() == [2, -1, 0, 0]
    first, _, _, third = lim.run.at(1)
    assert first @ third > first @ first
    assert claims(hm.check_theorem(lim), HOLDS) == set(theorem.CLAIMS)


@pytest.mark.parametrize("small", ["1e-160", "1e-300"])
def test_tokens_of_all_sizes_can_be_checked(small):
    for cloud in ([[small], ["1"]], [[small, "0"], ["1", "1"], ["-1e300", "2"]]):
        report = hm.check_theorem(hm.limit(cloud, hm.Dynamics(1)))
        assert all(one.verdict == HOLDS for one in report)


def test_a_cloud_too_large_for_integers_is_refused():
    with refuses("up to 2,000"):
        hm.check_theorem(hm.limit(hm.clouds.gaussian(2001, 2), HALF))


# Published traps (theory, section 6). The parameters change with the layer, so the definition is
# applied step by step.


def test_trap_steps_that_can_be_summed_stop_tokens_short_of_their_leader():
    tokens = np.array([[Fraction(1)], [Fraction(1, 2)]])
    for k in range(40):
        share = Fraction(1, 2 ** (k + 2))  # of the way in layer k; these add up to 1/2
        tokens = hm.step(tokens, hm.Dynamics(share / (1 - share)))
    assert tokens[0, 0] == 1
    assert tokens[1, 0] < Fraction(4, 5)


def test_trap_with_a_negative_metric_and_steps_2_over_k_plus_2_a_token_freezes_at_one_third():
    # These are the steps of Theorem 3.1 of arXiv 2508.09628 v1, as others transcribe it. The first
    # step, of length 1, swaps 3 and -1.
    tokens = np.array([[Fraction(-1)], [Fraction(3)]])
    for k in range(1, 60):
        share = Fraction(2, k + 2)
        tokens = hm.step(tokens, hm.Dynamics(share / (1 - share), [[-1]]))
        assert tokens[1, 0] == Fraction(1, 3)
    assert abs(tokens[0, 0] - Fraction(1, 3)) < Fraction(1, 400)


def test_trap_more_float_layers_are_not_more_converged():
    cloud = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0], ["3/10", "1/10"]]
    shallow, deep = (
        hm.simulate(cloud, hm.Dynamics(1), layers=k, arithmetic="float").at(k)[4] for k in (30, 400)
    )
    limit = hm.limit(cloud, hm.Dynamics(1)).limit_points[4]
    assert np.linalg.norm(shallow - limit) < 1e-8 < 0.9 < np.linalg.norm(deep - limit)
