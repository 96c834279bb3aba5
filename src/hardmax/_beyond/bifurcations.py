"""At which step sizes leaders or followers change: `bifurcations`.

Let N(k) = (1 + alpha)^k z(k). A layer with the attended sets C is N_i(k + 1) = N_i(k) + alpha mean
of N(k) over C_i, so with given sets every coordinate of N is a polynomial in alpha with rational
coefficients, and so is every lead of one token over another. A run at one alpha, up to the layer
from which on nothing changes, rests on the signs of finitely many such polynomials. Between the two
roots next to this alpha all of them keep their signs, so the run is the same there, layer by layer.
The rest of the range is treated in the same way, until intervals and roots fill it. A root is a
real algebraic number."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from operator import sub
from typing import Any, NamedTuple

from flint import fmpq_poly, fmpz_poly

from hardmax._beyond.algebraic import AlgebraicNumber, between, real_roots
from hardmax._common.format import abridge, first_few, pluralize
from hardmax._common.progress import Search
from hardmax._common.validation import InputError, check_int, shorten
from hardmax._exact.vectors import exact_table, flint
from hardmax._layer.parts import read_step
from hardmax._layer.rules import check_dimension
from hardmax._tokens.batches import Cloud, read_one
from hardmax._tokens.points import merge
from hardmax._tokens.rationals import Number, dot, to_fractions
from hardmax.dynamics import Dynamics
from hardmax.figures.pictured import Pictured
from hardmax.infinite_depth import limit

Polynomials = list[list[Any]]
"""A row of polynomials for each point."""
_MOST_RUNS = 1000


class Outcome(NamedTuple):
    """Who leads and what every token attends to in the end."""

    leaders: tuple[int, ...]
    attended: tuple[tuple[int, ...], ...]


class Interval(NamedTuple):
    """Step sizes between two others, and what they lead to, but for finitely many at which tokens
    may tie; None if the run had not settled when it was left."""

    low: AlgebraicNumber
    high: AlgebraicNumber
    outcome: Outcome | None

    def __repr__(self) -> str:
        who = "not decided"
        if self.outcome:
            who = f"leaders {first_few(map(str, self.outcome.leaders), 12)}"
        return f"Interval({self.low} to {self.high}: {who})"


@dataclass(frozen=True)
class Bifurcations(Pictured):
    """The step sizes at which leaders or followers change. Made by `bifurcations`.

    Its picture: a row for each token and, along alpha, what it attends to in the end.

    Examples
    --------
    >>> from hardmax import bifurcations, clouds
    >>> bifurcations(clouds.emerging_leader(), ("1/10", 2))
    Bifurcations(alpha from 1/10 to 2: (5 - √13)/6, (5 + √13)/6)
    """

    _figure = "plot_bifurcations"
    values: tuple[AlgebraicNumber, ...]
    """These step sizes, in order, between intervals that are decided. What happens exactly there
    `limit` tells, if they are rational."""
    intervals: tuple[Interval, ...]
    """What lies between them and the ends of the range: open intervals."""
    interrupted: bool = False
    """Whether Ctrl-C ended the search: then the last interval was not looked at."""

    def __repr__(self) -> str:
        ends = f"alpha from {self.intervals[0].low} to {self.intervals[-1].high}"
        values = abridge([*map(str, self.values)], 5)
        undecided = sum(interval.outcome is None for interval in self.intervals)
        left = f"; {pluralize(undecided, 'interval')} not decided" if undecided else ""
        left += ", interrupted" * self.interrupted
        none = "no change found" if undecided else "nothing changes"
        return f"Bifurcations({ends}: {values or none}{left})"


def bifurcations(
    tokens: Any,
    alpha: tuple[Number, Number],
    *,
    metric: Any = None,
    max_layers: int = 50,
) -> Bifurcations:
    """Step sizes at which leaders or followers change, as exact algebraic numbers.

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        The cloud.
    alpha : tuple of two numbers or str
        The positive step sizes between which to look. The smaller they are, the more layers runs
        take.
    metric : array_like of shape (d, d), optional
        The matrix A; the identity by default.
    max_layers : int, default 50
        Step sizes at which the cloud has not settled by this layer are left undecided. Polynomials
        have twice its degree.

    Returns
    -------
    Bifurcations
        The values, and what happens between them. After Ctrl-C, what was found so far.

    Examples
    --------
    >>> from hardmax import clouds
    >>> found = bifurcations(clouds.emerging_leader(), ("1/10", 2))
    >>> [str(value) for value in found.values]
    ['(5 - √13)/6', '(5 + √13)/6']
    >>> found.values[0].polynomial, [interval.outcome.leaders for interval in found.intervals]
    ((1, -5, 3), [(0, 2), (0, 1, 2), (0, 2)])
    """
    if not isinstance(alpha, list | tuple) or len(alpha) != 2:
        wish = "two step sizes, such as ('1/10', 2)"
        raise InputError(f"`alpha` must be {wish}, not {shorten(alpha)}.")
    low, high = (read_step(end) for end in alpha)
    if low >= high:
        raise InputError(
            f"`alpha` must be a smaller and a larger step size, not {low} and {high}.",
        )
    cloud = read_one(tokens)
    check_dimension(Dynamics(1, metric), cloud.tokens.shape[1])
    max_layers = check_int(max_layers, "`max_layers`", at_least=1, at_most=500)
    search = _Search(cloud.tokens, metric, max_layers)
    ends = AlgebraicNumber.of(low), AlgebraicNumber.of(high)
    intervals: list[Interval] = []
    with Search("step sizes") as report:
        for cell in search.cells(*ends, report):
            if intervals and intervals[-1].outcome == cell.outcome:
                intervals[-1] = intervals[-1]._replace(high=cell.high)
            else:
                intervals.append(cell)
    if report.interrupted:
        reached = intervals[-1].high if intervals else ends[0]
        intervals.append(Interval(reached, ends[1], None))
    values = tuple(
        right.low for left, right in pairwise(intervals) if left.outcome and right.outcome
    )
    return Bifurcations(values, tuple(intervals), report.interrupted)


class _Search:
    """All runs of one cloud, with the roots of the polynomials on which they rest."""

    def __init__(self, tokens: Any, metric: Any, max_layers: int) -> None:
        self.tokens, self.metric, self.max_layers = tokens, metric, max_layers
        points = merge(Cloud(tokens))
        self.firsts = [int(members[0]) for members in points.members]
        self.of_token, self.counts = points.of_token, points.multiplicities.tolist()
        coordinates = to_fractions(points.coordinates, "`tokens`")
        self.start = [[fmpq_poly([flint(x)]) for x in row] for row in coordinates]
        table = Dynamics(1, metric).metric
        self.matrix = [] if table is None else exact_table(table).tolist()
        self.roots: dict[tuple[int, ...], list[AlgebraicNumber]] = {}

    def cells(
        self, low: AlgebraicNumber, high: AlgebraicNumber, report: Search
    ) -> Iterator[Interval]:
        """Open intervals that fill the range but for finitely many numbers."""
        gaps, left = [(low, high)], low
        for runs in range(_MOST_RUNS):
            if not gaps:
                return
            left, right = gaps.pop()
            report(runs, _MOST_RUNS, f"at most, alpha from {float(left):.4g} on")
            alpha = between(left, right)
            at = AlgebraicNumber.of(alpha)
            outcome, polynomials = self.run(alpha)
            roots = {root for polynomial in polynomials for root in self.roots_of(polynomial)}
            if at in roots:
                gaps += [(at, right), (left, at)]
                continue
            start = max((root for root in roots if left < root < at), default=left)
            end = min((root for root in roots if at < root < right), default=right)
            if start != left:
                gaps += [(start, right), (left, start)]
                continue
            yield Interval(start, end, outcome)
            if end != right:
                gaps.append((end, right))
        many = f"more than {_MOST_RUNS} intervals up to {float(left):.4g}"
        raise InputError(f"`alpha`: {many}; ask for a part.")

    def roots_of(self, polynomial: tuple[int, ...]) -> list[AlgebraicNumber]:
        """The positive roots."""
        if polynomial not in self.roots:
            positive = []
            for factor, _ in fmpz_poly(list(polynomial)).factor()[1]:
                key = tuple(map(int, factor.coeffs()))  # the last is positive
                roots = enumerate(real_roots(factor))
                positive += [AlgebraicNumber(key, k) for k, root in roots if root.mid() > 0]
            self.roots[polynomial] = positive
        return self.roots[polynomial]

    def run(self, alpha: Fraction) -> tuple[Outcome | None, set[tuple[int, ...]]]:
        """What a step size leads to, and the polynomials on whose signs that rests."""
        dynamics, place = Dynamics(alpha, self.metric), self.start
        lim = limit(self.tokens, dynamics, max_layers=self.max_layers, arithmetic="exact")
        self.alpha, self.known = flint(alpha), set()
        pending = [*range(len(self.firsts))]
        for layer in range(self.max_layers):
            attended = lim.run.attended(layer).tolist()
            sets = [sorted({int(self.of_token[j]) for j in attended[i]}) for i in self.firsts]
            for i in pending:
                scores = [dot(self.along(place[i]), other) for other in place]
                for score in scores:
                    self.sign(score - scores[sets[i][0]])
            # Who follows a leader does so for ever.
            pending = [i for i in pending if len(sets[i]) > 1 or sets[sets[i][0]] != sets[i]]
            targets = self.means(sets, place)
            if self.lasts(sets, pending, place, targets):
                leaders = [t for t, p in enumerate(self.of_token) if sets[p] == [p]]
                return Outcome(tuple(leaders), tuple(map(tuple, attended))), self.known
            step, rows = fmpq_poly([0, 1]), zip(place, targets, strict=True)
            place = [[x + step * y for x, y in zip(*pair, strict=True)] for pair in rows]
        return None, self.known

    def along(self, place: list[Any]) -> list[Any]:
        """A z for a point z."""
        return [dot(row, place) for row in self.matrix] or place

    def means(self, sets: list[list[int]], table: Polynomials) -> Polynomials:
        means = []
        for several in sets:
            weights = [self.counts[j] for j in several]
            columns = zip(*(table[j] for j in several), strict=True)
            means.append([dot(column, weights) / sum(weights) for column in columns])
        return means

    def lasts(
        self,
        sets: list[list[int]],
        pending: list[int],
        place: Polynomials,
        targets: Polynomials,
    ) -> bool:
        """Whether these sets stay for ever: if targets stand still, and no lead of a token over one
        that is attended to changes its sign on the way: b0 (1 - t)^2 + b1 t (1 - t) + b2 t^2 for
        0 < t <= 1, as in docs/limits.md."""
        if pending:
            rows = zip(self.means(sets, targets), targets, strict=True)
            if any(self.sign(x) for means, there in rows for x in map(sub, means, there)):
                return False
        for i in pending:
            c, look, aim = sets[i][0], self.along(place[i]), self.along(targets[i])
            for j in range(len(sets)):
                here, there = ([*map(sub, z[j], z[c])] for z in (place, targets))
                b0, b1 = dot(aim, there), dot(aim, here) + dot(look, there)
                if j in sets[i]:
                    changes = self.sign(b0) or self.sign(b1)
                elif self.sign(b0) > 0 or self.sign(b1) <= 0:
                    changes = self.sign(b0) > 0
                else:
                    changes = self.sign(b1 * b1 - 4 * b0 * dot(look, here)) >= 0
                if changes:
                    return False
        return True

    def sign(self, polynomial: Any) -> int:
        """The sign of a polynomial with rational coefficients at this step size; it is kept, if it
        may be another one elsewhere."""
        key = tuple(map(int, polynomial.numer().coeffs()))
        if any(c > 0 for c in key) and any(c < 0 for c in key):
            self.known.add(key)
        value = polynomial(self.alpha)
        return (value > 0) - (value < 0)
