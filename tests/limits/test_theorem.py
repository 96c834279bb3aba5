"""`check_theorem` on clouds that satisfy the theorem, on claims that are false, and published
traps."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from known import KNOWN
from refusals import refuses
from strategies import any_metric_problems, identity, problems

import hardmax as hm
from hardmax import theorem
from hardmax._limits.clusters import OtherLimit, Vertex
from hardmax.theorem import CLAIMS, FAILS, HOLDS, SILENT, UNDECIDED

HALF, SLOW = hm.Dynamics("1/2"), hm.Dynamics("1/700")
TIES = hm.clouds.nonleader_clusters()
CLOUD = hm.clouds.gaussian(8, 2, seed=8)  # settles after more than 500 layers of alpha = 1/700
EXIST, LEAD, SIT, CONVERGE, BOUNDARY, PROJECT, SEPARATE = CLAIMS
any_problems = problems(max_n=6, max_d=3) | any_metric_problems(max_n=6, max_d=3)


def verdicts(result: Any) -> dict[str, str]:
    """What is said of each claim, of a limit or of a run."""
    return {one.claim: one.verdict for one in hm.check_theorem(result)}


@settings(max_examples=examples(300))
@given(any_problems)
def test_no_statement_fails_and_those_of_the_theorem_are_silent_where_it_does_not_apply(problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), max_layers=40)
    expected = {SILENT} if theorem.theorem_reason(lim) else {HOLDS}
    assert {*verdicts(lim).values()} == expected


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_no_statement_fails_on_a_known_cloud(known):
    dynamics = hm.Dynamics(known.alpha, known.metric)
    lim = hm.limit(known.tokens, dynamics)
    expected = dict.fromkeys(CLAIMS, HOLDS)
    if theorem.theorem_reason(lim):
        expected = {"Theorem 1.1": SILENT}
    assert verdicts(lim) == expected


def of_run(lim: hm.Limit, **changes: Any) -> hm.Limit:
    """The limit of a run that says something else."""
    return replace(lim, run=replace(lim.run, **changes))


def everybody_leads(tokens, dynamics, **how):
    lim = hm.limit(tokens, dynamics, max_layers=20, **how)
    return of_run(lim, leader_since=np.zeros_like(lim.run.leader_since))


def settled_at_once(tokens, dynamics, **_):
    lim = hm.limit(tokens, dynamics, max_layers=0)
    (first,) = lim.run.phases
    phase = replace(first, until=None)
    return of_run(lim, settled_at=0, phases=(phase,))


def all_limits_are(kind):
    def limit(*problem, **how):
        lim = hm.limit(*problem, **how)
        kinds = (kind,) * len(lim.clusters)
        vars(lim)["clusters"] = replace(lim.clusters, kinds=kinds)
        return lim

    return limit


FALSE = [
    (CLOUD, SLOW, everybody_leads, {LEAD, SIT}),
    (CLOUD, HALF, everybody_leads, {SIT}),
    (hm.clouds.emerging_leader(), HALF, settled_at_once, {CONVERGE}),
    (TIES, HALF, all_limits_are(OtherLimit()), {PROJECT}),
    (TIES, HALF, all_limits_are(Vertex(0)), {SEPARATE}),
]


@pytest.mark.parametrize(("tokens", "dynamics", "wrong", "expected"), FALSE)
def test_what_is_said_of_limits_fails_if_it_is_false(
    tokens, dynamics, wrong, expected, monkeypatch
):
    lim = hm.limit(tokens, dynamics)
    assert {*verdicts(lim).values()} == {HOLDS}
    monkeypatch.setattr(theorem, "limit", wrong)
    assert not hm.check_theorem(lim)
    assert expected <= {claim for claim, verdict in verdicts(lim).items() if verdict == FAILS}


def test_what_is_not_settled_is_undecided_and_does_not_fail(monkeypatch):
    def early(*problem, **how):
        return hm.limit(*problem, **how, max_layers=0)

    monkeypatch.setattr(theorem, "limit", early)
    run = hm.simulate(CLOUD, SLOW, layers=3)
    report = hm.check_theorem(run)
    assert report
    assert verdicts(run) == dict.fromkeys(CLAIMS, UNDECIDED) | {EXIST: HOLDS}
    assert all("not settled within " in one.detail for one in report[1:])


def determinant(rows):
    if not rows:
        return Fraction(1)
    first, *rest = rows
    total = 0
    for k, x in enumerate(first):
        minor = [row[:k] + row[k + 1 :] for row in rest]
        total += (-1) ** k * x * determinant(minor)
    return total


@settings(max_examples=examples(300))
@given(any_problems)
def test_the_theorem_is_about_distinct_nonzero_tokens_and_positive_definite_metrics(problem):
    cloud, metric, alpha = problem
    matrix = metric or identity(len(cloud[0]))
    sizes = range(1, len(matrix) + 1)
    minors = [determinant([row[:k] for row in matrix[:k]]) for k in sizes]
    transposed = [list(column) for column in zip(*matrix, strict=True)]
    is_definite = matrix == transposed and min(minors) > 0
    are_distinct = len(set(map(tuple, cloud))) == len(cloud)
    run = hm.simulate(cloud, hm.Dynamics(alpha, metric), layers=1)
    applies = is_definite and are_distinct and all(map(any, cloud))
    assert (not theorem.theorem_reason(run)) == applies


DISTURBED = [
    ([[1, 0], [0, 0]], [1, 1], "token 1 is zero"),
    ([[1, 0], [1, 0]], [1, 1], "repeated"),
    ([[1, 0], [0, 1]], [1, 2], "repeated"),
]


@pytest.mark.parametrize(("tokens", "counts", "reason"), DISTURBED)
def test_it_says_when_the_theorem_does_not_apply(tokens, counts, reason):
    batch = hm.Clouds(tokens, [0, 2], counts)
    (lim,) = hm.limits(batch, hm.Dynamics(1))
    assert reason in theorem.theorem_reason(lim)


@pytest.mark.parametrize("gap", ["1e-17", "1e-100"])
def test_leaders_closer_than_rounding_are_told_apart(gap):
    # Tokens of one length on both sides of a direction: each is furthest its own way, by very
    # little.
    step = Fraction(gap)
    x, y = (1 - step**2) / (1 + step**2), 2 * step / (1 + step**2)
    cloud = [(x, y), (x, -y), (-1, 0), (x / 2, 0)]
    turned = [[3 * x - 4 * y, 4 * x + 3 * y] for x, y in cloud]
    lim = hm.limit(turned, HALF)
    assert lim.distinct_leaders.tolist() == [0, 1, 2]
    assert {*verdicts(lim).values()} == {HOLDS}


def test_a_leader_that_emerges_late_is_alone_where_it_stays_and_need_not_be_on_its_way():
    # At layer 1 token 0 still follows token 1, with leader 3 ahead of it; at layer 2 it leads.
    cloud = [["10", "0"], ["11", "3"], ["0", "45"], ["10.95", "-31"]]
    lim = hm.limit(cloud, hm.Dynamics("1/10"))
    assert lim.run.leader_since.tolist() == [2, -1, 0, 0]
    first, _, _, third = lim.run.at(1)
    assert first @ third > first @ first
    assert {*verdicts(lim).values()} == {HOLDS}


@pytest.mark.parametrize("small", ["1e-160", "1e-300"])
def test_tokens_of_all_sizes_can_be_checked(small):
    for cloud in ([[small], ["1"]], [[small, "0"], ["1", "1"], ["-1e300", "2"]]):
        lim = hm.limit(cloud, hm.Dynamics(1))
        assert {*verdicts(lim).values()} == {HOLDS}


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
