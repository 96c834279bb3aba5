"""What pictures ask of the things that they draw. Whatever has it can be drawn, and none of its kinds is imported.

`has` looks for names alone: an attribute that is computed when asked for is not computed to see whether it is there.
`Any` with a type behind it stands where a `cached_property` does, through which pyright does not see.
"""

import inspect
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from hardmax._attended import AttendedSets
from hardmax._tokens.points import Points
from hardmax._validation import InputError, shorten
from hardmax.dynamics import Dynamics

Asked = TypeVar("Asked")


class RunLike(Protocol):
    """The run of one cloud, such as a `Trajectory`."""

    @property
    def n(self) -> int: ...
    @property
    def d(self) -> int: ...
    @property
    def layers(self) -> int: ...
    @property
    def points(self) -> Points: ...
    @property
    def dynamics(self) -> Dynamics: ...
    @property
    def recorded(self) -> tuple[int, ...]: ...
    @property
    def decided_at(self) -> tuple[int, ...]: ...
    @property
    def settled_at(self) -> int | None: ...
    @property
    def leaders(self) -> Any: ...  # np.ndarray
    @property
    def leader_since(self) -> np.ndarray: ...
    @property
    def phases(self) -> Sequence[Any]: ...
    def floats_at(self, layer: int) -> np.ndarray: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray: ...
    def attended(self, layer: int) -> AttendedSets: ...


class ClustersLike(Protocol):
    """Tokens with equal limits: the cluster of each token, and where each cluster ends."""

    @property
    def labels(self) -> np.ndarray: ...
    @property
    def points(self) -> np.ndarray: ...
    @property
    def kinds(self) -> Sequence[Any]: ...
    @property
    def sizes(self) -> Any: ...  # np.ndarray
    def __len__(self) -> int: ...


class LimitLike(Protocol):
    """The limit of one cloud, such as a `Limit`."""

    @property
    def run(self) -> RunLike: ...
    @property
    def settled_at(self) -> int | None: ...
    @property
    def leaders(self) -> Any: ...  # np.ndarray
    @property
    def distinct_leaders(self) -> Any: ...  # np.ndarray
    @property
    def float_points(self) -> Any: ...  # np.ndarray
    @property
    def clusters(self) -> Any: ...  # ClustersLike
    @property
    def bound(self) -> Any: ...  # float


class ModelLike(Protocol):
    """A classifier of texts, such as a `TextModel`."""

    @property
    def dimension(self) -> int: ...
    @property
    def classes(self) -> Sequence[Any]: ...
    @property
    def vocabulary(self) -> Any: ...
    @property
    def prepared(self) -> Any: ...
    @property
    def decoder(self) -> np.ndarray: ...
    @property
    def bias(self) -> np.ndarray: ...


class LeaderLike(Protocol):
    """A word that leads, in how many texts, and for which class it speaks."""

    @property
    def word(self) -> str: ...
    @property
    def texts(self) -> int: ...
    @property
    def lean(self) -> Any: ...


class EpochLike(Protocol):
    """What a training tells of one epoch."""

    @property
    def epoch(self) -> int: ...
    @property
    def alpha(self) -> float: ...
    @property
    def loss(self) -> float: ...
    @property
    def accuracy(self) -> float: ...
    @property
    def leaders(self) -> float: ...
    @property
    def seconds(self) -> float: ...
    @property
    def validation_loss(self) -> float | None: ...


def has(value: Any, asked: type) -> bool:
    """Whether a thing has all that is asked of it.

    >>> has(3, LeaderLike)
    False
    """
    missing = object()
    if isinstance(value, type):  # a class has the names, but is none of its things
        return False
    return all(inspect.getattr_static(value, name, missing) is not missing for name in _names(asked))


def like(value: Any, asked: type[Asked], name: str, wish: str) -> Asked:
    """The value itself, if it has what is asked; `wish` says in an error what was expected."""
    if has(value, asked):
        return value
    raise InputError(f"{name} must be {wish}, not {shorten(value)}.")


def all_like(value: Any, asked: type[Asked], name: str, wish: str) -> Sequence[Asked]:
    """A list or tuple of things that have what is asked; there may be none."""
    if isinstance(value, list | tuple) and all(has(item, asked) for item in value):
        return value
    raise InputError(f"{name} must be {wish}, not {shorten(value)}.")


def face_of(kind: Any) -> tuple[int, ...]:
    """The leaders that span the face onto which the origin is projected, if a limit is of that kind."""
    return getattr(kind, "vertices", ())


def is_elsewhere(kind: Any) -> bool:
    """Whether a limit is neither where a leader sits nor the projection onto a face."""
    return not hasattr(kind, "leader") and not hasattr(kind, "vertices")


def _names(asked: type) -> list[str]:
    return [name for name in vars(asked) if not name.startswith("_") or name == "__len__"]
