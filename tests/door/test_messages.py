"""Wrong arguments that people have given and what they are told; extras that are not installed."""

# pyright: reportArgumentType=false, reportCallIssue=false
import itertools
import sys

import pandas as pd
import pytest
from door.calls import HALF, SQUARE
from refusals import listed_refusals

import hardmax as hm
from hardmax._common.validation import MissingExtra

LIMIT = hm.limit(SQUARE, HALF, arithmetic="exact")  # nothing is compiled while tests are collected


CHAIN = [[2 - 2**-14, 2], [2 - 2**-14, -2], [2, 1], [2, -1], [0.5, 0]]
GAVE_UP = hm.limit(CHAIN, HALF, max_layers=0, arithmetic="exact")
TWO_OF_ONE_NAME = pd.DataFrame([["a great film", "a plot"]] * 8, columns=["text", "text"])


@pytest.mark.parametrize("make", [lambda: LIMIT.run.attended(0), lambda: hm.limits([SQUARE], HALF)])
def test_loops_end_where_sequences_do(make):
    sequence = make()
    assert (
        len(list(itertools.islice(iter(sequence), 99)))
        == len(sequence)
        == len(list(reversed(sequence)))
    )
    for error in (IndexError, hm.InputError):
        with pytest.raises(error):
            sequence[len(sequence)]


def test_an_extra_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match="`to_pandas` needs the extra `tables`"):
        LIMIT.run.to_pandas()


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
