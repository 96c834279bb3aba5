"""What a model answers: it depends on the text alone, is undecided where it should be, and its
doors are checked.

That answers are those of the definition, test_reading asks.
"""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import listed_refusals
from text.small_models import MODIFIERS, WORDS, random_texts, small_model, word_model

from hardmax._kernels.parallel import limit_threads
from hardmax.text.encoding import lexicon_of
from hardmax.text.tokeniser import Tokeniser

HUGE = 1e30 * np.random.default_rng(0).normal(size=(len(WORDS), 1))
SEGMENTS = Tokeniser(longest_phrase=3, overlapping=False)
VARIANTS = {
    "plain": {},
    "three classes": {"classes": 3},
    "gathered": {"alpha": "1/2", "gate": 0.3},
}
VARIANTS["segments"] = {"tokeniser": SEGMENTS, "scope": 2}
VARIANTS["huge"] = {"weights": HUGE, "modifiers": ()}
MODEL = small_model()


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_answers_follow_from_logits_and_do_not_depend_on_batches_or_threads(changes):
    model, texts = small_model(**changes), random_texts(70)  # a thread takes 64 texts at a time
    found, chances = model.analyse(texts), model.predict_proba(texts)
    logits = found.logits
    if logits.shape[1] == 1:
        logits = np.column_stack([np.zeros(len(texts)), logits])
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    assert np.allclose(chances, powers / powers.sum(axis=1, keepdims=True))
    best = np.array(model.classes)[chances.argmax(axis=1)]
    assert model.predict(texts).tolist() == best.tolist()
    for size in (1, 7):
        starts = range(0, len(texts), size)
        parts = [model.predict_proba(texts[first : first + size]) for first in starts]
        assert np.concatenate(parts).tobytes() == chances.tobytes()
    for threads in (1, 7):
        with limit_threads(threads):
            assert model.predict_proba(texts).tobytes() == chances.tobytes()


# What any text is cut into, test_encoding and test_tokeniser ask.
@given(st.lists(st.text(), max_size=4))
def test_any_text_passes(texts):
    chances = MODEL.predict_proba(texts)
    assert chances.shape == (len(texts), 2)
    assert np.allclose(chances.sum(axis=1), 1)


def test_ten_megabytes_no_known_token_and_no_text_pass():
    once = "great film. not awful! "
    chances = MODEL.predict_proba([once * 450_000])
    assert chances.tobytes() == MODEL.predict_proba([once]).tobytes()
    logits = MODEL.analyse(["", "unknown"]).logits
    assert logits.ravel().tolist() == [*MODEL.bias, *MODEL.bias]
    for classes in (2, 3):
        found = small_model(classes=classes).analyse([])
        assert len(found) == 0
        assert found.probabilities.shape == (0, classes)


def test_a_word_that_is_said_twice_counts_once():
    model = word_model({"great": 2, "dull": -1})
    logits = model.analyse(["great dull", "great, great; dull", "great"]).logits[:, 0]
    assert logits.tolist() == pytest.approx([1 / 3, 1 / 3, 1])


@pytest.mark.parametrize("rule", [{"neutral_weight": 50}, {"alpha": "1"}])
def test_every_text_with_a_known_word_that_speaks_is_decided(rule):
    weights = {"ant": 0.01, "bee": -3, "cat": 0, "dog": 2}
    model = word_model(weights, gate=0.25, bias=[5], **rule)
    decided = ["ant", "ant unknown cat", "Bee!", "dog ant", "bee bee dog"]
    silent = ["", "unknown", "cat", "cat cat, unknown"]
    assert model.analyse(decided).decided.all()
    assert not model.analyse(silent).decided.any()
    assert set(model.predict(silent)) == {"positive"}  # the more frequent class
    assert {model.explain(text).answer for text in silent} == {"undecided"}


def test_a_logit_of_zero_is_undecided():
    model = word_model({"ant": 1, "bee": -1})
    ant, both = model.analyse(["ant", "ant bee"]).decided
    assert ant
    assert not both
    assert model.explain("ant bee").answer == "undecided"


# ---------------------------------------------------------------- doors and memory


def test_the_weights_of_a_model_cannot_be_written_on_and_a_model_that_nobody_holds_is_gone():
    given = np.ones((len(WORDS), 1), dtype=np.float32)
    model = small_model(weights=given)
    with pytest.raises(ValueError, match="read-only"):
        model.weights[:] = 0
    given[:] = 0
    assert model.weights.all()
    assert len(model._digest) == 64
    model.explain("not great")
    lexicon = weakref.ref(lexicon_of(model.vocabulary, model._reader))
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is lexicon() is None


def test_a_model_shows_itself_and_has_at_most_twenty_public_attributes():
    size = f"{len(WORDS)} tokens, {len(MODIFIERS)} modifiers"
    assert repr(MODEL) == f"TextModel({size}, classes negative, positive)"
    why = MODEL.explain("great film")
    for thing in (MODEL, why, why.ledger[0]):
        public = [name for name in dir(thing) if not name.startswith("_")]
        assert len(public) <= 20


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
