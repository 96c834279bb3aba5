"""Attended sets: among points as the engines choose them, and among tokens as people ask for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from hardmax.tokens.points import Points


@dataclass(frozen=True, eq=False)
class Choices:
    """For each point the points it attends to: `indices[offsets[i]:offsets[i + 1]]`, increasing."""

    indices: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of_lists(cls, lists: Sequence[Sequence[int]]) -> "Choices":
        offsets = np.zeros(len(lists) + 1, dtype=np.int64)
        np.cumsum([len(chosen) for chosen in lists], out=offsets[1:])
        flat = np.fromiter((j for chosen in lists for j in chosen), dtype=np.int64, count=int(offsets[-1]))
        return cls(flat, offsets)

    @classmethod
    def of_single(cls, chosen: np.ndarray) -> "Choices":
        return cls(chosen, np.arange(len(chosen) + 1))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, point: int) -> np.ndarray:
        return self.indices[self.offsets[point] : self.offsets[point + 1]]

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.diff(self.offsets)

    @cached_property
    def alone(self) -> np.ndarray:
        """Which points attend to themselves and no other."""
        return (self.sizes == 1) & (self.indices[self.offsets[:-1]] == np.arange(len(self)))

    @property
    def lead_to_leaders(self) -> bool:
        """Every point attends to exactly one point, and that one attends to itself alone (the settling lemma)."""
        return bool((self.sizes == 1).all() and self.alone[self.indices].all())


class AttendedSets(Sequence[np.ndarray]):
    """`sets[i]` are the tokens that token i attends to, increasing. Repeated tokens all count.

    Sets are put together when asked for: a word said a thousand times would otherwise be listed a million times.
    """

    def __init__(self, choices: Choices, points: Points) -> None:
        self.choices = choices
        self.points = points

    def __len__(self) -> int:
        return len(self.points.of_token)

    @overload
    def __getitem__(self, index: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[np.ndarray]: ...
    def __getitem__(self, index: int | slice) -> np.ndarray | Sequence[np.ndarray]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        chosen = self.choices[self.points.of_token[index]]
        return np.sort(np.concatenate([self.points.members[point] for point in chosen]))

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        shown = ", ".join(str(chosen.tolist()) for chosen in self[:6])
        return f"AttendedSets([{shown}{', …' if len(self) > 6 else ''}])"

    def tolist(self) -> list[list[int]]:
        return [chosen.tolist() for chosen in self]
