from collections import Counter

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from text.drawing import tokenisers
from text.reviews import read_split

from hardmax._validation import InputError
from hardmax.text.tokens.building import build_vocabulary
from hardmax.text.tokens.encoding import encode
from hardmax.text.tokens.segments import keep_segments
from hardmax.text.tokens.texts import read_texts
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary

words = st.sampled_from(
    ["good", "BAD", "not", "é", "don't", "unknown", ".", "!", "?", "<br>", "-", *"！؟不好😀เก👩\u200d་"]
)
texts = st.lists(st.tuples(words, st.sampled_from([" ", " ", ""])).map("".join), max_size=15).map("".join)
PHRASES = [
    "not good",
    "good bad",
    "not good bad",
    "don't é",
    "a b c",
    "good good good good good",
    "不好",
    "不好不",
    "不 好",
]
MORE = ["好 good", "é不", "é 不", "👩\u200d👩", "👩\u200d 👩", "😀😀", "เก", "ก", "བོད་"]
surfaces = st.sets(st.sampled_from(["good", "bad", "é", "!", "?", "unseen", "不", "好", "😀", *PHRASES, *MORE]))


def encode_slowly(texts, vocabulary: Vocabulary, tokeniser: Tokeniser) -> list[dict[int, int]]:
    tokens = [[(vocabulary.index.get(token.surface, -1), token) for token in tokeniser.tokens(text)] for text in texts]
    known = [[(number, token) for number, token in several if number >= 0] for several in tokens]
    return [Counter(n for n, _ in (several if tokeniser.overlapping else keep_segments(several))) for several in known]


def as_dicts(encoded) -> list[dict[int, int]]:
    pieces = zip(encoded.offsets[:-1], encoded.offsets[1:], strict=True)
    return [dict(zip(encoded.ids[a:b].tolist(), encoded.counts[a:b].tolist(), strict=True)) for a, b in pieces]


def without_counts(surfaces) -> Vocabulary:
    return Vocabulary(sorted(surfaces), np.zeros((len(surfaces), 2)))


@given(st.lists(texts, max_size=6), surfaces, tokenisers)
def test_texts_have_the_known_tokens_of_the_reference_in_the_same_order(texts, surfaces, tokeniser):
    known = without_counts(surfaces)
    found = as_dicts(encode(texts, known, tokeniser))
    slow = encode_slowly(texts, known, tokeniser)
    assert found == slow
    assert [list(one) for one in found] == [list(one) for one in slow]


@pytest.mark.parametrize("overlapping", [True, False])
def test_real_reviews_have_the_tokens_of_the_reference(overlapping):
    table, tokeniser = read_split("train", examples(3000)), Tokeniser(longest_phrase=3, overlapping=overlapping)
    known = build_vocabulary(table["text"], table["label"].to_numpy(), tokeniser, words=5000, phrases=5000)
    known = Vocabulary(known.surfaces[::-1], known.counts)  # phrases before words
    assert as_dicts(encode(table["text"], known, tokeniser)) == encode_slowly(
        table["text"].to_pylist(), known, tokeniser
    )


def test_long_texts_are_read_in_parts_of_their_own():
    known = without_counts({"a", "b a"})
    texts = ["a b " * 1_250_000, "", "a.", "b a " * 1_250_000, "a"]
    assert as_dicts(encode(texts, known, Tokeniser())) == [
        {0: 1_250_000, 1: 1_249_999},
        {},
        {0: 1},
        {0: 1_250_000, 1: 1_250_000},
        {0: 1},
    ]


def test_texts_come_in_many_forms():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    texts = ["Good film", "", "né good good"]
    known = without_counts({"good", "né"})
    expected = as_dicts(encode(texts, known, Tokeniser()))
    chunked = pyarrow.chunked_array([["skipped", "Good film"], [], ["", "né good good"]])
    forms = [
        tuple(texts),
        iter(texts),
        np.array(texts),
        np.array(texts, dtype=object),
        pandas.Series(texts),
        pandas.Series(texts, dtype=object),
        pandas.Series(texts).astype("category"),
        pyarrow.array(texts),
        pyarrow.array(texts, pyarrow.large_string()),
        pyarrow.array(texts).dictionary_encode(),
        pyarrow.array(["skipped", *texts])[1:],
        chunked[1:],
    ]
    for form in forms:
        assert as_dicts(encode(form, known, Tokeniser())) == expected


def test_a_polars_series_is_read_as_well():
    polars = pytest.importorskip("polars")
    known = without_counts({"good"})
    assert as_dicts(encode(polars.Series(["good", "x"]), known, Tokeniser())) == [{0: 1}, {}]


def test_no_texts_are_no_trouble():
    pyarrow = pytest.importorskip("pyarrow")
    for nothing in ([], pyarrow.array([], pyarrow.string()), pyarrow.chunked_array([], pyarrow.string())):
        assert len(encode(nothing, without_counts({"good"}), Tokeniser())) == 0


def test_an_empty_vocabulary_finds_nothing():
    assert as_dicts(encode(["good"], without_counts(set()), Tokeniser())) == [{}]


def test_surrogates_that_stand_alone_are_replaced():
    assert read_texts(["a\ud800b", "\udfff"]).data.tobytes().decode() == "a\ufffdb\ufffd"


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        ("a text", "single text"),
        (["good", None], "row 1 is missing"),
        (["good", float("nan")], "row 1 is missing"),
        (["good", 3], "row 1 is of type int"),
        (np.array([["a"]]), "shape"),
        (3, "type int"),
        ({"a": 1}, "type dict"),
    ],
)
def test_what_is_no_text_is_refused_in_one_line(texts, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        read_texts(texts)
    assert "\n" not in str(caught.value)


def test_missing_and_foreign_values_of_columns_are_refused_with_their_row():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    for column in (pandas.Series(["a", None]), pyarrow.array(["a", None]), pyarrow.chunked_array([["a"], [None]])):
        with pytest.raises(InputError, match="row 1 is missing"):
            read_texts(column)
    for column in (pandas.Series([1.0, 2.0]), pyarrow.array([1, 2])):
        with pytest.raises(InputError, match="expected"):
            read_texts(column)


@pytest.mark.parametrize(
    ("surface", "other"),
    [
        ("abcdefgh", "bcdefgh"),
        ("xabcdefgh", "yabcdefgh"),  # the last eight letters are the same
        ("abcdefgh", "xabcdefgh"),
        ("abcdefgh", "abcdefghx"),
        ("ba", "\u6261"),  # whose number is that of b and a, side by side
        ("\u6261c", "bac"),
        ("é", "\u00c3\u00a9"),
        ("a", "aa"),
        ("aaaaaaaa", "aaaaaaa"),
    ],
)
@pytest.mark.parametrize("split_scripts", [True, False])
def test_words_that_nearly_are_one_another_are_told_apart(surface: str, other: str, split_scripts: bool):
    tokeniser = Tokeniser(split_scripts=split_scripts)
    for known, text in ((surface, other), (other, surface)):
        vocabulary = Vocabulary([tokeniser.tokens(known)[0].surface], np.zeros((1, 2)))
        assert encode([f"{text}, {text}"], vocabulary, tokeniser).ids.tolist() == []
        assert encode([f"{text} {known}"], vocabulary, tokeniser).counts.tolist() == [1]
