"""At which step sizes leaders or followers change: `bifurcations`.

Let N(k) = (1 + alpha)^k z(k). A layer with the attended sets C is N_i(k + 1) = N_i(k) + alpha mean
of N(k) over C_i, so with given sets every coordinate of N is a polynomial in alpha with rational
coefficients, and so is every lead of one token over another. A run at one alpha, up to the layer
from which on nothing changes, asks for the signs of finitely many such polynomials. Between the two
roots next to this alpha all of them keep their signs, so the run is the same there, layer by layer.
The rest of the range is treated in the same way, until intervals and roots fill it. A root is a
real algebraic number: its irreducible polynomial says exactly at which alpha another polynomial is
zero, so the run at a root is decided, too."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from operator import sub
from typing import TYPE_CHECKING, Any, NamedTuple

from flint import fmpq_poly, fmpz_poly

from hardmax import figures
from hardmax._beyond.algebraic import AlgebraicNumber, between, real_roots
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_int, shorten
from hardmax._exact.argmax import Attended
from hardmax._exact.vectors import exact_table, flint
from hardmax._exact.walker import FOREVER, ONE_LAYER, Sets, Walker
from hardmax._layer.parts import read_step
from hardmax._layer.rules import check_dimension, merge_points
from hardmax._tokens.batches import read_one
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import Number, dot, to_fractions
from hardmax.dynamics import Dynamics

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Polynomials = list[list[Any]]
"""A row of polynomials for each point."""
_MOST_INTERVALS = 500


class Outcome(NamedTuple):
    """Who leads and whom every token attends to in the end."""

    leaders: tuple[int, ...]
    attended: tuple[tuple[int, ...], ...]


class Interval(NamedTuple):
    """Step sizes between two others, and what they all lead to; None if the run had not settled
    when it was left."""

    low: AlgebraicNumber
    high: AlgebraicNumber
    outcome: Outcome | None


@dataclass(frozen=True)
class Bifurcations:
    """The step sizes at which leaders or followers change. Made by `bifurcations`.

    Examples
    --------
    >>> from hardmax import bifurcations, clouds
    >>> bifurcations(clouds.emerging_leader(), ("1/10", 2))
    Bifurcations(alpha from 1/10 to 2: (5 - √13)/6, (5 + √13)/6)
    """

    values: tuple[AlgebraicNumber, ...]
    """These step sizes, in order; beside an interval that is not decided, where that begins or
    ends. An end of the range is one of them if the outcome there is another than right beside
    it."""
    intervals: tuple[Interval, ...]
    """What lies between them and the ends of the range: open intervals."""
    at_values: tuple[Outcome | None, ...]
    """What happens exactly at each of the values."""

    def __repr__(self) -> str:
        ends = f"alpha from {self.intervals[0].low} to {self.intervals[-1].high}"
        values = ", ".join(map(str, self.values))
        undecided = sum(interval.outcome is None for interval in self.intervals)
        left = f"; {pluralize(undecided, 'interval')} not decided" if undecided else ""
        return f"Bifurcations({ends}: {values or 'nothing changes'}{left})"

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw a row for each token and, along alpha, whom it attends to in the end (extra
        `figures`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure with a title.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        return figures.plot_bifurcations(self, ax)


def bifurcations(
    tokens: Any, alpha: tuple[Number, Number], *, metric: Any = None, max_layers: int = 50
) -> Bifurcations:
    """Step sizes at which leaders or followers change, as exact algebraic numbers.

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        The cloud.
    alpha : tuple of two numbers or str
        Between which positive step sizes to look. The smaller they are, the more layers runs take.
    metric : array_like of shape (d, d), optional
        The matrix A; the identity by default.
    max_layers : int, default 50
        Step sizes at which the cloud has not settled by this layer are left undecided. Polynomials
        have twice its degree.

    Returns
    -------
    Bifurcations
        The values, and what happens between and at them.

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
        raise InputError(
            f"`alpha` must be two step sizes, such as ('1/10', 2), not {shorten(alpha)}."
        )
    low, high = (read_step(end) for end in alpha)
    if low >= high:
        raise InputError(
            f"`alpha` must be a smaller and a larger step size, not {low} and {high}.",
        )
    cloud, dynamics = read_one(tokens), Dynamics(1, metric)
    check_dimension(dynamics, cloud.tokens.shape[1])
    max_layers = check_int(max_layers, "`max_layers`", at_least=1, at_most=500)
    search = _Search(merge_points(dynamics, cloud), dynamics, max_layers)
    ends = AlgebraicNumber.of(low), AlgebraicNumber.of(high)
    values, intervals, at_values = [], [], []
    for cell in search.cells(*ends):
        before = intervals[-1] if intervals else cell
        here = search.run(cell.low).outcome
        changes = not before.outcome == here == cell.outcome
        if changes:
            values.append(cell.low)
            at_values.append(here)
        if changes or not intervals:
            intervals.append(cell)
        else:
            intervals[-1] = before._replace(high=cell.high)
    at_end = search.run(ends[1]).outcome
    if at_end != intervals[-1].outcome:
        values.append(ends[1])
        at_values.append(at_end)
    return Bifurcations(tuple(values), tuple(intervals), tuple(at_values))


class _Search:
    """All runs of one cloud, with the roots of the polynomials that they ask for."""

    def __init__(self, points: Points, dynamics: Dynamics, max_layers: int) -> None:
        self.points, self.max_layers = points, max_layers
        coordinates = to_fractions(points.coordinates, "`tokens`")
        self.place = [[fmpq_poly([flint(x)]) for x in row] for row in coordinates]
        metric = dynamics.metric
        self.metric = [] if metric is None else exact_table(metric).tolist()
        self.roots: dict[tuple[int, ...], list[AlgebraicNumber]] = {}

    def cells(self, low: AlgebraicNumber, high: AlgebraicNumber) -> Iterator[Interval]:
        """Open intervals that fill the range but for finitely many numbers."""
        gaps, runs = [(low, high)], 0
        while gaps:
            left, right = gaps.pop()
            at = AlgebraicNumber.of(between(left, right))
            run, runs = self.run(at), runs + 1
            if runs > _MOST_INTERVALS:
                many = f"more than {_MOST_INTERVALS} intervals up to {float(at):.4g}"
                raise InputError(f"`alpha`: {many}; ask for a part.")
            roots = {root for polynomial in run.asked for root in self.roots_of(polynomial)}
            if at in roots:
                gaps += [(at, right), (left, at)]
                continue
            start = max((root for root in roots if left < root < at), default=left)
            end = min((root for root in roots if at < root < right), default=right)
            if start != left:
                gaps += [(start, right), (left, start)]
                continue
            yield Interval(start, end, run.outcome)
            if end != right:
                gaps.append((end, right))

    def roots_of(self, polynomial: tuple[int, ...]) -> list[AlgebraicNumber]:
        """The positive roots."""
        if polynomial not in self.roots:
            positive = []
            for factor, _ in fmpz_poly(list(polynomial)).factor()[1]:
                key = tuple(map(int, factor.coeffs()))
                key = key if key[-1] > 0 else tuple(-c for c in key)
                roots = enumerate(real_roots(factor))
                positive += [AlgebraicNumber(key, k) for k, root in roots if root.mid() > 0]
            self.roots[polynomial] = positive
        return self.roots[polynomial]

    def run(self, alpha: AlgebraicNumber) -> "_Run":
        run = _Run(alpha, self)
        for outcome in islice(run.walk(self.points.count), self.max_layers):
            run.outcome = outcome
        return run


class _Run(Walker[Outcome | None]):
    """A run at one step size, and all polynomials whose sign decided something."""

    outcome: Outcome | None = None
    """What it leads to; None as long as it has not settled."""

    def __init__(self, alpha: AlgebraicNumber, search: _Search) -> None:
        self.alpha, self.points, self.metric = alpha, search.points, search.metric
        self.place = self.targets = search.place
        self.asked: dict[tuple[int, ...], int] = {}

    def sign(self, polynomial: Any) -> int:
        """The sign of a polynomial with rational coefficients at this step size."""
        integers = polynomial.numer()
        key = tuple(map(int, integers.coeffs()))
        if not any(key) or min(key) >= 0 or max(key) <= 0:  # the same at all step sizes
            return (max(key, default=0) > 0) - (min(key, default=0) < 0)
        if key not in self.asked:
            self.asked[key] = self.alpha.sign_of(integers)
        return self.asked[key]

    def along(self, place: list[Any]) -> list[Any]:
        """A z for a point z."""
        return [dot(row, place) for row in self.metric] or place

    def attended(self, pending: list[int]) -> Attended:
        sets = []
        for i in pending:
            direction = self.along(self.place[i])
            scores = [dot(direction, other) for other in self.place]
            furthest = [0]
            for j in range(1, len(scores)):
                sign = self.sign(scores[j] - scores[furthest[0]])
                if sign > 0:
                    furthest = []
                if sign >= 0:
                    furthest.append(j)
            sets.append(furthest)
        return Attended(sets, 0.0)

    def _means(self, sets: Sets, table: Polynomials) -> Polynomials:
        counts, means = self.points.multiplicities.tolist(), {}
        for several in {*map(tuple, sets)}:
            weights = [counts[j] for j in several]
            columns = zip(*(table[j] for j in several), strict=True)
            means[several] = [dot(column, weights) / sum(weights) for column in columns]
        return [means[tuple(several)] for several in sets]

    def closed_form(self, sets: Sets, pending: list[int]) -> Polynomials | None:
        """The targets, if they stand still."""
        self.targets = self._means(sets, self.place)
        if pending:
            rows = zip(self._means(sets, self.targets), self.targets, strict=True)
            if any(self.sign(way) for means, there in rows for way in map(sub, means, there)):
                return None
        return self.targets

    def first_change(self, form: Polynomials, sets: Sets, pending: list[int]) -> int | None:
        """FOREVER, if no lead of a token over one that is attended to can change its sign on the
        way: b0 (1 - t)^2 + b1 t (1 - t) + b2 t^2 for 0 < t <= 1, as in docs/limits.md."""
        for i in pending:
            c, look, aim = sets[i][0], self.along(self.place[i]), self.along(form[i])
            for j in range(len(form)):
                here, there = ([*map(sub, z[j], z[c])] for z in (self.place, form))
                b0, b1 = dot(aim, there), dot(aim, here) + dot(look, there)
                if j in sets[i]:
                    changes = self.sign(b0) or self.sign(b1)
                elif self.sign(b0) > 0 or self.sign(b1) <= 0:
                    changes = self.sign(b0) > 0
                else:
                    changes = self.sign(b1 * b1 - 4 * b0 * dot(look, here)) >= 0
                if changes:
                    return ONE_LAYER
        return FOREVER

    def phase(self, sets: Sets, **known: Any) -> Outcome | None:
        if known["until"] is not FOREVER:
            return None
        members, of_token = self.points.members, self.points.of_token.tolist()
        attended = [tuple(sorted(t for p in c for t in members[p].tolist())) for c in sets]
        leaders = tuple(token for token, p in enumerate(of_token) if list(sets[p]) == [p])
        return Outcome(leaders, tuple(attended[p] for p in of_token))

    def advance(self, phase: Outcome | None, layers: int) -> None:
        step = fmpq_poly([0, 1])
        self.place = [
            [x + step * y for x, y in zip(*rows, strict=True)]
            for rows in zip(self.place, self.targets, strict=True)
        ]
