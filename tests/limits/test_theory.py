"""A test named after each statement of the theory, and one for each published trap that applies to hardmax."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracle
import pytest
from effort import examples
from hypothesis import given, settings
from known import KNOWN, Known
from strategies import Problem, any_metric_problems, clouds, problems

import hardmax as hm
from hardmax import theorem
from hardmax.theorem import FAILS, HOLDS, SILENT, UNDECIDED

HALF = hm.Dynamics("1/2")


def layers(problem: Problem, depth: int = 3):
    cloud, metric, alpha = problem
    return list(oracle.walk(cloud, alpha, metric, depth))


def is_corner(cloud, i) -> bool:
    """Whether point i is outside the hull of the other places: exact, by trying all directions that matter."""
    others = [z for z in cloud if z != cloud[i]]
    looks = [[b[1] - a[1], a[0] - b[0]] for a in cloud for b in cloud if a != b]
    looks += [[-x, -y] for x, y in looks] + [[x - u, y - v] for x, y in [cloud[i]] for u, v in others]
    # A corner is strictly furthest along some direction strictly between two neighbouring normals: sums of pairs.
    looks += [[a[0] + b[0], a[1] + b[1]] for a in looks for b in looks]
    return not others or any(oracle.dot(look, cloud[i]) > max(oracle.dot(look, z) for z in others) for look in looks)


@settings(max_examples=examples(60))
@given(clouds(min_d=2, max_d=2, max_n=6))
def test_fact_1_only_hull_vertices_win(cloud):
    for token, attended in zip(cloud, oracle.attended_sets(cloud), strict=True):
        assert not any(token) or any(is_corner(cloud, j) for j in attended)


@settings(max_examples=examples(150))
@given(any_metric_problems(max_n=8))
def test_fact_2_the_hull_shrinks_for_any_metric(problem: Problem):
    path = layers(problem)
    directions = [token for cloud, _ in path for token in cloud]
    for (before, _), (after, _) in pairwise(path):
        for look in directions:
            assert max(oracle.dot(look, z) for z in after) <= max(oracle.dot(look, z) for z in before)


@settings(max_examples=examples(150))
@given(any_metric_problems(max_n=8))
def test_fact_3_leaders_are_permanent_for_any_metric(problem: Problem):
    path = layers(problem)
    for (before, sets), (after, later) in pairwise(path):
        for i, attended in enumerate(sets):
            if all(before[j] == before[i] for j in attended):
                assert after[i] == before[i]
                assert all(after[j] == after[i] for j in later[i])


@settings(max_examples=examples(150))
@given(problems(max_n=8))
def test_fact_4_norms_grow_and_the_attention_graph_has_no_cycles_but_ties(problem: Problem):
    _, metric, _ = problem
    for cloud, sets in layers(problem):
        norm = [oracle.dot(oracle.apply(metric, z), z) for z in cloud]
        for i, attended in enumerate(sets):
            assert all(norm[j] > norm[i] or cloud[j] == cloud[i] for j in attended)


@settings(max_examples=examples(150))
@given(any_metric_problems(max_n=8))
def test_fact_5_once_all_follow_leaders_nothing_changes_for_any_metric(problem: Problem):
    _, _, alpha = problem
    path = layers(problem, 6)
    keep = 1 / (1 + alpha)
    for k, (here, sets) in enumerate(path):
        if all(len(attended) == 1 for attended in sets) and all(sets[j] == {j} for (j,) in sets):
            for m, (there, later) in enumerate(path[k:]):
                assert later == sets
                for i, (leader,) in enumerate(sets):
                    wish = [a + keep**m * (z - a) for a, z in zip(here[leader], here[i], strict=True)]
                    assert there[i] == wish
            return


@settings(max_examples=examples(150))
@given(problems(max_n=8, max_d=3))
def test_fact_6_ties_that_settle_keep_their_sets_for_ever(problem: Problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), arithmetic="exact")
    assert lim.settled_at is not None
    later = [sets for _, sets in oracle.walk(cloud, alpha, metric, lim.settled_at + 8)][lim.settled_at :]
    assert all(sets == later[0] for sets in later)


def test_fact_7_few_tokens_are_attended_to_in_low_dimension():
    attended = {
        d: len(np.unique(hm.simulate(hm.clouds.gaussian(4000, d), HALF, layers=0).phases[0].choices.indices))
        for d in (2, 3, 5, 8, 16)
    }
    assert attended[2] < attended[3] < attended[5] < attended[8] < attended[16]
    assert attended[2] < 30
    assert attended[16] > 1500


def test_repeated_tokens_stay_equal_and_count_with_multiplicity():
    lim = hm.limit([[1, 1], [1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]], hm.Dynamics(1))
    assert lim.points[0].tolist() == lim.points[1].tolist()
    assert lim.points[5].tolist() == [1, 1]


def test_the_zero_token_attends_to_everybody():
    sets = hm.attended([[1, 2], [0, 0], [-3, 1]], hm.Dynamics(1))
    assert sets[1].tolist() == [0, 1, 2]


@settings(max_examples=examples(200))
@given(problems(max_n=7, max_d=3))
def test_theorem_1_1_holds_wherever_it_applies(problem: Problem):
    cloud, metric, alpha = problem
    report = hm.check_theorem(hm.limit(cloud, hm.Dynamics(alpha, metric)))
    assert report, str(report)
    applies = hm.limit(cloud, hm.Dynamics(alpha, metric)).theorem_applies
    assert all((statement.verdict == SILENT) <= (not applies) for statement in report)


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_no_statement_fails_on_a_known_cloud(known: Known):
    report = hm.check_theorem(hm.limit(known.tokens, hm.Dynamics(known.alpha, known.metric)))
    assert report
    assert len(report) == 11


def test_a_statement_that_is_false_is_told(monkeypatch):
    # A run that claims a leader which is none: the check works on the cloud and not on the claim.
    lim = hm.limit(hm.clouds.emerging_leader(), HALF)
    exact = theorem._exact_limit(lim.run, theorem.PATIENCE)
    exact.run.leader_since[3] = 0
    monkeypatch.setattr(theorem, "_exact_limit", lambda run, at_most: exact)
    report = hm.check_theorem(lim)
    assert not report
    failed = {statement.claim for statement in report if statement.verdict == FAILS}
    assert "once a leader, always a leader" in failed
    assert any(statement.verdict == HOLDS for statement in report)


SLOW = hm.Dynamics("1/700")
FOR_ALL_LAYERS = {
    "each leader is a vertex of K, the hull of the leaders",
    "each leader sits on its vertex after finitely many layers",
    "every token converges to one of finitely many points",
    "these points lie on the boundary of K",
    "a limit that is no vertex is the projection of 0 onto a face",
    "from the settled layer on, no attended set changes",
}


def test_a_cloud_that_settles_late_is_walked_to_where_it_settles():
    lim = hm.limit(hm.clouds.gaussian(8, 2, seed=8), SLOW)
    assert lim.settled_at > theorem.PATIENCE
    report = hm.check_theorem(lim)
    assert {statement.verdict for statement in report} == {HOLDS}
    assert not report.undecided


@pytest.mark.parametrize("walked", ["run", "limit"])
def test_what_a_cloud_has_not_settled_is_undecided_and_does_not_fail(walked, monkeypatch):
    monkeypatch.setattr(theorem, "PATIENCE", 60)
    cloud = hm.clouds.gaussian(8, 2, seed=8)
    result = hm.simulate(cloud, SLOW, layers=3) if walked == "run" else hm.limit(cloud, SLOW, at_most=20)
    report = hm.check_theorem(result)
    assert report
    assert report.undecided
    assert {one.claim for one in report if one.verdict == UNDECIDED} == FOR_ALL_LAYERS
    assert {one.verdict for one in report} == {HOLDS, UNDECIDED}
    assert all(
        one.margin is None and "not settled within 60 layers" in one.detail
        for one in report
        if one.verdict == UNDECIDED
    )


def test_what_is_seen_to_fail_fails_even_if_the_cloud_has_not_settled(monkeypatch):
    lim = hm.limit(hm.clouds.gaussian(8, 2, seed=8), SLOW, at_most=20)
    exact = theorem._exact_limit(lim.run, 20)
    exact.run.leader_since[:] = 0  # as if everybody led
    monkeypatch.setattr(theorem, "_exact_limit", lambda run, at_most: exact)
    failed = {one.claim for one in hm.check_theorem(lim) if one.verdict == FAILS}
    assert {"each leader is a vertex of K, the hull of the leaders", "once a leader, always a leader"} <= failed


@pytest.mark.parametrize("gap", ["1e-17", "1e-100"])
def test_leaders_closer_than_rounding_are_told_apart(gap):
    # Tokens of one length on both sides of a direction: each is furthest its own way, by very little.
    step = Fraction(gap)
    cosine, sine = (1 - step**2) / (1 + step**2), 2 * step / (1 + step**2)
    cloud = [(cosine, sine), (cosine, -sine), (Fraction(-1), Fraction(0)), (cosine / 2, Fraction(0))]
    turned = [[3 * x - 4 * y, 4 * x + 3 * y] for x, y in cloud]
    lim = hm.limit(turned, hm.Dynamics("1/2"))
    assert lim.distinct_leaders.tolist() == [0, 1, 2]
    assert len(np.unique(lim.points[:3], axis=0)) < 3
    report = hm.check_theorem(lim)
    assert {one.verdict for one in report} == {HOLDS}
    assert "3 leaders" in report.statements[0].detail


@pytest.mark.parametrize("small", ["1e-160", "1e-300"])
def test_tokens_of_all_sizes_can_be_checked(small):
    for cloud in ([[small], ["1"]], [[small, "0"], ["1", "1"], ["-1e300", "2"]]):
        report = hm.check_theorem(hm.limit(cloud, hm.Dynamics(1)))
        assert {one.verdict for one in report} == {HOLDS}
        assert all(one.margin is not None for one in report)


def test_a_margin_too_large_for_a_float_is_the_largest_one():
    assert theorem._quotient(10**400, 1) == np.finfo(np.float64).max
    assert theorem._quotient(3, 2) == 1.5


def test_a_cloud_too_large_for_integers_is_refused():
    with pytest.raises(hm.InputError, match="up to 2,000"):
        hm.check_theorem(hm.limit(hm.clouds.gaussian(2001, 2), HALF))


# Published traps (theory, section 6). The parameters change with the layer, so the definition is applied step by step.


def test_trap_steps_that_can_be_summed_stop_tokens_short_of_their_leader():
    tokens = np.array([[Fraction(1)], [Fraction(1, 2)]])
    for k in range(40):
        share = Fraction(1, 2 ** (k + 2))  # of the way in layer k; these add up to 1/2
        tokens = hm.step(tokens, hm.Dynamics(share / (1 - share)))
    assert tokens[0, 0] == 1
    assert tokens[1, 0] < Fraction(4, 5)


def test_trap_with_a_negative_metric_and_steps_2_over_k_plus_2_a_token_freezes_at_one_third():
    # arXiv 2508.09628 v1, Theorem 3.1 claims convergence to another point. The first step, of length 1, swaps 3 and -1.
    tokens = np.array([[Fraction(-1)], [Fraction(3)]])
    for k in range(1, 60):
        share = Fraction(2, k + 2)
        tokens = hm.step(tokens, hm.Dynamics(share / (1 - share), [[-1]]))
        assert tokens[1, 0] == Fraction(1, 3)
    assert abs(tokens[0, 0] - Fraction(1, 3)) < Fraction(1, 400)


def test_trap_more_float_layers_are_not_more_converged():
    cloud = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0], ["3/10", "1/10"]]
    shallow, deep = (hm.simulate(cloud, hm.Dynamics(1), layers=k, arithmetic="float").at(k)[4] for k in (30, 400))
    limit = hm.limit(cloud, hm.Dynamics(1)).points[4]
    assert np.linalg.norm(shallow - limit) < 1e-8 < 0.9 < np.linalg.norm(deep - limit)


def evidence_of(cloud, dynamics: hm.Dynamics, *false: list[list[int]]) -> theorem.Evidence:
    """What is known of a cloud, or would be if its layers were these."""
    evidence = theorem.Evidence(theorem._exact_limit(hm.limit(cloud, dynamics).run, 50))
    if false:
        evidence.clouds = [theorem.IntegerCloud(rows, 1) for rows in false]
    return evidence


FALSE = {
    "a token that is as long elsewhere": ([[1, 0], [-2, -1], [3, 3]], [[0, 1], [-2, -1], [3, 3]]),
    "a token that is shorter": ([[2, 0], [-2, -1], [3, 3]], [[1, 0], [-2, -1], [3, 3]]),
}


@pytest.mark.parametrize("layers", FALSE.values(), ids=FALSE)
def test_a_token_that_moves_without_growing_is_told(layers):
    seen = theorem._norms_grow(evidence_of([[1, 0], [-2, -1], [3, 3]], HALF, *layers))
    assert (seen.verdict, seen.detail) == (FAILS, "point 0 moved without growing")


def test_a_token_further_out_than_any_before_is_told():
    layers = [[1, 0], [-2, -1], [3, 3]], [[4, 0], [-2, -1], [3, 3]]
    assert theorem._hull_shrinks(evidence_of([[1, 0], [-2, -1], [3, 3]], HALF, *layers)).verdict == FAILS


@pytest.mark.parametrize("metric", [None, [[2, 1], [1, 3]]])
def test_margins_are_the_smallest_growth_of_a_norm_and_the_smallest_retreat_of_the_hull(metric):
    cloud = [[Fraction(x, 3) for x in row] for row in ([3, 1], [-6, 2], [1, 1], [2, -5], [-1, -1])]
    evidence = evidence_of(cloud, hm.Dynamics("1/2", metric))
    path = [path for path, _ in oracle.walk(cloud, Fraction(1, 2), metric, max(evidence.layers))]
    path = [path[layer] for layer in evidence.layers]

    def looks(tokens):
        return [oracle.apply(metric, z) for z in tokens]

    growth, retreats = [], []
    for before, after in pairwise(path):
        norms = [[oracle.dot(y, z) for y, z in zip(looks(some), some, strict=True)] for some in (before, after)]
        growth += [(new - old) / old for old, new in zip(*norms, strict=True) if new != old]
        reach = [[max(oracle.dot(y, z) for z in some) for y in looks(before)] for some in (before, after)]
        longest = max(map(abs, reach[0]))
        retreats += [(old - new) / longest for old, new in zip(*reach, strict=True)]
    assert theorem._norms_grow(evidence).margin == pytest.approx(float(min(growth)))
    assert theorem._hull_shrinks(evidence).margin == pytest.approx(float(min(retreats)))


def test_what_is_an_equality_is_off_by_nothing_and_what_fails_or_is_silent_has_no_margin():
    lim = hm.limit(hm.clouds.nonleader_clusters(), HALF)
    exact = {one.claim for one in hm.check_theorem(lim) if one.margin == 0}
    assert exact >= {
        "each leader sits on its vertex after finitely many layers",
        "these points lie on the boundary of K",
        "a limit that is no vertex is the projection of 0 onto a face",
        "once a leader, always a leader",
    }
    silent = [one for one in hm.check_theorem(hm.limit([[1, 0], [0, 0]], HALF)) if one.verdict == SILENT]
    assert silent
    assert all(one.margin is None for one in silent)
    assert all(one.to_dict()["margin"] is None for one in silent)


def test_a_distance_that_is_met_exactly_is_met():
    lim = hm.limit([[1], [3]], hm.Dynamics(1))  # 2 away at first, half as far after each layer
    assert [lim.layers_to(eps) for eps in (3, 2, "1.999", 1, "0.999", "1/4")] == [0, 0, 1, 1, 2, 3]
    assert [lim.distance_to_limit(layer) for layer in range(4)] == [2, 1, 0.5, 0.25]
