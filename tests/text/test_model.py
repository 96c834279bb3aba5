"""What a model answers: it depends on the text alone, is undecided where it should be, and its
doors are checked.

That answers are those of the definition, test_reading asks.
"""

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import listed_refusals
from text.small_models import MODIFIERS, WORDS, random_texts, small_model, word_model

from hardmax._kernels.parallel import limit_threads
from hardmax.text.card import token_table
from hardmax.text.encoding import lexicon_of
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import Vocabulary

VARIANTS = {
    "plain": {},
    "three classes": {"classes": 3},
    "no modifiers": {"modifiers": ()},
    "gathered": {"alpha": "1/2", "gate": 0.3},
    "segments": {"tokeniser": Tokeniser(longest_phrase=3, overlapping=False), "scope": 2},
    "huge": {"weights": 1e30 * np.random.default_rng(0).normal(size=(len(WORDS), 1))},
}
every_variant = pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
MODEL = small_model()


@every_variant
def test_probabilities_are_those_of_the_logits(changes):
    model, texts = small_model(**changes), random_texts(20)
    found = model.analyse(texts).logits
    chances = model.predict_proba(texts)
    logits = np.column_stack([np.zeros(len(texts)), found]) if found.shape[1] == 1 else found
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    assert np.allclose(chances, powers / powers.sum(axis=1, keepdims=True))
    best = np.array(model.classes)[chances.argmax(axis=1)]
    assert (model.predict(texts) == best)[model.analyse(texts).decided].all()


@every_variant
def test_a_prediction_does_not_depend_on_its_batch_nor_on_threads(changes):
    model, texts = small_model(**changes), random_texts(70)  # a thread takes 64 texts at a time
    whole = model.predict_proba(texts).tobytes()
    for size in (1, 7):
        parts = [
            model.predict_proba(texts[first : first + size]) for first in range(0, len(texts), size)
        ]
        assert np.concatenate(parts).tobytes() == whole
    for threads in (1, 7):
        with limit_threads(threads):
            assert model.predict_proba(texts).tobytes() == whole


@settings(max_examples=20)  # what any text is cut into, test_encoding and test_tokeniser ask
@given(st.lists(st.text(), max_size=4))
def test_any_text_passes(texts):
    chances = MODEL.predict_proba(texts)
    assert chances.shape == (len(texts), 2)
    assert np.allclose(chances.sum(axis=1), 1)


def test_ten_megabytes_no_known_token_no_text_and_huge_logits_pass():
    once, often = "great film. not awful! ", "great film. not awful! " * 450_000
    assert MODEL.predict_proba([often]).tobytes() == MODEL.predict_proba([once]).tobytes()
    assert MODEL.analyse(["", "unknown"]).logits.tolist() == [[float(MODEL.bias[0])]] * 2
    assert np.isfinite(small_model(**VARIANTS["huge"]).predict_proba(["great", "awful"])).all()
    for classes in (2, 3):
        found = small_model(classes=classes).analyse([])
        assert (len(found), found.probabilities.shape) == (0, (0, classes))
        assert small_model(classes=classes).predict([]).tolist() == []


def test_a_word_that_is_said_twice_counts_once():
    model = word_model({"great": 2, "dull": -1})
    logits = model.analyse(["great dull", "great, great; dull", "great"]).logits[:, 0]
    assert logits.tolist() == pytest.approx([1 / 3, 1 / 3, 1])


# ---------------------------------------------------------------- undecided texts


@pytest.mark.parametrize("neutral_weight", [1, 50])
@pytest.mark.parametrize("alpha", ["0", "1"])
def test_every_text_with_a_known_word_that_speaks_is_decided(alpha, neutral_weight):
    table = {"ant": 0.01, "bee": -3, "cat": 0, "dog": 2}
    counts = Vocabulary(list(table), [[1, 2]] * 4)
    model = word_model(
        table, vocabulary=counts, alpha=alpha, neutral_weight=neutral_weight, gate=0.25, bias=[5]
    )
    decided = ["ant", "ant unknown cat", "Bee!", "dog ant", "bee bee dog"]
    silent = ["", "unknown", "cat", "cat cat, unknown"]
    assert model.analyse(decided).decided.all()
    assert not model.analyse(silent).decided.any()
    assert set(model.predict(silent)) == {"positive"}  # the more frequent class
    assert {model.explain(text).answer for text in silent} == {"undecided"}


def test_a_logit_of_zero_is_undecided():
    model = word_model({"ant": 1, "bee": -1})
    assert model.analyse(["ant", "ant bee"]).decided.tolist() == [True, False]
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


def test_a_model_shows_itself():
    size = f"{len(WORDS)} tokens, {len(MODIFIERS)} modifiers"
    assert repr(MODEL) == f"TextModel({size}, classes negative, positive)"


def test_models_and_explanations_have_at_most_twenty_public_attributes():
    why = MODEL.explain("great film")
    for thing in (MODEL, why, why.ledger[0]):
        assert len([name for name in dir(thing) if not name.startswith("_")]) <= 20


def test_a_table_has_a_row_for_each_token():
    pytest.importorskip("pandas")
    table = token_table(small_model(classes=3))
    assert table["token"].tolist() == list(WORDS)
    assert table["weight towards class 1"].tolist() == small_model(classes=3).weights[:, 1].tolist()


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
