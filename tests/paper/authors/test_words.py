"""Rows are named such that nothing pretends to be a word, and no text has what the authors would not find in it."""

from pathlib import Path

import pytest

from hardmax._validation import InputError
from hardmax.paper.authors.words import TOKENISER, is_word, name_rows, read_words
from hardmax.text import Vocabulary, encode

WORDS = ["PAD", "I", "movie", "", "The", "Movie", "great", "naïve", "isn't", "rock'n'roll", "a b", "!", "不好"]
NAMES = [
    *("row 0 pad", "row 1 i", "movie", "row 3", "row 4 the", "row 5 movie", "great", "naïve", "isn't", "rock'n'roll"),
    *("row 10", "row 11", "row 12"),
]


def test_rows_without_words_are_found_in_no_text():
    names = name_rows(50)
    known = Vocabulary(names, [[0, 0]] * 50)
    said = ["row 17", "Row 0 pad, row 1 row 2.", "pad", "17", " ".join(names)]
    assert len(encode(said, known, TOKENISER).ids) == 0
    assert not any(map(is_word, names))


def test_only_words_as_the_tokeniser_yields_them_are_found_in_texts():
    names = name_rows(len(WORDS), WORDS)
    assert names == NAMES
    found = encode(["The GREAT movie: I, row 5 Movie, PAD 不好!"], Vocabulary(names, [[0, 0]] * len(names)), TOKENISER)
    assert {names[token]: count for token, count in zip(found.ids, found.counts, strict=True)} == {
        "great": 1,
        "movie": 2,
    }


def test_two_spellings_of_a_word_are_two_rows():
    names = name_rows(4, ["", "Film", "film", "FILM"])
    assert names == ["row 0 pad", "row 1 film", "film", "row 3 film"]
    assert len(Vocabulary(names, [[0, 0]] * 4)) == 4


def test_words_are_read_a_line_each(tmp_path: Path):
    path = tmp_path / "words.txt"
    for text in ("PAD\nI\n\nThe\n", "PAD\r\nI\r\n\r\nThe\r\n", "\ufeffPAD\nI\n\nThe"):
        path.write_bytes(text.encode())
        assert read_words(path, 4) == ["PAD", "I", "", "The"]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"PAD\nI\n", "has 2 lines, and the embedding 4 rows"),
        (b"PAD\nI\nThe\nthe\nend\n", "has 5 lines"),
        (b"PAD\nI\nThe\nI\n", "has 'I' in lines 2 and 4"),
        (b"PAD\nI\n\xff\n\n", "is not UTF-8"),
        (b"", "has 1 lines"),
    ],
)
def test_another_list_is_refused(data: bytes, what: str, tmp_path: Path):
    (tmp_path / "words.txt").write_bytes(data)
    with pytest.raises(InputError) as raised:
        read_words(tmp_path / "words.txt", 4)
    assert what in str(raised.value)
    assert "\n" not in str(raised.value)
