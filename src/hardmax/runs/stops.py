"""When a simulation ends. A stop is asked before each stretch of layers how far it may go."""

from dataclasses import dataclass
from typing import Any, Protocol

from hardmax.checking import short, truth_value, whole_number
from hardmax.errors import InputError


class Stop(Protocol):
    """Something that ends a run."""

    @property
    def last_layer(self) -> int:
        """No run goes beyond this layer."""
        ...

    @property
    def when_settled(self) -> bool:
        """Whether to end at the layer from which the attended sets never change again."""
        ...


def read_stop(stop: Any) -> Stop:
    """The stop that is meant: "settled" is `Settled()`, and one of somebody's own is as good as ours."""
    if isinstance(stop, AfterLayers | Settled | FirstOf):
        return stop
    if isinstance(stop, str) and stop == "settled":
        return Settled()
    own: Any = stop
    try:
        if not isinstance(own, type):
            truth_value(own.when_settled, "")
            whole_number(own.last_layer, "", at_least=0)
            return own
    except Exception:  # it has not what a stop has, or not of that kind
        pass
    raise InputError(f"`stop` must be Settled(), AfterLayers(30), FirstOf(...) or 'settled', not {short(stop)}.")


@dataclass(frozen=True)
class AfterLayers:
    """End after so many layers.

    >>> AfterLayers(30).last_layer
    30
    """

    layers: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", whole_number(self.layers, "`layers`", at_least=0))

    @property
    def last_layer(self) -> int:
        return self.layers

    @property
    def when_settled(self) -> bool:
        return False


@dataclass(frozen=True)
class Settled:
    """End when nothing will ever change again but the distance to the limit; give up after `at_most` layers."""

    at_most: int = 10_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "at_most", whole_number(self.at_most, "`at_most`", at_least=0))

    @property
    def last_layer(self) -> int:
        return self.at_most

    @property
    def when_settled(self) -> bool:
        return True


@dataclass(frozen=True, init=False)
class FirstOf:
    """End as soon as one of several stops says so.

    >>> FirstOf(Settled(), AfterLayers(50)).last_layer
    50
    """

    stops: tuple[Stop, ...]

    def __init__(self, *stops: Stop) -> None:
        if not stops:
            raise InputError("`FirstOf` needs at least one stop, such as FirstOf(Settled(), AfterLayers(1000)).")
        object.__setattr__(self, "stops", tuple(map(read_stop, stops)))

    @property
    def last_layer(self) -> int:
        return min(stop.last_layer for stop in self.stops)

    @property
    def when_settled(self) -> bool:
        return any(stop.when_settled for stop in self.stops)
