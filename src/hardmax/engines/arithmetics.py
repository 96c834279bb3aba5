"""The three arithmetics by name, each with the engines it tries in turn."""

from hardmax.checking import one_of, short
from hardmax.engines.choosing import by_all_scores
from hardmax.engines.cpu import Cpu
from hardmax.engines.exact import ExactEngine
from hardmax.engines.floating import FloatEngine
from hardmax.engines.judges import Proof, TieSlack
from hardmax.engines.machines import Machine
from hardmax.engines.stretch import Engine
from hardmax.errors import InputError

ARITHMETICS = ("certified", "exact", "float")


def engines_for(arithmetic: "str | TieSlack", machine: Machine) -> tuple[Engine, ...]:
    """The engines for a name, or for a tie slack of one's own.

    What floats cannot prove, `certified` decides by exact positions of the points concerned; a GPU hands the cloud to
    the processor. `exact` does without floats altogether, so that it can judge the others.
    """
    if not isinstance(arithmetic, TieSlack):
        one_of(arithmetic, ARITHMETICS, "`arithmetic`", also=", or a TieSlack")
    if not isinstance(machine, Cpu):
        return _on_gpu(arithmetic, machine.device)
    match arithmetic:
        case "certified":
            return (FloatEngine("certified", Proof(), machine),)
        case "exact":
            return (ExactEngine(by_all_scores),)
        case "float":
            return (FloatEngine("float", TieSlack(), machine),)
    assert isinstance(arithmetic, TieSlack)
    return (FloatEngine("float", arithmetic, machine),)


def _on_gpu(arithmetic: "str | TieSlack", device: str) -> tuple[Engine, ...]:
    if arithmetic != "certified":
        raise InputError(f"`arithmetic` {short(arithmetic)} has no GPU engine: use 'certified', or engine=Cpu().")
    from hardmax.engines.gpu_engine import GpuEngine

    return GpuEngine("certified", device), FloatEngine("certified", Proof())
