"""Linear programs in exact arithmetic.

Given rows b_1, …, b_K of integers, find

    t = max over a with |a_c| <= 1 of min over k of <a, b_k>  =  min over y of |sum of y_k b_k|_1,

where y >= 0 adds up to 1: the two sides are dual to each other. So either some a has <a, b_k> > 0
for all k, and the largest such t comes with it; or t = 0, and the y with sum y_k b_k = 0 proves
that no a, however large, has that (Gordan's theorem).

The right side is minimised by the revised simplex method. Its columns are (b_k, 1), and -e_c and
e_c with cost 1 for the two signs of each coordinate of the sum."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from flint import fmpq_mat, fmpz, fmpz_mat

_PATIENCE = 20  # steps without progress before the rule that cannot go round in circles


class Best(NamedTuple):
    """The largest t with an `a` that reaches it, and the weights y that are not 0, by row: they
    prove it."""

    a: list[Fraction]
    t: Fraction
    weights: dict[int, Fraction]


def best_margin(rows: Sequence[Sequence[int]]) -> Best:
    """Solve both programs."""
    return _Simplex(rows).solve()


class _Simplex:
    """Columns 0, …, K - 1 are those of the rows; K + 2c and K + 2c + 1 are -e_c and e_c."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self.rows, self.count, self.size = rows, len(rows), len(rows[0])
        self.table = fmpz_mat([list(row) for row in rows])
        # Of the first row alone, each coordinate is taken up by the column of its sign.
        self.basis = [self.count + 2 * c + (x < 0) for c, x in enumerate(rows[0])] + [0]

    def column(self, number: int) -> list[int]:
        if number < self.count:
            return [*self.rows[number], 1]
        place, sign = divmod(number - self.count, 2)
        column = [0] * (self.size + 1)
        column[place] = 2 * sign - 1
        return column

    def solve(self) -> Best:
        lowest, waited = None, 0
        one = fmpq_mat([[0]] * self.size + [[1]])
        while True:
            matrix = fmpq_mat([self.column(number) for number in self.basis]).transpose()
            costs = [[int(number >= self.count)] for number in self.basis]
            prices = matrix.transpose().solve(fmpq_mat(costs))
            values = [x for (x,) in matrix.solve(one).tolist()]
            a, t = [-prices[c, 0] for c in range(self.size)], prices[self.size, 0]
            waited = waited + 1 if t == lowest else 0
            lowest = t
            entering = self.entering(a, t, first=waited > _PATIENCE)
            if entering is None:
                break
            way = [
                x for (x,) in matrix.solve(fmpq_mat([[x] for x in self.column(entering)])).tolist()
            ]
            ratios = [
                (value / x, number, place)
                for place, (value, x, number) in enumerate(
                    zip(values, way, self.basis, strict=True)
                )
                if x > 0
            ]
            self.basis[min(ratios)[2]] = entering
        weights = {
            number: to_fraction(value)
            for number, value in zip(self.basis, values, strict=True)
            if number < self.count and value
        }
        return Best([to_fraction(x) for x in a], to_fraction(t), dict(sorted(weights.items())))

    def entering(self, a: list[Any], t: Any, *, first: bool) -> int | None:
        """A column that lowers the sum: the one that promises most, or the first; None if there is
        none."""
        common = _common_denominator([*a, t])
        scaled = fmpz_mat([[_numerator(x, common)] for x in a])
        bound = _numerator(t, common)
        gains = [score - bound for (score,) in (self.table * scaled).tolist()]
        for x in a:
            gains += [common - _numerator(x, common), common + _numerator(x, common)]
        if first:
            return next((number for number, gain in enumerate(gains) if gain < 0), None)
        lowest = min(gains)
        return gains.index(lowest) if lowest < 0 else None


def to_fraction(value: Any) -> Fraction:
    """A rational of flint as one of Python."""
    return Fraction(int(value.p), int(value.q))


def _common_denominator(values: Sequence[Any]) -> Any:
    common = fmpz(1)
    for value in values:
        common = common.lcm(value.q)
    return common


def _numerator(value: Any, common: Any) -> Any:
    return value.p * (common // value.q)
