"""One cloud in chunks: which of its tokens have to be in memory together.

Nobody strictly inside the convex hull of some tokens is furthest along any direction but 0. Let S
be some tokens, with all their copies, such that in the run of S together with any one chunk, the
chunk's other tokens are strictly inside the hull at every layer. Then, by induction over the
layers, no token of the whole cloud attends to anybody outside of S: each chunk goes on beside S as
it does in the whole cloud, and the run of S tells what everybody does. Every layer counts, up to
the one at which the last chunk settles, with two ways out:

* A token that follows a leader, and is strictly inside the hull of the leaders, stays there for
  ever: nobody attends to it again, and it need not be looked at any more.
* Once all tokens follow leaders nothing changes any more (the settling lemma).

So S is guessed and tried: a pass over the chunks runs each of them beside S, by the ordinary
certified solver, and returns the tokens that were not strictly inside. When there is none, and S
was counted right, the proof is complete. Every pass gets at least one layer more right, and usually
all of them.

A token at 0 attends to everybody, so that nobody can be left out; and hulls are for up to four
dimensions. In these cases all tokens have to fit into memory."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hardmax._common.validation import InputError
from hardmax._float.active_set import HIGHEST_DIMENSION, Shell, shell_of
from hardmax._float.search import CPU
from hardmax._float.solver import interpreted_if_small
from hardmax._layer.rules import check_dimension
from hardmax._runs.run import Run
from hardmax._runs.walk import Plan, run_points, why_stopped
from hardmax._streams.chunks import DaskChunks, LocalChunks
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import Points, merge
from hardmax.dynamics import Dynamics
from hardmax.engines import solvers_for

MOST = 2**24  # coordinates of candidates: a run needs some 100 bytes for each
MOST_LAYERS = 64  # at which tokens are looked at
_WELCOME = 2**18  # coordinates that are returned before the tokens that are not needed are left out
_SAMPLED = 2**12
_NO_ROW = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Candidates:
    """Distinct tokens that others may attend to."""

    values: np.ndarray
    """(n, d)."""
    rows: np.ndarray
    """The first row of each."""
    counts: np.ndarray
    """How many tokens there are of each."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def points(self) -> Points:
        return Points(self.values, self.counts, np.arange(len(self)))

    def among(self, chosen: np.ndarray) -> "Candidates":
        """Some of them."""
        return Candidates(self.values[chosen], self.rows[chosen], self.counts[chosen])

    def merge(self, other: "Candidates") -> "Candidates":
        """All of both, in the order of their first rows."""
        values = np.concatenate([self.values, other.values])
        if not len(values):
            return self
        points = merge(Cloud(values))
        rows, counts = np.full(points.count, _NO_ROW), np.zeros(points.count, dtype=np.int64)
        np.minimum.at(rows, points.of_token, np.concatenate([self.rows, other.rows]))
        np.add.at(counts, points.of_token, np.concatenate([self.counts, other.counts]))
        return Candidates(points.coordinates, rows, counts).among(np.argsort(rows))


@dataclass(frozen=True, eq=False)
class Examined:
    """What is found in a chunk, or in several."""

    known: Candidates
    """Those that were known, as far as they are here."""
    new: Candidates
    """Others that may be attended to."""
    n: int
    """How many tokens there are."""
    horizon: int
    """The layer at which these tokens settle, or the last one of their run."""
    has_settled: bool

    def merge(self, other: "Examined") -> "Examined":
        rows = np.minimum(self.known.rows, other.known.rows)
        counts = self.known.counts + other.known.counts
        return Examined(
            known=replace(self.known, rows=rows, counts=counts),
            new=self.new.merge(other.new),
            n=self.n + other.n,
            horizon=max(self.horizon, other.horizon),
            has_settled=self.has_settled and other.has_settled,
        )


@dataclass(frozen=True, eq=False)
class Gathered:
    """The run of those tokens that have to be in memory together."""

    run: Run
    known: Candidates
    """Those of the run."""
    n: int
    """How many tokens the cloud has."""
    settled_at: int | None
    stop_reason: str
    plan: Plan


def run_beside(tokens: np.ndarray, known: Candidates, plan: Plan) -> tuple[Run, np.ndarray]:
    """The run of candidates and tokens together, and the point of each token. The first points are
    the candidates."""
    joined = merge(Cloud(np.concatenate([known.values, tokens])))
    counts = np.concatenate([known.counts, joined.multiplicities[len(known) :]])
    points = Points(joined.coordinates, counts, np.arange(joined.count))
    return run_points(points, plan), joined.of_token[len(known) :]


def examine(tokens: np.ndarray, first: int, known: Candidates, plan: Plan, until: int) -> Examined:
    """Run a chunk, from row `first` on, beside the candidates, and look at it up to a layer, or
    until it settles."""
    with interpreted_if_small(len(tokens) + len(known), tokens.shape[1]):
        run, place = run_beside(tokens, known, plan)
        needed = find_needed(run, until)
    count = run.points.count
    rows = np.full(count, _NO_ROW)
    np.minimum.at(rows, place, first + np.arange(len(tokens)))
    found = Candidates(run.points.coordinates, rows, np.bincount(place, minlength=count))
    is_new = needed & (np.arange(count) >= len(known))
    return Examined(
        known=found.among(np.arange(len(known))),
        new=found.among(np.flatnonzero(is_new)),
        n=len(tokens),
        horizon=_horizon(run),
        has_settled=run.settled_at is not None,
    )


def _horizon(run: Run) -> int:
    return run.layers if run.settled_at is None else run.settled_at


def find_needed(run: Run, until: int) -> np.ndarray:
    """Which points may be attended to at a layer of a run, looked at up to some layer at least."""
    places, count = run.points.floats, run.points.count
    if (places == 0).all(axis=1).any():
        return np.ones(count, dtype=bool)
    needed, watched = np.zeros(count, dtype=bool), np.arange(count)
    until = max(until, _horizon(run))
    last = min(until, MOST_LAYERS, run.layers if run.settled_at is None else until)
    all_follow = False
    for layer in range(last + 1):
        phase = run.phase_of(layer)
        positions, choices = phase.floats_at(layer), phase.choices
        needed[watched[outermost(positions[watched], run.error)]] = True
        leaders = shell_of(positions[phase.is_leader])
        follows = choices.follows_leader[watched]
        watched = watched[~strictly_inside(positions[watched], leaders, run.error, among=follows)]
        all_follow = bool(choices.follows_leader.all())
    ends = last == until and (run.settled_at is None or all_follow)
    needed[watched] |= not ends
    return needed


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


def gather(
    chunks: LocalChunks | DaskChunks,
    dynamics: Dynamics,
    layers: int | None = None,
    max_layers: int | None = None,
) -> Gathered:
    """Go through the chunks as often as it takes, then run what has to be in memory."""
    dimension = chunks.dimension
    check_dimension(dynamics, dimension)
    if not dynamics.is_definite:
        wish = "must be symmetric positive definite for tokens in chunks"
        reason = f"{wish}: {dynamics.indefinite_reason}"
        raise InputError(f"`metric` {reason}. Read the tokens into memory.")
    plan = Plan(dynamics, solvers_for("certified", CPU), layers, max_layers)
    known = Candidates(np.empty((0, dimension)), *np.empty((2, 0), dtype=np.int64))
    until = -1
    while True:
        whole = _pass_over(chunks, known, plan, until)
        counted = np.array_equal(whole.known.counts, known.counts)
        if counted and not len(whole.new) and whole.horizon <= until:
            break
        until = max(until, whole.horizon)
        known = _needed_of(whole.known.merge(whole.new), plan, until)
    run = run_points(known.points, plan)
    settled_at = whole.horizon if whole.has_settled else None
    reason = run.stop_reason
    if settled_at is not None:
        reason = why_stopped(layers, max(settled_at, run.layers), settled_at)
    return Gathered(run, whole.known, whole.n, settled_at, reason, plan)


def _pass_over(
    chunks: LocalChunks | DaskChunks, known: Candidates, plan: Plan, until: int
) -> Examined:
    """What all chunks have together."""
    whole, room = None, _WELCOME // chunks.dimension
    for found in chunks.map(examine, known, plan, until):
        whole = found if whole is None else whole.merge(found)
        if len(whole.new) > room:
            whole = replace(whole, new=_needed_of(whole.new, plan, until))
            room = max(room, 2 * len(whole.new))
        held = len(known) + len(whole.new)
        if held > MOST // chunks.dimension:
            raise _too_many(held, whole)
    assert whole is not None, "there is a chunk"
    return whole


def _needed_of(candidates: Candidates, plan: Plan, until: int) -> Candidates:
    """Those who may be attended to if there are no others. Should some that are left out be needed,
    the next pass finds them."""
    with interpreted_if_small(*candidates.values.shape):
        return candidates.among(find_needed(run_points(candidates.points, plan), until))


def _too_many(count: int, whole: Examined) -> InputError:
    dimension, reason = whole.new.values.shape[1], "so many lie on the boundary of their hull"
    if dimension > HIGHEST_DIMENSION:
        reason = f"hulls are for up to {HIGHEST_DIMENSION} dimensions, not {dimension}"
    if (np.concatenate([whole.known.values, whole.new.values]) == 0).all(axis=1).any():
        reason = "a token is zero, and so attends to everybody"
    needed = f"{count:,} of the first {whole.n:,} tokens have to be in memory together"
    most = f"the most is {MOST // dimension:,} distinct ones"
    return InputError(f"`tokens`: {needed}, but {most}: {reason}.")
