"""Engines (the processor or a GPU) and arithmetics by name: what computes the layers, never what
comes out."""

from typing import TYPE_CHECKING, Any, TypeAlias

from hardmax._common.validation import InputError, shorten
from hardmax._exact.general import GeneralSolver
from hardmax._float.general import FloatGeneralSolver
from hardmax._float.search import CPU, Cpu
from hardmax._float.solver import FloatSolver
from hardmax._gpu import Gpu
from hardmax._tokens.batches import kind_of

if TYPE_CHECKING:
    from hardmax._gpu.solver import GpuSolver

__all__ = ["ARITHMETICS", "Cpu", "Engine", "Gpu"]

Engine = Cpu | Gpu
"""What `engine=` takes, `Cpu` or `Gpu`; it changes how long a run takes, never its result.

>>> import hardmax as hm
>>> one_thread = hm.Cpu(threads=1)
>>> hm.limit([[1, 2], [3, 4]], hm.Dynamics(1), engine=one_thread).leaders.tolist()
[1]
"""
ARITHMETICS = ("certified", "exact", "float")
"""What `arithmetic=` takes: floats with a proof, integers alone, floats without a proof."""
Solver: TypeAlias = "FloatSolver | GpuSolver | GeneralSolver | FloatGeneralSolver"


def engine_for(tokens: Any, asked: Engine | str | None) -> Engine:
    """The engine asked for; else the GPU for tensors that are on one, and the processor for all
    else."""
    if asked is None:
        kind = kind_of(tokens)
        if kind is None or kind.device.type != "cuda":
            return CPU
        return Gpu(str(kind.device))
    if isinstance(asked, Cpu | Gpu):
        return asked
    if isinstance(asked, str) and asked in ("cpu", "gpu"):
        return CPU if asked == "cpu" else Gpu()
    raise InputError(
        f"`engine` must be Cpu(...), Gpu(), 'cpu', 'gpu' or None, not {shorten(asked)}."
    )


def solvers_for(arithmetic: str, engine: Engine, *, plain: bool = True) -> tuple[Solver, ...]:
    """The solvers for an arithmetic, to be tried in turn; the last one decides everything.

    What floats cannot prove, `certified` decides by exact positions of the points concerned; a GPU
    hands the cloud to the processor. `exact` does without floats altogether, so that it can check
    the others. Where attended sets stay as they are for long, but may change, the general solver
    takes over; layers that are not `plain` are left to it."""
    if not plain and arithmetic != "exact":
        return (FloatGeneralSolver(),)
    if isinstance(engine, Gpu):
        engine.check()
        if arithmetic != "certified":
            raise InputError(
                f"`arithmetic` {shorten(arithmetic)} has no GPU engine: "
                "use 'certified', or engine=Cpu().",
            )
        from hardmax._gpu.solver import GpuSolver

        return GpuSolver(engine), FloatSolver(), FloatGeneralSolver()
    if arithmetic == "exact":
        return (GeneralSolver(),)
    return FloatSolver(engine), FloatGeneralSolver()
