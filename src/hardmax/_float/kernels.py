"""Kernels in numba that several modules share: sums of products without error, facets."""

from contextlib import AbstractContextManager

from hardmax._kernels.compiling import interpreted, njit, njit_parallel

_SPLIT = 2.0**27 + 1
_SMALL = 2**14  # products of coordinates


@njit(inline="always")
def _add(a, b):
    """The sum and what rounding took from it (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@njit(inline="always")
def _multiply(a, b):
    """The product and what rounding took from it (Dekker); exact unless that underflows."""
    product = a * b
    shifted = _SPLIT * a
    a_high = shifted - (shifted - a)
    a_low = a - a_high
    shifted = _SPLIT * b
    b_high = shifted - (shifted - b)
    b_low = b - b_high
    return product, a_low * b_low - (
        ((product - a_high * b_high) - a_low * b_high) - a_high * b_low
    )


@njit
def add_product(a, b, parts, count):
    """Add a b to the sum of the first `count` parts, the smallest first; gives back how many parts
    there are then."""
    for part in _multiply(a, b):
        carried = part
        for i in range(count):
            carried, parts[i] = _add(carried, parts[i])
        parts[count] = carried
        count += 1
    return count


@njit
def leading_part(parts, count):
    """The largest part that is not 0: it has the sign of the sum. 0 if the sum is 0."""
    for i in range(count - 1, -1, -1):
        if parts[i] != 0.0:
            return parts[i]
    return 0.0


INSIDE_ROWS = 1024  # a task for a thread


@njit_parallel(lambda places, *_: -(-len(places) // INSIDE_ROWS))
def keep_well_inside(first, last, places, centre, square, facets, depth, marked):
    """Clear the marks of places not inside all facets by `depth`; all within the root of `square`
    are known to be."""
    count, dimension = places.shape
    for i in range(first * INSIDE_ROWS, min(last * INSIDE_ROWS, count)):
        if not marked[i]:
            continue
        away = 0.0
        for axis in range(dimension):
            away += (places[i, axis] - centre[axis]) ** 2
        if away <= square:
            continue
        for f in range(len(facets)):
            beyond = facets[f, dimension]
            for axis in range(dimension):
                beyond += facets[f, axis] * (places[i, axis] - centre[axis])
            if beyond > -depth:
                marked[i] = False
                break


def interpreted_if_small(tokens: int, dimension: int) -> AbstractContextManager[bool]:
    """A block in which the kernels for a small cloud run as Python, without waiting for numba."""
    return interpreted(keep_well_inside, if_small=tokens**2 * dimension <= _SMALL)
