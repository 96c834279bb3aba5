"""The first or the last of tokens that tie, masks that leave a token nobody, layers without
division."""

import numpy as np
import pytest
from refusals import refuses

import hardmax as hm
from hardmax.page import dynamics_data

SQUARE = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]


def test_of_tokens_that_tie_the_first_or_the_last_counts():
    everybody = hm.attended(SQUARE, hm.Dynamics(1))[4].tolist()
    first, last = (
        hm.attended(SQUARE, hm.Dynamics(1, ties=rule))[4].tolist()
        for rule in ("leftmost", "rightmost")
    )
    assert (everybody, first, last) == ([0, 1], [0], [1])
    one, other = (hm.limit(SQUARE, hm.Dynamics(1, ties=rule)) for rule in ("leftmost", "rightmost"))
    assert one.settled_at == other.settled_at == 0
    assert one.limit_points[4].tolist() == [1, 1]
    assert other.limit_points[4].tolist() == [1, -1]


def test_a_rule_for_ties_is_nothing_where_none_tie():
    cloud = np.random.default_rng(0).normal(size=(3000, 2))
    paper, first = (hm.limit(cloud, hm.Dynamics("1/2", ties=rule)) for rule in (None, "leftmost"))
    assert paper.settled_at == first.settled_at
    assert (paper.limit_points == first.limit_points).all()


def test_under_a_strict_mask_the_first_token_goes_to_zero():
    dynamics = hm.Dynamics(1, mask="strict")
    assert hm.attended(SQUARE, dynamics).tolist()[:2] == [[], [0]]
    assert hm.step(SQUARE, dynamics)[0].tolist() == [0.5, 0.5]
    run = hm.simulate(SQUARE, dynamics, layers=4)
    assert run.at(4)[0].tolist() == [1 / 16, 1 / 16]
    assert run.leaders.tolist() == []


def test_without_division_means_are_added():
    dynamics = hm.Dynamics("1/2", normalise="plain")
    assert hm.step([[2], [-4]], dynamics).tolist() == [[3], [-6]]
    run = hm.simulate([[2], [-4]], dynamics, layers=10)
    assert run.at(10).ravel().tolist() == [2 * 1.5**10, -4 * 1.5**10]


def test_heads_have_masks_and_rules_of_their_own():
    before = hm.Head(mask="strict", ties="rightmost")
    dynamics = hm.Dynamics(1, heads=[hm.Head(), before], normalise="plain")
    assert hm.Dynamics(**dynamics.to_dict()) == dynamics
    # Token 4 adds half of the mean of 0 and 1, and half of 1; token 0 half of itself, and nothing.
    after = hm.step(SQUARE, dynamics)
    assert after[4].tolist() == [1.5, -0.5]
    assert after[0].tolist() == [1.5, 1.5]


@pytest.mark.parametrize(
    "parts",
    [
        {"ties": "leftmost"},
        {"mask": "strict"},
        {"heads": [hm.Head(ties="leftmost")]},
        {"heads": [hm.Head(mask="causal")]},
        {"normalise": "plain", "value": [[0, 0], [0, 0]]},
    ],
)
def test_who_does_not_know_them_says_so(parts):
    dynamics = hm.Dynamics(1, **parts)
    name = "`attention`" if "ties" in parts else ""
    if "normalise" not in parts:
        with refuses(name + ".* unknown to plain floats"):
            hm.simulate(SQUARE, dynamics, layers=2, arithmetic="float")
    with refuses("page"):
        dynamics_data(dynamics)
    found = hm.limit(SQUARE, dynamics, max_layers=9)
    if found.settled_at is not None:
        with refuses("certificate"):
            found.prove()


def test_a_rule_is_for_hardmax_alone():
    assert hm.Dynamics(1, ties="average") == hm.Dynamics(1)
    assert hm.Head(ties="average").to_dict() == hm.Head().to_dict()
    with refuses("`ties` are for hardmax: leave out `attention`"):
        hm.Dynamics(1, ties="leftmost", attention="topk:2")
    with refuses("`ties` must be one of 'leftmost', 'rightmost' or 'average'"):
        hm.Dynamics(1, ties="first")
    with refuses("`ties` must be one of 'leftmost', 'rightmost' or 'average'"):
        hm.Head(ties="first")
    with refuses("strict masks and those of single heads are unknown to enclosures"):
        hm.simulate(SQUARE, hm.Dynamics(1, mask="strict", attention="softmax:1"), layers=1)
