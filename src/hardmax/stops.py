"""When a simulation stops, and which layers it keeps.

Which layers a run keeps: memory is a choice. Layers that are not kept are computed again when asked for.

When a simulation ends. A stop is asked before each phase of layers how far it may go.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from hardmax._validation import InputError, check_bool, check_int, shorten

DEFAULT_MEMORY_LIMIT = 4 * 2**30


class Record(Protocol):
    """A choice of layers."""

    def layers(self, last: int) -> Sequence[int]:
        """The layers to record of a run that ends at layer `last`."""
        ...

    def keeps(self, first: int, until: int) -> bool:
        """Whether a layer k with first <= k < until is recorded, the last layer of the run aside."""
        ...


def read_record(record: Any) -> Record:
    """The record that is meant: "every" is `Every(1)`, "last" is `LastOnly()`, and one's own is as good as ours."""
    if isinstance(record, Every | LastOnly):
        return record
    if isinstance(record, str) and record in ("every", "last"):
        return Every(1) if record == "every" else LastOnly()
    own: Any = record
    if all(callable(getattr(type(own), method, None)) for method in ("layers", "keeps")):
        return own
    raise InputError(f"`record` must be Every(10), LastOnly(), 'every' or 'last', not {shorten(record)}.")


@dataclass(frozen=True)
class Every:
    """Keep every m-th layer, the first and the last.

    >>> list(Every(4).layers(10))
    [0, 4, 8, 10]
    """

    m: int = 1
    memory_limit: int = field(default=DEFAULT_MEMORY_LIMIT, kw_only=True, repr=False)
    """In bytes: what would not fit is refused."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", check_int(self.m, "`m`", at_least=1))
        _check_limit(self)

    def layers(self, last: int) -> Sequence[int]:
        if last % self.m == 0:
            return range(0, last + 1, self.m)
        return (*range(0, last + 1, self.m), last)

    def keeps(self, first: int, until: int) -> bool:
        return -(-first // self.m) * self.m < until


@dataclass(frozen=True)
class LastOnly:
    """Keep the last layer only."""

    memory_limit: int = field(default=DEFAULT_MEMORY_LIMIT, kw_only=True, repr=False)
    """In bytes: what would not fit is refused."""

    def __post_init__(self) -> None:
        _check_limit(self)

    def layers(self, last: int) -> Sequence[int]:
        return (last,)

    def keeps(self, first: int, until: int) -> bool:
        return False


def _check_limit(record: "Every | LastOnly") -> None:
    object.__setattr__(record, "memory_limit", check_int(record.memory_limit, "`memory_limit`", at_least=1))


def check_recording(record: Record, last: int, tokens: int, dimension: int) -> None:
    """Refuse a recording of layers up to the last that would not fit."""
    try:
        layers = len(record.layers(last))
    except OverflowError:  # more than Python counts
        message = f"`record`: {shorten(last)} layers cannot be kept. Use record=LastOnly()."
        raise InputError(message, argument="record", also=("record=LastOnly()",)) from None
    check_memory(record, layers, tokens, dimension)


def check_memory(record: Record, layers: int, tokens: int, dimension: int) -> None:
    """Refuse a recording that would not fit, and say what would. A record of one's own may have a limit, too."""
    limit = getattr(record, "memory_limit", DEFAULT_MEMORY_LIMIT)
    needed = 8 * layers * tokens * dimension
    if needed <= limit:
        return
    every = f"record=Every({-(-needed // limit) + 1:,})"
    less = f"Use {every} or record=LastOnly(), or raise the limit." if layers > 1 else "Raise the limit."
    raise InputError(
        f"`record`: {layers:,} layers of {tokens:,} tokens in {dimension} dimensions need {needed / 1e9:,.1f} GB, "
        f"more than `memory_limit` ({limit / 1e9:,.1f} GB). {less}",
        argument="record",
        also=("`memory_limit`", every, "record=LastOnly()"),
    )


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
            check_bool(own.when_settled, "")
            check_int(own.last_layer, "", at_least=0)
            return own
    except Exception:  # it has not what a stop has, or not of that kind
        pass
    raise InputError(f"`stop` must be Settled(), AfterLayers(30), FirstOf(...) or 'settled', not {shorten(stop)}.")


@dataclass(frozen=True)
class AfterLayers:
    """End after so many layers.

    >>> AfterLayers(30).last_layer
    30
    """

    layers: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", check_int(self.layers, "`layers`", at_least=0))

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
        object.__setattr__(self, "at_most", check_int(self.at_most, "`at_most`", at_least=0))

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
