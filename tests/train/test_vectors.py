"""Word vectors: how they are read, and what training makes of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax._validation import InputError
from hardmax.text.vocabulary import Vocabulary
from hardmax.train.vectors import MOST_UNSEEN, read_vectors

WORDS = st.lists(st.text("abcä", min_size=1), min_size=1, max_size=6, unique=True)
NUMBERS = st.floats(-100, 100, width=32)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[float]]:
    width = draw(st.integers(2, 4))
    words = draw(WORDS)
    vector = st.lists(NUMBERS, min_size=width, max_size=width)
    return {word: draw(vector) for word in words}


def as_text(table: dict[str, list[float]], header: bool, end: str) -> str:
    lines = [" ".join([word, *map(repr, vector)]) for word, vector in table.items()]
    counts = [f"{len(table)} {len(next(iter(table.values())))}"] if header else []
    return "".join(line + end for line in counts + lines)


@given(tables(), st.booleans(), st.sampled_from(["\n", " \n", "\r\n"]))
def test_a_text_file_an_npz_file_and_a_mapping_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, table: dict[str, list[float]], header: bool, end: str
) -> None:
    folder = tmp_path_factory.mktemp("vectors")
    (folder / "glove.txt").write_bytes(as_text(table, header, end).encode())
    words, vectors = list(table), np.array(list(table.values()))
    np.savez(folder / "texts.npz", words=words, vectors=vectors)
    np.savez(folder / "bytes.npz", words=[word.encode() for word in words], vectors=vectors)
    expected = read_vectors(table)
    assert list(expected.rows) == words
    for name in ("glove.txt", "texts.npz", "bytes.npz"):
        found = read_vectors(folder / name)
        assert found.rows == expected.rows
        assert np.array_equal(found.table, expected.table)


@given(tables())
def test_vectors_have_length_1_and_their_directions_stay(table: dict[str, list[float]]) -> None:
    found = read_vectors(table)
    for word, vector in table.items():
        length = np.linalg.norm(np.array(vector, dtype=np.float32))
        own = found.table[found.rows[word]]
        assert own * length == pytest.approx(np.array(vector), rel=1e-5, abs=1e-5)
        assert np.linalg.norm(own) == pytest.approx(float(length > 0), abs=1e-5)


def test_of_words_that_differ_in_case_the_first_counts() -> None:
    found = read_vectors({"Haus": [1, 0], "haus": [0, 1], "HAUS": [1, 1], "der": [0, 1]})
    assert found.rows == {"haus": 0, "der": 1}
    assert found.table.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("a 1 2\nb 1\n", r"line 2: 'b' has 1 numbers: expected 2"),
        ("a 1 2\nb 1 2 3\n", r"line 2: 'b' has 3 numbers: expected 2"),
        ("2 2\na 1 2\nb 1\n", r"line 3: 'b' has 1 numbers: expected 2"),
        ("a 1 2\nb 1 2\na 3 4\n", r"line 3: 'a' is there already, at 1"),
        ("a 1 2\nb 1 nan\n", r"line 2: 'b' has .*nan.*: expected finite numbers"),
        ("a 1 2\nb 1 inf\n", r"line 2: 'b' has .*inf.*: expected finite numbers"),
        ("a 1 2\nb 1 x\n", r"line 2: 'b' has .*x.*: expected finite numbers"),
        ("a 1 2\n\nb 1 2\n", r"line 2: the word is ''"),
        ("a\n", r"line 1: 'a' has \[\]: expected finite numbers"),
        ("", r"line 1: the word is ''"),
        ("5 2\n", r"line 2 is missing: expected at least one word"),
        ("\xff", r"not UTF-8"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, lines: str, message: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(lines.encode("latin-1"))
    with pytest.raises(InputError, match=message) as caught:
        read_vectors(path)
    assert "bad.txt" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "entry 1 is missing"),
        ({"a": [1, 2], "b": [1]}, "entry 2: 'b' has 1 numbers: expected 2"),
        ({"a": [[1, 2]]}, "entry 1: 'a' has .* expected finite numbers"),
        ({"a": "x"}, "entry 1: 'a' has 'x': expected finite numbers"),
        ({"a": None}, "entry 1: 'a' has None"),
        ({3: [1, 2]}, "entry 1: the word is 3: expected a text"),
        ("no such file", 'no such file` does not exist: expected `vectors` to be "english"'),
        (17, "`vectors` must be"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(source: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_vectors(source)
    assert "vectors" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "arrays",
    [
        {"words": ["a", "b"]},
        {"vectors": [[1.0, 2.0]]},
        {"words": ["a"], "vectors": [1.0, 2.0]},
        {"words": ["a", "b"], "vectors": [[1.0, 2.0]]},
        {"words": [1, 2], "vectors": [[1.0, 2.0], [3.0, 4.0]]},
    ],
)
def test_npz_without_words_and_vectors_is_refused(tmp_path: Path, arrays: dict[str, Any]) -> None:
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(InputError, match=r"bad.npz.*`words` with as many `vectors`"):
        read_vectors(tmp_path / "bad.npz")


def test_a_row_of_npz_is_counted_from_0(tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", words=["a", "b"], vectors=[[1, 2], [3, np.inf]])
    with pytest.raises(InputError, match=r"bad.npz`, row 1: 'b' has"):
        read_vectors(tmp_path / "bad.npz")


def test_the_english_table_knows_which_words_are_alike() -> None:
    english = read_vectors("english")
    words = list(english.rows)

    def nearest(word: str) -> set[str]:
        likeness = english.table @ english.table[english.rows[word]]
        return {words[row] for row in np.argsort(-likeness)[1:6]}

    assert {"tuesday", "friday"} <= nearest("monday")
    assert {"superb", "terrific"} <= nearest("excellent")
    assert {"tedious", "dull"} <= nearest("boring")


def test_vectors_of_frequent_words_are_shorter() -> None:
    vectors = read_vectors({"rare": [3, 4], "frequent": [0, 1], "not good": [1, 0]})
    vocabulary = Vocabulary(["good", "frequent", "rare"], [[1, 1], [50, 50], [0, 1]])
    found = vectors.of(vocabulary).toarray()
    lengths = np.linalg.norm(found, axis=1)
    assert lengths[0] == 0  # it has no vector
    assert 0 < lengths[1] < lengths[2] / 10
    assert found[2] / lengths[2] == pytest.approx([0.6, 0.8])


def test_unseen_words_come_heaviest_first_and_only_words_that_texts_can_contain() -> None:
    table = {"seen": [9, 0], "weak": [1, 9], "--": [1, 0], "two words": [1, 0], "strong": [-9, 1]}
    vectors = read_vectors(table | {"unwanted": [1, 0]})
    vocabulary = Vocabulary(["seen", "other"], [[1, 0], [0, 1]])
    words, weights = vectors.unseen(vocabulary, np.array([[1.0], [0.0]]), ["unwanted"])
    assert words == ["strong", "weak"]
    assert weights[:, 0] == pytest.approx(2 * vectors.table[[vectors.rows[w] for w in words], 0])


def test_of_equally_heavy_unseen_words_the_first_of_the_table_comes_first() -> None:
    vectors = read_vectors({"b": [1, 1], "c": [2, 2], "a": [3, 3]})
    words, _ = vectors.unseen(Vocabulary(["seen"], [[1, 1]]), np.ones((2, 3)))
    assert words == ["b", "c", "a"]


def test_there_are_not_too_many_unseen_words() -> None:
    vocabulary = Vocabulary(["film"], [[1, 1]])
    words, weights = read_vectors("english").unseen(vocabulary, np.ones((99, 1)))
    assert len(words) == len(weights) == MOST_UNSEEN
