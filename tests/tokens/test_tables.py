"""Whatever numbers are given, in whatever container: the same numbers are read, or a line says why
not."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from refusals import listed_refusals, refuses

import hardmax as hm
from hardmax._tokens.batches import read_batch, read_table

# Where types of numbers end: float64 counts to 2^53, int64 to 2^63, uint64 to 2^64.
powers = st.sampled_from([2**53, 2**63, 2**64])
near = st.builds(lambda power, off: power + off, powers, st.integers(-3, 3))
edges = near | near.map(lambda number: -number)
whole = st.integers(-3, 3) | edges | st.integers(-(2**80), 2**80)
FINITE: dict[str, Any] = {"allow_nan": False, "allow_infinity": False}
floats = st.floats(**FINITE)
longdoubles = st.tuples(floats.map(np.longdouble), whole.map(np.longdouble)).map(max)
decimals = st.decimals(-(10**40), 10**40, **FINITE)


def within(dtype: type[np.integer]) -> SearchStrategy[Any]:
    info = np.iinfo(dtype)
    numbers = st.integers(info.min, info.max)
    if info.bits == 64:
        numbers |= edges.filter(lambda number: info.min <= number <= info.max)
    return numbers.map(dtype)


DTYPES: dict[str, SearchStrategy[Any]] = {
    "int64": within(np.int64),
    "uint64": within(np.uint64),
    "float64": floats.map(np.float64),
}
DTYPES["float32"] = st.floats(width=32, **FINITE).map(np.float32)
DTYPES["float16"] = st.floats(width=16, **FINITE).map(np.float16)
DTYPES["longdouble"] = longdoubles
DTYPES["bool"] = st.booleans().map(np.bool_)
KINDS = DTYPES | {"int": whole, "float": floats, "Fraction": st.fractions()}
KINDS |= {"Decimal": decimals, "decimal text": decimals.map(str)}
KINDS["quotient"] = st.fractions().map(str)


def objects(rows: list[list[Any]]) -> np.ndarray:
    return np.array(rows, dtype=object)


CONTAINERS: dict[str, Callable[[list[list[Any]]], Any]] = {
    "list of lists": list,
    "array of objects": objects,
    "list of a tuple and arrays": lambda rows: [tuple(rows[0]), *objects(rows)[1:]],
}


def ragged(stack: np.ndarray) -> hm.Clouds:
    offsets = np.arange(len(stack) + 1) * stack.shape[1]
    return hm.Clouds(np.concatenate(stack), offsets)


FORMS: list[Callable[[np.ndarray], Any]] = [np.asarray, list, np.ndarray.tolist, ragged]


def truths(rows: Any) -> list[list[Fraction]]:
    """The rationals that numbers are, by their own account."""

    def truth(number: Any) -> Fraction:
        if isinstance(number, np.floating):
            return Fraction(*number.as_integer_ratio())
        if isinstance(number, np.integer | np.bool_):
            number = int(number)
        return Fraction(number)

    return [[truth(number) for number in row] for row in rows]


def read_numbers(table: np.ndarray) -> list[list[Fraction]]:
    if table.dtype != np.float64:
        assert all(isinstance(number, Fraction) for number in table.flat)
    return [[Fraction(number) for number in row] for row in table.tolist()]


@st.composite
def tables(draw: DrawFn, kinds: list[str], width: int | None = None) -> list[list[Any]]:
    """Rows of numbers, of at most three of the kinds: where two types meet, numpy looks for a
    third."""
    some = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))
    width = width or draw(st.integers(1, 3))
    entries = st.one_of([KINDS[kind] for kind in some])
    row = st.lists(entries, min_size=width, max_size=width)
    return draw(st.lists(row, min_size=1, max_size=4))


PLAIN = {int, float, np.int64, np.uint64, np.float64, np.float32}


@settings(max_examples=examples(2000))
@given(tables(list(KINDS)))
def test_numbers_in_a_container_are_the_numbers_given(rows):
    expected = truths(rows)
    numbers = [number for row in expected for number in row]
    is_stored = all(Fraction(float(number)) == number for number in numbers)
    kinds = {type(number) for row in rows for number in row}
    for container in CONTAINERS.values():
        table = read_table(container(rows), "`tokens`")
        assert read_numbers(table) == expected
        if kinds <= PLAIN:  # the others may stay Fractions
            assert table.dtype == (np.float64 if is_stored else object)
    metric = hm.Dynamics(1, [rows[0][:1]]).metric
    assert metric.tolist() == [expected[0][:1]]


@settings(max_examples=examples(2000))
@given(st.sampled_from(list(DTYPES)), st.data())
def test_an_array_is_the_numbers_it_holds_alone_and_in_a_batch(dtype, data):
    array = np.array(data.draw(tables([dtype])), dtype=dtype)
    swapped = array.astype(array.dtype.newbyteorder())
    for same in (array, swapped, array[::-1, ::-1], np.asfortranarray(array)):
        table = read_table(same, "`tokens`")
        assert read_numbers(table) == truths(same)
        assert table.flags.c_contiguous  # merging looks at rows of bits
    stack = np.stack([array, array[::-1]])
    for form in FORMS:
        clouds, _ = read_batch(form(stack))
        found = [read_numbers(cloud.tokens) for cloud in clouds]
        assert found == [truths(table) for table in stack]


pairs = tables(list(KINDS), 2)
some_dtypes = st.lists(st.sampled_from(list(DTYPES)), min_size=1, max_size=4)


@settings(max_examples=examples(2000))
@given(pairs, pairs, some_dtypes, st.data())
def test_clouds_and_rows_of_different_types_go_together(first, second, dtypes, data):
    clouds, _ = read_batch([first, objects(second)])
    assert [read_numbers(cloud.tokens) for cloud in clouds] == [truths(first), truths(second)]
    rows = []
    for dtype in dtypes:
        row, *_ = data.draw(tables([dtype], 2))
        rows.append(np.array(row, dtype=dtype))
    assert read_numbers(read_table(rows, "`tokens`")) == truths(rows)


NO_NUMBERS = [np.nan, -np.inf, 1j, None, "", "x", "1/0", "nan", "1e999999999", [1.0], b"1"]
NO_NUMBERS += [Decimal("nan"), Decimal("sNaN"), 10**400, object(), pd.NA]
NO_NUMBERS += [np.float32("nan"), np.longdouble("inf"), np.longdouble("1e400")]
NO_NUMBERS += [np.complex64(1), np.timedelta64(5, "ns"), np.datetime64(5, "ns")]
NO_NUMBERS += [np.bytes_(b"1"), np.ma.masked, np.array(1.0)]


@pytest.mark.parametrize("bad", NO_NUMBERS, ids=lambda bad: type(bad).__name__)
@pytest.mark.parametrize("container", CONTAINERS)
def test_what_is_no_number_is_refused(container, bad):
    alone = [[1, 2.5], [bad, 1]]
    beside_texts = [["1/3", 0], [0.5, bad]]
    for rows in (alone, beside_texts, [[bad, bad], [bad, bad]]):
        with refuses("`tokens`"):
            read_table(CONTAINERS[container](rows), "`tokens`")


TOO_MANY = [2**63, -(2**63) - 1, -(2**70), 2**64 - 1]
NOT_WHOLE = [1.0, True, "1", None, Fraction(1)]


@pytest.mark.parametrize("many", TOO_MANY + NOT_WHOLE)
def test_what_is_no_whole_number_that_can_be_counted_to_is_refused(many):
    for counts in ([many, 1], np.array([many, 1], dtype=object)):
        with refuses("`multiplicities` must be whole numbers below 2\\^63"):
            hm.Clouds([[1.0], [2.0]], [0, 2], counts)


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
