"""Which tokens become candidates, and texts in those that were chosen."""

import numpy as np
import pytest

from hardmax._validation import InputError
from hardmax.text.tokens.encoding import encode
from hardmax.text.tokens.texts import read_texts
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.train.corpus import prepare
from hardmax.train.recipe import Recipe

TEXTS = ["not so good", "not so good", "so good", "so good", "never seen"]
LABELS = np.array([0, 0, 1, 1, 0])


def test_only_texts_that_teach_are_counted_but_all_are_read():
    learns = np.array([True, True, True, True, False])
    corpus = prepare(read_texts(TEXTS), LABELS, learns, Tokeniser(longest_phrase=1), Recipe(max_tokens=10, thrift=0.0))
    assert sorted(corpus.vocabulary.surfaces) == ["good", "not", "so"]
    assert corpus.vocabulary.counts.sum() == 10
    assert np.diff(corpus.encoded.offsets).tolist() == [3, 3, 2, 2, 0]


def test_phrases_of_three_words_must_be_in_one_text_more():
    def surfaces(texts, labels):
        every, recipe = np.ones(len(texts), dtype=np.bool_), Recipe(thrift=0.0)
        return prepare(
            read_texts(texts), np.array(labels), every, Tokeniser(longest_phrase=3), recipe
        ).vocabulary.surfaces

    assert "not so" in surfaces(TEXTS, LABELS)
    assert "not so good" not in surfaces(TEXTS, LABELS)
    assert "not so good" in surfaces(TEXTS + TEXTS[:1], [*LABELS, 0])


def test_what_one_text_says_is_known_on_demand():
    every = np.ones(5, dtype=np.bool_)
    tokeniser = Tokeniser(longest_phrase=2)
    twice = prepare(read_texts(TEXTS), LABELS, every, tokeniser, Recipe(thrift=0.0)).vocabulary.surfaces
    once = prepare(read_texts(TEXTS), LABELS, every, tokeniser, Recipe(thrift=0.0, min_df=1)).vocabulary.surfaces
    assert set(once) - set(twice) == {"never", "seen", "never seen"}


def test_no_more_tokens_are_kept_than_asked_for():
    every = np.ones(5, dtype=np.bool_)
    corpus = prepare(read_texts(TEXTS), LABELS, every, Tokeniser(longest_phrase=2), Recipe(max_tokens=2, thrift=0.0))
    assert len(corpus.vocabulary) == 2
    assert corpus.encoded.ids.max() == 1


def test_texts_cut_into_segments_are_those_of_the_tokens_that_were_chosen():
    every, tokeniser = np.ones(5, dtype=np.bool_), Tokeniser(longest_phrase=2, overlapping=False)
    corpus = prepare(read_texts(TEXTS), LABELS, every, tokeniser, Recipe(max_tokens=3, thrift=0.0))
    again = encode(TEXTS, corpus.vocabulary, tokeniser)
    all_of_them = encode(TEXTS, corpus.vocabulary, Tokeniser(longest_phrase=2))
    assert again.counts.sum() < all_of_them.counts.sum()
    for name, value in vars(again).items():
        assert np.array_equal(getattr(corpus.encoded, name), value), name


def test_texts_that_share_nothing_are_told():
    with pytest.raises(InputError, match="no word"):
        prepare(read_texts(["a", "b"]), np.array([0, 1]), np.ones(2, dtype=np.bool_), Tokeniser(), Recipe())


def test_texts_are_picked_in_order():
    picked = read_texts(["one", "", "three"]).pick(np.array([2, 0]))
    assert picked.data.tobytes() == b"threeone"
    assert picked.offsets.tolist() == [0, 5, 8]
    assert len(read_texts(["one"]).pick(np.array([], dtype=np.int64))) == 0
