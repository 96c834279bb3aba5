"""The words and phrases that a model knows, with the number of training texts of each class that have them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from hardmax._format import pluralize
from hardmax._tokens.batches import float_array
from hardmax._validation import InputError, check_instance, check_str, shorten
from hardmax.text.tokens.characters import CLASSES, MARKS, are_folded, codes_of, fold
from hardmax.text.tokens.kernels.kinds import LETTER
from hardmax.text.tokens.tokeniser import LONGEST_PHRASE, SURFACE


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
            raise InputError(f"`surfaces` has {shorten(twice)} twice: expected each token once.")
        _check_surfaces(self.surfaces)

    def __len__(self) -> int:
        return len(self.surfaces)

    def __repr__(self) -> str:
        shown = "".join(f"{shorten(surface)}, " for surface in self.surfaces[:3]) + "…" * (len(self) > 3)
        return f"Vocabulary({pluralize(len(self), 'token')}: {shown.removesuffix(', ')})"

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
        check_instance(data, bytes, "`data`", "bytes, as `to_bytes` gives them")
        check_str(name, "`name`")
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{name} is not UTF-8 text (byte {error.start}): it is not a vocabulary.") from None
        if text and not text.endswith("\n"):
            raise InputError(f"{name} ends in the middle of a line: it is cut off. Save the model again.")
        width = text.split("\n", 1)[0].count("\t") + 1 if text else 2
        rows = _read_rows(data, width - 1)
        return cls(*rows) if rows is not None else _refuse_line(text, width - 1, name)


def _read_rows(data: bytes, classes: int) -> tuple[list[str], np.ndarray] | None:
    """Surfaces and counts; None if a row is not a surface and as many counts of 1 to 18 digits as there are classes.

    Found in the bytes, all at once: a string for each count would take longer than all the rest.
    """
    characters = np.frombuffer(data, np.uint8)
    tabs, ends = (np.flatnonzero(characters == ord(character)) for character in "\t\n")
    if classes < 1 or len(tabs) != len(ends) * classes:
        return None
    tabs = tabs.reshape(-1, classes)
    digits = np.diff(tabs, axis=1, append=ends[:, None]) - 1
    if (tabs[1:, 0] < ends[:-1]).any() or ((digits < 1) | (digits > 18)).any():
        return None
    steps = np.zeros(len(characters), dtype=np.int8)
    steps[tabs[:, 0]], steps[ends] = 1, -1
    in_counts = np.cumsum(steps, dtype=np.int8).astype(bool)  # from the first tab of a row up to its end
    counts = characters[in_counts]
    if not ((counts == ord("\t")) | ((counts >= ord("0")) & (counts <= ord("9")))).all():
        return None
    surfaces = characters[~in_counts].tobytes().decode().split("\n")[:-1]
    return surfaces, np.fromstring(counts.tobytes(), np.int64, sep="\t").reshape(-1, classes)


def _refuse_line(text: str, classes: int, name: str) -> NoReturn:
    row = re.compile(rf"[^\t\n]*(?:\t[0-9]{{1,18}}){{{classes}}}" if classes else "(?!)")
    lines = text.split("\n")
    number = next(number for number, line in enumerate(lines) if not row.fullmatch(line))
    wish = "a token and its counts by class, separated by tabs"
    raise InputError(f"{name} line {number + 1} is {lines[number][:60]!r}: expected {wish}.")


def _read_surfaces(surfaces: Any) -> tuple[str, ...]:
    wish = "a list of texts"
    if not isinstance(surfaces, Sequence | np.ndarray) or isinstance(surfaces, str | bytes | bytearray):
        raise InputError(f"`surfaces` must be {wish}, not {shorten(surfaces)}.")
    listed = surfaces.tolist() if isinstance(surfaces, np.ndarray) else surfaces
    if not (isinstance(listed, Sequence) and all(issubclass(kind, str) for kind in set(map(type, listed)))):
        raise InputError(f"`surfaces` must be {wish}, not {shorten(surfaces)}.")
    return tuple(listed)


def _read_counts(counts: Any) -> np.ndarray:
    table = float_array(counts, "`counts`")
    if not ((table >= 0) & (table < 2**53) & (table == np.floor(table))).all():
        raise InputError(f"`counts` must be numbers of texts, whole and from 0 up, not {shorten(counts)}.")
    return table.astype(np.int64)


def _check_surfaces(surfaces: Sequence[str]) -> None:
    # All at once, which is how it nearly always is; if not, one by one, to say which.
    if _are_tokens(surfaces):
        return
    for surface in surfaces:
        if not re.fullmatch(SURFACE, surface) or fold(surface) != surface:
            wish = "words in lower case, joined by single spaces"
            raise InputError(f"`surfaces` has {shorten(surface)}, which the tokeniser never yields: expected {wish}.")


def _are_tokens(surfaces: Sequence[str]) -> bool:
    """Whether all are folded and what `SURFACE` says, which takes far longer to be compiled and asked: a mark, or at
    most so many words with a space between; in a word there are letters, and single apostrophes between them."""
    text = "\n".join([*surfaces, ""])
    if not are_folded(text):
        return False
    codes = codes_of(text)
    is_letter = (codes >= len(CLASSES)) | (CLASSES[np.minimum(codes, len(CLASSES) - 1)] == LETTER)
    ends, spaces = (codes == ord(character) for character in "\n ")
    alone = np.append(True, ends[:-1]) & np.append(ends[1:], False)
    is_letter |= alone & np.isin(codes, [ord(mark) for mark in MARKS])
    is_joint = ends | spaces | (codes == ord("'"))
    places = np.flatnonzero(ends)
    return bool(
        len(places) == len(surfaces)
        and (is_letter | is_joint).all()
        and not (is_joint & np.append(True, is_joint[:-1])).any()
        and (np.diff(np.searchsorted(np.flatnonzero(spaces), places), prepend=0) < LONGEST_PHRASE).all()
    )
