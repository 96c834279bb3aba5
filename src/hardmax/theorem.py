"""Theorem 1.1 checked on one cloud, in integers: attended sets are computed anew at every layer."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from operator import mul

import numpy as np

from hardmax._clusters import FaceProjection, Vertex
from hardmax._exact.argmax import by_all_scores, directions_of, products
from hardmax._exact.solver import ExactSolver
from hardmax._exact.vectors import DIGIT
from hardmax._format import escape_html, pluralize
from hardmax._run import Plan, run_points
from hardmax._tokens.rationals import IntegerCloud
from hardmax._validation import InputError, check_instance
from hardmax.limits import Limit
from hardmax.stops import Every, Settled
from hardmax.trajectory import Trajectory

MOST_TOKENS = 2000
HOLDS, FAILS, SILENT, UNDECIDED = "holds", "fails", "does not apply", "undecided"
# A cloud is followed for so many layers, or as many as it took to settle, but for no more work than this: products of
# digits, some ten seconds.
PATIENCE, MOST_WORK = 500, 10**10
AFTERWARDS = (1, 2, 5, 20)  # layers beyond settling that are checked too


@dataclass(frozen=True)
class Statement:
    """One statement of Theorem 1.1 on a cloud."""

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
    TheoremReport(6 statements; holds: 6)
    """

    def __bool__(self) -> bool:
        return all(statement.verdict != FAILS for statement in self)

    @property
    def undecided(self) -> bool:
        """Whether statements about all layers are left open, since the cloud has not settled."""
        return any(statement.verdict == UNDECIDED for statement in self)

    def __repr__(self) -> str:
        counts = Counter(statement.verdict for statement in self)
        found = ", ".join(f"{verdict}: {number}" for verdict, number in counts.items())
        return f"TheoremReport({pluralize(len(self), 'statement')}; {found})"

    def _repr_html_(self) -> str:
        from hardmax.figures.markup import html_card

        return html_card(repr(self), f'<pre style="overflow-x:auto;font-size:11px">{escape_html(str(self))}</pre>')

    def __str__(self) -> str:
        width = max(len(statement.claim) for statement in self)
        return "\n".join(f"{s.claim:{width}} {s.verdict:15} {s.detail}" for s in self)


def check_theorem(result: Trajectory | Limit) -> TheoremReport:
    """Check every statement of Theorem 1.1 on one cloud, exactly.

    Parameters
    ----------
    result : Trajectory or Limit
        What `simulate` or `limit` returned for a cloud of at most 2,000 distinct tokens.

    Returns
    -------
    TheoremReport
        A verdict on each statement. The cloud is followed in integers to the layer at which the run settled; if it did
        not, for 500 layers, or fewer if numbers become too long. If the cloud has not settled by then, statements about
        all layers are "undecided".

    Examples
    --------
    >>> from hardmax import Dynamics, clouds, limit
    >>> report = check_theorem(limit(clouds.nonleader_clusters(), Dynamics("1/2")))
    >>> bool(report), {statement.verdict for statement in report}
    (True, {'holds'})
    """
    given = check_instance(result, (Limit, Trajectory), "`result`", "what `limit` or `simulate` gave for one cloud")
    run = given.run if isinstance(given, Limit) else given
    if run.points.count > MOST_TOKENS:
        raise InputError(
            f"`check_theorem` works in integers on up to {MOST_TOKENS:,} distinct tokens, not {run.points.count:,}.",
            argument="check_theorem",
        )
    reason = Limit(run).theorem_reason
    if reason:
        return TheoremReport(Statement(claim, SILENT, reason) for claim, *_ in STATEMENTS)
    evidence = Evidence(_exact_limit(run, _patience(run)))
    return TheoremReport(evidence.check(*statement) for statement in STATEMENTS)


def _patience(run: Trajectory) -> int:
    """How many layers can be afforded: the cost of one grows with the square of the digits that all before added."""
    products, bits = run.points.count**2 * run.d, run.dynamics.contraction.denominator.bit_length()
    layers = range(max(PATIENCE, run.settled_at or 0))
    return bisect_right(layers, MOST_WORK, key=lambda k: k * products * (k * bits // DIGIT) ** 2)


def _exact_limit(run: Trajectory, max_layers: int) -> Limit:
    plan = Plan(run.dynamics, (ExactSolver(),), Settled(max_layers), Every(1))
    return Limit(run_points(run.points, plan))


Seen = tuple[bool | None, str]  # whether it holds (None: not known), and what was observed


class Evidence:
    """The layers of an exact run and a few beyond settling, with attended sets computed anew from all scores."""

    def __init__(self, lim: Limit) -> None:
        self.lim, self.run, self.dynamics = lim, lim.run, lim.run.dynamics
        self.settled, last = lim.settled_at is not None, lim.run.layers
        self.not_settled = f"not settled within {last:,} layers"
        self.layers = [*range(last + 1), *(last + more for more in AFTERWARDS if self.settled)]
        self.clouds = [lim.run.phase_at(layer).integers_at(layer) for layer in self.layers]
        self.sets = [by_all_scores(cloud, cloud, self.dynamics).lists for cloud in self.clouds]
        # The points that lead, one for each position.
        self.leaders = lim.run.points.of_token[lim.distinct_leaders].tolist()

    def check(self, claim: str, seen: "Callable[[Evidence], Seen]", settled: bool) -> Statement:
        known = self.settled or not settled
        holds, detail = seen(self) if known else (None, self.not_settled)
        return Statement(claim, UNDECIDED if holds is None else HOLDS if holds else FAILS, detail)

    def _so_far(self, holds: bool, detail: str) -> Seen:
        """What holds at the layers checked holds at all layers only if the cloud has settled."""
        if self.settled:
            return holds, detail
        return None if holds else False, f"{self.not_settled}; {detail}"

    def leaders_exist(self) -> Seen:
        return bool(self.leaders), pluralize(len(self.leaders), "leader")

    def leaders_are_vertices(self) -> Seen:
        leading = self.clouds[-1].rows(self.leaders)
        chosen = by_all_scores(leading, leading, self.dynamics).lists
        return self._so_far(chosen == [[i] for i in range(len(chosen))], "each is furthest its own way, alone")

    def leaders_arrive(self) -> Seen:
        """Whether every leader, from its first layer as one, keeps its position and attends to nothing else."""
        stay = all(
            _same_place(self.clouds[since], cloud, point)
            and all(cloud.numerators[j] == cloud.numerators[point] for j in sets[point])
            for point, since in enumerate(self.run.leader_since.tolist())
            if since >= 0
            for cloud, sets in zip(self.clouds[since:], self.sets[since:], strict=True)
        )
        return self._so_far(stay, f"the last from layer {self.run.leader_layers.max(initial=0)} on")

    def tokens_converge(self) -> Seen:
        points, settled = pluralize(len(self.lim.clusters), "point"), self.run.layers
        stay = all(sets == self.sets[settled] for sets in self.sets[settled:])
        return stay, f"{points}; settled at layer {settled}"

    def limits_on_boundary(self) -> Seen:
        _, examples = np.unique(self.lim.clusters.labels, return_index=True)
        phase = self.run.phase_at(self.run.layers)
        limits = phase.targets.rows(self.run.points.of_token[examples].tolist()).numerators
        directions = directions_of(limits, self.dynamics)
        scores = products(directions, phase.positions.rows(self.leaders).numerators)
        heights = [sum(map(mul, *pair)) for pair in zip(directions, limits, strict=True)]
        furthest = all(height == max(row) for height, row in zip(heights, scores, strict=True))
        detail = "K lies on one side of the hyperplane through each, with normal A w"
        return furthest and all(map(any, directions)), detail

    def limits_projected(self) -> Seen:
        kinds = Counter(map(type, self.lim.clusters.kinds))
        vertices, faces = kinds[Vertex], kinds[FaceProjection]
        return vertices + faces == kinds.total(), f"vertices: {vertices}, projections: {faces}"


def _same_place(before: IntegerCloud, after: IntegerCloud, point: int) -> bool:
    pairs = zip(before.numerators[point], after.numerators[point], strict=True)
    return all(old * after.denominator == new * before.denominator for old, new in pairs)


# The claim, its check, and whether that needs a cloud that has settled.
STATEMENTS: tuple[tuple[str, Callable[[Evidence], Seen], bool], ...] = (
    ("leaders exist", Evidence.leaders_exist, False),
    ("each leader is a vertex of K, the hull of the leaders", Evidence.leaders_are_vertices, False),
    ("each leader sits on its vertex after finitely many layers", Evidence.leaders_arrive, False),
    ("every token converges to one of finitely many points", Evidence.tokens_converge, True),
    ("these points lie on the boundary of K", Evidence.limits_on_boundary, True),
    ("a limit that is no vertex is the projection of 0 onto a face", Evidence.limits_projected, True),
)
