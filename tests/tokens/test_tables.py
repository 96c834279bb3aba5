"""Whatever numbers are given, in whatever container: the same numbers are read, or a line says why not."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from effort import some
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

import hardmax as hm
from hardmax._tokens.batches import read_batch, read_table

# ---------------------------------------------------------------- numbers of every kind

# Where kinds of numbers end: float64 counts to 2^53, int64 to 2^63, uint64 to 2^64.
edges = st.tuples(st.sampled_from([1, -1]), st.sampled_from([2**53, 2**63, 2**64]), st.integers(-3, 3)).map(
    lambda drawn: drawn[0] * (drawn[1] + drawn[2])
)
whole = st.integers(-3, 3) | edges | st.integers(-(2**80), 2**80)
floats = st.floats(allow_nan=False, allow_infinity=False)
decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**40), max_value=10**40)
fractions = st.fractions()


def within(dtype: type[np.integer]) -> SearchStrategy[Any]:
    info = np.iinfo(dtype)
    inside = edges.filter(lambda number: info.min <= number <= info.max) if info.bits == 64 else st.nothing()
    return (st.integers(info.min, info.max) | inside).map(dtype)


def narrow(dtype: type[np.floating], width: int) -> SearchStrategy[Any]:
    return st.floats(width=width, allow_nan=False, allow_infinity=False).map(dtype)  # type: ignore[arg-type]


KINDS: dict[str, SearchStrategy[Any]] = {
    "int": whole,
    "float": floats,
    "bool": st.booleans(),
    "int64": within(np.int64),
    "uint64": within(np.uint64),
    "int8": within(np.int8),
    "float64": floats.map(np.float64),
    "float32": narrow(np.float32, 32),
    "float16": narrow(np.float16, 16),
    "longdouble": st.tuples(floats.map(np.longdouble), whole.map(np.longdouble)).map(max),
    "bool_": st.booleans().map(np.bool_),
    "Fraction": fractions,
    "Decimal": decimals,
    "decimal text": decimals.map(str),
    "quotient": fractions.map(str),
    "numpy text": whole.map(str).map(np.str_),
}
PLAIN = [kind for kind in KINDS if kind not in ("Fraction", "Decimal", "decimal text", "quotient", "numpy text")]
DTYPES = [kind for kind in PLAIN if kind not in ("int", "float", "bool")]


def truth(number: Any) -> Fraction:
    """The rational that a number is, by its own account."""
    if isinstance(number, np.floating):
        return Fraction(*number.as_integer_ratio())
    return Fraction(int(number)) if isinstance(number, np.integer | np.bool_) else Fraction(number)


def truths(rows: Any) -> list[list[Fraction]]:
    return [[truth(number) for number in row] for row in rows]


def read_numbers(table: np.ndarray) -> list[list[Fraction]]:
    assert table.dtype == np.float64 or all(isinstance(number, Fraction) for number in table.flat)
    return [[Fraction(number) for number in row] for row in table.tolist()]


@st.composite
def tables(draw: DrawFn, kinds: list[str], width: int | None = None) -> list[list[Any]]:
    """Rows of numbers, of at most three of the kinds: where two kinds meet, numpy looks for a third."""
    some = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))
    width = width or draw(st.integers(1, 3))
    entries = st.one_of([KINDS[kind] for kind in some])
    return draw(st.lists(st.lists(entries, min_size=width, max_size=width), min_size=1, max_size=4))


def array_of(numbers: Any, dtype: str) -> np.ndarray:
    return np.array(numbers, dtype=dtype.rstrip("_"))


# ---------------------------------------------------------------- containers of every kind

CONTAINERS: dict[str, Callable[[list[list[Any]]], Any]] = {
    "list of lists": lambda rows: rows,
    "list of tuples": lambda rows: list(map(tuple, rows)),
    "tuple of both": lambda rows: (tuple(rows[0]), *rows[1:]),
    "array of objects": lambda rows: np.array(rows, dtype=object),
    "list of arrays of objects": lambda rows: list(np.array(rows, dtype=object)),
    "list of a tuple and arrays": lambda rows: [tuple(rows[0]), *np.array(rows, dtype=object)[1:]],
    "data frame of objects": lambda rows: pd.DataFrame(rows, dtype=object),
}


@given(tables(list(KINDS)))
def test_numbers_in_a_container_are_the_numbers_given(rows: list[list[Any]]):
    for container in CONTAINERS.values():
        assert read_numbers(read_table(container(rows), "`tokens`")) == truths(rows)


@given(tables([kind for kind in PLAIN if kind != "longdouble"]))
def test_numbers_come_as_floats_exactly_if_floats_hold_them(rows: list[list[Any]]):
    hold = all(Fraction(float(number)) == number for row in truths(rows) for number in row)
    for container in CONTAINERS.values():
        assert read_table(container(rows), "`tokens`").dtype == (np.float64 if hold else object)


@given(st.data(), st.integers(1, 3))
def test_rows_may_be_arrays_of_different_kinds(data: st.DataObject, width: int):
    kinds = data.draw(st.lists(st.sampled_from(DTYPES), min_size=1, max_size=4))
    rows = [array_of(data.draw(tables([kind], width))[0], kind) for kind in kinds]
    assert read_numbers(read_table(rows, "`tokens`")) == truths(rows)


@pytest.mark.parametrize("dtype", DTYPES)
@given(st.data())
def test_an_array_is_the_numbers_it_holds(dtype: str, data: st.DataObject):
    array = array_of(data.draw(tables([dtype])), dtype)
    for same in (array, array.astype(array.dtype.newbyteorder()), array[::-1, ::-1], np.asfortranarray(array)):
        table = read_table(same, "`tokens`")
        assert read_numbers(table) == truths(same)
        assert table.flags.c_contiguous  # merging looks at rows of bits


BATCHES: dict[str, Callable[[np.ndarray], Any]] = {
    "stack": lambda stack: stack,
    "stack of objects": lambda stack: stack.astype(object),
    "list of arrays": list,
    "tuple of lists": lambda stack: tuple(cloud.tolist() for cloud in stack),
    "ragged": lambda stack: hm.Ragged(np.concatenate(stack), np.arange(len(stack) + 1) * stack.shape[1]),
}


@pytest.mark.parametrize("dtype", some(DTYPES))
@given(st.data())
def test_a_batch_is_the_numbers_it_holds(dtype: str, data: st.DataObject):
    rows = data.draw(tables([dtype], 2).filter(lambda rows: len(rows) != 3))
    stack = array_of(rows, dtype).reshape(-1, 1 + (len(rows) > 1), 2)
    for form in BATCHES.values():
        clouds, _ = read_batch(form(stack))
        assert [read_numbers(cloud.tokens) for cloud in clouds] == list(map(truths, stack))


@given(tables(list(KINDS), 2), tables(list(KINDS), 2))
def test_clouds_of_different_kinds_make_a_batch(first: list[list[Any]], second: list[list[Any]]):
    clouds, _ = read_batch([first, np.array(second, dtype=object)])
    assert [read_numbers(cloud.tokens) for cloud in clouds] == [truths(first), truths(second)]


@given(st.integers(1, 3).flatmap(lambda width: tables(list(KINDS), width).filter(lambda rows: len(rows) >= width)))
def test_the_metric_is_the_matrix_given(rows: list[list[Any]]):
    matrix = rows[: len(rows[0])]
    assert hm.Dynamics(1, matrix).metric == tuple(map(tuple, truths(matrix)))


def test_tokens_that_differ_beyond_the_53rd_bit_are_two():
    for large in (2**53, 2**63, -(2**53) - 2):
        for tokens in ([[large + 1, 0.5], [large, 0.5]], [np.array([large + 1]), np.array([0.5])]):
            run = hm.simulate(tokens, hm.Dynamics(1), layers=0)
            assert run.points.count == 2
            assert run.points.coordinates[0, 0] == large + 1
    assert hm.Dynamics(1, [[2**53 + 1, 0.5], [0.5, 2**53]]).metric == ((2**53 + 1, 0.5), (0.5, 2**53))


# ---------------------------------------------------------------- what is no number

NO_NUMBERS = [
    np.nan, -np.inf, 1j, None, "", "x", "1/0", "nan", "1e999999999", [1.0], b"1", Decimal("nan"), Decimal("sNaN"),
    10**400, np.float32("nan"), np.longdouble("inf"), np.longdouble("1e400"), np.complex64(1), np.timedelta64(5, "ns"),
    np.datetime64(5, "ns"), np.bytes_(b"1"), np.ma.masked, object(), np.array(1.0), pd.NA,
]  # fmt: skip


@pytest.mark.parametrize("bad", NO_NUMBERS, ids=lambda bad: type(bad).__name__)
@pytest.mark.parametrize("container", CONTAINERS)
def test_what_is_no_number_is_refused(container: str, bad: Any):
    for rows in ([[1, 2.5], [bad, 1]], [["1/3", 0], [0.5, bad]], [[bad, bad], [bad, bad]]):
        with pytest.raises(hm.InputError, match="`tokens`") as refusal:
            read_table(CONTAINERS[container](rows), "`tokens`")
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.zeros((1, 1), complex), "real numbers, not complex128"),
        (np.zeros((1, 1), "m8[ns]"), "real numbers, not timedelta64"),
        (np.zeros((1, 1), "M8[ns]"), "real numbers, not datetime64"),
        (np.zeros((1, 1), "S3"), r"real numbers, not \|S3"),
        (np.zeros((1, 1), [("x", float)]), "real numbers"),
        (np.array([[np.inf]], np.longdouble), "must be finite"),
        (np.array([[np.nan]], np.longdouble), "must be a finite number"),
        (np.array([["1"], ["x"]]), "row 1, column 0.*'x'"),
        (np.ma.array([[1.0, 2.0]], mask=[[False, True]]), "masked"),
        ([np.ma.array([1.0, 2.0], mask=[False, True])], "masked"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], "different shapes"),
        ([np.array(1.0), np.array(2.0)], r"shape \(2,\)"),
        ([[1.0, 2.0], np.array(2.0)], "token 1 has a single number"),
        ([[[1.0]]], r"shape \(1, 1, 1\)"),
        (["12", "34"], r"shape \(2,\)"),
        (pd.Series([1.0, 2.0]), r"shape \(2,\)"),
        ({"x": [1.0]}, r"not \{.x.: \[1.0\]\}"),
        (pd.DataFrame({"x": [2**53 + 1], "y": [0.5]}), "DataFrame.*2\\^53. Pass an array"),
        (pd.DataFrame({"dtype": [2**53 + 1], "y": [0.5]}), "DataFrame.*2\\^53. Pass an array"),
        (pl.DataFrame({"x": [2**53 + 1], "y": [0.5]}), "DataFrame.*2\\^53. Pass an array"),
        (pa.table({"x": [2**53 + 1], "y": [0.5]}), "Table.*2\\^53. Pass an array"),
        (pl.DataFrame({"x": [2**53 + 1, None]}), "must be finite"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused(given: Any, message: str):
    with pytest.raises(hm.InputError, match=message) as refusal:
        read_table(given, "`tokens`")
    assert "\n" not in str(refusal.value)


def test_rows_may_be_series_of_different_kinds():
    for series in (pd.Series, pl.Series):
        rows = [series([2**53 + 1, 2]), series([1e300, 0.1])]
        assert read_numbers(read_table(rows, "`tokens`")) == truths([[2**53 + 1, 2], [1e300, 0.1]])


def test_data_frames_of_one_kind_may_hold_large_numbers():
    rows = [[2**53 + 1, 2**60], [1, -7]]
    for frame in (pd.DataFrame(rows), pl.DataFrame(rows, orient="row")):
        assert read_numbers(read_table(frame, "`tokens`")) == truths(rows)
    assert read_table(pd.DataFrame([[1e300, 0.5]]), "`tokens`").tolist() == [[1e300, 0.5]]
    assert read_table(pd.DataFrame({"x": [2**53 - 1], "y": [0.5]}), "`tokens`").tolist() == [[2**53 - 1, 0.5]]


# ---------------------------------------------------------------- what it costs


def test_floats_are_not_copied():
    cloud = np.random.default_rng(0).standard_normal((5, 2))
    assert read_table(cloud, "`tokens`") is cloud


def test_whole_numbers_and_floats_are_not_made_fractions(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("hardmax._tokens.batches.to_fractions", pytest.fail)
    for cloud in (
        [[1.5, 2]],
        [[2**60, -1e300]],
        np.array([[2**60, 3]]),
        np.ones((2, 1), np.uint8),
        [[np.float32(0.1)]],
    ):
        assert read_table(cloud, "`tokens`").dtype == np.float64
