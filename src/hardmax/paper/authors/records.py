"""What stands in a pickle, as records that do nothing: names that are never looked up, tensors that are never made."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Global:
    """The name of a class or function. It is compared with a list, and never imported."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True, eq=False)
class Storage:
    """So many numbers in the member `data/key` of the archive."""

    kind: Global
    key: str
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """Which numbers of a storage make an array."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Instance:
    """What an object of a class would have as its attributes; None until the pickle has said so."""

    of: Global
    state: dict[str, Any] | None = None
