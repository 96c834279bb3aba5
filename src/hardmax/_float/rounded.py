"""Search by byte-rounded tokens in many dimensions.

The largest of many dot products of bytes, kept in vector registers.

`largest_products` is the inside of a search: four rows against groups of sixteen points, four bytes of each at a time.
It is written in LLVM's own language, because the instructions that matter (sdot on ARM, pmaddwd on x86: many products
and their sums at once) have no name in Python. Both are spelled so that every lane is defined: LLVM's general partial
reduction would leave open which products meet in which sum.
Nothing is rounded here: bytes must be so small that 32 bits hold their sums of products.

Search through bytes: points and directions rounded to bytes, whose products name the few points worth a closer look.

Tiles of TILE points, from the outside in, share a scale. A task is a few dozen directions, so that a tile is read from
memory once for all of them. What the bounds mean is told in `hardmax._float.rounded`.

Search through bytes: in many dimensions, and for many points.

Take the centre c out of the points, x = p - c: that changes all scores of a direction alike. Round to bytes:
x = s q + e for the points, with one scale s for a tile of points at similar distance from the centre, and y = t r + f
for a direction. Bytes reach up to 127, or less where d is so large that 32 bits would not hold d products of these. So
products are summed exactly, and

    |<y, x> - s t <r, q>| = |<f, x> + <y - f, e>| <= |f| X + (|y| + |f|) E        (X >= |x|, E >= |e| in the tile),

where |f|, X and E are measured, not estimated. A tile's largest product therefore says what somebody in it is sure to
reach, and what nobody in it exceeds. Only groups of points that can come within the slack of what is sure to be reached
are scored in float64. Tiles go from the outside in; where X |y| is below what is sure, the rest cannot matter.

The float64 scores that are stood in for are off by rounding: u |y| X from taking the centre out, gamma_d |y| |p| each
from two ways of summing; (2 d + 8) u |y| (X + |c|) covers them.
"""

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from hardmax._compile import njit, njit_parallel
from hardmax._float.argmax import ArgmaxResult, score_all
from hardmax._float.bounds import UNIT, norms_above
from hardmax._float.kernels import Found

# pyright: reportAttributeAccessIssue=false, reportCallIssue=false


ROWS = 4
GROUP = 16  # points
STEP = 4  # coordinates

_INDEX, _NUMBER = ir.IntType(64), ir.IntType(32)
_BYTES = ir.VectorType(ir.IntType(8), 16)
_SUMS, _PRODUCTS = ir.VectorType(_NUMBER, 4), ir.VectorType(_NUMBER, 16)
_VECTORS = GROUP * STEP // 16
_SDOT = "llvm.aarch64.neon.sdot.v4i32.v16i8"
_LARGEST = "llvm.vector.reduce.smax.v4i32"


@intrinsic
def largest_products(typingctx, rows, first_row, points, first_point, steps, groups, out):
    """Write to `out` the largest product of each of ROWS rows with the points of so many groups.

    `rows` holds bytes as (step, row, coordinate) from `first_row` on, `points` as (group, step, point, coordinate) from
    `first_point` on; both places are counted in vectors of 16 bytes.
    """
    signature = types.void(rows, types.int64, points, types.int64, types.int64, types.int64, out)
    return signature, _generate


def _generate(context, builder, signature, args):
    def vectors(number, first, kind):
        data = context.make_array(signature.args[number])(context, builder, args[number]).data
        data = builder.bitcast(data, kind.as_pointer())
        return builder.gep(data, [args[first]]) if first is not None else data

    rows, points, out = vectors(0, 1, _BYTES), vectors(2, 3, _BYTES), vectors(6, None, _NUMBER)
    steps, groups = args[4], args[5]
    zero, low = ir.Constant(_SUMS, [0] * 4), ir.Constant(_SUMS, [-(2**31)] * 4)
    start = builder.block
    each_group, each_step, group_done, done = (
        builder.function.append_basic_block(name) for name in ("group", "step", "group_done", "done")
    )
    builder.branch(each_group)

    builder.position_at_end(each_group)
    group = _counter(builder, start)
    tops = [_carried(builder, low, start) for _ in range(ROWS)]
    place = builder.mul(group, builder.mul(steps, ir.Constant(_INDEX, _VECTORS)))
    builder.branch(each_step)

    builder.position_at_end(each_step)
    step = _counter(builder, each_group)
    sums = [[_carried(builder, zero, each_group) for _ in range(_VECTORS)] for _ in range(ROWS)]
    here = builder.add(place, builder.mul(step, ir.Constant(_INDEX, _VECTORS)))
    some = [_load(builder, points, builder.add(here, ir.Constant(_INDEX, v))) for v in range(_VECTORS)]
    directions = builder.bitcast(_load(builder, rows, step), _SUMS)
    grown = []
    for row in range(ROWS):
        direction = builder.shuffle_vector(directions, ir.Constant(_SUMS, ir.Undefined), ir.Constant(_SUMS, [row] * 4))
        direction = builder.bitcast(direction, _BYTES)
        grown.append([_dot(builder, sums[row][v], some[v], direction) for v in range(_VECTORS)])
        for v in range(_VECTORS):
            sums[row][v].add_incoming(grown[row][v], each_step)
    _again(builder, step, steps, each_step, group_done)

    builder.position_at_end(group_done)
    largest = []
    for row in range(ROWS):
        top = tops[row]
        for v in range(_VECTORS):
            top = builder.select(builder.icmp_signed(">", grown[row][v], top), grown[row][v], top)
        tops[row].add_incoming(top, group_done)
        largest.append(top)
    _again(builder, group, groups, each_group, done)

    builder.position_at_end(done)
    reduce = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_NUMBER, [_SUMS]), _LARGEST)
    for row in range(ROWS):
        builder.store(builder.call(reduce, [largest[row]]), builder.gep(out, [ir.Constant(_INDEX, row)]))
    return context.get_dummy_value()


def _counter(builder, before):
    return _carried(builder, ir.Constant(_INDEX, 0), before)


def _carried(builder, first, before):
    """A value that a loop carries from turn to turn."""
    value = builder.phi(first.type)
    value.add_incoming(first, before)
    return value


def _again(builder, counter, count, loop, after):
    """Count on, and go round the loop again while it lasts."""
    following = builder.add(counter, ir.Constant(_INDEX, 1))
    counter.add_incoming(following, builder.block)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, after)


def _load(builder, vectors, place):
    loaded = builder.load(builder.gep(vectors, [place]))
    loaded.align = 1
    return loaded


def has_sdot() -> bool:
    """Whether the processor multiplies and adds four bytes at once, and numba compiles for it as it is."""
    if platform.machine().lower() not in ("aarch64", "arm64") or config.CPU_NAME not in (None, "host"):
        return False
    told = Path("/proc/cpuinfo")
    return "asimddp" in told.read_text() if told.exists() else platform.system() == "Darwin"


def _dot(builder, sums, some, direction):
    return (_dot_in_fours if has_sdot() else _dot_in_pairs)(builder, sums, some, direction)


def _dot_in_fours(builder, sums, some, direction):
    """One `sdot`."""
    dot = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_SUMS, [_SUMS, _BYTES, _BYTES]), _SDOT)
    return builder.call(dot, [sums, some, direction])


def _dot_in_pairs(builder, sums, some, direction):
    """What becomes `pmaddwd`, products of neighbours added, and one more addition of neighbours."""
    # Multiplied first and halved after: of bytes halved first, LLVM makes `pmulld`, which is slow.
    products = builder.mul(builder.sext(some, _PRODUCTS), builder.sext(direction, _PRODUCTS))
    return builder.add(sums, _add_neighbours(builder, _add_neighbours(builder, products)))


def _add_neighbours(builder, vector):
    return builder.add(_every_second(builder, vector, 0), _every_second(builder, vector, 1))


def _every_second(builder, vector, first):
    places = list(range(first, vector.type.count, 2))
    chosen = ir.Constant(ir.VectorType(_NUMBER, len(places)), places)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), chosen)


# The intrinsic is called without the context that it is written with.
# pyright: reportCallIssue=false


TILE = 128  # points
TASK = 32  # directions
_TINY = 2.0**-500  # coordinates whose squares may underflow count as zero, and as error
_CHECKED = 4  # tiles after which it is asked whether the rest can matter


class RoundedPoints(NamedTuple):
    """Points as they are and as bytes, in tiles from the outside in; of each tile its scale, and how long points and
    their errors can be."""

    points: np.ndarray  # (n, d)
    order: np.ndarray  # the points in tiles; copies of the last one fill the last tile
    packed: np.ndarray  # (tiles, groups, steps, GROUP, STEP) int8
    scales: np.ndarray
    reaches: np.ndarray  # of points from the centre
    errors: np.ndarray


class RoundedDirections(NamedTuple):
    """Directions as they are and as bytes, each with a scale of its own; how long each is, and its error."""

    vectors: np.ndarray  # (rows, d)
    order: np.ndarray  # the rows, as they stand in what follows
    packed: np.ndarray  # (blocks, steps, ROWS, STEP) int8
    scales: np.ndarray
    lengths: np.ndarray
    errors: np.ndarray


@njit(inline="always")
def _largest_byte(dimension):
    """The largest number to round to: so many products of two of them still fit into 32 bits."""
    return min(127.0, np.floor(np.sqrt((2.0**31 - 1.0) / dimension)))


@njit_parallel(lambda tiles, *_: len(tiles.packed))
def round_points(first, last, tiles, centre):
    """Round the points to bytes, tile by tile, the centre taken out."""
    points, packed = tiles.points, tiles.packed
    d = points.shape[1]
    for tile in range(first, last):
        some = tiles.order[tile * TILE : (tile + 1) * TILE]
        largest = 0.0
        for j in some:
            for axis in range(d):
                largest = max(largest, abs(points[j, axis] - centre[axis]))
        unit = largest / _largest_byte(d) if largest > _TINY else 1.0
        reach, error = 0.0, 0.0
        for place in range(len(some)):
            length, missed = 0.0, 0.0
            for axis in range(d):
                value = points[some[place], axis] - centre[axis]
                whole = np.rint(value / unit)
                packed[tile, place // GROUP, axis // STEP, place % GROUP, axis % STEP] = np.int8(whole)
                length += value * value
                missed += (value - whole * unit) * (value - whole * unit)
            reach, error = max(reach, length), max(error, missed)
        tiles.scales[tile], tiles.reaches[tile], tiles.errors[tile] = unit, np.sqrt(reach), np.sqrt(error)


@njit_parallel(lambda directions: -(-len(directions.order) // TASK))
def round_directions(first, last, directions):
    """Round the directions to bytes."""
    vectors, order, packed = directions.vectors, directions.order, directions.packed
    scales, lengths, errors = directions.scales, directions.lengths, directions.errors
    d = vectors.shape[1]
    for place in range(first * TASK, min(last * TASK, len(order))):
        i = order[place]
        largest = 0.0
        for axis in range(d):
            largest = max(largest, abs(vectors[i, axis]))
        unit = largest / _largest_byte(d) if largest > _TINY else 1.0
        length, missed = 0.0, 0.0
        for axis in range(d):
            value = vectors[i, axis]
            whole = np.rint(value / unit)
            packed[place // ROWS, axis // STEP, place % ROWS, axis % STEP] = np.int8(whole)
            length += value * value
            missed += (value - whole * unit) * (value - whole * unit)
        scales[place], lengths[place], errors[place] = unit, np.sqrt(length), np.sqrt(missed)


@njit(inline="always")
def _off(length, error, reach, error_of_points):
    """How far a product of bytes can be from the score that it stands for."""
    return error * reach + (length + error) * error_of_points


@njit(inline="always")
def _product(y, x):
    # Four sums side by side: one would wait for itself. The bounds hold for any order of summation.
    a = b = c = e = 0.0
    whole = len(y) // 4 * 4
    for axis in range(0, whole, 4):
        a += y[axis] * x[axis]
        b += y[axis + 1] * x[axis + 1]
        c += y[axis + 2] * x[axis + 2]
        e += y[axis + 3] * x[axis + 3]
    for axis in range(whole, len(y)):
        a += y[axis] * x[axis]
    return (a + b) + (c + e)


@njit
def _read_tiles(first, last, directions, tiles, floors, margins, tops):
    """Largest products of the directions from `first` up to `last` with tile after tile, until no further one matters.

    `tops` gets them, `floors` rises to what each direction is sure to reach; gives back how many tiles were read.
    """
    rows, units, lengths, lost = directions.packed, directions.scales, directions.lengths, directions.errors
    packed, scales, reaches, errors = tiles.packed, tiles.scales, tiles.reaches, tiles.errors
    steps, groups = rows.shape[1], packed.shape[1]
    for tile in range(len(scales)):
        if tile % _CHECKED == 0:
            matters = False
            for i in range(first, last):
                matters |= lengths[i] * reaches[tile] >= floors[i] - margins[i]
            if not matters:
                return tile
        for block in range((last - first + ROWS - 1) // ROWS):
            top = tops[tile, block]
            place = (first // ROWS + block) * steps
            largest_products(rows, place, packed, tile * groups * steps * 4, steps, groups, top)
            for row in range(ROWS):
                i = first + block * ROWS + row
                if i < last:
                    off = _off(lengths[i], lost[i], reaches[tile], errors[tile])
                    floors[i] = max(floors[i], units[i] * scales[tile] * top[row] - off)
    return len(scales)


@njit
def _score_tile(i, tile, directions, tiles, floor, top, found):
    """Score in float64 the groups of a tile that can reach the floor; `found` is (best, next); the winner comes back,
    or -1 where nobody beats the best."""
    rows, packed, points, order = directions.packed, tiles.packed, tiles.points, tiles.order
    steps, groups, count = rows.shape[1], packed.shape[1], len(points)
    unit = directions.scales[i] * tiles.scales[tile]
    off = _off(directions.lengths[i], directions.errors[i], tiles.reaches[tile], tiles.errors[tile])
    y = directions.vectors[directions.order[i]]
    winner = -1
    for group in range(groups):
        start = tile * TILE + group * GROUP
        if start >= count:
            break
        place = (tile * groups + group) * steps * 4
        largest_products(rows, (i // ROWS) * steps, packed, place, steps, 1, top)
        if unit * top[i % ROWS] + off < floor:
            continue
        for j in order[start : min(start + GROUP, count)]:
            score = _product(y, points[j])
            if score > found[0]:
                found[1], found[0], winner = found[0], score, j
            elif score > found[1]:
                found[1] = score
    return winner


@njit_parallel(lambda directions, *_: -(-len(directions.scales) // TASK), is_python=False)
def find_floors(first_task, last_task, directions, tiles, floors):
    """Raise the floors to what each direction is sure to reach among these tiles."""
    margins = np.full(len(floors), np.inf)  # all tiles matter
    tops = np.empty((len(tiles.scales), TASK // ROWS, ROWS), np.int32)
    for task in range(first_task, last_task):
        first, last = task * TASK, min((task + 1) * TASK, len(floors))
        _read_tiles(first, last, directions, tiles, floors, margins, tops)


@njit_parallel(lambda directions, *_: -(-len(directions.scales) // TASK), is_python=False)
def search(first_task, last_task, directions, tiles, floors, margins, found):
    """For each direction the winner, its score and the next lower one, among all who could come within its margin."""
    scales, reaches, errors = tiles.scales, tiles.reaches, tiles.errors
    tops = np.empty((len(scales), TASK // ROWS, ROWS), np.int32)
    top, scores = np.empty(ROWS, np.int32), np.empty(2)
    for task in range(first_task, last_task):
        first, last = task * TASK, min((task + 1) * TASK, len(floors))
        read = _read_tiles(first, last, directions, tiles, floors, margins, tops)
        for i in range(first, last):
            floor, unit = floors[i] - margins[i], directions.scales[i]
            length, lost = directions.lengths[i], directions.errors[i]
            scores[:] = -np.inf
            winner = -1
            for tile in range(read):
                off = _off(length, lost, reaches[tile], errors[tile])
                if unit * scales[tile] * tops[tile, (i - first) // ROWS, i % ROWS] + off >= floor:
                    closer = _score_tile(i, tile, directions, tiles, floor, top, scores)
                    winner = closer if closer >= 0 else winner
            row = directions.order[i]
            found.winners[row], found.best[row], found.second[row] = winner, scores[0], scores[1]


# More than a length or an error can lose where squares underflow, in fewer than 2^40 dimensions.
_TINY_SLACK = 2.0**-480
# The outermost tiles give a first idea of how far in each direction has to look.
_FIRST_TILES = 4
# Rows that are scored in full, half of them short, to learn about how small the smallest lead is.
_SAMPLED = 32


def rounded(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> ArgmaxResult:
    """The contest: bytes name groups of points, float64 decides among them. A good guess for each row saves time."""
    directions = np.ascontiguousarray(directions)
    tiles = _Tiles.of(points)
    sure = np.full(len(directions), -np.inf)
    if guesses is not None:
        sure = np.einsum("ij,ij->i", directions, points[guesses] - tiles.centre)
    asked = _Directions.of(directions, np.arange(len(directions)), tiles, sure)
    # No lead can be the smallest that exceeds one we know: everybody has to look that far, and no further.
    sample = _sample(asked.rounded.lengths)
    known = score_all(directions[sample], points, slack[sample]).gap
    found = _search(asked.sorted_by_need(tiles), tiles, np.maximum(slack, known))
    leads = found.best - found.second
    contested = np.flatnonzero(leads <= slack)
    smallest = float(np.delete(leads, contested).min(initial=known))
    clear = ArgmaxResult.clear(found.winners, smallest, "rounded")
    return clear.with_rows(contested, score_all(directions[contested], points, slack[contested]))


def _above(dimension: int) -> float:
    """A factor far above the rounding in the bounds themselves, far below what matters to the time."""
    return 1 + 2.0**-40 + dimension * UNIT


def _sample(lengths: np.ndarray) -> np.ndarray:
    """Some of the rows: the shortest, which tend to have the smallest leads, and others here and there."""
    shortest = np.argpartition(lengths, min(_SAMPLED, len(lengths) - 1))[:_SAMPLED]
    return np.union1d(shortest, np.arange(0, len(lengths), -(-len(lengths) // _SAMPLED)))


@dataclass(frozen=True, eq=False)
class _Tiles:
    """Points as bytes, outermost first; no tile reaches further than one before it."""

    rounded: RoundedPoints
    centre: np.ndarray
    size: float  # at least |p - c| + |c| for every point p

    @classmethod
    def of(cls, points: np.ndarray) -> "_Tiles":
        points = np.ascontiguousarray(points)
        centre = points.mean(axis=0)
        order = np.argsort(-norms_above(points - centre), kind="stable")
        count = -(-len(points) // TILE)
        # Copies of the last point fill the last tile: they can win nothing that it does not win.
        order = np.concatenate([order, np.repeat(order[-1:], count * TILE - len(order))])
        steps = -(-points.shape[1] // STEP)
        packed = np.zeros((count, TILE // GROUP, steps, GROUP, STEP), dtype=np.int8)
        measured = RoundedPoints(points, order, packed, np.empty(count), np.empty(count), np.empty(count))
        round_points(measured, centre)
        above = _above(points.shape[1])
        reaches = np.maximum.accumulate(measured.reaches[::-1])[::-1] * above + _TINY_SLACK
        errors = measured.errors * above + reaches * 2.0**-45 + _TINY_SLACK
        size = float(reaches[0] + norms_above(centre[None])[0])
        return cls(measured._replace(reaches=reaches, errors=errors), centre, size)

    def outermost(self, count: int) -> RoundedPoints:
        """The first so many tiles."""
        points, order, *of_tiles = self.rounded
        return RoundedPoints(points, order, *(values[:count] for values in of_tiles))


@dataclass(frozen=True, eq=False)
class _Directions:
    """Directions as bytes, in an order that puts together those that have to look equally far in."""

    rounded: RoundedDirections
    floors: np.ndarray  # what each is sure to reach, with the centre taken out; up to `rounding`
    rounding: np.ndarray

    @classmethod
    def of(cls, vectors: np.ndarray, order: np.ndarray, tiles: _Tiles, sure: np.ndarray) -> "_Directions":
        count, steps = len(order), tiles.rounded.packed.shape[2]
        packed = np.zeros((-(-count // ROWS), steps, ROWS, STEP), dtype=np.int8)
        measured = RoundedDirections(vectors, order, packed, np.empty(count), np.empty(count), np.empty(count))
        round_directions(measured)
        above = _above(vectors.shape[1])
        lengths = measured.lengths * above + _TINY_SLACK
        errors = measured.errors * above + lengths * 2.0**-45 + _TINY_SLACK
        rounding = (2 * vectors.shape[1] + 8) * UNIT * lengths * tiles.size
        return cls(measured._replace(lengths=lengths, errors=errors), sure - rounding, rounding)

    def sorted_by_need(self, tiles: _Tiles) -> "_Directions":
        """The same, those first that need to look least far; the outermost tiles tell."""
        floors, lengths = self.floors, self.rounded.lengths
        find_floors(self.rounded, tiles.outermost(_FIRST_TILES), floors)
        need = np.divide(floors, lengths, out=np.zeros_like(floors), where=lengths > 0)
        order = np.argsort(-need, kind="stable")
        return _Directions.of(self.rounded.vectors, self.rounded.order[order], tiles, floors[order])


def _search(directions: _Directions, tiles: _Tiles, within: np.ndarray) -> Found:
    """Look at all who can come so close to the best of their row."""
    found = Found.empty(len(within))
    margins = within[directions.rounded.order] + 2 * directions.rounding
    search(directions.rounded, tiles.rounded, directions.floors, margins, found)
    return found
