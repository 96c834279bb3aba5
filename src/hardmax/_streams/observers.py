"""One cloud in chunks: which of its tokens have to be in memory together, and what becomes of all
the others.

Let S be some of the tokens that contain everybody who is attended to at the layers before p. Then S
on its own goes as it does in the whole cloud up to layer p, and any other token is an *observer*:
where it is depends on S alone, so that each chunk is walked on its own. Four facts make S small,
and let it be found chunk by chunk.

* Nobody strictly inside the convex hull of some tokens is furthest along any direction but 0. So
  who is attended to at layer p is found in the hull of each chunk (`examine`), with all copies: a
  copy that was left out was strictly inside.
* A token that attends to one leader alone does so for ever (`AttendedIndices.follows_leader`). If
  it is also strictly inside the hull of the leaders, which never move, it stays there on its way,
  and nobody attends to it again: it is *finished*.
* If all tokens follow leaders, nothing changes any more (the settling lemma), finished or not.
* Any tokens may be added to S. So those that floats cannot decide are, and S decides them exactly.

Each pass over the chunks adds the hull of the next layer to S. It is the last one when those who
are not finished fit into memory, or everybody follows a leader. What is then left, S and those not
finished, is an ordinary cloud for the solver: its attended sets, layers and limits are those of the
whole. One more token is added to it, that which was last to follow a leader: the solver then takes
the same steps as in the whole cloud, so that its floats are the same to the bit.

A token at 0 attends to everybody, so that nobody can be left out; and hulls are for up to four
dimensions. In these cases all tokens have to fit into memory."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._common.validation import InputError
from hardmax._float.active_set import HIGHEST_DIMENSION, Shell, shell_of
from hardmax._float.bounds import (
    LARGEST,
    SMALLEST,
    SlackFactors,
    float_metric,
    norms_above,
    step_error,
)
from hardmax._float.search import CPU
from hardmax._float.solver import FloatSolver
from hardmax._layer.rules import check_dimension
from hardmax._runs.run import Plan, run_points
from hardmax._runs.trajectory import Trajectory
from hardmax._streams.chunks import DaskChunks, LocalChunks
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import Points, merge
from hardmax.dynamics import Dynamics
from hardmax.engines import solvers_for
from hardmax.stops import LastOnly, Stop

# Coordinates of distinct tokens in memory together: as many as are welcome, and the most if there
# is no other way. A run needs some 100 bytes for each of them.
WELCOME, MOST = 2**18, 2**24
MOST_LAYERS = 64  # walked chunk by chunk
_SAMPLED = 2**12

# So many times as large as most coordinates: measured by it, floats hardly tell the others apart.
_FAR = 2.0**20
_NO_ROW = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class DistinctTokens:
    """Distinct tokens, in the order of their first rows."""

    values: np.ndarray
    """(n, d)."""
    rows: np.ndarray
    """The first row of each."""
    counts: np.ndarray
    """How many there are of each, as far as they were counted."""

    @classmethod
    def of(cls, values: np.ndarray, rows: np.ndarray) -> "DistinctTokens":
        return cls(values, rows, np.ones(len(rows), dtype=np.int64))._unique(np.add)

    @classmethod
    def none(cls, dimension: int) -> "DistinctTokens":
        return cls(np.empty((0, dimension)), *np.empty((2, 0), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.rows)

    def merge(self, *more: "DistinctTokens", counts: Any = np.add) -> "DistinctTokens":
        """All of these tokens. Counts of equal ones are added, or the largest is taken where the
        same rows may be meant."""
        parts = [part for part in (self, *more) if len(part)]
        if len(parts) < 2:
            return parts[0] if parts else self
        columns = zip(*((part.values, part.rows, part.counts) for part in parts), strict=True)
        return DistinctTokens(*map(np.concatenate, columns))._unique(counts)

    def _unique(self, combine: Any) -> "DistinctTokens":
        if not len(self):
            return self
        points = merge(Cloud(self.values))
        if points.count == len(self) and (self.rows[1:] > self.rows[:-1]).all():
            return self
        rows = np.full(points.count, _NO_ROW)
        counts = np.zeros(points.count, dtype=np.int64)
        np.minimum.at(rows, points.of_token, self.rows)
        combine.at(counts, points.of_token, self.counts)
        order = np.argsort(rows)
        return DistinctTokens(points.coordinates[order], rows[order], counts[order])


@dataclass(frozen=True, eq=False)
class Followers:
    """How many tokens follow each of some leaders, by row numbers."""

    leaders: np.ndarray
    """Rows of the leaders, increasing."""
    first: np.ndarray
    """The row of each leader's first follower."""
    counts: np.ndarray
    """How many followers each has."""

    @classmethod
    def of(cls, leaders: np.ndarray, followed: np.ndarray, rows: np.ndarray) -> "Followers":
        """Tokens at some rows, increasing, of which each follows one of the leaders."""
        counts = np.bincount(followed, minlength=len(leaders))
        first = np.empty(len(leaders), dtype=np.int64)
        first[followed[::-1]] = rows[::-1]  # the last one that is written counts
        (followed,) = np.nonzero(counts)
        return cls(leaders[followed], first[followed], counts[followed])

    @classmethod
    def none(cls) -> "Followers":
        return cls(*np.empty((3, 0), dtype=np.int64))

    def merge(self, other: "Followers") -> "Followers":
        both = np.concatenate([self.leaders, other.leaders])
        leaders, place = np.unique(both, return_inverse=True)
        first = np.full(len(leaders), _NO_ROW)
        np.minimum.at(first, place, np.concatenate([self.first, other.first]))
        counts = np.zeros(len(leaders), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return Followers(leaders, first, counts)


@dataclass(frozen=True, eq=False)
class LastFollower:
    """The token that was last to follow a leader; of several the first."""

    since: int
    """Its first layer as a follower; -1: nobody follows yet."""
    row: int
    value: np.ndarray

    def merge(self, other: "LastFollower") -> "LastFollower":
        return max(self, other, key=lambda last: (last.since, -last.row))


@dataclass(frozen=True, eq=False)
class LayerSnapshot:
    """A layer as observers see it."""

    positions: np.ndarray
    """Where those are that can be attended to."""
    error: float
    """How far each may be from there."""
    rows: np.ndarray
    """Their rows."""
    leads: np.ndarray
    """Who of them leads."""
    shell: Shell | None
    """That of these leaders."""
    all_follow: bool
    """Whether all tokens that are known at this layer follow leaders."""
    lasts: bool
    """Whether these tokens do what they do for ever."""


@dataclass(frozen=True, eq=False)
class TokenOutcomes:
    """What becomes of some tokens after some layers; -1 stands for nobody and never."""

    leader: np.ndarray
    """Which of the `leader_rows` each follows for ever."""
    finished: np.ndarray
    """The layer at which it was found that nobody will ever attend to it."""
    unsure: np.ndarray
    """Whether floats could not tell, at some layer, whom it attends to."""
    positions: np.ndarray
    """Where it was when it was finished, else where it is after all layers."""
    error: float
    last: tuple[int, int]
    """The last layer at which some began to follow a leader, and the first of these."""


@dataclass(frozen=True, eq=False)
class ChunkSummary:
    """What is found in a chunk, or in several."""

    dimension: int
    n: int
    """How many tokens there are."""
    n_unfinished: int
    n_pending: int
    """How many do not follow a leader."""
    unsure: DistinctTokens
    """Those that floats could not decide."""
    outermost: DistinctTokens
    """Those who may be attended to at the next layer, but for the unsure."""
    finished: Followers
    following: Followers
    """But not finished."""
    largest: float
    """The largest coordinate, in absolute value."""
    typical: float
    """The same of a coordinate like most."""
    has_zero: bool
    """Whether a token is zero: found in the first pass."""
    last: LastFollower

    def merge(self, other: "ChunkSummary") -> "ChunkSummary":
        return ChunkSummary(
            dimension=self.dimension,
            n=self.n + other.n,
            n_unfinished=self.n_unfinished + other.n_unfinished,
            n_pending=self.n_pending + other.n_pending,
            unsure=self.unsure.merge(other.unsure),
            outermost=self.outermost.merge(other.outermost),
            finished=self.finished.merge(other.finished),
            following=self.following.merge(other.following),
            largest=max(self.largest, other.largest),
            typical=max(self.typical, other.typical),
            has_zero=self.has_zero or other.has_zero,
            last=self.last.merge(other.last),
        )


@dataclass(frozen=True, eq=False)
class Examined:
    """What a pass finds in a chunk."""

    summary: ChunkSummary
    unfinished: DistinctTokens | None
    """The tokens that are not finished and sure; None if there are too many."""
    bits: np.ndarray | None
    """A bit for each token that tells who is not finished; None for all."""


def merge_examined(
    examined: Iterable[Examined], most: int
) -> tuple[ChunkSummary, DistinctTokens | None, list[Any]]:
    """What all chunks have together; at most so many tokens that are not finished."""
    whole, bits, held = None, [], 0
    parts: list[DistinctTokens] | None = []
    for chunk in examined:
        whole = chunk.summary if whole is None else whole.merge(chunk.summary)
        if (count := len(whole.unsure) + len(whole.outermost)) > MOST // whole.dimension:
            reason = "so many lie on the boundary of their convex hull, or tie"
            raise _too_many(count, whole, reason)
        bits.append(chunk.bits)
        if chunk.unfinished is None or parts is None:
            parts = None
            continue
        parts.append(chunk.unfinished)
        held += len(chunk.unfinished)
        if held > 2 * most:  # equal tokens are one
            together = DistinctTokens.merge(*parts)
            held = len(together)
            parts = [together] if held <= most else None
    assert whole is not None, "there is a chunk"
    if parts is None:
        return whole, None, bits
    together = DistinctTokens.merge(*parts)
    return whole, together if len(together) <= most else None, bits


def leader_rows(snapshots: Sequence[LayerSnapshot]) -> np.ndarray:
    """The rows of all leaders that some snapshots show: who leads leads for ever."""
    if not snapshots:
        return np.empty(0, dtype=np.int64)
    return snapshots[-1].rows[snapshots[-1].leads]


def observe(
    tokens: np.ndarray, snapshots: Sequence[LayerSnapshot], dynamics: Dynamics
) -> TokenOutcomes:
    """Walk tokens, each by itself, through the layers of some snapshots."""
    metric, contraction = float_metric(dynamics), float(dynamics.contraction)
    factors = SlackFactors.of(tokens.shape[1], metric)
    leader = np.full(len(tokens), -1)
    finished = np.full(len(tokens), -1, dtype=np.int8)
    unsure, positions, last = np.zeros(len(tokens), dtype=bool), tokens.copy(), (-1, -1)
    going, z, error = np.arange(len(tokens)), tokens, 0.0
    for layer, snapshot in enumerate(snapshots):
        if not len(going):
            break
        norms, longest = norms_above(z), float(norms_above(snapshot.positions).max())
        slack = factors.slack(norms, error, longest, snapshot.error)
        argmax = CPU._argmax(metric.directions(z), snapshot.positions, slack)
        follows, goes_on = snapshot.leads[argmax.winners], np.ones(len(going), dtype=bool)
        follows[argmax.contested] = goes_on[argmax.contested] = False
        unsure[going[argmax.contested]] = True
        new = np.flatnonzero(follows & (leader[going] < 0))
        number = np.searchsorted(leader_rows(snapshots), snapshot.rows)
        leader[going[new]] = number[argmax.winners[new]]
        last = (layer, int(going[new[0]])) if len(new) else last
        done = strictly_inside(z, snapshot.shell, max(error, snapshot.error), among=follows)
        finished[going[done]] = layer
        goes_on &= ~done
        targets = snapshot.positions[argmax.winners[goes_on]]
        going, z = going[goes_on], z[goes_on]
        z = targets + contraction * (z - targets)
        positions[going] = z
        error = max(error, snapshot.error) + step_error(max(longest, float(norms.max())))
    return TokenOutcomes(leader, finished, unsure, positions, error, last)


def examine(
    tokens: np.ndarray,
    first: int,
    snapshots: Sequence[LayerSnapshot],
    dynamics: Dynamics,
    most: int,
    bits: Any = None,
) -> Examined:
    """What a chunk, from row `first` on, adds to a pass; its tokens that are not finished, unless
    they are more than `most`. Whoever was finished in the pass before, as the bits of its
    `Examined` tell, does not count."""
    count, places = len(tokens), np.arange(len(tokens))
    if bits is not None:
        places = np.flatnonzero(np.unpackbits(bits, count=count))
        tokens = tokens[places]
    rows, outcomes = first + places, observe(tokens, snapshots, dynamics)
    is_open = outcomes.finished < 0
    done, unsure = np.flatnonzero(~is_open), np.flatnonzero(outcomes.unsure)
    alive = np.flatnonzero(is_open & ~outcomes.unsure)
    following = alive[outcomes.leader[alive] >= 0]
    positions = outcomes.positions if len(alive) == len(tokens) else outcomes.positions[alive]
    outer = alive[outermost(positions, outcomes.error)]
    leaders = leader_rows(snapshots)
    since, place = outcomes.last
    last = _NOBODY
    if since >= 0:
        last = LastFollower(since, int(rows[place]), tokens[place])
    summary = ChunkSummary(
        dimension=tokens.shape[1],
        n=count,
        n_unfinished=len(alive) + len(unsure),
        n_pending=len(alive) - len(following),
        unsure=DistinctTokens.of(tokens[unsure], rows[unsure]),
        outermost=DistinctTokens.of(tokens[outer], rows[outer]),
        finished=Followers.of(leaders, outcomes.leader[done], rows[done]),
        following=Followers.of(leaders, outcomes.leader[following], rows[following]),
        largest=max(float(tokens.max(initial=0.0)), -float(tokens.min(initial=0.0))),
        typical=float(np.median(np.abs(tokens[::64]))) if len(tokens) else 0.0,
        has_zero=not snapshots and _has_zero(tokens),
        last=last,
    )
    unfinished = DistinctTokens.of(tokens[alive], rows[alive]) if len(alive) <= most else None
    if bits is None and not len(done):
        return Examined(summary, unfinished, None)
    still_open = np.zeros(count, dtype=bool)
    still_open[places[is_open]] = True
    return Examined(summary, unfinished, np.packbits(still_open))


_NOBODY = LastFollower(-1, 0, np.empty(0))


def _has_zero(tokens: np.ndarray) -> bool:
    return bool(np.logical_and.reduce([column == 0 for column in tokens.T]).any())


def outermost(places: np.ndarray, error: float) -> np.ndarray:
    """Those of some places, increasing, that may not be strictly inside the convex hull of all of
    them."""
    kept = np.arange(len(places))
    if len(places) > 2 * _SAMPLED:  # the hull of some puts most of the others inside
        sample = places[:: len(places) // _SAMPLED]
        kept = kept[~strictly_inside(places, shell_of(sample), error)]
    return kept[~strictly_inside(places[kept], shell_of(places[kept]), error)]


def strictly_inside(
    places: np.ndarray, shell: Shell | None, error: float, among: Any = True
) -> np.ndarray:
    """Which places, among some, are strictly inside the hull that a shell is of, wherever they and
    its corners are to within an error."""
    # Rounding in the distance from a facet is part of `off`, as it is for the corners.
    depth = np.inf if shell is None else 2 * (shell.off + 4 * error)
    if shell is None or not depth < shell.radius / 2:
        return np.zeros(len(places), dtype=bool)
    inside = np.empty(len(places), dtype=bool)
    inside[:] = among
    shell.keep_inside(places, depth, inside)
    return inside


@dataclass(frozen=True)
class GatheredRun:
    """The run of those tokens that had to be in memory together, and what tells the outcomes of the
    others. Made by `gather`."""

    run: Trajectory
    tokens: DistinctTokens
    """Those of the run."""
    counted: DistinctTokens
    """Those of them that are not among the `followers`, counted in the whole cloud."""
    followers: Followers
    """Who of the others follows leaders."""
    snapshots: tuple[LayerSnapshot, ...]
    n: int
    """How many tokens the cloud has."""


def gather(chunks: LocalChunks | DaskChunks, dynamics: Dynamics, stop: Stop) -> GatheredRun:
    """Go through the chunks as often as it takes, then run what is left."""
    dimension = chunks.dimension
    check_dimension(dynamics, dimension)
    if not dynamics.is_definite:
        wish = "must be symmetric positive definite for tokens in chunks"
        reason = f"{wish}: {dynamics.indefinite_reason}"
        raise InputError(f"`metric` {reason}. Read the tokens into memory.")
    snapshots: tuple[LayerSnapshot, ...] = ()
    known, finished, last = DistinctTokens.none(dimension), Followers.none(), _NOBODY
    bits, take_all = None, False
    while True:
        most = (MOST if take_all else WELCOME) // dimension
        examined = chunks.map(examine, snapshots, dynamics, most, per_chunk=bits)
        summary, unfinished, bits = merge_examined(examined, most)
        # Nobody is examined again once finished.
        finished, last = finished.merge(summary.finished), last.merge(summary.last)
        if unfinished is not None:
            counted, followers = unfinished.merge(summary.unsure), finished
            break
        is_known = len(known.merge(summary.unsure, counts=np.maximum)) == len(known)
        all_follow = not summary.n_pending and is_known
        # If this is to end at a layer, who leads there is known.
        is_last = len(snapshots) > stop.last_layer and not stop.when_settled
        if is_last or (all_follow and snapshots and snapshots[-1].all_follow):
            counted, followers = summary.unsure, finished.merge(summary.following)
            break
        if take_all:
            reason = "so many may still be attended to while others tie"
            raise _too_many(summary.n_unfinished, summary, reason)
        is_stuck = all_follow and snapshots and snapshots[-1].lasts
        take_all = bool(is_stuck) or len(snapshots) == MOST_LAYERS
        if not snapshots and _why_all(summary):
            take_all = True
        if not take_all:
            known = known.merge(summary.unsure.merge(summary.outermost), counts=np.maximum)
            snapshots = (*snapshots, _snapshot(known, dynamics, len(snapshots)))
    latest = DistinctTokens.none(dimension)
    if last.since > 0:
        latest = DistinctTokens.of(last.value[None], np.array([last.row]))
    tokens = known.merge(counted, latest, counts=np.maximum)
    plan = Plan(dynamics, solvers_for("certified", CPU), stop, LastOnly())
    run = Trajectory(run_points(_points(tokens), plan))
    return GatheredRun(run, tokens, counted, followers, snapshots, summary.n)


def _points(tokens: DistinctTokens) -> Points:
    return Points(tokens.values, tokens.counts, np.arange(len(tokens)))


def _snapshot(tokens: DistinctTokens, dynamics: Dynamics, layer: int) -> LayerSnapshot:
    """What observers see of some tokens at a layer."""
    phases = FloatSolver().phases(_points(tokens), dynamics)
    phase = next(phase for phase in phases if phase.until is None or layer < phase.until)
    # At the first layer nothing is rounded: the sizes of the tokens are within the frame's.
    positions, error = phase.floats_at(layer), phase.error if layer else 0.0
    seen = outermost(positions, error)
    leads = phase.is_leader[seen]
    return LayerSnapshot(
        positions=positions[seen],
        error=error,
        rows=tokens.rows[seen],
        leads=leads,
        shell=shell_of(positions[seen][leads]),
        all_follow=bool(phase.choices.follows_leader.all()),
        lasts=phase.until is None,
    )


def _why_all(summary: ChunkSummary) -> str:
    """Why nobody can be left out, if so."""
    if summary.has_zero:
        return "a token is zero, and so attends to everybody"
    if summary.dimension > HIGHEST_DIMENSION:
        tokens = f"tokens of {summary.dimension} dimensions"
        return f"{tokens} are not told apart by hulls: {HIGHEST_DIMENSION} is the most"
    if not SMALLEST <= summary.largest <= LARGEST:
        return f"the largest coordinate, {summary.largest:.3g}, is not between 2^-100 and 2^100"
    if 0.0 < _FAR * summary.typical < summary.largest:
        far = f"far beyond most others, of {summary.typical:.3g}"
        return f"the largest coordinate, {summary.largest:.3g}, is {far}"
    return ""


def _too_many(count: int, summary: ChunkSummary, reason: str) -> InputError:
    needed = f"{count:,} of {summary.n:,} tokens have to be in memory together"
    most = f"the most is {MOST // summary.dimension:,} distinct ones"
    return InputError(f"`tokens`: {needed}, but {most}: {_why_all(summary) or reason}.")
