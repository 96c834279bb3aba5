"""At which step sizes leaders or followers change: `bifurcations`.

Let N(k) = (1 + alpha)^k z(k). A layer with the attended sets C is N_i(k + 1) = N_i(k) + alpha mean
of N(k) over C_i, so with given sets every coordinate of N is a polynomial in alpha with rational
coefficients, and so is every lead of one token over another. A run at one alpha, up to the layer
from which on nothing changes, asks for the signs of finitely many such polynomials. Between the two
roots next to this alpha all of them keep their signs, so the run is the same there, layer by layer.
The rest of the range is treated in the same way, until intervals and roots fill it. A root is a
real algebraic number: its irreducible polynomial says exactly at which alpha another polynomial is
zero, so the run at a root is decided, too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hardmax._beyond.algebraic import AlgebraicNumber, between
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_int, require_extra, shorten
from hardmax._exact.argmax import _flint
from hardmax._layer.parts import read_step
from hardmax._layer.rules import check_dimension, merge_points
from hardmax._tokens.batches import read_batch
from hardmax._tokens.rationals import Number, to_fractions
from hardmax.dynamics import Dynamics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Sets = tuple[tuple[int, ...], ...]
Table = list[list[Any]]
"""A row of polynomials for each point."""
_MOST_INTERVALS = 500


class Outcome(NamedTuple):
    """Who leads and whom every token attends to in the end."""

    leaders: tuple[int, ...]
    attended: Sets


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

    def plot(
        self, *, ax: "Axes | None" = None, figsize: tuple[float, float] | None = None
    ) -> "Axes":
        """Draw a row for each token and, along alpha, whom it attends to in the end (extra
        `figures`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure with a title.
        figsize : tuple of float, optional
            Size of the new figure, in inches.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        from hardmax.figures.bifurcations import plot_bifurcations

        return plot_bifurcations(self, ax=ax, figsize=figsize)


def bifurcations(
    tokens: Any, alpha: tuple[Number, Number], *, metric: Any = None, max_layers: int = 50
) -> Bifurcations:
    """Step sizes at which leaders or followers change, as exact algebraic numbers (extra `exact`).

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
    require_extra("`bifurcations`", "exact", "flint")
    if not isinstance(alpha, list | tuple) or len(alpha) != 2:
        raise InputError(
            f"`alpha` must be two step sizes, such as ('1/10', 2), not {shorten(alpha)}."
        )
    low, high = (read_step(end) for end in alpha)
    if low >= high:
        raise InputError(
            f"`alpha` must be a smaller and a larger step size, not {low} and {high}.",
            argument="alpha",
        )
    clouds, form = read_batch(tokens)
    if not form.is_single:
        raise InputError(
            "`tokens` must be one cloud of shape (n, d), not a batch.", argument="tokens"
        )
    dynamics = Dynamics(1, metric)
    check_dimension(dynamics, clouds[0].tokens.shape[1])
    points = merge_points(dynamics, clouds[0])
    z = to_fractions(points.coordinates, "`tokens`")
    looks = z if dynamics.metric is None else z @ np.array(dynamics.metric).T
    search = _Search(
        z,
        looks,
        points.multiplicities,
        check_int(max_layers, "`max_layers`", at_least=1, at_most=500),
    )

    def outcome(sets: Sets | None) -> Outcome | None:
        """The same of tokens instead of points."""
        if sets is None:
            return None
        named = [
            tuple(sorted(t for p in several for t in points.members[p].tolist()))
            for several in sets
        ]
        leads = [sets[p] == (p,) for p in points.of_token.tolist()]
        leaders = tuple(token for token, leading in enumerate(leads) if leading)
        return Outcome(leaders, tuple(named[p] for p in points.of_token.tolist()))

    ends = AlgebraicNumber.of(low), AlgebraicNumber.of(high)
    values, intervals, at_values = [], [], []

    def note(value: AlgebraicNumber, before: Outcome | None, after: Outcome | None) -> bool:
        """Whether something changes at a value; if so, it is kept."""
        here = outcome(search.run(value).sets)
        if changes := not before == here == after:
            values.append(value)
            at_values.append(here)
        return changes

    for start, end, sets in search.cells(*ends):
        there = Interval(start, end, outcome(sets))
        last = intervals[-1] if intervals else there
        if note(start, last.outcome, there.outcome) or not intervals:
            intervals.append(there)
        else:
            intervals[-1] = there._replace(low=last.low)
    note(ends[1], intervals[-1].outcome, intervals[-1].outcome)
    return Bifurcations(tuple(values), tuple(intervals), tuple(at_values))


class _Search:
    """All runs of one cloud, with the roots of the polynomials that they ask for."""

    def __init__(
        self, z: np.ndarray, looks: np.ndarray, counts: np.ndarray, max_layers: int
    ) -> None:
        self.z, self.looks, self.counts, self.max_layers = z, looks, counts.tolist(), max_layers
        self.roots: dict[tuple[int, ...], list[AlgebraicNumber]] = {}

    def cells(
        self, low: AlgebraicNumber, high: AlgebraicNumber
    ) -> Iterator[tuple[AlgebraicNumber, AlgebraicNumber, Sets | None]]:
        """Open intervals that fill the range but for finitely many numbers, and in each the sets of
        the end."""
        gaps, found = [(low, high)], 0
        while gaps:
            left, right = gaps.pop()
            at = AlgebraicNumber.of(between(left, right))
            run, found = self.run(at), found + 1
            if found > _MOST_INTERVALS:
                message = f"`alpha`: more than {_MOST_INTERVALS} intervals up to {float(at):.4g}; ask for a part."
                raise InputError(message, argument="alpha")
            roots = {root for polynomial in run.asked for root in self.roots_of(polynomial)}
            if at in roots:
                gaps += [(at, right), (left, at)]
                continue
            below, above = (
                [root for root in roots if left < root < at],
                [root for root in roots if at < root < right],
            )
            start, end = max(below, default=left), min(above, default=right)
            if start == left:
                yield start, end, run.sets
                gaps += [(end, right)] if end != right else []
            else:
                gaps += [(start, right), (left, start)]

    def roots_of(self, polynomial: tuple[int, ...]) -> list[AlgebraicNumber]:
        """The positive roots."""
        flint = _flint()
        if polynomial not in self.roots:
            found = []
            for factor, _ in flint.fmpz_poly(list(polynomial)).factor()[1]:
                real = sorted(
                    (root.real.mid() for root, _ in factor.complex_roots() if root.imag == 0)
                )
                key = tuple(map(int, factor.coeffs()))
                key = key if key[-1] > 0 else tuple(-c for c in key)
                found += [
                    AlgebraicNumber(key, index) for index, root in enumerate(real) if root > 0
                ]
            self.roots[polynomial] = found
        return self.roots[polynomial]

    def run(self, alpha: AlgebraicNumber) -> "_Run":
        run = _Run(alpha, self.counts)
        run.walk(self.z, self.looks, self.max_layers)
        return run


class _Run:
    """A run at one step size: the attended sets of the end, and all polynomials whose sign decided
    something."""

    def __init__(self, alpha: AlgebraicNumber, counts: Sequence[int]) -> None:
        self.alpha, self.counts = alpha, counts
        self.asked: dict[tuple[int, ...], int] = {}
        self.sets: Sets | None = None

    def sign(self, polynomial: Any) -> int:
        """The sign of a polynomial with rational coefficients at this step size."""
        integers = polynomial.numer()
        key = tuple(map(int, integers.coeffs()))
        if not any(key) or min(key) >= 0 or max(key) <= 0:  # the same at all step sizes
            return (max(key, default=0) > 0) - (min(key, default=0) < 0)
        if key not in self.asked:
            self.asked[key] = self.alpha.sign_of(integers)
        return self.asked[key]

    def walk(self, z: np.ndarray, looks: np.ndarray, max_layers: int) -> None:
        flint = _flint()

        def polynomials(table: np.ndarray) -> Table:
            return [
                [flint.fmpq_poly([flint.fmpq(x.numerator, x.denominator)]) for x in row]
                for row in table
            ]

        def moved(here: Table, there: Table) -> Table:
            return [
                [x + step * y for x, y in zip(*rows, strict=True)]
                for rows in zip(here, there, strict=True)
            ]

        place, look, step = polynomials(z), polynomials(looks), flint.fmpq_poly([0, 1])
        sets: list[tuple[int, ...]] = [()] * len(place)
        pending = list(range(len(place)))
        for _ in range(max_layers):
            for i in pending:
                sets[i] = self.furthest([_dot(look[i], other) for other in place])
            # Who follows a leader does so for ever.
            pending = [i for i in pending if len(sets[i]) > 1 or sets[sets[i][0]] != sets[i]]
            targets, directions = self.means(sets, place), self.means(sets, look)
            if not pending or self.lasts(sets, pending, (place, targets), (look, directions)):
                self.sets = tuple(sets)
                return
            place, look = moved(place, targets), moved(look, directions)

    def furthest(self, scores: Sequence[Any]) -> tuple[int, ...]:
        best = [0]
        for j in range(1, len(scores)):
            sign = self.sign(scores[j] - scores[best[0]])
            best = [j] if sign > 0 else [*best, j] if sign == 0 else best
        return tuple(best)

    def means(self, sets: Sequence[tuple[int, ...]], table: Table) -> Table:
        found = {}
        for several in {*sets}:
            weights = [self.counts[j] for j in several]
            columns = zip(*(table[j] for j in several), strict=True)
            found[several] = [sum(map(mul, column, weights)) / sum(weights) for column in columns]
        return [found[several] for several in sets]

    def lasts(
        self,
        sets: Sequence[tuple[int, ...]],
        pending: Sequence[int],
        place: tuple[Table, Table],
        look: Any,
    ) -> bool:
        """Whether all means stand still, and no lead of a token over one that is attended to can
        change its sign on the way: b0 (1 - t)^2 + b1 t (1 - t) + b2 t^2 for 0 < t <= 1, as in
        docs/limits.md."""
        (z, w), (looks, directions) = place, look
        if any(
            self.sign(a - b)
            for rows in zip(self.means(sets, w), w, strict=True)
            for a, b in zip(*rows, strict=True)
        ):
            return False
        for i in pending:
            c = sets[i][0]
            for j in range(len(z)):
                here, there = (
                    [a - b for a, b in zip(each[j], each[c], strict=True)] for each in (z, w)
                )
                b0, b1 = (
                    _dot(directions[i], there),
                    _dot(directions[i], here) + _dot(looks[i], there),
                )
                if j in sets[i]:
                    if self.sign(b0) or self.sign(b1):
                        return False
                elif self.sign(b0) > 0 or (
                    self.sign(b1) > 0 and self.sign(b1 * b1 - 4 * b0 * _dot(looks[i], here)) >= 0
                ):
                    return False
        return True


def _dot(x: list[Any], y: list[Any]) -> Any:
    return sum(map(mul, x, y))
