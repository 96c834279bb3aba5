"""Texts as one run of UTF-8 bytes with offsets, from lists, arrays, series and Arrow; classes by
name."""

import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from hardmax._common.format import first_few
from hardmax._common.validation import InputError, check_list, check_str, shorten
from hardmax.text._characters import REPLACEMENT

SHOWN = 10  # classes that a message names
SURROGATES = re.compile("[\ud800-\udfff]")
_EXPECTED = "expected a list of texts, a column of a table, or an Arrow array"


@dataclass(frozen=True, eq=False)
class TextBytes:
    """Text t is `data[offsets[t]:offsets[t + 1]]`, UTF-8."""

    data: np.ndarray
    offsets: np.ndarray

    def __post_init__(self) -> None:
        # For arrays that may be written to, kernels would be compiled once more.
        for name in ("data", "offsets"):
            array = getattr(self, name).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def strings(self) -> list[str]:
        """The texts as strings; bytes that are no UTF-8 become U+FFFD."""
        data, bounds = self.data.tobytes(), pairwise(self.offsets.tolist())
        return [data[first:last].decode(errors="replace") for first, last in bounds]

    def part(self, first: int, last: int) -> "TextBytes":
        """The texts from `first` up to but not including `last`; nothing is copied but the
        offsets."""
        return TextBytes(self.data, self.offsets[first : last + 1])

    def pick(self, rows: np.ndarray) -> "TextBytes":
        """Some of the texts, in the order of `rows`."""
        pieces = [self.data[self.offsets[row] : self.offsets[row + 1]] for row in rows]
        data = np.concatenate([np.empty(0, dtype=np.uint8), *pieces])
        return TextBytes(data, np.cumsum([0, *map(len, pieces)]))


def read_texts(texts: Any, name: str = "`texts`") -> TextBytes:
    """The bytes of texts that come as a list, a numpy array, a pandas or polars series, or an Arrow
    array.

    Surrogates on their own, which no UTF-8 can hold, become U+FFFD.

    >>> found = read_texts(["good", "", "né"])
    >>> found.data.tobytes(), found.offsets.tolist()
    (b'goodn\\xc3\\xa9', [0, 4, 4, 7])
    """
    if isinstance(texts, TextBytes):
        return texts
    if isinstance(texts, str | bytes):
        raise InputError(f"{name} is a single text: {_EXPECTED}. Put it in a list: [text].")
    arrow = _as_arrow(texts)
    if arrow is not None:
        return _of_arrow(arrow, name)
    listed = None
    # A table would be read as the names of its columns; a set has no order.
    if not isinstance(texts, dict | set | frozenset) and not hasattr(texts, "columns"):
        with suppress(Exception):  # whatever an iterator of somebody's own raises
            listed = list(texts)
    if listed is None:
        raise InputError(f"{name} is of type {type(texts).__name__}: {_EXPECTED}.")
    pieces = []
    for row, text in enumerate(listed):
        pieces.append(encode_text(text) if isinstance(text, str) else _refuse(row, text, name))
    data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    return TextBytes(data, np.cumsum([0, *map(len, pieces)], dtype=int))


def encode_text(text: str) -> bytes:
    """UTF-8, where surrogates on their own become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return SURROGATES.sub(REPLACEMENT, text).encode()


def read_words(words: Any, name: str) -> tuple[str, ...]:
    """The words of a list or an array, checked."""
    listed = words.tolist() if isinstance(words, np.ndarray) else words
    listed = check_list(listed, name, "a list of words")
    return tuple(check_str(word, f"{name} (each)") for word in listed)


def is_missing(value: Any) -> bool:
    """Whether a cell of a table is empty: None, nan, or pandas' <NA>."""
    try:
        return value is None or bool(value != value) or str(value) == "<NA>"
    except Exception:  # arrays, and objects that do not compare
        return False


def _refuse(row: int, value: Any, name: str) -> NoReturn:
    what = "missing" if is_missing(value) else f"of type {type(value).__name__}"
    raise InputError(
        f"{name} row {row} is {what}: expected a text. Leave the row out, or put '' in its place."
    )


def _as_arrow(texts: Any) -> Any:
    """An Arrow array, if it is one or a series that can become one without Python objects."""
    kind = type(texts)
    if not hasattr(kind, "__arrow_c_stream__") and not hasattr(kind, "__arrow_c_array__"):
        return None
    try:
        import pyarrow
    except ImportError:  # then the series is read as a sequence of strings
        return None
    try:
        return pyarrow.chunked_array([texts] if isinstance(texts, pyarrow.Array) else texts)
    except (TypeError, ValueError):  # a series of mixed objects, or a frame
        return None


def _of_arrow(array: Any, name: str) -> TextBytes:
    import pyarrow.compute

    if pyarrow.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if not str(array.type).startswith(("string", "large_string")):
        raise InputError(f"{name} has values of type {array.type}: expected texts.")
    if array.null_count:
        _refuse(pyarrow.compute.index(array.is_null(), True).as_py(), None, name)
    # Large strings have offsets of 64 bits, so that any number of chunks fits into one array.
    joined = array.cast(pyarrow.large_string()).combine_chunks()
    _, places, content = joined.buffers()
    if not len(joined):
        return TextBytes(np.empty(0, dtype=np.uint8), np.zeros(1, dtype=int))
    offsets = np.frombuffer(places, dtype=int)[joined.offset :][: len(joined) + 1]
    return TextBytes(np.frombuffer(content or b"", dtype=np.uint8), offsets)


def number_of_class(label: Any, classes: tuple[Any, ...], name: str) -> int:
    """The number of the class that a label names.

    >>> number_of_class("good", ("bad", "good"), "`label`")
    1
    """
    # What is no label may have a comparison of its own, which says neither yes nor no.
    if not isinstance(label, str | int | float | np.generic) or label not in classes:
        names = first_few(map(shorten, classes), SHOWN)
        raise InputError(f"{name} must be one of {names}, not {shorten(label)}.")
    return classes.index(label)
