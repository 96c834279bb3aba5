"""Exact vectors over one denominator, and powers g^m of the contraction g = 1 / (1 + alpha).

An exact power has as many digits as m times the denominator of g, and m may be astronomical where
alpha is small. So long powers are enclosed, in balls of python-flint's `arb`."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat

from hardmax._common.validation import InputError, shorten
from hardmax._tokens.rationals import fractions_of

Vector = tuple[Fraction, ...]
ExactVector = list[Any]
"""Rationals of python-flint, which are faster."""

# Of an exact coordinate. A layer adds those of 1 + alpha; a sum of fractions as long as this takes
# a second, in which Python hears no Ctrl-C.
MOST_DIGITS = 100_000
# The bits of a digit of Python's integers.
DIGIT = 30
# Shorter powers are computed as they are.
SHORT = 4096
# 57 digits, beyond those that m costs.
_BITS = 190
# Far below what can show in a float64, whatever the tokens: their span is 2^-1074 to 2^1024.
_NEGLIGIBLE = arb(2) ** -2400


def flint(number: Fraction) -> fmpq:
    return fmpq(number.numerator, number.denominator)


def exact_table(numbers: np.ndarray) -> np.ndarray:
    """A table of floats or Fractions as rationals of python-flint."""
    rows = [[fmpq(*x.as_integer_ratio()) for x in row] for row in numbers.tolist()]
    return np.array(rows, dtype=object)


def common_rows(vectors: Sequence[ExactVector]) -> tuple[list[list[int]], int]:
    """The numerators of some vectors over one common denominator, and that denominator."""
    numerators, denominator = fmpq_mat(list(vectors)).numer_denom()
    return [list(map(int, row)) for row in numerators.tolist()], int(denominator)


class TooLong(InputError):
    """Exact numbers that are too long to be worked with."""

    @classmethod
    def at(cls, layer: int, others: str) -> "TooLong":
        problem = f"`layer` {shorten(layer)} has no exact tokens that could be worked with"
        reason = f"their fractions would have more than {MOST_DIGITS:,} digits"
        return cls(f"{problem}: {reason}. Ask for {others}, or for floats (`at`).")


@lru_cache(maxsize=4096)
def enclosed_power(contraction: Fraction, layers: int, bits: int) -> arb:
    """A ball that has contraction^layers, with a radius of less than 2^-bits of it.

    >>> third = enclosed_power(Fraction(1, 3), 1, 20)
    >>> third.rel_accuracy_bits() >= 20, abs(float(third) - 1 / 3) < 1e-6
    (True, True)
    """
    precision = bits + layers.bit_length() + 16
    while True:
        # The precision is that of all threads: another one may have changed it.
        with ctx.workprec(precision):
            power = (arb(contraction.numerator) / contraction.denominator) ** layers
        if power.rel_accuracy_bits() > bits:
            return power
        precision *= 2


def power(contraction: Fraction, layers: int) -> Fraction:
    """g^m: exact while short, else to 50 digits, and 0 where no float64 would show it. Any m costs
    the same.

    >>> power(Fraction(2, 3), 2), power(Fraction(2, 3), 10**9)
    (Fraction(4, 9), Fraction(0, 1))
    """
    if layers * contraction.denominator.bit_length() < SHORT:
        return contraction**layers
    enclosed = enclosed_power(contraction, layers, _BITS)
    if enclosed < _NEGLIGIBLE:
        return Fraction(0)
    return fractions_of([enclosed.mid().fmpq()])[0]


def check_length(contraction: Fraction, layer: int) -> None:
    """Refuse a layer whose exact tokens would be too long to be worked with: g^layer is a part of
    them."""
    last = int(MOST_DIGITS / math.log10(contraction.denominator))
    if layer > last:
        raise TooLong.at(layer, f"layers up to {last:,}")
