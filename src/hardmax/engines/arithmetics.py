"""The three arithmetics by name, each with the engines it tries in turn."""

from hardmax.checking import one_of, short
from hardmax.engines.cpu.machine import Cpu
from hardmax.engines.exact.choosing import by_all_scores
from hardmax.engines.exact.walking import ExactWalker
from hardmax.engines.gpu.machine import Gpu
from hardmax.engines.judging.judges import Proof, TieSlack
from hardmax.engines.judging.walking import FloatWalker
from hardmax.engines.machines import Machine
from hardmax.engines.walker import Walker
from hardmax.errors import InputError

ARITHMETICS = ("certified", "exact", "float")


def walkers_for(arithmetic: "str | TieSlack", machine: Machine) -> tuple[Walker, ...]:
    """The engines for a name, or for a tie slack of one's own.

    What floats cannot prove, `certified` decides by exact positions of the points concerned; a GPU hands the cloud to
    the processor. `exact` does without floats altogether, so that it can judge the others.
    """
    if not isinstance(arithmetic, TieSlack):
        one_of(arithmetic, ARITHMETICS, "`arithmetic`", also=", or a TieSlack")
    if not isinstance(machine, Cpu):
        return _on_gpu(arithmetic, machine)
    match arithmetic:
        case "certified":
            return (FloatWalker("certified", Proof(), machine),)
        case "exact":
            return (ExactWalker(by_all_scores, machine=machine),)
        case "float":
            return (FloatWalker("float", TieSlack(), machine),)
    assert isinstance(arithmetic, TieSlack)
    return (FloatWalker("float", arithmetic, machine),)


def _on_gpu(arithmetic: "str | TieSlack", machine: Gpu) -> tuple[Walker, ...]:
    machine.check_present()
    if arithmetic != "certified":
        message = f"`arithmetic` {short(arithmetic)} has no GPU engine: use 'certified', or engine=Cpu()."
        raise InputError(message, argument="arithmetic")
    from hardmax.engines.gpu.walking import GpuWalker

    return GpuWalker(machine), FloatWalker("certified", Proof())
