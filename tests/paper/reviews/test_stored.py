import numpy as np
import pytest

from hardmax._validation import InputError
from hardmax.paper.reviews.preparing import prepare_reviews
from hardmax.paper.reviews.stored import read_reviews, write_reviews


def test_reviews_come_back_as_they_were_written(tmp_path):
    reviews = prepare_reviews(["a good film", "a bad film"], [1, 0], None, length=4)
    write_reviews(tmp_path / "reviews.npz", reviews)
    back = read_reviews(tmp_path / "reviews.npz")
    for name in ("ids", "labels", "order"):
        np.testing.assert_array_equal(getattr(back, name), getattr(reviews, name))
    assert back.vocabulary.words == reviews.vocabulary.words
    assert back.vocabulary.counts == reviews.vocabulary.counts
    assert back.lemmatised is False


def test_what_holds_no_reviews_is_refused(tmp_path):
    (tmp_path / "reviews.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match="no prepared reviews"):
        read_reviews(tmp_path / "reviews.npz")
