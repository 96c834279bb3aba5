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
plain = st.builds(
    "{}{}{}{}".format, signs, digits, st.sampled_from(["", "."]), st.text("0123456789", max_size=12)
)
dyadic = st.builds(
    lambda m, e: str(Decimal(m) / 2**e), st.integers(-(2**30), 2**30), st.integers(0, 8)
)
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
    assert (numbers.dtype == np.float64) == all(Fraction(float(value)) == value for value in truth)


@pytest.mark.parametrize(
    "text",
    [
        "1,1\n1,-1\n-1,-1\n-1,1",
        '"x, left","y ""1"""\n"1","1"\n"1","-1"\n"-1","-1"\n"-1","1"\n',
        "# x,y\n1, 1\n1, -1\n\n   \n-1 ,-1\n -1,1\n\n",
        "x;y\n1;1\n1;-1\n-1;-1\n-1;1\n",
        "\ufeffx,y\r\n1,1\r\n1,-1\r\n-1,-1\r\n-1,1\r\n",
        "1.0,1e0\n10e-1,-1\n-1,-1.000\n-1,3/3\n",
    ],
)
def test_columns_are_read_however_they_are_separated(tmp_path, text):
    assert read(tmp_path, "points.csv", text).tolist() == SQUARE


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.csv", "0.1,7/5\n0.5,2\n", [[Fraction(1, 10), Fraction(7, 5)], [Fraction(1, 2), 2]]),
        (
            "a.json",
            '{"tokens": [[0.1, "7/5"], [3, 1e-2]]}',
            [[Fraction(1, 10), Fraction(7, 5)], [3, Fraction(1, 100)]],
        ),
        ("a.npy", npy(np.array([[0.1]])), [[0.1]]),
        ("a.csv", f"{2**53 + 1},0.5\n{2**53},0.5\n", [[2**53 + 1, 0.5], [2**53, 0.5]]),
        ("a.json", f"[[{2**53 + 1}, 0.5], [{2**53}, 0.5]]", [[2**53 + 1, 0.5], [2**53, 0.5]]),
        ("a.npy", npy(np.array([[[2**63 - 1]]])), [[[2**63 - 1]]]),
        ("a.npy", npy(np.asfortranarray(SQUARE).astype(">f4")), SQUARE),
        ("a.npz", npz(tokens=SQUARE, notes=np.zeros(3)), SQUARE),
    ],
)
def test_numbers_are_what_is_written(tmp_path, name, content, rows):
    assert read(tmp_path, name, content).tolist() == rows


def test_parquet_has_a_token_per_row(tmp_path):
    content = parquet(x=[2**53 + 1, 1], y=[0.1, 2.5])
    assert read(tmp_path, "a.parquet", content).tolist() == [
        [2**53 + 1, Fraction(0.1)],
        [1, Fraction(5, 2)],
    ]
    assert read(tmp_path, "a", parquet(x=[Decimal("0.1")])).tolist() == [[Fraction(1, 10)]]
    with refuses(r"must be a finite number.*not None"):
        read(tmp_path, "a.parquet", parquet(x=[None, 1]))


def test_several_clouds_come_as_a_list_an_array_or_ragged(tmp_path):
    batch = read(tmp_path, "a.json", "[[[1, 2]], [[3, 4], [5, 6]]]")
    assert [cloud.tolist() for cloud in batch] == [[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]]
    assert read(tmp_path, "a.npy", npy(np.ones((5, 4, 2)))).shape == (5, 4, 2)
    ragged = read(
        tmp_path, "a.npz", npz(tokens=SQUARE, offsets=[0, 1, 4], multiplicities=[1, 2, 1, 1])
    )
    assert isinstance(ragged, Clouds)
    assert len(ragged) == 2
    assert ragged.multiplicities.tolist() == [1, 2, 1, 1]  # type: ignore[union-attr]


def test_standard_input_is_recognised_by_its_first_bytes(monkeypatch):
    text = b"1,1\n1,-1\n-1,-1\n-1,1\n"
    json_text = b"\xef\xbb\xbf " + json.dumps({"tokens": SQUARE}).encode()
    for content in (text, json_text, npy(np.array(SQUARE)), npz(tokens=np.array(SQUARE))):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        assert read_cloud("-").tolist() == SQUARE  # type: ignore[union-attr]


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
