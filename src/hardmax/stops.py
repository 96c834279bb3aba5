"""When a simulation stops, and which layers it keeps. Layers that are not kept are computed again
on request."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hardmax._common.validation import InputError, check_instance, check_int

try:
    MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")  # bytes
except (AttributeError, ValueError, OSError):  # not everywhere does the system say
    MEMORY = 16 * 2**30


class Record:
    """Which layers a run keeps: `Every`, `LastOnly`, or a subclass of your own.

    Examples
    --------
    >>> class Powers(Record):
    ...     def layers(self, first, until):
    ...         return [2**k for k in range(until.bit_length()) if first <= 2**k < until]
    >>> Powers().layers(3, 20)
    [4, 8, 16]
    """

    def layers(self, first: int, until: int) -> Sequence[int]:
        """Layers to keep among `first`, …, `until` - 1, increasing; the last layer of a run is kept
        in any case.

        Parameters
        ----------
        first, until : int
            A range of layers.
        """
        return ()


@dataclass(frozen=True)
class Every(Record):
    """Keep every m-th layer, the first and the last.

    Parameters
    ----------
    m : int, default 1
        Distance between two layers that are kept.

    Examples
    --------
    >>> list(Every(4).layers(0, 10))
    [0, 4, 8]
    """

    m: int = 1

    def __post_init__(self) -> None:
        vars(self).update(m=check_int(self.m, "`m`", at_least=1))

    def layers(self, first: int, until: int) -> Sequence[int]:
        return range(-(-first // self.m) * self.m, until, self.m)


@dataclass(frozen=True)
class LastOnly(Record):
    """Keep the last layer only.

    Examples
    --------
    >>> LastOnly().layers(0, 10)
    ()
    """


class EachPhase(Record):
    """Keep every phase, and of the layers the first and the last."""

    def layers(self, first: int, until: int) -> Sequence[int]:
        return (first,) if first < until else ()


def check_memory(kept: Sequence[Any], tokens: int, dimension: int) -> None:
    """Refuse to keep one layer more if they would not fit into memory, and say what would."""
    try:
        layers = 1 + len(kept)
    except OverflowError:
        layers = sys.maxsize  # or more: Python counts no further
    needed = 8 * layers * tokens * dimension
    if needed > MEMORY:
        every = f"record=Every({-(-needed // MEMORY) + 1:,})"
        raise InputError(
            f"`record`: {layers:,} layers of {tokens:,} tokens in {dimension} dimensions need "
            f"{needed / 1e9:,.1f} GB, more than this machine has ({MEMORY / 1e9:,.1f} GB). "
            f"Use {every} or record=LastOnly().",
        )


NO_LIMIT = 2**62  # the last layer of a run that none was given for
A_STOP = "Settled(), AfterLayers(30) or another Stop"


class Stop:
    """What ends a run: `AfterLayers`, `Settled`, `FirstOf`, or a subclass of your own that has both
    attributes.

    Examples
    --------
    >>> Settled(100).last_layer, Settled(100).when_settled
    (100, True)
    """

    last_layer: int
    """Last layer of the run, at most."""
    when_settled: bool = False
    """Whether to end at the layer from which the attended sets never change again."""


@dataclass(frozen=True)
class AfterLayers(Stop):
    """End after a number of layers.

    Parameters
    ----------
    layers : int
        How many.

    Examples
    --------
    >>> AfterLayers(30).last_layer
    30
    """

    layers: int

    def __post_init__(self) -> None:
        layers = check_int(self.layers, "`layers`", at_least=0)
        vars(self).update(layers=layers, last_layer=layers)


@dataclass(frozen=True)
class Settled(Stop):
    """End at the layer from which the attended sets are proved never to change again.

    Parameters
    ----------
    max_layers : int, optional
        Give up after so many layers; by default, after attended sets had to be computed 10,000
        times.

    Examples
    --------
    >>> Settled(50).when_settled
    True
    """

    max_layers: int | None = None

    def __post_init__(self) -> None:
        most = self.max_layers
        if most is not None:
            most = check_int(most, "`max_layers`", at_least=0)
        last = NO_LIMIT if most is None else most
        vars(self).update(max_layers=most, last_layer=last, when_settled=True)


@dataclass(frozen=True, init=False)
class FirstOf(Stop):
    """End as soon as one of several stops does.

    Parameters
    ----------
    *stops : Stop
        At least one.

    Examples
    --------
    >>> FirstOf(Settled(), AfterLayers(50)).last_layer
    50
    """

    stops: tuple[Stop, ...]

    def __init__(self, *stops: Stop) -> None:
        if not stops:
            raise InputError(
                "`FirstOf` needs at least one stop, such as FirstOf(Settled(), AfterLayers(1000))."
            )
        last = min(check_instance(stop, Stop, "`stop`", A_STOP).last_layer for stop in stops)
        when_settled = any(stop.when_settled for stop in stops)
        vars(self).update(stops=stops, last_layer=last, when_settled=when_settled)
