"""Every statement of Theorem 1.1, and the facts that the implementation rests on, checked on one cloud.

The checks are made in integers, on the cloud itself and not on the claims of a run: who attends to whom is worked out
again at every layer that is looked at.
"""

import math
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from hardmax._clusters import FaceProjection, Vertex
from hardmax._exact.argmax import Chosen, by_all_scores, directions_of, products
from hardmax._exact.positions import ExactPhase
from hardmax._exact.solver import ExactSolver
from hardmax._exact.vectors import DIGIT
from hardmax._format import escape_html, finite_or_none, pluralize
from hardmax._run import Plan, run_points
from hardmax._tokens.rationals import IntegerCloud
from hardmax._validation import InputError, check_instance
from hardmax.limits import Limit
from hardmax.stops import Every, Settled
from hardmax.trajectory import Trajectory

MOST_TOKENS = 2000
HOLDS, FAILS, SILENT, UNDECIDED = "holds", "fails", "does not apply", "undecided"
# Layers that are walked to see a cloud settle, or as many as a run has seen it take, unless numbers become so long that
# scoring them costs more than so many products of digits: some ten seconds.
PATIENCE, MOST_WORK = 500, 10**10
# Beyond the layer of settling nothing new can happen; a few layers show that it does not.
AFTERWARDS = (1, 2, 5, 20)


@dataclass(frozen=True)
class Statement:
    """One statement, what became of it, and by how much."""

    source: str
    claim: str
    verdict: str
    margin: float | None
    """How clearly it holds: an inequality by its smallest lead (a share of |A| R^2, or of the norm itself), an equality
    by how far it is off, which in integers is 0. None where it does not apply or fails."""
    detail: str

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, ready for JSON."""
        return asdict(self) | {"margin": None if self.margin is None else finite_or_none(self.margin)}


@dataclass(frozen=True, repr=False)
class TheoremReport:
    """All statements, in order. Truthy if none of them fails; `undecided` says whether some are left open."""

    statements: tuple[Statement, ...]

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def __len__(self) -> int:
        return len(self.statements)

    def __bool__(self) -> bool:
        return all(statement.verdict != FAILS for statement in self)

    @property
    def undecided(self) -> bool:
        """Whether a statement is neither seen to hold nor to fail: the cloud has not settled in the layers walked."""
        return any(statement.verdict == UNDECIDED for statement in self)

    def __repr__(self) -> str:
        found = Counter(statement.verdict for statement in self)
        told = ", ".join(f"{verdict}: {number}" for verdict, number in found.items())
        return f"TheoremReport({pluralize(len(self), 'statement')}; {told})"

    def _repr_html_(self) -> str:
        from hardmax.figures.markup import html_card

        return html_card(repr(self), f'<pre style="overflow-x:auto;font-size:11px">{escape_html(str(self))}</pre>')

    def __str__(self) -> str:
        width = max(len(statement.claim) for statement in self)

        def line(s: Statement) -> str:
            margin = "" if s.margin is None else f"{s.margin:.2g}"
            return f"{s.source:12} {s.claim:{width}} {s.verdict:15} {margin:8} {s.detail}"

        return "\n".join(map(line, self))


def check_theorem(result: Trajectory | Limit) -> TheoremReport:
    """Check Theorem 1.1 and our own facts on the cloud of a run or a limit.

    Walks the cloud again in integers, to where the run settled, or 500 layers if it did not; fewer where numbers become
    too long. Where it has not settled by then, statements about all layers are `undecided`: nobody has seen them hold,
    or fail.

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
    return TheoremReport(tuple(check(evidence) for check in CHECKS))


def _patience(run: Trajectory) -> int:
    """How many layers to walk. What a layer costs grows with the square of the digits that all before have added."""
    products, bits = run.points.count**2 * run.d, run.dynamics.contraction.denominator.bit_length()

    def work(layers: int) -> int:
        return layers * products * (layers * bits // DIGIT) ** 2

    return bisect_right(range(max(PATIENCE, run.settled_at or 0)), MOST_WORK, key=work)


def _exact_limit(run: Trajectory, at_most: int) -> Limit:
    """The limit of the cloud of a run, found again in integers."""
    plan = Plan(run.dynamics, (ExactSolver(by_all_scores),), Settled(at_most), Every(1))
    return Limit(Trajectory.of(run_points(run.points, plan)))


class Evidence:
    """The layers of an exact run, with attended sets worked out afresh by scoring everybody."""

    def __init__(self, lim: Limit) -> None:
        self.lim = lim
        self.run = lim.run
        self.dynamics = lim.run.dynamics

    @property
    def settled(self) -> bool:
        return self.run.settled_at is not None

    @property
    def not_settled(self) -> str:
        return f"not settled within {self.run.layers:,} layers"

    def so_far(self, holds: bool) -> bool | None:
        """What is known for all layers of something seen at these: if it holds, only once nothing changes any more."""
        return None if holds and not self.settled else holds

    @cached_property
    def layers(self) -> list[int]:
        """The layers up to settling, each of them, and a few beyond."""
        last = self.run.layers
        beyond = [last + more for more in AFTERWARDS] if self.settled else []
        return [*range(last + 1), *beyond]

    @cached_property
    def clouds(self) -> list[IntegerCloud]:
        return [self.phase(layer).integers_at(layer) for layer in self.layers]

    @cached_property
    def chosen(self) -> list[Chosen]:
        return [by_all_scores(cloud, cloud, self.dynamics) for cloud in self.clouds]

    @cached_property
    def sets(self) -> list[list[list[int]]]:
        return [chosen.lists for chosen in self.chosen]

    def lead(self, *, since: int = 0) -> float:
        """The smallest lead of an attended over an unattended point, at the layers from `since` on."""
        return min(chosen.margin for layer, chosen in zip(self.layers, self.chosen, strict=True) if layer >= since)

    @cached_property
    def leaders(self) -> list[int]:
        """The points that are leaders, one for each place."""
        return self.run.points.of_token[self.lim.distinct_leaders].tolist() if len(self.lim.leaders) else []

    def norms(self, cloud: IntegerCloud) -> list[int]:
        """|z|_A^2 of each point, up to a positive factor and the denominator's square."""
        directions = directions_of(cloud.numerators, self.dynamics)
        return [
            sum(int(a) * b for a, b in zip(direction, z, strict=True))
            for direction, z in zip(directions, cloud.numerators, strict=True)
        ]

    def phase(self, layer: int) -> ExactPhase:
        """The phase whose attended sets hold at this layer."""
        phase = next(phase for phase in reversed(self.run.phases) if phase.layer <= layer)
        assert isinstance(phase, ExactPhase)
        return phase


Check = Callable[[Evidence], Statement]
Seen = tuple[bool | None, float | None, str]  # whether it holds (None: nobody knows), by how much, what was seen
CHECKS: list[Check] = []


def _statement(source: str, claim: str, needs_theorem: bool = True) -> Callable[[Callable[[Evidence], Seen]], Check]:
    """Register a check; asked only where its assumptions hold."""

    def register(check: Callable[[Evidence], Seen]) -> Check:
        def answer(evidence: Evidence) -> Statement:
            if needs_theorem and not evidence.lim.theorem_applies:
                return Statement(source, claim, SILENT, None, evidence.lim.theorem_reason)
            holds, margin, detail = check(evidence)
            verdict = UNDECIDED if holds is None else HOLDS if holds else FAILS
            return Statement(source, claim, verdict, margin if holds else None, detail)

        CHECKS.append(answer)
        return answer

    return register


@_statement("Theorem 1.1", "leaders exist")
def _leaders_exist(evidence: Evidence) -> Seen:
    return bool(evidence.leaders), evidence.lead(), pluralize(len(evidence.leaders), "leader")


@_statement("Theorem 1.1", "each leader is a vertex of K, the hull of the leaders")
def _leaders_are_vertices(evidence: Evidence) -> Seen:
    leading = evidence.clouds[-1].rows(evidence.leaders)
    chosen = by_all_scores(leading, leading, evidence.dynamics)
    alone = all(several == [i] for i, several in enumerate(chosen.lists))
    lead = f"each is furthest its own way, by {chosen.margin:.2g} at least"
    detail = lead if len(evidence.leaders) > 1 else "there is one leader"
    return evidence.so_far(alone), chosen.margin, detail if evidence.settled else f"{evidence.not_settled}; {detail}"


@_statement("Theorem 1.1", "each leader sits on its vertex after finitely many layers")
def _leaders_arrive(evidence: Evidence) -> Seen:
    latest = int(evidence.run.leader_layers.max(initial=0))
    detail = f"the last from layer {latest} on"
    at_rest = evidence.so_far(_at_rest_since(evidence))
    return at_rest, 0.0, detail if evidence.settled else f"{evidence.not_settled}; so far {detail}"


@_statement("Theorem 1.1", "every token converges to one of finitely many points")
def _tokens_converge(evidence: Evidence) -> Seen:
    settled = evidence.run.settled_at
    if settled is None:
        return None, None, evidence.not_settled
    points = pluralize(len(evidence.lim.clusters), "point")
    return True, evidence.lead(since=settled), f"{points}; settled at layer {settled}"


@_statement("Theorem 1.1", "these points lie on the boundary of K")
def _limits_on_boundary(evidence: Evidence) -> Seen:
    if not evidence.settled:
        return None, None, evidence.not_settled
    examples = [evidence.lim.clusters.labels.tolist().index(label) for label in range(len(evidence.lim.clusters))]
    phase = evidence.phase(evidence.run.layers)
    limits = phase.targets.rows(evidence.run.points.of_token[examples].tolist()).numerators
    leading = phase.positions.rows(evidence.leaders).numerators
    directions = directions_of(limits, evidence.dynamics)
    supported = all(
        any(direction) and max(scores) == sum(int(a) * b for a, b in zip(direction, w, strict=True))
        for direction, scores, w in zip(directions, products(directions, leading), limits, strict=True)
    )
    return supported, 0.0, "K lies on one side of the hyperplane through each, with normal A w"


@_statement("Theorem 1.1", "a limit that is no vertex is the projection of 0 onto a face")
def _limits_are_projections(evidence: Evidence) -> Seen:
    if not evidence.settled:
        return None, None, evidence.not_settled
    kinds = evidence.lim.clusters.kinds
    vertices = sum(isinstance(kind, Vertex) for kind in kinds)
    faces = sum(isinstance(kind, FaceProjection) for kind in kinds)
    return vertices + faces == len(kinds), 0.0, f"vertices: {vertices}, projections: {faces}"


@_statement("fact 1", "only points of the hull's boundary win", needs_theorem=False)
def _boundary_wins(evidence: Evidence) -> Seen:
    wins = 0
    for layer, sets in zip(evidence.layers, evidence.sets, strict=True):
        # Whoever is furthest along a direction has the whole hull on one side. The run must have named just those.
        claimed = evidence.phase(layer).choices if layer <= evidence.run.layers else None
        if claimed is not None and [claimed[i].tolist() for i in range(len(sets))] != sets:
            return False, None, f"at layer {layer} the run names others than those furthest out"
        wins += sum(map(len, sets))
    return True, evidence.lead(), f"{wins} wins, each with the whole cloud on one side"


@_statement("fact 2", "the hull shrinks", needs_theorem=False)
def _hull_shrinks(evidence: Evidence) -> Seen:
    looked, least = 0, math.inf
    for before, after in pairwise(evidence.clouds):
        directions = directions_of(before.numerators, evidence.dynamics)
        reach = [int(max(row)) * after.denominator for row in products(directions, before.numerators)]
        later = [int(max(row)) * before.denominator for row in products(directions, after.numerators)]
        if any(new > old for old, new in zip(reach, later, strict=True)):
            return False, None, "a token is further out than any was before"
        longest = max(map(abs, reach)) or 1
        least = min(least, *((old - new) / longest for old, new in zip(reach, later, strict=True)))
        looked += len(reach)
    return True, least, f"along {looked} directions nobody gets further out"


@_statement("fact 3", "once a leader, always a leader", needs_theorem=False)
def _leaders_stay(evidence: Evidence) -> Seen:
    leaders, layers = pluralize(len(evidence.leaders), "leader"), pluralize(len(evidence.layers), "layer")
    return _at_rest_since(evidence), 0.0, f"{leaders}, {layers}"


@_statement("fact 4", "norms grow, strictly unless a token is its own target")
def _norms_grow(evidence: Evidence) -> Seen:
    least = math.inf
    for before, after in pairwise(evidence.clouds):
        short, long = evidence.norms(before), evidence.norms(after)
        for i, (old, new) in enumerate(zip(short, long, strict=True)):
            was, grown = old * after.denominator**2, new * before.denominator**2 - old * after.denominator**2
            if grown < 0 or (grown == 0) != _same_place(before, after, i):
                return False, None, f"point {i} moved without growing"
            if grown:
                least = min(least, _quotient(grown, was))
    return True, least, f"over {len(evidence.layers) - 1} steps, those who move"


@_statement("facts 5, 6", "from the settled layer on, no attended set changes", needs_theorem=False)
def _sets_stay(evidence: Evidence) -> Seen:
    settled = evidence.run.settled_at
    if settled is None:
        return None, None, evidence.not_settled
    later = [sets for layer, sets in zip(evidence.layers, evidence.sets, strict=True) if layer >= settled]
    beyond = ", ".join(str(settled + more) for more in AFTERWARDS)
    return all(sets == later[0] for sets in later), evidence.lead(since=settled), f"seen at layers {beyond}"


def _at_rest_since(evidence: Evidence) -> bool:
    """Whether every leader, from its first layer as one, stays where it is and attends to its own place alone."""
    since = evidence.run.leader_since
    for point in np.flatnonzero(since >= 0).tolist():
        layers = [row for row, layer in enumerate(evidence.layers) if layer >= since[point]]
        for row in layers:
            cloud = evidence.clouds[row]
            here = cloud.numerators[point]
            if any(cloud.numerators[j] != here for j in evidence.sets[row][point]):
                return False
            if not _same_place(evidence.clouds[layers[0]], cloud, point):
                return False
    return True


def _quotient(above: int, below: int) -> float:
    """above / below, for positive integers; the largest float where that is beyond it."""
    try:
        return above / below
    except OverflowError:
        return sys.float_info.max


def _same_place(before: IntegerCloud, after: IntegerCloud, point: int) -> bool:
    return all(
        a * after.denominator == b * before.denominator
        for a, b in zip(before.numerators[point], after.numerators[point], strict=True)
    )
