"""Each place of a text counts once, if tokens may not overlap."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.drawing import tokenisers
from text.small_models import random_texts, small_model

from hardmax.text.tokens.building import build_vocabulary
from hardmax.text.tokens.encoding import encode
from hardmax.text.tokens.lexicon import lexicon_of
from hardmax.text.tokens.one_text import read_one
from hardmax.text.tokens.places import read_long
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary

SEGMENTS = Tokeniser(longest_phrase=3, overlapping=False)
said = st.lists(st.sampled_from(["a ", "b ", "c ", "!", "?", "！", "؟", ". ", "不", "好"]), max_size=25).map("".join)
parts = st.lists(st.sampled_from(["a", "b", "c", "不", "好"]), min_size=1, max_size=4)
surfaces = st.lists(st.one_of(parts.map(Tokeniser().alphabet.join), st.sampled_from("!?")), unique=True, max_size=12)


def known(*surfaces: str) -> Vocabulary:
    return Vocabulary(surfaces, np.zeros((len(surfaces), 2)))


def segments(text: str, *surfaces: str, **options) -> list[str]:
    """What `encode` finds, each as often as it is there, in the order of first appearance."""
    found = encode([text], known(*surfaces), replace(SEGMENTS, **options))
    return [surfaces[token] for token in np.repeat(found.ids, found.counts)]


def test_tokens_that_come_first_in_the_vocabulary_take_their_words():
    assert segments("one of the worst films", "the worst", "of the", "of", "the", "worst", "films") == [
        "of", "the worst", "films",
    ]  # fmt: skip
    assert segments("one of the worst films", "the", "of the worst", "worst", "of") == ["of", "the", "worst"]


def test_of_one_token_the_leftmost_is_taken():
    assert segments("a a a a a", "a a", "a") == ["a a", "a a", "a"]
    assert segments("a a a a a", "a a a", "a a") == ["a a a", "a a"]


def test_a_mark_is_a_word_of_its_own():
    assert segments("a! b?", "a b", "a", "b", "!", "?", marks=True, across_sentences=True) == ["!", "a b", "?"]
    assert segments("!a b", "a b", "a", "!", marks=True) == ["!", "a b"]


def test_characters_that_are_words_are_taken_one_by_one():
    assert segments("我不好吃", "不好", "好吃", "吃", "我") == ["我", "不好", "吃"]


@given(said, surfaces, tokenisers)
def test_every_known_word_is_in_one_segment_at_most_and_none_is_left_that_could_be_taken(text, surfaces, tokeniser):
    tokeniser = replace(tokeniser, overlapping=False)
    vocabulary = known(*surfaces)
    read = read_one(text, vocabulary, tokeniser, has_extra=False)
    assert read.encoded.counts.tolist() == [len(rows) for rows in read.places]
    spans = sorted(span for rows in read.places for span in map(tuple, rows.tolist()) if text[span[0]] not in "!?！؟")
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    ranks = {tuple(s): n for n, rows in zip(read.encoded.ids.tolist(), read.places, strict=True) for s in rows.tolist()}
    for surface, start, end in tokeniser.tokens(text):
        if surface in vocabulary.index and (start, end) not in ranks:
            # Somebody before it in the vocabulary, or the same further left, has one of its words.
            winners = [(ranks[span], span) for span in spans if span[0] < end and start < span[1]]
            assert min(winners) < (vocabulary.index[surface], (start, end))
    assert [rows[0].tolist() for rows in read.places] == sorted(
        (rows[0].tolist() for rows in read.places), key=lambda span: span[1]
    )


@given(said, surfaces, tokenisers)
def test_without_phrases_nothing_overlaps(text, surfaces, tokeniser):
    alone, vocabulary = replace(tokeniser, longest_phrase=1), known(*surfaces)
    one, other = (encode([text], vocabulary, replace(alone, overlapping=choice)) for choice in (True, False))
    for name, value in vars(one).items():
        assert np.array_equal(getattr(other, name), value), name


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("a b a c 不不好a ", {"a": 600_000, "b a": 300_000, "c": 300_000, "不好": 300_000}),
        ("a b ", {"a": 1, "b a": 299_999}),  # all of it hangs together
    ],
)
def test_a_text_of_megabytes_is_cut_as_a_short_one(text, counts):
    vocabulary = known("b a", "a b", "a", "c", "不好", "好")
    found = read_long(text * 300_000, lexicon_of(vocabulary, SEGMENTS), SEGMENTS, has_extra=False)
    surfaces = [vocabulary.surfaces[token] for token in found.encoded.ids]
    assert dict(zip(surfaces, found.encoded.counts.tolist(), strict=True)) == counts
    spans = np.concatenate(found.places)
    spans = spans[np.argsort(spans[:, 0])]
    assert (spans[1:, 0] >= spans[:-1, 1]).all()


def test_a_vocabulary_counts_all_candidates():
    texts, labels = ["not good", "not good film", "a film"], [0, 1, 1]
    one = build_vocabulary(texts, labels, Tokeniser(overlapping=True))
    assert build_vocabulary(texts, labels, Tokeniser(overlapping=False)).to_bytes() == one.to_bytes()


def test_a_model_reads_segments_alike_in_batches_and_alone():
    model, texts = small_model(tokeniser=Tokeniser(marks=True, overlapping=False)), random_texts(60)
    found = model.analyse(texts)
    alone = [model.read(text).encoded for text in texts]
    assert [found.ids[a:b].tolist() for a, b in pairwise(found.offsets)] == [one.ids.tolist() for one in alone]
    assert found.counts.tolist() == [count for one in alone for count in one.counts.tolist()]


@pytest.mark.parametrize("count", [*range(1, 34), 40, 62, 63, 64, 65, 66, 127, 128, 200])
@pytest.mark.parametrize("longest", [2, 3, 5])
def test_of_many_words_that_hang_together_those_are_taken_that_python_takes(count: int, longest: int):
    rng = np.random.default_rng([count, longest])
    several = {" ".join(rng.choice(["a", "b", "c"], size=rng.integers(1, longest + 1))) for _ in range(30)}
    vocabulary = known(*rng.permutation(sorted(several)).tolist())
    tokeniser = replace(SEGMENTS, longest_phrase=longest, marks=bool(count % 2), across_sentences=bool(count % 3))
    text = " ".join(rng.choice(["a", "b", "c", "c!"], p=[0.32, 0.32, 0.32, 0.04], size=count))
    one = read_one(text, vocabulary, tokeniser, has_extra=False)
    other = read_long(text, lexicon_of(vocabulary, tokeniser), tokeniser, has_extra=False)
    assert other.encoded.ids.tolist() == one.encoded.ids.tolist()
    assert [rows.tolist() for rows in other.places] == [rows.tolist() for rows in one.places]


@pytest.mark.parametrize("phrases", [14, 15, 16, 17, 20, 31, 32, 33])
def test_few_phrases_that_hang_together_over_many_words(phrases: int):
    words = [f"w{number}" for number in range(4 * phrases + 1)]
    chain = [" ".join(words[first : first + 5]) for first in range(0, 4 * phrases, 4)]
    vocabulary = known(*np.random.default_rng(phrases).permutation(chain).tolist())
    tokeniser = replace(SEGMENTS, longest_phrase=5)
    one = read_one(" ".join(words), vocabulary, tokeniser, has_extra=False)
    found = encode([" ".join(words)], vocabulary, tokeniser)
    assert found.ids.tolist() == one.encoded.ids.tolist()
