"""Theorem 1.1 and Figure 5 checked on one cloud, in integers.

Attended sets are computed anew at every layer.
"""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_instance
from hardmax._exact.argmax import by_all_scores, directions_of, products
from hardmax._exact.solver import ExactSolver
from hardmax._exact.vectors import DIGIT
from hardmax._limits.clusters import FaceProjection, Vertex
from hardmax._runs.run import Plan, run_points
from hardmax._runs.trajectory import Trajectory
from hardmax.limits import Limit
from hardmax.stops import Every, Settled

MOST_TOKENS = 2000
HOLDS, FAILS, SILENT, UNDECIDED = "holds", "fails", "does not apply", "undecided"
VERDICTS = {True: HOLDS, False: FAILS, None: UNDECIDED}
CLAIMS = (
    "leaders exist",
    "each leader is a vertex of K, the hull of the leaders",
    "each leader sits on its vertex after finitely many layers",
    "every token converges to one of finitely many points",
    "these points lie on the boundary of K",
    "a limit that is no vertex is the projection of 0 onto a face",
    "a hyperplane separates each vertex from the other limits",
)
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
        found = ", ".join(f"{verdict}: {number}" for verdict, number in counts.items())
        return f"TheoremReport({pluralize(len(self), 'statement')}; {found})"

    def __str__(self) -> str:
        width = max(len(statement.claim) for statement in self)
        return "\n".join(f"{s.claim:{width}} {s.verdict:15} {s.detail}" for s in self)


def check_theorem(result: Trajectory | Limit) -> TheoremReport:
    """Check every statement of Theorem 1.1 on one cloud, exactly, and the separation of Figure 5.

    Parameters
    ----------
    result : Trajectory or Limit
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
    given = check_instance(
        result, (Limit, Trajectory), "`result`", "what `limit` or `simulate` gave for one cloud"
    )
    run = given.run if isinstance(given, Limit) else given
    if run.details.points.count > MOST_TOKENS:
        raise InputError(
            f"`check_theorem` works in integers on up to {MOST_TOKENS:,} distinct tokens, "
            f"not {run.details.points.count:,}.",
            argument="check_theorem",
        )
    if reason := Limit(run).theorem_reason:
        return TheoremReport(Statement(claim, SILENT, reason) for claim in CLAIMS)
    plan = Plan(run.dynamics, (ExactSolver(),), Settled(_patience(run)), Every(1))
    observed = zip(
        CLAIMS, _observe(Limit(Trajectory(run_points(run.details.points, plan)))), strict=True
    )
    return TheoremReport(
        Statement(claim, VERDICTS[holds], detail) for claim, (holds, detail) in observed
    )


def _patience(run: Trajectory) -> int:
    """How many layers can be afforded: the cost of one grows with the square of the digits that all
    before added."""
    products, bits = (
        run.details.points.count**2 * run.d,
        run.dynamics.contraction.denominator.bit_length(),
    )
    layers = range(max(PATIENCE, run.settled_at or 0))
    return bisect_right(layers, MOST_WORK, key=lambda k: k * products * (k * bits // DIGIT) ** 2)


def _observe(lim: Limit) -> list[tuple[bool | None, str]]:
    """Whether each of the claims holds (None: not known), and what was observed, with sets computed
    from all scores."""
    run, dynamics, last = lim.run, lim.run.dynamics, lim.run.layers
    settled = lim.settled_at is not None
    layers = [*range(last + 1), *(last + more for more in AFTERWARDS if settled)]
    clouds = [run.details.phase_at(layer).integers_at(layer) for layer in layers]
    sets = [by_all_scores(cloud, cloud, dynamics).lists for cloud in clouds]
    leaders = run.details.points.of_token[
        lim.distinct_leaders
    ].tolist()  # a point for each position
    leading = clouds[-1].rows(leaders)
    alone = by_all_scores(leading, leading, dynamics).lists == [[i] for i in range(len(leaders))]
    # From its first layer as a leader, it keeps its position and attends to nothing else.
    stay = all(
        clouds[since].rows([point]).reduced() == cloud.rows([point]).reduced()
        and all(cloud.numerators[j] == cloud.numerators[point] for j in chosen[point])
        for point, since in enumerate(run.details.leader_since.tolist())
        if since >= 0
        for cloud, chosen in zip(clouds[since:], sets[since:], strict=True)
    )
    about_leaders = (
        (alone, "each is furthest its own way, alone"),
        (stay, f"the last from layer {run.leader_layers.max(initial=0)} on"),
    )
    exist = bool(leaders), pluralize(len(leaders), "leader")
    if not settled:
        # What holds at the layers checked may fail at later ones.
        late = f"not settled within {last:,} layers"
        so_far = (
            (None if holds else False, f"{late}; {detail}") for holds, detail in about_leaders
        )
        return [exist, *so_far, *[(None, late)] * 4]
    phase, clusters, points = (
        run.details.phase_at(last),
        lim.clusters,
        pluralize(len(lim.clusters), "point"),
    )
    examples = run.details.points.of_token[
        np.unique(clusters.labels, return_index=True)[1]
    ].tolist()
    limits = phase.targets.rows(examples).numerators
    directions = directions_of(limits, dynamics)
    of_leaders = products(directions, phase.positions.rows(leaders).numerators)
    of_limits = products(directions, limits)
    heights = [scores[i] for i, scores in enumerate(of_limits)]
    furthest = heights == list(map(max, of_leaders))
    kinds = Counter(map(type, clusters.kinds))
    vertices, faces = kinds[Vertex], kinds[FaceProjection]
    separated = all(
        sum(score >= height for score in scores) == 1  # its own
        for kind, height, scores in zip(clusters.kinds, heights, of_limits, strict=True)
        if isinstance(kind, Vertex)
    )
    return [
        exist,
        *about_leaders,
        (sets[last:] == [sets[last]] * len(sets[last:]), f"{points}; settled at layer {last}"),
        (
            furthest and all(map(any, directions)),
            "K lies on one side of the hyperplane through each, with normal A w",
        ),
        (vertices + faces == kinds.total(), f"vertices: {vertices}, projections: {faces}"),
        (separated, "of all limits, each vertex alone lies furthest its own way"),
    ]
