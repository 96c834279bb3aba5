"""Theorem 1.1 and the facts that the implementation rests on, checked on one cloud.

Everything is checked in integers and on the cloud itself: attended sets are computed anew at every layer.
"""

import math
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import mul

import numpy as np

from hardmax._clusters import FaceProjection, Vertex
from hardmax._exact.argmax import Chosen, by_all_scores, directions_of, products
from hardmax._exact.solver import ExactSolver
from hardmax._exact.vectors import DIGIT
from hardmax._format import escape_html, pluralize
from hardmax._run import Plan, run_points
from hardmax._tokens.rationals import IntegerCloud
from hardmax._validation import InputError, check_instance
from hardmax.dynamics import Dynamics
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
    """One statement of a `TheoremReport`."""

    source: str
    """The theorem or fact that it is part of."""
    claim: str
    """What it says."""
    verdict: str
    """"holds", "fails", "does not apply" or "undecided"."""
    margin: float | None
    """How clearly it holds: the smallest lead (a share of |A| R^2, or of the norm itself) of an inequality, 0 for an
    equality. None unless it holds."""
    detail: str
    """What was observed."""


class TheoremReport(tuple[Statement, ...]):
    """The statements that `check_theorem` checked, in order; true if none of them fails.

    Examples
    --------
    >>> from hardmax import Dynamics, check_theorem, clouds, limit
    >>> check_theorem(limit(clouds.nonleader_clusters(), Dynamics("1/2")))
    TheoremReport(11 statements; holds: 11)
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
        margins = ["" if s.margin is None else f"{s.margin:.2g}" for s in self]
        rows = zip(self, margins, strict=True)
        return "\n".join(f"{s.source:12} {s.claim:{width}} {s.verdict:15} {m:8} {s.detail}" for s, m in rows)


def check_theorem(result: Trajectory | Limit) -> TheoremReport:
    """Check every statement of Theorem 1.1 on one cloud, exactly.

    Parameters
    ----------
    result : Trajectory or Limit
        What `simulate` or `limit` returned for a cloud of at most 2,000 distinct tokens.

    Returns
    -------
    TheoremReport
        A verdict on each statement, and on the facts behind the implementation. The cloud is followed in integers to
        the layer at which the run settled; if it did not, for 500 layers, or fewer if numbers become too long. If the
        cloud has not settled by then, statements about all layers are "undecided".

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


Seen = tuple[bool | None, float | None, str]  # whether it holds (None: not known), the margin, what was observed


class Evidence:
    """The layers of an exact run and a few beyond settling, with attended sets computed anew from all scores."""

    def __init__(self, lim: Limit) -> None:
        self.lim, self.run, self.dynamics = lim, lim.run, lim.run.dynamics
        self.settled, last = lim.settled_at is not None, lim.run.layers
        self.not_settled = f"not settled within {last:,} layers"
        self.layers = [*range(last + 1), *(last + more for more in AFTERWARDS if self.settled)]
        self.clouds = [lim.run.phase_at(layer).integers_at(layer) for layer in self.layers]
        # The points that lead, one for each position.
        self.leaders = lim.run.points.of_token[lim.distinct_leaders].tolist()

    @cached_property
    def chosen(self) -> list[Chosen]:
        return [by_all_scores(cloud, cloud, self.dynamics) for cloud in self.clouds]

    @cached_property
    def sets(self) -> list[list[list[int]]]:
        return [chosen.lists for chosen in self.chosen]

    def lead(self, *, since: int = 0) -> float:
        """The smallest lead of an attended over an unattended point, at the layers from `since` on."""
        return min(chosen.margin for chosen in self.chosen[since:])

    @cached_property
    def leaders_stay(self) -> bool:
        """Whether every leader, from its first layer as one, keeps its position and attends to nothing else."""
        for point, since in enumerate(self.run.leader_since.tolist()):
            for cloud, sets in zip(self.clouds[since:], self.sets[since:], strict=True) if since >= 0 else ():
                stays = _same_place(self.clouds[since], cloud, point)
                if not stays or any(cloud.numerators[j] != cloud.numerators[point] for j in sets[point]):
                    return False
        return True

    def check(
        self, source: str, claim: str, seen: "Callable[[Evidence], Seen]", theorem: bool, settled: bool
    ) -> Statement:
        if theorem and not self.lim.theorem_applies:
            return Statement(source, claim, SILENT, None, self.lim.theorem_reason)
        known = self.settled or not settled
        holds, margin, detail = seen(self) if known else (None, None, self.not_settled)
        verdict = UNDECIDED if holds is None else HOLDS if holds else FAILS
        return Statement(source, claim, verdict, margin if holds else None, detail)

    def _so_far(self, holds: bool, margin: float, detail: str) -> Seen:
        """What holds at the layers checked holds at all layers only if the cloud has settled."""
        if self.settled:
            return holds, margin, detail
        return None if holds else False, margin, f"{self.not_settled}; {detail}"

    def leaders_exist(self) -> Seen:
        return bool(self.leaders), self.lead(), pluralize(len(self.leaders), "leader")

    def leaders_are_vertices(self) -> Seen:
        leading = self.clouds[-1].rows(self.leaders)
        chosen = by_all_scores(leading, leading, self.dynamics)
        alone = all(several == [i] for i, several in enumerate(chosen.lists))
        lead = f"each is furthest its own way, by {chosen.margin:.2g} at least"
        return self._so_far(alone, chosen.margin, lead if len(self.leaders) > 1 else "there is one leader")

    def leaders_arrive(self) -> Seen:
        latest = f"the last from layer {self.run.leader_layers.max(initial=0)} on"
        return self._so_far(self.leaders_stay, 0.0, latest if self.settled else f"so far {latest}")

    def tokens_converge(self) -> Seen:
        points, settled = pluralize(len(self.lim.clusters), "point"), self.run.layers
        return True, self.lead(since=settled), f"{points}; settled at layer {settled}"

    def limits_on_boundary(self) -> Seen:
        _, examples = np.unique(self.lim.clusters.labels, return_index=True)
        phase = self.run.phase_at(self.run.layers)
        limits = phase.targets.rows(self.run.points.of_token[examples].tolist()).numerators
        directions = directions_of(limits, self.dynamics)
        scores = products(directions, phase.positions.rows(self.leaders).numerators)
        heights = [sum(map(mul, *pair)) for pair in zip(directions, limits, strict=True)]
        furthest = all(height == max(row) for height, row in zip(heights, scores, strict=True))
        detail = "K lies on one side of the hyperplane through each, with normal A w"
        return furthest and all(map(any, directions)), 0.0, detail

    def limits_projected(self) -> Seen:
        kinds = Counter(map(type, self.lim.clusters.kinds))
        vertices, faces = kinds[Vertex], kinds[FaceProjection]
        return vertices + faces == kinds.total(), 0.0, f"vertices: {vertices}, projections: {faces}"

    def boundary_wins(self) -> Seen:
        for layer, sets in zip(range(self.run.layers + 1), self.sets, strict=False):
            # The points furthest along a direction have the whole hull on one side: the run must have named just those.
            if self.run.phase_at(layer).choices.lists() != sets:
                return False, None, f"at layer {layer} the run names others than those furthest out"
        wins = sum(len(several) for sets in self.sets for several in sets)
        return True, self.lead(), f"{wins} wins, each with the whole cloud on one side"

    def hull_shrinks(self) -> Seen:
        looked, least = 0, math.inf
        for before, after in pairwise(self.clouds):
            directions = directions_of(before.numerators, self.dynamics)
            reach = [int(max(row)) * after.denominator for row in products(directions, before.numerators)]
            later = [int(max(row)) * before.denominator for row in products(directions, after.numerators)]
            if any(new > old for old, new in zip(reach, later, strict=True)):
                return False, None, "a token is further out than any was before"
            longest = max(map(abs, reach)) or 1
            least = min(least, *((old - new) / longest for old, new in zip(reach, later, strict=True)))
            looked += len(reach)
        return True, least, f"along {looked} directions nobody gets further out"

    def leaders_remain(self) -> Seen:
        leaders, layers = pluralize(len(self.leaders), "leader"), pluralize(len(self.layers), "layer")
        return self.leaders_stay, 0.0, f"{leaders}, {layers}"

    def norms_grow(self) -> Seen:
        least = math.inf
        for before, after in pairwise(self.clouds):
            norms = zip(_squared_norms(before, self.dynamics), _squared_norms(after, self.dynamics), strict=True)
            for i, (old, new) in enumerate(norms):
                was, grown = old * after.denominator**2, new * before.denominator**2 - old * after.denominator**2
                if grown < 0 or (grown == 0) != _same_place(before, after, i):
                    return False, None, f"point {i} moved without growing"
                least = min(least, _quotient(grown, was) if grown else math.inf)
        return True, least, f"over {len(self.layers) - 1} steps, those who move"

    def sets_stay(self) -> Seen:
        settled = self.run.layers
        beyond = ", ".join(str(settled + more) for more in AFTERWARDS)
        stay = all(sets == self.sets[settled] for sets in self.sets[settled:])
        return stay, self.lead(since=settled), f"seen at layers {beyond}"


def _squared_norms(cloud: IntegerCloud, dynamics: Dynamics) -> list[int]:
    """|z|_A^2 of each point, up to a positive factor and the square of the denominator."""
    directions = directions_of(cloud.numerators, dynamics)
    return [int(sum(map(mul, direction, z))) for direction, z in zip(directions, cloud.numerators, strict=True)]


def _quotient(above: int, below: int) -> float:
    """above / below, for positive integers; the largest float where that is beyond it."""
    try:
        return above / below
    except OverflowError:
        return sys.float_info.max


def _same_place(before: IntegerCloud, after: IntegerCloud, point: int) -> bool:
    pairs = zip(before.numerators[point], after.numerators[point], strict=True)
    return all(old * after.denominator == new * before.denominator for old, new in pairs)


# Source, claim, check, and whether it needs the theorem to apply, or the cloud to have settled.
STATEMENTS: tuple[tuple[str, str, Callable[[Evidence], Seen], bool, bool], ...] = (
    ("Theorem 1.1", "leaders exist", Evidence.leaders_exist, True, False),
    (
        "Theorem 1.1",
        "each leader is a vertex of K, the hull of the leaders",
        Evidence.leaders_are_vertices,
        True,
        False,
    ),
    ("Theorem 1.1", "each leader sits on its vertex after finitely many layers", Evidence.leaders_arrive, True, False),
    ("Theorem 1.1", "every token converges to one of finitely many points", Evidence.tokens_converge, True, True),
    ("Theorem 1.1", "these points lie on the boundary of K", Evidence.limits_on_boundary, True, True),
    (
        "Theorem 1.1",
        "a limit that is no vertex is the projection of 0 onto a face",
        Evidence.limits_projected,
        True,
        True,
    ),
    ("fact 1", "only points of the hull's boundary win", Evidence.boundary_wins, False, False),
    ("fact 2", "the hull shrinks", Evidence.hull_shrinks, False, False),
    ("fact 3", "once a leader, always a leader", Evidence.leaders_remain, False, False),
    ("fact 4", "norms grow, strictly unless a token is its own target", Evidence.norms_grow, True, False),
    ("facts 5, 6", "from the settled layer on, no attended set changes", Evidence.sets_stay, False, True),
)
