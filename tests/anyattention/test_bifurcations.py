"""Step sizes at which the outcome changes: exact values, and on both sides of them what `limit`
says."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from known import rational
from strategies import clouds, emerging, spd_metrics

import hardmax as hm
from hardmax._beyond.algebraic import between
from hardmax.results import AlgebraicNumber

LOW, HIGH = Fraction(1, 4), Fraction(3)
ROOTS = tuple(AlgebraicNumber((1, -5, 3), index) for index in (0, 1))


def outcome_at(found, alpha):
    """What is said of a rational step size that is no value: that of its interval."""
    at = AlgebraicNumber.of(alpha)
    inside = (each for each in found.intervals if each.low <= at <= each.high)
    return next(inside).outcome


def outcome_of(lim):
    attended = lim.run.attended(lim.settled_at).tolist()
    return tuple(lim.leaders.tolist()), tuple(map(tuple, attended))


def leaders_of(found):
    return [each.outcome.leaders for each in found.intervals if each.outcome]


def test_the_papers_emerging_leader_exists_between_the_roots_of_a_quadratic():
    found = hm.bifurcations(hm.clouds.emerging_leader(), ("1/10", 2))
    assert found.values == ROOTS
    assert list(map(str, ROOTS)) == ["(5 - √13)/6", "(5 + √13)/6"]
    assert leaders_of(found) == [(0, 2), (0, 1, 2), (0, 2)]
    for root in ROOTS:
        low, high = root.interval
        assert low < high
        at_low, at_high = (3 * x**2 - 5 * x + 1 for x in (low, high))
        assert at_low * at_high < 0
        assert high - low < Fraction(1, 10**12)
    assert repr(found) == "Bifurcations(alpha from 1/10 to 2: (5 - √13)/6, (5 + √13)/6)"


CHANGING = {
    Fraction(2): rational("2 2, 3 0, 1 -1, 0 -1"),
    Fraction(2, 3): rational("1 1, 4 0, 0 -1, 1 -1"),
    Fraction(1): rational("3 1, 2 -1, 0 -2, 0 0, -3 -1"),
}
CHANGING[Fraction(3, 4)] = rational("3 2, 2 0, 1 -1, 1 -1, 0 0")
"""Clouds with a change at one rational step size."""


@st.composite
def changing(draw):
    """Such a cloud in any order, sheared together with its metric, and a range that may end
    there."""
    value, shear = draw(st.sampled_from([*CHANGING])), draw(st.integers(-2, 2))
    rows = draw(st.permutations(CHANGING[value]))
    cloud = [[x - shear * y, y] for x, y in rows]
    alphas = draw(st.sampled_from([(LOW, value), (value, HIGH), (LOW, HIGH)]))
    return cloud, [[1, shear], [shear, shear**2 + 1]], alphas


@st.composite
def any_kind(draw):
    kinds = st.one_of(emerging(2, 1, 2), clouds(min_d=1, max_d=2, max_n=5))
    cloud = draw(kinds)
    return cloud, draw(spd_metrics(len(cloud[0]))), (LOW, HIGH)


@given(st.one_of(changing(), any_kind()), st.data())
def test_every_step_size_leads_where_its_interval_or_value_says(problem, data):
    cloud, metric, (low, high) = problem
    found = hm.bifurcations(cloud, (low, high), metric=metric, max_layers=8)
    ends = AlgebraicNumber.of(low), AlgebraicNumber.of(high)
    first, *_, last = found.intervals * 2
    assert (first.low, last.high) == ends
    inner = [value for value in found.values if value not in ends]
    assert list(found.values) == sorted(found.values)
    assert [interval.high for interval in found.intervals[:-1]] == inner
    assert [interval.low for interval in found.intervals[1:]] == inner
    # A bit beside all values, numbers within all intervals, and one at random; beside simple
    # fractions, at which tokens may tie.
    shift = Fraction(1, 10**6)
    near = []
    for value in found.values:
        middle = sum(value.interval) / 2
        near += [middle - shift, middle + shift]
    middles = [between(interval.low, interval.high) for interval in found.intervals]
    drawn = data.draw(st.fractions(low, high, max_denominator=50))
    beside = [x + (low - x) / 99991**2 for x in (drawn, *middles)]
    tried = [x for x in (*beside, *near) if low < x < high]
    for alpha in tried:
        said = outcome_at(found, alpha)
        if said:
            lim = hm.limit(cloud, hm.Dynamics(alpha, metric))
            assert outcome_of(lim) == said


def test_values_may_be_rational():
    cloud = rational("-6 6, -3 -4, -2 -1, -2 1, -2 6, -1 3, 0 1, 1 5, 3 5")
    found = hm.bifurcations(cloud, ("1/4", 4))
    assert found.values == tuple(AlgebraicNumber.of(Fraction(n)) for n in (1, 2))
    # Token 7 ends with 8, with 0, and leads.
    outcomes = [each.outcome for each in found.intervals]
    assert all(outcomes)
    assert [each.attended[7] for each in outcomes] == [(8,), (0,), (7,)]


def test_roots_have_an_order_and_a_text():
    # The roots of (x - 1)^2 = 2 / 10^40 are 1.4e-20 from 1.
    large = 10**40
    close = [AlgebraicNumber((large - 2, -2 * large, large), index) for index in (0, 1)]
    assert close[0] < AlgebraicNumber.of(Fraction(1)) < close[1]
    assert str(AlgebraicNumber((-2, 0, 1), 0)) == "-√2"
    for under, said in ((1, "3√3"), (4, "(3√3)/2")):
        assert str(AlgebraicNumber((-27, 0, under), 1)) == said
    assert str(AlgebraicNumber((-2, 0, 0, 1), 0)) == "1.25992"


def test_repeated_tokens_and_ties_have_their_part():
    # Twice at (1, 1), once at (1, -1): the token on the axis ends nearer to the first, whatever the
    # step.
    cloud = rational("1 1, 1 1, 1 -1, 1/2 0")
    found = hm.bifurcations(cloud, (1, 2))
    assert found.values == ()
    (interval,) = found.intervals
    lim = hm.limit(cloud, hm.Dynamics("3/2"))
    assert interval.outcome == outcome_of(lim)
    # A tie that a third leader breaks on the way: it is far behind token 3, but the furthest from
    # where that goes.
    late = rational("1 1 0, 1 -1 0, 6/5 0 -2, 1/2 0 2/5")
    (interval,) = hm.bifurcations(late, (1, 2)).intervals
    leaders, attended = outcome_of(hm.limit(late, hm.Dynamics(1)))
    assert interval.outcome == (leaders, attended)
    assert attended[3] == (2,)
    # Token 2 breaks a tie while it passes by: before and after it is behind.
    passing = rational("1 1 0, 1 -1 0, 3/2 0 -2, 4/5 0 -4, 1/8 0 1/20")
    (interval,) = hm.bifurcations(passing, ("1/2", 1)).intervals
    dynamics = hm.Dynamics("3/4")
    assert hm.simulate(passing, dynamics, layers=1).attended(0)[4].tolist() == [0, 1]
    assert interval.outcome == outcome_of(hm.limit(passing, dynamics))
    (tied,) = hm.bifurcations(hm.clouds.nonleader_clusters(), ("1/2", 1)).intervals
    assert tied.outcome is not None
    assert (0, 3) in tied.outcome.attended


def test_what_does_not_settle_in_time_is_left_undecided_and_shown_so():
    found = hm.bifurcations(hm.clouds.emerging_leader(), ("1/10", "1/2"), max_layers=3)
    assert found.intervals[0].outcome is None
    # Where an interval begins that is not decided nothing is proved to change.
    assert found.values == ()
    assert "no change found; 1 interval not decided" in repr(found)
    ax = found.plot()
    assert ax.get_xlim() == (0.1, 0.5)
    assert "not decided" in {text.get_text() for text in ax.texts}


def test_numbers_with_many_digits_are_shown_with_six():
    digits = Fraction("0.123456789012345678901")
    shown = str(AlgebraicNumber.of(digits)), str(AlgebraicNumber.of(Fraction(1, 3)))
    assert shown == ("0.123457", "1/3")


@pytest.mark.parametrize("alpha", [(2, 1), (0, 1), 1, (1, 2, 3)])
def test_a_range_that_is_none_is_refused(alpha):
    with pytest.raises(hm.InputError, match="`alpha` must be"):
        hm.bifurcations([[1.0], [2.0]], alpha)
