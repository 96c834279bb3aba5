"""The words and phrases that a model knows, with the number of training texts of each class that have them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from hardmax.checking import a_text, instance, short
from hardmax.errors import InputError
from hardmax.text.tokens.characters import are_folded, fold
from hardmax.text.tokens.tokeniser import SURFACE
from hardmax.tokens.tables import float_array
from hardmax.wording import counted

_SURFACES = re.compile(rf"(?>(?:{SURFACE.pattern})\n)*")


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        shown = "".join(f"{short(surface)}, " for surface in self.surfaces[:3]) + "…" * (len(self) > 3)
        return f"Vocabulary({counted(len(self), 'token')}: {shown.removesuffix(', ')})"

    @cached_property
    def index(self) -> dict[str, int]:
        """The number of each token."""
        return dict(zip(self.surfaces, range(len(self.surfaces)), strict=True))

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
            text = data.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{name} is not UTF-8 text (byte {error.start}): it is not a vocabulary.") from None
        if text and not text.endswith("\n"):
            raise InputError(f"{name} ends in the middle of a line: it is cut off. Save the model again.")
        width = text.split("\n", 1)[0].count("\t") + 1 if text else 2
        row = rf"[^\t\n]*(?:\t[0-9]{{1,18}}){{{width - 1}}}\n"
        if width < 2 or not re.fullmatch(f"(?>{row})*", text):
            _refuse_line(text, row if width > 1 else "(?!)", name)
        cells = text.replace("\n", "\t").split("\t")[:-1]
        columns = [np.fromstring("\t".join(cells[column::width]), np.int64, sep="\t") for column in range(1, width)]
        return cls(cells[::width], np.stack(columns, axis=1))


def _refuse_line(text: str, row: str, name: str) -> NoReturn:
    lines = text.split("\n")
    number = next(number for number, line in enumerate(lines) if not re.fullmatch(row, line + "\n"))
    wish = "a token and its counts by class, separated by tabs"
    raise InputError(f"{name} line {number + 1} is {lines[number][:60]!r}: expected {wish}.")


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
    # All at once, which is how it nearly always is; if not, one by one, to say which.
    if are_folded(together := "\n".join([*surfaces, ""])) and _SURFACES.fullmatch(together):
        return
    for surface in surfaces:
        if not SURFACE.fullmatch(surface) or fold(surface) != surface:
            wish = "words in lower case, joined by single spaces"
            raise InputError(f"`surfaces` has {short(surface)}, which the tokeniser never yields: expected {wish}.")
