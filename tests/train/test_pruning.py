"""Few words count: those that say most, and the share that is asked for; words stay known, phrases do not."""

import numpy as np
import pytest

from hardmax.text.tokens.encoding import Encoded
from hardmax.train.bag import Way, solve_bag
from hardmax.train.clouds import restrict
from hardmax.train.pruning import prune

TOKENS, WAY = 40, Way(10.0, neutral=True)


def texts(seed: int = 0, many: int = 300) -> tuple[Encoded, np.ndarray]:
    """Tokens 0 to 3 say the class, the others nothing."""
    rng = np.random.default_rng(seed)
    labels = np.arange(many) % 2
    likely = np.full((2, TOKENS), 0.3)
    likely[0, :2], likely[1, :2], likely[0, 2:4], likely[1, 2:4] = 0.6, 0.05, 0.05, 0.6
    rows = [np.flatnonzero(rng.random(TOKENS) < likely[c]) for c in labels]
    ids = np.concatenate(rows)
    return Encoded(ids, np.ones(len(ids), dtype=np.int32), np.cumsum([0, *map(len, rows)])), labels


@pytest.mark.parametrize("share", [0.9, 0.5, 0.3, 0.12])
@pytest.mark.parametrize("words", [0, 17, TOKENS])
def test_no_more_is_said_than_the_share_and_words_stay_known(share, words):
    found, labels = texts()
    is_word = np.arange(TOKENS) < words
    pruned = prune(found, labels, is_word, WAY, share)
    met = np.bincount(found.ids, minlength=TOKENS)
    loud = pruned.known[pruned.loud]
    assert 0.5 * share * met.sum() < met[loud].sum() <= share * met.sum()
    assert set(np.flatnonzero(is_word)) <= set(pruned.known.tolist())
    assert set(pruned.known[~pruned.loud].tolist()) <= set(np.flatnonzero(is_word))


@pytest.mark.parametrize("seed", range(4))
def test_those_that_say_the_class_are_left(seed):
    found, labels = texts(seed)
    pruned = prune(found, labels, np.ones(TOKENS, dtype=bool), WAY, share=0.12)
    assert pruned.known[pruned.loud].tolist() == [0, 1, 2, 3]


def test_somebody_is_always_left():
    found, labels = texts()
    pruned = prune(found, labels, np.zeros(TOKENS, dtype=bool), WAY, share=1e-6)
    assert pruned.loud.tolist() == [True]


def test_texts_in_which_nothing_is_said_have_no_loud_token():
    same = Encoded(np.zeros(4, dtype=np.int64), np.ones(4, dtype=np.int32), np.arange(5))
    pruned = prune(same, np.array([0, 0, 1, 1]), np.array([True]), Way(10.0), share=0.5)
    assert (pruned.known.tolist(), pruned.loud.tolist()) == ([0], [False])


def test_what_is_left_tells_the_classes_nearly_as_well():
    found, labels = texts(many=600)
    pruned = prune(found, labels, np.ones(TOKENS, dtype=bool), WAY, share=0.2)
    left = restrict(found, pruned.known, TOKENS)
    bag = solve_bag(left, labels, pruned.loud, WAY)
    said = np.bincount(np.repeat(np.arange(600), np.diff(left.offsets)), bag.says[0][left.ids], minlength=600)
    assert ((said > -bag.bias[0] * np.diff(left.offsets)) == labels).mean() > 0.85
