"""The words and phrases that a model knows, with the number of training texts of each class that have them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hardmax.checking import a_text, instance, short
from hardmax.errors import InputError
from hardmax.text.characters import fold
from hardmax.text.tokeniser import SURFACE
from hardmax.tokens.tables import float_array


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Token v is `surfaces[v]`, as people see it; `counts[v, c]` training texts of class c have it.

    >>> known = Vocabulary(["good", "not good"], [[1, 5], [3, 0]])
    >>> known.index["not good"], known.documents.tolist()
    (1, [6, 3])
    """

    surfaces: tuple[str, ...]
    counts: np.ndarray  # (tokens, classes)

    def __init__(self, surfaces: Sequence[str], counts: Any) -> None:
        object.__setattr__(self, "surfaces", _read_surfaces(surfaces))
        object.__setattr__(self, "counts", _read_counts(counts))
        if self.counts.ndim != 2 or len(self.counts) != len(self.surfaces):
            wish = f"({len(self.surfaces)}, classes)"
            raise InputError(f"`counts` has shape {self.counts.shape}: expected {wish}, a row for each token.")
        if len(self.index) != len(self.surfaces):
            twice = next(s for v, s in enumerate(self.surfaces) if self.index[s] != v)
            raise InputError(f"`surfaces` has {short(twice)} twice: expected each token once.")
        _check_surfaces(self.surfaces)

    def __len__(self) -> int:
        return len(self.surfaces)

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each token."""
        return {surface: v for v, surface in enumerate(self.surfaces)}

    @property
    def documents(self) -> np.ndarray:
        """How many training texts have each token."""
        return self.counts.sum(axis=1)

    def to_bytes(self) -> bytes:
        """The file: a line for each token, its surface and its counts by class, separated by tabs; UTF-8."""
        rows = zip(self.surfaces, self.counts.tolist(), strict=True)
        return "".join("\t".join([surface, *map(str, row)]) + "\n" for surface, row in rows).encode()

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "vocabulary.txt") -> "Vocabulary":
        """What `to_bytes` wrote.

        >>> Vocabulary.from_bytes(b"good\\t1\\t5\\n").counts.tolist()
        [[1, 5]]
        """
        instance(data, bytes, "`data`", "bytes, as `to_bytes` gives them")
        a_text(name, "`name`")
        try:
            lines = data.decode().split("\n")
        except UnicodeDecodeError as error:
            raise InputError(f"{name} is not UTF-8 text (byte {error.start}): it is not a vocabulary.") from None
        if lines.pop():
            raise InputError(f"{name} ends in the middle of a line: it is cut off. Save the model again.")
        rows = [line.split("\t") for line in lines]
        width = len(rows[0]) if rows else 1
        for number, row in enumerate(rows, 1):
            if len(row) != width or width < 2 or not all(cell.isascii() and cell.isdigit() for cell in row[1:]):
                wish = "a token and its counts by class, separated by tabs"
                raise InputError(f"{name} line {number} is {lines[number - 1][:60]!r}: expected {wish}.")
        counts = np.array([row[1:] for row in rows], dtype=np.int64).reshape(len(rows), width - 1)
        return cls([row[0] for row in rows], counts)


def _read_surfaces(surfaces: Any) -> tuple[str, ...]:
    wish = "a list of texts"
    if not isinstance(surfaces, Sequence | np.ndarray) or isinstance(surfaces, str | bytes | bytearray):
        raise InputError(f"`surfaces` must be {wish}, not {short(surfaces)}.")
    listed = surfaces.tolist() if isinstance(surfaces, np.ndarray) else surfaces
    if not (isinstance(listed, Sequence) and all(isinstance(surface, str) for surface in listed)):
        raise InputError(f"`surfaces` must be {wish}, not {short(surfaces)}.")
    return tuple(listed)


def _read_counts(counts: Any) -> np.ndarray:
    table = float_array(counts, "`counts`")
    if not ((table >= 0) & (table < 2**53) & (table == np.floor(table))).all():
        raise InputError(f"`counts` must be numbers of texts, whole and from 0 up, not {short(counts)}.")
    return table.astype(np.int64)


def _check_surfaces(surfaces: Sequence[str]) -> None:
    for surface in surfaces:
        if not SURFACE.fullmatch(surface) or fold(surface) != surface:
            wish = "words in lower case, joined by single spaces"
            raise InputError(f"`surfaces` has {short(surface)}, which the tokeniser never yields: expected {wish}.")
