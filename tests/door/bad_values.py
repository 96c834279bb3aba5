"""What arguments do not expect, each under a name, with the kinds of arguments that may take it all
the same."""

import datetime
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse


class Hostile:
    """An object that has every method, and none of them works."""

    def _fails(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("this\nobject\nfails")

    __len__ = __iter__ = __getitem__ = __index__ = __int__ = __float__ = __bool__ = _fails
    __array__ = __repr__ = __str__ = __hash__ = __eq__ = __lt__ = __gt__ = __le__ = __ge__ = _fails
    __fspath__ = __contains__ = _fails


class Liar:
    """An object whose methods return what they must not."""

    __len__ = lambda self: 2  # noqa: E731
    __index__ = lambda self: -7  # noqa: E731
    __fspath__ = lambda self: "no/such\0file"  # noqa: E731
    __repr__ = lambda self: "a liar\n" * 1000  # noqa: E731

    def __getitem__(self, index: Any) -> Any:
        if index in (0, 1):
            return {"index": index}
        raise IndexError


def _deep(levels: int) -> list[Any]:
    deep: list[Any] = [1.0]
    for _ in range(levels):
        deep = [deep]
    return deep


def containing_itself() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


def kind_of(good: Any) -> str:
    """The kind of an argument, by a good value of it."""
    if isinstance(good, bool):
        return "bool"
    if isinstance(good, int):
        return "int"
    if isinstance(good, float | Fraction):
        return "real"
    if isinstance(good, str):
        return "text"
    if isinstance(good, list | tuple | np.ndarray):
        return "list"
    return "dict" if isinstance(good, Mapping) else "object"


LARGEST, TWICE = 1.79e308, ["text", "text"]
MASKED = np.ma.MaskedArray([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
# By the kinds that may take them; those at the end no argument takes. Made anew for every call:
# some are used up.
BAD: dict[str, dict[str, Callable[[], Any]]] = {
    "bool int real text list dict object": {"None": lambda: None},
    "bool": {"True": lambda: True, "False": lambda: False, "numpy True": lambda: np.True_},
    "int real": {
        "0": lambda: 0,
        "-1": lambda: -1,
        "1": lambda: 1,
        "2^63": lambda: 2**63,
        "10^400": lambda: 10**400,
    },
    "int": {"slice": lambda: slice(0, 2)},
    "int list": {"range": lambda: range(3)},
    "real": {
        "2.5": lambda: 2.5,
        "-2.5": lambda: -2.5,
        "Fraction": lambda: Fraction(-1, 3),
        "inf": lambda: math.inf,
    },
    "real text": {"number as text": lambda: "1/2"},
    "text": {
        name: lambda text=name: text
        for name in ("", "nonsense", "two\nlines", "a\0b", "\ud800", "y" * 300)
    },
    "object": {"lambda": lambda: lambda *_: None},
    "dict": {"{}": lambda: {}, "dict": lambda: {"tokens": [[1.0]]}},
    "list": {
        "[]": lambda: [],
        "[[], []]": lambda: [[], []],
        "[None]": lambda: [None],
        "list of texts": lambda: ["a", "b"],
        "list of -1": lambda: [-1, -5],
        "list of halves": lambda: [0.5, 1.5],
        "list of huge": lambda: [10**400, 2**70],
        "list of bools": lambda: [True, False],
        "array of none": lambda: np.empty((0, 2)),
        "1-d": lambda: np.arange(3.0),
        "3-d": lambda: np.ones((2, 2, 2)),
        "mask of nothing": lambda: np.ma.MaskedArray(np.eye(2), mask=False),
        "0-d": lambda: np.array(2.0),
        "largest floats": lambda: LARGEST * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]),
        "2-d memoryview": lambda: memoryview(np.eye(2)),
        "columns of one name": lambda: pd.DataFrame(np.eye(2), columns=TWICE),
        "texts of one name": lambda: pd.DataFrame([["a film", "a plot"]] * 8, columns=TWICE),
    },
    "": {
        "nan": lambda: math.nan,
        "complex": lambda: 1 + 2j,
        "Decimal sNaN": lambda: Decimal("sNaN"),
        "bytes": lambda: b"nonsense",
        "date": lambda: datetime.date(2024, 1, 1),
        "set": lambda: {1, 2},
        "generator": lambda: (x for x in [[1.0]]),
        "ragged": lambda: [[1, 2], [3]],
        "[[None, 1.0]]": lambda: [[None, 1.0]],
        "[[1, nan]]": lambda: [[1.0, math.nan]],
        "rows of texts": lambda: [["a", "b"], ["c", "d"]],
        "itself inside": containing_itself,
        "2 000 deep": lambda: _deep(2000),
        "inf array": lambda: np.full((2, 2), np.inf),
        "complex array": lambda: np.ones((2, 2), dtype=complex),
        "datetime array": lambda: np.zeros((2, 2), dtype="datetime64[s]"),
        "object array": lambda: np.array([[object(), None], [1, "x"]], dtype=object),
        "structured": lambda: np.array([(1.0, 2.0)], dtype=[("x", "f8"), ("y", "f8")]),
        "masked": MASKED.copy,
        "list of masked rows": lambda: list(MASKED.copy()),
        "sparse matrix": lambda: scipy.sparse.csr_matrix(np.eye(2)),
        "class": lambda: Liar,
        "module": lambda: math,
        "hostile": Hostile,
        "liar": Liar,
        "rows of hostile": lambda: [[Hostile()], [Hostile()]],
        "timedelta": lambda: np.array(5).astype("m8")[()],
        "timedelta of seconds": lambda: np.timedelta64(5, "s"),
    },
}
if find_spec("torch"):
    import torch

    BAD["list"]["bfloat16"] = lambda: torch.ones(2, 2, dtype=torch.bfloat16)
    BAD[""]["tensor without numbers"] = lambda: torch.ones(3, 2, device="meta")
if find_spec("polars"):
    import polars as pl

    BAD[""]["lazy frame"] = lambda: pl.LazyFrame({"text": ["a film", "a plot"]})
