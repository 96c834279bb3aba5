"""What works: the processor or a GPU. It decides how long a run takes, never what comes out."""

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from hardmax.checking import short
from hardmax.dynamics import Dynamics
from hardmax.engines.cpu.batch import BatchOutcome, Then, walk_batch
from hardmax.engines.cpu.device import CPU, Cpu
from hardmax.errors import InputError, need
from hardmax.tokens.batches import kind_of

LARGEST_SMALL_CLOUD = 2048


@dataclass(frozen=True)
class Gpu:
    """A graphics card, through torch and triton (extra `gpu`).

    Tokens stay on it, and those that came as tensors are given back there. A cloud that floats cannot prove goes to
    the processor.

    >>> Gpu()
    Gpu(device='cuda')
    """

    device: str = "cuda"

    def __post_init__(self) -> None:
        if not (isinstance(self.device, str) and re.fullmatch("cuda(:[0-9]{1,4})?|cpu", self.device)):
            raise InputError(f"`device` must be 'cuda', or one of several such as 'cuda:1', not {short(self.device)}.")

    def check(self, dimension: int) -> None:
        """Any dimension will do."""
        self.check_present()

    def check_present(self) -> None:
        """Refuse where there is no such GPU, or what drives it is not installed."""
        need("The GPU engine", "gpu")
        import torch  # pyright: ignore[reportMissingImports]

        if self.device.startswith("cuda") and (torch.device(self.device).index or 0) >= torch.cuda.device_count():
            raise InputError(f"`engine` {self!r}: torch finds no such device. Use engine=Cpu().")

    def limited(self) -> AbstractContextManager[None]:
        """What is left to the processor is done by all its cores."""
        return nullcontext()


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
    progress: Callable[[int, int], None] | None,
) -> BatchOutcome:
    """Walk many clouds in one kernel."""
    if isinstance(machine, Cpu):
        return walk_batch(tokens, offsets, dynamics, layers, then=then, progress=progress, cpu=machine)
    import torch  # pyright: ignore[reportMissingImports]

    from hardmax.engines.gpu.batch import walk_batch_gpu

    there = torch.from_numpy(np.ascontiguousarray(tokens)).to(machine.device)
    return walk_batch_gpu(there, offsets, dynamics, layers, then=then).to_numpy()
