"""What searches lay out before they look: bounds that hold exactly, for every point, and are hardly larger."""

from fractions import Fraction

import numpy as np
import pytest

from hardmax._float import rounded as module
from hardmax._float.bounds import norms_above
from hardmax._float.cones import in_blocks
from hardmax._float.kernels import WIDTH
from hardmax._float.rounded import _Directions, _sample, _Tiles
from hardmax._float.shells import _Outermost, _sorted_within

HARDLY = 1 + Fraction(1, 2**30)


def cloud(seed: int, n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 0, (n, 1)) + rng.integers(0, 3) * 10.0


def exact_square(a, b) -> Fraction:
    return sum(((Fraction(x) - Fraction(y)) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0))


def test_points_stand_in_blocks_coordinate_by_coordinate_and_zeros_after_the_last():
    points = cloud(3, 2 * WIDTH + 5, 3)
    blocks = in_blocks(points)
    assert blocks.shape == (3, 3, WIDTH)
    laid_out = blocks.transpose(0, 2, 1).reshape(-1, 3)
    assert np.array_equal(laid_out[: len(points)], points)
    assert not laid_out[len(points) :].any()
    assert in_blocks(points[:WIDTH]).shape[0] == 1


def test_groups_are_brought_into_order_one_by_one():
    found = _sorted_within(np.array([5, 3, 9, 1, 0, 2]), np.array([0, 2, 2, 6]))
    assert found.indices.tolist() == [3, 5, 0, 1, 2, 9]
    assert found.offsets.tolist() == [0, 2, 2, 6]


@pytest.mark.parametrize("count", [40, 300])
def test_from_each_block_on_nobody_is_further_out_than_its_reach(count):
    points = cloud(4, 300, 3)
    centre = points.mean(axis=0)
    outermost = _Outermost.of(points, norms_above(points - centre), count)
    squares = [exact_square(place, centre.tolist()) for place in points.tolist()]
    inside = outermost.order.tolist()
    assert len(set(inside)) == count == outermost.shells.points
    assert np.array_equal(outermost.shells.blocks, in_blocks(points[outermost.order]))
    size = Fraction(float(np.abs(points).max()))
    assert len(outermost.shells.reach) == -(-count // WIDTH) + 1
    for block, reach in enumerate(outermost.shells.reach.tolist()):
        left = set(range(300)) - set(inside[: block * WIDTH])
        if not left:
            assert reach == -np.inf
            continue
        furthest = max(squares[j] for j in left)
        assert furthest <= Fraction(reach) ** 2
        assert Fraction(reach) <= Fraction(float(furthest) ** 0.5) * HARDLY + size / 2**38


@pytest.mark.parametrize(
    ("n", "d", "size"), [(1, 3, 1.0), (2, 1, 1.0), (2, 1, 3.0), (128, 4, 1.0), (300, 7, 1.0), (20, 3, 2.0**-530)]
)
def test_bytes_stand_for_points_and_directions_up_to_errors_that_are_measured(n, d, size):
    points = cloud(5, n, d) * size
    tiles = _Tiles.of(points)
    rounded, centre = tiles.rounded, tiles.centre
    assert np.array_equal(np.unique(rounded.order), np.arange(n))
    as_bytes = rounded.packed.transpose(0, 1, 3, 2, 4).reshape(len(rounded.scales) * 128, -1)[:, :d]
    assert np.abs(as_bytes.astype(int)).max() <= 127
    assert (np.diff(rounded.reaches) <= 0).all()
    reach_of_centre = exact_square(centre.tolist(), [0.0] * d)
    for place, j in enumerate(rounded.order.tolist()):
        tile = place // 128
        seen = [Fraction(x) - Fraction(c) for x, c in zip(points[j].tolist(), centre.tolist(), strict=True)]
        told = [Fraction(float(rounded.scales[tile])) * int(q) for q in as_bytes[place]]
        assert exact_square(seen, told) <= Fraction(float(rounded.errors[tile])) ** 2
        length = exact_square(seen, [0] * d)
        assert length <= Fraction(float(rounded.reaches[tile])) ** 2
        assert float(length) ** 0.5 + float(reach_of_centre) ** 0.5 <= tiles.size * (1 + 1e-15)
    # Half a byte off in every coordinate is the most, up to rounding.
    assert (
        rounded.errors <= rounded.scales * np.sqrt(d) / 2 * (1 + 1e-9) + rounded.reaches * 2.0**-44 + 2.0**-478
    ).all() or size < 1
    vectors = cloud(6, 9, d) * size
    asked = _Directions.of(vectors, np.arange(9)[::-1], tiles, np.zeros(9))
    as_bytes = asked.rounded.packed.transpose(0, 2, 1, 3).reshape(12, -1)[:, :d]
    for place, i in enumerate(asked.rounded.order.tolist()):
        told = [Fraction(float(asked.rounded.scales[place])) * int(q) for q in as_bytes[place]]
        vector = [Fraction(x) for x in vectors[i].tolist()]
        assert exact_square(vector, told) <= Fraction(float(asked.rounded.errors[place])) ** 2
        length = exact_square(vector, [0] * d)
        assert length <= Fraction(float(asked.rounded.lengths[place])) ** 2
        if size >= 1:
            derived = (2 * d + 8) * Fraction(1, 2**53) * Fraction(float(length) ** 0.5) * Fraction(tiles.size)
            assert derived * (1 - Fraction(1, 2**50)) <= Fraction(float(asked.rounding[place])) <= derived * HARDLY
            assert asked.rounded.errors[place] <= asked.rounded.scales[place] * np.sqrt(d) * 0.51 + 1e-12
    assert (asked.floors == -asked.rounding).all()


def test_points_that_are_all_at_the_centre_are_zero_as_bytes():
    tiles = _Tiles.of(np.ones((5, 3)))
    assert not tiles.rounded.packed.any()
    assert 0 < tiles.rounded.errors[0] < 1e-12
    assert tiles.size >= np.sqrt(3)


def test_floors_rise_to_what_is_sure_to_be_reached_and_needs_are_sorted(monkeypatch):
    monkeypatch.setattr(module, "_FIRST_TILES", 1)
    points, vectors = cloud(7, 300, 5), cloud(8, 40, 5)
    tiles = _Tiles.of(points)
    asked = _Directions.of(vectors, np.arange(40), tiles, np.full(40, -np.inf)).sorted_by_need(tiles)
    scores = vectors @ (points - tiles.centre).T
    best = scores.max(axis=1)[asked.rounded.order]
    assert (asked.floors <= best + 1e-12).all()
    off = (asked.rounded.lengths * tiles.rounded.errors[0] + asked.rounded.errors * tiles.rounded.reaches[0]) * 3
    assert (asked.floors >= scores[:, tiles.rounded.order[:128]].max(axis=1)[asked.rounded.order] - off).all()
    need = asked.floors / asked.rounded.lengths
    assert (np.diff(need) <= 1e-9).all()


def test_the_sample_of_rows_has_the_shortest_and_some_of_all():
    lengths = np.random.default_rng(9).uniform(1, 2, 1000)
    sample = _sample(lengths)
    assert set(np.argsort(lengths)[:32].tolist()) <= set(sample.tolist())
    assert 0 in sample
    assert np.diff(sample).max() <= 32
    assert len(sample) <= 66
    assert _sample(np.ones(3)).tolist() == [0, 1, 2]
