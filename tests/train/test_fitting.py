"""From texts to a model: planted words are found, labels of any kind come back, bad input is told in one line."""

# pyright: reportMissingImports=false
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from effort import some

pytest.importorskip("torch", reason="training needs torch (extra `train`)")

from hardmax._validation import InputError
from hardmax.text.data.planted import plant
from hardmax.text.text_model import TextModel
from hardmax.train import Recipe, fit
from hardmax.train.examples import hold_out
from hardmax.train.layer import Hardmax, Softmax

RECIPE = Recipe(
    longest_phrase=1,
    validation_fraction=0.0,
    max_tokens=500,
    epochs=10,
    bag_of_words_epochs=2.0,
    alpha_warmup_epochs=2.0,
    batch_size=32,
    word_dropout=0.2,
    learning_rate=0.05,
)


@pytest.fixture(scope="module")
def planted():
    return plant(400, seed=3)


@pytest.fixture(scope="module")
def model(planted):
    return fit(planted.texts, planted.labels, RECIPE)


def leaders(model, texts):
    """How often each word leads."""
    found = model.analyse(texts)
    return Counter(model.vocabulary.surfaces[word] for word in found.ids[found.leader_since >= 0])


def planted_words(corpus):
    return {word for carriers in corpus.words.values() for word in carriers}


@pytest.mark.parametrize("classes", [("negative", "positive"), ("red", "green", "blue")])
@pytest.mark.parametrize("texts", [225, 450, 1100])  # of which a tenth is held out
@pytest.mark.parametrize("seed", some(range(4)))
def test_the_leaders_of_a_planted_corpus_are_the_planted_words(texts, seed, classes):
    corpus = plant(texts, seed=seed, classes=classes)
    counts = leaders(fit(corpus.texts, corpus.labels, Recipe(seed=seed)), corpus.texts)
    assert counts.total() >= 0.9 * texts
    assert set(counts) <= planted_words(corpus)


def test_where_there_is_room_for_phrases_a_planted_word_is_in_every_one_that_leads():
    corpus = plant(4000, seed=1)  # "awful every" beside "awful": said twice, it counts twice
    found = leaders(fit(corpus.texts, corpus.labels, Recipe()), corpus.texts)
    assert any(" " in surface for surface in found)
    assert all(planted_words(corpus) & set(surface.split()) for surface in found)


def test_without_thrift_other_words_lead_too(planted):
    counts = leaders(fit(planted.texts, planted.labels, Recipe(thrift=0.0)), planted.texts)
    assert sum(counts[word] for word in planted_words(planted)) < 0.5 * counts.total()


def test_texts_never_seen_are_told_apart(model):
    fresh = plant(200, seed=99)
    assert (model.predict(fresh.texts) == np.array(fresh.labels)).mean() > 0.9


def test_the_model_decides_as_the_network_did_in_training(planted):
    told = []
    found = fit(planted.texts, planted.labels, replace(RECIPE, validation_fraction=0.25), progress=told.append)
    numbers = np.array([label == "positive" for label in planted.labels]).astype(np.int64)
    held = np.flatnonzero(hold_out(numbers, 0.25, RECIPE.seed))
    right = found.predict([planted.texts[row] for row in held]) == np.array(planted.labels)[held]
    assert told[-1].validation_accuracy == pytest.approx(right.mean())
    analysis = found.analyse([planted.texts[row] for row in held])
    assert told[-1].validation_leaders == pytest.approx(analysis.leaders_per_text.mean(), abs=0.05)


def test_validation_texts_give_the_temperature(planted):
    assert fit(planted.texts, planted.labels, replace(RECIPE, epochs=1, validation_fraction=0.25)).temperature != 1.0
    assert fit(planted.texts, planted.labels, replace(RECIPE, epochs=1)).temperature == 1.0


def test_the_same_texts_give_the_same_model_and_it_survives_saving(planted, model, tmp_path):
    again = fit(planted.texts, planted.labels, RECIPE)
    assert again.embeddings.tobytes() == model.embeddings.tobytes()
    again.save(tmp_path / "model")
    logits = TextModel.load(tmp_path / "model").decision_function(planted.texts)
    assert logits.tobytes() == model.decision_function(planted.texts).tobytes()


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [False, True], [1.5, 2.5]])
def test_labels_of_any_kind_come_back(labels):
    texts = ["bad film", "good film"] * 20
    found = fit(texts, labels * 20, replace(RECIPE, epochs=6, word_dropout=0.0))
    assert found.predict(["good film", "bad film"]).tolist() == labels[::-1]


def test_three_classes():
    corpus = plant(600, classes=("red", "green", "blue"), seed=5)
    found = fit(corpus.texts, corpus.labels, replace(RECIPE, decoder_learning_rate=1.0, epochs=15))
    assert (found.predict(corpus.texts) == np.array(corpus.labels)).mean() > 0.85


def test_an_extra_token_is_part_of_the_model(planted):
    found = fit(planted.texts, planted.labels, replace(RECIPE, extra=True))
    assert found.extra is not None
    assert (found.predict(planted.texts) == np.array(planted.labels)).mean() > 0.9


def test_texts_of_no_weight_teach_nothing(planted, model):
    wrong = ["positive" if label == "negative" else "negative" for label in planted.labels]
    weights = [1.0] * len(planted.texts) + [0.0] * len(planted.texts)
    found = fit(planted.texts * 2, [*planted.labels, *wrong], RECIPE, sample_weight=weights)
    assert (found.predict(planted.texts) == np.array(planted.labels)).mean() > 0.9


def test_a_folder_keeps_checkpoint_and_log(planted, tmp_path):
    fit(planted.texts, planted.labels, replace(RECIPE, epochs=2), folder=tmp_path / "run")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["checkpoint.safetensors", "log.jsonl"]
    with pytest.raises(InputError, match="another recipe"):
        fit(planted.texts, planted.labels, replace(RECIPE, epochs=3), folder=tmp_path / "run")


@pytest.mark.parametrize(
    ("texts", "labels", "word"),
    [
        (["a b", "a c"], [0], "`labels`"),
        (["a b", "a c"], [1, 1], "at least two"),
        (["a b", 3], [0, 1], "`texts`"),
        (["a b", "a c"], [0.0, float("nan")], "`labels`"),
        (["a b", "c d"], [0, 1], "no word"),
        (["", ""], [0, 1], "no word"),
        ([], [], "at least two"),
    ],
)
def test_bad_input_is_told_in_one_line(texts, labels, word):
    with pytest.raises(InputError, match=word) as error:
        fit(texts, labels, RECIPE)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [0.0, 0.0], [1.0, float("nan")]])
def test_bad_weights_are_told(weights):
    with pytest.raises(InputError, match="`weights`"):
        fit(["a b", "a c"], [0, 1], RECIPE, sample_weight=weights)


TEXTS, LABELS, WEIGHTS = ["bad film", "good film"] * 4, [0, 1] * 4, [1.0] * 8
OTHERS = {
    "another text": (["good film", *TEXTS[1:]], LABELS, WEIGHTS),
    "a word said once more": (["bad bad film", *TEXTS[1:]], LABELS, WEIGHTS),
    "a text that begins where another ended": (["bad", "film good film", *TEXTS[2:]], LABELS, WEIGHTS),
    "another label": (TEXTS, [1, *LABELS[1:]], WEIGHTS),
    "another weight": (TEXTS, LABELS, [2.0, *WEIGHTS[1:]]),
}


@pytest.mark.parametrize(("texts", "labels", "weights"), OTHERS.values(), ids=OTHERS)
def test_a_checkpoint_of_other_data_is_refused(tmp_path, texts, labels, weights):
    recipe = replace(RECIPE, epochs=1, thrift=0.0)
    fit(TEXTS, LABELS, recipe, sample_weight=WEIGHTS, folder=tmp_path)
    fit(TEXTS, LABELS, recipe, sample_weight=WEIGHTS, folder=tmp_path)
    with pytest.raises(InputError, match="other texts"):
        fit(texts, labels, recipe, sample_weight=weights, folder=tmp_path)


def test_a_checkpoint_of_another_layer_is_refused(tmp_path):
    recipe, metric = replace(RECIPE, epochs=1, thrift=0.0), np.array([[2.0, 1.0], [1.0, 3.0]])
    fit(TEXTS, LABELS, recipe, layer=Softmax(0.5), folder=tmp_path)
    for other in (Hardmax(), Softmax(0.25), Softmax(0.5, metric)):
        with pytest.raises(InputError, match="another recipe"):
            fit(TEXTS, LABELS, recipe, layer=other, folder=tmp_path)


@pytest.mark.parametrize("layers", [0, 1, 8, math.inf])
@pytest.mark.parametrize("classes", [("negative", "positive"), ("red", "green", "blue")])
def test_a_model_with_a_neutral_leader_decides_as_the_network_it_was(layers, classes):
    corpus = plant(300, classes=classes, words=6, seed=3)
    recipe = Recipe(neutral=0.2, init="bag", layers=layers, epochs=2, batch_size=32, overlapping=False, thrift=0.0)
    model = fit(corpus.texts, corpus.labels, replace(recipe, alpha_warmup_epochs=0, bag_of_words_epochs=1))
    held = np.flatnonzero(hold_out(np.unique(corpus.labels, return_inverse=True)[1], recipe.validation_fraction, 0))
    right = model.predict([corpus.texts[row] for row in held]) == np.array(corpus.labels)[held]
    assert right.mean() == pytest.approx(model.metrics["training"][-1]["validation_accuracy"], abs=1 / len(held))
    found = model.analyse(corpus.texts)
    assert model.has_neutral
    assert 0 < found.counting.sum() < len(found.ids) - len(found) or layers == 0
