"""Signs of sums of powers, and the first layer at which a lead is not negative: against every
layer, looked at."""

from fractions import Fraction
from math import comb

from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hardmax._exact.leads import Lead, Term, sign_of

keeps = st.sampled_from(
    [Fraction(1, 2), Fraction(2, 3), Fraction(10, 11), Fraction(1, 5), Fraction(3, 2) ** -1]
)
whole = st.integers(-40, 40)
FAR = 400


def value(terms, keep, m):
    return sum(c * keep ** (e + r * m) * comb(m, k) for (e, r, k), c in terms.items())


@st.composite
def sums(draw, most_k=2):
    """Sums of c g^(e + r m) C(m, k): a constant, polynomials times g^m and g^2m, some of a much
    later layer."""
    keys = [
        (0, 0, 0),
        *((0, r, k) for r in (1, 2) for k in range(most_k + 1)),
        (3, 1, 0),
        (7, 2, 1),
    ]
    chosen = draw(st.lists(st.sampled_from(keys), min_size=1, max_size=5, unique=True))
    return {key: draw(whole) for key in chosen}


@settings(max_examples=examples(2000))
@given(
    st.dictionaries(st.integers(0, 900), st.integers(-(10**9), 10**9), max_size=5),
    keeps,
    st.integers(1, 300),
)
def test_the_sign_of_a_sum_of_powers_is_that_of_the_fraction(terms, keep, gap):
    # A sum that cancels exactly: c g^e with q^gap in c, and the same amount on the other side.
    exact = sum(c * keep**e for e, c in terms.items())
    assert sign_of(terms, keep) == (exact > 0) - (exact < 0)
    p, q = keep.numerator**gap, keep.denominator**gap
    cancelled = dict(terms)
    for e, c in ((1000 + gap, 3 * q), (1000, -3 * p)):
        cancelled[e] = cancelled.get(e, 0) + c
    assert sign_of(cancelled, keep) == (exact > 0) - (exact < 0)
    assert sign_of({0: -p, gap: q}, keep) == 0
    assert sign_of({0: -p, gap: q, 10**15: 1}, keep) == 1


@settings(max_examples=examples(2000))
@given(sums(), keeps)
def test_the_first_layer_at_which_a_lead_is_not_negative_is_found(terms, keep):
    assume(value(terms, keep, 0) < 0)
    found = Lead(terms, keep).first_reached()
    first = next((m for m in range(1, FAR) if value(terms, keep, m) >= 0), None)
    assert found == first
    if first is not None:
        assert Lead(terms, keep).first_reached(by=first) is None
        assert Lead(terms, keep).first_reached(by=first + 1) == first


@given(sums().filter(lambda terms: terms.get((0, 0, 0), 1) < 0), keeps)
def test_the_last_layer_at_which_a_sum_is_positive_is_found(terms, keep):
    assert Lead(terms, keep).last_positive(-1, None) == max(
        (m for m in range(FAR) if value(terms, keep, m) > 0), default=-1
    )
    assert Lead(terms, keep).last_positive(-1, 5) == max(
        (m for m in range(6) if value(terms, keep, m) > 0), default=-1
    )


@given(st.tuples(whole, whole, whole))
def test_a_quadratic_in_the_layer_is_followed_too(factors):
    # g = 1: tokens that move evenly.
    terms = {Term(0, 0, k): c for k, c in enumerate(factors)}
    assume(factors[0] < 0)
    first = next((m for m in range(1, FAR) if value(terms, Fraction(1), m) >= 0), None)
    assert Lead(terms, Fraction(1)).first_reached() == first


@given(st.integers(0, 5), st.integers(0, 5), st.integers(0, 12))
def test_a_product_of_binomials_is_a_sum_of_them(a, b, m):
    assert comb(m, a) * comb(m, b) == sum(
        factor * comb(m, k) for (_, _, k), factor in (Term(0, 0, a) * Term(0, 0, b)).items()
    )


def test_a_lead_that_turns_after_ten_to_the_sixteen_layers_costs_what_one_of_ten_does():
    # (-10^16 + m) g^m + a constant that is reached much later still.
    terms = {Term(0, 1): -(10**16), Term(0, 1, 1): 1, Term(10**17): -1}
    assert Lead(terms, Fraction(2, 3)).first_reached() == 10**16 + 1
    assert Lead({Term(0, 1): -(10**16), Term(0, 1, 1): 1}, Fraction(2, 3)).first_reached() == 10**16
