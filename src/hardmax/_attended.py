"""Attended sets: among points as the engines choose them, and among tokens as people ask for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import overload

import numpy as np

from hardmax._tokens.points import Points
from hardmax._validation import normalize_index, normalize_slice


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
    def of_arrays(cls, arrays: Sequence[np.ndarray]) -> "Choices":
        offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
        np.cumsum([len(chosen) for chosen in arrays], out=offsets[1:])
        return cls(np.concatenate(arrays) if len(arrays) else np.empty(0, dtype=np.int64), offsets)

    @classmethod
    def of_single(cls, chosen: np.ndarray) -> "Choices":
        return cls(chosen, np.arange(len(chosen) + 1))

    def lists(self) -> list[list[int]]:
        """The sets as lists, a list for each point."""
        flat, offsets = self.indices.tolist(), self.offsets.tolist()
        return [flat[start:end] for start, end in pairwise(offsets)]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, point: int) -> np.ndarray:
        return self.indices[self.offsets[point] : self.offsets[point + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[point] for point in range(len(self)))

    @cached_property
    def sizes(self) -> np.ndarray:
        return np.diff(self.offsets)

    @property
    def all_single(self) -> bool:
        """Whether every point attends to a single one."""
        return self.indices.size == self.offsets.size - 1

    @cached_property
    def is_leader(self) -> np.ndarray:
        """Which points attend to themselves and no other."""
        if self.all_single:
            return self.indices == np.arange(len(self))
        return (self.sizes == 1) & (self.indices[self.offsets[:-1]] == np.arange(len(self)))

    @cached_property
    def follows_leader(self) -> np.ndarray:
        """Which points attend to exactly one point that attends to itself alone. They do so for ever, for any metric.

        Say C_i = {l} and C_l = {l}. A layer later, <A z_i', z_j' - l> mixes its values at (z_i, z_j), negative, and at
        (z_i, w_j), (l, z_j), (l, w_j), none positive: w_j is a mean of points. So nobody overtakes l, ever.
        """
        if self.all_single:
            return self.is_leader[self.indices]
        return (self.sizes == 1) & self.is_leader[self.indices[self.offsets[:-1]]]

    def firsts(self, rows: np.ndarray) -> np.ndarray:
        """For some points the first that each attends to."""
        return self.indices[rows] if self.all_single else self.indices[self.offsets[rows]]

    def of_rows(self, rows: np.ndarray) -> "Choices":
        """The choices of some points, in order."""
        if self.all_single:
            return Choices.of_single(self.indices[rows])
        sizes = self.sizes[rows]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        return Choices(self.indices[np.repeat(self.offsets[rows], sizes) + within], offsets)

    def with_rows(self, rows: np.ndarray, other: "Choices") -> "Choices":
        """The same choices, but those of some points, increasing, as in `other`, which has a row for each of them."""
        if len(rows) == len(self):
            return other
        if self.all_single and other.all_single:
            indices = self.indices.copy()
            indices[rows] = other.indices
            return Choices(indices, self.offsets)
        sizes = self.sizes.copy()
        sizes[rows] = other.sizes
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        indices = np.empty(offsets[-1], dtype=np.int64)
        new = np.zeros(len(self), dtype=bool)
        new[rows] = True
        indices[np.repeat(new, sizes)] = other.indices
        indices[np.repeat(~new, sizes)] = self.indices[np.repeat(~new, self.sizes)]
        return Choices(indices, offsets)


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
            return [self[i] for i in normalize_slice(index, len(self), "`index`")]
        chosen = self.choices[self.points.of_token[normalize_index(index, len(self), "`index`")]]
        return np.sort(np.concatenate([self.points.members[point] for point in chosen]))

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        shown = ", ".join(str(chosen.tolist()) for chosen in self[:6])
        return f"AttendedSets([{shown}{', …' if len(self) > 6 else ''}])"

    def tolist(self) -> list[list[int]]:
        return [chosen.tolist() for chosen in self]
