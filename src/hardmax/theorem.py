"""Theorem 1.1 and Figure 5 checked on one cloud, in integers."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_instance
from hardmax._exact.argmax import by_all_scores
from hardmax._limits.clusters import FaceProjection, Vertex
from hardmax._runs.run import Run
from hardmax._tokens.rationals import IntegerCloud
from hardmax.infinite_depth import Limit, limit

MOST_TOKENS = 2000
HOLDS, FAILS, SILENT, UNDECIDED = "holds", "fails", "does not apply", "undecided"
VERDICTS = {True: HOLDS, False: FAILS, None: UNDECIDED}
AFTERWARDS = (1, 2, 5, 20)  # layers beyond settling that are checked too
CLAIMS = (
    "leaders exist",
    "each leader is a vertex of K, the hull of the leaders",
    "each leader sits on its vertex after finitely many layers",
    "every token converges to one of finitely many points",
    "these points lie on the boundary of K",
    "a limit that is no vertex is the projection of 0 onto a face",
    "a hyperplane separates each vertex from the other limits",
)


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
        A verdict on each statement, or why the theorem does not apply. The limit is computed again
        in integers; if that does not settle, statements about all layers are "undecided".

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
    points = run.points
    if points.count > MOST_TOKENS:
        most = f"up to {MOST_TOKENS:,} distinct tokens"
        raise InputError(f"`check_theorem` works in integers on {most}, not {points.count:,}.")
    if reason := theorem_reason(run):
        return TheoremReport([Statement("Theorem 1.1", SILENT, reason)])
    lim = limit(points.coordinates, run.dynamics, arithmetic="exact")
    late = f"not settled within {lim.run.layers:,} layers"
    settled = lim.settled_at is not None
    observed = [*_of_leaders(lim), *(_of_limits(lim) if settled else [(None, late)] * 4)]
    if not settled:
        # What holds of all leaders so far may fail of later ones.
        observed[1:3] = [(holds and None, f"{late}; {detail}") for holds, detail in observed[1:3]]
    pairs = zip(CLAIMS, observed, strict=True)
    return TheoremReport(
        Statement(claim, VERDICTS[holds], detail) for claim, (holds, detail) in pairs
    )


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
    'token 1 is zero: it attends to all tokens'
    """
    run = _run_of(result)
    points = run.points
    if not run.dynamics.traits.plain:
        layers = "hardmax attention alone, without a mask and a value matrix"
        return f"it is about {layers}, all with the same step"
    if not run.dynamics.is_definite:
        return "the metric is not symmetric positive definite"
    zero = np.flatnonzero((points.coordinates == 0).all(axis=1))
    if len(zero):
        token = int(np.flatnonzero(points.of_token == zero[0])[0])
        return f"token {token} is zero: it attends to all tokens"
    if points.count < run.n or (points.multiplicities > 1).any():
        return "tokens are repeated: they were merged, with multiplicities"
    return ""


def _run_of(result: Any) -> Run:
    wish = "what `limit` or `simulate` gave for one cloud"
    given = check_instance(result, (Limit, Run), "`result`", wish)
    return given.run if isinstance(given, Limit) else given


# Whether a claim holds (None: not known), and what was observed.
Observed = tuple[bool | None, str]


def _of_leaders(lim: Limit) -> Iterator[Observed]:
    """The first three claims, up to the last layer."""
    run, count = lim.run, len(lim.distinct_leaders)
    yield bool(count), pluralize(count, "leader")
    last = run.at(run.layers, exact=True)
    alone = [[number] for number in range(count)]
    sets = _furthest(last[lim.distinct_leaders], run.dynamics) if count else []
    yield sets == alone, "each is furthest its own way, alone"
    stay = True
    for layer in np.unique(run.leader_layers).tolist():
        since = run.leaders[run.leader_layers == layer]
        stay &= (run.at(layer, exact=True)[since] == last[since]).all()
    yield stay, f"the last from layer {run.leader_layers.max(initial=0)} on"


def _of_limits(lim: Limit) -> Iterator[Observed]:
    """The other four, of a run that has settled."""
    run, clusters, settled = lim.run, lim.clusters, lim.settled_at or 0
    layers = [settled, *(settled + more for more in AFTERWARDS)]
    first, *later = (_furthest(run.at(k, exact=True), run.dynamics) for k in layers)
    points = pluralize(len(clusters), "point")
    yield all(sets == first for sets in later), f"{points}; settled at layer {settled}"
    firsts = np.unique(clusters.labels, return_index=True)[1]
    limits = lim.exact_limit_points()[firsts]
    sets = _furthest(limits, run.dynamics)
    highest = all(number in others for number, others in enumerate(sets))
    detail = "K lies on one side of the hyperplane through each, with normal A w"
    yield highest and bool((limits != 0).any(axis=1).all()), detail
    kinds = Counter(map(type, clusters.kinds))
    vertices, faces = kinds[Vertex], kinds[FaceProjection]
    yield vertices + faces == len(clusters), f"vertices: {vertices}, projections: {faces}"
    numbers = [k for k, kind in enumerate(clusters.kinds) if isinstance(kind, Vertex)]
    separated = all(sets[number] == [number] for number in numbers)
    yield separated, "of all limits, each vertex alone lies furthest its own way"


def _furthest(places: np.ndarray, dynamics: Any) -> list[list[int]]:
    """For each of some places, those that are furthest along it."""
    cloud = IntegerCloud.of(places)
    return by_all_scores(cloud, cloud, dynamics).sets
