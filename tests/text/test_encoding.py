"""Known tokens of texts and where they stand: the kernels against the definition; vocabularies;
forms of texts."""

import re
from collections import defaultdict
from dataclasses import replace
from functools import partial
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
words_and_ends = st.tuples(st.sampled_from(words), st.sampled_from([" ", " ", ""]))
texts = st.lists(words_and_ends.map("".join), max_size=20).map("".join)
phrases = f"{PHRASES}|{MORE}".split("|")
vocabularies = st.lists(st.sampled_from(phrases), unique=True).map(lambda some: known(*some))
SEGMENTS = Tokeniser(longest_phrase=3, overlapping=False)


def known(*surfaces: str) -> Vocabulary:
    return Vocabulary(list(surfaces), np.zeros((len(surfaces), 2)))


def slowly(text: str, vocabulary: Vocabulary, tokeniser: Tokeniser) -> dict[int, list[list[int]]]:
    """For each known token of a text its places, in order of first appearance."""
    index = vocabulary.index
    tokens = [token for token in tokeniser.tokens(text) if token.surface in index]
    known = [(index[token.surface], token) for token in tokens]
    taken, kept = set[int](), []
    from_the_left = sorted(known, key=lambda pair: pair[0])
    for number, token in from_the_left:
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
    found_counts = []
    for a, b in bounds:
        ids, counts = found.ids[a:b].tolist(), found.counts[a:b].tolist()
        found_counts.append(dict(zip(ids, counts, strict=True)))
    return found_counts


def assert_same(one, other) -> None:
    for name, value in vars(one).items():
        assert np.array_equal(getattr(other, name), value), name


@given(st.lists(texts, max_size=5), vocabularies, tokenisers)
def test_texts_have_the_known_tokens_of_the_definition_in_the_same_order(
    texts, vocabulary, tokeniser
):
    expected = [slowly(text, vocabulary, tokeniser) for text in texts]
    counts = []
    for one in expected:
        counts.append([(token, len(places)) for token, places in one.items()])
    compiled = encode(texts, vocabulary, tokeniser)
    # As Python, kernels cannot write behind the end of an array.
    with pytest.MonkeyPatch.context() as patched, np.errstate(over="ignore"):
        slow = partial(encode_texts.python, 0, 1)
        patched.setattr(encoding, "encode_texts", slow)
        found = _encode_part(read_texts(texts), lexicon_of(vocabulary), tokeniser)
    for each in (compiled, found):
        assert [list(one.items()) for one in as_dicts(each)] == counts
    for text, places in zip(texts, expected, strict=True):
        read = read_one(text, vocabulary, tokeniser)
        assert read.encoded.ids.tolist() == list(places)
        counts = [len(rows) for rows in places.values()]
        assert read.encoded.counts.tolist() == counts
        found_places = [rows.tolist() for rows in read.places]
        assert found_places == list(places.values())


FROM_THE_LEFT = """
one of the worst films: the worst|of the|of|the|worst|films => of|the worst|films
one of the worst films: the|of the worst|worst|of => of|the|worst
a a a a a: a a|a => a a|a a|a
a a a a a: a a a|a a => a a a|a a
我不好吃: 不好|好吃|吃|我 => 我|不好|吃
""".strip()


@pytest.mark.parametrize("line", FROM_THE_LEFT.split("\n"))
def test_tokens_that_come_first_in_the_vocabulary_take_their_words_from_the_left(line):
    text, known_ones, expected = re.split(": | => ", line)
    surfaces = known_ones.split("|")
    encoded = encode([text], known(*surfaces), SEGMENTS)
    tokens = np.repeat(encoded.ids, encoded.counts)
    assert "|".join(surfaces[token] for token in tokens) == expected


@given(st.integers(1, 200), st.integers(2, 5), st.integers(0, 2**31))
def test_of_many_words_that_hang_together_those_are_taken_that_the_definition_takes(
    count, longest, seed
):
    rng = np.random.default_rng(seed)
    several = set()
    for _ in range(30):
        letters = rng.choice([*"abc"], rng.integers(1, longest + 1))
        several.add(" ".join(letters))
    vocabulary = known(*rng.permutation(sorted(several)).tolist())
    tokeniser = replace(SEGMENTS, longest_phrase=longest)
    ends = rng.choice(["a", "b", "c", "c!"], p=[0.32, 0.32, 0.32, 0.04], size=count)
    text = " ".join(ends)
    expected = slowly(text, vocabulary, tokeniser)
    [found] = as_dicts(encode([text], vocabulary, tokeniser))
    assert found == {token: len(rows) for token, rows in expected.items()}


MILLIONS = {"a": 600_000, "b a": 300_000, "c": 300_000, "不好": 300_000}
TOGETHER = {"a": 1, "b a": 299_999}


@pytest.mark.parametrize(("text", "counts"), [("a b a c 不不好a ", MILLIONS), ("a b ", TOGETHER)])
def test_a_text_of_megabytes_is_cut_as_a_short_one(text, counts):
    vocabulary = known("b a", "a b", "a", "c", "不好", "好")
    [found] = as_dicts(encode([text * 300_000], vocabulary, SEGMENTS))
    named = {vocabulary.surfaces[token]: count for token, count in found.items()}
    assert named == counts


@pytest.mark.parametrize("size", [1, 60, 700])
def test_where_the_parts_begin_in_which_texts_are_read_changes_nothing(monkeypatch, size):
    model, texts = small_model(tokeniser=SEGMENTS), random_texts(50)
    whole = model.analyse(texts)
    encoded = encode(texts, model.vocabulary, model.tokeniser)
    monkeypatch.setattr(encoding, "_BYTES_AT_ONCE", size)
    assert_same(model.analyse(texts), whole)
    assert_same(encode(texts, model.vocabulary, model.tokeniser), encoded)


# Letters after the eighth; letters before the last eight; a character whose number is that of two
# letters side by side; the bytes of one character as characters.
ALIKE = [
    ("abcdefgh", "abcdefghx"),
    ("xabcdefgh", "yabcdefgh"),
    ("ba", "\u6261"),
    ("é", "\u00c3\u00a9"),
    ("abababab", "abababa"),
]


@pytest.mark.parametrize(("surface", "other"), ALIKE)
def test_words_that_nearly_are_one_another_are_told_apart(surface, other):
    for one, text in ((surface, other), (other, surface)):
        vocabulary = known(Tokeniser().tokens(one)[0].surface)
        apart = encode([f"{text}, {text}"], vocabulary, Tokeniser())
        assert len(apart.ids) == 0
        both = encode([f"{text} {one}"], vocabulary, Tokeniser())
        assert both.counts.tolist() == [1]


# ---------------------------------------------------------------- forms of texts


def test_texts_come_in_many_forms():
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    texts = ["Good film", "", "né good good"]
    vocabulary = known("good", "né")
    expected = as_dicts(encode(texts, vocabulary, Tokeniser()))
    series, column = pandas.Series(texts), pyarrow.array(texts)
    skipped = pyarrow.array(["skipped", *texts])[1:]
    chunks = [["skipped", texts[0]], [], texts[1:]]
    forms = [tuple(texts), iter(texts), np.array(texts), np.array(texts, dtype=object)]
    forms += [series, series.astype(object), series.astype("category"), polars.Series(texts)]
    forms += [column, column.cast(pyarrow.large_string()), column.dictionary_encode()]
    forms += [skipped, pyarrow.chunked_array(chunks)[1:]]
    for form in forms:
        assert as_dicts(encode(form, vocabulary, Tokeniser())) == expected


def test_no_texts_no_vocabulary_and_half_characters_are_no_trouble():
    pyarrow = pytest.importorskip("pyarrow")
    kind = pyarrow.string()
    for nothing in ([], pyarrow.array([], kind), pyarrow.chunked_array([], kind)):
        assert len(encode(nothing, known("good"), Tokeniser())) == 0
    unknown = encode(["good"], known(), Tokeniser())
    assert as_dicts(unknown) == [{}]
    read = read_texts(["a\ud800b", "\udfff"])
    assert read.data.tobytes().decode() == "a\ufffdb\ufffd"


def test_missing_and_foreign_values_of_columns_are_refused_with_their_row():
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    missing = pandas.Series(["a", None]), pyarrow.array(["a", None])
    for column in (*missing, pyarrow.chunked_array([["a"], [None]])):
        with refuses("row 1 is missing"):
            read_texts(column)
    for column in (pandas.Series([1.0]), pyarrow.array([1])):
        with refuses("expected"):
            read_texts(column)


# ---------------------------------------------------------------- vocabularies

labelled = st.tuples(texts, st.integers(0, 2))
corpora = st.lists(labelled, min_size=1, max_size=10)


def count_slowly(texts, labels, tokeniser: Tokeniser) -> dict[str, np.ndarray]:
    counts: dict[str, np.ndarray] = {}
    for text, label in zip(texts, labels, strict=True):
        for surface in {token.surface for token in tokeniser.tokens(text)}:
            none = np.zeros(max(labels) + 1, dtype=int)
            counts.setdefault(surface, none)[label] += 1
    return counts


def choose(
    texts, labels, tokeniser: Tokeniser, words: int = 10_000, phrases: int = 30_000
) -> Vocabulary:
    most = {"words": words, "phrases": phrases, "min_df": 2}
    surfaces = choose_tokens(read_texts(texts), tokeniser.longest_phrase, **most)
    return Vocabulary(surfaces, np.zeros((len(surfaces), max(labels) + 1)))


@given(corpora, tokenisers)
def test_frequent_tokens_are_chosen_and_a_file_gives_them_back(corpus, tokeniser):
    texts, labels = map(list, zip(*corpus, strict=True))
    slow = count_slowly(texts, labels, tokeniser)
    frequent = {surface: counts for surface, counts in slow.items() if counts.sum() >= 2}
    found = choose(texts, labels, tokeniser)
    assert set(found.surfaces) == set(frequent)
    counts = [frequent[surface] for surface in found.surfaces]
    found = Vocabulary(found.surfaces, np.reshape(counts, found.counts.shape))
    again = read_vocabulary(write_vocabulary(found))
    assert again.surfaces == found.surfaces
    assert np.array_equal(again.counts, found.counts) or not len(found)


# Few words in many texts: there are always more frequent words and phrases than are asked for.
crowd = st.lists(st.sampled_from("abcd"), min_size=3, max_size=8)
crowded = st.lists(st.tuples(crowd.map(" ".join), st.integers(0, 2)), min_size=6, max_size=12)


@given(crowded, st.integers(0, 3), st.integers(0, 4), st.integers(2, 3))
def test_the_most_frequent_words_and_phrases_are_taken(corpus, most_words, most_phrases, longest):
    texts, labels = map(list, zip(*corpus, strict=True))
    tokeniser = Tokeniser(longest_phrase=longest)
    words, phrases = [], []
    for surface, counts in count_slowly(texts, labels, tokeniser).items():
        kind = words if len(cut_surface(surface)) == 1 else phrases
        if counts.sum() >= 2:
            kind.append((-counts.sum(), surface))
    # There is a choice.
    assume(len(words) > most_words)
    assume(len(phrases) > most_phrases)
    found = choose(texts, labels, tokeniser, words=most_words, phrases=most_phrases)
    best = sorted(words)[:most_words] + sorted(phrases)[:most_phrases]
    assert list(found.surfaces) == [surface for _, surface in best]


@st.composite
def numbered(draw: st.DrawFn) -> bytes:
    """A vocabulary as it is written, for one to three classes."""
    classes = draw(st.integers(1, 3))
    surfaces = st.sampled_from(["a", "so good", "é", "不"])
    row = st.tuples(surfaces, *[st.integers(0, 10**17)] * classes)
    rows = draw(st.lists(row, max_size=4, unique_by=lambda row: row[0]))
    lines = ["\t".join(map(str, row)) + "\n" for row in rows]
    return "".join(lines).encode()


@given(numbered())
def test_a_vocabulary_is_read_as_it_was_written(data):
    found = read_vocabulary(data)
    assert write_vocabulary(found) == data
    rows = [line.split("\t") for line in data.decode().splitlines()]
    assert found.surfaces == tuple(surface for surface, *_ in rows)
    counts = [[int(count) for count in counts] for _, *counts in rows]
    assert found.counts[: len(rows)].tolist() == counts


# Tabs in the wrong rows; cut off before the first tab, behind it, and before the end of a line.
DAMAGED = [b"a\t1\t2\n3\n", b"g", b"good\t1\t2\n\t", b"good\t1\nbad\t2", b"good\t\n"]
DAMAGED += [b"\xff\t1\n", b"good\tmany\n", b"good\t-1\n", b"good\t1\nbad\n", b"good\t1\n\nbad\t2\n"]


@pytest.mark.parametrize("data", DAMAGED)
def test_a_damaged_vocabulary_is_refused(data):
    with refuses(r"vocabulary\.txt is damaged"):
        read_vocabulary(data)


def test_a_token_that_is_there_twice_is_refused_by_its_name():
    with refuses("'good' twice"):
        read_vocabulary(b"good\t1\nbad\t2\ngood\t1\n")


def test_counts_are_taken_up_to_the_largest_whole_number_that_floats_tell_apart():
    most = 2**53 - 1
    assert Vocabulary(["good"], [[most]]).counts.tolist() == [[most]]
    with refuses("whole numbers from 0 up"):
        Vocabulary(["good"], [[most + 1]])


def test_kernels_are_compiled_once_wherever_texts_come_from():
    arrow, known = pytest.importorskip("pyarrow"), Vocabulary(["good"], [[0]])
    plain = ["good", "a good one"]
    for texts in (plain, arrow.array(plain)):
        found = read_texts(texts)
        for one in (found, found.pick(np.array([1, 0]))):
            encode(one, known, Tokeniser())
            choose_tokens(one, 1, words=3, phrases=0, min_df=1)
    for kernel in (encode_texts, number_words):
        assert len(kernel.compiled.signatures) == 1


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
