"""Looking into a search while it works: how long each part takes, and how much it really multiplies."""

# pyright: reportCallIssue=false
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from unittest.mock import patch

import numpy as np
from numba import njit, prange

from hardmax.engines.cpu.kernels.rounded import _CHECKED, TASK, TILE
from hardmax.engines.cpu.kernels.tiles import GROUP, ROWS, largest_products

Place = tuple[ModuleType, str]


@contextmanager
def timed_parts(parts: dict[str, list[Place]]) -> Iterator[dict[str, float]]:
    """Within this block functions of modules are timed; gives the seconds spent in each part so far."""
    spent = dict.fromkeys(parts, 0.0)

    def timed(part: str, function: Callable) -> Callable:
        def call(*args, **kwargs):
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                spent[part] += time.perf_counter() - start

        return call

    with ExitStack() as patches:
        for part, places in parts.items():
            for module, name in places:
                patches.enter_context(patch.object(module, name, timed(part, getattr(module, name))))
        yield spent


@contextmanager
def watched_search(module: ModuleType) -> Iterator[list[tuple]]:
    """Within this block each call of the kernel `search` leaves its seconds, its arguments and its last floors."""
    calls: list[tuple] = []
    kernel = module.search

    def search(*args):
        before = [value.copy() for value in args]
        start = time.perf_counter()
        kernel(*args)
        calls.append((time.perf_counter() - start, before, args[12].copy()))

    with patch.object(module, "search", search):
        yield calls


@njit(parallel=True, nogil=True)
def count_work(looks, look_scales, look_lengths, look_errors, tiles, scales, reaches, errors, floors, margins, count):
    """What the kernel `search` does, for each task: tiles read, groups looked at again, points scored in float64.

    The same loops without the float64 scores. `floors` end as they do there, which shows that they are the same.
    """
    rows, steps, groups = len(floors), looks.shape[1], tiles.shape[1]
    flat_looks, flat_tiles = looks.reshape(-1), tiles.reshape(-1)
    per_tile = groups * steps * 4
    tasks = (rows + TASK - 1) // TASK
    read, again, scored = np.zeros(tasks, np.int64), np.zeros(tasks, np.int64), np.zeros(tasks, np.int64)
    for task in prange(tasks):
        first, last = task * TASK, min((task + 1) * TASK, rows)
        tops = np.empty((len(scales), TASK // ROWS, ROWS), np.int32)
        top = np.empty(ROWS, np.int32)
        for tile in range(len(scales)):
            if tile % _CHECKED == 0:
                matter = False
                for i in range(first, last):
                    matter |= look_lengths[i] * reaches[tile] >= floors[i] - margins[i]
                if not matter:
                    break
            for block in range((last - first + ROWS - 1) // ROWS):
                at = tops[tile, block]
                place = (first // ROWS + block) * steps
                largest_products(flat_looks, place, flat_tiles, tile * per_tile, steps, groups, at)
                for row in range(min(ROWS, last - first - block * ROWS)):
                    i = first + block * ROWS + row
                    off = look_errors[i] * reaches[tile] + (look_lengths[i] + look_errors[i]) * errors[tile]
                    floors[i] = max(floors[i], look_scales[i] * scales[tile] * at[row] - off)
            read[task] += 1
        for i in range(first, last):
            block, row = (i - first) // ROWS, (i - first) % ROWS
            for tile in range(read[task]):
                off = look_errors[i] * reaches[tile] + (look_lengths[i] + look_errors[i]) * errors[tile]
                unit = look_scales[i] * scales[tile]
                if unit * tops[tile, block, row] + off < floors[i] - margins[i]:
                    continue
                for group in range(groups):
                    if tile * TILE + group * GROUP >= count:
                        break
                    again[task] += 1
                    place = tile * per_tile + group * steps * 4
                    largest_products(flat_looks, (i // ROWS) * steps, flat_tiles, place, steps, 1, top)
                    if unit * top[row] + off >= floors[i] - margins[i]:
                        scored[task] += min(GROUP, count - tile * TILE - group * GROUP)
    return read, again, scored
