"""How long property tests search: a part of it with every change, all of it in `make soak`."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

Case = TypeVar("Case")
THOROUGH = bool(os.environ.get("HARDMAX_THOROUGH"))
HAS_GPU = Path("/dev/nvidiactl").exists()


def examples(many: int) -> int:
    """So many examples where there is time, at least fifty, or a twentieth of them, otherwise."""
    return many if THOROUGH else max(50, many // 20)


def on_gpu(many: int) -> int:
    """So many examples on a GPU, a fifth of them where its kernels are interpreted."""
    return many if THOROUGH or HAS_GPU else many // 5


def some(cases: Iterable[Case]) -> list[Case]:
    """All cases where there is time, every third of them otherwise."""
    return list(cases) if THOROUGH else list(cases)[::3]
