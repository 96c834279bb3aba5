"""One cloud in chunks: which of its tokens have to be in memory together, and what becomes of all
the others.

Let S be some of the tokens that contain everybody who is attended to at the layers before p. Then S
on its own goes as it does in the whole cloud up to layer p, and any other token is an *observer*:
where it is depends on S alone, so that each chunk is walked on its own. Four facts make S small,
and let it be found chunk by chunk.

* Nobody strictly inside the convex hull of some tokens is furthest along any direction but 0. So
  who is attended to at layer p is found in the hull of each chunk (`examine`), with all copies: a
  copy that was left out was strictly inside.
* A token that attends to one leader alone does so for ever (`AttendedIndices.follows_leader`). If it is
  also strictly inside the hull of the leaders, which never move, it stays there on its way, and
  nobody attends to it again: it is *finished*.
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
from operator import add
from typing import Any, NamedTuple

import numpy as np

from hardmax._common.validation import InputError
from hardmax._float.active_set import Shell, shell_of
from hardmax._float.bounds import (
    LARGEST,
    SMALLEST,
    SlackFactors,
    float_metric,
    norms_above,
    step_error,
)
from hardmax._float.kernels import keep_well_inside
from hardmax._float.search import CPU
from hardmax._float.solver import FloatPhase
from hardmax._layer.rules import check_dimension
from hardmax._runs.run import Plan, run_points
from hardmax._runs.trajectory import Trajectory
from hardmax._streams.chunks import Blocks, Local
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import Points, merge
from hardmax.dynamics import Dynamics
from hardmax.engines import interpreted_if_small, phases_of, solvers_for
from hardmax.stops import LastOnly, Stop

HIGHEST_DIMENSION = 4
# Coordinates of distinct tokens in memory together: as many as are welcome, and the most if there
# is no other way. A run needs some 100 bytes for each of them.
WELCOME, MOST = 2**18, 2**24
MOST_LAYERS = 64  # walked chunk by chunk
_SAMPLED = 2**12
_OF_REACH = 2.0**-44  # as in `active_set`
_SAFETY = 1 - 2.0**-20
# So many times as large as most coordinates: measured by it, floats hardly tell the others apart.
_FAR = 2.0**20


@dataclass(frozen=True, eq=False)
class Tokens:
    """Distinct tokens, by their first rows: how many there are of each, as far as they were
    counted."""

    values: np.ndarray
    rows: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, rows: np.ndarray) -> "Tokens":
        return cls(values, rows, np.ones(len(rows), dtype=np.int64)).merged()

    def __len__(self) -> int:
        return len(self.rows)

    def merged(self, combine: Any = np.add) -> "Tokens":
        """Equal tokens as one. Their counts are added, or the largest is taken where the same rows
        may be meant."""
        if not len(self):
            return self
        points = merge(Cloud(self.values))
        if points.count == len(self) and (self.rows[1:] > self.rows[:-1]).all():
            return self
        rows, counts = (
            np.full(points.count, np.iinfo(np.int64).max),
            np.zeros(points.count, dtype=np.int64),
        )
        np.minimum.at(rows, points.of_token, self.rows)
        combine.at(counts, points.of_token, self.counts)
        order = np.argsort(rows)
        return Tokens(points.coordinates[order], rows[order], counts[order])

    def joined(self, *others: "Tokens", combine: Any = np.add) -> "Tokens":
        columns = zip(*((one.values, one.rows, one.counts) for one in (self, *others)), strict=True)
        return Tokens(*map(np.concatenate, columns)).merged(combine)


def no_tokens(dimension: int) -> Tokens:
    return Tokens(np.empty((0, dimension)), *np.empty((2, 0), dtype=np.int64))


class Scene(NamedTuple):
    """A layer as observers see it: where those are that can be attended to, each to within `error`,
    who of them leads, and the shell of these leaders."""

    positions: np.ndarray
    error: float
    rows: np.ndarray
    leads: np.ndarray
    shell: Shell | None


class Fates(NamedTuple):
    """What becomes of some tokens after some layers; -1 stands for nobody and never."""

    leader: np.ndarray
    """Which of the `leaders` each follows for ever."""
    finished: np.ndarray
    """The layer at which it was found that nobody will ever attend to it."""
    unsure: np.ndarray
    """Whether floats could not tell, at some layer, whom it attends to."""
    places: np.ndarray
    """Where it was when it was finished, else where it is after all layers."""
    error: float
    last: tuple[int, int]
    """The last layer at which some began to follow a leader, and the first of these."""


class Part(NamedTuple):
    """What is found in a chunk, or in several. Leaders are told by their rows; a token of
    `finished` or `following` is such a row, with the first of its followers and how many there
    are."""

    dimension: int
    tokens: int
    left: int  # not finished
    pending: int  # not following a leader
    unsure: Tokens
    outermost: Tokens  # those who may be attended to at the next layer, but for the unsure
    finished: Tokens
    following: Tokens  # but not finished
    largest: float
    typical: float  # of coordinates, in absolute value
    has_zero: bool  # found in the first pass
    last: tuple[
        int, int, tuple[float, ...]
    ]  # to follow a leader: since when, the row (negative), and the token

    def joined(self, other: "Part") -> "Part":
        combine: tuple[Any, ...] = (max, *[add] * 3, *[Tokens.joined] * 4, *[max] * 4)
        return Part(
            *(both(mine, its) for both, mine, its in zip(combine, self, other, strict=True))
        )


def join(
    found: Iterable[tuple[Part, Tokens | None, Any]], most: int
) -> tuple[Part, Tokens | None, list[Any]]:
    """What all chunks have together, of what `examine` returns for each."""
    whole, alive, held, unfinished = None, [], 0, []
    for part, some, bits in found:
        whole = part if whole is None else whole.joined(part)
        if (count := len(whole.unsure) + len(whole.outermost)) > MOST // whole.dimension:
            raise _too_many(
                count, whole, "so many lie on the boundary of their convex hull, or tie"
            )
        unfinished.append(bits)
        held = np.inf if some is None else held + len(some)
        alive = [*alive, some] if held < np.inf else []
        if 2 * most < held < np.inf:  # equal tokens are one
            alive = [Tokens.joined(*alive)]
            held = len(alive[0]) if len(alive[0]) <= most else np.inf
    assert whole is not None, "there is a chunk"
    together = None if held == np.inf else Tokens.joined(*alive)
    return whole, together if together is not None and len(together) <= most else None, unfinished


def leaders(scenes: Sequence[Scene]) -> np.ndarray:
    """The rows of all leaders that some scenes show: who leads leads for ever."""
    return scenes[-1].rows[scenes[-1].leads] if scenes else np.empty(0, dtype=np.int64)


def observe(tokens: np.ndarray, scenes: Sequence[Scene], dynamics: Dynamics) -> Fates:
    """Walk tokens, each by itself, through the layers of some scenes."""
    metric, keep = float_metric(dynamics), float(dynamics.contraction)
    factors = SlackFactors.of(tokens.shape[1], metric)
    leader, finished = np.full(len(tokens), -1), np.full(len(tokens), -1, dtype=np.int8)
    unsure, places, last = np.zeros(len(tokens), dtype=bool), tokens.copy(), (-1, -1)
    rows, z, error = np.arange(len(tokens)), tokens, 0.0
    for layer, scene in enumerate(scenes):
        if not len(rows):
            break
        norms, longest = norms_above(z), float(norms_above(scene.positions).max())
        slack = factors.slack(norms, error, longest, scene.error)
        found = CPU._argmax(metric.directions(z), scene.positions, slack)
        follows, goes_on = scene.leads[found.winners], np.ones(len(rows), dtype=bool)
        follows[found.contested] = goes_on[found.contested] = False
        unsure[rows[found.contested]] = True
        new = np.flatnonzero(follows & (leader[rows] < 0))
        leader[rows[new]] = np.searchsorted(leaders(scenes), scene.rows)[found.winners[new]]
        last = (layer, int(rows[new[0]])) if len(new) else last
        done = strictly_inside(z, scene.shell, max(error, scene.error), among=follows)
        finished[rows[done]] = layer
        goes_on &= ~done
        rows, z, targets = rows[goes_on], z[goes_on], scene.positions[found.winners[goes_on]]
        z = targets + keep * (z - targets)
        places[rows] = z
        error = max(error, scene.error) + step_error(max(longest, float(norms.max())))
    return Fates(leader, finished, unsure, places, error, last)


def examine(
    tokens: np.ndarray,
    first: int,
    scenes: Sequence[Scene],
    dynamics: Dynamics,
    most: int,
    unfinished: Any = None,
) -> tuple[Part, Tokens | None, Any]:
    """What a chunk, from row `first` on, adds to a pass; its tokens that are not finished, unless
    they are more than `most`, and a bit for each token that tells which these are, None for all.
    Whoever was finished in the pass before does not count."""
    count, own = len(tokens), np.arange(len(tokens))
    if unfinished is not None:
        own = np.flatnonzero(np.unpackbits(unfinished, count=count))
        tokens = tokens[own]
    rows, fates = first + own, observe(tokens, scenes, dynamics)
    is_open = fates.finished < 0
    done, alive, unsure = (
        np.flatnonzero(which) for which in (~is_open, is_open & ~fates.unsure, fates.unsure)
    )
    following = alive[fates.leader[alive] >= 0]
    places = fates.places if len(alive) == len(tokens) else fates.places[alive]
    outer = alive[outermost(places, fates.error)]
    since, last = fates.last
    typical = float(np.median(np.abs(tokens[::64]))) if len(tokens) else 0.0
    part = Part(
        tokens.shape[1],
        count,
        len(alive) + len(unsure),
        len(alive) - len(following),
        Tokens.of(tokens[unsure], rows[unsure]),
        Tokens.of(tokens[outer], rows[outer]),
        _count(fates.leader[done], rows[done], leaders(scenes)),
        _count(fates.leader[following], rows[following], leaders(scenes)),
        max(float(tokens.max(initial=0.0)), -float(tokens.min(initial=0.0))),
        typical,
        not scenes and bool(np.logical_and.reduce([column == 0 for column in tokens.T]).any()),
        (since, -int(rows[last]), tuple(tokens[last])) if since >= 0 else (-1, 0, ()),
    )
    bits = np.zeros(count, dtype=bool)
    bits[own[is_open]] = True
    kept = Tokens.of(tokens[alive], rows[alive]) if len(alive) <= most else None
    return part, kept, np.packbits(bits) if len(done) or unfinished is not None else None


def _count(leader: np.ndarray, rows: np.ndarray, leaders: np.ndarray) -> Tokens:
    """Leaders, by their rows: the first of their followers, and how many there are."""
    counts, first = (
        np.bincount(leader, minlength=len(leaders)),
        np.empty(len(leaders), dtype=np.int64),
    )
    first[leader[::-1]] = rows[::-1]  # the last one that is written counts
    (some,) = np.nonzero(counts)
    return Tokens(leaders[some, None].astype(np.float64), first[some], counts[some]).merged()


def outermost(places: np.ndarray, error: float) -> np.ndarray:
    """Those of some places, increasing, that may not be strictly inside the convex hull of all of
    them."""
    kept = np.arange(len(places))
    if len(places) > 2 * _SAMPLED:  # the hull of some puts most of the others inside
        sample = places[:: len(places) // _SAMPLED]
        kept = kept[~strictly_inside(places, _shell(sample), error)]
    return kept[~strictly_inside(places[kept], _shell(places[kept]), error)]


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
    square = (
        ((shell.radius - depth) * _SAFETY) ** 2 if 2.0**-400 < shell.radius < 2.0**400 else -1.0
    )
    keep_well_inside(places, shell.centre, square, shell.facets, depth, inside)
    return inside


def _shell(points: np.ndarray) -> Shell | None:
    if len(points) <= points.shape[1] or points.shape[1] > HIGHEST_DIMENSION:
        return None
    if points.shape[1] > 1:
        return shell_of(points)
    low, high = points.min(), points.max()
    half = high / 2 - low / 2
    off = _OF_REACH * max(abs(low), abs(high))  # as the centre is rounded
    return Shell(np.array([low / 2 + high / 2]), np.array([[1.0, -half], [-1.0, -half]]), off, half)


@dataclass(frozen=True)
class Core:
    """What `find_core` returns: the run of those tokens that had to be in memory together, and what
    tells the others' fates."""

    run: Trajectory
    tokens: Tokens
    """Those of the run."""
    left: Tokens
    """Those of them that are not among the `followers`, counted in the whole cloud."""
    scenes: tuple[Scene, ...]
    followers: Tokens
    """Who of the others follows leaders, as in `Part`."""
    count: int
    """How many tokens the cloud has."""


def find_core(chunks: Local | Blocks, dynamics: Dynamics, stop: Stop) -> Core:
    """Go through the chunks as often as it takes, then run what is left."""
    dimension = chunks.dimension
    check_dimension(dynamics, dimension)
    if not dynamics.is_definite:
        reason = f"must be symmetric positive definite for tokens in chunks: {dynamics.indefinite_reason}"
        raise InputError(f"`metric` {reason}. Read the tokens into memory.", argument="metric")
    scenes: tuple[Scene, ...] = ()
    known, following, lasting, gather = no_tokens(dimension), False, False, False
    finished, last, unfinished = no_tokens(1), (-1, 0, ()), None
    while True:
        most = (MOST if gather else WELCOME) // dimension
        part, alive, unfinished = join(
            chunks.map(examine, scenes, dynamics, most, own=unfinished), most
        )
        finished, last = (
            finished.joined(part.finished),
            max(last, part.last),
        )  # nobody is examined again once finished
        if alive is not None:
            left, followers = alive.joined(part.unsure), finished
            break
        is_known = len(known.joined(part.unsure, combine=np.maximum)) == len(known)
        # If this is to end at a layer, who leads there is known.
        if (following and not part.pending and is_known) or (
            len(scenes) > stop.last_layer and not stop.when_settled
        ):
            left, followers = part.unsure, finished.joined(part.following)
            break
        if gather:
            raise _too_many(part.left, part, "so many may still be attended to while others tie")
        stuck = len(scenes) == MOST_LAYERS or (lasting and not part.pending and is_known)
        gather = stuck or (not scenes and bool(_why_all(part)))
        if not gather:
            known = known.joined(part.unsure.joined(part.outermost), combine=np.maximum)
            scene, following, lasting = _scene(known, dynamics, len(scenes))
            scenes = (*scenes, scene)
    since, row, value = last
    latest = Tokens.of(np.array([value]), np.array([-row])) if since > 0 else no_tokens(dimension)
    tokens = known.joined(left, latest, combine=np.maximum)
    plan = Plan(dynamics, solvers_for("certified", CPU), stop, LastOnly())
    with CPU.limited(), interpreted_if_small(len(tokens), dimension):
        run = Trajectory(run_points(_points(tokens), plan))
    return Core(run, tokens, left, scenes, followers, part.tokens)


def _points(tokens: Tokens) -> Points:
    return Points(tokens.values, tokens.counts, np.arange(len(tokens)))


def _scene(tokens: Tokens, dynamics: Dynamics, layer: int) -> tuple[Scene, bool, bool]:
    """What observers see of some tokens at a layer; whether all of these follow leaders, and
    whether they do what they do for ever."""
    solver, *_ = solvers_for("certified", CPU)
    phases = phases_of(solver, _points(tokens), dynamics)
    phase = next(phase for phase in phases if phase.until is None or layer < phase.until)
    assert isinstance(phase, FloatPhase), "certified arithmetic begins with floats"
    # At the first layer nothing is rounded: the sizes of the tokens are within the frame's.
    positions, error = phase.floats_at(layer), phase.error if layer else 0.0
    seen = outermost(positions, error)
    leads = phase.is_leader[seen]
    scene = Scene(positions[seen], error, tokens.rows[seen], leads, _shell(positions[seen][leads]))
    return scene, bool(phase.choices.follows_leader.all()), phase.until is None


def _why_all(part: Part) -> str:
    """Why nobody can be left out, if so."""
    if part.has_zero:
        return "a token is zero, and so attends to everybody"
    if part.dimension > HIGHEST_DIMENSION:
        return f"tokens of {part.dimension} dimensions are not told apart by hulls: {HIGHEST_DIMENSION} is the most"
    if not SMALLEST <= part.largest <= LARGEST:
        return f"the largest coordinate, {part.largest:.3g}, is not between 2^-100 and 2^100"
    if 0.0 < _FAR * part.typical < part.largest:
        others = f"far beyond most others, of {part.typical:.3g}"
        return f"the largest coordinate, {part.largest:.3g}, is {others}"
    return ""


def _too_many(count: int, part: Part, reason: str) -> InputError:
    needed = f"{count:,} of {part.tokens:,} tokens have to be in memory together"
    most = f"the most is {MOST // part.dimension:,} distinct ones"
    return InputError(f"`tokens`: {needed}, but {most}: {_why_all(part) or reason}.")
