"""What is read from a file is what is written in it; what is no cloud is refused in one line."""

import io
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from known import rational
from refusals import listed_refusals, refuses

from hardmax import Clouds
from hardmax.io import _read_csv, read_cloud

SQUARE = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]


def read(folder: Path, name: str, content: str | bytes) -> Any:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_cloud(path)


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def parquet(**columns: Any) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    writer = pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    writer.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()


digits = st.text("0123456789", min_size=1, max_size=25)
signs = st.sampled_from(["", "-", "+"])
points = st.sampled_from(["", "."])
decimals = st.text("0123456789", max_size=12)
plain = st.builds("{}{}{}{}".format, signs, digits, points, decimals)
eighths = st.builds(Fraction, st.integers(-(2**30), 2**30), st.sampled_from([1, 2, 8, 256]))
dyadic = eighths.map(lambda number: str(Decimal(number.numerator) / number.denominator))
powers = st.builds("{}{}e{}".format, signs, digits, st.integers(-30, 30))
quotients = st.builds("{}{}/{}".format, signs, digits, st.integers(1, 10**6))
padded = st.builds(" {} ".format, plain)


@settings(max_examples=examples(2000))
@given(st.sampled_from([plain, dyadic, powers, quotients, padded]), st.data())
def test_a_text_is_the_number_it_says(way, data):
    texts = data.draw(st.lists(way | dyadic, min_size=1, max_size=6))
    numbers = _read_csv("\n".join(texts).encode(), "`a`")
    truth = [Fraction(text.strip()) for text in texts]
    assert [Fraction(number) for (number,) in numbers.tolist()] == truth
    are_floats = all(Fraction(float(value)) == value for value in truth)
    assert (numbers.dtype == np.float64) == are_floats


WRITTEN = [
    "1,1\n1,-1\n-1,-1\n-1,1",
    '"x, left","y ""1"""\n"1","1"\n"1","-1"\n"-1","-1"\n"-1","1"\n',
    "# x,y\n1, 1\n1, -1\n\n   \n-1 ,-1\n -1,1\n\n",
    "x;y\n1;1\n1;-1\n-1;-1\n-1;1\n",
    "\ufeffx,y\r\n1,1\r\n1,-1\r\n-1,-1\r\n-1,1\r\n",
    "1.0,1e0\n10e-1,-1\n-1,-1.000\n-1,3/3\n",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_columns_are_read_however_they_are_separated(tmp_path, text):
    assert read(tmp_path, "points.csv", text).tolist() == SQUARE


LARGE = 2**53 + 1
LARGE_ROWS = [[LARGE, 0.5], [2**53, 0.5]]


def test_texts_are_read_as_decimals_and_quotients(tmp_path):
    found = read(tmp_path, "a.csv", "0.1,7/5\n0.5,2\n")
    assert found.tolist() == rational("1/10 7/5, 1/2 2")
    found = read(tmp_path, "a.json", '{"tokens": [[0.1, "7/5"], [3, 1e-2]]}')
    assert found.tolist() == rational("1/10 7/5, 3 1/100")


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", f"{LARGE},0.5\n{2**53},0.5\n"), ("a.json", f"[[{LARGE}, 0.5], [{2**53}, 0.5]]")],
)
def test_numbers_that_floats_do_not_hold_stay_what_they_are(tmp_path, name, content):
    assert read(tmp_path, name, content).tolist() == LARGE_ROWS


def test_numbers_of_arrays_are_what_is_stored(tmp_path):
    assert read(tmp_path, "a.npy", npy(np.array([[0.1]]))).tolist() == [[0.1]]
    largest = np.array([[[2**63 - 1]]])
    assert read(tmp_path, "a.npy", npy(largest)).tolist() == largest.tolist()
    swapped = np.asfortranarray(SQUARE).astype(">f4")
    assert read(tmp_path, "a.npy", npy(swapped)).tolist() == SQUARE
    content = npz(tokens=SQUARE, notes=np.zeros(3))
    assert read(tmp_path, "a.npz", content).tolist() == SQUARE


def test_parquet_has_a_token_per_row(tmp_path):
    content = parquet(x=[2**53 + 1, 1], y=[0.1, 2.5])
    first, second = read(tmp_path, "a.parquet", content).tolist()
    assert first == [2**53 + 1, Fraction(0.1)]
    assert second == [1, 2.5]
    content = parquet(x=[Decimal("0.1")])
    assert read(tmp_path, "a", content).tolist() == [[Fraction(1, 10)]]
    with refuses(r"must be a finite number.*not None"):
        read(tmp_path, "a.parquet", parquet(x=[None, 1]))


def test_several_clouds_come_as_a_list_an_array_or_ragged(tmp_path):
    batch = read(tmp_path, "a.json", "[[[1, 2]], [[3, 4], [5, 6]]]")
    assert [cloud.tolist() for cloud in batch] == [[[1, 2]], [[3, 4], [5, 6]]]
    stack = npy(np.ones((5, 4, 2)))
    assert read(tmp_path, "a.npy", stack).shape == (5, 4, 2)
    content = npz(tokens=SQUARE, offsets=[0, 1, 4], multiplicities=[1, 2, 1, 1])
    ragged = read(tmp_path, "a.npz", content)
    assert isinstance(ragged, Clouds)
    assert len(ragged) == 2
    assert ragged.multiplicities.tolist() == [1, 2, 1, 1]  # type: ignore[union-attr]


def test_standard_input_is_recognised_by_its_first_bytes(monkeypatch):
    text = b"1,1\n1,-1\n-1,-1\n-1,1\n"
    json_text = b"\xef\xbb\xbf " + json.dumps({"tokens": SQUARE}).encode()
    arrays = npy(np.array(SQUARE)), npz(tokens=np.array(SQUARE))
    for content in (text, json_text, *arrays):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        assert read_cloud("-").tolist() == SQUARE  # type: ignore[union-attr]


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
