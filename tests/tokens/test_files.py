"""What is read is what is written; what is written is whole or not there; what is wrong is said in one line."""

import contextlib
import io
import json
import os
import stat
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax._tokens.batches import Ragged, read_batch
from hardmax._tokens.points import merge
from hardmax._validation import InputError
from hardmax.io import read_cloud, read_metric, read_numbers, write_whole

SQUARE = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]]


def read(folder: Path, name: str, content: str | bytes) -> Any:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_cloud(path)


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


# ---------------------------------------------------------------- numbers as they are written

digits = st.text("0123456789", min_size=1, max_size=25)
signs = st.sampled_from(["", "-", "+"])
plain = st.builds("{}{}{}{}".format, signs, digits, st.sampled_from(["", "."]), st.text("0123456789", max_size=12))
dyadic = st.builds(lambda m, e: str(Decimal(m) / 2**e), st.integers(-(2**30), 2**30), st.integers(0, 8))
powers = st.builds("{}{}e{}".format, signs, digits, st.integers(-30, 30))
quotients = st.builds("{}{}/{}".format, signs, digits, st.integers(1, 10**6))
padded = st.builds("{} ".format, plain)
# All that Python takes for space around a number; no cell of a file holds the newline, but a text in JSON may.
SPACES = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\u00a0"


WAYS_TO_WRITE = {"plain": plain, "dyadic": dyadic, "powers": powers, "quotients": quotients, "padded": padded}


@pytest.mark.parametrize("way", WAYS_TO_WRITE)
@given(st.data())
def test_a_text_is_the_number_it_says(way: str, data: st.DataObject):
    texts = data.draw(st.lists(WAYS_TO_WRITE[way] | dyadic, min_size=1, max_size=6))
    numbers = read_numbers(texts, place=str)
    truth = [Fraction(text.strip()) for text in texts]
    assert [Fraction(number) for number in numbers.tolist()] == truth
    representable = all(Fraction(float(value)) == value for value in truth)
    assert numbers.dtype == (np.float64 if representable else object)


@pytest.mark.parametrize("space", SPACES)
def test_space_around_a_number_is_no_part_of_it(space: str):
    assert read_numbers([f"0.5{space}", f"{space}0.25", f"3.{space}"], place=str).tolist() == [0.5, 0.25, 3.0]


def test_large_whole_numbers_are_floats_only_if_floats_hold_them():
    assert read_numbers([str(2**62), str(-(2**60)), "0"], place=str).tolist() == [2.0**62, -(2.0**60), 0.0]
    assert read_numbers([str(2**62 + 1), "0.5"], place=str).tolist() == [2**62 + 1, Fraction(1, 2)]


@pytest.mark.parametrize(
    "text",
    ["", ".", "1.2.3", ".-5", "1.+5", "1 2", "1\n2", ".\x0c5", "0x10", "1/0", "1/2/3", "1.5/2", "--1", "five"],
)
def test_what_says_no_number_is_refused(text: str):
    with pytest.raises(InputError, match=r"cell 1 is .*: expected a number"):
        read_numbers(["1.5", text], place=lambda cell: f"cell {cell}")


@pytest.mark.parametrize("text", ["nan", "NaN", "sNaN", "inf", "-Infinity"])
def test_what_is_not_finite_is_refused(text: str):
    with pytest.raises(InputError, match=f"cell 1 is {text}: expected a finite number"):
        read_numbers(["1.5", text], place=lambda cell: f"cell {cell}")


@pytest.mark.parametrize("text", ["1e400", "-1e999999999", "1e-400", "1e-999999999"])
def test_what_float64_would_lose_altogether_is_refused(text: str):
    # Before it is written out: 1e999999999 has more digits than memory.
    with pytest.raises(InputError, match="between 1e-300 and 1e300"):
        read_numbers(["1.5", text], place=str)


# ---------------------------------------------------------------- text in columns


@pytest.mark.parametrize(
    "text",
    [
        "1,1\n1,-1\n-1,-1\n-1,1\n",
        "1,1\n1,-1\n-1,-1\n-1,1",
        "x,y\n1,1\n1,-1\n-1,-1\n-1,1\n",
        '"x","y"\n"1","1"\n"1","-1"\n"-1","-1"\n"-1","1"\n',
        "1, 1\n1, -1\n-1 ,-1\n -1,1\n",
        "1;1\n1;-1\n-1;-1\n-1;1\n",
        "x\ty\n1\t1\n1\t-1\n-1\t-1\n-1\t1\n",
        "1 1\n  1   -1\n-1 -1  \n-1\t1\n",
        "# the corners\n\n1,1\n1,-1 # right\n   \n-1,-1\n-1,1\n\n",
        "\ufeffx,y\r\n1,1\r\n1,-1\r\n-1,-1\r\n-1,1\r\n",
        "1,1\r1,-1\r-1,-1\r-1,1\r",
        "1.0,1e0\n10e-1,-1\n-1,-1.000\n-1,3/3\n",
    ],
)
def test_columns_are_read_however_they_are_separated(tmp_path: Path, text: str):
    cloud = read(tmp_path, "points.csv", text)
    assert cloud.dtype == np.float64
    assert cloud.tolist() == SQUARE


@pytest.mark.parametrize("name", ["points.csv", "points.CSV", "points.tsv", "points.txt", "points.dat", "points"])
def test_the_suffixes_of_text_are_all_one(tmp_path: Path, name: str):
    assert read(tmp_path, name, "1\t2\n").tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("text", "naming"),
    [
        ('"1,5","2,5"\n"3,5","4,5"\n', "line 1, column 1 .* '1,5': expected a number. Write decimals with a point"),
        ('1.5,"2,5"\n', "line 1, column 2 .* '2,5': expected a number. Write decimals with a point"),
        ('"1,5"\n"2,5"\n', "line 1, column 1 .* '1,5': expected a number. Write decimals with a point"),
        ('"1,5" "2,5"\n', "line 1, column 1 .* '1,5': expected a number. Write decimals with a point"),
        ('x;y\n"1,234";2\n', "line 2, column 1 .* '1,234': expected a number. Write decimals with a point"),
        ("x;y\n1;2\n1,5;2,5\n", "line 3, column 1 .* '1,5': expected a number. Write decimals with a point"),
        ("1,5\t2,5\n", "expected a number. Write decimals with a point"),
        ('1,2\n"3,4"\n', "line 2 has 1 column: expected 2"),
        ('1,2\n"3,4\n5,6\n7",8\n', "line 2, column 1 .*: expected a number"),
        ('1"5,2\n', "column 1 .*: expected a number"),
        ('"1 5" 2\n3 4\n', "column 1 .* '1 5': expected a number"),
        ('"1"5,2\n', "column 1 .*: expected a number"),
    ],
)
def test_quotes_hold_one_number_or_are_refused(tmp_path: Path, text: str, naming: str):
    with pytest.raises(InputError, match=naming):
        read(tmp_path, "points.csv", text)


@pytest.mark.parametrize(
    "text",
    [
        '"0.1", "7/5"\n1e-3,"12345678901234567890.5"\n',
        '"0.1" "7/5" # "a"\n1e-3 "12345678901234567890.5"\n',
        '"x, #1";"y"\n"0.1";7/5\n\n" 1e-3 ";12345678901234567890.5 # far, "out"\n',
    ],
)
def test_quoted_numbers_are_as_exact_as_others(tmp_path: Path, text: str):
    cloud = read(tmp_path, "points.csv", text)
    far = Fraction(12345678901234567890) + Fraction(1, 2)
    assert cloud.tolist() == [[Fraction(1, 10), Fraction(7, 5)], [Fraction(1, 1000), far]]


def test_names_of_columns_may_hold_commas(tmp_path: Path):
    assert read(tmp_path, "points.csv", '"x, left","y ""1"""\n" 1 ","2"\n').tolist() == [[1.0, 2.0]]


def test_decimals_that_no_float_holds_become_fractions(tmp_path: Path):
    cloud = read(tmp_path, "points.csv", "0.1,7/5\n0.5,2\n")
    assert cloud.tolist() == [[Fraction(1, 10), Fraction(7, 5)], [Fraction(1, 2), Fraction(2)]]


def test_one_column_is_a_cloud_on_a_line(tmp_path: Path):
    assert read(tmp_path, "points.csv", "x\n1\n2\n").tolist() == [[1.0], [2.0]]


def test_one_token_is_a_cloud(tmp_path: Path):
    assert read(tmp_path, "points.csv", "3,4").tolist() == [[3.0, 4.0]]


def test_the_format_overrules_the_suffix(tmp_path: Path):
    path = tmp_path / "points.log"
    path.write_text("1,2\n")
    cloud = read_cloud(path, format="csv")
    assert isinstance(cloud, np.ndarray)
    assert cloud.tolist() == [[1.0, 2.0]]
    with pytest.raises(InputError, match="`format` must be one of csv, json, npy, npz, not 'xml'"):
        read_cloud(path, format="xml")


def test_line_numbers_count_blank_lines_and_comments(tmp_path: Path):
    with pytest.raises(InputError, match=r"points\.csv` line 6, column 2 \(token 1\) is 'two'"):
        read(tmp_path, "points.csv", "# a\n\nx,y\n1,2\n\n3,two\n")


def test_plain_decimals_are_read_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # One by one a file of a hundred thousand rows takes ten times as long.
    monkeypatch.setattr("hardmax.io._each_number", pytest.fail)
    generator = np.random.default_rng(0)
    text = "\n".join(f"{x:.6f},{y:.6f}" for x, y in generator.standard_normal((1000, 2)))
    assert read(tmp_path, "points.csv", text).tolist() == [
        list(map(Fraction, line.split(","))) for line in text.split()
    ]


# ---------------------------------------------------------------- JSON


def test_json_numbers_are_the_decimals_written(tmp_path: Path):
    cloud = read(tmp_path, "points.json", '{"tokens": [[0.1, "7/5"], [3, 1e-2]]}')
    assert cloud.tolist() == [[Fraction(1, 10), Fraction(7, 5)], [Fraction(3), Fraction(1, 100)]]


def test_a_list_of_lists_of_rows_is_a_batch(tmp_path: Path):
    batch = read(tmp_path, "batch.json", "[[[1, 2]], [[3, 4], [5, 6]]]")
    assert [cloud.tolist() for cloud in batch] == [[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]]


def test_rows_with_offsets_are_ragged(tmp_path: Path):
    written = '{"tokens": [[1, 2], [3, 4], [5, 6]], "offsets": [0, 1, 3], "multiplicities": [7, 1, 1]}'
    ragged = read(tmp_path, "batch.json", written)
    assert isinstance(ragged, Ragged)
    assert [ragged[cloud].tolist() for cloud in range(2)] == [[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]]
    assert ragged.multiplicities is not None
    assert ragged.multiplicities.tolist() == [7, 1, 1]


@pytest.mark.parametrize(
    ("text", "naming"),
    [
        ('{"tokens": [[1, 2]], "offsets": 1}', "offsets must be a list of whole numbers"),
        ('{"tokens": [[1, 2]], "offsets": [0, 1.0]}', "offsets must be a list of whole numbers"),
        ('{"tokens": [[1, 2]], "offsets": [0, 10000000000000000000]}', "offsets must be a list of whole numbers"),
        ('{"tokens": [[1, 2]], "offsets": [0, 2]}', "`offsets` must run from 0 to the number of tokens"),
        ('{"tokens": [[1, 2]], "offsets": [0, 1], "multiplicities": [-1]}', "multiplicities must be a list of whole"),
        ("[[1, 2],\n [3, 4]", "line 2, column 8"),
        ("[[1, 2], [3]]", "token 1 has 1 coordinates: expected 2"),
        ("[[1, 2], 3]", "list of tokens"),
        ("[1, 2]", "list of tokens"),
        ("[[1, true]]", "token 0, coordinate 1 is True"),
        ("[[1, null]]", "token 0, coordinate 1 is None"),
        ("[[1, NaN]]", "token 0, coordinate 1 is NaN"),
        ("[[1, [2]]]", "coordinate 1 is \\['2'\\]"),
        ("[]", "holds no tokens"),
        ("[[]]", "no coordinates"),
        ("[[[1]], []]", "cloud 1 holds no tokens"),
        ('{"points": []}', "no key 'tokens'"),
        ('"text"', "list of tokens"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_json_that_is_no_cloud_is_refused(tmp_path: Path, text: str, naming: str):
    with pytest.raises(InputError, match=naming):
        read(tmp_path, "points.json", text)


# ---------------------------------------------------------------- npy and npz


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "f4", "f2", "i8", "i4", "i1"])
def test_stored_numbers_come_as_float64(tmp_path: Path, dtype: str):
    cloud = read(tmp_path, "points.npy", npy(np.array(SQUARE, dtype=dtype)))
    assert cloud.dtype == np.float64
    assert cloud.tolist() == SQUARE


def test_stored_floats_are_not_taken_for_decimals(tmp_path: Path):
    assert read(tmp_path, "points.npy", npy(np.array([[0.1]]))).tolist() == [[0.1]]


@pytest.mark.parametrize(
    ("dtype", "large"),
    [("i8", 2**53 + 1), ("i8", 2**63 - 1), ("i8", -(2**63) + 1), ("u8", 2**64 - 1), (">u8", 2**63 + 1)],
)
def test_integers_beyond_float64_stay_what_they_are(tmp_path: Path, dtype: str, large: int):
    array = np.array([[large, 1]], dtype=dtype)
    assert read(tmp_path, "points.npy", npy(array)).tolist() == [[large, 1]]
    assert read(tmp_path, "points.npy", npy(array[None])).tolist() == [[[large, 1]]]
    assert read(tmp_path, "points.npz", npz(tokens=array, offsets=np.array([0, 1]))).tokens.tolist() == [[large, 1]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("points.csv", f"{2**53 + 1},0.5\n{2**53},0.5\n"),
        ("points.json", f"[[{2**53 + 1}, 0.5], [{2**53}, 0.5]]"),
        ("points.json", f'{{"tokens": [[{2**53 + 1}, 0.5], [{2**53}, 0.5]], "offsets": [0, 2]}}'),
        ("points.npy", npy(np.array([[2**53 + 1], [2**53]]))),
    ],
)
def test_tokens_that_differ_beyond_the_53rd_bit_are_two(tmp_path: Path, name: str, content: str | bytes):
    clouds, _ = read_batch(read(tmp_path, name, content))
    assert merge(clouds[0]).count == 2


def test_an_array_of_three_axes_is_a_batch(tmp_path: Path):
    assert read(tmp_path, "batch.npy", npy(np.ones((5, 4, 2)))).shape == (5, 4, 2)


def test_npz_gives_its_tokens_or_its_only_array(tmp_path: Path):
    assert read(tmp_path, "a.npz", npz(tokens=np.array(SQUARE), notes=np.zeros(3))).tolist() == SQUARE
    assert read(tmp_path, "b.npz", npz(anything=np.array(SQUARE))).tolist() == SQUARE


def test_npz_with_offsets_is_ragged(tmp_path: Path):
    counts = np.array([1, 2, 1, 1])
    ragged = read(tmp_path, "a.npz", npz(tokens=np.array(SQUARE), offsets=np.array([0, 1, 4]), multiplicities=counts))
    assert isinstance(ragged, Ragged)
    assert len(ragged) == 2
    assert ragged.multiplicities is not None
    assert ragged.multiplicities.tolist() == counts.tolist()


@pytest.mark.parametrize(
    ("name", "content", "naming"),
    [
        ("a.npy", b"1,2\n", "not an npy file"),
        ("a.npy", npy(np.array(SQUARE))[:-8], "broken"),
        ("a.npy", b"\x93NUMPY\x01\x00\xff\xff{", "broken"),
        ("a.npy", npy(np.array(["a", "b"])), "holds <U1 values: expected float64"),
        ("a.npy", npy(np.ones((2, 2), complex)), "complex128"),
        ("a.npy", npy(np.ones(3)), r"shape \(3,\): expected \(n, d\)"),
        ("a.npy", npy(np.ones((1, 1, 1, 1))), r"shape \(1, 1, 1, 1\)"),
        ("a.npy", npy(np.ones((0, 2))), "no tokens"),
        ("a.npy", npy(np.array([[1, 2], [3, np.inf]])), "token 1, coordinate 1 is inf"),
        ("a.npy", npy(np.array([[[1.0]], [[np.nan]]])), "cloud 1, token 0, coordinate 0 is nan"),
        ("a.npz", npy(np.array(SQUARE)), "not an npz file"),
        ("a.npz", npz(tokens=np.array(SQUARE))[:60], "broken"),
        ("a.npz", npz(a=np.ones((1, 1)), b=np.ones((1, 1))), "arrays a, b: expected `tokens`"),
        ("a.csv", npy(np.array(SQUARE)), "not UTF-8 text"),
        ("a.csv", "1,2\n".encode("utf-16"), "not UTF-8 text"),
        ("a.csv", b"1,2\0\n", "binary"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b" \n\n", "is empty"),
        ("a.parquet", b"PAR1", r"suffix '\.parquet': expected one of \.csv, \.tsv"),
    ],
)
def test_files_that_hold_no_cloud_are_refused(tmp_path: Path, name: str, content: bytes, naming: str):
    with pytest.raises(InputError, match=naming) as refusal:
        read(tmp_path, name, content)
    assert len(str(refusal.value).splitlines()) == 1


def test_an_npz_that_is_broken_anywhere_is_refused_in_one_line(tmp_path: Path):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, tokens=np.random.default_rng(0).standard_normal((6, 2)))
    whole, generator = buffer.getvalue(), np.random.default_rng(1)
    for place in range(4, len(whole)):
        broken = bytearray(whole)
        broken[place] ^= int(generator.integers(1, 256))
        for content in (bytes(broken), whole[:place]):
            with contextlib.suppress(InputError):  # a byte that nobody reads may be anything
                read(tmp_path, "a.npz", content)


def test_pickles_are_never_opened(tmp_path: Path):
    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "sprung"),))

    buffer = io.BytesIO()
    np.save(buffer, np.array([[Trap()]], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="pickled"):
        read(tmp_path, "a.npy", buffer.getvalue())
    assert not (tmp_path / "sprung").exists()


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"nowhere\.csv` does not exist"):
        read_cloud(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_cloud(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"1,1\n1,-1\n-1,-1\n-1,1\n",
        json.dumps(SQUARE).encode(),
        b"\xef\xbb\xbf " + json.dumps({"tokens": SQUARE}).encode(),
        npy(np.array(SQUARE)),
        npz(tokens=np.array(SQUARE)),
    ],
)
def test_standard_input_tells_by_its_first_bytes_what_it_is(monkeypatch: pytest.MonkeyPatch, content: bytes):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert read_cloud("-").tolist() == SQUARE  # type: ignore[union-attr]


# ---------------------------------------------------------------- matrices


def test_a_matrix_is_written_out_or_kept_in_a_file(tmp_path: Path):
    rows = [[Fraction(2), Fraction(1, 10)], [Fraction(1, 10), Fraction(1)]]
    (tmp_path / "metric.csv").write_text("2,0.1\n1/10,1\n")
    assert read_metric("2,0.1;1/10,1") == rows
    assert read_metric(" 2, 0.1; 1/10, 1; ") == rows
    assert read_metric(str(tmp_path / "metric.csv")) == rows
    assert read_metric("3") == [[Fraction(3)]]


def test_a_large_matrix_may_be_written_out():
    identity = np.eye(30, dtype=int)
    assert read_metric(";".join(",".join(map(str, row)) for row in identity.tolist())) == identity.tolist()


@pytest.mark.parametrize(
    ("text", "naming"),
    [
        ("2,1;1", "row 2 has 1 entries: expected 2"),
        ("2,x;1,1", "row 1, column 2 is 'x'"),
        ("metric.csv", "neither a matrix nor a file"),
        ("", "neither a matrix nor a file"),
    ],
)
def test_what_is_no_matrix_is_refused(text: str, naming: str):
    with pytest.raises(InputError, match=f"`metric`.*{naming}"):
        read_metric(text)


def test_several_matrices_are_refused(tmp_path: Path):
    (tmp_path / "many.json").write_text("[[[1]], [[2]]]")
    with pytest.raises(InputError, match="several matrices"):
        read_metric(str(tmp_path / "many.json"))


# ---------------------------------------------------------------- writing


def test_a_file_is_written_and_replaced(tmp_path: Path):
    path = tmp_path / "out.json"
    write_whole(path, b"first")
    write_whole(path, b"second")
    assert path.read_bytes() == b"second"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


def test_a_written_file_has_the_rights_of_any_new_file(tmp_path: Path):
    (tmp_path / "other").touch()
    write_whole(tmp_path / "out", b"data")
    rights = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("other", "out")]
    assert rights[0] == rights[1]


def test_a_file_that_is_replaced_keeps_its_rights(tmp_path: Path):
    (tmp_path / "out").write_bytes(b"old")
    (tmp_path / "out").chmod(0o640)
    write_whole(tmp_path / "out", b"new")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_what_replaces_a_private_file_is_private_before_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "out").touch(0o600)
    seen = []
    monkeypatch.setattr(os, "fsync", lambda handle: seen.append(stat.S_IMODE(os.fstat(handle).st_mode)))
    write_whole(tmp_path / "out", b"new")
    assert seen[0] == 0o600


def test_a_name_of_as_many_bytes_as_the_system_takes_can_be_written(tmp_path: Path):
    path = tmp_path / ("名" * 85)
    write_whole(path, b"data")
    assert path.read_bytes() == b"data"


def test_a_folder_that_is_not_writable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "out").write_bytes(b"old")
    monkeypatch.setattr(Path, "open", refuse)  # whoever runs as root may write anywhere
    with pytest.raises(InputError, match=r"out` cannot be written: no new file can be made in the folder `.*`\.$"):
        write_whole(tmp_path / "out", b"new")
    monkeypatch.undo()
    assert (tmp_path / "out").read_bytes() == b"old"


def test_a_name_as_long_as_names_can_be_is_written(tmp_path: Path):
    write_whole(tmp_path / ("x" * 255), b"data")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]


def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_when_writing_fails_the_old_file_is_still_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"out\.json` cannot be written: no space left on device"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


def test_a_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"the folder `.*nowhere` does not exist"):
        write_whole(tmp_path / "nowhere" / "out.json", b"data")


def test_a_folder_is_not_overwritten(tmp_path: Path):
    with pytest.raises(InputError, match="not a file"):
        write_whole(tmp_path, b"data")
