"""Localmax and top-k: hardmax is one of them, and no limit is claimed too early; kinds of others
are taken layer by layer."""

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses
from strategies import problems

import hardmax as hm
from hardmax._float import general
from hardmax._layer import attention as kinds_of_attention
from hardmax.page import dynamics_data
from hardmax.theorem import theorem_reason

LAYERS = 4
small_problems = problems(max_n=5, max_d=2)


@settings(max_examples=60)
@given(small_problems, st.sampled_from([hm.TopK(1), hm.Localmax(0)]))
def test_the_smallest_of_each_kind_is_hardmax(problem, attention):
    cloud, metric, alpha = problem
    paper = hm.Dynamics(alpha, metric)
    other = hm.Dynamics(alpha, metric, attention=attention)
    assert not other.traits.plain
    one, two = (hm.simulate(cloud, each, layers=LAYERS) for each in (paper, other))
    for layer in range(LAYERS + 1):
        assert (one.at(layer, exact=True) == two.at(layer, exact=True)).all()
        assert one.attended(layer).tolist() == two.attended(layer).tolist()
    ends, same = hm.limit(cloud, paper), hm.limit(cloud, other, max_layers=15)
    if same.settled_at is not None:
        assert (ends.exact_limit_points() == same.exact_limit_points()).all()
        assert ends.leaders.tolist() == same.leaders.tolist()
    elif ends.settled_at <= 15:
        # What is left open are chains that last: there both must say the same of every layer looked
        # at.
        assert ends.run.attended(15).tolist() == same.run.attended(15).tolist()


def with_kind(attention):
    return hm.Dynamics(1, attention=attention)


def test_limits_are_claimed_where_nothing_turns_and_nowhere_else():
    # Two copies that attend to one another stand still, and the others go straight to them.
    lim = hm.limit([[3], [3], [1], [-2], [-2]], with_kind(hm.TopK(2)))
    assert lim.settled_at == 0
    assert lim.limit_points.ravel().tolist() == [3, 3, 3, -2, -2]
    alone = hm.limit([[4], [-4]], with_kind(hm.Localmax(2)))
    assert alone.settled_at == 0
    assert alone.leaders.tolist() == [0, 1]
    # 1 goes to 4 until it is within the slack of it: then 4 attends to it, too, leads no longer,
    # and both meet.
    pair = hm.limit([[4], [-4], [1]], with_kind(hm.Localmax(2)))
    assert pair.settled_at == 3
    assert pair.leaders.tolist() == [1]
    assert pair.run.attended(2)[0].tolist() == [0]
    assert pair.run.attended(3)[0].tolist() == [0, 2]
    middle = (4 + 4 - 3 / 8) / 2
    assert pair.limit_points.ravel().tolist() == [middle, -4, middle]
    three = hm.limit([[4], [-3], [2]], with_kind(hm.TopK(3)))
    assert three.limit_points.ravel().tolist() == [1, 1, 1]
    # In a circle that is not closed at once there is no closed form.
    cloud = [[4, 1], [1, 4], [3, 3], [-3, -3]]
    turning = hm.limit(cloud, with_kind(hm.TopK(2)), max_layers=9)
    assert turning.settled_at is None
    assert theorem_reason(turning)


def test_copies_count_one_by_one_and_plain_data_keep_the_kind():
    dynamics = hm.Dynamics(1, attention=hm.TopK(2))
    for attended in hm.attended([[3], [3], [2], [1]], dynamics):
        assert list(attended) == [0, 1]
    assert hm.Dynamics(**dynamics.to_dict()) == dynamics != hm.Dynamics(1)


@dataclass(frozen=True)
class Leftmost(kinds_of_attention.Attention):
    """A kind that says no more than what it chooses: the first of the furthest."""

    def chosen(self, scores, counts, unit):
        return [min(scores, key=lambda j: (-scores[j], j))]


masks = st.sampled_from([None, "causal"])


@settings(max_examples=60)
@given(problems(max_n=7, max_d=2), masks, st.booleans())
def test_a_kind_that_looks_at_indices_is_taken_layer_by_layer_and_copies_are_told_apart(
    problem, mask, by_floats
):
    cloud, metric, alpha = problem
    tied = hm.Dynamics(alpha, metric, mask=mask)
    leftmost = hm.Dynamics(alpha, metric, mask=mask, attention=Leftmost())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(general, "FEW_SCORES", 0 if by_floats else 2**12)
        run = hm.simulate(cloud, leftmost, layers=5)
        lim = hm.limit(cloud, leftmost, max_layers=9)
    z = [list(map(Fraction, row)) for row in cloud]
    for layer in range(6):
        first = [[int(min(several))] for several in hm.attended(z, tied)]
        assert run.at(layer, exact=True).tolist() == z
        assert [several.tolist() for several in run.attended(layer)] == first
        z = [list(row) for row in hm.step(z, leftmost)]
    if lim.settled_at is not None:
        later = lim.run.at(5, exact=True)
        assert later.tolist() == run.at(5, exact=True).tolist()


def test_what_does_not_know_a_kind_refuses_it():
    resting = [[1, 1], [1, -1]]
    leftmost = with_kind(Leftmost())
    with refuses("`attention`: Leftmost is unknown to certificates"):
        hm.limit(resting, leftmost).prove()
    with refuses("`attention`: Leftmost is unknown to the page"):
        dynamics_data(leftmost)
    with refuses("`attention`: Leftmost is unknown to plain floats"):
        hm.simulate(resting, leftmost, layers=1, arithmetic="float")
    with refuses("`attention`: Leftmost is unknown to enclosures"):
        normalised = hm.Dynamics(1, attention=Leftmost(), normalise="sphere")
        hm.simulate(resting, normalised, layers=1)


def test_a_kind_without_a_number_has_words_and_plain_data(monkeypatch):
    every = *kinds_of_attention.KINDS, Leftmost
    monkeypatch.setattr(kinds_of_attention, "KINDS", every)
    leftmost = hm.Dynamics(1, attention=" Leftmost ")
    assert leftmost.attention == Leftmost()
    assert leftmost.to_dict()["attention"] == {"kind": "Leftmost"}
    assert hm.Dynamics(**leftmost.to_dict()) == leftmost
    with refuses(r"`attention` must be .*Leftmost\(\)"):
        hm.Dynamics(1, attention="leftmost:2")
