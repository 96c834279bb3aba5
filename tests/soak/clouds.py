"""Clouds that are hard on proofs: nearly flat, nearly round, clustered, far out, of every scale,
full of ties.

Each kind is a function of a random generator, the number of tokens n and the dimension d, and gives
float64 tokens of shape (n, d), finite, in any order. Parameters (directions, thickness, offsets,
outliers) are drawn along with it."""

from collections.abc import Callable
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

Maker: TypeAlias = Callable[[Generator, int, int], np.ndarray]


def magnitude(rng: Generator, low: float, high: float) -> float:
    """A power of ten with an exponent between the two."""
    return 10.0 ** rng.uniform(low, high)


def unit_vector(rng: Generator, d: int) -> np.ndarray:
    vector = rng.standard_normal(d)
    return vector / np.linalg.norm(vector)


def rotation(rng: Generator, d: int) -> np.ndarray:
    """An orthogonal matrix up to rounding."""
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def offset(rng: Generator, d: int) -> np.ndarray:
    """Through the origin, or beside it, near or far."""
    return rng.choice([0.0, 0.0, 1e-9, 1e-3, 1.0, 1e3]) * rng.standard_normal(d)


def parameters(rng: Generator, n: int) -> np.ndarray:
    """Places along a line, (n, 1): anywhere, in steps, or crowded at the ends."""
    match rng.integers(3):
        case 0:
            return rng.standard_normal((n, 1))
        case 1:
            return rng.permutation(n)[:, None] / max(1, n - 1)
        case _:
            return np.cos(rng.uniform(0, np.pi, (n, 1)))


def with_outliers(rng: Generator, cloud: np.ndarray, most: int = 5) -> np.ndarray:
    """The cloud with up to so many of its tokens, at least one left, put elsewhere."""
    count = min(int(rng.integers(most + 1)), len(cloud) - 1)
    rows = rng.choice(len(cloud), size=count, replace=False)
    size = np.abs(cloud).max() * rng.choice([1e-3, 1.0, 3.0, 100.0])
    cloud[rows] = size * rng.standard_normal((count, cloud.shape[1]))
    return cloud


def plain(rng: Generator, n: int, d: int) -> np.ndarray:
    """Another kind, of ordinary size."""
    return PLAIN[rng.integers(len(PLAIN))](rng, n, d)


# Nearly flat.


def line(rng: Generator, n: int, d: int) -> np.ndarray:
    """A line up to rounding, in any direction, through the origin or beside it, with outliers."""
    return with_outliers(rng, parameters(rng, n) * unit_vector(rng, d) + offset(rng, d))


def regression(rng: Generator, n: int, d: int) -> np.ndarray:
    """x, and a x + b in the other coordinates: data as they come, with outliers."""
    x = parameters(rng, n) * magnitude(rng, -2, 3)
    slopes = rng.normal(0, 2, d).round(rng.integers(1, 5))
    start = rng.normal(0, 2, d).round(rng.integers(0, 4))
    slopes[0], start[0] = 1.0, 0.0
    return with_outliers(rng, slopes * x + start)


def flat(rng: Generator, n: int, d: int) -> np.ndarray:
    """Few dimensions within more, up to rounding or a little thickness."""
    rank = int(rng.integers(1, max(2, d)))
    cloud = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + offset(rng, d)
    thickness = rng.choice([0.0, magnitude(rng, -17, -6)])
    return with_outliers(rng, cloud + thickness * rng.standard_normal((n, d)))


def anisotropic(rng: Generator, n: int, d: int) -> np.ndarray:
    """Gaussian or a sphere, thin along some axes, turned."""
    widths = np.where(rng.random(d) < 0.5, 1.0, magnitude(rng, -12, -4))
    return ((gaussian, sphere)[rng.integers(2)](rng, n, d) * widths) @ rotation(rng, d)


# Nearly round.


def gaussian(rng: Generator, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d))


def sphere(rng: Generator, n: int, d: int) -> np.ndarray:
    """Points of a circle or sphere up to rounding or a thickness, around the origin or
    elsewhere."""
    cloud = rng.standard_normal((n, d))
    if d == 2 and rng.random() < 0.5:
        turns = 2 * np.pi * (np.arange(n) + rng.random()) / n
        cloud = np.column_stack([np.cos(turns), np.sin(turns)])
    thickness = rng.choice([0.0, magnitude(rng, -16, -3)])
    cloud *= 1 + thickness * rng.standard_normal((n, 1))
    return cloud / np.linalg.norm(cloud, axis=1, keepdims=True) + offset(rng, d)


def antipodal(rng: Generator, n: int, d: int) -> np.ndarray:
    """Each token and its opposite, exactly or up to rounding."""
    half = plain(rng, (n + 1) // 2, d)
    ulps = rng.integers(2) * rng.integers(-1, 2, (len(half), 1))
    return np.concatenate([half, -half * (1 + 2.0**-52 * ulps)])[:n]


# Of every scale.


def scaled(rng: Generator, n: int, d: int) -> np.ndarray:
    """Another kind, from 1e-150 to 1e150 in size."""
    return plain(rng, n, d) * magnitude(rng, -150, 150)


def extreme(rng: Generator, n: int, d: int) -> np.ndarray:
    """Near the largest numbers there are, or near the smallest normal ones."""
    cloud = plain(rng, n, d)
    return cloud / (np.abs(cloud).max() or 1.0) * 10.0 ** rng.choice([-300, 300])


def subnormal(rng: Generator, n: int, d: int) -> np.ndarray:
    """Numbers below 2^-1022, whose last bits are gone; now and then one token that is not."""
    cloud = rng.standard_normal((n, d)) * rng.choice([2.0**-1030, 2.0**-1060, 2.0**-1072])
    return with_outliers(rng, cloud, most=2)


def far_out(rng: Generator, n: int, d: int) -> np.ndarray:
    """One token, or a few, 1e6 to 1e14 times as far out, or 1e150 times."""
    cloud = plain(rng, n, d) * rng.choice([1.0, 1e-150])
    rows = rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False)
    cloud[rows] *= rng.choice([magnitude(rng, 6, 14), 1e150])
    return cloud


def spread(rng: Generator, n: int, d: int) -> np.ndarray:
    """Norms spread over up to 280 powers of ten."""
    reach = rng.choice([5.0, 20.0, 140.0])
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-reach, reach, (n, 1))


def shifted(rng: Generator, n: int, d: int) -> np.ndarray:
    """Another kind, far from the origin: what tells tokens apart is in their last digits."""
    return plain(rng, n, d) + magnitude(rng, 4, 15) * unit_vector(rng, d)


# Clustered.


def clusters(rng: Generator, n: int, d: int) -> np.ndarray:
    """Crowds around a few places, 1e-9 wide or a few bits."""
    places = rng.standard_normal((int(rng.integers(1, 12)), d))
    width = rng.choice([magnitude(rng, -10, -8), magnitude(rng, -16, -14)])
    return places[rng.integers(len(places), size=n)] + width * rng.standard_normal((n, d))


def neighbours(rng: Generator, n: int, d: int) -> np.ndarray:
    """Tokens and copies of them that differ in the last bit."""
    cloud = plain(rng, max(1, n // int(rng.integers(2, 5))), d)
    copies = cloud[rng.integers(len(cloud), size=n)]
    toward = np.where(rng.random((n, d)) < 0.5, -np.inf, np.inf)
    return np.where(rng.random((n, d)) < 0.5, copies, np.nextafter(copies, toward))


# Full of ties.


def whole_numbers(rng: Generator, n: int, d: int) -> np.ndarray:
    """Whole numbers, or hundredths of them, which floats do not have."""
    most = int(rng.choice([1, 3, 10, 100, 10**6]))
    return rng.integers(-most, most + 1, (n, d)) / rng.choice([1.0, 100.0])


def repeats(rng: Generator, n: int, d: int) -> np.ndarray:
    """Few places, many tokens, some at the origin: they attend to everybody."""
    places = plain(rng, max(1, min(n, int(rng.integers(1, 40)))), d)
    places[0] *= rng.choice([0.0, -0.0, 1.0])
    return places[rng.integers(len(places), size=n)]


def lattice(rng: Generator, n: int, d: int) -> np.ndarray:
    """Part of a lattice, its first two coordinates turned by the 3-4-5 angle: exactly (times 5), or
    rounded."""
    side = max(2, round(n ** (1 / min(d, 3))))
    cloud = np.zeros((n, d))
    axes = min(d, 3)
    numbers = rng.permutation(max(n, side**axes))[:n]
    for axis in range(axes):
        cloud[:, axis] = (numbers // side**axis) % (side + 1) - side // 2
    if d > 1:
        x, y = cloud[:, 0].copy(), cloud[:, 1].copy()
        cloud[:, 0], cloud[:, 1] = 3 * x - 4 * y, 4 * x + 3 * y
    return cloud * rng.choice([1.0, 0.2, 0.1])


def polygons(rng: Generator, n: int, d: int) -> np.ndarray:
    """Corners of a regular polygon or of a cube, midpoints of pairs of them, and tokens on the way
    there."""
    if d > 1 and rng.random() < 0.5:
        count = min(n, int(rng.integers(3, 40)))
        turns = 2 * np.pi * np.arange(count) / max(3, count)
        corners = np.zeros((count, d))
        corners[:, 0], corners[:, 1] = np.cos(turns), np.sin(turns)
    else:
        corners = np.array(list(product((1.0, -1.0), repeat=min(d, 5))))
        corners = np.hstack([corners, np.zeros((len(corners), d - corners.shape[1]))])
    if rng.random() < 0.5:
        corners = corners @ rotation(rng, d)
    pairs = corners[rng.integers(len(corners), size=(n, 2))]
    inner = pairs.mean(axis=1) * rng.choice([1.0, 0.5, 0.3], size=(n, 1))
    return np.concatenate([corners, inner])[:n]


PLAIN: tuple[Maker, ...] = (
    gaussian, line, regression, flat, sphere, clusters, whole_numbers, polygons,
)  # fmt: skip

KINDS: dict[str, Maker] = {maker.__name__: maker for maker in (
    line, regression, flat, anisotropic, gaussian, sphere, antipodal, scaled, extreme, subnormal,
    far_out, spread, shifted, clusters, neighbours, whole_numbers, repeats, lattice, polygons,
)}  # fmt: skip


def make(kind: str, rng: Generator, n: int, d: int) -> np.ndarray:
    """Tokens of a kind, shuffled."""
    # Products near the smallest numbers are meant to vanish.
    with np.errstate(under="ignore"):
        cloud = KINDS[kind](rng, n, d)
    return np.ascontiguousarray(cloud[rng.permutation(len(cloud))])
