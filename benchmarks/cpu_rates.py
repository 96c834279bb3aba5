"""What the machine can do at most: products of bytes, of floats, and bytes to and from memory, each
a second."""

# torch is not part of the development environment.
# pyright: reportMissingImports=false, reportCallIssue=false
import time
from collections.abc import Callable

import numba
import numpy as np
import torch
from numba import njit, prange

from hardmax._float.rounded import GROUP, ROWS, STEP, TILE, products

TILES_IN_CACHE = 4


@njit(parallel=True, nogil=True)
def _products_in_cache(looks, tiles, steps, groups, threads, repeats):
    total = 0
    for thread in prange(threads):
        top = np.empty(ROWS, np.int32)
        for repeat in range(repeats):
            # Another tile each time, and its result kept: nothing can be left out.
            tile = (repeat + thread) % TILES_IN_CACHE
            products(looks, 0, tiles, tile * groups, groups, steps, top)
            total += top[0]
    return total


@njit(parallel=True, nogil=True)
def _triad(a, b, c):
    for i in prange(len(a)):
        a[i] = b[i] + 3.0 * c[i]


def byte_products(d: int, threads: int, repeats: int = 20_000) -> float:
    """Multiplications with addition a second in `products`: some directions and a few
    tiles, in the cache."""
    steps, groups = d // STEP, TILE // GROUP
    looks, tiles = np.ones(ROWS * d, np.int8), np.ones(TILES_IN_CACHE * TILE * d, np.int8)
    seconds = _on_threads(
        threads, lambda: _products_in_cache(looks, tiles, steps, groups, threads, repeats)
    )
    return threads * repeats * ROWS * TILE * d / seconds


def float_products(threads: int, size: int = 1024) -> float:
    """Multiplications with addition a second in torch's product of float32 matrices."""
    square = torch.ones((size, size))
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    seconds = _best(lambda: square @ square)
    torch.set_num_threads(before)
    return size**3 / seconds


def copied(length: int = 2**23) -> float:
    """Bytes a second, read and written, of numpy's copy of a large array."""
    source, target = np.ones(length), np.zeros(length)
    return 16 * length / _best(lambda: np.copyto(target, source))


def triad(threads: int, length: int = 2**23) -> float:
    """Bytes a second, read and written, of a = b + 3 c on large arrays."""
    a, b, c = np.zeros(length), np.ones(length), np.ones(length)
    return 24 * length / _on_threads(threads, lambda: _triad(a, b, c))


def _on_threads(threads: int, job: Callable[[], object]) -> float:
    before = numba.get_num_threads()
    numba.set_num_threads(threads)
    try:
        return _best(job)
    finally:
        numba.set_num_threads(before)


def _best(job: Callable[[], object], rounds: int = 40) -> float:
    """The shortest time: what the machine can do when nobody disturbs it."""
    job()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        job()
        seconds.append(time.perf_counter() - start)
    return min(seconds)
