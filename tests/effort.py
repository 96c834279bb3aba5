"""How long property tests search: a part of it with every change, all of it in `make soak`."""

import os
from collections.abc import Iterable
from typing import TypeVar

Case = TypeVar("Case")
THOROUGH = bool(os.environ.get("HARDMAX_THOROUGH"))


def examples(many: int) -> int:
    """So many examples where there is time, at least seventy, or a twentieth of them, otherwise."""
    return many if THOROUGH else max(70, many // 20)


def interpreted(many: int) -> int:
    """The same for kernels of a GPU, which are interpreted where there is none: a third of them."""
    return many if THOROUGH else many // 3


def some(cases: Iterable[Case]) -> list[Case]:
    """All cases where there is time, every third of them otherwise."""
    return list(cases) if THOROUGH else list(cases)[::3]
