"""Batches of texts for training."""

import numpy as np

from hardmax.text.tokens.encoding import Encoded
from hardmax.train.clouds import as_clouds, drop_words, pick

TEXTS = Encoded(np.array([3, 1, 4, 1, 5]), np.array([1, 2, 1, 3, 1]), np.array([0, 2, 2, 5]))


def test_counts_are_kept_or_become_presence():
    assert as_clouds(TEXTS, binary=False).counts.tolist() == [1, 2, 1, 3, 1]
    assert as_clouds(TEXTS, binary=True).counts.tolist() == [1, 1, 1, 1, 1]


def test_the_extra_token_joins_every_text_even_an_empty_one():
    clouds = as_clouds(TEXTS, extra=9)
    assert [clouds.ids[a:b].tolist() for a, b in zip(clouds.offsets, clouds.offsets[1:], strict=False)] == [
        [3, 1, 9],
        [9],
        [4, 1, 5, 9],
    ]


def test_clouds_are_picked_in_the_order_asked_for():
    found = pick(as_clouds(TEXTS, binary=False), np.array([2, 0, 1]))
    assert found.ids.tolist() == [4, 1, 5, 3, 1]
    assert found.counts.tolist() == [1, 3, 1, 1, 2]
    assert found.offsets.tolist() == [0, 3, 5, 5]


def test_dropping_words_leaves_the_others_where_they_were():
    rng = np.random.default_rng(0)
    many = as_clouds(Encoded(np.arange(10_000), np.ones(10_000), np.array([0, 4_000, 4_000, 10_000])))
    fewer = drop_words(many, 0.7, rng)
    assert 2_800 < len(fewer.ids) < 3_200
    assert fewer.offsets[1] == fewer.offsets[2] == np.searchsorted(fewer.ids, 4_000)
    assert (np.diff(fewer.ids) > 0).all()


def test_nothing_is_dropped_where_nothing_shall_be():
    clouds = as_clouds(TEXTS)
    assert drop_words(clouds, 0.0, np.random.default_rng(0)) is clouds
