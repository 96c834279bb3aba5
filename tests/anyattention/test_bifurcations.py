"""Step sizes at which the outcome changes: exact values, and on both sides of them what `limit`
says."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import flint
import mpmath
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import apply, dot, moved
from strategies import clouds, emerging, identity, spd_metrics, subtracted

import hardmax as hm
from hardmax._beyond.algebraic import between
from hardmax._beyond.bifurcations import _Run
from hardmax._exact.walker import FOREVER
from hardmax.results import AlgebraicNumber

LOW, HIGH = Fraction(1, 4), Fraction(3)
ROOTS = (AlgebraicNumber((1, -5, 3), 0), AlgebraicNumber((1, -5, 3), 1))


def outcome_at(found, alpha):
    """What is said of a rational step size: that of its interval, or of the value that it is."""
    at = AlgebraicNumber.of(alpha)
    if at in found.values:
        return found.at_values[found.values.index(at)]
    return next(each.outcome for each in found.intervals if each.low <= at <= each.high)


def outcome_of(lim):
    return tuple(lim.leaders.tolist()), tuple(map(tuple, lim.run.attended(lim.settled_at).tolist()))


def test_the_papers_emerging_leader_exists_between_the_roots_of_a_quadratic():
    found = hm.bifurcations(hm.clouds.emerging_leader(), ("1/10", 2))
    assert found.values == ROOTS
    assert list(map(str, ROOTS)) == ["(5 - √13)/6", "(5 + √13)/6"]
    assert [each.outcome and each.outcome.leaders for each in found.intervals] == [
        (0, 2),
        (0, 1, 2),
        (0, 2),
    ]
    # Exactly there token 1 has two tokens to attend to, and goes.
    assert [each and each.leaders for each in found.at_values] == [(0, 2), (0, 2)]
    for root in ROOTS:
        low, high = root.interval
        assert low < high
        assert (3 * low**2 - 5 * low + 1) * (3 * high**2 - 5 * high + 1) < 0
        assert high - low < Fraction(1, 10**12)
    assert repr(found) == "Bifurcations(alpha from 1/10 to 2: (5 - √13)/6, (5 + √13)/6)"


def sets_in_400_digits(cloud, metric, alpha, layer):
    """The attended sets at a layer, by the definition; what agrees to 200 digits is taken as
    equal."""
    z = [[mpmath.mpmathify(x) for x in token] for token in cloud]
    matrix = [[mpmath.mpmathify(x) for x in row] for row in metric or identity(len(cloud[0]))]
    sets: list[set[int]] = []
    for _ in range(layer + 1):
        scores = [[dot(apply(matrix, token), other) for other in z] for token in z]
        least = [max(row) - mpmath.mpf(10) ** -200 for row in scores]
        sets = [{j for j, x in enumerate(row) if x > least[i]} for i, row in enumerate(scores)]
        z = moved(z, sets, alpha)
    return tuple(tuple(sorted(attended)) for attended in sets)


CHANGING = {
    Fraction(2): [[2, 2], [3, 0], [1, -1], [0, -1]],
    Fraction(2, 3): [[1, 1], [4, 0], [0, -1], [1, -1]],
    Fraction(1): [[3, 1], [2, -1], [0, -2], [0, 0], [-3, -1]],
    Fraction(3, 4): [[3, 2], [2, 0], [1, -1], [1, -1], [0, 0]],
}
"""Clouds with a change at one rational step size."""


@st.composite
def changing(draw):
    """Such a cloud in any order, sheared together with its metric, and a range that may end
    there."""
    value, shear = draw(st.sampled_from([*CHANGING])), draw(st.integers(-2, 2))
    cloud = [[x - shear * y, y] for x, y in draw(st.permutations(CHANGING[value]))]
    alphas = draw(st.sampled_from([(LOW, value), (value, HIGH), (LOW, HIGH)]))
    return cloud, [[1, shear], [shear, shear**2 + 1]], alphas


@st.composite
def any_kind(draw):
    cloud = draw(st.one_of(emerging(2, 1, 2), clouds(min_d=1, max_d=2, max_n=5)))
    return cloud, draw(spd_metrics(len(cloud[0]))), (LOW, HIGH)


@settings(max_examples=examples(1000))
@given(st.one_of(changing(), any_kind()), st.data())
def test_every_step_size_leads_where_its_interval_or_value_says(problem, data):
    cloud, metric, (low, high) = problem
    found = hm.bifurcations(cloud, (low, high), metric=metric, max_layers=8)
    ends = AlgebraicNumber.of(low), AlgebraicNumber.of(high)
    assert (found.intervals[0].low, found.intervals[-1].high) == ends
    inner = [value for value in found.values if value not in ends]
    assert list(found.values) == sorted(found.values)
    assert [interval.high for interval in found.intervals[:-1]] == inner
    assert [interval.low for interval in found.intervals[1:]] == inner
    # Both ends, all values and a bit beside them, numbers within all intervals, and one at random.
    shift = Fraction(1, 10**6)
    near = [sum(value.interval) / 2 + side for value in found.values for side in (-shift, 0, shift)]
    middles = [between(interval.low, interval.high) for interval in found.intervals]
    drawn = data.draw(st.fractions(low, high, max_denominator=50))
    tried = [low, high, *middles, drawn, *(x for x in near if low < x < high)]
    said = {alpha: outcome for alpha in tried if (outcome := outcome_at(found, alpha))}
    limits = {alpha: hm.limit(cloud, hm.Dynamics(alpha, metric)) for alpha in said}
    assert said == {alpha: outcome_of(lim) for alpha, lim in limits.items()}
    with mpmath.workdps(400):
        for value, here in zip(found.values, found.at_values, strict=True):
            alpha = mpmath.mpmathify(sum(value.within(1500))) / 2
            assert here is None or here.attended == sets_in_400_digits(cloud, metric, alpha, 8)


def test_an_end_that_differs_from_what_lies_beside_it_is_a_value():
    cloud, two = [[2, 2], [3, 0], [1, -1], [0, -1]], AlgebraicNumber.of(Fraction(2))
    found = hm.bifurcations(cloud, ("1/2", 2))
    assert (found.values, len(found.intervals)) == ((two,), 1)
    assert found.at_values == (outcome_of(hm.limit(cloud, hm.Dynamics(2))),)
    outcomes = found.at_values[0], found.intervals[0].outcome
    assert [outcome and outcome.leaders for outcome in outcomes] == [(0, 1), (0, 1, 3)]
    assert repr(found) == "Bifurcations(alpha from 1/2 to 2: 2)"
    # From above nothing changes there.
    assert hm.bifurcations(cloud, (2, 4)).values == ()


def test_at_rational_values_the_run_is_decided_too():
    cloud = [[-6, 6], [-3, -4], [-2, -1], [-2, 1], [-2, 6], [-1, 3], [0, 1], [1, 5], [3, 5]]
    found = hm.bifurcations(cloud, ("1/4", 4))
    assert found.values == (AlgebraicNumber.of(Fraction(1)), AlgebraicNumber.of(Fraction(2)))
    for alpha, here in zip((1, 2), found.at_values, strict=True):
        assert here == outcome_of(hm.limit(cloud, hm.Dynamics(alpha)))
    # Token 7 ends with 8, with 0, and leads.
    assert [each.outcome and each.outcome.attended[7] for each in found.intervals] == [
        (8,),
        (0,),
        (7,),
    ]


small_tables = st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=3, max_size=3)


@settings(max_examples=examples(4000))
@given(small_tables, small_tables)
def test_a_lead_is_said_to_last_if_it_does_all_the_way(starts, targets):
    def polynomials(table):
        return [[flint.fmpq_poly([x]) for x in row] for row in table]

    search: Any = SimpleNamespace(points=None, metric=[], place=polynomials(starts))
    run = _Run(AlgebraicNumber.of(Fraction(1)), search)
    sets = run.attended([0, 1, 2]).sets
    for i, attended in enumerate(sets):
        lasts = run.first_change(polynomials(targets), sets, [i]) == FOREVER
        leads = [lead_on_the_way(starts, targets, i, j, attended[0]) for j in range(3)]
        assert lasts == all(
            not any(lead) if j in attended else is_negative(lead) for j, lead in enumerate(leads)
        )


def lead_on_the_way(starts, targets, i, j, leader):
    """The coefficients of <w, z_j - z_leader>, w the token i, a share t of the way left to each."""
    look, aim = starts[i], targets[i]
    here, there = (subtracted(table[j], table[leader]) for table in (starts, targets))
    way, turn = subtracted(look, aim), subtracted(here, there)
    return dot(aim, there), dot(way, there) + dot(aim, turn), dot(way, turn)


def is_negative(quadratic):
    """Whether a polynomial is below 0 for all t from 1 down to 0, but for 0 itself."""
    a, b, c = quadratic
    shares = [Fraction(1)]
    if c and 0 < Fraction(-b, 2 * c) < 1:
        shares.append(Fraction(-b, 2 * c))
    in_the_end = next((x for x in quadratic if x), 0)
    return in_the_end < 0 and all(a + b * t + c * t**2 < 0 for t in shares)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=4), st.integers(-9, 9), st.integers(1, 9))
def test_the_sign_of_a_polynomial_is_exact_at_roots_too(coefficients, p, q):
    half, other = AlgebraicNumber.of(Fraction(p, q)), flint.fmpz_poly(coefficients)
    value = sum(c * Fraction(p, q) ** k for k, c in enumerate(coefficients))
    assert half.sign_of(other) == (value > 0) - (value < 0)
    assert half.sign_of(other * flint.fmpz_poly([-p, q])) == 0
    for root in ROOTS:
        assert root.sign_of(other * flint.fmpz_poly([1, -5, 3])) == 0
        # What is 10^-30 there is not taken for 0.
        assert root.sign_of(flint.fmpz_poly([10**30 + 1, -5 * 10**30, 3 * 10**30])) == 1


def test_repeated_tokens_and_ties_have_their_part():
    # Twice at (1, 1), once at (1, -1): the token on the axis ends nearer to the first, whatever the
    # step.
    found = hm.bifurcations([[1, 1], [1, 1], [1, -1], ["1/2", 0]], (1, 2))
    assert found.values == ()
    (interval,) = found.intervals
    assert interval.outcome == outcome_of(
        hm.limit([[1, 1], [1, 1], [1, -1], ["1/2", 0]], hm.Dynamics("3/2"))
    )
    # A tie that a third leader breaks on the way: it is far behind token 3, but the furthest from
    # where that goes.
    late = [[1, 1, 0], [1, -1, 0], ["6/5", 0, -2], ["1/2", 0, "2/5"]]
    (interval,) = hm.bifurcations(late, (1, 2)).intervals
    leaders, attended = outcome_of(hm.limit(late, hm.Dynamics(1)))
    assert interval.outcome == (leaders, attended)
    assert attended[3] == (2,)
    tied = hm.bifurcations(hm.clouds.nonleader_clusters(), ("1/2", 1)).intervals
    assert [each.outcome is not None and (0, 3) in each.outcome.attended for each in tied] == [True]


def test_what_does_not_settle_in_time_is_left_undecided_and_shown_so():
    found = hm.bifurcations(hm.clouds.emerging_leader(), ("1/10", "1/2"), max_layers=3)
    assert found.intervals[0].outcome is None
    assert "1 interval not decided" in repr(found)
    ax = found.plot()
    assert ax.get_xlim() == (0.1, 0.5)
    assert any(text.get_text() == "(5 - √13)/6" for text in ax.texts)


@pytest.mark.parametrize("alpha", [(2, 1), (0, 1), 1, (1, 2, 3)])
def test_a_range_that_is_none_is_refused(alpha):
    with pytest.raises(hm.InputError, match="`alpha` must be"):
        hm.bifurcations([[1.0], [2.0]], alpha)
