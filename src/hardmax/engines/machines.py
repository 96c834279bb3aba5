"""What works: the processor or a GPU. It decides how long a run takes, never what comes out."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from hardmax.checking import short
from hardmax.dynamics import Dynamics
from hardmax.engines.cpu.batch import BatchOutcome, Then, walk_batch
from hardmax.engines.cpu.machine import CPU, Cpu
from hardmax.engines.gpu.machine import Gpu
from hardmax.errors import InputError
from hardmax.tokens.batches import kind_of

LARGEST_SMALL_CLOUD = 2048


Machine: TypeAlias = Cpu | Gpu


def machine_for(tokens: Any, asked: Machine | str | None) -> Machine:
    """The machine asked for; else the GPU for tensors that are on one, and the processor for all else."""
    if asked is not None:
        return _read_machine(asked)
    kind = kind_of(tokens)
    return Gpu(str(kind.device)) if kind is not None and kind.device.type == "cuda" else CPU


def _read_machine(asked: Any) -> Machine:
    if isinstance(asked, Cpu | Gpu):
        return asked
    if isinstance(asked, str) and asked in ("cpu", "gpu"):
        return CPU if asked == "cpu" else Gpu()
    raise InputError(f"`engine` must be Cpu(...), Gpu(), 'cpu', 'gpu' or None, not {short(asked)}.")


def takes_batch(machine: Machine, offsets: np.ndarray, dimension: int) -> bool:
    """Whether one kernel can walk all these clouds."""
    if isinstance(machine, Gpu):
        from hardmax.engines.gpu.batch import suits

        return suits(offsets, dimension)
    return int(np.diff(offsets).max()) <= LARGEST_SMALL_CLOUD


def walk_many(
    machine: Machine,
    tokens: np.ndarray,
    offsets: np.ndarray,
    dynamics: Dynamics,
    layers: int,
    then: Then,
    *,
    leave_long: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> BatchOutcome:
    """Walk many clouds in one kernel; `leave_long` and `progress` are for the processor."""
    if isinstance(machine, Cpu):
        return walk_batch(
            tokens, offsets, dynamics, layers, then=then, cpu=machine, leave_long=leave_long, progress=progress
        )
    import torch  # pyright: ignore[reportMissingImports]

    from hardmax.engines.gpu.batch import walk_batch_gpu

    there = torch.from_numpy(np.ascontiguousarray(tokens)).to(machine.device)
    return walk_batch_gpu(there, offsets, dynamics, layers, then=then).to_numpy()
