"""What no argument of ours expects, each under a name; made anew for every call, since some can be used up."""

import datetime
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse


class Meaningless:
    """An object that is nothing else."""


class Hostile:
    """An object that has every method, and none of them works."""

    def _fails(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("this\nobject\nfails")

    __len__ = __iter__ = __getitem__ = __index__ = __int__ = __float__ = __bool__ = _fails
    __array__ = __repr__ = __str__ = __hash__ = __eq__ = __lt__ = __gt__ = __le__ = __ge__ = _fails
    __fspath__ = __contains__ = _fails


class Liar:
    """An object whose methods give back what they must not."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: Any) -> Any:
        if index in (0, 1):
            return {"index": index}
        raise IndexError

    def __index__(self) -> int:
        return -7

    def __fspath__(self) -> str:
        return "no/such\0file"

    def __repr__(self) -> str:
        return "a liar\n" * 1000


def _self_containing() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


def _deep(levels: int) -> list[Any]:
    deep: list[Any] = [1.0]
    for _ in range(levels):
        deep = [deep]
    return deep


def _structured() -> np.ndarray:
    return np.array([(1.0, 2.0)], dtype=[("x", "f8"), ("y", "f8")])


def _generator() -> Iterator[Any]:
    yield [1.0, 2.0]
    yield [3.0, 4.0]


MASKED = np.ma.MaskedArray([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
UNMASKED = np.ma.MaskedArray([[1.0, 2.0], [3.0, 4.0]], mask=False)

BAD: dict[str, Callable[[], Any]] = {
    # nothing, truth values, numbers
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "numpy True": lambda: np.True_,
    "0": lambda: 0,
    "-1": lambda: -1,
    "1": lambda: 1,
    "2.5": lambda: 2.5,
    "-2.5": lambda: -2.5,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "numpy nan": lambda: np.float32("nan"),
    "2^63": lambda: 2**63,
    "10^400": lambda: 10**400,
    "10^5000": lambda: 10**5000,
    "-10^400": lambda: -(10**400),
    "complex": lambda: 1 + 2j,
    "Decimal NaN": lambda: Decimal("NaN"),
    "Decimal sNaN": lambda: Decimal("sNaN"),
    "Fraction": lambda: Fraction(-1, 3),
    "0-d number": lambda: np.array(1.5),
    "0-d object": lambda: np.array(None, dtype=object),
    # texts, bytes, times
    "no text": lambda: "",
    "a text": lambda: "nonsense",
    "two lines": lambda: "two\nlines",
    "NUL": lambda: "a\0b",
    "surrogate": lambda: "\ud800",
    "a long text": lambda: "x" * 5000,
    "300 letters": lambda: "y" * 300,
    "number as text": lambda: "1/2",
    "False as text": lambda: "False",
    "bytes": lambda: b"nonsense",
    "bytearray": lambda: bytearray(b"12"),
    "memoryview": lambda: memoryview(b"12"),
    "date": lambda: datetime.date(2024, 1, 1),
    "timedelta": lambda: datetime.timedelta(3),
    "datetime64": lambda: np.datetime64("2024-01-01"),
    # containers
    "[]": lambda: [],
    "()": lambda: (),
    "[[]]": lambda: [[]],
    "[[], []]": lambda: [[], []],
    "[[[]]]": lambda: [[[]]],
    "[[[], []], []]": lambda: [[[], []], []],
    "{}": lambda: {},
    "dict": lambda: {"tokens": [[1.0]]},
    "set": lambda: {1, 2},
    "generator": _generator,
    "range": lambda: range(3),
    "ragged": lambda: [[1, 2], [3]],
    "nested ragged": lambda: [[1, [2, 3]], [4, 5]],
    "clouds and rows": lambda: [[[1, 2], [3, 4]], [5, 6]],
    "[None]": lambda: [None],
    "[[None, 1.0]]": lambda: [[None, 1.0]],
    "[[1, nan]]": lambda: [[1.0, math.nan]],
    "list of texts": lambda: ["good", "bad"],
    "rows of texts": lambda: [["a", "b"], ["c", "d"]],
    "list of objects": lambda: [Meaningless(), Meaningless()],
    "list of -1": lambda: [-1, -5],
    "list of halves": lambda: [0.5, 1.5],
    "list of huge": lambda: [10**400, 2**70],
    "list of bools": lambda: [True, False],
    "list of lists of dicts": lambda: [[{}, {}], [{}, {}]],
    "itself inside": _self_containing,
    "2 000 deep": lambda: _deep(2000),
    "40 deep": lambda: _deep(40),
    # arrays
    "array of none": lambda: np.empty((0, 2)),
    "array without columns": lambda: np.empty((2, 0)),
    "batch of none": lambda: np.empty((0, 2, 2)),
    "batch of empty": lambda: np.empty((2, 0, 2)),
    "1-d": lambda: np.arange(3.0),
    "3-d": lambda: np.arange(8.0).reshape(2, 2, 2),
    "4-d": lambda: np.zeros((1, 1, 1, 1)),
    "nan array": lambda: np.full((2, 2), np.nan),
    "inf array": lambda: np.full((2, 2), np.inf),
    "complex array": lambda: np.ones((2, 2), dtype=complex),
    "datetime array": lambda: np.zeros((2, 2), dtype="datetime64[s]"),
    "bytes array": lambda: np.full((2, 2), b"x"),
    "text array": lambda: np.full((2, 2), "x"),
    "object array": lambda: np.array([[Meaningless(), None], [1, "x"]], dtype=object),
    "ragged object array": lambda: np.array([[1, 2], [3]], dtype=object),
    "structured": _structured,
    "void": lambda: np.zeros((2, 2), dtype="V4"),
    "masked": lambda: MASKED.copy(),
    "list of masked rows": lambda: list(MASKED.copy()),
    "mask without any": lambda: UNMASKED.copy(),
    "sparse matrix": lambda: scipy.sparse.csr_matrix(np.eye(2)),
    "sparse array": lambda: scipy.sparse.coo_array(np.eye(2)),
    "list of sparse": lambda: [scipy.sparse.csr_matrix(np.eye(2))],
    # things of Python
    "object": Meaningless,
    "class": lambda: Meaningless,
    "lambda": lambda: lambda *_: None,
    "lambda without arguments": lambda: lambda: None,
    "module": lambda: math,
    "Ellipsis": lambda: ...,
    "slice": lambda: slice(0, 2),
    "hostile": Hostile,
    "liar": Liar,
    "list of hostile": lambda: [Hostile(), Hostile()],
    "rows of hostile": lambda: [[Hostile()], [Hostile()]],
}

try:
    import pandas
except ImportError:  # the extra `tables` is not installed
    pass
else:
    BAD |= {
        "frame with gaps": lambda: pandas.DataFrame({"x": [1.0, None], "y": [2.0, 3.0]}),
        "frame with NA": lambda: pandas.DataFrame({"x": [1, pandas.NA], "y": [2, 3]}, dtype="Int64"),
        "frame of texts": lambda: pandas.DataFrame({"x": ["a", "b"]}),
        "series with gaps": lambda: pandas.Series([None, "good"]),
    }
