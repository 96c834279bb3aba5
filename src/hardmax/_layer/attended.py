"""Attended sets: of merged points, as engines find them, and of tokens, as people read them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.format import first_few, truncate
from hardmax._common.validation import normalize_index
from hardmax._tokens.points import Points


@dataclass(frozen=True, eq=False)
class AttendedIndices:
    """For each point the points that it attends to: `indices[offsets[i]:offsets[i + 1]]`,
    increasing."""

    indices: np.ndarray
    offsets: np.ndarray
    sizes: np.ndarray = field(init=False)
    all_single: bool = field(init=False)
    """Whether every point attends to a single one."""

    def __post_init__(self) -> None:
        sizes = self.offsets[1:] - self.offsets[:-1]
        vars(self).update(sizes=sizes, all_single=bool((sizes == 1).all()))

    @classmethod
    def of_sets(cls, sets: Any) -> "AttendedIndices":
        if isinstance(sets, AttendedIndices):
            return sets
        # Of no sets at all, too, the indices are integers.
        indices = np.concatenate([np.empty(0, dtype=int), *sets]).astype(int)
        return cls(indices, np.cumsum([0, *map(len, sets)]))

    @classmethod
    def of_single(cls, chosen: np.ndarray) -> "AttendedIndices":
        return cls(chosen, np.arange(len(chosen) + 1))

    def arrays(self) -> list[np.ndarray]:
        return np.split(self.indices, self.offsets[1:-1]) if len(self) else []

    def lists(self) -> list[list[int]]:
        return [chosen.tolist() for chosen in self.arrays()]

    def same_as(self, other: "AttendedIndices") -> bool:
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(
            self.indices, other.indices
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, point: int) -> np.ndarray:
        return self.indices[self.offsets[point] : self.offsets[point + 1]]

    @cached_property
    def firsts(self) -> np.ndarray:
        """The first point that each attends to; -1 for none."""
        firsts, attends = np.full(len(self), -1), self.sizes > 0
        firsts[attends] = self.indices[self.offsets[:-1][attends]]
        return firsts

    def all_of(self, holds: np.ndarray) -> np.ndarray:
        """Whether what is said of all entries of `indices` holds for all those of each set."""
        failures = np.append(0, np.cumsum(~holds))
        return failures[self.offsets[1:]] == failures[self.offsets[:-1]]

    @cached_property
    def is_leader(self) -> np.ndarray:
        """Which points attend to themselves alone."""
        return (self.sizes == 1) & (self.firsts == np.arange(len(self)))

    @cached_property
    def follows_leader(self) -> np.ndarray:
        """Which points attend to exactly one point that attends to itself alone. They do so for
        ever, for any metric.

        Say C_i = {l} and C_l = {l}. A layer later, <A z_i', z_j' - l> mixes its values at (z_i,
        z_j), negative, and at (z_i, w_j), (l, z_j), (l, w_j), none positive: w_j is a mean of
        points. So no point ever overtakes l."""
        return (self.sizes == 1) & self.is_leader[self.firsts]

    def distinct(self, rows: np.ndarray) -> tuple[np.ndarray, list[int]]:
        """Of some points the first with each attended set; and the number of its set for each."""
        numbers: dict[bytes, int] = {}
        labels = [numbers.setdefault(self[row].tobytes(), len(numbers)) for row in rows.tolist()]
        return rows[np.unique(labels, return_index=True)[1]], labels

    def of_rows(self, rows: np.ndarray) -> "AttendedIndices":
        """The choices of some points, in order."""
        if self.all_single:
            return AttendedIndices.of_single(self.indices[rows])
        sizes, starts = self.sizes[rows], self.offsets[rows]
        offsets = np.append(0, np.cumsum(sizes))
        places = np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])
        return AttendedIndices(self.indices[places], offsets)

    def with_rows(self, rows: np.ndarray, other: "AttendedIndices") -> "AttendedIndices":
        """The same choices, but those of `other` for some points, increasing."""
        if len(rows) == len(self):
            return other
        if self.all_single and other.all_single:
            indices = self.indices.copy()
            indices[rows] = other.indices
            return AttendedIndices(indices, self.offsets)
        indices = np.concatenate([self.indices, other.indices])
        offsets = np.append(self.offsets[:-1], len(self.indices) + other.offsets)
        both = AttendedIndices(indices, offsets)
        order = np.arange(len(self))
        order[rows] = len(self) + np.arange(len(rows))
        return both.of_rows(order)


class AttendedSets(Sequence[np.ndarray]):
    """The attended set of every token: `sets[i]` are the tokens that token i attends to,
    increasing.

    All copies of a repeated token count. A set is put together when it is read: of a word said a
    thousand times, all sets together would list a million tokens.

    Examples
    --------
    >>> from hardmax import Dynamics, attended
    >>> attended([[1, 1], [1, -1], [0.5, 0]], Dynamics(1))[2].tolist()
    [0, 1]
    """

    def __init__(self, choices: AttendedIndices, points: Points) -> None:
        self.choices = choices
        self.points = points

    def __len__(self) -> int:
        return len(self.points.of_token)

    def __getitem__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, index: int
    ) -> np.ndarray:
        token = normalize_index(index, len(self), "`index`")
        chosen = self.choices[self.points.of_token[token]]
        members = [self.points.members[point] for point in chosen]
        return np.sort(np.concatenate([np.empty(0, dtype=int), *members]))

    def __repr__(self) -> str:
        shown = first_few((str(chosen.tolist()) for chosen in self), 6)
        return truncate(f"AttendedSets([{shown}])", 100)

    def tolist(self) -> list[list[int]]:
        """The sets as lists of integers."""
        return [chosen.tolist() for chosen in self]


def sort_rows(indices: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Indices in rows of these sizes, one after the other, increasing within each row.

    >>> sort_rows(np.array([3, 1, 2, 0]), np.array([2, 0, 2])).tolist()
    [1, 3, 0, 2]
    """
    starts = np.repeat(np.arange(len(sizes)) * (1 + indices.max(initial=0)), sizes)
    keys = starts + indices
    keys.sort()  # some times faster than to sort by two keys
    return keys - starts
