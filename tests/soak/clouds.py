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
    """Places along a line, (n, 1): evenly spread, Gaussian, in steps, or crowded at the ends."""
    match rng.integers(4):
        case 0:
            return rng.uniform(-1, 1, (n, 1))
        case 1:
            return rng.standard_normal((n, 1))
        case 2:
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


# Nearly flat.


def line(rng: Generator, n: int, d: int) -> np.ndarray:
    """A line up to rounding, in any direction, through the origin or beside it, with outliers."""
    return with_outliers(rng, parameters(rng, n) * unit_vector(rng, d) + offset(rng, d))


def one_beside(rng: Generator, n: int, d: int) -> np.ndarray:
    """A line through the origin up to rounding, and one token beside it."""
    cloud = rng.uniform(-1, 1, (n, 1)) * unit_vector(rng, d)
    cloud[rng.integers(n)] = rng.choice([0.1, 1.0, 3.0]) * rng.standard_normal(d)
    return cloud


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
    """Gaussian, thin along some axes, straight or turned."""
    widths = np.where(rng.random(d) < 0.5, 1.0, magnitude(rng, -12, -4))
    cloud = rng.standard_normal((n, d)) * widths
    return cloud if rng.random() < 0.5 else cloud @ rotation(rng, d)


def curve(rng: Generator, n: int, d: int) -> np.ndarray:
    """Powers of a parameter: every token a corner, and hardly one."""
    t = rng.uniform(-1, 1, (n, 1)) * magnitude(rng, -8, 0)
    return (
        t ** np.arange(1, d + 1)
        if rng.random() < 0.5
        else t ** np.arange(1, d + 1) + offset(rng, d)
    )


# Nearly round.


def sphere(rng: Generator, n: int, d: int) -> np.ndarray:
    """Points of a circle or sphere up to rounding, around the origin or elsewhere."""
    cloud = rng.standard_normal((n, d))
    if d == 2 and rng.random() < 0.5:
        turns = 2 * np.pi * (np.arange(n) + rng.random()) / n
        cloud = np.column_stack([np.cos(turns), np.sin(turns)])
    return cloud / np.linalg.norm(cloud, axis=1, keepdims=True) + offset(rng, d)


def shell(rng: Generator, n: int, d: int) -> np.ndarray:
    """A sphere with a thickness between 1e-16 and 1e-3."""
    return sphere(rng, n, d) * (1 + magnitude(rng, -16, -3) * rng.standard_normal((n, 1)))


def ellipsoid(rng: Generator, n: int, d: int) -> np.ndarray:
    """A sphere with long and short axes, turned."""
    return (sphere(rng, n, d) * 10.0 ** rng.uniform(-9, 0, d)) @ rotation(rng, d)


def antipodal(rng: Generator, n: int, d: int) -> np.ndarray:
    """Each token and its opposite, exactly or up to rounding."""
    half = (gaussian, sphere, line)[rng.integers(3)](rng, (n + 1) // 2, d)
    other = (
        -half
        if rng.random() < 0.5
        else -half * (1 + 2.0**-52 * rng.integers(-1, 2, (len(half), 1)))
    )
    return np.concatenate([half, other])[:n]


# Of every scale.


def gaussian(rng: Generator, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d))


def scaled(rng: Generator, n: int, d: int) -> np.ndarray:
    """Another kind, from 1e-150 to 1e150 in size."""
    return PLAIN[rng.integers(len(PLAIN))](rng, n, d) * magnitude(rng, -150, 150)


def extreme(rng: Generator, n: int, d: int) -> np.ndarray:
    """Near the largest numbers there are, or near the smallest normal ones."""
    cloud = PLAIN[rng.integers(len(PLAIN))](rng, n, d)
    return cloud / (np.abs(cloud).max() or 1.0) * 10.0 ** rng.choice([-300, 300])


def subnormal(rng: Generator, n: int, d: int) -> np.ndarray:
    """Numbers below 2^-1022, whose last bits are gone; now and then one token that is not."""
    cloud = rng.standard_normal((n, d)) * rng.choice([2.0**-1030, 2.0**-1060, 2.0**-1072])
    return with_outliers(rng, cloud, most=2)


def far_out(rng: Generator, n: int, d: int) -> np.ndarray:
    """One token, or a few, 1e6 to 1e14 times as far out."""
    cloud = PLAIN[rng.integers(len(PLAIN))](rng, n, d)
    rows = rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False)
    cloud[rows] *= magnitude(rng, 6, 14)
    return cloud


def spread(rng: Generator, n: int, d: int) -> np.ndarray:
    """Norms spread over up to 280 powers of ten."""
    reach = rng.choice([5.0, 20.0, 140.0])
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-reach, reach, (n, 1))


def specks(rng: Generator, n: int, d: int) -> np.ndarray:
    """A cloud so small that squares of its distances vanish, and a few tokens of ordinary size."""
    cloud = rng.standard_normal((n, d)) * magnitude(rng, -175, -150)
    rows = rng.choice(n, size=min(n, int(rng.integers(5))), replace=False)
    cloud[rows] = rng.standard_normal((len(rows), d)) * rng.choice([1.0, 1e-30])
    return cloud


def shifted(rng: Generator, n: int, d: int) -> np.ndarray:
    """Another kind, far from the origin: what tells tokens apart is in their last digits."""
    cloud = PLAIN[rng.integers(len(PLAIN))](rng, n, d)
    return cloud + magnitude(rng, 4, 15) * unit_vector(rng, d)


# Clustered.


def clusters(rng: Generator, n: int, d: int) -> np.ndarray:
    """Crowds 1e-9 wide around a few places."""
    return _crowds(rng, n, d, magnitude(rng, -10, -8))


def tight_clusters(rng: Generator, n: int, d: int) -> np.ndarray:
    """Crowds 1e-15 wide: a few bits."""
    return _crowds(rng, n, d, magnitude(rng, -16, -14))


def _crowds(rng: Generator, n: int, d: int, width: float) -> np.ndarray:
    places = rng.standard_normal((int(rng.integers(1, 12)), d))
    return places[rng.integers(len(places), size=n)] + width * rng.standard_normal((n, d))


def neighbours(rng: Generator, n: int, d: int) -> np.ndarray:
    """Tokens and copies of them that differ in the last bit."""
    cloud = PLAIN[rng.integers(len(PLAIN))](rng, max(1, n // int(rng.integers(2, 5))), d)
    copies = cloud[rng.integers(len(cloud), size=n)]
    toward = np.where(rng.random((n, d)) < 0.5, -np.inf, np.inf)
    return np.where(rng.random((n, d)) < 0.5, copies, np.nextafter(copies, toward))


# Full of ties.


def whole_numbers(rng: Generator, n: int, d: int) -> np.ndarray:
    most = int(rng.choice([1, 3, 10, 100, 10**6]))
    return rng.integers(-most, most + 1, (n, d)).astype(float)


def decimals(rng: Generator, n: int, d: int) -> np.ndarray:
    """Numbers with two decimals, which floats do not have."""
    return rng.normal(0, rng.choice([0.1, 1.0, 30.0]), (n, d)).round(2)


def repeats(rng: Generator, n: int, d: int) -> np.ndarray:
    """Few places, many tokens."""
    places = PLAIN[rng.integers(len(PLAIN))](rng, max(1, min(n, int(rng.integers(1, 40)))), d)
    return places[rng.integers(len(places), size=n)]


def with_zero(rng: Generator, n: int, d: int) -> np.ndarray:
    """Another kind, with tokens at the origin: they attend to everybody."""
    cloud = PLAIN[rng.integers(len(PLAIN))](rng, n, d)
    cloud[rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False)] = rng.choice(
        [0.0, -0.0]
    )
    return cloud


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
    if d == 2 or (d > 2 and rng.random() < 0.5):
        turns = 2 * np.pi * (np.arange(min(n, int(rng.integers(3, 40)))) / 1.0) / max(3, min(n, 40))
        corners = np.zeros((len(turns), d))
        corners[:, 0], corners[:, 1] = np.cos(turns), np.sin(turns)
    else:
        corners = np.array(list(product((1.0, -1.0), repeat=min(d, 5))))
        corners = np.hstack([corners, np.zeros((len(corners), d - corners.shape[1]))])
    if rng.random() < 0.5:
        corners = corners @ rotation(rng, d)
    pairs = corners[rng.integers(len(corners), size=(n, 2))]
    inner = pairs.mean(axis=1) * rng.choice([1.0, 0.5, 0.3], size=(n, 1))
    return np.concatenate([corners, inner])[:n]


def mixed(rng: Generator, n: int, d: int) -> np.ndarray:
    """Two kinds at once, one of them larger or smaller."""
    half = n // 2
    first, second = (PLAIN[i] for i in rng.integers(len(PLAIN), size=2))
    if not half:
        return first(rng, n, d)
    return np.concatenate([first(rng, n - half, d), second(rng, half, d) * magnitude(rng, -6, 6)])


# What other kinds are made from: all of ordinary size.
PLAIN: tuple[Maker, ...] = (
    gaussian, line, regression, flat, sphere, shell, clusters, whole_numbers, decimals, polygons,
)  # fmt: skip

KINDS: dict[str, Maker] = {maker.__name__: maker for maker in (
    line, one_beside, regression, flat, anisotropic, curve, sphere, shell, ellipsoid, antipodal,
    gaussian, scaled, extreme, subnormal, far_out, spread, specks, shifted, clusters,
    tight_clusters, neighbours, whole_numbers, decimals, repeats, with_zero, lattice, polygons,
    mixed,
)}  # fmt: skip


def make(kind: str, rng: Generator, n: int, d: int) -> np.ndarray:
    """Tokens of a kind, shuffled."""
    # Products near the smallest numbers are meant to vanish.
    with np.errstate(under="ignore"):
        cloud = KINDS[kind](rng, n, d)
    return np.ascontiguousarray(cloud[rng.permutation(len(cloud))])
