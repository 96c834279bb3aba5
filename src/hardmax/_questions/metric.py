"""For which metric do given tokens lead, or follow given leaders, from layer 0 on: `find_metric`.

Token i attends to token l alone if <A z_i, z_l - z_j> > 0 for all tokens j elsewhere. That is
linear in A: a sum of A's entries times those of the matrix (z_l - z_j) z_i^T. A leader attends to
itself alone; it never moves again, and who follows it does so for ever.

So rows b_k of integers are given, and a with <a, b_k> > 0 for all k is asked for. The program

    max over a with |a_c| <= 1 of min over k of <a, b_k>  =  min over y of |sum of y_k b_k|_1,

where y >= 0 adds up to 1, is solved in floats (HiGHS). Either its a, rounded, does so, in integers;
or the weights y that are not 0, computed again as fractions, give sum y_k b_k = 0, which proves
that no a does (Gordan's theorem).

For a positive definite A, <A v, v> > 0 is asked of a few vectors v, and then of eigenvectors of
negative eigenvalues of the A found, until there are none."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq_mat

from hardmax._common.format import format_exact, pluralize
from hardmax._common.progress import Search
from hardmax._common.validation import (
    InputError,
    check_choice,
    check_int,
    normalize_index,
    shorten,
)
from hardmax._layer.metric import is_positive_definite
from hardmax._tokens.batches import read_one
from hardmax._tokens.points import merge
from hardmax._tokens.rationals import dot, fractions_of, to_fractions

KINDS = "any", "symmetric", "definite"
_FINE = 2**20  # eigenvectors are rounded to integers of this size
_ROUNDINGS = 100, 10**4, 10**8, 2**52  # the largest denominators that are tried
_TINY = 2.0**-30  # below this, floats do not say whether a number is positive


class WeighedLead(NamedTuple):
    """A wish times a weight: `token` attends to `attended` rather than to `other`."""

    weight: Fraction
    token: int
    attended: int
    other: int


class WeighedSquare(NamedTuple):
    """The wish <A v, v> > 0 times a weight."""

    weight: Fraction
    vector: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class MetricSearch:
    """A metric that fulfils wishes, or the proof that none does. Made by `find_metric`.

    Examples
    --------
    >>> from hardmax import find_metric
    >>> find_metric([[2, 0], [0, 1], [1, 1]], leaders=[1])
    MetricSearch(found, each lead at least 1)
    """

    metric: np.ndarray | None
    """The matrix A, of Fractions with entries from -1 to 1; None if none was found."""
    margin: Fraction
    """The smallest lead <A z_i, z_l - z_j> that was requested, with this A; 0 if there is none. Up
    to rounding no A of such entries has a larger one, unless it is to be positive definite."""
    proof: tuple[WeighedLead, ...] = ()
    """If there is no A: wishes with positive weights such that the matrices (z_l - z_j) z_i^T times
    their weights add up to 0 (with `squares`). If A fulfilled all of them, a sum of positive
    numbers would be 0. For a symmetric A, the sum plus its transpose is 0."""
    squares: tuple[WeighedSquare, ...] = ()
    """What else is in that sum if A is to be positive definite: v v^T times its weight."""
    interrupted: bool = False
    """Whether the search ended by Ctrl-C."""

    @property
    def decided(self) -> bool:
        """Whether there is a metric, or a proof that there is none."""
        return self.metric is not None or bool(self.proof)

    def __bool__(self) -> bool:
        return self.metric is not None

    def __repr__(self) -> str:
        if self.metric is not None:
            return f"MetricSearch(found, each lead at least {format_exact(self.margin)})"
        if not self.decided:
            return f"MetricSearch(undecided{', interrupted' * self.interrupted})"
        return f"MetricSearch(impossible: proved by {pluralize(len(self.proof), 'lead')})"


def find_metric(
    tokens: Any,
    *,
    leaders: Iterable[int] = (),
    followers: Mapping[int, int] | None = None,
    kind: str = "any",
    max_cuts: int = 200,
) -> MetricSearch:
    """A metric with which given tokens lead, or follow given leaders, from layer 0 on for ever.

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        The cloud.
    leaders : iterable of int, default ()
        Tokens that are to lead. Others may lead, too.
    followers : mapping of int to int, optional
        For some tokens, which leader each is to follow, alone.
    kind : {"any", "symmetric", "definite"}, default "any"
        Which matrices are allowed: any, symmetric ones, or symmetric positive definite ones, as in
        the paper.
    max_cuts : int, default 200
        How many vectors v with <A v, v> > 0 may be tried before a positive definite one is left
        undecided.

    Returns
    -------
    MetricSearch
        A rational metric with a large margin, or the proof that there is none; undecided if floats
        find neither, for example if some leads are a billion times smaller than others, or after
        Ctrl-C.

    Examples
    --------
    >>> cloud = [[2, 0], [0, 1], [1, 1]]
    >>> found = find_metric(cloud, leaders=[1], followers={2: 0}, kind="symmetric")
    >>> from hardmax import Dynamics, limit
    >>> limit(cloud, Dynamics(1, found.metric)).leaders.tolist()
    [0, 1]
    >>> find_metric([[1], [2], [3]], leaders=[1])
    MetricSearch(impossible: proved by 2 leads)
    """
    points = merge(read_one(tokens))
    check_choice(kind, KINDS, "`kind`")
    max_cuts = check_int(max_cuts, "`max_cuts`", at_least=1)
    wishes = _read_wishes(leaders, followers, points.of_token.tolist())
    leads = [(i, c, j) for i, c in wishes for j in range(points.count) if j != c]
    if not leads:  # a single point leads, whatever A is
        identity = to_fractions(np.eye(points.dimension), "`metric`")
        return MetricSearch(identity, Fraction(0))
    search = _Search(points.integers.numerators, leads, kind)
    a, weights = None, {}
    with Search("vectors") as report:
        a, weights = search.solve(max_cuts, report)
    square = points.integers.denominator**2
    if a is not None:
        return MetricSearch(search.matrix(a), search.margin(a) / square)
    proof, squares = [], []
    for row, weight in weights.items():
        if row < len(leads):
            names = (int(points.members[point][0]) for point in leads[row])
            proof.append(WeighedLead(weight, *names))
        else:
            squares.append(WeighedSquare(weight / square, search.squares[row - len(leads)]))
    return MetricSearch(None, Fraction(0), tuple(proof), tuple(squares), report.interrupted)


def _read_wishes(
    leaders: Iterable[int], followers: Mapping[int, int] | None, point_of: Sequence[int]
) -> list[tuple[int, int]]:
    """Pairs of a point and the point that it is to attend to."""
    if followers is not None and not isinstance(followers, Mapping):
        wish = "`followers` must map tokens to their leaders, such as {2: 0}"
        raise InputError(f"{wish}, not {shorten(followers)}.")
    pairs = [(leader, leader) for leader in _read_leaders(leaders)]
    for token, leader in (followers or {}).items():
        pairs += [(leader, leader), (token, leader)]
    if not pairs:
        raise InputError("Nothing is requested: name `leaders` or `followers`.")
    name, n = "`leaders` or `followers`", len(point_of)
    numbers = [[normalize_index(index, n, name) for index in pair] for pair in pairs]
    return list(dict.fromkeys((point_of[i], point_of[j]) for i, j in numbers))


def _read_leaders(leaders: Iterable[int]) -> list[int]:
    """What stands in a list, or in whatever else one can go through."""
    if not isinstance(leaders, str | Mapping):
        with suppress(Exception):  # of anybody's container
            return list(leaders)
    wish = "`leaders` must be a list of tokens, such as [0, 3]"
    raise InputError(f"{wish}, not {shorten(leaders)}.")


class _Search:
    """The linear program for the entries of A: all of them, or those on and above the diagonal."""

    def __init__(
        self, points: list[list[int]], leads: list[tuple[int, int, int]], kind: str
    ) -> None:
        self.d, self.kind = len(points[0]), kind
        pairs = [*itertools.product(range(self.d), repeat=2)]
        self.entries = pairs if kind == "any" else [pair for pair in pairs if pair[0] <= pair[1]]
        self.rows = []
        for i, c, j in leads:
            way = [x - y for x, y in zip(points[c], points[j], strict=True)]
            self.rows.append(self.row(way, points[i]))
        self.leads = len(leads)
        self.squares: list[tuple[int, ...]] = []
        if kind == "definite":  # proofs are often about tokens: <A z_i, z_i> > 0
            for vector in (*np.eye(self.d, dtype=int).tolist(), *points):
                self.cut(vector)

    def row(self, way: Sequence[int], direction: Sequence[int]) -> list[int]:
        """What the entries of A are multiplied by in <A direction, way>."""
        row = []
        for r, c in self.entries:
            twice = self.kind != "any" and r != c
            row.append(way[r] * direction[c] + twice * way[c] * direction[r])
        return row

    def cut(self, vector: Sequence[int]) -> None:
        """Ask for <A v, v> > 0."""
        if any(vector):
            square = tuple(x // math.gcd(*vector) for x in vector)
            self.squares.append(square)
            self.rows.append(self.row(square, square))

    def solve(
        self, max_cuts: int, report: Search
    ) -> tuple[list[Fraction] | None, dict[int, Fraction]]:
        """An A, or the weights of rows that add up to 0; neither if that is not decided."""
        given = len(self.rows)
        while True:
            tried = len(self.rows) - given
            report(tried, max_cuts)
            a, t, weights = self.floats()
            if t <= _TINY and (exact := self.weights(weights)):
                return None, exact
            if self.kind != "definite":
                return self.rounded(a), {}
            values, vectors = np.linalg.eigh(self.matrix(a).astype(float))
            if values[0] >= -_TINY and (rounded := self.rounded(a)):
                return rounded, {}
            if tried >= max_cuts or t <= 0:
                return None, {}
            for vector in vectors.T[: max(1, int((values < 0).sum()))][: max_cuts - tried]:
                self.cut([round(_FINE * x) for x in vector.tolist()])

    def floats(self) -> tuple[list[float], float, np.ndarray]:
        """About the best a, how far it fulfils the wishes at least, and the weights of the rows."""
        from scipy.optimize import linprog  # half a second to import: not before it is needed

        table = np.array(self.rows, dtype=object)
        sizes = abs(table).max(axis=1)
        sizes[: self.leads] = max(sizes[: self.leads])  # leads are compared as they are
        table = (table / np.maximum(sizes, 1)[:, None]).astype(float)
        program = np.column_stack([-table, np.ones(len(table))])
        bounds = [(-1, 1)] * len(self.entries) + [(0, None)]
        aim = [0.0] * len(self.entries) + [-1.0]
        found = linprog(aim, program, np.zeros(len(table)), bounds=bounds, method="highs-ds")
        *a, t = found.x.tolist()
        return a, t, -found.ineqlin.marginals

    def rounded(self, a: Sequence[float]) -> list[Fraction] | None:
        """Simple fractions beside these entries that fulfil all wishes."""
        for most in _ROUNDINGS:
            entries = [Fraction(x).limit_denominator(most) for x in a]
            is_one = self.kind != "definite" or is_positive_definite(self.matrix(entries))
            if is_one and self.margin(entries) > 0:
                return entries
        return None

    def weights(self, about: np.ndarray) -> dict[int, Fraction]:
        """Weights with which rows add up to 0, exactly, by row; none if these are not the rows."""
        chosen = np.flatnonzero(about > _TINY).tolist()
        columns = [[*self.rows[row], 1] for row in chosen]
        columns.append([0] * len(self.entries) + [1])
        table, rank = fmpq_mat(columns).transpose().rref()
        if not chosen or rank != len(chosen):
            return {}
        weights = fractions_of(row[-1] for row in table.tolist()[:rank])
        if any(table[row, row] != 1 for row in range(rank)) or min(weights) < 0:
            return {}
        return {row: weight for row, weight in zip(chosen, weights, strict=True) if weight}

    def margin(self, a: Sequence[Fraction]) -> Fraction:
        """The smallest lead."""
        return min(dot(a, row) for row in self.rows[: self.leads])

    def matrix(self, a: Sequence[Any]) -> np.ndarray:
        """A from its entries."""
        matrix = np.empty((self.d, self.d), dtype=object)
        for (row, column), value in zip(self.entries, a, strict=True):
            matrix[row, column] = value
            if self.kind != "any":
                matrix[column, row] = value
        return matrix
