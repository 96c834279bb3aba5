"""One cloud in chunks: which of its tokens have to be in memory together.

No token strictly inside the convex hull of some tokens is furthest along any direction but 0. Let S
be some tokens, with all their copies, such that in the run of S together with any one chunk, the
chunk's other tokens are strictly inside the hull at every layer. Then, by induction over the
layers, no token of the whole cloud attends to a token outside of S: each chunk goes on beside S as
it does in the whole cloud, and the run of S tells what every token does. Every layer counts, up to
the one at which the last chunk settles, with two ways out:

* A token that follows a leader, and is strictly inside the hull of the leaders, stays there for
  ever: no token attends to it again, and it need not be looked at any more.
* Once all tokens follow leaders nothing changes any more (the settling lemma).

So S is guessed and tried: a pass over the chunks runs each of them beside S, by the ordinary
certified solver, and returns the tokens that were not strictly inside. When there is none, and S
was counted right, the proof is complete. Every pass gets at least one layer more right, and usually
all of them.

A token at 0 attends to all tokens, so that none can be left out; and hulls are for up to four
dimensions. In these cases all tokens have to fit into memory."""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from hardmax._common.validation import InputError
from hardmax._float.hull import HIGHEST_DIMENSION, Shell, shell_of
from hardmax._float.kernels import interpreted_if_small
from hardmax._float.search import CPU
from hardmax._layer.rules import check_dimension
from hardmax._runs.run import Run
from hardmax._runs.walk import Plan, run_points
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
_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Distinct tokens that others may attend to, of one chunk or of several."""

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
        points = merge(Cloud(values))
        rows, counts = np.full(points.count, _NO_ROW), np.zeros(points.count, dtype=np.int64)
        np.minimum.at(rows, points.of_token, np.concatenate([self.rows, other.rows]))
        np.add.at(counts, points.of_token, np.concatenate([self.counts, other.counts]))
        return Candidates(points.coordinates, rows, counts).among(np.argsort(rows, kind="stable"))


@dataclass(frozen=True, eq=False)
class Examined:
    """What is found in a chunk, or in several."""

    found: Candidates
    """Those that were known, and others that may be attended to."""
    n: int
    """How many tokens there are."""
    horizon: int
    """The layer at which these tokens settle, or the last one of their run."""
    has_settled: bool

    def merge(self, other: "Examined") -> "Examined":
        found, horizon = self.found.merge(other.found), max(self.horizon, other.horizon)
        return Examined(found, self.n + other.n, horizon, self.has_settled and other.has_settled)


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
    everybody = Candidates(run.points.coordinates, rows, np.bincount(place, minlength=count))
    needed[: len(known)] = True
    has_settled = run.settled_at is not None
    found = everybody.among(np.flatnonzero(needed)[np.argsort(rows[needed], kind="stable")])
    return Examined(found, len(tokens), _horizon(run), has_settled)


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
        watched = watched[~(follows & strictly_inside(positions[watched], leaders, run.error))]
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


def strictly_inside(places: np.ndarray, shell: Shell | None, error: float) -> np.ndarray:
    """Which places are strictly inside the hull that a shell is of, wherever they and
    its corners are to within an error."""
    # Rounding in the distance from a facet is part of `off`, as it is for the corners.
    depth = np.inf if shell is None else 2 * (shell.off + 4 * error)
    if shell is None or not depth < shell.radius / 2:
        return np.zeros(len(places), dtype=bool)
    inside = np.ones(len(places), dtype=bool)
    shell.keep_inside(places, depth, inside)
    return inside


def gather(
    chunks: LocalChunks | DaskChunks, dynamics: Dynamics, max_layers: int | None
) -> tuple[Examined, Plan]:
    """Go through the chunks as often as it takes to find who has to be in memory together."""
    dimension = chunks.dimension
    check_dimension(dynamics, dimension)
    if not dynamics.is_definite:
        wish = "must be symmetric positive definite for tokens in chunks"
        reason = f"{wish}: {dynamics.indefinite_reason}"
        raise InputError(f"`metric` {reason}. Read the tokens into memory.")
    plan = Plan(dynamics, solvers_for("certified", CPU), max_layers=max_layers)
    known = Candidates(np.empty((0, dimension)), *np.empty((2, 0), dtype=np.int64))
    room, until = _WELCOME // dimension, -1

    def merge_two(whole: Examined, other: Examined) -> Examined:
        nonlocal room
        whole = whole.merge(other)
        if len(whole.found) > room + len(known):
            # Should some that are left out be needed, the next pass finds them.
            found = needed_of(whole.found, known.rows)
            whole = Examined(found, whole.n, whole.horizon, whole.has_settled)
            room = max(room, 2 * len(whole.found))
        if len(whole.found) > MOST // dimension:
            raise _too_many(whole)
        return whole

    def needed_of(candidates: Candidates, kept: np.ndarray) -> Candidates:
        """Those who may be attended to if there are no others, and the rows that are kept."""
        with interpreted_if_small(*candidates.values.shape):
            needed = find_needed(run_points(candidates.points, plan), until)
        return candidates.among(needed | np.isin(candidates.rows, kept))

    while True:
        whole = reduce(merge_two, chunks.map(examine, known, plan, until))
        same = np.array_equal(whole.found.rows, known.rows)
        counted = same and np.array_equal(whole.found.counts, known.counts)
        if whole.horizon > until:
            until = whole.horizon
            known = needed_of(whole.found, _NOBODY)
        elif counted:
            return whole, plan
        else:
            # Rounding may put a token outside beside its chunk and inside beside the whole cloud:
            # if it were left out here, it would be found and left out for ever.
            known = whole.found


def _too_many(whole: Examined) -> InputError:
    count, dimension = whole.found.values.shape
    most = f"the most is {MOST // dimension:,} distinct ones"
    needed = f"{count:,} of the first {whole.n:,} tokens have to be in memory together, but {most}"
    reason = "a token at 0 attends to all tokens, and many may lie on the boundary of their hull"
    if dimension > HIGHEST_DIMENSION:
        reason = f"hulls are for up to {HIGHEST_DIMENSION} dimensions, not {dimension}"
    return InputError(f"`tokens`: {needed}: {reason}.")
