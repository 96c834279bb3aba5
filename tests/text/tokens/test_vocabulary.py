import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from text.drawing import tokenisers
from text.reviews import read_split

from hardmax._validation import InputError
from hardmax.text.tokens.building import build_vocabulary
from hardmax.text.tokens.characters import fold
from hardmax.text.tokens.tokeniser import SURFACE, Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary, _are_tokens, _read_rows

words = st.sampled_from(["good", "bad", "not", "É", "don't", ".", "!", "？", "<br>", "不", "好", "😀", "👩\u200d"])
said = st.lists(st.tuples(words, st.sampled_from([" ", " ", ""])).map("".join), max_size=12).map("".join)
corpora = st.lists(st.tuples(said, st.integers(0, 2)), min_size=1, max_size=12)


def count_slowly(texts, labels, tokeniser: Tokeniser, classes: int) -> dict[str, np.ndarray]:
    counts: dict[str, np.ndarray] = {}
    for text, label in zip(texts, labels, strict=True):
        for surface in {token.surface for token in tokeniser.tokens(text)}:
            counts.setdefault(surface, np.zeros(classes, dtype=int))[label] += 1
    return counts


def is_word(surface: str) -> bool:
    return len(Tokeniser().alphabet.cut(surface)) == 1


def surprise(counts: np.ndarray, texts: np.ndarray) -> float:
    expected = counts.sum() * texts / texts.sum()
    there = texts > 0
    return float(((counts - expected)[there] ** 2 / expected[there]).sum())


@given(corpora, tokenisers)
def test_counts_are_those_of_the_reference(corpus, tokeniser):
    texts, labels = map(list, zip(*corpus, strict=True))
    slow = count_slowly(texts, labels, tokeniser, max(labels) + 1)
    found = build_vocabulary(texts, labels, tokeniser)
    frequent = {surface for surface, counts in slow.items() if counts.sum() >= 2}
    marks = {"!", "?"} if tokeniser.marks else set()
    assert set(found.surfaces) == frequent | marks
    for surface, counts in zip(found.surfaces, found.counts, strict=True):
        assert counts.tolist() == slow.get(surface, np.zeros(max(labels) + 1)).tolist()


@given(corpora, st.integers(0, 4), st.integers(0, 4), st.integers(1, 3))
def test_the_most_frequent_words_and_the_most_uneven_phrases_are_taken(corpus, most_words, most_phrases, longest):
    texts, labels = map(list, zip(*corpus, strict=True))
    tokeniser = Tokeniser(longest_phrase=longest)
    sizes = np.bincount(labels)
    slow = {s: c for s, c in count_slowly(texts, labels, tokeniser, len(sizes)).items() if c.sum() >= 2}
    by_frequency = sorted((-counts.sum(), surface) for surface, counts in slow.items() if is_word(surface))
    scores = {surface: surprise(counts, sizes) for surface, counts in slow.items() if not is_word(surface)}
    found = build_vocabulary(texts, labels, tokeniser, words=most_words, phrases=most_phrases).surfaces
    expected = [surface for _, surface in by_frequency[:most_words]]
    assert list(found[: len(expected)]) == expected
    best = sorted(scores.values(), reverse=True)[:most_phrases]
    assert np.allclose([scores[surface] for surface in found[len(expected) :]], best)


def test_the_surprise_of_two_equal_classes_is_the_squared_difference_over_the_sum():
    assert surprise(np.array([7, 2]), np.array([50, 50])) == pytest.approx((7 - 2) ** 2 / (7 + 2))


def test_real_reviews_are_counted_as_the_reference_counts_them():
    table = read_split("train", 500)
    texts, labels = table["text"].to_pylist(), table["label"].to_numpy()
    found = build_vocabulary(table["text"], labels, Tokeniser(), words=3000, phrases=3000)
    seen = Counter(s for text in texts for s in {token.surface for token in Tokeniser().tokens(text)})
    assert found.documents.tolist() == [seen[surface] for surface in found.surfaces]


def test_the_vocabulary_does_not_depend_on_the_order_of_the_texts():
    table = read_split("train", 400)
    texts, labels = np.array(table["text"].to_pylist(), dtype=object), table["label"].to_numpy()
    order = np.random.default_rng(0).permutation(len(texts))
    one, other = (
        build_vocabulary(texts[rows], labels[rows], Tokeniser(longest_phrase=3), words=500, phrases=500)
        for rows in (slice(None), order)
    )
    assert one.to_bytes() == other.to_bytes()


@given(corpora)
def test_a_file_gives_back_what_was_written(corpus):
    texts, labels = map(list, zip(*corpus, strict=True))
    known = build_vocabulary(texts, labels, Tokeniser(marks=True))
    again = Vocabulary.from_bytes(known.to_bytes())
    assert again.surfaces == known.surfaces
    assert np.array_equal(again.counts, known.counts)


@given(st.text("a1\t\n", max_size=12).map(lambda rows: f"b\t0\n{rows}\n".encode()))
@example(b"a\t1\t2\n3\n")  # as many tabs as there should be, in other rows
@example(b"a\t1\n3\t1\t2\n")
@example(b"a\t1\t1\n2\t3\t1\t2\n4\t5\n")
@example(b"a\t" + b"1" * 18 + b"\n")
@example(b"a\t" + b"1" * 19 + b"\n")
def test_rows_are_read_as_the_expression_for_one_says(data):
    lines = data.decode().split("\n")[:-1]
    classes = lines[0].count("\t")
    right = all(re.fullmatch(rf"[^\t]*(?:\t[0-9]{{1,18}}){{{classes}}}", line) for line in lines)
    rows = _read_rows(data, classes)
    assert (rows is not None) == right
    if rows is not None:
        surfaces, counts = rows
        cells = [line.split("\t") for line in lines]
        assert surfaces == [row[0] for row in cells]
        assert counts.tolist() == [[int(cell) for cell in row[1:]] for row in cells]


@given(st.lists(st.text("aé'! \n不\U0001f600\u2019.A\uffff", max_size=12), max_size=3))
@example(["a b c d e", "a b c d e f"])
@example(["a b c d e", "b c d e f"])
@example(["!", "?", "a"])
@example(["a", "!", "a!"])
@example(["a\nb"])
@example(["", "a"])
@example(["don't", "'t"])
@example(["😀", "so 😀"])
def test_surfaces_are_taken_together_for_what_they_are_one_by_one(surfaces):
    assert _are_tokens(surfaces) == all(re.fullmatch(SURFACE, each) and fold(each) == each for each in surfaces)


def test_a_line_break_is_in_no_token():
    with pytest.raises(InputError, match="never yields"):
        Vocabulary(["a\nb"], [[1, 1]])


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"good\t1\nbad\t2", "ends in the middle"),
        (b"good\t1\nbad\t2\t3\n", "line 2"),
        (b"good\n", "line 1"),
        (b"good\tmany\n", "line 1"),
        (b"\xff\t1\n", "not UTF-8"),
        (b"good\t1\ngood\t1\n", "twice"),
        (b"Good\t1\n", "never yields"),
        (b"a  b\t1\n", "never yields"),
        (b"a b c d e f\t1\n", "never yields"),
        (b"\t1\n", "never yields"),
    ],
)
def test_a_broken_vocabulary_is_refused_in_one_line(data, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        Vocabulary.from_bytes(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("texts", "labels"), [(["a"], [0, 1]), ([], []), (["a"], [-1]), (["a"], ["x"]), (["a"], [0.5])]
)
def test_labels_that_do_not_fit_are_refused(texts, labels):
    with pytest.raises(InputError):
        build_vocabulary(texts, labels, Tokeniser())
