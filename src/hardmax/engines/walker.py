"""What walks the layers."""

from collections.abc import Iterator
from typing import Protocol

from hardmax.dynamics import Dynamics
from hardmax.engines.exact.stretch import ExactStretch
from hardmax.engines.floats.stretch import FloatStretch
from hardmax.engines.machines import Machine
from hardmax.tokens.points import Points


class Walker(Protocol):
    """One way to walk."""

    @property
    def arithmetic(self) -> str:
        """`exact`, `certified` or `float`: what decides who attends to whom."""
        ...

    @property
    def machine(self) -> Machine:
        """What works for it."""
        ...

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[FloatStretch] | Iterator[ExactStretch]:
        """The stretches from layer 0 on; ends after one that lasts for ever."""
        ...
