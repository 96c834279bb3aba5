"""Batches of random clouds (clouds, n, d), each kind by its name."""

from collections.abc import Callable, Sequence

import numpy as np

Shape = tuple[int, int, int]


def gaussian(shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """Coordinates that are independent standard normal numbers."""
    return rng.standard_normal(shape)


def spherical(shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """Tokens uniform on the unit sphere, up to rounding."""
    tokens = rng.standard_normal(shape)
    return tokens / np.linalg.norm(tokens, axis=2, keepdims=True)


def cubic(shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """Tokens uniform in the cube from -1 to 1."""
    return rng.uniform(-1.0, 1.0, shape)


KINDS: dict[str, Callable[[Shape, np.random.Generator], np.ndarray]] = {
    "Gaussian": gaussian,
    "sphere": spherical,
    "cube": cubic,
}


def on_grid(clouds: Sequence[np.ndarray], step: float) -> list[np.ndarray]:
    """Clouds with coordinates rounded to multiples of a step, zero and repeated tokens taken out: the theorem's own.

    A cloud of which nothing is left is left out.

    >>> [cloud.tolist() for cloud in on_grid([np.array([[0.9, 0.1], [1.1, 0.0], [0.2, 0.2]])], 1.0)]
    [[[1.0, 0.0]]]
    """
    kept = []
    for cloud in clouds:
        tokens = np.unique(np.round(cloud / step) * step + 0.0, axis=0)
        tokens = tokens[(tokens != 0).any(axis=1)]
        if len(tokens):
            kept.append(tokens)
    return kept
