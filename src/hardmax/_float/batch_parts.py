"""Many small clouds in one kernel, whose layer has a mask, a value matrix, or several steps.

A layer is z' = w + R (z - w) with R = (I + alpha V)^-1. Repeated tokens are not merged, as a mask
may tell them apart; points with the same label are known to be in the same place: those that begin
there, and go on to attend to points of one label. Whoever attends to several labels is left to
integers.

**Errors.** If no coordinate along axis k of any point is off by more than e_k, none is off by more
than (M e)_k after a layer, M = |R| + |I - R| entry by entry, and by what rounding adds. So |e|
grows by |M| at most, which is 1 where R is diagonal with entries from 0 to 1. The sums of d + 2
terms round by (d + 12) u (1 + 2 |R|) |x| along each axis at most, an entry of R by u of itself.

**For ever.** If V = a P and whom points attend to stands still, they go straight to their ends, and
leads are the quadratic forms of `_float.general`, whose three coefficients decide here as well."""

from fractions import Fraction
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from hardmax._exact.power_sums import Motion
from hardmax._float.batch import (
    LEVELS,
    ROUNDING,
    UNDECIDED,
    UNKNOWN,
    WALKED,
    WIDTH,
    BatchOutcome,
    Room,
    Then,
    call_kernel,
    enter,
    make_room,
    set_reach,
)
from hardmax._float.bounds import LARGEST, SAFETY, UNIT, float_metric, kernel_factors
from hardmax._kernels.compiling import njit, njit_parallel
from hardmax._layer.rules import rescaling
from hardmax._tokens.points import find_equal_rows
from hardmax.dynamics import Dynamics

LONGEST = 64  # layers after which clouds that have not settled are left to chains of closed forms
_FEW_LAYERS = 8  # whether a run of so few has settled is looked for when it is asked for
_NO_MASK, _NO_MATRIX = np.empty((0, 0), dtype=bool), np.empty((0, 0))
_DEFINITE = 1 - 2.0**-30


class Rules(NamedTuple):
    """How a cloud is walked, and how far. `kept[k]` is R of layer k, with what it multiplies errors
    by and adds to them as a share of the longest point; the last one stays. The projection is empty
    if V is no multiple of one; `arrival` is for many layers at once. It `looks` whether clouds
    settle, and may end there."""

    metric: np.ndarray
    kept: np.ndarray
    growth: np.ndarray
    rounding: np.ndarray
    projection: np.ndarray
    arrival: np.ndarray
    mask: np.ndarray
    is_causal: bool
    layers: int
    looks: bool
    ends_settled: bool
    factors: np.ndarray


class Space(NamedTuple):
    """Memory for one cloud, whose points are columns as in `batch`: `place` is that of each in the
    cloud. `now` and `old` have the label of each point and whom it attends to, at this layer and
    the last; `saved` the points where sets changed last."""

    room: Room
    place: np.ndarray
    saved: np.ndarray
    now: np.ndarray
    old: np.ndarray
    leads: np.ndarray
    pairs: np.ndarray
    firsts: np.ndarray
    table: np.ndarray


@njit
def _may(place, mask, is_causal, i, j):
    """Whether a point may attend to another."""
    if is_causal:
        return place[j] <= place[i]
    return len(mask) == 0 or mask[place[i], place[j]]


# Inlined, and loops over arrays alone: tuples cost more to hand on than a search.
@njit(inline="always")
def _find_place(room, label, place, mask, is_causal, i, count, along, slack):
    """A point whose score along the direction is the largest by more than the slack, over all that
    have another label; or -1."""
    points, reach, direction, scores = room.points, room.reach, room.direction, room.scores
    best, end, own = -np.inf, 0, place[i]
    while end < count and along * reach[end] >= best - slack:
        first = direction[0]
        for j in range(end, end + WIDTH):
            scores[j] = first * points[0, j]
        for axis in range(1, len(points)):
            further = direction[axis]
            for j in range(end, end + WIDTH):
                scores[j] += further * points[axis, j]
        if is_causal:
            for j in range(end, end + WIDTH):
                scores[j] = scores[j] if place[j] <= own else -np.inf
        elif len(mask):
            for j in range(end, end + WIDTH):
                scores[j] = scores[j] if mask[own, place[j]] else -np.inf
        for j in range(count, end + WIDTH):
            scores[j] = -np.inf
        # Four chains side by side: one chain would wait for itself.
        a = b = c = e = best
        for j in range(end, end + WIDTH, 4):
            a = scores[j] if scores[j] > a else a
            b = scores[j + 1] if scores[j + 1] > b else b
            c = scores[j + 2] if scores[j + 2] > c else c
            e = scores[j + 3] if scores[j + 3] > e else e
        best = max(max(a, b), max(c, e))
        end += WIDTH
    floor, close, winner = best - slack, 0, -1
    for j in range(end):
        close += scores[j] >= floor
        winner = j if scores[j] >= floor else winner
    if close > 1:
        for j in range(end):
            if scores[j] >= floor and label[j] != label[winner]:
                winner = -1
                break
    return winner


@njit
def _look(points, i, metric, direction):
    """The direction of a point: the length of the point, and that of the direction."""
    square, along = 0.0, 0.0
    for row in range(len(points)):
        square += points[row, i] * points[row, i]
        if len(metric) == 0:
            direction[row] = points[row, i]
        else:
            direction[row] = 0.0
            for axis in range(len(points)):
                direction[row] += metric[row, axis] * points[axis, i]
        along += direction[row] * direction[row]
    return np.sqrt(square) + 2.0**-500, (np.sqrt(along) + 2.0**-500) * ROUNDING


@njit
def _longest(points, count):
    largest = 0.0
    for i in range(count):
        square = 0.0
        for axis in range(len(points)):
            square += points[axis, i] * points[axis, i]
        largest = max(largest, square)
    return np.sqrt(largest) + 2.0**-500


@njit(inline="always")
def _slack(factors, size, largest, error):
    return (
        factors[0] * size * largest
        + factors[1] * (size * error + largest * error + error * error)
        + factors[2]
    )


@njit
def _are_apart(points, i, j, least):
    square = 0.0
    for axis in range(len(points)):
        square += (points[axis, i] - points[axis, j]) ** 2
    return np.sqrt(square) > least


@njit
def _attend_alike(space, i, count, mask, is_causal):
    """Whether a point attends to those that it did a layer before, where points share labels."""
    place, label, chosen = space.place, space.now[0], space.now[1]
    before, chose = space.old[0], space.old[1]
    for j in range(count):
        attends = label[j] == label[chosen[i]]
        did = before[j] == before[chose[i]]
        if attends != did and _may(place, mask, is_causal, i, j):
            return False
    return True


@njit
def _choose_all(space, count, rules, largest, error, stops):
    """Whom every point attends to: UNDECIDED where floats do not prove it, 1 if all attend to those
    that they did a layer before, else 0. It may stop at the first that does not."""
    room, place, label, chosen = space.room, space.place, space.now[0], space.now[1]
    chose, mask, is_causal = space.old[1], rules.mask, rules.is_causal
    points, direction, metric, factors = room.points, room.direction, rules.metric, rules.factors
    shares_labels, same = space.firsts[0] >= 0, 1
    near = 4.0 * (error + factors[3] * largest)
    for i in range(count):
        size, along = _look(points, i, metric, direction)
        slack = _slack(factors, size, largest, error)
        winner = _find_place(room, label, place, mask, is_causal, i, count, along, slack)
        if winner < 0:
            return UNDECIDED
        must_leave = len(mask) > 0 and not mask[place[i], place[i]]
        if must_leave and label[winner] != label[i] and not _are_apart(points, i, winner, near):
            return UNDECIDED  # it may be in the same place all the same
        chosen[i] = winner
        if shares_labels:
            if not _attend_alike(space, i, count, mask, is_causal):
                same = 0
        elif winner != chose[i]:
            same = 0
        if stops and same == 0:
            return same
    return same


@njit
def _move(points, moved, count, chosen, kept):
    """Every point keeps part of its way to the one that it attends to."""
    for axis in range(len(points)):
        for i in range(count):
            moved[axis, i] = points[axis, chosen[i]]
        for other in range(len(points)):
            factor = kept[axis, other]
            if factor != 0.0:
                for i in range(count):
                    moved[axis, i] += factor * (points[other, i] - points[other, chosen[i]])


@njit
def _arrive(space, count, rules, share):
    """Into `moved`, where points are when that share of the way is left."""
    d = len(rules.projection)
    kept = np.empty((d, d))
    for row in range(d):
        for axis in range(d):
            identity = 1.0 if row == axis else 0.0
            kept[row, axis] = identity - (1.0 - share) * rules.projection[row, axis]
    _move(space.room.points, space.room.moved, count, space.now[1], kept)


@njit
def _set_leads(direction, points, count, over, leads):
    """The leads of all points over one along a direction."""
    for j in range(count):
        leads[j] = direction[0] * points[0, j]
    for axis in range(1, len(points)):
        further = direction[axis]
        for j in range(count):
            leads[j] += further * points[axis, j]
    least = leads[over]
    for j in range(count):
        leads[j] -= least


@njit
def _stays(space, count, rules, largest, error):
    """Whether it is proved that all points go straight, and that no attended set ever changes."""
    room, place, label, chosen = space.room, space.place, space.now[0], space.now[1]
    mask, is_causal, leads = rules.mask, rules.is_causal, space.leads
    if len(rules.projection) == 0:
        return False
    for i in range(count):
        if label[chosen[chosen[i]]] != label[chosen[i]]:
            return False
    _arrive(space, count, rules, 0.0)
    here, ends, d = room.points, room.moved, len(room.points)
    is_full = True
    for row in range(d):
        for axis in range(d):
            is_full &= rules.projection[row, axis] == (1.0 if row == axis else 0.0)
    off = rules.arrival[0] * error + rules.arrival[1] * largest
    longest, ahead = max(largest, _longest(ends, count)), np.empty(d)
    for i in range(count):
        over, size = chosen[i], _look(here, i, rules.metric, room.direction)[0]
        size = max(size, _look(ends, i, rules.metric, ahead)[0])
        slack = 2.0 * _slack(rules.factors, size, longest, off)
        _set_leads(ahead, ends, count, over, leads[0])
        _set_leads(ahead, here, count, over, leads[1])
        _set_leads(room.direction, ends, count, over, leads[2])
        _set_leads(room.direction, here, count, over, leads[3])
        for j in range(count):
            if not _may(place, mask, is_causal, i, j):
                continue
            if label[j] == label[over]:
                if label[chosen[j]] != label[over]:
                    return False
                continue
            b0, b1, b2 = leads[0, j] + slack, leads[1, j] + leads[2, j], leads[3, j] + slack
            if is_full and label[chosen[j]] == label[over]:  # both end in the same place
                b0, b1 = 0.0, leads[1, j]
            b1 = 0.5 * b1 + slack
            definite = b0 < 0.0 and b1 * b1 < b0 * b2 * _DEFINITE
            if not (b2 < 0.0 and b0 <= 0.0 and (b1 <= 0.0 or definite)):
                return False
    return True


@njit
def _save(space, count):
    for axis in range(len(space.saved)):
        for i in range(count):
            space.saved[axis, i] = space.room.points[axis, i]


@njit
def _go(space, count, rules, layer):
    """A layer on; labels of points that attended to others become different."""
    room, label, chosen = space.room, space.now[0], space.now[1]
    _move(room.points, room.moved, count, chosen, rules.kept[min(layer, len(rules.kept) - 1)])
    for axis in range(len(room.points)):
        for i in range(count):
            room.points[axis, i] = room.moved[axis, i]
    set_reach(room.points, room.reach, count)
    for i in range(count):
        space.old[0, i], space.old[1, i] = label[i], chosen[i]
        space.pairs[i, 0], space.pairs[i, 1] = label[i], label[chosen[i]]
    if space.firsts[0] >= 0:
        find_equal_rows(space.pairs[:count], space.table, label, space.firsts)


@njit
def _walk(space, count, rules):
    """The last layer walked; since which layer nothing changes for ever, or WALKED, UNKNOWN or
    UNDECIDED; the error of the points; and what it is further on."""
    room, label, chosen, since = space.room, space.now[0], space.now[1], space.room.since
    layer, changed, error, steady = 0, 0, 0.0, len(rules.kept) - 1
    since[:count], space.old[1, :count] = -1, -1
    while True:
        largest = _longest(room.points, count)
        if not rules.factors[4] <= largest <= rules.factors[5]:
            return layer, UNDECIDED, error, error
        same = _choose_all(space, count, rules, largest, error, False)
        if same == UNDECIDED:
            return layer, UNDECIDED, error, error
        for i in range(count):
            if label[chosen[i]] != label[i]:
                since[i] = -1
            elif since[i] < 0:
                since[i] = layer
        if rules.looks and (layer == 0 or same == 0):
            changed = layer
            _save(space, count)
        if rules.looks and layer >= steady and _stays(space, count, rules, largest, error):
            return layer, changed, error, rules.arrival[0] * error + rules.arrival[1] * largest
        if layer == rules.layers:
            break
        step = min(layer, steady)
        error = rules.growth[step] * error + rules.rounding[step] * largest
        _go(space, count, rules, layer)
        layer += 1
    _save(space, count)
    if not rules.looks:
        return layer, UNKNOWN, error, error
    step = min(layer, steady)
    after = rules.growth[step] * error + rules.rounding[step] * largest
    _go(space, count, rules, layer)
    largest = _longest(room.points, count)
    if _choose_all(space, count, rules, largest, after, True) == 0:
        return layer, WALKED, error, error
    return layer, UNKNOWN, error, error


@njit_parallel(lambda task, offsets, *_: -(-(len(offsets) - 1) // task))
def walk_clouds(first, last, task, offsets, tokens, bits, longest, slots, rules, powers, outcome):
    """Walk the clouds that have not settled yet, from the beginning; one that settles goes on by a
    power at once."""
    d = tokens.shape[1]
    space = Space(
        make_room(longest, d),
        np.zeros(longest + WIDTH, np.int64),
        np.empty((d, longest)),
        np.empty((2, longest), np.int64),
        np.empty((2, longest), np.int64),
        np.empty((4, longest)),
        np.empty((longest, 2), np.int64),
        np.empty(longest, np.int64),
        np.empty(slots, np.int64),
    )
    everybody, order = np.arange(longest), np.empty(longest, np.int64)
    levels, lengths = np.empty(LEVELS + 1, np.int64), np.empty(longest)
    for b in range(first * task, min(last * task, len(offsets) - 1)):
        if outcome.settled[b] != WALKED:
            continue
        start, end = offsets[b], offsets[b + 1]
        count = end - start
        enter(
            tokens[start:end],
            everybody,
            count,
            lengths,
            levels,
            order,
            space.room.points,
            space.room.reach,
        )
        found = find_equal_rows(bits[start:end], space.table, space.now[1], space.firsts)
        for t in range(count):
            space.place[order[t]], space.now[0, order[t]] = t, space.now[1, t]
        if found == count:
            space.firsts[0] = -1
        layer, settled, error, later = _walk(space, count, rules)
        outcome.settled[b], outcome.errors[b] = settled, error
        places = space.saved
        if settled >= 0:
            outcome.errors[b] = max(error, later)
            if not rules.ends_settled:
                _arrive(space, count, rules, powers[rules.layers - layer])
                places = space.room.moved
        for t in range(count):
            outcome.leader_of[start + t] = -1  # with a mask, equal leaders are several
            outcome.leader_since[start + t] = space.room.since[order[t]]
            for axis in range(d):
                outcome.tokens[start + t, axis] = places[axis, order[t]]


def suits(dynamics: Dynamics, sizes: np.ndarray) -> bool:
    """Whether clouds of these sizes can be walked so."""
    others = dynamics.attention, dynamics.heads, dynamics.feed_forward, dynamics.normalise
    has_others = any(part is not None for part in others)
    if has_others:
        return False
    if isinstance(dynamics.mask, np.ndarray) and (sizes != len(dynamics.mask)).any():
        return False
    return all(np.abs(kept).max() <= LARGEST for kept in _kept(dynamics, 1))


def _kept(dynamics: Dynamics, dimension: int) -> list[np.ndarray]:
    """R of the first layers; the last one stays."""
    kept = [rescaling(dynamics, step) for step in dynamics.steps]
    if dynamics.value is None:
        return [np.eye(dimension) * float(part) for part in kept]
    return [part.astype(np.float64) for part in kept]


def _growth(matrix: np.ndarray) -> float:
    """|M|, M = |R| + |I - R|, at most."""
    diagonal = np.diag(matrix)
    if (matrix == np.diag(diagonal)).all() and diagonal.min() >= 0 and diagonal.max() <= 1:
        return 1.0
    sums = np.abs(matrix) + np.abs(np.eye(len(matrix)) - matrix)
    return sqrt(sums.sum(axis=0).max() * sums.sum(axis=1).max()) * SAFETY


def _rounding(d: int, norm: float) -> float:
    return sqrt(d) * (d + 12) * UNIT * SAFETY * (1 + 2 * norm)


def walk_batch(
    tokens: np.ndarray,
    offsets: np.ndarray,
    dynamics: Dynamics,
    layers: int,
    *,
    then: Then = Then.GO_ON,
    **how: Any,
) -> BatchOutcome:
    """Walk every cloud as `batch.walk_batch` does."""
    d, metric, kept = tokens.shape[1], float_metric(dynamics), _kept(dynamics, tokens.shape[1])
    motion = Motion.of(dynamics, dynamics.alpha_at(len(kept) - 1))
    contraction, projection, arrival = motion.contraction or Fraction(1), _NO_MATRIX, np.ones(2)
    if contraction < 1:
        table = motion.projection
        projection = np.eye(d) if table is None else table.astype(np.float64)
        reach = sqrt(d) + 2 * float(np.linalg.norm(projection))
        arrival = np.array([_growth(projection), _rounding(d, reach)])
    # A copy: of an array that cannot be written to, numba would make another kernel.
    mask = np.array(dynamics.mask) if isinstance(dynamics.mask, np.ndarray) else _NO_MASK
    rules = Rules(
        _NO_MATRIX if metric.matrix is None else metric.matrix,
        np.array(kept),
        np.array([_growth(matrix) for matrix in kept]),
        np.array([_rounding(d, float(np.linalg.norm(matrix))) for matrix in kept]),
        projection,
        arrival,
        mask,
        isinstance(dynamics.mask, str),
        layers,
        then is not Then.GO_ON or layers > _FEW_LAYERS,
        then is Then.STAY,
        np.array(kernel_factors(d, metric)),
    )

    def shares(depth: int) -> np.ndarray:
        return then.shares(contraction, layers, depth)

    return call_kernel(walk_clouds, tokens, offsets, rules, shares, **how)
