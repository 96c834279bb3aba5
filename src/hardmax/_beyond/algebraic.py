"""Real algebraic numbers, exactly: a root of an irreducible polynomial with integer coefficients,
and which one."""

from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from math import gcd
from typing import Any

from flint import ctx, fmpz, fmpz_poly

from hardmax._tokens.rationals import fractions_of

_LONGEST = 40  # characters of a number that is written exactly


@total_ordering
@dataclass(frozen=True, order=False)
class AlgebraicNumber:
    """A real algebraic number: one of the real roots of an irreducible polynomial. Made by
    `bifurcations`.

    Examples
    --------
    >>> root = AlgebraicNumber((1, -5, 3), 0)
    >>> str(root), round(float(root), 4), root < AlgebraicNumber((1, -5, 3), 1)
    ('(5 - √13)/6', 0.2324, True)
    """

    polynomial: tuple[int, ...]
    """Its coefficients, from the constant up: integers without a common divisor, the last one
    positive."""
    index: int
    """Which of its real roots, from the smallest up, starting at 0."""

    @classmethod
    def of(cls, number: Fraction) -> "AlgebraicNumber":
        """A rational number as an algebraic one.

        Parameters
        ----------
        number : Fraction
            The number.
        """
        return cls((-number.numerator, number.denominator), 0)

    @property
    def interval(self) -> tuple[Fraction, Fraction]:
        """Two rational numbers between which this root lies, and no other of the polynomial."""
        return self._within(64)

    def _within(self, bits: int) -> tuple[Fraction, Fraction]:
        """An enclosure, computed with this many bits."""
        if len(self.polynomial) == 2:
            number = Fraction(-self.polynomial[0], self.polynomial[1])
            return number, number
        with ctx.workprec(bits):
            ball = real_roots(fmpz_poly(list(self.polynomial)))[self.index]
        middle, radius = fractions_of([ball.mid().fmpq(), ball.rad().fmpq()])
        return middle - radius, middle + radius

    def __float__(self) -> float:
        return float(sum(self.interval) / 2)

    def __lt__(self, other: "AlgebraicNumber") -> bool:
        bits = 64
        while self != other:  # different numbers have disjoint enclosures
            (low, high), (least, most) = self._within(bits), other._within(bits)
            if high < least or most < low:
                return high < least
            bits *= 2
        return False

    def __repr__(self) -> str:
        return f"AlgebraicNumber({self})"

    def __str__(self) -> str:
        text = self._exactly() if len(self.polynomial) <= 3 else ""
        return text if 0 < len(text) <= _LONGEST else f"{float(self):.6g}"

    def _exactly(self) -> str:
        """A rational number, or a quadratic one, in digits."""
        if len(self.polynomial) == 2:
            return str(self.interval[0])
        c, b, a = self.polynomial  # pyright: ignore[reportAssignmentType]
        inside, outside = b * b - 4 * a * c, 1
        for prime, power in fmpz(inside).factor():
            outside *= int(prime) ** (power // 2)
        inside //= outside**2
        common = gcd(b, outside, 2 * a)
        first, outside, under = -b // common, outside // common, 2 * a // common
        factor = outside if outside > 1 else ""
        root = f"{'-+'[self.index]} {factor}√{inside}"
        text = f"{first} {root}" if first else root.replace(" ", "").lstrip("+")
        return text if under == 1 else f"({text})/{under}"


def real_roots(polynomial: Any) -> list[Any]:
    """The real roots of a polynomial of python-flint as balls, increasing."""
    roots = [root.real for root, _ in polynomial.complex_roots() if root.imag == 0]
    return sorted(roots, key=lambda root: root.mid())


def between(low: AlgebraicNumber, high: AlgebraicNumber) -> Fraction:
    """The number with the shortest binary expansion between two others."""
    bits = 64
    while True:  # different numbers have numbers between them
        least, most = low._within(bits)[1], high._within(bits)[0]
        for shift in range(bits):
            number = Fraction(int(least * 2**shift) + 1, 2**shift)
            if number < most:
                return number
        bits *= 2
