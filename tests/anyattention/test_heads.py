"""Several heads: one head is the paper's layer, layers are those of the words, and sets said to
last do."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import problems

import hardmax as hm

weights = st.sampled_from(["1", "1/2", "3"])


@settings(max_examples=50)
@given(problems(max_n=6, max_d=2), st.lists(weights, min_size=1, max_size=2))
def test_heads_that_are_alike_are_one(problem, shares):
    cloud, metric, alpha = problem
    one = hm.Dynamics(alpha, metric)
    several = hm.Dynamics(alpha, heads=[hm.Head(metric, share) for share in shares])
    assert hm.Dynamics(**several.to_dict()) == several != one
    paper, runs = (hm.simulate(cloud, each, layers=4) for each in (one, several))
    for layer in range(5):
        assert (paper.at(layer, exact=True) == runs.at(layer, exact=True)).all()
        assert paper.attended(layer).tolist() == runs.attended(layer).tolist()
    end, same = hm.limit(cloud, one), hm.limit(cloud, several, max_layers=15)
    if same.settled_at is not None:
        assert (end.exact_limit_points() == same.exact_limit_points()).all()
        assert end.leaders.tolist() == same.leaders.tolist()


def test_two_heads_share_a_token_between_two_leaders():
    # The second head turns the plane: the inner token goes half-way between the leaders of both.
    turned = [[0, -1], [1, 0]]
    dynamics = hm.Dynamics(1, heads=[hm.Head(), hm.Head(turned)])
    lim = hm.limit([[4, 0], [0, 4], [-4, 0], [0, -4], [1, 0]], dynamics, max_layers=9)
    assert lim.run.attended(0)[4].tolist() == [0, 1]
    assert lim.run.at(1, exact=True)[4].tolist() == [Fraction(3, 2), 1]
    with pytest.raises(hm.InputError, match="each has its own"):
        hm.Dynamics(1, turned, heads=[hm.Head()])
    with pytest.raises(hm.InputError, match="`heads` must be a list of Head"):
        hm.Dynamics(1, heads=[])
    with pytest.raises(hm.InputError, match="`weight` must be positive"):
        hm.Head(weight=0)
