"""Engines and arithmetics by name: what computes the layers.

What works: the processor or a GPU. It decides how long a run takes, never what comes out.

What walks the layers.

The three arithmetics by name, each with the engines it tries in turn.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

import numpy as np

from hardmax._batch import BatchOutcome, Then, walk_batch
from hardmax._compile import interpreted
from hardmax._exact.argmax import by_all_scores
from hardmax._exact.positions import ExactPhase
from hardmax._exact.solver import ExactSolver
from hardmax._float.kernels import mark_furthest
from hardmax._float.phase import FloatPhase
from hardmax._float.policies import Proof, TieSlack
from hardmax._float.search import CPU, Cpu
from hardmax._float.solver import FloatSolver
from hardmax._gpu import Gpu
from hardmax._tokens.batches import as_array, kind_of
from hardmax._tokens.points import Points
from hardmax._validation import InputError, check_choice, shorten
from hardmax.dynamics import Dynamics

LARGEST_SMALL_CLOUD = 2048


Engine: TypeAlias = Cpu | Gpu


def machine_for(tokens: Any, asked: Engine | str | None) -> Engine:
    """The machine asked for; else the GPU for tensors that are on one, and the processor for all else."""
    if asked is not None:
        return _read_machine(asked)
    kind = kind_of(tokens)
    return Gpu(str(kind.device)) if kind is not None and kind.device.type == "cuda" else CPU


def _read_machine(asked: Any) -> Engine:
    if isinstance(asked, Cpu | Gpu):
        return asked
    if isinstance(asked, str) and asked in ("cpu", "gpu"):
        return CPU if asked == "cpu" else Gpu()
    raise InputError(f"`engine` must be Cpu(...), Gpu(), 'cpu', 'gpu' or None, not {shorten(asked)}.")


def takes_batch(machine: Engine, offsets: np.ndarray, dimension: int) -> bool:
    """Whether one kernel can walk all these clouds."""
    if isinstance(machine, Gpu):
        from hardmax._gpu.batch import suits

        return suits(offsets, dimension)
    return int(np.diff(offsets).max()) <= LARGEST_SMALL_CLOUD


def walk_many(
    machine: Engine,
    tokens: np.ndarray,
    offsets: np.ndarray,
    dynamics: Dynamics,
    layers: int,
    then: Then,
    *,
    leave_long: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> BatchOutcome:
    """Walk many clouds in one kernel; `leave_long` is for the processor. A GPU leaves tensors where they are."""
    if isinstance(machine, Cpu):
        here = as_array(tokens, "`tokens`")
        return walk_batch(
            here, offsets, dynamics, layers, then=then, cpu=machine, leave_long=leave_long, progress=progress
        )
    from hardmax._gpu.batch import walk_batch_gpu

    outcome = walk_batch_gpu(tokens, offsets, dynamics, layers, machine.device, then)
    if progress is not None:
        progress(len(offsets) - 1, len(offsets) - 1)
    return outcome


_SMALL = 2**14  # products of coordinates


class Solver(Protocol):
    """One way to walk."""

    @property
    def arithmetic(self) -> str:
        """`exact`, `certified` or `float`: what decides who attends to whom."""
        ...

    @property
    def machine(self) -> Engine:
        """What works for it."""
        ...

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[FloatPhase] | Iterator[ExactPhase]:
        """The phases from layer 0 on; ends after one that lasts for ever."""
        ...


def walk(solver: Solver, points: Points, dynamics: Dynamics) -> Iterator[FloatPhase | ExactPhase]:
    """The phases of a walk; those of a small cloud are worked out without waiting for numba."""
    phases = iter(solver.walk(points, dynamics))
    while True:
        with interpreted_if_small(points.count, points.dimension):
            phase = next(phases, None)
        if phase is None:
            return
        yield phase


def interpreted_if_small(tokens: int, dimension: int) -> AbstractContextManager[bool]:
    """A block in which the kernels for a small cloud run as Python."""
    return interpreted(mark_furthest, if_small=tokens**2 * dimension <= _SMALL, seconds=3.0)


ARITHMETICS = ("certified", "exact", "float")


def solvers_for(arithmetic: "str | TieSlack", machine: Engine) -> tuple[Solver, ...]:
    """The engines for a name, or for a tie slack of one's own.

    What floats cannot prove, `certified` decides by exact positions of the points concerned; a GPU hands the cloud to
    the processor. `exact` does without floats altogether, so that it can judge the others.
    """
    if not isinstance(arithmetic, TieSlack):
        check_choice(arithmetic, ARITHMETICS, "`arithmetic`", also=", or a TieSlack")
    if not isinstance(machine, Cpu):
        return _on_gpu(arithmetic, machine)
    match arithmetic:
        case "certified":
            return (FloatSolver("certified", Proof(), machine),)
        case "exact":
            return (ExactSolver(by_all_scores, machine=machine),)
        case "float":
            return (FloatSolver("float", TieSlack(), machine),)
    assert isinstance(arithmetic, TieSlack)
    return (FloatSolver("float", arithmetic, machine),)


def _on_gpu(arithmetic: "str | TieSlack", machine: Gpu) -> tuple[Solver, ...]:
    machine.check_present()
    if arithmetic != "certified":
        message = f"`arithmetic` {shorten(arithmetic)} has no GPU engine: use 'certified', or engine=Cpu()."
        raise InputError(message, argument="arithmetic")
    from hardmax._gpu.solver import GpuSolver

    return GpuSolver(machine), FloatSolver("certified", Proof())
