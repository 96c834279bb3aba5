"""Whatever is wrong with a file: one line that says what, and what was expected."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax._validation import InputError
from hardmax.io import decode, parse_json, read_bytes, read_json

WISH = "expected a shopping list"
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def complaint(data: bytes) -> str:
    with pytest.raises(InputError) as refused:
        parse_json(data, "`a.json`", WISH)
    assert str(refused.value).startswith("`a.json` ")
    assert str(refused.value).endswith(f": {WISH}.")
    assert "\n" not in str(refused.value)
    return str(refused.value)


@given(DOCUMENTS)
def test_what_json_says_is_what_comes_back(document):
    read = parse_json(json.dumps(document).encode(), "`a.json`", WISH)
    assert json.dumps(read) == json.dumps(document)  # as texts, since nan is not equal to itself


@given(DOCUMENTS.map(lambda document: {"it": document}), st.booleans(), st.data())
def test_a_document_that_is_cut_anywhere_breaks_off(document, escaped, data):
    try:
        whole = json.dumps(document, ensure_ascii=escaped, indent=1).encode()
    except UnicodeEncodeError:  # half a character has no bytes of its own
        whole = json.dumps(document).encode()
    cut = data.draw(st.integers(1, len(whole) - 1))
    assert complaint(whole[:cut]).startswith("`a.json` breaks off (")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b" \r\n\t", "is empty"),
        (b"x,y\n1,2\n", "is not JSON (line 1, column 1: Expecting value)"),
        (b'{"a": 1}\n{"a": 2}', "is not JSON (line 2, column 1: Extra data)"),
        (b"{'a': 1}", "is not JSON (line 1, column 2"),
        (b"[truth]", "is not JSON"),
        (b"\xff\xfe[\x001\x00]\x00", "is not JSON (byte 0 is 0xff)"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"1" * 10_000, "a number has too many digits"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, words: str):
    assert words in complaint(data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1, "a": 2}',
        b'{"a": 1, "b": 2, "a": 1}',
        b'[{"b": {"a": [], "a": []}}]',
        b'{"a": 1, "\\u0061": 2}',
    ],
    ids=["another value", "the same value", "inside", "by an escape"],
)
def test_a_key_has_one_value(data: bytes):
    assert "has the key 'a' twice in one object" in complaint(data)


def test_a_repeated_key_of_any_name_is_told_in_one_line():
    assert "has the key 'digits' twice" in complaint(b'{"digits": 1, "digits": 2}')
    assert len(complaint(b'{"%b": 1, "%b": 2}' % (b"\\n\\ud800" * 999, b"\\n\\ud800" * 999))) < 200


def test_objects_go_through_the_hook_once_their_keys_are_known_to_differ():
    assert parse_json(b'{"a": {"b": 1}}', "`a.json`", WISH, object_hook=lambda item: sorted(item)) == ["a"]


def test_a_mark_of_byte_order_is_no_part_of_the_document():
    assert parse_json(b"\xef\xbb\xbf[1]", "`a.json`", WISH) == [1]
    assert decode(b"\xef\xbb\xbfmilk", "`a.txt`", WISH) == "milk"


def test_bytes_that_are_no_text_are_named():
    with pytest.raises(InputError, match=r"^`a\.txt` is not UTF-8 text \(byte 4 is 0xff\): expected a shopping"):
        decode(b"milk\xff", "`a.txt`", WISH)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(InputError, match=r"nowhere` does not exist: expected a shopping list\.$"):
        read_json(tmp_path / "nowhere", WISH)
    with pytest.raises(InputError, match=r"` is a folder: expected a shopping list\.$"):
        read_json(tmp_path, WISH)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"^`secret` cannot be read: permission denied\.$"):
        read_json("secret", WISH)


def test_standard_input_is_read_to_its_end_or_to_the_limit(monkeypatch: pytest.MonkeyPatch):
    def given_on_a_pipe(data: bytes) -> io.BytesIO:
        pipe = io.BytesIO(data)
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=pipe))
        return pipe

    given_on_a_pipe(b"[1, 2]")
    assert read_json("-", WISH, at_most=6) == [1, 2]
    pipe = given_on_a_pipe(b"[1, 2]" + b" " * 1000)
    with pytest.raises(InputError, match="standard input is larger than 6 bytes, the most that is read: expected"):
        read_json("-", WISH, at_most=6)
    assert pipe.tell() == 7
    given_on_a_pipe(b"milk")
    assert read_bytes("-", WISH) == b"milk"


def test_a_path_is_a_file_even_if_its_name_is_a_dash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("-").write_bytes(b"[3]")
    assert read_json(Path("-"), WISH) == [3]
