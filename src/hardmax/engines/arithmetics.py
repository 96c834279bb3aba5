"""The three arithmetics by name, each with the engines it tries in turn."""

from hardmax.checking import one_of, short
from hardmax.engines.cpu.device import Cpu
from hardmax.engines.engine import Engine
from hardmax.engines.exact.choosing import by_all_scores
from hardmax.engines.exact.walking import ExactEngine
from hardmax.engines.judging.judges import Proof, TieSlack
from hardmax.engines.judging.walking import FloatEngine
from hardmax.engines.machines import Machine
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
    from hardmax.engines.gpu.walking import GpuEngine

    return GpuEngine("certified", device), FloatEngine("certified", Proof())
