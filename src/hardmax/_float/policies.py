"""Which token attends to which, and for how long, proved: by floats, where they cannot by exact
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
* *A moving point with a tie* keeps it for ever if along A w_i, too, no point lies further out than
  the tied points: the reasoning above then holds for w_i in place of z_i, and the same four corners
  do the rest.
* *Otherwise* the sets are computed again after one layer; the general solver takes over where that
  changes nothing for long.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from hardmax._exact.argmax import directions_of, products
from hardmax._exact.general import FOREVER, ONE_LAYER
from hardmax._exact.positions import ExactPositions, ExactView
from hardmax._exact.vectors import ExactVector, common_rows
from hardmax._float.active_set import ActiveSet
from hardmax._float.argmax import ArgmaxResult, first_or_second, nearest
from hardmax._float.bounds import (
    UNIT,
    Frame,
    SlackFactors,
    float_metric,
    norms_above,
)
from hardmax._layer.attended import AttendedIndices
from hardmax._tokens.points import Points
from hardmax.dynamics import Dynamics

# At most this many candidates are compared as integers at once; at most this many scores are made
# at a time.
_FEW, _BLOCK = 4, 2**17
_SOME = 16  # means that are looked at first
_LARGEST_WHOLE = 2**53


class TieResolver:
    """Decides the choices of one run, in the scale of `frame`."""

    def __init__(self, points: Points, dynamics: Dynamics) -> None:
        self.frame, self.metric = Frame.of(points), float_metric(dynamics)
        self.error, self._dynamics = self.frame.error, dynamics
        self._factors = SlackFactors.of(points.dimension, self.metric)
        self._exact = ExactPositions(points, dynamics.contraction)

    def decide(self, active: ActiveSet, pending: np.ndarray) -> ArgmaxResult:
        """What the pending points attend to: all who are candidates."""
        self._exact.begin(active.layer)
        rows = slice(None) if len(pending) == len(active) else active.rows_of(pending)
        norms, errors = active.norms[rows], active.errors[rows]
        slack = self._factors.slack(norms, errors, active.longest, float(active.errors.max()))
        found = active.search(self.metric.directions(active.positions[rows]), slack)
        if not len(found.contested):
            return found
        points = pending[found.contested]
        candidates, lead = self._decide_exactly(points, found.candidates)
        return replace(
            found, candidates=candidates, gap=min(found.gap, lead), by=(*found.by, "integers")
        )

    def _decide_exactly(
        self, points: np.ndarray, candidates: AttendedIndices
    ) -> tuple[AttendedIndices, float]:
        """Who is furthest for each of some points among its candidates, and their smallest lead
        over the others."""
        sets, leads = candidates.arrays(), [math.inf]
        # Along no direction all candidates are as far.
        here = self._exact.places(points, self._exact.last)
        (looking,) = (here != 0).any(axis=1).nonzero()
        if not len(looking):
            return candidates, math.inf
        everybody = np.union1d(points, _distinct(candidates.of_rows(looking).indices))
        table = self._exact.places(everybody, self._exact.last)
        rows, denominator = common_rows(table.tolist())
        # Rows in groups, by the first candidate: more candidates than a row has do no harm to it.
        firsts = candidates.firsts[looking]
        order = looking[np.argsort(firsts, kind="stable")]
        firsts = np.sort(firsts, kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(firsts)) + 1):
            several = _distinct(candidates.of_rows(group).indices)
            others = _integers(rows[i] for i in np.searchsorted(everybody, several))
            size = max(1, _BLOCK // len(several))
            for some in np.split(group, range(size, len(group), size)):
                askers = [rows[i] for i in np.searchsorted(everybody, points[some])]
                directions = _integers(directions_of(askers, self._dynamics))
                scored = _first_two(directions, others)
                for row, (kept, scores) in zip(some.tolist(), scored, strict=True):
                    best = scores.max()
                    furthest = scores == best
                    sets[row] = several[kept[furthest]]
                    if not furthest.all():
                        leads.append(int(best - scores[~furthest].max()))
        # Exact leads are measured by tokens as they came and the metric's integers, those of floats
        # by the frame's.
        unit = Fraction(self.metric.scale) / Fraction(self.frame.unit) ** 2
        scale = unit / (self._dynamics.metric_denominator * denominator**2)
        lead = min(leads)
        return AttendedIndices.of_sets(sets), lead if lead == math.inf else float(lead * scale)

    def is_leader(self, choices: AttendedIndices) -> np.ndarray:
        """Which points attend to their own position alone."""
        if self._dynamics.is_definite or choices.all_single:
            return choices.is_leader
        # With a metric that is not positive definite distinct points can meet; those that have met
        # are one.
        leading = choices.is_leader.copy()
        for point in np.flatnonzero(choices.sizes > 1).tolist():
            # One by one: the first that is elsewhere decides, and a point without a direction
            # attends to all points.
            several = np.union1d(choices[point], [point])
            places = self._exact.places(several, self._exact.last)
            leading[point] = bool((places == places[0]).all())
        return leading

    def exactly(self) -> ExactView:
        """Exact positions in the phase that was decided last."""
        return self._exact.view()

    def lasting(
        self, active: ActiveSet, choices: AttendedIndices, pending: np.ndarray
    ) -> int | None:
        """For how many layers these choices last: 1, or None for ever. `pending` are the points
        that do not follow a leader.

        A point that follows a leader does so for ever, and its target stands still. So only the
        pending points matter. What must hold is derived above."""
        exact, phase = self._exact, self._exact.last
        exact.note(choices)
        if not len(pending):
            return FOREVER
        attended = choices.of_rows(pending)
        single = attended.indices[attended.offsets[:-1][attended.sizes == 1]]
        if self._dynamics.is_definite and (choices.sizes[single] == 1).any():
            # Some point attends to a point that is no leader, and so moves towards another one: the
            # target moves.
            return ONE_LAYER
        looked_at = [attended]
        if len(attended) > _SOME:
            # Some first, none of them long: where one mean moves, most of them do.
            shorter = np.argsort(attended.sizes, kind="stable")[: len(attended) // 2]
            some = shorter[:: -(-len(shorter) // _SOME)]
            looked_at = [attended.of_rows(some), attended]
        if not all(exact.means_rest(sets, phase) for sets in looked_at):
            return ONE_LAYER
        tied = pending[choices.sizes[pending] > 1]
        targets = exact.targets(tied, phase)
        moving = (exact.places(tied, phase) != targets).any(axis=1)
        target_of = dict(zip(tied.tolist(), targets.tolist(), strict=True))
        # Who has the same attended set has the same target.
        for point in choices.distinct(tied[moving])[0].tolist():
            if not self._stays(active, choices[point], target_of[point]):
                return ONE_LAYER
        return FOREVER

    def _stays(self, active: ActiveSet, tied: np.ndarray, target: ExactVector) -> bool:
        """Whether no point lies further out than the tied points along the metric times their mean,
        the target."""
        (numbers,), _ = common_rows([target])
        direction = nearest(np.array([numbers], dtype=object))  # a factor changes nothing
        positions, norm = active.all_positions(), norms_above(direction)
        scores = (positions @ self.metric.directions(direction).T)[:, 0]
        reach = float(norms_above(positions).max())
        slack = self._factors.slack(norm, UNIT * norm, reach, active.worst)
        rivals = np.union1d(tied, np.flatnonzero(scores >= scores[tied].min() - slack))
        rows, _ = common_rows(self._exact.places(rivals, self._exact.last).tolist())
        (found,) = products(directions_of([numbers], self._dynamics), rows)
        best = max(found)
        return all(found[i] == best for i in np.searchsorted(rivals, tied).tolist())


def _distinct(indices: np.ndarray) -> np.ndarray:
    """Distinct indices, increasing."""
    if len(indices) < indices.max():
        return np.unique(indices)
    return np.flatnonzero(np.bincount(indices))


def _integers(rows: Iterable[Iterable[Any]]) -> np.ndarray:
    """Rows of integers, of Python or of python-flint, as a table of those of Python."""
    return np.array([list(map(int, row)) for row in rows], dtype=object)


def _first_two(
    directions: np.ndarray, points: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each direction some of the points, among them those that are first or second along it,
    and their exact scores.

    Where neighbours compete, they are not far from one another. So exact differences, rounded once,
    tell most of them apart, where positions in floats do not."""
    everybody = np.arange(len(points))
    above = [1 + np.abs(table).max() for table in (directions, points)]
    is_float = above[0] * above[1] * points.shape[1] < _LARGEST_WHOLE  # then nothing is rounded
    if is_float or len(points) <= _FEW:
        kind = np.float64 if is_float else object
        for scores in directions.astype(kind) @ points.T.astype(kind):
            yield everybody, scores
        return
    rounded = np.stack([nearest(direction) for direction in directions])
    close = first_or_second(rounded, nearest(points - points[0]))
    for direction, is_close in zip(directions, close, strict=True):
        (kept,) = is_close.nonzero()
        scores = points[kept] @ direction
        if (scores == scores[0]).all():  # who comes next is not among them
            kept, scores = everybody, points @ direction
        yield kept, scores
