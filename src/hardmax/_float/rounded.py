"""Search through bytes, in many dimensions: points and directions rounded to bytes, whose products
name the few points to look at in float64.

Take the centre c out of the points, x = p - c: that changes all scores of a direction alike. Round
to bytes: x = s q + e for the points, with one scale s for a tile of points at similar distance from
the centre, and y = t r + f for a direction. Bytes reach up to 127, or less where d is so large that
32 bits would not hold d products of these. So products are summed exactly, and

    |<y, x> - s t <r, q>| = |<f, x> + <y - f, e>| <= |f| X + (|y| + |f|) E,

where X >= |x| and E >= |e| for all points of the tile; |f|, X and E are measured, not estimated. A
tile's largest product therefore gives what some point in it is sure to reach, and what none in it
exceeds. Only groups of points that can come within the slack of what is sure to be reached are
scored in float64. Tiles go from the outside in; where X |y| is below what is sure, the rest cannot
matter.

The float64 scores that bytes stand for are off by rounding: u |y| X from taking the centre out,
gamma_d |y| |p| each from two ways of summing; (2 d + 8) u |y| (X + |c|) covers them.

`largest_products` is written in LLVM's own language, because the instructions that matter (sdot on
ARM, vpdpbusd and pmaddwd on x86: many products and their sums at once) have no name in Python;
loops in numba, or float32 in BLAS, take several times as long. They are called by name: what LLVM
makes of multiplications and additions changes from version to version."""

import platform
from pathlib import Path
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from hardmax._float.argmax import ArgmaxResult, sample_rows, score_all
from hardmax._float.bounds import UNIT, norms_above
from hardmax._kernels.compiling import njit, njit_parallel

# The intrinsic is called without the context that it is written with, and llvmlite has no types.
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false

ROWS = 4  # directions
GROUP = 16  # points
STEP = 4  # coordinates
TILE = 128  # points
TASK = 32  # directions, so that a tile is read from memory once for all of them
_GROUPS = TILE // GROUP
_TINY = 2.0**-500  # coordinates whose squares may underflow count as zero, and as error
# More than a length or an error can lose where squares underflow, in fewer than 2^40 dimensions.
_TINY_SLACK = 2.0**-480
_CHECKED = 4  # tiles after which it is checked whether the rest can matter
_FIRST_TILES = (
    4  # outermost tiles, which give a first idea of how far in each direction has to look
)
# rows that are scored in full, half of them short, to learn about how small the smallest lead is
_SAMPLED = 32

_INDEX, _NUMBER, _BYTE = ir.IntType(64), ir.IntType(32), ir.IntType(8)
_VECTORS = GROUP * STEP // 16
_SPAN = 16  # bytes, in which places are counted


class Instruction(NamedTuple):
    """How a processor multiplies bytes: `width` of them at once, into sums of `joined` products."""

    name: str
    width: int
    joined: int


SDOT = Instruction("sdot", 16, 4)
VPDPBUSD = Instruction("vpdpbusd", 64, 4)
PMADDWD = Instruction("pmaddwd", 16, 2)
PLAIN = Instruction("plain", 16, 4)  # whatever LLVM makes of multiplications and additions


def instructions() -> list[Instruction]:
    """Those that the processor has, the fastest first."""
    if config.CPU_NAME not in (None, "host"):  # numba compiles for another processor
        return [PLAIN]
    machine = platform.machine().lower()
    if machine in ("aarch64", "arm64"):
        features = Path("/proc/cpuinfo")
        listed = features.read_text() if features.exists() else ""
        has_sdot = "asimddp" in listed or platform.system() == "Darwin"
        return [SDOT, PLAIN] if has_sdot else [PLAIN]
    has = get_host_cpu_features()
    wanted = {VPDPBUSD: ("avx512vnni", "avx512bw"), PMADDWD: ("avx2",), PLAIN: ()}
    return [
        instruction for instruction, names in wanted.items() if all(has.get(name) for name in names)
    ]


def instruction() -> Instruction:
    """The fastest one."""
    return instructions()[0]


@intrinsic
def largest_products(typingctx, rows, first_row, points, first_point, steps, groups, out):
    """Write to `out` the largest product of each of ROWS rows with the points of so many groups.

    Bytes are (step, row, coordinate) and (group, step, point, coordinate), from a place on, counted
    in 16 bytes."""
    signature = types.void(rows, types.int64, points, types.int64, types.int64, types.int64, out)
    return signature, _generate


def _generate(context, builder, signature, args):
    def pointer(number, kind):
        data = context.make_array(signature.args[number])(context, builder, args[number]).data
        return builder.bitcast(data, kind.as_pointer())

    span = ir.VectorType(_BYTE, _SPAN)
    rows, points, out = pointer(0, span), pointer(2, span), pointer(6, _NUMBER)
    first_row, first_point, steps, groups = args[1], args[3], args[4], args[5]
    dot = _Products(builder, instruction(), rows, points, first_row, steps)
    stride = builder.mul(steps, ir.Constant(_INDEX, _VECTORS))  # from one group to the next
    if dot.kind is VPDPBUSD:  # a vector is a whole group; of two at a time neither has to wait
        with cgutils.for_range(builder, builder.udiv(groups, ir.Constant(_INDEX, 2))) as pair:
            place = builder.mul(pair.index, builder.add(stride, stride))
            place = builder.add(first_point, place)
            dot.multiply([place, builder.add(place, stride)])
        with cgutils.for_range(builder, builder.urem(groups, ir.Constant(_INDEX, 2))):
            last = builder.sub(groups, ir.Constant(_INDEX, 1))
            dot.multiply([builder.add(first_point, builder.mul(last, stride))])
    else:
        with cgutils.for_range(builder, groups) as group:
            place = builder.add(first_point, builder.mul(group.index, stride))
            parts = [builder.add(place, ir.Constant(_INDEX, v)) for v in range(_VECTORS)]
            at_once = _VECTORS if dot.kind is SDOT else 2  # as registers allow
            for first in range(0, _VECTORS, at_once):
                dot.multiply(parts[first : first + at_once])
    for row, top in enumerate(dot.largest()):
        builder.store(top, builder.gep(out, [ir.Constant(_INDEX, row)]))
    return context.get_dummy_value()


class _Products:
    """Code that multiplies the bytes of ROWS rows with those of points, and keeps the largest."""

    def __init__(self, builder, kind, rows, points, first_row, steps) -> None:
        self.builder, self.kind, self.points, self.steps = builder, kind, points, steps
        first = builder.gep(rows, [first_row])
        self.rows = builder.bitcast(first, _NUMBER.as_pointer())
        self.bytes = ir.VectorType(_BYTE, kind.width)
        self.lanes = kind.width // kind.joined
        self.sums = ir.VectorType(_NUMBER, self.lanes)
        self.tops = [self._variable(self._splat(-(2**31))) for _ in range(ROWS)]
        self.starts = self._starts()

    def _starts(self):
        """What the sums of each row begin with. Where points are taken as bytes from 0 to 255, 128
        more than they are, that is -128 times the sum of the row: sums that run over meanwhile come
        back, because they are taken modulo 2^32."""
        if self.kind is not VPDPBUSD:
            return [self._splat(0)] * ROWS
        builder = self.builder
        totals = [self._variable(ir.Constant(_NUMBER, 0)) for _ in range(ROWS)]
        with cgutils.for_range(builder, self.steps) as step:
            for row, total in enumerate(totals):
                four = builder.bitcast(self._word(step.index, row), ir.VectorType(_BYTE, STEP))
                for axis in range(STEP):
                    one = builder.extract_element(four, ir.Constant(_NUMBER, axis))
                    one = builder.sext(one, _NUMBER)
                    builder.store(builder.sub(builder.load(total), one), total)
        starts = [builder.mul(builder.load(each), ir.Constant(_NUMBER, 128)) for each in totals]
        return [self._broadcast(start, self.lanes) for start in starts]

    def multiply(self, places) -> None:
        """Multiply all rows with the vectors that begin at these places."""
        builder = self.builder
        sums = [[self._variable(start) for _ in places] for start in self.starts]
        with cgutils.for_range(builder, self.steps) as step:
            away = builder.mul(step.index, ir.Constant(_INDEX, _VECTORS))
            some = [self._points(builder.add(place, away)) for place in places]
            for row in range(ROWS):
                word = self._word(step.index, row)
                four = builder.bitcast(self._broadcast(word, self.kind.width // STEP), self.bytes)
                for total, point in zip(sums[row], some, strict=True):
                    builder.store(self._add(builder.load(total), point, four), total)
        for top, totals in zip(self.tops, sums, strict=True):
            for total in totals:
                one, other = builder.load(total), builder.load(top)
                if self.kind is PMADDWD:
                    # Both halves of a product: added here, once, and not at every step.
                    swapped = [lane ^ 1 for lane in range(self.lanes)]
                    one = builder.add(one, _choose(builder, one, swapped))
                larger = builder.icmp_signed(">", one, other)
                builder.store(builder.select(larger, one, other), top)

    def largest(self):
        """The largest product of each row."""
        name = f"llvm.vector.reduce.smax.v{self.lanes}i32"
        reduce = self._function(name, _NUMBER, [self.sums])
        return [self.builder.call(reduce, [self.builder.load(top)]) for top in self.tops]

    def _add(self, sums, some, direction):
        """Add to each sum the products of so many bytes."""
        builder = self.builder
        if self.kind is SDOT:
            name = "llvm.aarch64.neon.sdot.v4i32.v16i8"
            dot = self._function(name, self.sums, [self.sums, self.bytes, self.bytes])
            return builder.call(dot, [sums, some, direction])
        if self.kind is VPDPBUSD:
            name = "llvm.x86.avx512.vpdpbusd.512"
            dot = self._function(name, self.sums, [self.sums, self.bytes, self.bytes])
            return builder.call(dot, [sums, some, direction])
        if self.kind is PMADDWD:
            words = ir.VectorType(ir.IntType(16), self.kind.width)
            dot = self._function("llvm.x86.avx2.pmadd.wd", self.sums, [words, words])
            pair = [builder.sext(some, words), builder.sext(direction, words)]
            return builder.add(sums, builder.call(dot, pair))
        numbers = ir.VectorType(_NUMBER, self.kind.width)
        products = builder.mul(builder.sext(some, numbers), builder.sext(direction, numbers))
        for count in (16, 8):
            even, odd = (
                _choose(builder, products, list(range(first, count, 2))) for first in (0, 1)
            )
            products = builder.add(even, odd)
        return builder.add(sums, products)

    def _points(self, place):
        start = self.builder.gep(self.points, [place])
        loaded = self.builder.load(self.builder.bitcast(start, self.bytes.as_pointer()))
        loaded.align = 1
        if self.kind is VPDPBUSD:
            return self.builder.xor(loaded, ir.Constant(self.bytes, [-128] * self.kind.width))
        return loaded

    def _word(self, step, row):
        """The bytes of a row at a step, as one number."""
        place = self.builder.mul(step, ir.Constant(_INDEX, ROWS))
        place = self.builder.add(place, ir.Constant(_INDEX, row))
        loaded = self.builder.load(self.builder.gep(self.rows, [place]))
        loaded.align = 1
        return loaded

    def _broadcast(self, number, lanes):
        empty = ir.Constant(ir.VectorType(_NUMBER, lanes), ir.Undefined)
        first = self.builder.insert_element(empty, number, ir.Constant(_NUMBER, 0))
        return _choose(self.builder, first, [0] * lanes)

    def _splat(self, number):
        return ir.Constant(self.sums, [number] * self.lanes)

    def _variable(self, start):
        """LLVM keeps all of these in registers."""
        return cgutils.alloca_once_value(self.builder, start)

    def _function(self, name, returned, arguments):
        kind = ir.FunctionType(returned, arguments)
        return cgutils.get_or_insert_function(self.builder.module, kind, name)


def _choose(builder, vector, places):
    """Some lanes of a vector."""
    chosen = ir.Constant(ir.VectorType(_NUMBER, len(places)), places)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), chosen)


class Rounded(NamedTuple):
    """Rows of `vectors`, in some order, as bytes; of those that share a scale, the largest length
    and error."""

    vectors: np.ndarray  # (n, d)
    order: np.ndarray
    # int8, (rows, coordinates), or in groups (groups, steps, rows of a group and STEP coordinates)
    packed: np.ndarray
    scales: np.ndarray
    lengths: np.ndarray
    errors: np.ndarray


@njit_parallel(lambda rounded, *_: len(rounded.scales))
def _round_to_bytes(first, last, rounded, centre):
    """Round to bytes, scale by scale, the centre taken out."""
    vectors, order, packed, scales, lengths, errors = rounded
    d, shared = vectors.shape[1], len(order) // len(scales)
    # So many products of two of these still fit into 32 bits.
    largest_byte = min(127.0, np.floor(np.sqrt((2.0**31 - 1.0) / d)))
    for number in range(first, last):
        largest = 0.0
        for place in range(number * shared, (number + 1) * shared):
            for axis in range(d):
                largest = max(largest, abs(vectors[order[place], axis] - centre[axis]))
        unit = largest / largest_byte if largest > _TINY else 1.0
        longest, error = 0.0, 0.0
        for place in range(number * shared, (number + 1) * shared):
            length, missed = 0.0, 0.0
            for axis in range(d):
                value = vectors[order[place], axis] - centre[axis]
                whole = np.rint(value / unit)
                packed[place, axis] = np.int8(whole)
                length += value * value
                missed += (value - whole * unit) * (value - whole * unit)
            longest, error = max(longest, length), max(error, missed)
        scales[number], lengths[number], errors[number] = unit, np.sqrt(longest), np.sqrt(error)


@njit(inline="always")
def _off(length, error, reach, error_of_points):
    """How far a product of bytes can be from the score that it stands for."""
    return error * reach + (length + error) * error_of_points


@njit
def _read_tiles(first, last, directions, tiles, floors, margins, tops):
    """Fill `tops` tile after tile, until no further one matters, and raise `floors` to what is sure
    to be reached; returns how many tiles were read."""
    rows, units, lengths, lost = (
        directions.packed,
        directions.scales,
        directions.lengths,
        directions.errors,
    )
    packed, scales, reaches, errors = tiles.packed, tiles.scales, tiles.lengths, tiles.errors
    steps = rows.shape[1]
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
            largest_products(
                rows, place, packed, tile * _GROUPS * steps * _VECTORS, steps, _GROUPS, top
            )
            for row in range(ROWS):
                i = first + block * ROWS + row
                if i < last:
                    off = _off(lengths[i], lost[i], reaches[tile], errors[tile])
                    floors[i] = max(floors[i], units[i] * scales[tile] * top[row] - off)
    return len(scales)


@njit
def _score_tile(i, tile, directions, tiles, floor, top, found):
    """Score in float64 the groups of a tile that can reach the floor, into `found` (best, next);
    returns the new best or -1."""
    rows, packed, points, order = directions.packed, tiles.packed, tiles.vectors, tiles.order
    steps, count = rows.shape[1], len(points)
    unit = directions.scales[i] * tiles.scales[tile]
    off = _off(directions.lengths[i], directions.errors[i], tiles.lengths[tile], tiles.errors[tile])
    y = directions.vectors[directions.order[i]]
    winner = -1
    for group in range(tile * _GROUPS, (tile + 1) * _GROUPS):
        if group * GROUP >= count:
            break
        place = group * steps * _VECTORS
        largest_products(rows, (i // ROWS) * steps, packed, place, steps, 1, top)
        if unit * top[i % ROWS] + off < floor:
            continue
        for j in order[group * GROUP : min((group + 1) * GROUP, count)]:
            score = 0.0
            for axis in range(len(y)):
                score += y[axis] * points[j, axis]
            if score > found[0]:
                found[1], found[0], winner = found[0], score, j
            elif score > found[1]:
                found[1] = score
    return winner


@njit_parallel(lambda directions, *_: -(-len(directions.scales) // TASK), is_python=False)
def search(first_task, last_task, directions, tiles, floors, margins, winners, leads):
    """Raise the floors to what each direction is sure to reach among these tiles; and find the
    winners, if there is a place for them, and their leads, among all who could come within a
    margin."""
    scales, reaches, errors = tiles.scales, tiles.lengths, tiles.errors
    tops = np.empty((len(scales), TASK // ROWS, ROWS), np.int32)
    top, scores = np.empty(ROWS, np.int32), np.empty(2)
    for task in range(first_task, last_task):
        first, last = task * TASK, min((task + 1) * TASK, len(floors))
        read = _read_tiles(first, last, directions, tiles, floors, margins, tops)
        for i in range(first, min(last, len(winners))):
            floor, unit = floors[i] - margins[i], directions.scales[i]
            length, lost = directions.lengths[i], directions.errors[i]
            scores[0], scores[1], winner = -np.inf, -np.inf, -1
            for tile in range(read):
                off = _off(length, lost, reaches[tile], errors[tile])
                if unit * scales[tile] * tops[tile, (i - first) // ROWS, i % ROWS] + off >= floor:
                    closer = _score_tile(i, tile, directions, tiles, floor, top, scores)
                    winner = closer if closer >= 0 else winner
            winners[directions.order[i]], leads[directions.order[i]] = winner, scores[0] - scores[1]


def rounded(
    directions: np.ndarray, points: np.ndarray, slack: np.ndarray, guesses: np.ndarray | None = None
) -> ArgmaxResult:
    """Search through bytes, and decide in float64. A good guess for each row saves time."""
    directions, points = np.ascontiguousarray(directions), np.ascontiguousarray(points)
    count, d = directions.shape
    centre = points.mean(axis=0)
    tiles = _tiles(points, centre)
    sure = np.full(count, -np.inf)
    if guesses is not None:
        sure = np.einsum("ij,ij->i", directions, points[guesses] - centre)
    rows = _rounded(directions, np.arange(count), np.zeros(d), 1)
    # Of the sizes of points and centre together.
    size = float(tiles.lengths[0] + norms_above(centre[None])[0])
    rounding = (2 * d + 8) * UNIT * rows.lengths * size
    # Directions that have to look equally far in go together; the outermost tiles tell.
    floors = sure - rounding
    first_tiles = (values[:_FIRST_TILES] for values in tiles[3:])
    nobody, all_matter = np.empty(0, dtype=np.int64), np.full(count, np.inf)
    outermost = Rounded(*tiles[:3], *first_tiles)
    search(_in_groups(rows, ROWS), outermost, floors, all_matter, nobody, np.empty(0))
    order = np.argsort(-floors / rows.lengths, kind="stable")
    # No lead can be the smallest that exceeds one we know: everybody has to look that far, and no
    # further.
    sample = sample_rows(rows.lengths, _SAMPLED)
    known = score_all(directions[sample], points, slack[sample]).gap
    margins = np.maximum(slack, known) + 2 * rounding
    winners, leads = np.empty(count, dtype=np.int64), np.empty(count)
    rows = _in_groups(Rounded(directions, order, *(values[order] for values in rows[2:])), ROWS)
    search(rows, tiles, (floors - rounding)[order], margins[order], winners, leads)
    contested = np.flatnonzero(leads <= slack)
    smallest = float(np.delete(leads, contested).min(initial=known))
    clear = ArgmaxResult.clear(winners, smallest, "rounded")
    return clear.left_to(score_all, contested, directions, points, slack)


def _tiles(points: np.ndarray, centre: np.ndarray) -> Rounded:
    """Points as bytes, outermost first; no tile reaches further than one before it."""
    order = np.argsort(-norms_above(points - centre), kind="stable")
    # Copies of the last point fill the last tile: they can win nothing that it does not win.
    order = np.concatenate([order, np.repeat(order[-1:], -len(order) % TILE)])
    tiles = _in_groups(_rounded(points, order, centre, TILE), GROUP)
    # A copy is contiguous: for other layouts the kernels would be compiled once more.
    return tiles._replace(lengths=np.maximum.accumulate(tiles.lengths[::-1])[::-1].copy())


def _rounded(vectors: np.ndarray, order: np.ndarray, centre: np.ndarray, shared: int) -> Rounded:
    """Rows as bytes, of which so many share a scale."""
    count, d = len(order) // shared, vectors.shape[1]
    packed = np.zeros((len(order), -(-d // STEP) * STEP), dtype=np.int8)
    made = Rounded(vectors, order, packed, np.empty(count), np.empty(count), np.empty(count))
    _round_to_bytes(made, centre)
    # A factor far above the rounding in the bounds themselves, far below what matters to the time.
    above = 1 + 2.0**-40 + d * UNIT
    lengths = made.lengths * above + _TINY_SLACK
    return made._replace(
        lengths=lengths, errors=made.errors * above + lengths * 2.0**-45 + _TINY_SLACK
    )


def _in_groups(rows: Rounded, size: int) -> Rounded:
    """The bytes in groups of so many rows, STEP coordinates at a time; zeros fill the last
    group."""
    words = rows.packed.view(np.int32)
    words = np.concatenate([words, np.zeros((-len(words) % size, words.shape[1]), dtype=np.int32)])
    words = words.reshape(-1, size, words.shape[1]).transpose(0, 2, 1)
    return rows._replace(packed=np.ascontiguousarray(words).view(np.int8))
