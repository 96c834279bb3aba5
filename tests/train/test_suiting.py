"""The recipe is chosen from the texts: what is asked, what is left alone, and that a corpus of any size has one."""

# pyright: reportMissingImports=false
import json

import numpy as np
import pytest
from effort import THOROUGH

pytest.importorskip("torch", reason="training needs torch (extra `train`)")

from hardmax._validation import InputError
from hardmax.text.data.planted import plant
from hardmax.text.tokens.texts import TextBytes, read_texts
from hardmax.train import Recipe, fit, search, suit
from hardmax.train import suiting as suiting_room
from hardmax.train.trials import Trial, Trials


def corpus(texts=150, classes=("negative", "positive"), seed=0, **kind):
    found = plant(texts, seed=seed, classes=classes, **kind)
    numbers = np.array([sorted(classes).index(label) for label in found.labels], dtype=np.int64)
    return read_texts(found.texts), numbers, found


@pytest.fixture(scope="module")
def suited():
    """What suits the corpus, asked once: it takes seconds."""
    texts, labels, _ = corpus()
    return suit(texts, labels)


def test_what_is_given_is_not_chosen_and_every_trial_is_told():
    texts, labels, _ = corpus()
    given = {"longest_phrase": 1, "counting": 0.5, "seed": 3, "layers": 2}
    told = []
    found = suit(texts, labels, given, progress=lambda done, total: told.append((done, total)))
    assert told == [(trial, len(told)) for trial in range(1, len(told) + 1)]
    assert told
    assert {name: getattr(found.recipe, name) for name in given} == given
    assert not {choice.name for choice in found.choices} & set(given)


def test_every_choice_is_in_the_recipe_and_says_why(suited):
    asked = ["longest_phrase", "min_df", "bag_strength", "bias", "counting"]
    assert [choice.name for choice in suited.choices] == asked
    for choice in suited.choices:
        assert getattr(suited.recipe, choice.name) == choice.value
        assert "150 texts held out" in choice.why
        assert f"{choice.value}: " in choice.why
    assert json.loads(json.dumps(suited.to_dict()))["counting"]["value"] == suited.recipe.counting


def test_the_same_texts_have_the_same_recipe_and_another_seed_other_texts_held_out(suited):
    texts, labels, _ = corpus()
    assert suit(texts, labels) == suited
    assert suit(texts, labels, {"seed": 1}).choices != suited.choices


def test_few_words_count_where_few_say_something():
    texts, labels, planted = corpus(400, length=30)
    model = fit(texts, labels, suit(texts, labels))
    found = model.analyse(texts)
    assert found.counting_per_text.mean() < 0.3 * np.diff(found.offsets).mean()
    carriers = {word for words in planted.words.values() for word in words}
    leads = (found.leader_since >= 0) & (found.ids < len(model.vocabulary))
    led = [model.vocabulary.surfaces[token] for token in found.ids[leads]]
    assert np.mean([bool(carriers & set(word.split())) for word in led]) > 0.95


@pytest.mark.parametrize(("classes", "texts"), [(2, 300), (3, 400)])
def test_texts_never_seen_are_told_apart_and_led_by_the_planted_words(classes, texts):
    check_planted(plant(texts, classes=tuple(f"class {n:03}" for n in range(classes)), seed=1))


@pytest.mark.skipif(not THOROUGH, reason="takes minutes: in `make soak`")
def test_a_hundred_classes_are_told_apart_and_led_by_the_planted_words():
    check_planted(plant(2000, classes=tuple(f"class {n:03}" for n in range(100)), words=2, length=10, seed=1))


def check_planted(planted):
    texts, classes = len(planted.texts), len(planted.words)
    some = texts * 3 // 4
    model = fit(planted.texts[:some], planted.labels[:some])
    unseen, truth = planted.texts[some:], np.array(planted.labels[some:])
    assert (model.predict(unseen) == truth).mean() >= 0.9
    carriers = {word for words in planted.words.values() for word in words}
    led = [leader.word for text in unseen[:100] for leader in model.explain(text).leaders]
    assert np.mean([bool(carriers & set(word.split())) for word in led]) > 0.7
    assert model.dimension == min(max(classes, 2), 65)


def test_where_a_class_is_too_small_to_hold_anything_out_nothing_is_tried():
    texts, labels, _ = corpus(12)
    labels = np.array([1, 1] + [0] * 10)
    found = suit(texts, labels)
    assert found.choices == ()
    assert fit(texts, labels, found).classes == (0, 1)


def test_classes_of_unequal_size_keep_their_bias():
    texts, labels, _ = corpus()
    rows = np.flatnonzero((labels == 0) | (np.arange(150) % 5 == 0))
    assert "bias" not in {choice.name for choice in suit(texts.pick(rows), labels[rows]).choices}


def test_short_texts_lose_no_word_in_training():
    texts, labels, _ = corpus(150, length=4)
    assert suit(texts, labels).recipe.word_dropout == 0.0


def test_of_many_texts_some_are_looked_at(monkeypatch):
    texts, labels, _ = corpus()
    monkeypatch.setattr(suiting_room, "_LOOKED_AT", 100)
    found = suit(texts, labels)
    assert all(int(choice.why.split(" texts held out")[0].split()[-1]) <= 100 for choice in found.choices)
    assert "min_df" not in {choice.name for choice in found.choices}  # it would be another one of all texts


@pytest.mark.parametrize("texts", [60, 10_000, 100_000, 1_000_000])
@pytest.mark.parametrize("classes", [2, 150])
def test_a_corpus_of_any_size_has_a_recipe_that_fits_into_memory(texts, classes):
    many = TextBytes(np.zeros(0, dtype=np.uint8), np.arange(texts + 1) * 500)
    found = suiting_room.by_rule(many, np.arange(texts) % classes)
    assert found.max_tokens * (1 if classes == 2 else min(classes, texts)) <= 2_000_000
    assert found.refit == (texts <= 50_000)
    assert 8 <= found.batch_size <= 512


def test_texts_and_labels_are_of_any_kind_and_bad_ones_are_told():
    found = plant(60, seed=0)
    given = {"counting": 0.4, "bag_strength": 10.0, "longest_phrase": 2}
    numbers = [label == "positive" for label in found.labels]
    assert suit(found.texts, found.labels, given) == suit(np.array(found.texts), numbers, given)
    with pytest.raises(InputError, match="`labels` has shape"):
        suit(found.texts, found.labels[1:])
    with pytest.raises(InputError, match="a single text"):
        suit("great", [1])


def test_a_long_text_of_many_classes_fits_into_memory():
    rng = np.random.default_rng(0)
    words = [f"word{n}" for n in range(6000)]
    texts = [" ".join(rng.permutation(words)[:5000]) for _ in range(24)]
    given = {"epochs": 1, "longest_phrase": 1, "counting": 0.4, "bag_strength": 10.0, "min_df": 2, "refit": False}
    model = fit(texts, np.arange(24) % 6, suit(texts, np.arange(24) % 6, given))
    assert model.dimension == 6


def test_a_second_training_that_was_cut_short_goes_on_to_the_same_bits(tmp_path):
    found = plant(60, seed=0)
    recipe = suit(found.texts, found.labels, {"epochs": 2, "counting": 0.4, "bag_strength": 10.0}).recipe
    assert recipe.refit

    def stop(epoch):
        if epoch.epoch == 3:  # the first of the second training
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(found.texts, found.labels, recipe, folder=tmp_path, progress=stop)
    told = []
    again = fit(found.texts, found.labels, recipe, folder=tmp_path, progress=told.append)
    assert [epoch.epoch for epoch in told] == [4]
    whole = fit(found.texts, found.labels, recipe)
    assert again.embeddings.tobytes() == whole.embeddings.tobytes()
    assert again.temperature == whole.temperature


def test_an_entry_that_recipes_do_not_have_is_refused():
    texts, labels, _ = corpus(60)
    with pytest.raises(InputError, match="`patients` is no entry of a recipe"):
        suit(texts, labels, {"patients": 3})


def test_a_bag_of_words_is_judged_by_texts_that_did_not_teach():
    texts, labels, _ = corpus(200)
    judges = np.arange(200) % 4 == 0
    told = Trials(texts, labels, judges).judge(Recipe(neutral=0.2))
    assert told.accuracy > 0.8
    wrong = Trials(texts, np.where(judges, 1 - labels, labels), judges).judge(Recipe(neutral=0.2))
    assert wrong.accuracy == pytest.approx(1 - told.accuracy)


def test_as_good_as_is_within_what_chance_does():
    right = np.arange(100) < 80
    assert Trial(right).is_as_good_as(Trial(right))
    assert Trial(np.arange(100) < 79).is_as_good_as(Trial(right))
    assert not Trial(np.arange(100) < 70).is_as_good_as(Trial(right))


def test_a_search_takes_no_longer_than_a_model_more_and_says_what_it_tried():
    texts, labels, _ = corpus(120)
    lines = []
    found = search(texts, labels, {"epochs": 1, "layers": 8}, seconds=0.1, progress=lines.append)
    assert len(lines) <= 1
    assert found.recipe.epochs == 1
    longer = search(texts, labels, {"epochs": 1, "layers": 8}, seconds=30, progress=lines.append)
    assert len(lines) > 5
    assert all("kept" in line for line in lines)
    assert longer.recipe.layers == 8
