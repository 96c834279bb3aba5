"""For which metric do given tokens lead, or follow given leaders, from layer 0 on: `find_metric`.

Token i attends to token l alone if <A z_i, z_l - z_j> > 0 for all tokens j elsewhere. That is
linear in A: a sum of A's entries times those of the matrix (z_l - z_j) z_i^T. A leader attends to
itself alone; it never moves again, and who follows it does so for ever.

For a positive definite A, <A v, v> > 0 is asked of a few vectors v, and then of an eigenvector of
the most negative eigenvalue of the A found, until there is none. If no A is left, then those few
vectors prove it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import (
    InputError,
    check_choice,
    check_int,
    normalize_index,
    shorten,
)
from hardmax._layer.metric import is_positive_definite
from hardmax._questions.simplex import Best, best_margin
from hardmax._tokens.batches import read_batch
from hardmax._tokens.points import merge
from hardmax._tokens.rationals import to_fractions

KINDS = "any", "symmetric", "definite"
_FINE = 2**12  # eigenvectors are rounded to integers of this size


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
    """The smallest lead <A z_i, z_l - z_j> that was wished for, with this A; 0 if there is none. No
    A of such entries has a larger one, unless it is to be positive definite."""
    proof: tuple[WeighedLead, ...]
    """If there is no A: wishes with positive weights such that the matrices (z_l - z_j) z_i^T times
    their weights add up to 0 (with `squares`). If A fulfilled all of them, a sum of positive
    numbers would be 0. For a symmetric A, the sum plus its transpose is 0."""
    squares: tuple[WeighedSquare, ...] = ()
    """What else is in that sum if A is to be positive definite: v v^T times its weight."""

    @property
    def decided(self) -> bool:
        """Whether there is a metric, or a proof that there is none."""
        return self.metric is not None or bool(self.proof)

    def __bool__(self) -> bool:
        return self.metric is not None

    def __repr__(self) -> str:
        if self.metric is not None:
            return f"MetricSearch(found, each lead at least {self.margin!s:.40})"
        if not self.decided:
            return "MetricSearch(undecided)"
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
        Which matrices are allowed: any, symmetric ones, or symmetric positive definite ones, of
        which the paper speaks.
    max_cuts : int, default 200
        How many vectors v with <A v, v> > 0 may be tried before a positive definite one is left
        undecided.

    Returns
    -------
    MetricSearch
        A rational metric with the largest margin, or the proof that there is none.

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
    clouds, form = read_batch(tokens)
    if not form.is_single:
        one_cloud = "`tokens` must be one cloud of shape (n, d), not a batch."
        raise InputError(one_cloud, argument="tokens")
    check_choice(kind, KINDS, "`kind`")
    max_cuts = check_int(max_cuts, "`max_cuts`", at_least=1)
    points = merge(clouds[0])
    wishes = _read_wishes(leaders, followers, points.of_token.tolist())
    cloud = points.integers
    leads = [(i, c, j) for i, c in wishes for j in range(points.count) if j != c]
    token_of = [members[0] for members in points.members]
    if not leads:  # a single point leads, whatever A is
        identity = np.eye(len(cloud.numerators[0]), dtype=int)
        return MetricSearch(to_fractions(identity, "`metric`"), Fraction(0), ())
    search = _Search(cloud.numerators, leads, kind)
    best = search.solve(max_cuts)
    if best is None:
        return MetricSearch(None, Fraction(0), ())
    if best.t > 0:
        margin = search.margin(best.a) / cloud.denominator**2
        return MetricSearch(search.matrix(best.a), margin, ())
    proof, squares = [], []
    for row, weight in best.weights.items():
        if row < len(leads):
            proof.append(WeighedLead(weight, *(token_of[point] for point in leads[row])))
        else:
            factor, vector = search.squares[row - len(leads)]
            scale = Fraction(factor, cloud.denominator**2)
            squares.append(WeighedSquare(weight * scale, vector))
    return MetricSearch(None, Fraction(0), tuple(proof), tuple(squares))


def _read_wishes(
    leaders: Iterable[int], followers: Mapping[int, int] | None, point_of: Sequence[int]
) -> list[tuple[int, int]]:
    """Pairs of a point and the point that it is to attend to."""
    if followers is not None and not isinstance(followers, Mapping):
        wish = "`followers` must map tokens to their leaders, such as {2: 0}"
        raise InputError(f"{wish}, not {shorten(followers)}.", argument="followers")
    if isinstance(leaders, str) or not isinstance(leaders, Iterable):
        wish = "`leaders` must be a list of tokens, such as [0, 3]"
        raise InputError(f"{wish}, not {shorten(leaders)}.", argument="leaders")
    pairs = [(leader, leader) for leader in leaders]
    for token, leader in (followers or {}).items():
        pairs += [(leader, leader), (token, leader)]
    if not pairs:
        raise InputError("Nothing is wished for: name `leaders` or `followers`.")
    n = len(point_of)
    read = []
    for token, attended in pairs:
        places = [
            normalize_index(index, n, "`leaders` or `followers`") for index in (token, attended)
        ]
        read.append((point_of[places[0]], point_of[places[1]]))
    return list(dict.fromkeys(read))


class _Search:
    """The linear program for the entries of A: all of them, or those on and above the diagonal."""

    def __init__(
        self, points: list[list[int]], leads: list[tuple[int, int, int]], kind: str
    ) -> None:
        self.d, self.kind = len(points[0]), kind
        pairs = [(row, column) for row in range(self.d) for column in range(self.d)]
        self.entries = pairs if kind == "any" else [pair for pair in pairs if pair[0] <= pair[1]]
        self.rows = []
        for i, c, j in leads:
            way = [x - y for x, y in zip(points[c], points[j], strict=True)]
            self.rows.append(self.row(way, points[i]))
        self.leads = len(leads)
        self.size = max((abs(x) for row in self.rows for x in row), default=1) or 1
        self.squares: list[tuple[int, tuple[int, ...]]] = []

    def row(self, way: Sequence[int], direction: Sequence[int]) -> list[int]:
        """What the entries of A are multiplied by in <A direction, way>."""
        if self.kind == "any":
            return [way[r] * direction[c] for r, c in self.entries]
        return [
            way[r] * direction[c] + (way[c] * direction[r] if r != c else 0)
            for r, c in self.entries
        ]

    def solve(self, max_cuts: int) -> Best | None:
        """The best A; None if cuts did not suffice."""
        if self.kind != "definite":
            return best_margin(self.rows)
        units = np.eye(self.d, dtype=int)
        for unit in units:
            self.cut(unit)
        for unit, other in combinations(units, 2):
            self.cut(unit + other)
            self.cut(unit - other)
        for _ in range(max_cuts):
            best = best_margin(self.rows)
            matrix = self.matrix(best.a)
            if best.t == 0 or is_positive_definite(matrix):
                return best
            vectors = np.linalg.eigh(matrix.astype(np.float64))[1]
            self.cut(np.round(_FINE * vectors[:, 0]).astype(int))
        return None

    def cut(self, vector: np.ndarray) -> None:
        """Ask for <A v, v> > 0, in the units of the leads, so that a margin means much to both."""
        common = math.gcd(*vector.tolist())
        square = tuple(x // common for x in vector.tolist())
        row = self.row(square, square)
        factor = max(1, self.size // max(map(abs, row)))
        self.squares.append((factor, square))
        self.rows.append([factor * x for x in row])

    def margin(self, a: Sequence[Fraction]) -> Fraction:
        """The smallest lead."""
        rows = self.rows[: self.leads]
        return min(sum((x * y for x, y in zip(a, row, strict=True)), Fraction(0)) for row in rows)

    def matrix(self, a: Sequence[Fraction]) -> np.ndarray:
        """A from its entries."""
        matrix = np.empty((self.d, self.d), dtype=object)
        for (row, column), value in zip(self.entries, a, strict=True):
            matrix[row, column] = value
            if self.kind != "any":
                matrix[column, row] = value
        return matrix
