"""Search through bytes, in many dimensions: points and directions rounded to bytes, whose products
name the few points to look at in float64.

Take the centre c out of the points, x = p - c: that changes all scores of a direction alike. Round
to bytes: x = s q + e for the points, with one scale s for a tile of points at similar distance from
the centre, and y = t r + f for a direction. Bytes are so small that 32 bits hold sums of d products
of them, also with 255 in place of one. So products are summed exactly, and

    |<y, x> - s t <r, q>| = |<f, x> + <y - f, e>| <= |f| X + (|y| + |f|) E,

where X >= |x| and E >= |e| for all points of the tile; |f|, X and E are measured, not estimated.
The largest product of a tile therefore gives what some point in it is sure to reach, and what none
in it exceeds. Only groups that can come within the slack of what is sure to be reached are scored
in float64. Tiles go from the outside in; where X |y| is below what is sure, the rest cannot matter.

The float64 scores that bytes stand for are off by rounding: u |y| X from taking the centre out,
gamma_d |y| |p| each from two ways of summing; (2 d + 8) u |y| (X + |c|) covers them.

`products` is written in LLVM's own language, because the instructions that matter (vpdpbusd on x86,
sdot on ARM: many products and their sums at once) have no name in Python; loops in numba, or
float32 in BLAS, take several times as long. A small search tells whether it works here."""

from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy._core._multiarray_umath import __cpu_features__ as features

from hardmax._float.argmax import ArgmaxResult, sample_rows, search_dense
from hardmax._float.bounds import UNIT, norms_above
from hardmax._kernels.compiling import njit, njit_parallel

# The intrinsic is called without the context that it is written with, and llvmlite has no types.
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false

ROWS = 8  # directions
LANES = 16  # points of a vector
GROUP = 2 * LANES  # points
STEP = 4  # coordinates
TILE = 128  # points
TASK = 32  # directions, so that a tile is read from memory once for all of them
_GROUPS = TILE // GROUP
_CHECKED = 4  # tiles after which it is checked whether the rest can matter
_TINY = 2.0**-500  # coordinates whose squares may underflow count as zero, and as error
# More than a length or an error can lose where squares underflow, in fewer than 2^40 dimensions.
_TINY_SLACK = 2.0**-480
# rows that are scored in full, half of them short, to learn about how small the smallest lead is
_SAMPLED = 32

ir = cgutils.ir
_INDEX, _NUMBER, _BYTE = ir.IntType(64), ir.IntType(32), ir.IntType(8)
_SUMS, _BYTES = ir.VectorType(_NUMBER, LANES), ir.VectorType(_BYTE, LANES * STEP)
_NONE = ir.Constant(_SUMS, ir.Undefined)


@cache
def instruction() -> str:
    """The best instruction for products of bytes that this processor is known to have."""
    if config.CPU_NAME not in (None, "host"):  # numba compiles for another processor
        return "plain"
    if features.get("AVX512VNNI") and features.get("AVX512BW"):
        return "vpdpbusd"
    return "sdot" if features.get("ASIMDDP") else "plain"


@intrinsic
def products(typingctx, rows, block, points, group, groups, steps, tops):
    """Write to `tops` the largest product of each of a block of ROWS rows with points of this many
    groups."""
    number = types.int64
    return types.void(rows, number, points, number, number, number, tops), _generate


def _generate(context, builder, signature, args):
    def pointer(number, kind):
        data = context.make_array(signature.args[number])(context, builder, args[number]).data
        return builder.bitcast(data, kind.as_pointer())

    def index(number):
        return ir.Constant(_INDEX, number)

    def variable(start):  # LLVM keeps all of these in registers
        return cgutils.alloca_once_value(builder, ir.Constant(_SUMS, [start] * LANES))

    words, points, out = pointer(0, _NUMBER), pointer(2, _BYTES), pointer(6, _NUMBER)
    steps, some, together = args[5], 4, 1  # rows, and vectors of points, at a time
    if instruction() == "vpdpbusd":  # has 32 registers, each as wide as a vector
        some, together = ROWS, GROUP // LANES
    first_word = builder.mul(builder.mul(args[1], steps), index(ROWS))
    for first_row in range(0, ROWS, some):
        tops = [variable(-(2**31)) for _ in range(some)]
        with cgutils.for_range(builder, args[4]) as group:
            first_point = builder.mul(builder.add(args[3], group.index), steps)
            for first in range(0, GROUP // LANES, together):
                totals = [[variable(0) for _ in range(together)] for _ in tops]
                for total in chain(*totals):
                    builder.store(ir.Constant(_SUMS, [0] * LANES), total)
                with cgutils.for_range(builder, steps) as step:
                    place = builder.add(first_point, step.index)
                    place = builder.mul(place, index(GROUP // LANES))
                    places = [builder.add(place, index(first + k)) for k in range(together)]
                    vectors = [builder.load(builder.gep(points, [at])) for at in places]
                    for vector in vectors:
                        vector.align = 1
                    word = builder.add(first_word, builder.mul(step.index, index(ROWS)))
                    for row, sums in enumerate(totals, first_row):
                        four = builder.load(builder.gep(words, [builder.add(word, index(row))]))
                        lane = builder.insert_element(_NONE, four, index(0))
                        four = builder.bitcast(_choose(builder, lane, [0] * LANES), _BYTES)
                        for vector, total in zip(vectors, sums, strict=True):
                            builder.store(_add(builder, builder.load(total), vector, four), total)
                for sums, top in zip(totals, tops, strict=True):
                    for total in sums:
                        one, other = builder.load(total), builder.load(top)
                        is_larger = builder.icmp_signed(">", one, other)
                        builder.store(builder.select(is_larger, one, other), top)
        for row, top in enumerate(tops, first_row):
            largest = _call(builder, "llvm.vector.reduce.smax.v16i32", _NUMBER, [builder.load(top)])
            builder.store(largest, builder.gep(out, [index(row)]))
    return context.get_dummy_value()


def _add(builder, sums, points, row):
    """Add to each of LANES sums STEP products of bytes."""
    if instruction() == "vpdpbusd":
        return _call(builder, "llvm.x86.avx512.vpdpbusd.512", _SUMS, [sums, points, row])
    if instruction() == "sdot":
        parts = []
        for first in range(0, LANES, 4):
            lanes, places = range(first, first + 4), range(STEP * first, STEP * (first + 4))
            part = [_choose(builder, sums, lanes)]
            part += [_choose(builder, some, places) for some in (points, row)]
            parts.append(_call(builder, "llvm.aarch64.neon.sdot.v4i32.v16i8", part[0].type, part))
        halves = [
            builder.shuffle_vector(*pair, _places(range(8))) for pair in (parts[:2], parts[2:])
        ]
        return builder.shuffle_vector(*halves, _places(range(LANES)))
    numbers = ir.VectorType(_NUMBER, LANES * STEP)
    each = builder.mul(builder.sext(points, numbers), builder.sext(row, numbers))
    while each.type.count > LANES:
        even, odd = (_choose(builder, each, range(i, each.type.count, 2)) for i in (0, 1))
        each = builder.add(even, odd)
    return builder.add(sums, each)


def _call(builder, name, result, arguments):
    kind = ir.FunctionType(result, [each.type for each in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _choose(builder, vector, places):
    """Some lanes of a vector."""
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), _places(places))


def _places(places):
    return ir.Constant(ir.VectorType(_NUMBER, len(places)), [*places])


class Rounded(NamedTuple):
    """Vectors as bytes, in groups: (groups, steps, vectors of a group, STEP); of those that share a
    scale, the largest length and error."""

    packed: np.ndarray
    scales: np.ndarray
    lengths: np.ndarray
    errors: np.ndarray


def rounded(vectors: np.ndarray, shared: int, group: int) -> Rounded:
    """Rows as bytes, `shared` of them with one scale, and in groups; zeros fill the last group."""
    count, d = vectors.shape
    parts = vectors.reshape(-1, shared, d)
    largest = np.abs(parts).max(axis=(1, 2))
    most = min(127.0, np.floor((2.0**31 - 1) / (255 * d)))
    scales = np.where(largest > _TINY, largest / most, 1.0)
    units = scales[:, None, None]
    whole = np.rint(parts / units)
    # A factor far above the rounding in the bounds themselves, far below what matters to the time.
    above = 1 + 2.0**-40 + d * UNIT
    lengths = norms_above(vectors).reshape(-1, shared).max(axis=1) * above + _TINY_SLACK
    missed = norms_above((parts - whole * units).reshape(count, d)).reshape(-1, shared)
    errors = missed.max(axis=1) * above + lengths * 2.0**-45 + _TINY_SLACK
    packed = np.zeros((count + -count % group, -(-d // STEP), STEP), dtype=np.int8)
    packed.reshape(len(packed), -1)[:count, :d] = whole.reshape(count, d)
    packed = packed.reshape(-1, group, *packed.shape[1:]).swapaxes(1, 2)
    return Rounded(np.ascontiguousarray(packed), scales, lengths, errors)


@njit
def _off(rows, i, tiles, tile):
    """How far a product of bytes can be from the score that it stands for."""
    error, errors = rows.errors[i], tiles.errors[tile]
    return error * tiles.lengths[tile] + (rows.lengths[i] + error) * errors


@njit
def _read(first, last, rows, shifts, tiles, floors, margins, tops, sums):
    """Fill `tops` with the largest products of tiles, one after the other, until no further one
    matters, and raise `floors` to what is sure to be reached; returns how many tiles were read."""
    steps = rows.packed.shape[1]
    for tile in range(len(tiles.scales)):
        matters = tile % _CHECKED > 0
        if not matters:
            for i in range(first, last):
                matters |= rows.lengths[i] * tiles.lengths[tile] >= floors[i] - margins[i]
        if not matters:
            return tile
        for start in range(first, last, ROWS):
            block = start // ROWS
            products(rows.packed, block, tiles.packed, tile * _GROUPS, _GROUPS, steps, sums)
            for i in range(start, min(start + ROWS, last)):
                top = sums[i - start] - shifts[i]
                sure = rows.scales[i] * tiles.scales[tile] * top
                tops[tile, i - first] = sure
                floors[i] = max(floors[i], sure - _off(rows, i, tiles, tile))
    return len(tiles.scales)


@njit_parallel(lambda vectors, points, rows, *_: -(-len(rows.scales) // TASK), is_python=False)
def _search(
    first_task, last_task, vectors, points, rows, shifts, tiles, floors, margins, winners, leads
):
    """For each direction find the furthest point, and its lead among all who could come within a
    margin."""
    tops, steps = np.empty((len(tiles.scales), TASK)), rows.packed.shape[1]
    sums = np.empty(ROWS, np.int32)
    for task in range(first_task, last_task):
        first, last = task * TASK, min((task + 1) * TASK, len(floors))
        read = _read(first, last, rows, shifts, tiles, floors, margins, tops, sums)
        for i in range(first, last):
            best, second, winner = -np.inf, -np.inf, -1
            for tile in range(read):
                least = floors[i] - margins[i] - _off(rows, i, tiles, tile)
                if tops[tile, i - first] < least:
                    continue
                unit = rows.scales[i] * tiles.scales[tile]
                for group in range(tile * _GROUPS, (tile + 1) * _GROUPS):
                    products(rows.packed, i // ROWS, tiles.packed, group, 1, steps, sums)
                    if unit * (sums[i % ROWS] - shifts[i]) < least:
                        continue
                    for j in range(group * GROUP, min((group + 1) * GROUP, len(points))):
                        score = 0.0
                        for axis in range(points.shape[1]):
                            score += vectors[i, axis] * points[j, axis]
                        if score > best:
                            second, best, winner = best, score, j
                        elif score > second:
                            second = score
            winners[i], leads[i] = winner, best - second


def search_rounded(directions: np.ndarray, points: np.ndarray, slack: np.ndarray) -> ArgmaxResult:
    """Search through bytes, and decide in float64."""
    count, d = directions.shape
    centre = points.mean(axis=0)
    outwards = np.argsort(-norms_above(points - centre), kind="stable")
    outer = points[outwards]
    # Copies of the last point fill the last tile: they can win nothing that it does not win.
    filled = np.concatenate([outer, np.repeat(outer[-1:], -len(outer) % TILE, axis=0)])
    tiles = rounded(filled - centre, TILE, GROUP)
    # No tile reaches further than one before it.
    tiles = tiles._replace(lengths=np.maximum.accumulate(tiles.lengths[::-1])[::-1].copy())
    lengths = norms_above(directions)
    size = float(tiles.lengths[0] + norms_above(centre[None])[0])
    rounding = (2 * d + 8) * UNIT * lengths * size
    # No lead can be the smallest that exceeds one we know: all have to look that far, and no
    # further.
    sample = sample_rows(lengths, _SAMPLED)
    known = search_dense(directions[sample], points, slack[sample]).gap
    margins = np.maximum(slack, known) + 2 * rounding
    # Directions that have to look equally far in go together; the outermost tile tells.
    floors = (directions @ (outer[:TILE] - centre).T).max(axis=1) - 2 * rounding
    order = np.argsort(-floors / lengths, kind="stable")
    some = directions[order]
    rows, shifts = rounded(some, 1, ROWS), np.zeros(count, dtype=np.int32)
    if instruction() == "vpdpbusd":  # takes points as bytes from 0 to 255, 128 more than they are
        tiles = tiles._replace(packed=tiles.packed ^ np.int8(-128))
        sums = rows.packed.sum(axis=(1, 3), dtype=np.int32)
        shifts = 128 * sums.reshape(-1)[:count]
    rows = rows._replace(packed=rows.packed.view(np.int32))
    winners, leads = np.empty(count, dtype=np.int64), np.empty(count)
    _search(some, outer, rows, shifts, tiles, floors[order], margins[order], winners, leads)
    winners[order], leads[order] = outwards[winners], leads.copy()
    contested = np.flatnonzero(leads <= slack)
    smallest = float(np.delete(leads, contested).min(initial=known))
    clear = ArgmaxResult.clear(winners, smallest, "rounded")
    return clear.left_to(search_dense, contested, directions, points, slack)


@cache
def works() -> bool:
    """Whether a search through bytes finds what all scores say, on this processor and with this
    numba."""
    points = np.random.default_rng(0).standard_normal((2 * TILE + 5, 3 * STEP + 1))
    try:
        found = search_rounded(points, points, np.zeros(len(points))).winners
    except Exception:  # whatever a numba that has changed may raise
        return False
    return np.array_equal(found, search_dense(points, points, np.zeros(len(points))).winners)
