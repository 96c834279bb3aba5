"""The sign of a sum of powers of g, and the first layer at which the lead of one token over another
is not negative.

While no attended set changes, positions are sums of terms g^(e + r m) C(m, k) v, m layers from now:
g is a rational between 0 and 1 (or 1), v a vector, e a number of layers that have passed, C(m, k) a
binomial coefficient. So the lead of token j over token c for token i, <A z_i, z_j - z_c>, is a sum
of c g^(e + r m) C(m, k) with r = 0, 1, 2. Exponents may be astronomical, and then no power of g is
ever written out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

from flint import ctx

from hardmax._exact.vectors import enclosed_power

Sum = dict[int, int]
"""A sum of c g^e, by e."""

_SHORT = 512  # bits of a power that is written out
# Ranges of layers that are looked at before a search is broken off with what is known so far.
_MOST_RANGES = 10_000


class Term(NamedTuple):
    """g^(power + rate m) C(m, degree), as a function of m = 0, 1, …"""

    power: int
    rate: int = 0
    degree: int = 0

    def __mul__(self, other: "Term") -> dict["Term", int]:  # pyright: ignore
        """The product as a sum of terms with factors. A set of a out of m things and one of b have
        a union of k things in C(m, k) C(k, a) C(a, k - b) cases.

        >>> Term(3, 1, 1) * Term(0, 1, 1)
        {Term(power=3, rate=2, degree=1): 1, Term(power=3, rate=2, degree=2): 2}
        """
        a, b = self.degree, other.degree
        power, rate = self.power + other.power, self.rate + other.rate
        degrees = range(max(a, b), a + b + 1)
        return {Term(power, rate, k): comb(k, a) * comb(a, k - b) for k in degrees}


def sign_of(terms: Mapping[int, int], contraction: Fraction) -> int:
    """The sign, -1, 0 or 1, of the sum of c g^e over the items (e, c), exactly.

    >>> sign_of({0: -4, 2: 9}, Fraction(2, 3)), sign_of({0: -1, 10**16: 10**9}, Fraction(2, 3))
    (0, -1)
    """
    left = sorted((e, c) for e, c in terms.items() if c)
    p, q = contraction.numerator, contraction.denominator
    if len(left) < 2 or q == 1:
        return _sign(sum(c for _, c in left))
    first, last = left[0][0], left[-1][0]
    if (last - first) * q.bit_length() <= _SHORT:
        return _sign(sum(c * p ** (e - first) * q ** (last - e) for e, c in left))
    for size in range(2, len(left) + 1):
        if _is_zero(left[:size], p, q):  # then the rest decides, however small it is
            return sign_of(dict(left[size:]), contraction)
    bits = 64
    while True:
        with ctx.workprec(bits):
            total = sum(c * enclosed_power(contraction, e - first, bits) for e, c in left)
        if sign := _sign(total):  # 0 if the ball has 0 in it
            return sign
        bits *= 2


def _sign(number: Any) -> int:
    return (number > 0) - (number < 0)


def _is_zero(left: list[tuple[int, int]], p: int, q: int) -> bool:
    """Whether the sum of c (p/q)^e is 0. The factor of the highest power must have as many factors
    q as its exponent is ahead of the next one: p and q have no common divisor. If it has, both are
    put together."""
    (e, c), *lower = reversed(left)
    for f, d in lower:
        if c:
            if (e - f) * (q.bit_length() - 1) > c.bit_length():
                return False
            whole, rest = divmod(c, q ** (e - f))
            if rest:
                return False
            d += whole * p ** (e - f)
        e, c = f, d
    return c == 0


def _total(terms: Iterable[tuple[int, int]]) -> Sum:
    """The sum of c g^e over some (e, c)."""
    total: Sum = {}
    for e, c in terms:
        total[e] = total.get(e, 0) + c
    return total


class Lead:
    """A sum of c g^(e + r m) C(m, k) as a function of m = 0, 1, …"""

    def __init__(self, terms: Mapping[Term, int], contraction: Fraction) -> None:
        self.contraction = contraction
        parts: dict[tuple[int, int], Sum] = {}
        for (e, r, k), c in terms.items():
            if c:
                parts.setdefault((r, k), {})[e] = int(c)
        self.signs = {key: sign_of(part, contraction) for key, part in parts.items()}
        self.parts = {key: part for key, part in parts.items() if self.signs[key]}
        self.positive = [key for key in self.parts if self.signs[key] > 0]

    def sign(self, m: int, keys: Iterable[tuple[int, int]] | None = None) -> int:
        """The sign at m, of all terms or of some."""
        terms = []
        for r, k in keys or self.parts:
            size = comb(m, k)
            terms += [(e + r * m, c * size) for e, c in self.parts[r, k].items()]
        return sign_of(_total(terms), self.contraction)

    @property
    def stays_negative(self) -> bool:
        """Whether the sum is 0 whatever m is, or negative for all m = 0, 1, …"""
        return not self.parts or (self.sign(0) < 0 and self.first_reached() is None)

    def first_reached(self, by: int | None = None) -> int | None:
        """The first m >= 1 (below `by`) at which a sum that is negative at 0 is not negative; None:
        there is none.

        If that would take too long, a layer up to which it is negative for sure.
        """
        if not self.positive or by == 1:
            return None  # what is negative at 0 has a term with k = 0, which never vanishes
        ranges, first = [(1, self._horizon() if by is None else by - 1)], 1
        for _ in range(_MOST_RANGES):
            if not ranges:
                return None
            first, last = ranges.pop()
            if self._is_negative(first, last):
                continue
            if first == last:
                return first
            middle = min((first + last) // 2, 2 * first)
            ranges += [(middle + 1, last), (first, middle)]
        return first

    def last_positive(self, above: int, by: int | None) -> int:
        """The last m (at most `by`) at which a sum that is negative in the end is positive, if it
        is larger than a number from -1 up; else that number."""
        if not self.positive:
            return above
        ranges = [(above + 1, self._horizon() if by is None else by)]
        while ranges:
            first, last = ranges.pop()
            if first > last or self._is_negative(first, last):
                continue
            if first < last:
                middle = (first + last) // 2
                ranges += [(first, middle), (middle + 1, last)]
            elif self.sign(first) > 0:
                return first
        return above

    def _horizon(self) -> int:
        """A layer at which the sum is not negative, or from which on it is negative for ever.

        The term that is the largest in the end has the smallest r, and among those the largest k.
        If it is negative, compare the positive ones with it: a ratio g^(s m) C(m, k) / C(m, k0)
        changes from m to m + 1 by the factor g^s (m + 1 - k0) / (m + 1 - k). Once this is at most
        1, it stays so. So if all ratios fall from m on, and the sum of these terms is negative at
        m, it is negative from there on."""
        r0, k0 = dominant = min(self.parts, key=lambda key: (key[0], -key[1]))
        m = max(1, *(k for _, k in self.parts))
        if dominant in self.positive:
            while self.sign(m) < 0:
                m *= 2
            return m
        powers = {r: self.contraction ** (r - r0) for r, _ in self.positive}
        while True:
            ratios_fall = all(powers[r] * (m + 1 - k0) <= m + 1 - k for r, k in self.positive)
            if ratios_fall and self.sign(m, [dominant, *self.positive]) < 0:
                return m
            m *= 2

    def _is_negative(self, first: int, last: int) -> bool:
        """Whether the sum is sure to be negative from one layer to another; for a single layer,
        whether it is.

        With C(m, k) replaced by its value at the end where the term is larger, it is h0 + h1 t + h2
        t^2 with t = g^m: negative between two t if its coefficients in Bernstein's form are, which
        are its values there, and h0 + h1 (t + t') / 2 + h2 t t'."""
        if first == last:
            return self.sign(first) < 0
        terms = []
        for (r, k), part in self.parts.items():
            size = comb(last if self.signs[r, k] > 0 else first, k)
            terms += [(r, e, size * c) for e, c in part.items()]
        shifts = (0, 0), (first, last), (first + last, first + last)
        sums = [[(e + r * m, c) for r, e, c in terms] for m in (first, last)]
        sums.append([(e + shift, c) for r, e, c in terms for shift in shifts[r]])
        return all(sign_of(_total(some), self.contraction) < 0 for some in sums)


def soonest(events: Iterable[int | None]) -> int | None:
    """The first of some events, of which None never comes."""
    return min((event for event in events if event is not None), default=None)


@dataclass(frozen=True)
class Scores:
    """The scores of all points along one direction: for each term a column of integers."""

    columns: dict[Term, Sequence[int]]
    contraction: Fraction

    def lead(self, j: int, over: int, more: Fraction = Fraction(0)) -> Lead:
        """The lead of j over another point, and a number more, up to a positive factor."""
        terms = {
            term: more.denominator * (column[j] - column[over])
            for term, column in self.columns.items()
        }
        if more:
            terms[Term(0)] = terms.get(Term(0), 0) + more.numerator
        return Lead(terms, self.contraction)

    def now(self, j: int) -> int:
        return sum(int(column[j]) for term, column in self.columns.items() if not term.degree)

    def first_change(
        self, attended: Sequence[int], rivals: Iterable[int], by: int | None = None
    ) -> int | None:
        """The first layer (below `by`, if that is given) from which on others may be the furthest
        than those that are attended to, among all rivals; `by`, if there is none."""
        first, *tied = attended
        columns = self.columns.values()
        apart = [j for j in tied if any(column[j] != column[first] for column in columns)]
        if any(self.lead(j, first).parts for j in apart):
            return 1
        for j in self._doubtful(first, {*rivals} - {*attended}):
            by = soonest([by, self.lead(j, first).first_reached(by)])
            if by == 1:
                return 1
        return by

    def _doubtful(self, first: int, rivals: set[int]) -> list[int]:
        """The rivals whose lead over one that is attended to is not sure to be negative for ever.

        Without k >= 1 it is the mix b0 (1 - t)^2 + b1 t (1 - t) + b2 t^2, t = g^m, with b2 < 0 the
        lead now."""
        if any(term.power for term in self.columns):
            return sorted(rivals)
        constant, linear = self.columns[Term(0)], self.columns.get(Term(0, 1))
        tests = [constant, *(column for term, column in self.columns.items() if term.degree)]
        if linear is not None:
            tests.append([a + 2 * b for a, b in zip(linear, constant, strict=True)])
        return [j for j in rivals if any(column[j] > column[first] for column in tests)]
