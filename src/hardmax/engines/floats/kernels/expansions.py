"""Sums of products of floats without error, as sums of floats that do not overlap (Shewchuk's expansions)."""

from hardmax.compiling import njit

_SPLIT = 2.0**27 + 1


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
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@njit
def add_product(a, b, parts, count):
    """Add a b to the sum of the first `count` parts, the smallest first; gives back how many parts there are then."""
    for part in _multiply(a, b):
        carried = part
        for i in range(count):
            carried, parts[i] = _add(carried, parts[i])
        parts[count] = carried
        count += 1
    return count


@njit
def leading_part(parts, count):
    """The largest part that is not 0: it has the sign of the sum, and nearly its size. 0 if the sum is 0."""
    for i in range(count - 1, -1, -1):
        if parts[i] != 0.0:
            return parts[i]
    return 0.0
