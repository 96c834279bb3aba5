"""What searches rest on: exact turns, points that are surely inside, and bytes with measured
errors."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from hardmax._float import rounded as module
from hardmax._float.plane import _polygon_around, _turn
from hardmax._float.rounded import GROUP, ROWS, STEP, products, rounded

# Points so nearly in line that rounding alone would not tell on which side they are.
hairs = st.builds(lambda hair, e: hair * 2.0**-e, st.integers(-4, 4), st.integers(45, 54))
coordinates = st.builds(lambda whole, hair: whole + hair, st.integers(-3, 3), hairs)
places = st.tuples(coordinates, coordinates)


def exact_turn(a, b, c) -> int:
    exact = ([Fraction(x) for x in place] for place in (a, b, c))
    (ax, ay), (bx, by), (cx, cy) = exact
    turn = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return (turn > 0) - (turn < 0)


@given(st.lists(places, min_size=3, max_size=12, unique=True))
def test_a_polygon_turns_left_at_every_corner_and_has_everybody_on_its_left(several):
    points = np.array(several)
    assert np.sign(_turn(points, 0, 1, 2)) == exact_turn(*several[:3])
    around = _polygon_around(points, np.arange(len(points)))
    corners = points[around].tolist()
    for k in range(len(corners)):
        a, b, c = corners[k - 2], corners[k - 1], corners[k]
        assert len(corners) < 3 or exact_turn(a, b, c) > 0
        assert all(exact_turn(b, c, place) >= 0 for place in several)


def exact_square(a, b) -> Fraction:
    ways = [Fraction(x) - Fraction(y) for x, y in zip(a, b, strict=True)]
    return sum((way**2 for way in ways), Fraction(0))


SHAPES = [(8, 3, 4, 1.0), (2, 1, 1, 3.0), (300, 7, 20, 1.0), (20, 3, 5, 2.0**-530)]


@pytest.mark.parametrize(("n", "d", "shared", "size"), SHAPES)
def test_bytes_stand_for_vectors_up_to_errors_that_are_measured(n, d, shared, size):
    rng = np.random.default_rng(n)
    lengths = size * 10.0 ** rng.uniform(-3, 0, (n, 1))
    vectors = rng.standard_normal((n, d)) * lengths
    found = rounded(vectors, shared, GROUP)
    columns = found.packed.shape[1] * STEP
    packed = found.packed.swapaxes(1, 2).reshape(-1, columns)[:n, :d]
    for place, vector in enumerate(vectors.tolist()):
        number = place // shared
        scale = Fraction(float(found.scales[number]))
        error, length = found.errors[number], found.lengths[number]
        rounded_one = [scale * int(q) for q in packed[place]]
        assert exact_square(vector, rounded_one) <= Fraction(float(error)) ** 2
        assert exact_square(vector, [0] * d) <= Fraction(float(length)) ** 2
        # Half a byte off in every coordinate is the most, up to rounding.
        half = float(scale) * np.sqrt(d) * 0.51
        assert error <= half + 1e-12 * length or size < 1


INSTRUCTIONS = sorted({"plain", module.instruction()})


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
@pytest.mark.parametrize(("steps", "groups"), [(1, 1), (3, 2), (16, 7)])
def test_the_largest_products_are_those_of_whole_numbers(monkeypatch, instruction, steps, groups):
    monkeypatch.setattr(module, "instruction", lambda: instruction)
    bias = 128 if instruction == "vpdpbusd" else 0

    @njit
    def largest(rows, points, groups, steps, out):
        products(rows, 0, points, 0, groups, steps, out)  # pyright: ignore[reportCallIssue]

    rng = np.random.default_rng(steps)
    rows = rng.integers(-127, 128, (steps, ROWS, STEP)).astype(np.int8)
    points = rng.integers(-127, 128, (groups, steps, GROUP, STEP))
    rows[:, 0], points[0, :, 0] = -127, -127
    # Among the products there are positive ones, or all are as negative as can be.
    for those in (points, np.full_like(points, 127)):
        found = np.empty(ROWS, dtype=np.int32)
        largest(rows, (those + bias).astype(np.uint8), groups, steps, found)
        truth = np.einsum("src,gspc->rgp", rows.astype(np.int64), those + bias)
        largest_of_rows = truth.reshape(ROWS, -1).max(axis=1)
        assert found.tolist() == largest_of_rows.tolist()


def test_where_products_are_wrong_the_search_is_not_trusted(monkeypatch):
    assert module.works()
    monkeypatch.setattr(module, "_search", lambda *_: None)  # leaves whatever there was
    assert not module.works.__wrapped__()
    monkeypatch.setattr(module, "_search", lambda *_: 1 / 0)
    assert not module.works.__wrapped__()
