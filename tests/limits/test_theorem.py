"""`check_theorem` on clouds that satisfy the theorem, on claims that are false, and published traps."""

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import oracle
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from known import KNOWN, Known
from strategies import Problem, any_metric_problems, problems

import hardmax as hm
from hardmax import theorem
from hardmax._run import run_points
from hardmax.theorem import FAILS, HOLDS, SILENT, UNDECIDED

HALF, SLOW = hm.Dynamics("1/2"), hm.Dynamics("1/700")
CLOUD = hm.clouds.gaussian(8, 2, seed=8)  # settles after more than 500 layers of alpha = 1/700
FOR_ALL_LAYERS = {
    "each leader is a vertex of K, the hull of the leaders",
    "each leader sits on its vertex after finitely many layers",
    "every token converges to one of finitely many points",
    "these points lie on the boundary of K",
    "a limit that is no vertex is the projection of 0 onto a face",
}


@settings(max_examples=examples(300))
@given(st.one_of(problems(max_n=7, max_d=3), any_metric_problems(max_n=7, max_d=3)))
def test_no_statement_fails_and_those_of_the_theorem_are_silent_where_it_does_not_apply(problem: Problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), max_layers=40)
    with patch.object(theorem, "PATIENCE", 40):
        report = hm.check_theorem(lim)
    assert report, str(report)
    assert lim.theorem_applies or {one.verdict for one in report} == {SILENT}
    if lim.settled_at is not None:
        assert not claims(report, UNDECIDED)
        # What the report speaks of happens in the definition, too: the sets of the settled layer stay.
        later = [sets for _, sets in oracle.walk(cloud, alpha, metric, lim.settled_at + 8)][lim.settled_at :]
        assert all(sets == later[0] for sets in later)


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_no_statement_fails_on_a_known_cloud(known: Known):
    report = hm.check_theorem(hm.limit(known.tokens, hm.Dynamics(known.alpha, known.metric)))
    assert report
    assert len(report) == 6


def claims(report: hm.TheoremReport, verdict: str) -> set[str]:
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
    wrong = {
        "each leader is a vertex of K, the hull of the leaders",
        "each leader sits on its vertex after finitely many layers",
    }
    assert wrong <= claims(report, FAILS)
    assert claims(report, HOLDS)


def test_a_cloud_that_settles_late_is_followed_to_where_it_settles():
    lim = hm.limit(CLOUD, SLOW)
    assert lim.settled_at > theorem.PATIENCE
    assert {statement.verdict for statement in hm.check_theorem(lim)} == {HOLDS}


def test_no_more_layers_are_walked_in_integers_than_can_be_afforded():
    run = hm.simulate(np.random.default_rng(0).normal(size=(200, 3)), hm.Dynamics("1/999999999999"), layers=1)
    most, bits = theorem._patience(run), (10**12).bit_length()
    cost = [k * 200**2 * 3 * (k * bits // theorem.DIGIT) ** 2 for k in (most - 1, most)]
    assert cost[0] <= theorem.MOST_WORK < cost[1]


@pytest.mark.parametrize("limit", [("PATIENCE", 60), ("MOST_WORK", 10**6)])
def test_what_is_not_settled_within_what_can_be_afforded_is_undecided_and_does_not_fail(limit, monkeypatch):
    monkeypatch.setattr(theorem, *limit)
    report = hm.check_theorem(hm.simulate(CLOUD, SLOW, layers=3))
    assert report
    assert claims(report, UNDECIDED) == FOR_ALL_LAYERS
    assert all("not settled within" in one.detail for one in report if one.verdict == UNDECIDED)


@pytest.mark.parametrize("gap", ["1e-17", "1e-100"])
def test_leaders_closer_than_rounding_are_told_apart(gap):
    # Tokens of one length on both sides of a direction: each is furthest its own way, by very little.
    step = Fraction(gap)
    cosine, sine = (1 - step**2) / (1 + step**2), 2 * step / (1 + step**2)
    cloud = [(cosine, sine), (cosine, -sine), (Fraction(-1), Fraction(0)), (cosine / 2, Fraction(0))]
    lim = hm.limit([[3 * x - 4 * y, 4 * x + 3 * y] for x, y in cloud], HALF)
    assert lim.distinct_leaders.tolist() == [0, 1, 2]
    assert {one.verdict for one in hm.check_theorem(lim)} == {HOLDS}


@pytest.mark.parametrize("small", ["1e-160", "1e-300"])
def test_tokens_of_all_sizes_can_be_checked(small):
    for cloud in ([[small], ["1"]], [[small, "0"], ["1", "1"], ["-1e300", "2"]]):
        report = hm.check_theorem(hm.limit(cloud, hm.Dynamics(1)))
        assert all(one.verdict == HOLDS for one in report)


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
    # These are the steps of Theorem 3.1 of arXiv 2508.09628 v1, as others transcribe it. The first step, of length 1,
    # swaps 3 and -1.
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
