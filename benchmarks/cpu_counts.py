"""Looking into a search while it works: how long each part takes, and how much it really
multiplies."""

# pyright: reportCallIssue=false
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from unittest.mock import patch

import numpy as np
from numba import njit, prange

from hardmax._float.rounded import _CHECKED, GROUP, ROWS, TASK, TILE, largest_products

Place = tuple[ModuleType, str]


@contextmanager
def timed_parts(parts: dict[str, list[Place]]) -> Iterator[dict[str, float]]:
    """Within this block functions of modules are timed; gives the seconds spent in each part so
    far."""
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
                patches.enter_context(
                    patch.object(module, name, timed(part, getattr(module, name)))
                )
        yield spent


@contextmanager
def watched_search(module: ModuleType) -> Iterator[list[tuple]]:
    """Within this block each call of the kernel `search` for winners leaves its seconds, its
    directions, tiles, floors and margins, and its last floors."""
    calls: list[tuple] = []
    kernel = module.search

    def search(directions, tiles, floors, margins, winners, leads):
        before = (directions, tiles, floors.copy(), margins)
        start = time.perf_counter()
        kernel(directions, tiles, floors, margins, winners, leads)
        if len(winners):
            calls.append((time.perf_counter() - start, before, floors.copy()))

    with patch.object(module, "search", search):
        yield calls


@njit(parallel=True, nogil=True)
def count_work(directions, tiles, floors, margins):
    """What the kernel `search` does, for each task: tiles read, groups looked at again, points
    scored in float64.

    The same loops without the float64 scores. `floors` end as they do there, which shows that they
    are the same."""
    rows, steps, groups, count = (
        len(floors),
        directions.packed.shape[1],
        TILE // GROUP,
        len(tiles.vectors),
    )
    lengths, lost, scales, reaches = (
        directions.lengths,
        directions.errors,
        tiles.scales,
        tiles.lengths,
    )
    flat_rows, flat_tiles = directions.packed.reshape(-1), tiles.packed.reshape(-1)
    per_tile = groups * steps * 4
    tasks = (rows + TASK - 1) // TASK
    read, again, scored = (
        np.zeros(tasks, np.int64),
        np.zeros(tasks, np.int64),
        np.zeros(tasks, np.int64),
    )
    for task in prange(tasks):
        first, last = task * TASK, min((task + 1) * TASK, rows)
        tops = np.empty((len(scales), TASK // ROWS, ROWS), np.int32)
        top = np.empty(ROWS, np.int32)
        for tile in range(len(scales)):
            if tile % _CHECKED == 0:
                matter = False
                for i in range(first, last):
                    matter |= lengths[i] * reaches[tile] >= floors[i] - margins[i]
                if not matter:
                    break
            for block in range((last - first + ROWS - 1) // ROWS):
                at = tops[tile, block]
                place = (first // ROWS + block) * steps
                largest_products(flat_rows, place, flat_tiles, tile * per_tile, steps, groups, at)
                for row in range(min(ROWS, last - first - block * ROWS)):
                    i = first + block * ROWS + row
                    off = lost[i] * reaches[tile] + (lengths[i] + lost[i]) * tiles.errors[tile]
                    floors[i] = max(floors[i], directions.scales[i] * scales[tile] * at[row] - off)
            read[task] += 1
        for i in range(first, last):
            block, row = (i - first) // ROWS, (i - first) % ROWS
            for tile in range(read[task]):
                off = lost[i] * reaches[tile] + (lengths[i] + lost[i]) * tiles.errors[tile]
                unit = directions.scales[i] * scales[tile]
                if unit * tops[tile, block, row] + off < floors[i] - margins[i]:
                    continue
                for group in range(groups):
                    if tile * TILE + group * GROUP >= count:
                        break
                    again[task] += 1
                    place = tile * per_tile + group * steps * 4
                    largest_products(
                        flat_rows, (i // ROWS) * steps, flat_tiles, place, steps, 1, top
                    )
                    if unit * top[row] + off >= floors[i] - margins[i]:
                        scored[task] += min(GROUP, count - tile * TILE - group * GROUP)
    return read, again, scored
