"""Who attends to whom, and for how long, proved: by floats, where they cannot by exact
positions.

**How long do attended sets stay as they are?** Write u_i = z_i - w_i for the way a point has still
to go. A target w_i stands still over a layer if
the ways of those it averages cancel: the sum of m_c u_c over C_i is 0. (One attended point must not
move; several may, if they balance.) If some target moves, the sets are computed again after one
layer. Otherwise all points go straight, at z_i(t) = w_i + t u_i with t = g^m, as long as the
attended sets stay. Do they? For c in C_i, <A z_i, u_c> is not negative, since w_c is a mean of
points none of which lies further along A z_i than z_c; and these numbers cancel, so each is 0.
Hence:

* *A still point (u_i = 0)* keeps its attended set: for j outside it, <A z_i, z_j(t) - z_c(t)> mixes
  the value at z_j, which is negative, with the one at w_j, which is not positive.
* *A point with a single attended point c* keeps it. c stands still, so it is among those that it
  attends to itself. Then <A z_i(t), z_j(t) - c> mixes, with weights t^2, t(1-t), (1-t)t, (1-t)^2,
  its values at (z_i, z_j), negative, and at (z_i, w_j), (c, z_j), (c, w_j), none of them positive.
* *A moving point with a tie* keeps it for ever if along A w_i, too, nobody lies further out than
  the tied points: the reasoning above then holds for w_i in place of z_i, and the same four corners
  do the rest.
* *Otherwise* the tie breaks in the next layer, or the first j joins or overtakes at the first m >=
  1 at which a0 + a1 t + a2 t^2 is not negative, where with c in C_i

      a0 = <A w_i, w_j - w_c>,   a1 = <A u_i, w_j - w_c> + <A w_i, u_j - u_c>,   a2 = <A u_i, u_j -
      u_c>.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import add, sub

import numpy as np

from hardmax._exact.argmax import Rows, directions_of, products
from hardmax._exact.leads import STRAIGHT, Scores, soonest
from hardmax._exact.positions import ExactPositions, ExactView
from hardmax._exact.vectors import ExactVector, common_rows, numerators_of
from hardmax._float.active_set import ActiveSet, mean_positions
from hardmax._float.argmax import (
    ArgmaxResult,
    exact_argmax,
    exact_products,
    first_or_second,
    nearest,
    nearest_rows,
)
from hardmax._float.bounds import (
    SAFETY,
    UNDERFLOW,
    UNIT,
    Frame,
    SlackFactors,
    float_metric,
    look,
    mean_error,
    norms_above,
    slack_by_axis,
)
from hardmax._float.search import Cpu
from hardmax._layer.attended import AttendedIndices
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import unit_of
from hardmax.dynamics import Dynamics

# So few candidates are compared as integers at once; as many scores are made at a time.
_FEW, _BLOCK = 4, 2**20


class TieResolver:
    """Decides the choices of one run, in the scale of `frame`."""

    def __init__(self, points: Points, dynamics: Dynamics) -> None:
        self.frame, self.metric = Frame.of(points), float_metric(dynamics)
        self.error, self._dynamics = self.frame.error, dynamics
        self._factors = SlackFactors.of(points.dimension, self.metric)
        self._exact = ExactPositions(points, dynamics)

    def decide(self, active: ActiveSet, pending: np.ndarray, cpu: Cpu) -> ArgmaxResult:
        """Whom the pending points attend to: all who are candidates."""
        self._exact.begin(active.layer)
        found = self._search(active, pending, cpu)
        if not len(found.contested):
            return found
        # Tokens are floats, of which some metrics give directions without rounding.
        directions = (
            exact_products(self.frame.numbers, self.metric)
            if active.layer == 0 and not self.error
            else None
        )
        if directions is None:
            candidates, lead = self._decide_exactly(
                pending[found.contested].tolist(), found.candidates
            )
        else:
            candidates, lead = exact_argmax(
                directions[found.contested], self.frame.numbers, found.candidates
            )
        return replace(
            found, candidates=candidates, gap=min(found.gap, lead), by=(*found.by, "integers")
        )

    def _search(self, active: ActiveSet, pending: np.ndarray, cpu: Cpu) -> ArgmaxResult:
        rows = slice(None) if len(pending) == len(active) else active.rows_of(pending)
        directions, off = look(active.positions[rows], active.errors[rows], self.metric)
        if self.metric.matrix is None or active.layer:
            slack = self._factors.slack(
                active.norms[rows], active.off[rows], active.longest, float(active.off.max())
            )
        else:
            sizes, errors = (
                table.max(axis=0) for table in (np.abs(active.positions), active.errors)
            )
            slack = slack_by_axis(directions, off, sizes, errors)
        return active.search(cpu, directions, slack)

    def _decide_exactly(
        self, points: list[int], candidates: AttendedIndices
    ) -> tuple[AttendedIndices, float]:
        """Who is furthest for each of some points among its candidates, and their smallest lead
        over the others."""
        exact = self._exact
        # Exact leads are measured by tokens as they came and the metric's integers, those of floats
        # by the frame's.
        unit = self.metric.scale / (self.frame.unit**2 * self._dynamics.metric_denominator)
        directions = [exact.along(exact.place(point)) for point in points]
        sets, leads = [np.empty(0, dtype=np.int64)] * len(points), [np.inf]
        # Rows in groups, by the first candidate: more candidates than a row has do no harm to it.
        firsts = candidates.firsts(np.arange(len(points)))
        order = np.argsort(firsts, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(firsts[order])) + 1):
            together = np.unique(candidates.of_rows(rows).indices)
            close = self._close_ones([directions[row] for row in rows], together)
            for row, some in zip(rows.tolist(), close, strict=True):
                sets[row], lead = exact.furthest(directions[row], some)
                if lead is None and len(some) < len(
                    together
                ):  # they tie: who comes next is not among them
                    _, lead = exact.furthest(directions[row], together)
                leads.append(np.inf if lead is None else float(lead * unit))
        return AttendedIndices.of_sets(sets), min(leads)

    def _close_ones(
        self, directions: list[ExactVector], points: np.ndarray
    ) -> Iterator[np.ndarray]:
        """For each direction those of the points that can be furthest along it, or next to that.

        Where neighbours compete, they are not far from one another. So exact differences, rounded
        once, tell most of them apart, where positions in floats do not."""
        if len(points) <= _FEW:
            yield from [points] * len(directions)
            return
        offsets, block = self._offsets(points), max(1, _BLOCK // len(points))
        for start in range(0, len(directions), block):
            some = nearest_rows([*map(numerators_of, directions[start : start + block])])
            for close in first_or_second(some, offsets):
                yield points[close]

    def _offsets(self, points: np.ndarray) -> np.ndarray:
        """The ways from the first of some points to each of them, up to a factor, each coordinate
        rounded once."""
        if self.error or not self._exact.went_together(points):
            return nearest(self._exact.offsets(points))
        ways = self.frame.numbers[points] - self.frame.numbers[points[0]]
        return np.ldexp(ways, -unit_of(ways))

    def is_leader(self, choices: AttendedIndices) -> np.ndarray:
        """Which points attend to their own position alone."""
        if self._dynamics.is_definite or choices.all_single:
            return choices.is_leader
        # With a metric that is not positive definite distinct points can meet; those that have met
        # are one.
        leading = choices.is_leader.copy()
        for point in np.flatnonzero(choices.sizes > 1).tolist():
            # One by one: the first that is elsewhere decides, and a point without a direction
            # attends to everybody.
            here = self._exact.place(point)
            leading[point] = all(self._exact.place(j) == here for j in choices[point].tolist())
        return leading

    def exactly(self) -> ExactView:
        """Exact positions in the phase that was decided last."""
        return self._exact.view()

    def lasting(
        self, active: ActiveSet, choices: AttendedIndices, decided: np.ndarray, pending: np.ndarray
    ) -> int | None:
        """For how many layers these choices last; None: for ever. `decided` are the points that
        have just chosen, `pending` those that do not follow a leader.

        Whoever follows a leader does so for ever, and its target stands still. So only the pending
        points matter: floats tell most of them apart, exact positions the rest. What must hold is
        derived above."""
        self._exact.note(decided, choices.of_rows(decided), choices.follows_leader[decided])
        if not len(pending):
            return None
        attended = choices.of_rows(pending)
        single = attended.indices[attended.offsets[:-1][attended.sizes == 1]]
        moves = self._dynamics.is_definite and (choices.sizes[single] == 1).any()
        if moves:
            # Somebody attends to a point that is no leader, and so moves towards another one: the
            # target moves.
            return 1
        positions, counts = active.all_positions(), active.multiplicities
        targets, reach = (
            mean_positions(positions, choices, counts),
            float(norms_above(positions).max()),
        )
        error = active.worst + mean_error(reach, int(choices.sizes.max()))
        if _some_mean_moves(positions - targets, attended, counts, 2 * error, reach):
            return 1
        distinct = {several.tobytes(): several for several in attended}
        if any(self._exact.mean_moves(several) for several in sorted(distinct.values(), key=len)):
            return 1
        events: list[int | None] = []
        lasts: dict[bytes, bool] = {}  # by attended set: who has the same one has the same target
        for i in pending[choices.sizes[pending] > 1].tolist():
            tied, here, target = choices[i], self._exact.place(i), self._exact.target(i)
            if here == target:
                continue
            key = tied.tobytes()
            if key not in lasts:
                rivals = self._rivals(tied, [target], [positions], reach, error)
                furthest, _ = self._exact.furthest(self._exact.along(target), rivals)
                lasts[key] = set(tied.tolist()) <= set(furthest.tolist())
            if not lasts[key]:
                rivals = self._rivals(tied, [target, here], [positions, targets], reach, error)
                events.append(self._first_change(i, tied, np.union1d(rivals, [i])))
                if events[-1] == 1:
                    break
        return soonest(events)

    def _first_change(self, point: int, tied: np.ndarray, points: np.ndarray) -> int | None:
        """The first layer at which the attended set of a point is another among some points, if all
        go straight."""
        ends = [at(j) for at in (self._exact.place, self._exact.target) for j in points.tolist()]
        rows, _ = common_rows(ends)
        z, w = rows[: len(points)], rows[len(points) :]
        u = [[*map(sub, here, there)] for here, there in zip(z, w, strict=True)]
        row, *tied_rows = np.searchsorted(points, [point, *tied]).tolist()
        return _first_change(row, w, u, tied_rows, self._dynamics)

    def _rivals(
        self,
        tied: np.ndarray,
        places: list[ExactVector],
        ends: list[np.ndarray],
        reach: float,
        error: float,
    ) -> np.ndarray:
        """All who may be as far as the tied points along A times one of some places, at one of the
        ends of their ways.

        On the way the lead of j over c is a mix of its values at the four corners: where the one
        who attends is and where it goes, where j and c are and where they go. So j matters only if
        one of them may not be negative."""
        vectors = nearest_rows([*map(numerators_of, places)])  # a positive factor changes nothing
        directions, norms = self.metric.directions(vectors), norms_above(vectors)
        slack = self._factors.slack(norms, UNIT * norms, reach, error)
        matter = np.zeros(len(ends[0]), dtype=bool)
        for positions in ends:
            scores = positions @ directions.T
            matter |= (scores >= scores[tied].min(axis=0) - slack).any(axis=1)
        return np.flatnonzero(matter)


def _some_mean_moves(
    ways: np.ndarray, attended: AttendedIndices, counts: np.ndarray, off: float, reach: float
) -> bool:
    """Whether the ways of those in some attended set, each off by so much, certainly do not
    cancel."""
    weights = counts[attended.indices].astype(np.float64)[:, None]
    sums = np.add.reduceat(weights * ways[attended.indices], attended.offsets[:-1], axis=0)
    totals = np.add.reduceat(weights[:, 0], attended.offsets[:-1])
    # A sum of k ways is off by k roundings more.
    share = off + (attended.sizes + 8) * 2 * UNIT * reach
    return bool((norms_above(sums) > SAFETY * totals * share + UNDERFLOW).any())


def _first_change(i: int, w: Rows, u: Rows, tied: Sequence[int], dynamics: Dynamics) -> int | None:
    """The first layer at which the attended set of row i is another, if all rows go straight; None:
    there is none.

    Rows are targets w and ways u of points over one denominator; `tied` are the rows that row i
    attends to."""
    directions = directions_of([w[i], u[i]], dynamics)
    (ww, uw), (wu, uu) = products(directions, w), products(directions, u)
    columns = dict(zip(STRAIGHT, [ww, [*map(add, uw, wu)], uu], strict=True))
    return Scores(columns, dynamics.contraction).first_change(tied, range(len(w)))
