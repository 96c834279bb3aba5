"""Known tokens of texts and where they stand: the kernels against the definition; vocabularies;
forms of texts."""

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from refusals import listed_refusals, refuses
from text.small_models import random_texts, small_model
from text.test_tokeniser import tokenisers

from hardmax.text import encoding
from hardmax.text._kernels_tokens import encode_texts, number_words
from hardmax.text._texts import read_texts
from hardmax.text.encoding import _encode_part, encode, lexicon_of, read_one
from hardmax.text.tokeniser import Tokeniser, cut_surface
from hardmax.text.vocabulary import Vocabulary, choose_tokens, read_vocabulary, write_vocabulary

PHRASES = "not good|good bad|not good bad|don't é|a b c|good good good good good|不好|不好不"
MORE = "好 good|é 不|👩\u200d 👩|😀😀|เก|good|bad|é|unseen|不|好|😀"
SPELT = "good BAD NOT é É don’t don't ' unknown \ud800 . ! ? ？ <br> <b -"
words = SPELT.split()
words += [*"！؟不好😀เก👩\u200d་"]
texts = st.lists(
    st.tuples(st.sampled_from(words), st.sampled_from([" ", " ", ""])).map("".join), max_size=20
).map("".join)
vocabularies = st.lists(st.sampled_from(f"{PHRASES}|{MORE}".split("|")), unique=True).map(
    lambda surfaces: known(*surfaces)
)
SEGMENTS = Tokeniser(longest_phrase=3, overlapping=False)


def known(*surfaces: str) -> Vocabulary:
    return Vocabulary(list(surfaces), np.zeros((len(surfaces), 2)))


def slowly(text: str, vocabulary: Vocabulary, tokeniser: Tokeniser) -> dict[int, list[list[int]]]:
    """For each known token of a text its places, in order of first appearance."""
    known = [
        (vocabulary.index[t.surface], t)
        for t in tokeniser.tokens(text)
        if t.surface in vocabulary.index
    ]
    taken, kept = set[int](), []
    for number, token in sorted(
        known, key=lambda pair: pair[0]
    ):  # by the vocabulary, each from the left
        characters = set(range(token.start, token.end))
        if tokeniser.overlapping or taken.isdisjoint(characters):
            taken |= characters
            kept.append((number, token))
    places = defaultdict(list)
    for number, token in known:
        if (number, token) in kept:
            places[number].append([token.start, token.end])
    return dict(places)


def as_dicts(found) -> list[dict[int, int]]:
    bounds = pairwise(found.offsets.tolist())
    return [
        dict(zip(found.ids[a:b].tolist(), found.counts[a:b].tolist(), strict=True))
        for a, b in bounds
    ]


def assert_same(one, other) -> None:
    for name, value in vars(one).items():
        assert np.array_equal(getattr(other, name), value), name


@given(st.lists(texts, max_size=5), vocabularies, tokenisers)
def test_texts_have_the_known_tokens_of_the_definition_in_the_same_order(
    texts, vocabulary, tokeniser
):
    expected = [slowly(text, vocabulary, tokeniser) for text in texts]
    counts = [[(token, len(places)) for token, places in one.items()] for one in expected]
    compiled = encode(texts, vocabulary, tokeniser)
    # As Python, kernels cannot write behind the end of an array.
    with pytest.MonkeyPatch.context() as patched, np.errstate(over="ignore"):
        patched.setattr(encoding, "encode_texts", lambda *given: encode_texts.python(0, 1, *given))
        found = _encode_part(read_texts(texts), lexicon_of(vocabulary), tokeniser)
    for each in (compiled, found):
        assert [list(one.items()) for one in as_dicts(each)] == counts
    for text, places in zip(texts, expected, strict=True):
        read = read_one(text, vocabulary, tokeniser)
        assert read.encoded.ids.tolist() == list(places)
        assert read.encoded.counts.tolist() == [len(rows) for rows in places.values()]
        assert [rows.tolist() for rows in read.places] == list(places.values())


@pytest.mark.parametrize(
    ("text", "surfaces", "found"),
    [
        (
            "one of the worst films",
            ["the worst", "of the", "of", "the", "worst", "films"],
            ["of", "the worst", "films"],
        ),
        ("one of the worst films", ["the", "of the worst", "worst", "of"], ["of", "the", "worst"]),
        ("a a a a a", ["a a", "a"], ["a a", "a a", "a"]),
        ("a a a a a", ["a a a", "a a"], ["a a a", "a a"]),
        ("我不好吃", ["不好", "好吃", "吃", "我"], ["我", "不好", "吃"]),
    ],
)
def test_tokens_that_come_first_in_the_vocabulary_take_their_words_from_the_left(
    text, surfaces, found
):
    encoded = encode([text], known(*surfaces), SEGMENTS)
    assert [surfaces[token] for token in np.repeat(encoded.ids, encoded.counts)] == found


@given(st.integers(1, 200), st.integers(2, 5), st.integers(0, 2**31))
def test_of_many_words_that_hang_together_those_are_taken_that_the_definition_takes(
    count, longest, seed
):
    rng = np.random.default_rng(seed)
    several = {" ".join(rng.choice([*"abc"], rng.integers(1, longest + 1))) for _ in range(30)}
    vocabulary = known(*rng.permutation(sorted(several)).tolist())
    tokeniser = replace(SEGMENTS, longest_phrase=longest)
    text = " ".join(rng.choice(["a", "b", "c", "c!"], p=[0.32, 0.32, 0.32, 0.04], size=count))
    expected = slowly(text, vocabulary, tokeniser)
    [found] = as_dicts(encode([text], vocabulary, tokeniser))
    assert found == {token: len(rows) for token, rows in expected.items()}


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("a b a c 不不好a ", {"a": 600_000, "b a": 300_000, "c": 300_000, "不好": 300_000}),
        ("a b ", {"a": 1, "b a": 299_999}),  # all of it hangs together
    ],
)
def test_a_text_of_megabytes_is_cut_as_a_short_one(text, counts):
    vocabulary = known("b a", "a b", "a", "c", "不好", "好")
    [found] = as_dicts(encode([text * 300_000], vocabulary, SEGMENTS))
    assert {vocabulary.surfaces[token]: count for token, count in found.items()} == counts


@pytest.mark.parametrize("size", [1, 60, 700])
def test_where_the_parts_begin_in_which_texts_are_read_changes_nothing(monkeypatch, size):
    model, texts = small_model(tokeniser=SEGMENTS), random_texts(50)
    whole = model.analyse(texts)
    encoded = encode(texts, model.vocabulary, model.tokeniser)
    monkeypatch.setattr(encoding, "_BYTES_AT_ONCE", size)
    assert_same(model.analyse(texts), whole)
    assert_same(encode(texts, model.vocabulary, model.tokeniser), encoded)


@pytest.mark.parametrize(
    ("surface", "other"),
    [
        ("abcdefgh", "bcdefgh"),
        ("xabcdefgh", "yabcdefgh"),  # the last eight letters are the same
        ("abcdefgh", "abcdefghx"),
        ("ba", "\u6261"),  # whose number is that of b and a, side by side
        ("é", "\u00c3\u00a9"),
        ("aaaaaaaa", "aaaaaaa"),
    ],
)
def test_words_that_nearly_are_one_another_are_told_apart(surface, other):
    for one, text in ((surface, other), (other, surface)):
        vocabulary = known(Tokeniser().tokens(one)[0].surface)
        assert encode([f"{text}, {text}"], vocabulary, Tokeniser()).ids.tolist() == []
        assert encode([f"{text} {one}"], vocabulary, Tokeniser()).counts.tolist() == [1]


# ---------------------------------------------------------------- forms of texts


def test_texts_come_in_many_forms():
    pandas, pyarrow, polars = (
        pytest.importorskip(name) for name in ("pandas", "pyarrow", "polars")
    )
    texts = ["Good film", "", "né good good"]
    expected = as_dicts(encode(texts, known("good", "né"), Tokeniser()))
    forms = [
        tuple(texts),
        iter(texts),
        np.array(texts),
        np.array(texts, dtype=object),
        pandas.Series(texts),
        pandas.Series(texts, dtype=object),
        pandas.Series(texts).astype("category"),
        polars.Series(texts),
        pyarrow.array(texts),
        pyarrow.array(texts, pyarrow.large_string()),
        pyarrow.array(texts).dictionary_encode(),
        pyarrow.array(["skipped", *texts])[1:],
        pyarrow.chunked_array([["skipped", "Good film"], [], ["", "né good good"]])[1:],
    ]
    for form in forms:
        assert as_dicts(encode(form, known("good", "né"), Tokeniser())) == expected
    for nothing in (
        [],
        pyarrow.array([], pyarrow.string()),
        pyarrow.chunked_array([], pyarrow.string()),
    ):
        assert len(encode(nothing, known("good"), Tokeniser())) == 0
    assert as_dicts(encode(["good"], known(), Tokeniser())) == [{}]
    assert read_texts(["a\ud800b", "\udfff"]).data.tobytes().decode() == "a\ufffdb\ufffd"


def test_missing_and_foreign_values_of_columns_are_refused_with_their_row():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    for column in (
        pandas.Series(["a", None]),
        pyarrow.array(["a", None]),
        pyarrow.chunked_array([["a"], [None]]),
    ):
        with refuses("row 1 is missing"):
            read_texts(column)
    for column in (pandas.Series([1.0, 2.0]), pyarrow.array([1, 2])):
        with refuses("expected"):
            read_texts(column)


# ---------------------------------------------------------------- vocabularies

corpora = st.lists(st.tuples(texts, st.integers(0, 2)), min_size=1, max_size=10)


def count_slowly(texts, labels, tokeniser: Tokeniser) -> dict[str, np.ndarray]:
    counts: dict[str, np.ndarray] = {}
    for text, label in zip(texts, labels, strict=True):
        for surface in {token.surface for token in tokeniser.tokens(text)}:
            counts.setdefault(surface, np.zeros(max(labels) + 1, dtype=int))[label] += 1
    return counts


def choose(
    texts, labels, tokeniser: Tokeniser, words: int = 10_000, phrases: int = 30_000
) -> Vocabulary:
    most = {"words": words, "phrases": phrases, "min_df": 2}
    about = read_texts(texts), np.array(labels, dtype=int), max(labels) + 1
    surfaces = choose_tokens(*about, tokeniser.longest_phrase, **most)
    return Vocabulary(surfaces, np.zeros((len(surfaces), max(labels) + 1)))


@given(corpora, tokenisers)
def test_frequent_tokens_are_chosen_and_a_file_gives_them_back(corpus, tokeniser):
    texts, labels = map(list, zip(*corpus, strict=True))
    slow = count_slowly(texts, labels, tokeniser)
    frequent = {surface: counts for surface, counts in slow.items() if counts.sum() >= 2}
    found = choose(texts, labels, tokeniser)
    assert set(found.surfaces) == set(frequent)
    found = Vocabulary(
        found.surfaces, np.reshape([frequent[s] for s in found.surfaces], found.counts.shape)
    )
    again = read_vocabulary(write_vocabulary(found))
    assert again.surfaces == found.surfaces
    assert np.array_equal(again.counts, found.counts) or not len(found)


# Few words in many texts: there are always more frequent words and phrases than are asked for.
crowded = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abcd"), min_size=3, max_size=8).map(" ".join), st.integers(0, 2)
    ),
    min_size=6,
    max_size=12,
)


@given(crowded, st.integers(0, 3), st.integers(0, 4), st.integers(2, 3))
def test_the_most_frequent_words_and_the_most_uneven_phrases_are_taken(
    corpus, most_words, most_phrases, longest
):
    texts, labels = map(list, zip(*corpus, strict=True))
    tokeniser, sizes = Tokeniser(longest_phrase=longest), np.bincount(labels)
    slow = {s: c for s, c in count_slowly(texts, labels, tokeniser).items() if c.sum() >= 2}
    ranked = sorted(
        (-counts.sum(), surface)
        for surface, counts in slow.items()
        if len(cut_surface(surface)) == 1
    )
    scores = {
        s: chi_squared(counts, sizes) for s, counts in slow.items() if len(cut_surface(s)) > 1
    }
    # There is a choice, and it matters.
    assume(
        len(ranked) > most_words
        and len(scores) > most_phrases
        and np.ptp([*scores.values()]) > 1e-9
    )
    found = choose(texts, labels, tokeniser, words=most_words, phrases=most_phrases).surfaces
    assert list(found[:most_words]) == [surface for _, surface in ranked[:most_words]]
    best = sorted(scores.values(), reverse=True)[:most_phrases]
    assert np.allclose([scores[surface] for surface in found[most_words:]], best)


def chi_squared(counts: np.ndarray, texts: np.ndarray) -> float:
    expected, there = counts.sum() * texts / texts.sum(), texts > 0
    return float(((counts - expected)[there] ** 2 / expected[there]).sum())


@st.composite
def numbered(draw: st.DrawFn) -> bytes:
    """A vocabulary as it is written, for one to three classes."""
    classes = draw(st.integers(1, 3))
    surfaces = st.sampled_from(["a", "so good", "é", "不"])
    row = st.tuples(surfaces, *[st.integers(0, 10**17)] * classes)
    rows = draw(st.lists(row, max_size=4, unique_by=lambda row: row[0]))
    return "".join("\t".join(map(str, row)) + "\n" for row in rows).encode()


@given(numbered())
def test_a_vocabulary_is_read_as_it_was_written(data):
    found = read_vocabulary(data)
    assert write_vocabulary(found) == data
    rows = [line.split("\t") for line in data.decode().splitlines()]
    assert found.surfaces == tuple(surface for surface, *_ in rows)
    assert found.counts[: len(rows)].tolist() == [list(map(int, counts)) for _, *counts in rows]


@pytest.mark.parametrize(
    "data",
    [
        b"a\t1\t2\n3\n",  # as many tabs as there should be, in other rows
        b"\xff\t1\n",
        b"good\t1\nbad\t2",
        b"good\t1\t2\n\t",
        b"g",  # cut off before the first tab
        b"good\tmany\n",
        b"good\t-1\n",
        b"good\t\n",
        b"good\t1\nbad\n",
        b"good\t1\n\nbad\t2\n",
    ],
)
def test_a_damaged_vocabulary_is_refused(data):
    with refuses(r"vocabulary\.txt is damaged"):
        read_vocabulary(data)


def test_a_token_that_is_there_twice_is_refused_by_its_name():
    with refuses("'good' twice"):
        read_vocabulary(b"good\t1\nbad\t2\ngood\t1\n")


def test_counts_are_taken_up_to_the_largest_whole_number_that_floats_tell_apart():
    assert Vocabulary(["good"], [[2**53 - 1]]).counts.tolist() == [[2**53 - 1]]
    with refuses("whole numbers from 0 up"):
        Vocabulary(["good"], [[2**53]])


def test_kernels_are_compiled_once_wherever_texts_come_from():
    arrow, known = pytest.importorskip("pyarrow"), Vocabulary(["good"], [[0]])
    for texts in (["good", "a good one"], arrow.array(["good", "a good one"])):
        found = read_texts(texts)
        for one in (found, found.pick(np.array([1, 0]))):
            encode(one, known, Tokeniser())
            choose_tokens(one, np.array([0, 1]), 2, 1, words=3, phrases=0, min_df=1)
    assert [len(kernel.compiled.signatures) for kernel in (encode_texts, number_words)] == [1, 1]


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
