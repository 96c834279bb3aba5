"""Theorem 1.1 and Figure 5 checked on one cloud, in integers.

Attended sets are computed anew at every layer.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_instance
from hardmax._exact.argmax import by_all_scores, directions_of, products
from hardmax._exact.general import GeneralSolver
from hardmax._exact.vectors import DIGIT, Vector
from hardmax._limits.clusters import FaceProjection, Vertex
from hardmax._runs.run import Run
from hardmax._runs.walk import Plan, run_points
from hardmax._tokens.rationals import IntegerCloud
from hardmax.infinite_depth import Limit

MOST_TOKENS = 2000
HOLDS, FAILS, SILENT, UNDECIDED = "holds", "fails", "does not apply", "undecided"
VERDICTS = {True: HOLDS, False: FAILS, None: UNDECIDED}
# A cloud is followed for so many layers, or as many as it took to settle, but for no more work than
# this: products of digits, some ten seconds.
PATIENCE, MOST_WORK = 500, 10**10
AFTERWARDS = (1, 2, 5, 20)  # layers beyond settling that are checked too


@dataclass(frozen=True)
class Statement:
    """One statement of the paper on a cloud."""

    claim: str
    """What it says."""
    verdict: str
    """"holds", "fails", "does not apply" or "undecided"."""
    detail: str
    """What was observed."""


class TheoremReport(tuple[Statement, ...]):
    """The statements that `check_theorem` checked, in order; true if none of them fails.

    Examples
    --------
    >>> from hardmax import Dynamics, check_theorem, clouds, limit
    >>> check_theorem(limit(clouds.nonleader_clusters(), Dynamics("1/2")))
    TheoremReport(7 statements; holds: 7)
    """

    def __bool__(self) -> bool:
        return all(statement.verdict != FAILS for statement in self)

    def __repr__(self) -> str:
        counts = Counter(statement.verdict for statement in self)
        verdicts = ", ".join(f"{verdict}: {number}" for verdict, number in counts.items())
        return f"TheoremReport({pluralize(len(self), 'statement')}; {verdicts})"

    def __str__(self) -> str:
        width = max(len(statement.claim) for statement in self)
        return "\n".join(f"{s.claim:{width}} {s.verdict:15} {s.detail}" for s in self)


def check_theorem(result: Run | Limit) -> TheoremReport:
    """Check every statement of Theorem 1.1 on one cloud, exactly, and the separation of Figure 5.

    Parameters
    ----------
    result : Run or Limit
        What `simulate` or `limit` returned for a cloud of at most 2,000 distinct tokens.

    Returns
    -------
    TheoremReport
        A verdict on each statement. The cloud is followed in integers to the layer at which the run
        settled; if it did not, for 500 layers, or fewer if numbers become too long. If the cloud
        has not settled by then, statements about all layers are "undecided".

    Notes
    -----
    Figure 5: if :math:`\\delta` is small enough, then for every x within :math:`\\delta` of a
    vertex s of K the hyperplane through x with normal A x has the :math:`\\delta`-neighbourhoods
    of all other limits t strictly on one side. Products are continuous, so this is to say that
    :math:`\\langle A s, t \\rangle < \\langle A s, s \\rangle`.

    Examples
    --------
    >>> from hardmax import Dynamics, clouds, limit
    >>> report = check_theorem(limit(clouds.nonleader_clusters(), Dynamics("1/2")))
    >>> bool(report), {statement.verdict for statement in report}
    (True, {'holds'})
    """
    run = _run_of(result)
    if run.points.count > MOST_TOKENS:
        most = f"up to {MOST_TOKENS:,} distinct tokens"
        raise InputError(
            f"`check_theorem` works in integers on {most}, not {run.points.count:,}.",
        )
    if reason := theorem_reason(run):
        return TheoremReport(Statement(claim, SILENT, reason) for claim in CLAIMS)
    plan = Plan(run.dynamics, (GeneralSolver(),), _patience(run))
    evidence = _Evidence(Limit(run_points(run.points, plan)))
    statements = []
    for claim in CLAIMS:
        holds, detail = evidence.observe(claim)
        statements.append(Statement(claim, VERDICTS[holds], detail))
    return TheoremReport(statements)


def theorem_reason(result: Run | Limit) -> str:
    """Why Theorem 1.1 does not apply to a cloud.

    Parameters
    ----------
    result : Run or Limit
        What `simulate` or `limit` returned.

    Returns
    -------
    str
        Empty if it applies: if tokens are distinct and nonzero, the metric symmetric positive
        definite and the layer the paper's.

    Examples
    --------
    >>> from hardmax import Dynamics, limit
    >>> theorem_reason(limit([[1, 0], [0, 0]], Dynamics(1)))
    'token 1 is zero: it attends to everybody'
    """
    run = _run_of(result)
    points = run.points
    if not run.dynamics.is_plain:
        layers = "hardmax attention alone, without a mask and a value matrix"
        return f"it is about {layers}, all with the same step"
    if not run.dynamics.is_definite:
        return "the metric is not symmetric positive definite"
    zero = np.flatnonzero((points.coordinates == 0).all(axis=1))
    if len(zero):
        token = int(np.flatnonzero(points.of_token == zero[0])[0])
        return f"token {token} is zero: it attends to everybody"
    if points.count < run.n or (points.multiplicities > 1).any():
        return "tokens are repeated: they were merged, with multiplicities"
    return ""


def _run_of(result: Any) -> Run:
    wish = "what `limit` or `simulate` gave for one cloud"
    given = check_instance(result, (Limit, Run), "`result`", wish)
    return given.run if isinstance(given, Limit) else given


def _patience(run: Run) -> int:
    """How many layers can be afforded: the cost of one grows with the square of the digits that all
    before added."""
    products, bits = (
        run.points.count**2 * run.d,
        run.dynamics.contraction.denominator.bit_length(),
    )
    layers = range(max(PATIENCE, run.settled_at or 0))
    return bisect_right(layers, MOST_WORK, key=lambda k: k * products * (k * bits // DIGIT) ** 2)


# Whether a claim holds (None: not known), and what was observed.
Observed = tuple[bool | None, str]


class _Evidence:
    """A cloud in integers at every layer up to settling and some beyond, with its attended sets
    computed from all scores."""

    def __init__(self, lim: Limit) -> None:
        self.lim, self.run, self.dynamics = lim, lim.run, lim.run.dynamics
        settled = lim.settled_at
        self.last = last = lim.run.layers if settled is None else settled
        self.settled = lim.settled_at is not None
        beyond = [last + more for more in AFTERWARDS] if self.settled else []
        layers = [*range(last + 1), *beyond]
        self.clouds = [self._integers(self._points_at(layer)) for layer in layers]
        self.sets = [by_all_scores(cloud, cloud, self.dynamics).sets for cloud in self.clouds]
        # A point for each position of leaders.
        self.leaders = self.run.points.of_token[lim.distinct_leaders].tolist()

    def _points_at(self, layer: int) -> list[Vector]:
        phase = self.run.phase_at(layer)
        return phase.exactly.later(range(self.run.points.count), layer - phase.layer)

    @staticmethod
    def _integers(points: Sequence[Vector]) -> IntegerCloud:
        return IntegerCloud.of(np.array(points, dtype=object))

    def observe(self, claim: str) -> Observed:
        """A claim, as far as it can be decided. What is said of all layers may fail at later ones
        if the cloud has not settled."""
        check = CLAIMS[claim]
        if self.settled or check is _Evidence.leaders_exist:
            return check(self)
        late = f"not settled within {self.last:,} layers"
        if check not in (_Evidence.leaders_are_vertices, _Evidence.leaders_stay):
            return None, late
        holds, detail = check(self)
        return (None if holds else False), f"{late}; {detail}"

    def leaders_exist(self) -> Observed:
        return bool(self.leaders), pluralize(len(self.leaders), "leader")

    def leaders_are_vertices(self) -> Observed:
        places = self.clouds[-1].rows(self.leaders)
        furthest = by_all_scores(places, places, self.dynamics).sets
        alone = furthest == [[leader] for leader in range(len(self.leaders))]
        return alone, "each is furthest its own way, alone"

    def leaders_stay(self) -> Observed:
        since = self.run.leader_since.tolist()
        stay = all(self._stays(point, layer) for point, layer in enumerate(since) if layer >= 0)
        return stay, f"the last from layer {self.run.leader_layers.max(initial=0)} on"

    def _stays(self, point: int, since: int) -> bool:
        """Whether a leader attends to its own position alone from a layer on, so that it keeps
        it."""
        return all(
            cloud.numerators[j] == cloud.numerators[point]
            for cloud, sets in zip(self.clouds[since:], self.sets[since:], strict=True)
            for j in sets[point]
        )

    def tokens_converge(self) -> Observed:
        points = pluralize(len(self.lim.clusters), "point")
        stay = all(sets == self.sets[self.last] for sets in self.sets[self.last :])
        return stay, f"{points}; settled at layer {self.last}"

    @cached_property
    def _ends(self) -> IntegerCloud:
        """The limit of each cluster and the place of each leader, over one denominator."""
        first = np.unique(self.lim.clusters.labels, return_index=True)[1]
        examples = self.run.points.of_token[first].tolist()
        targets = self.run.phases[-1].exactly.targets(examples)
        places = self._points_at(self.last)
        return self._integers([*targets, *map(places.__getitem__, self.leaders)])

    @property
    def limits(self) -> Sequence[Any]:
        return self._ends.numerators[: len(self.lim.clusters)]

    @cached_property
    def scores(self) -> Sequence[Any]:
        """For each limit, those of all limits along it."""
        return products(directions_of(self.limits, self.dynamics), self.limits)

    def limits_on_boundary(self) -> Observed:
        directions = directions_of(self.limits, self.dynamics)
        leaders = self._ends.numerators[len(self.lim.clusters) :]
        highest = [max(scores) for scores in products(directions, leaders)]
        heights = [scores[i] for i, scores in enumerate(self.scores)]
        detail = "K lies on one side of the hyperplane through each, with normal A w"
        return heights == highest and all(map(any, directions)), detail

    def limits_project(self) -> Observed:
        kinds = Counter(map(type, self.lim.clusters.kinds))
        vertices, faces = kinds[Vertex], kinds[FaceProjection]
        return vertices + faces == kinds.total(), f"vertices: {vertices}, projections: {faces}"

    def vertices_separate(self) -> Observed:
        separated = True
        for number, kind in enumerate(self.lim.clusters.kinds):
            scores = self.scores[number]
            as_high = sum(score >= scores[number] for score in scores)  # its own among them
            if isinstance(kind, Vertex) and as_high > 1:
                separated = False
        return separated, "of all limits, each vertex alone lies furthest its own way"


CLAIMS: dict[str, Callable[[_Evidence], Observed]] = {
    "leaders exist": _Evidence.leaders_exist,
    "each leader is a vertex of K, the hull of the leaders": _Evidence.leaders_are_vertices,
    "each leader sits on its vertex after finitely many layers": _Evidence.leaders_stay,
    "every token converges to one of finitely many points": _Evidence.tokens_converge,
    "these points lie on the boundary of K": _Evidence.limits_on_boundary,
    "a limit that is no vertex is the projection of 0 onto a face": _Evidence.limits_project,
    "a hyperplane separates each vertex from the other limits": _Evidence.vertices_separate,
}
