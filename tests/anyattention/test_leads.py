"""Signs of sums of powers, and the first layer at which a lead is not negative: against every
layer, looked at."""

from fractions import Fraction
from math import comb

from effort import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hardmax._exact.leads import Lead, Term, sign_of

SHARES = [(1, 2), (2, 3), (10, 11), (1, 5)]
keeps = st.sampled_from([Fraction(*share) for share in SHARES])
whole = st.integers(-40, 40)
FAR = 400


def value(terms, keep, m):
    total = Fraction(0)
    for (e, r, k), c in terms.items():
        total += c * keep ** (e + r * m) * comb(m, k)
    return total


def layers_reached(terms, keep, layers):
    """The layers at which a sum is not negative."""
    return [m for m in layers if value(terms, keep, m) >= 0]


@st.composite
def sums(draw, most_k=2):
    """Sums of c g^(e + r m) C(m, k): a constant, polynomials times g^m and g^2m, some of a much
    later layer."""
    keys = [(0, r, k) for r in (1, 2) for k in range(most_k + 1)]
    keys += [(0, 0, 0), (3, 1, 0), (7, 2, 1)]
    chosen = draw(st.lists(st.sampled_from(keys), min_size=1, max_size=5, unique=True))
    return {key: draw(whole) for key in chosen}


large = st.integers(-(10**9), 10**9)
powers = st.dictionaries(st.integers(0, 900), large, max_size=5)


@settings(max_examples=examples(2000))
@given(powers, keeps, st.integers(1, 300))
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
    reached = layers_reached(terms, keep, range(1, FAR))
    first = reached[0] if reached else None
    if found is None or found < FAR:
        assert found == first
    else:  # only later
        assert first is None
    if first is not None:
        assert Lead(terms, keep).first_reached(by=first) is None
        assert Lead(terms, keep).first_reached(by=first + 1) == first


falling_at_last = sums().filter(lambda terms: terms.get((0, 0, 0), 1) < 0)


@given(falling_at_last, keeps)
def test_the_last_layer_at_which_a_sum_is_positive_is_found(terms, keep):
    lead = Lead(terms, keep)
    for last, layers in ((None, FAR), (5, 6)):
        positive = [m for m in range(layers) if value(terms, keep, m) > 0]
        assert lead.last_positive(-1, last) == max(positive, default=-1)


@given(st.tuples(whole, whole, whole))
def test_a_quadratic_in_the_layer_is_followed_too(factors):
    # g = 1: tokens that move evenly.
    terms = {Term(0, 0, k): c for k, c in enumerate(factors)}
    assume(factors[0] < 0)
    reached = layers_reached(terms, Fraction(1), range(1, FAR))
    first = reached[0] if reached else None
    assert Lead(terms, Fraction(1)).first_reached() == first


small = st.integers(0, 5)


@given(small, small, st.integers(0, 12))
def test_a_product_of_binomials_is_a_sum_of_them(a, b, m):
    product = Term(0, 0, a) * Term(0, 0, b)
    total = sum(factor * comb(m, k) for (_, _, k), factor in product.items())
    assert comb(m, a) * comb(m, b) == total


def test_a_lead_that_turns_after_ten_to_the_sixteen_layers_costs_what_one_of_ten_does():
    # (-10^16 + m) g^m + a constant that is reached much later still.
    far = 10**16
    lead = {Term(0, 1): -far, Term(0, 1, 1): 1}
    assert Lead(lead, Fraction(2, 3)).first_reached() == far
    later = lead | {Term(10**17): -1}
    assert Lead(later, Fraction(2, 3)).first_reached() == far + 1
