"""Rows of a table as they are read: some hundreds or thousands at a time, with what is wrong with each."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from hardmax._validation import InputError
from hardmax.text.data.corpora import BadRow
from hardmax.text.scoring.arrow import Schema, Table, pa

# What is read at a time, of whatever form: so many rows, or so many bytes if that is less.
ROWS_AT_ONCE, BYTES_AT_ONCE = 4096, 1 << 23


class Damaged(InputError):
    """A file that breaks off, or whose bytes mean nothing."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one file, one after the other."""

    table: Table  # what people have in their columns
    sizes: np.ndarray  # bytes of each row
    numbers: np.ndarray  # where each stands: its line from 1, or its row from 0
    noun: str  # "line" or "row"
    file: str = ""  # which file of a folder
    faults: dict[int, str] = field(default_factory=dict)  # by place in here
    lines: list[str] | None = None  # as JSON has them
    position: int = 0  # bytes of all files that are read after these rows
    start: tuple[int, int] = (0, 0)  # where they begin: which file, and which row of it
    lost: tuple[BadRow, ...] = ()  # of a file that cannot be read further

    def __len__(self) -> int:
        return len(self.sizes)

    def part(self, first: int, last: int) -> "Rows":
        """The rows from `first` up to but not including `last`."""
        return replace(
            self,
            table=self.table.slice(first, last - first),
            sizes=self.sizes[first:last],
            numbers=self.numbers[first:last],
            faults={row - first: why for row, why in self.faults.items() if first <= row < last},
            lines=None if self.lines is None else self.lines[first:last],
            start=(self.start[0], self.start[1] + first),
            lost=self.lost if last == len(self) else (),
        )

    def place(self, row: int) -> str:
        """Where a row stands, for people."""
        return f"{self.file} {self.noun} {self.numbers[row]}".lstrip()


class TableFile(Protocol):
    """A file with a table in it. Opening it has found its columns, and that it can be read."""

    schema: Schema
    size: int  # bytes
    count: int | None  # rows, where the file says

    def rows(self, text: str, skip: int) -> Iterator[Rows]:
        """The rows after the first `skip` of them; those without a text have a fault."""
        ...


@dataclass(frozen=True, eq=False)
class Part:
    """Rows that are scored and written together, or not at all."""

    pieces: list[Rows]  # at least one

    @property
    def table(self) -> Table:
        """The columns of people."""
        return pa.concat_tables([piece.table for piece in self.pieces])

    @property
    def lines(self) -> list[str] | None:
        """The rows as JSON has them, where they came so."""
        found = [piece.lines for piece in self.pieces]
        return None if None in found else [line for lines in found if lines for line in lines]

    @property
    def position(self) -> int:
        """Bytes of all files that are read after this part."""
        return self.pieces[-1].position

    @property
    def end(self) -> tuple[int, int]:
        """Where the next part begins: which file, and which row of it."""
        last = self.pieces[-1]
        return last.start[0], last.start[1] + len(last)

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def faults(self) -> dict[int, BadRow]:
        """What is wrong with rows, by their place in the part."""
        found, before = {}, 0
        for piece in self.pieces:
            found |= {before + row: BadRow(piece.place(row), why) for row, why in sorted(piece.faults.items())}
            before += len(piece)
        return found

    def lost(self) -> list[BadRow]:
        """Files of which nothing more could be read."""
        return [lost for piece in self.pieces for lost in piece.lost]


def cut(rows: Iterator[Rows], most_rows: int, most_bytes: int) -> Generator[Part, None, None]:
    """The rows in parts, which end where the rows alone say: after `most_rows`, or with the row that makes them
    `most_bytes`."""
    pieces: list[Rows] = []
    count = size = 0
    for some in rows:
        while True:
            reached = size + np.cumsum(some.sizes)
            last = min(most_rows - count, int(np.searchsorted(reached, most_bytes)) + 1)
            if last > len(some):
                break
            yield Part([*pieces, some.part(0, last)])
            pieces, count, size, some = [], 0, 0, some.part(last, len(some))
            if not len(some):
                break
        if len(some) or some.lost:
            pieces.append(some)
            count, size = count + len(some), size + int(some.sizes.sum())
    if pieces:
        yield Part(pieces)
