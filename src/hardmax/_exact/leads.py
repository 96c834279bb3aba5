"""The sign of a sum of powers of g, and the first layer at which the lead of one token over another
is not negative.

While no attended set changes, positions are sums of terms g^(e + r m) C(m, k) v, m layers from now:
g is a rational between 0 and 1 (or 1), v a vector, e a number of layers that have passed, C(m, k) a
binomial coefficient. So the lead of token j over token c for token i, <A z_i, z_j - z_c>, is a sum
of c g^(e + r m) C(m, k) with r = 0, 1, 2. Exponents may be astronomical, and then no power of g is
ever written out."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import comb

from hardmax._exact.vectors import enclosed_power

Key = tuple[int, int, int]
"""The exponents (e, r, k) of a term g^(e + r m) C(m, k)."""
Sum = dict[int, int]
"""A sum of c g^e, by e."""

_SHORT = 512  # bits of a power that is written out
# Ranges of layers that are looked at before a search is broken off with what is known so far.
_MOST_RANGES = 2000


def sign_of(terms: Mapping[int, int], keep: Fraction) -> int:
    """The sign, -1, 0 or 1, of the sum of c g^e over the items (e, c), exactly.

    >>> sign_of({0: -4, 2: 9}, Fraction(2, 3)), sign_of({0: -1, 10**16: 10**9}, Fraction(2, 3))
    (0, -1)
    """
    left = sorted((e, c) for e, c in terms.items() if c)
    p, q = keep.numerator, keep.denominator
    if len(left) < 2 or q == 1:
        total = sum(c for _, c in left)
        return (total > 0) - (total < 0)
    (first, lead), last = left[0], left[-1][0]
    if (last - first) * q.bit_length() <= _SHORT:
        total = sum(c * p ** (e - first) * q ** (last - e) for e, c in left)
        return (total > 0) - (total < 0)
    for count in range(2, len(left) + 1):
        if _is_zero(left[:count], p, q):  # then the rest decides, however small it is
            return sign_of(dict(left[count:]), keep)
    bits = 64
    while True:
        low = high = lead << bits
        for e, c in left[1:]:
            power = enclosed_power(keep, e - first, bits + c.bit_length())
            ends = sorted((c * power.low, c * power.high))
            low += ends[0] >> (power.shift - bits)
            high += -(-ends[1] >> (power.shift - bits))
        if low > 0 or high < 0:
            return 1 if low > 0 else -1
        bits *= 2


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


def _product(one: Sum, other: Sum, factor: int = 1) -> Sum:
    product: Sum = {}
    for e, c in one.items():
        for f, d in other.items():
            product[e + f] = product.get(e + f, 0) + factor * c * d
    return product


def _added(*sums: Sum) -> Sum:
    total: Sum = {}
    for terms in sums:
        for e, c in terms.items():
            total[e] = total.get(e, 0) + c
    return total


class Lead:
    """A sum of c g^(e + r m) C(m, k) as a function of m = 0, 1, …"""

    def __init__(self, terms: Mapping[Key, int], keep: Fraction) -> None:
        self.keep = keep
        parts: dict[tuple[int, int], Sum] = {}
        for (e, r, k), c in terms.items():
            if c:
                parts.setdefault((r, k), {})[e] = int(c)
        signs = {key: sign_of(part, keep) for key, part in parts.items()}
        self.parts = {key: part for key, part in parts.items() if signs[key]}
        self.signs = signs

    def sign(self, m: int, keys: Iterable[tuple[int, int]] | None = None) -> int:
        """The sign at m, of all terms or of some."""
        shifted = (
            {e + r * m: c * comb(m, k) for e, c in self.parts[r, k].items()}
            for r, k in keys or self.parts
        )
        return sign_of(_added(*shifted), self.keep)

    def first_reached(self, by: int | None = None) -> int | None:
        """The first m >= 1 (below `by`) at which a sum that is negative at 0 is not negative; None:
        there is none.

        If that would take too long, a layer up to which it is negative for sure.
        """
        positive = [key for key in self.parts if self.signs[key] > 0]
        if not positive or by == 1:
            return None  # what is negative at 0 has a term with k = 0, which never vanishes
        ranges, first = [(1, self._horizon(positive) if by is None else by - 1)], 1
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
        positive = [key for key in self.parts if self.signs[key] > 0]
        if not positive:
            return above
        ranges = [(above + 1, self._horizon(positive) if by is None else by)]
        while ranges:
            first, last = ranges.pop()
            if first > last or self._is_negative(first, last):
                continue
            if first == last:
                if self.sign(first) > 0:
                    return first
                continue
            middle = (first + last) // 2
            ranges += [(first, middle), (middle + 1, last)]
        return above

    def _horizon(self, positive: list[tuple[int, int]]) -> int:
        """A layer at which the sum is not negative, or from which on it is negative for ever.

        The term that is the largest in the end has the smallest r, and among those the largest k.
        If it is negative, compare the positive ones with it: a ratio g^(s m) C(m, k) / C(m, k0)
        changes from m to m + 1 by the factor g^s (m + 1 - k0) / (m + 1 - k). Once this is at most
        1, it stays so. So if all ratios fall from m on, and the sum of these terms is negative at
        m, it is negative from there on."""
        r0, k0 = dominant = min(self.parts, key=lambda key: (key[0], -key[1]))
        m = max(1, *(k for _, k in self.parts))
        if self.signs[dominant] > 0:
            while self.sign(m) < 0:
                m *= 2
            return m
        powers = {r: self.keep ** (r - r0) for r, _ in positive}
        while not all(powers[r] * (m + 1 - k0) <= m + 1 - k for r, k in positive) or (
            self.sign(m, [dominant, *positive]) >= 0
        ):
            m *= 2
        return m

    def _is_negative(self, first: int, last: int) -> bool:
        """Whether the sum is sure to be negative from one layer to another; for a single layer,
        whether it is.

        With C(m, k) replaced by its value at the end where the term is larger, it is h0 + h1 t + h2
        t^2 with t = g^m."""
        if first == last:
            return self.sign(first) < 0
        h: list[Sum] = [{}, {}, {}]
        for (r, k), part in self.parts.items():
            size = comb(last if self.signs[r, k] > 0 else first, k)
            h[r] = _added(h[r], {e: size * c for e, c in part.items()})

        def at(m: int, *factors: Sum) -> int:
            shifted = (
                {e + power * m: c for e, c in factor.items()}
                for power, factor in enumerate(factors)
            )
            return sign_of(_added(*shifted), self.keep)

        if at(first, *h) >= 0 or at(last, *h) >= 0:
            return False
        if sign_of(h[2], self.keep) >= 0:  # convex: largest at an end
            return True
        slope = h[1], {e: 2 * c for e, c in h[2].items()}
        if (
            at(first, *slope) >= 0 or at(last, *slope) <= 0
        ):  # concave, and its top is not between the ends
            return True
        return sign_of(_added(_product(h[1], h[1]), _product(h[0], h[2], -4)), self.keep) < 0


def binomial_product(a: int, b: int) -> dict[int, int]:
    """C(m, a) C(m, b) as a sum of factors times C(m, k), by k.

    >>> binomial_product(1, 1)
    {1: 1, 2: 2}
    """
    return {k: comb(k, a) * comb(a, k - b) for k in range(max(a, b), a + b + 1)}
