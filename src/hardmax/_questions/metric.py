"""For which metric do given tokens lead, or follow given leaders, from layer 0 on: `find_metric`.

Token i attends to token l alone if <A z_i, z_l - z_j> > 0 for all tokens j elsewhere. That is
linear in A: a sum of A's entries times those of the matrix (z_l - z_j) z_i^T. A leader attends to
itself alone; it never moves again, and who follows it does so for ever.

For a positive definite A, <A v, v> > 0 is asked of a few vectors v, and then of an eigenvector of
the most negative eigenvalue of the A found, until there is none. If no A is left, then those few
vectors prove it."""

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import (
    InputError,
    Progress,
    check_choice,
    check_int,
    check_progress,
    normalize_index,
    shorten,
)
from hardmax._layer.metric import is_positive_definite
from hardmax._questions.simplex import Best, LinearProgram
from hardmax._tokens.batches import read_one
from hardmax._tokens.points import merge
from hardmax._tokens.rationals import to_fractions

KINDS = "any", "symmetric", "definite"
_FINE = 2**20  # eigenvectors are rounded to integers of this size
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
            return f"MetricSearch(found, each lead at least {_short(self.margin)})"
        if not self.decided:
            return "MetricSearch(undecided)"
        return f"MetricSearch(impossible: proved by {pluralize(len(self.proof), 'lead')})"


def _short(number: Fraction) -> str:
    """A number, rounded to seven digits if it takes more than twenty to write."""
    written = str(number)
    about = Decimal(number.numerator) / Decimal(number.denominator)
    return written if len(written) <= 20 else f"about {about:.7g}"


def find_metric(
    tokens: Any,
    *,
    leaders: Iterable[int] = (),
    followers: Mapping[int, int] | None = None,
    kind: str = "any",
    max_cuts: int = 200,
    progress: Progress | None = None,
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
    progress : callable, optional
        Called as ``progress(done, total)`` with the number of vectors tried and `max_cuts`; for
        matrices of another kind with 1 and 1, at the end.

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
    points = merge(read_one(tokens))
    check_choice(kind, KINDS, "`kind`")
    max_cuts = check_int(max_cuts, "`max_cuts`", at_least=1)
    check_progress(progress)
    wishes = _read_wishes(leaders, followers, points.of_token.tolist())
    cloud = points.integers
    leads = [(i, c, j) for i, c in wishes for j in range(points.count) if j != c]
    token_of = [members[0] for members in points.members]
    if not leads:  # a single point leads, whatever A is
        identity = np.eye(len(cloud.numerators[0]), dtype=int)
        return MetricSearch(to_fractions(identity, "`metric`"), Fraction(0), ())
    search = _Search(cloud.numerators, leads, kind)
    best = search.solve(max_cuts, progress or (lambda done, total: None))
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
            scale = Fraction(factor, search.unit * cloud.denominator**2)
            squares.append(WeighedSquare(weight * scale, vector))
    return MetricSearch(None, Fraction(0), tuple(proof), tuple(squares))


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
        raise InputError("Nothing is wished for: name `leaders` or `followers`.")
    n = len(point_of)
    read = []
    for token, attended in pairs:
        places = [
            normalize_index(index, n, "`leaders` or `followers`") for index in (token, attended)
        ]
        read.append((point_of[places[0]], point_of[places[1]]))
    return list(dict.fromkeys(read))


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
        pairs = [(row, column) for row in range(self.d) for column in range(self.d)]
        self.entries = pairs if kind == "any" else [pair for pair in pairs if pair[0] <= pair[1]]
        self.rows = []
        for i, c, j in leads:
            way = [x - y for x, y in zip(points[c], points[j], strict=True)]
            self.rows.append(self.row(way, points[i]))
        self.tokens = [points[i] for i in dict.fromkeys(i for i, _, _ in leads) if any(points[i])]
        self.size = max((abs(x) for row in self.rows for x in row), default=1) or 1
        # In these units what is asked of any v is a whole number of times <A v, v>.
        self.unit = 4 * _FINE**2 if kind == "definite" else 1
        self.squares: list[tuple[int, tuple[int, ...]]] = []

    def row(self, way: Sequence[int], direction: Sequence[int]) -> list[int]:
        """What the entries of A are multiplied by in <A direction, way>."""
        row = []
        for r, c in self.entries:
            twice = self.kind != "any" and r != c
            row.append(way[r] * direction[c] + twice * way[c] * direction[r])
        return row

    def solve(self, max_cuts: int, progress: Progress) -> Best | None:
        """The best A; None if cuts did not suffice."""
        program = LinearProgram([[self.unit * x for x in row] for row in self.rows])
        if self.kind != "definite":
            best = program.solve()
            progress(1, 1)
            return best
        units = np.eye(self.d, dtype=int)
        pairs = combinations(units, 2)
        for vector in (*units, *(one + sign * other for one, other in pairs for sign in (1, -1))):
            self.cut(program, vector.tolist())
        for token in self.tokens:  # proofs are often about them: <A z_i, z_i> > 0
            self.cut(program, token)
        given = len(self.squares)
        while True:
            tried = len(self.squares) - given
            progress(tried, max_cuts)
            vectors, best = self.bad_directions(program)
            if best is not None or tried == max_cuts:
                return best
            for vector in vectors[: max_cuts - tried]:
                self.cut(program, [round(_FINE * x) for x in vector.tolist()])

    def bad_directions(self, program: LinearProgram) -> tuple[np.ndarray, Best | None]:
        """Directions v in which <A v, v> <= 0 for the best A; or what is best, if there are none
        or nothing is possible. Floats suffice while they see some."""
        with suppress(np.linalg.LinAlgError):
            a, t = program.estimate()
            values, vectors = np.linalg.eigh(self.matrix(a).astype(np.float64))
            if t > _TINY and values[0] < -_TINY:
                return vectors.T[values < 0], None
        best = program.solve()
        matrix = self.matrix(best.a)
        if best.t == 0 or is_positive_definite(matrix):
            return np.empty((0, self.d)), best
        return np.linalg.eigh(matrix.astype(np.float64))[1].T[:1], None

    def cut(self, program: LinearProgram, vector: Sequence[int]) -> None:
        """Ask for <A v, v> > 0, in the units of the leads, so that a margin means much to both."""
        common = math.gcd(*vector)
        square = tuple(x // common for x in vector)
        row = self.row(square, square)
        factor = max(1, self.unit * self.size // max(map(abs, row)))
        self.squares.append((factor, square))
        program.rows.append([factor * x for x in row])

    def margin(self, a: Sequence[Fraction]) -> Fraction:
        """The smallest lead."""
        common = math.lcm(*(x.denominator for x in a))
        numerators = [int(x * common) for x in a]
        return Fraction(min(sum(map(operator.mul, numerators, row)) for row in self.rows), common)

    def matrix(self, a: Sequence[Fraction | float]) -> np.ndarray:
        """A from its entries."""
        matrix = np.empty((self.d, self.d), dtype=object)
        for (row, column), value in zip(self.entries, a, strict=True):
            matrix[row, column] = value
            if self.kind != "any":
                matrix[column, row] = value
        return matrix
