"""Linear programs in exact arithmetic.

Given rows b_1, …, b_K of integers, find

    t = max over a with |a_c| <= 1 of min over k of <a, b_k>  =  min over y of |sum of y_k b_k|_1,

where y >= 0 adds up to 1: the two sides are dual to each other. So either some a has <a, b_k> > 0
for all k, and the largest such t comes with it; or t = 0, and the y with sum y_k b_k = 0 proves
that no a, however large, has that (Gordan's theorem).

The right side is minimised by the revised simplex method. Its columns are (b_k, 1), and -e_c and
e_c with cost 1 for the two signs of each coordinate of the sum. Floats go first. They decide
nothing, but where they end is mostly the best basis, and fractions need only prove it."""

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq_mat, fmpz_mat

_PATIENCE = 20  # steps without progress before the rule that cannot go round in circles
_FRESH = 64  # exchanges after which an inverse in floats is computed anew

Row = Sequence[int]


class Best(NamedTuple):
    """The largest t with an `a` that reaches it, and the weights y that are not 0, by row: they
    prove it."""

    a: list[Fraction]
    t: Fraction
    weights: dict[int, Fraction]


class LinearProgram:
    """Both programs, to whose `rows` more can be added: it goes on from where it was.

    Columns 0, …, K - 1 are those of the rows; -1 - 2c and -2 - 2c are e_c and -e_c."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = list(rows)
        # Of the first row alone, each coordinate is taken up by the column of its sign.
        self.basis = [-1 - 2 * c - (x > 0) for c, x in enumerate(rows[0])] + [0]
        self.guess = list(self.basis)

    def estimate(self) -> tuple[list[float], float]:
        """About the best a and t, in floats; t in units of the largest number in a row."""
        state = self._improve(self.guess, _Floats(self.rows), at_most=200 * len(self.guess))
        return state.a, state.t

    def solve(self) -> Best:
        """The best of both."""
        fractions = _Fractions(self.rows)
        with suppress(np.linalg.LinAlgError, ZeroDivisionError):  # the guess is singular
            self.estimate()
            fractions.start(self.guess)
            if min(_State(self.guess, fractions).values) >= 0:
                self.basis = self.guess
        best = self._improve(self.basis, fractions)
        self.guess = list(self.basis)
        weights = {
            number: to_fraction(value)
            for number, value in zip(self.basis, best.values, strict=True)
            if number >= 0 and value
        }
        return Best([*map(to_fraction, best.a)], to_fraction(best.t), dict(sorted(weights.items())))

    def _improve(
        self, basis: list[int], numbers: "_Fractions | _Floats", at_most: float = np.inf
    ) -> "_State":
        """Change the basis step by step until it is the best one."""
        numbers.start(basis)
        lowest, waited, steps = None, 0, 0
        while True:
            state = _State(basis, numbers)
            waited = waited + 1 if state.t == lowest else 0
            lowest, steps = state.t, steps + 1
            entering = state.entering(first=waited > _PATIENCE)
            if entering is None or steps > at_most:
                return state
            way = numbers.weights(numbers.column(entering))
            leaving = state.leaving(way)
            if leaving is None:  # floats only: what leaves is lost in rounding
                return state
            basis[leaving] = entering
            numbers.exchange(basis, leaving, way)


class _State:
    """What belongs to a basis: the point y, and the prices, of which all but the last are -a."""

    def __init__(self, basis: list[int], numbers: "_Fractions | _Floats") -> None:
        self.basis, self.numbers = basis, numbers
        *prices, self.t = numbers.prices([int(number < 0) for number in basis])
        self.a = [-price for price in prices]
        self.values = numbers.weights([0] * len(prices) + [1])

    def entering(self, *, first: bool) -> int | None:
        """A column that lowers the sum: the one that promises most, or the first; None if there is
        none."""
        gains = self.numbers.gains(self.a, self.t)
        lowering = [number for number, gain in gains.items() if gain < -self.numbers.slack]
        return min(lowering, key=None if first else gains.__getitem__, default=None)

    def leaving(self, way: list[Any]) -> int | None:
        """The place in the basis that a column takes; `way` are its weights."""
        ratios = [
            (value / x, number, place)
            for place, (value, x, number) in enumerate(
                zip(self.values, way, self.basis, strict=True)
            )
            if x > self.numbers.slack
        ]
        return min(ratios)[2] if ratios else None


class _Fractions:
    """The linear algebra of a basis, in rationals of flint."""

    slack = 0

    def __init__(self, rows: list[Row]) -> None:
        self.rows, self.table = rows, fmpz_mat([list(row) for row in rows])
        self.columns: list[list[Any]] = []

    def start(self, basis: list[int]) -> None:
        """Begin with a basis."""
        self.columns = [self.column(number) for number in basis]

    def exchange(self, basis: list[int], place: int, way: list[Any]) -> None:
        """Go on with a basis that has another column there, which is `way` in the one before."""
        self.columns[place] = self.column(basis[place])

    def column(self, number: int) -> list[Any]:
        """The numbers of a column."""
        if number >= 0:
            return [*self.rows[number], 1]
        place, sign = divmod(-1 - number, 2)
        column = [0] * (len(self.rows[0]) + 1)
        column[place] = 1 - 2 * sign
        return column

    def prices(self, costs: list[int]) -> list[Any]:
        """What each coordinate is worth, given the costs of the columns."""
        return fmpq_mat(self.columns).solve(fmpq_mat([[cost] for cost in costs])).entries()

    def weights(self, column: list[Any]) -> list[Any]:
        """The columns of the basis times these add up to the column."""
        basis = fmpq_mat(self.columns).transpose()
        return basis.solve(fmpq_mat([[x] for x in column])).entries()

    def gains(self, a: list[Any], t: Any) -> dict[int, Any]:
        """By how much each column changes the sum per unit, times a common denominator."""
        numerators, common = fmpq_mat([[*a, t]]).numer_denom()
        *a, t = numerators.entries()
        scores = (self.table * fmpz_mat([[x] for x in a])).entries()
        gains = {number: score - t for number, score in enumerate(scores)}
        for c, x in enumerate(a):
            gains[-1 - 2 * c], gains[-2 - 2 * c] = common + x, common - x
        return gains


class _Floats(_Fractions):
    """The same in floats, with rows of a common scale: an inverse that is kept up to date."""

    slack = 2.0**-30

    def __init__(self, rows: list[Row]) -> None:
        largest = max((abs(x) for row in rows for x in row), default=1) or 1
        self.rows = [[x / largest for x in row] for row in rows]
        self.table = np.array(self.rows)
        self.inverse, self.exchanges = np.empty((0, 0)), 0

    def start(self, basis: list[int]) -> None:
        columns = [self.column(number) for number in basis]
        self.inverse = np.linalg.inv(np.array(columns, dtype=np.float64).T)

    def exchange(self, basis: list[int], place: int, way: list[Any]) -> None:
        self.exchanges += 1
        if self.exchanges % _FRESH == 0:
            self.start(basis)
            return
        row = self.inverse[place] / way[place]
        self.inverse -= np.outer(way, row)
        self.inverse[place] = row

    def prices(self, costs: list[int]) -> list[Any]:
        return (costs @ self.inverse).tolist()

    def weights(self, column: list[Any]) -> list[Any]:
        return (self.inverse @ column).tolist()

    def gains(self, a: list[Any], t: Any) -> dict[int, Any]:
        gains = dict(enumerate((self.table @ a - t).tolist()))
        for c, x in enumerate(a):
            gains[-1 - 2 * c], gains[-2 - 2 * c] = 1 + x, 1 - x
        return gains


def to_fraction(value: Any) -> Fraction:
    """A rational of flint as one of Python."""
    return Fraction(int(value.p), int(value.q))
