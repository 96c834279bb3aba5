"""The largest of many dot products of bytes, kept in vector registers.

`largest_products` is the inside of a search: four rows against groups of sixteen points, four bytes of each at a time.
It is written in LLVM's own language, because the instructions that matter (sdot on ARM, pmaddwd on x86: many products
and their sums at once) have no name in Python. Both are spelled so that every lane is defined: LLVM's general partial
reduction would leave open which products meet in which sum.
Nothing is rounded here: bytes must be so small that 32 bits hold their sums of products.
"""

# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
import platform
from pathlib import Path

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

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
