"""What walks the layers."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from hardmax.compiling import interpreted
from hardmax.dynamics import Dynamics
from hardmax.engines.exact.stretch import ExactStretch
from hardmax.engines.floats.kernels.furthest import mark_furthest
from hardmax.engines.floats.stretch import FloatStretch
from hardmax.engines.machines import Machine
from hardmax.tokens.points import Points

_SMALL = 2**14  # products of coordinates


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


def walk(walker: Walker, points: Points, dynamics: Dynamics) -> Iterator[FloatStretch | ExactStretch]:
    """The stretches of a walk; those of a small cloud are worked out without waiting for numba."""
    stretches = iter(walker.walk(points, dynamics))
    while True:
        with interpreted_if_small(points.count, points.dimension):
            stretch = next(stretches, None)
        if stretch is None:
            return
        yield stretch


def interpreted_if_small(tokens: int, dimension: int) -> AbstractContextManager[bool]:
    """A block in which the kernels for a small cloud run as Python."""
    return interpreted(mark_furthest, if_small=tokens**2 * dimension <= _SMALL, seconds=3.0)
