"""Infinitely many layers as a model: every word is wholly with its leader."""

import json
import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from effort import THOROUGH
from text.small_models import random_texts, small_model

import hardmax as hm
from hardmax._validation import InputError
from hardmax.text.model import masses as by_engines
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.vocabulary import Vocabulary

SEEDS = range(400 if THOROUGH else 60)
DEEP = 18  # layers of alpha 10 after which nothing of a way is left that a float would show


def word_model(vectors, **changes) -> TextModel:
    """A model of words a, b, c, … with these vectors."""
    vectors = np.array(vectors, dtype=float)
    words = [chr(ord("a") + number) * 3 for number in range(len(vectors))]
    d = vectors.shape[1]
    parts = {"decoder": [[1.0, -2.0, 0.5][:d]], "bias": [0.25], "classes": (0, 1), "layers": math.inf, "alpha": 10}
    return TextModel(vocabulary=Vocabulary(words, np.ones((len(words), 2))), embeddings=vectors, **(parts | changes))


def said(counts) -> str:
    """A text that says each word so often."""
    return " ".join(" ".join([chr(ord("a") + number) * 3] * count) for number, count in enumerate(counts) if count)


def tied(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Small whole numbers, where scores tie and words coincide, and how often each word is said."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 9), rng.integers(1, 4)
    return rng.integers(-2, 3, size=(n, d)), rng.integers(1, 4, size=n)


def exact_logit(model: TextModel, cloud, counts) -> float:
    """By fractions, without anything of the package: the mean of tokens that are as good as arrived."""
    tokens = [[Fraction(int(x)) for x in z] for z, count in zip(cloud, counts, strict=True) for _ in range(count)]
    ends = oracle.run(tokens, Fraction(model.alpha), None, DEEP)[-1]
    mean = [sum(column) / len(ends) for column in zip(*ends, strict=True)]
    return float(model.bias[0]) + sum(float(v) * float(x) for v, x in zip(model.decoder[0], mean, strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_ties_are_decided_as_by_fractions(seed):
    cloud, counts = tied(seed)
    model = word_model(cloud)
    assert model.decision_function([said(counts)])[0] == pytest.approx(exact_logit(model, cloud, counts), abs=1e-12)


@pytest.mark.parametrize("alpha", ["1", "1/3", "10"])
def test_it_is_what_ten_thousand_layers_come_to(alpha):
    clouds = [tied(seed) for seed in range(12)]
    for cloud, counts in clouds:
        endless, deep = (word_model(cloud, alpha=alpha, layers=layers) for layers in (math.inf, 10_000))
        assert endless.decision_function([said(counts)]) == pytest.approx(
            deep.decision_function([said(counts)]), abs=1e-12
        )
    several: list[dict] = [{}, {"classes": 3}, {"dimension": 5}, {"extra": [0.3, -1.5]}]
    for changes in several:
        endless, deep = (small_model(3, **changes, alpha=alpha, layers=layers) for layers in (math.inf, 10_000))
        texts = random_texts(40)
        assert np.allclose(endless.decision_function(texts), deep.decision_function(texts), rtol=0, atol=1e-12)


def test_masses_are_exact_shares_of_the_counts():
    # Two leaders from the first layer on: whoever is positive goes to the one, the rest to the other.
    model = word_model([[3], [-2], [1], [-1]], alpha=1)
    found = model.analyse([said([1, 2, 4, 3])])
    assert found.masses.tolist() == [5 / 10, 5 / 10, 0, 0]
    assert found.by_integers == 0


def test_masses_at_a_tie_are_those_of_deep_layers():
    # (0, 1) lies between (-1, 1) and (1, 1): it attends to all three, and what it keeps of itself is gone in the end.
    square = [[-1, 1], [1, 1], [0, 1], [0, 0.5]]
    found, deep = (
        word_model(square, alpha=1, layers=layers).analyse([said([2, 2, 1, 4])]) for layers in (math.inf, 900)
    )
    assert found.masses == pytest.approx(deep.masses, abs=1e-12)
    assert found.masses[2:].tolist() == [0, 0]
    assert found.by_integers == 1


@pytest.mark.parametrize("dimension", [1, 3])
def test_an_empty_text_one_word_and_a_repeated_word(dimension):
    model = word_model(np.eye(2, dimension) + 1)
    bias, alone = float(model.bias[0]), float(model.prepared.scores[0, 0])
    assert model.decision_function(["", "unknown", "aaa", "aaa aaa"]).tolist() == [
        bias,
        bias,
        bias + alone,
        bias + alone,
    ]
    assert model.explain("").trajectory is None


# With steps of a thousandth this settles at layer 221: more than the kernel walks.
SLOW, STEP = [[1, 2], [-3, 4], [0, 2], [0, 3], [-1, -2], [-2, 2]], "1/1000"


def test_a_cloud_that_takes_long_to_settle_is_left_to_the_engines():
    model = word_model(SLOW, alpha=STEP)
    run = model.explain(said([1] * 6)).trajectory
    assert run is not None
    assert run.settled_at == 221
    mean = run.ends().mean(axis=0)
    wanted = float(model.bias[0]) + float(model.decoder[0] @ mean)
    assert model.decision_function([said([1] * 6)])[0] == pytest.approx(wanted, abs=1e-12)


def test_a_cloud_that_does_not_settle_in_time_is_taken_as_it_is_then(monkeypatch):
    monkeypatch.setattr(by_engines, "DEEPEST", 100)
    endless, hundred = (word_model(SLOW, alpha=STEP, layers=layers) for layers in (math.inf, 100))
    assert endless.analyse([said([1] * 6)]).masses.tolist() == hundred.analyse([said([1] * 6)]).masses.tolist()
    monkeypatch.undo()
    assert endless.analyse([said([1] * 6)]).masses.tolist() != hundred.analyse([said([1] * 6)]).masses.tolist()


def test_it_is_kept_in_a_folder_and_says_what_it_is(tmp_path):
    model = small_model(layers=math.inf)
    model.save(tmp_path / "model")
    assert json.loads((tmp_path / "model" / "config.json").read_text())["layers"] == "inf"
    card = (tmp_path / "model" / "README.md").read_text()
    assert "Through infinitely many layers of" in card
    assert "| layers | infinitely many |" in card
    again = hm.load(tmp_path / "model")
    assert again.layers == math.inf
    assert "infinitely many layers" in repr(again)
    texts = random_texts(20)
    assert again.predict_proba(texts).tolist() == model.predict_proba(texts).tolist()


def test_its_explanations_add_up_and_know_where_the_words_end():
    model = small_model(layers=math.inf)
    for text in random_texts(30):
        why = model.explain(text)
        assert math.fsum([why.bias, *(share.contribution for share in why.ledger)]) == pytest.approx(
            why.logit, abs=1e-12
        )
        assert json.loads(json.dumps(why.to_dict()))["layers"] == "inf"
        if why.trajectory is not None:
            assert sum(share.mass for share in why.leaders) == pytest.approx(1) or max(why.trajectory.leader_layers) > 0
            assert why.trajectory.layers == why.trajectory.settled_at


@pytest.mark.parametrize("layers", [-1, 2.5, -math.inf, math.nan, "Inf", "8", None, 10_001])
def test_other_depths_are_refused(layers):
    with pytest.raises(InputError, match=r"`layers` must be a whole number from 0 to 10000, or math\.inf, not"):
        small_model(layers=layers)
