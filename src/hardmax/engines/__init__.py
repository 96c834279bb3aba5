"""How the layers are walked: on the processor (`Cpu`) or a graphics card (`Gpu`)."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hardmax.engines.cpu.machine import Cpu as Cpu
    from hardmax.engines.gpu.machine import Gpu as Gpu


def __getattr__(name: str) -> Any:
    # Resolved when first used: `hardmax --help` does not wait for numpy.
    if name == "Cpu":
        from hardmax.engines.cpu.machine import Cpu

        return Cpu
    if name == "Gpu":
        from hardmax.engines.gpu.machine import Gpu

        return Gpu
    raise AttributeError(f"module 'hardmax.engines' has no attribute {name!r}")
