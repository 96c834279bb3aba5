"""Looking into a search while it works: how long each part takes."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from unittest.mock import patch

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
