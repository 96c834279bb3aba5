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
edges = st.tuples(
    st.sampled_from([1, -1]), st.sampled_from([2**53, 2**63, 2**64]), st.integers(-3, 3)
).map(lambda drawn: drawn[0] * (drawn[1] + drawn[2]))
whole = st.integers(-3, 3) | edges | st.integers(-(2**80), 2**80)
floats = st.floats(allow_nan=False, allow_infinity=False)
decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**40), max_value=10**40)


def within(dtype: type[np.integer]) -> SearchStrategy[Any]:
    info = np.iinfo(dtype)
    inside = (
        edges.filter(lambda number: info.min <= number <= info.max)
        if info.bits == 64
        else st.nothing()
    )
    return (st.integers(info.min, info.max) | inside).map(dtype)


DTYPES: dict[str, SearchStrategy[Any]] = {
    "int64": within(np.int64),
    "uint64": within(np.uint64),
    "float64": floats.map(np.float64),
    "float32": st.floats(width=32, allow_nan=False, allow_infinity=False).map(np.float32),
    "float16": st.floats(width=16, allow_nan=False, allow_infinity=False).map(np.float16),
    "longdouble": st.tuples(floats.map(np.longdouble), whole.map(np.longdouble)).map(max),
    "bool": st.booleans().map(np.bool_),
}
KINDS = DTYPES | {
    "int": whole,
    "float": floats,
    "Fraction": st.fractions(),
    "Decimal": decimals,
    "decimal text": decimals.map(str),
    "quotient": st.fractions().map(str),
}
CONTAINERS: dict[str, Callable[[list[list[Any]]], Any]] = {
    "list of lists": lambda rows: rows,
    "array of objects": lambda rows: np.array(rows, dtype=object),
    "list of a tuple and arrays": lambda rows: [tuple(rows[0]), *np.array(rows, dtype=object)[1:]],
}
BATCHES: dict[str, Callable[[np.ndarray], Any]] = {
    "stack": lambda stack: stack,
    "list of arrays": list,
    "tuple of lists": lambda stack: tuple(cloud.tolist() for cloud in stack),
    "ragged": lambda stack: hm.Clouds(
        np.concatenate(stack), np.arange(len(stack) + 1) * stack.shape[1]
    ),
}


def truths(rows: Any) -> list[list[Fraction]]:
    """The rationals that numbers are, by their own account."""

    def truth(number: Any) -> Fraction:
        if isinstance(number, np.floating):
            return Fraction(*number.as_integer_ratio())
        return (
            Fraction(int(number)) if isinstance(number, np.integer | np.bool_) else Fraction(number)
        )

    return [[truth(number) for number in row] for row in rows]


def read_numbers(table: np.ndarray) -> list[list[Fraction]]:
    assert table.dtype == np.float64 or all(isinstance(number, Fraction) for number in table.flat)
    return [[Fraction(number) for number in row] for row in table.tolist()]


@st.composite
def tables(draw: DrawFn, kinds: list[str], width: int | None = None) -> list[list[Any]]:
    """Rows of numbers, of at most three of the kinds: where two types meet, numpy looks for a
    third."""
    some = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))
    width = width or draw(st.integers(1, 3))
    entries = st.one_of([KINDS[kind] for kind in some])
    return draw(st.lists(st.lists(entries, min_size=width, max_size=width), min_size=1, max_size=4))


@settings(max_examples=examples(2000))
@given(tables(list(KINDS)))
def test_numbers_in_a_container_are_the_numbers_given(rows):
    is_stored = all(Fraction(float(number)) == number for row in truths(rows) for number in row)
    kinds = {type(number) for row in rows for number in row}
    for container in CONTAINERS.values():
        table = read_table(container(rows), "`tokens`")
        assert read_numbers(table) == truths(rows)
        if kinds <= {
            int,
            float,
            np.int64,
            np.uint64,
            np.float64,
            np.float32,
        }:  # the others may stay Fractions
            assert table.dtype == (np.float64 if is_stored else object)
    assert hm.Dynamics(1, [rows[0][:1]]).metric.tolist() == [truths(rows)[0][:1]]


@settings(max_examples=examples(2000))
@given(st.sampled_from(list(DTYPES)), st.data())
def test_an_array_is_the_numbers_it_holds_alone_and_in_a_batch(dtype, data):
    array = np.array(data.draw(tables([dtype])), dtype=dtype)
    for same in (
        array,
        array.astype(array.dtype.newbyteorder()),
        array[::-1, ::-1],
        np.asfortranarray(array),
    ):
        table = read_table(same, "`tokens`")
        assert read_numbers(table) == truths(same)
        assert table.flags.c_contiguous  # merging looks at rows of bits
    stack = np.stack([array, array[::-1]])
    for form in BATCHES.values():
        clouds, _ = read_batch(form(stack))
        assert [read_numbers(cloud.tokens) for cloud in clouds] == list(map(truths, stack))


@settings(max_examples=examples(2000))
@given(tables(list(KINDS), 2), tables(list(KINDS), 2), st.data())
def test_clouds_and_rows_of_different_types_go_together(first, second, data):
    clouds, _ = read_batch([first, np.array(second, dtype=object)])
    assert [read_numbers(cloud.tokens) for cloud in clouds] == [truths(first), truths(second)]
    kinds = data.draw(st.lists(st.sampled_from(list(DTYPES)), min_size=1, max_size=4))
    rows = [np.array(data.draw(tables([kind], 2))[0], dtype=kind) for kind in kinds]
    assert read_numbers(read_table(rows, "`tokens`")) == truths(rows)


NO_NUMBERS = [
    np.nan, -np.inf, 1j, None, "", "x", "1/0", "nan", "1e999999999", [1.0], b"1", Decimal("nan"),
    Decimal("sNaN"), 10**400, np.float32("nan"), np.longdouble("inf"), np.longdouble("1e400"),
    np.complex64(1), np.timedelta64(5, "ns"), np.datetime64(5, "ns"), np.bytes_(b"1"),
    np.ma.masked, object(), np.array(1.0), pd.NA,
]  # fmt: skip


@pytest.mark.parametrize("bad", NO_NUMBERS, ids=lambda bad: type(bad).__name__)
@pytest.mark.parametrize("container", CONTAINERS)
def test_what_is_no_number_is_refused(container, bad):
    for rows in ([[1, 2.5], [bad, 1]], [["1/3", 0], [0.5, bad]], [[bad, bad], [bad, bad]]):
        with refuses("`tokens`"):
            read_table(CONTAINERS[container](rows), "`tokens`")


@pytest.mark.parametrize(
    "many", [2**63, -(2**63) - 1, -(2**70), 2**64 - 1, 1.0, True, "1", None, Fraction(1)]
)
def test_what_is_no_whole_number_that_can_be_counted_to_is_refused(many):
    for counts in ([many, 1], np.array([many, 1], dtype=object)):
        with refuses("`multiplicities` must be whole numbers below 2\\^63"):
            hm.Clouds([[1.0], [2.0]], [0, 2], counts)


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
