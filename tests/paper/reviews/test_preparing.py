import numpy as np

from hardmax.paper.reviews.lemmas import NounLemmas
from hardmax.paper.reviews.preparing import Kept, prepare_reviews, words_of
from hardmax.paper.reviews.stop_words import STOP_WORDS

TEXTS = ["A good film!", "A bad film...", "Films, films: all bad", "Good was it not"]
LEMMAS = NounLemmas(frozenset({"film", "it"}), {})


def test_there_are_179_stop_words():
    assert len(STOP_WORDS) == 179


def test_stop_words_go_before_lemmas_and_after():
    assert words_of("It was not its film", Kept(LEMMAS)) == ["It", "film"]
    assert words_of("two its ites", Kept(NounLemmas(frozenset({"it"}), {"ites": ("it",)}))) == ["two"]


def test_rows_are_the_words_of_the_texts_they_came_from():
    reviews = prepare_reviews(TEXTS, [1, 0, 0, 1], LEMMAS, length=4)
    vocabulary = reviews.vocabulary
    for row, label, number in zip(reviews.ids, reviews.labels, reviews.order, strict=True):
        words = words_of(TEXTS[number], Kept(LEMMAS))
        assert [vocabulary.words[i] for i in row] == (words + ["<PAD>"] * 4)[:4]
        assert label == [1, 0, 0, 1][number]
    assert vocabulary.words[1] == "film"
    assert vocabulary.counts[:2] == (0, 3)


def test_the_same_seed_gives_the_same_order_and_another_seed_another():
    texts, labels = [f"word{chr(97 + i)}" for i in range(20)], [0, 1] * 10
    orders = [prepare_reviews(texts, labels, None, seed=seed).order for seed in (0, 0, 1)]
    np.testing.assert_array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], orders[2])
    assert sorted(orders[0]) == list(range(20))


def test_what_is_too_long_is_cut():
    reviews = prepare_reviews(["one two three", "one"], [0, 1], None, length=2)
    assert reviews.ids.shape == (2, 2)
    assert not reviews.lemmatised
