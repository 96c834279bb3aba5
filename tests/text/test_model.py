"""What a model computes, against the definition in fractions and the engines; its doors."""

import gc
import json
import math
import weakref
from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracle
import pytest
from effort import THOROUGH
from hypothesis import given, settings
from hypothesis import strategies as st
from text.small_models import WORDS, random_texts, small_model

import hardmax
from hardmax._parallel import limit_threads
from hardmax._validation import InputError
from hardmax.text import _analysis
from hardmax.text._analysis import ends, follows, masses, walk_cloud, weigh_text, weigh_words
from hardmax.text.encoding import encode, join_parts, lexicon_of
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import Tokeniser
from hardmax.text.vocabulary import Vocabulary

SEEDS = range(400 if THOROUGH else 60)
NEUTRAL: dict = {"extra": [0.0, 1.5], "decoder": [[4.0, 0.0]]}
RNG = np.random.default_rng(0)
VARIANTS = {
    "plain": {},
    "three classes": {"classes": 3},
    "metric": {"metric": [[2.0, 0.5], [0.5, 1.0]]},
    "extra token": {"extra": [0.3, -1.5]},
    "neutral": NEUTRAL,
    "small steps": {"alpha": 0.1, "layers": 30},
    "more layers than the kernel keeps": {"alpha": 0.0001, "layers": 100},
    "sixteen dimensions": {"dimension": 16},
    "one dimension": {"dimension": 1},
    "tiny": {"embeddings": RNG.normal(scale=1e-12, size=(len(WORDS), 2))},
    "huge": {"embeddings": RNG.normal(scale=1e12, size=(len(WORDS), 2))},
    "far from the origin": {"embeddings": RNG.normal(scale=0.01, size=(len(WORDS), 2)) + np.array([5, -3])},
    "no layers": {"layers": 0},
    "one layer, large step": {"layers": 1, "alpha": 10},
    "temperature": {"temperature": 1.7},
    "presence": {"binary": True},
    # Vectors on a small grid are full of ties, which only integers decide.
    "ties": {"embeddings": np.random.default_rng(1).integers(-1, 2, size=(len(WORDS), 2))},
}

MODEL = small_model()
BY_INTEGERS = ("ties", "more layers than the kernel keeps")


def exact_logits(model: TextModel, text: str) -> list[Fraction]:
    """The logits from the definition, in rational arithmetic, one token for each occurrence of a word."""
    said = [token.surface for token in model.tokeniser.tokens(text) if token.surface in model.vocabulary.index]
    said = list(dict.fromkeys(said)) if model.binary else said
    vectors = [model.embeddings[model.vocabulary.index[surface]] for surface in said]
    if model.extra is not None:
        vectors.append(model.extra)
    cloud = np.array([[Fraction(float(x)) for x in vector] for vector in vectors], dtype=object)
    mean = [Fraction(0)] * model.dimension
    if len(cloud):
        for _ in range(int(model.layers)):
            cloud = hardmax.step(cloud, model.dynamics)
        mean = cloud.sum(axis=0) / Fraction(len(cloud))
    rows = zip(model.decoder.tolist(), model.bias.tolist(), strict=True)
    scale = Fraction(model.temperature)
    return [(sum((Fraction(v) * x for v, x in zip(row, mean, strict=True)), Fraction(b))) / scale for row, b in rows]


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "more layers than the kernel keeps"])
def test_logits_are_those_of_the_definition_and_probabilities_follow_them(name):
    model = small_model(**VARIANTS[name])
    texts = random_texts(6 if model.layers > 10 else 20)
    found, chances = model.decision_function(texts).reshape(len(texts), -1), model.predict_proba(texts)
    for text, logits in zip(texts, found, strict=True):
        assert np.allclose(logits, [float(logit) for logit in exact_logits(model, text)], rtol=1e-12, atol=1e-12)
    logits = np.column_stack([np.zeros(len(texts)), found]) if found.shape[1] == 1 else found
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    assert np.allclose(chances, powers / powers.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("name", VARIANTS)
def test_masses_leaders_followers_and_ends_are_those_of_the_engines(name):
    model, texts = small_model(**VARIANTS[name]), random_texts(10 if name in BY_INTEGERS else 40)
    found = model.analyse(texts)
    _, places = weigh_words(model, join_parts([weigh_text(model, text)[0].encoded for text in texts]))
    for text, (a, b) in enumerate(pairwise(found.offsets)):
        if a == b:
            continue
        voices = model.prepared.voices(found)[a:b]
        run = walk_cloud(model.prepared.table[found.ids[a:b]], voices, model.dynamics, model.layers)
        assert np.allclose(found.masses[a:b], masses(run, voices, model.layers), rtol=1e-12, atol=1e-14)
        assert np.array_equal(found.leader_since[a:b], run.leader_since[run.points.of_token])
        assert found.follows[a:b].tolist() == (follows(run) if model.layers else np.full(b - a, -1)).tolist()
        scale = np.abs(model.embeddings).max()
        assert np.allclose(places[a:b], ends(run, model.layers), rtol=1e-12, atol=1e-12 * scale)
        votes = voices / max(voices.sum(), 1) @ model.prepared.says(places[a:b])
        assert found.logits[text] == pytest.approx(model.prepared.bias + votes, rel=1e-9, abs=1e-12)
    assert (found.by_integers > 0) == (name in BY_INTEGERS)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_prediction_does_not_depend_on_its_batch_nor_on_threads(name):
    # A thread takes 64 texts at a time; integers take theirs one by one.
    model, texts = small_model(**VARIANTS[name]), random_texts(8 if name in BY_INTEGERS else 70)
    whole = model.predict_proba(texts).tobytes()
    for size in (1, 7):
        parts = [model.predict_proba(texts[first : first + size]) for first in range(0, len(texts), size)]
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
    model, extra = small_model(), small_model(extra=[1.0, 2.0])
    once, often = "great film. awful! ", "great film. awful! " * 550_000
    assert model.predict([often]).tolist() == model.predict([once]).tolist()
    assert model.decision_function(["", "unknown"]).tolist() == [float(model.bias[0])] * 2
    expected = float(extra.bias[0]) + float(extra.decoder[0] @ [1.0, 2.0])
    assert extra.decision_function(["unknown"])[0] == pytest.approx(expected)
    assert np.isfinite(small_model(decoder=[[1e30, 0.0]]).predict_proba(["great", "awful"])).all()
    for classes in (2, 3):
        own = small_model(classes=classes)
        nothing = encode([], own.vocabulary, own.tokeniser)
        for found in (weigh_words(own, nothing)[0], own.analyse([])):
            assert (len(found), found.probabilities.shape) == (0, (0, classes))
        assert own.predict([]).tolist() == own.decided([]).tolist() == []


# ---------------------------------------------------------------- infinitely many layers


def word_model(vectors, **changes) -> TextModel:
    """A model of words aaa, bbb, ccc, … with these vectors."""
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


@pytest.mark.parametrize("seed", SEEDS)
def test_ties_of_infinitely_many_layers_are_decided_as_by_fractions(seed):
    cloud, counts = tied(seed)
    model = word_model(cloud)
    tokens = [[Fraction(int(x)) for x in z] for z, count in zip(cloud, counts, strict=True) for _ in range(count)]
    arrived = oracle.run(tokens, Fraction(10), None, 18)[-1]  # nothing of a way is left that a float would show
    mean = [float(sum(column) / len(arrived)) for column in zip(*arrived, strict=True)]
    expected = float(model.bias[0]) + float(model.decoder[0] @ mean)
    assert model.decision_function([said(counts)])[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("alpha", ["1", "1/3", "10"])
def test_infinitely_many_layers_are_what_ten_thousand_come_to(alpha):
    for seed in range(5):
        cloud, counts = tied(seed)
        endless, deep = (word_model(cloud, alpha=alpha, layers=layers) for layers in (math.inf, 10_000))
        found, other = (model.analyse([said(counts)]) for model in (endless, deep))
        assert found.logits == pytest.approx(other.logits, abs=1e-12)
        assert found.masses == pytest.approx(other.masses, abs=1e-12)


def test_words_go_wholly_to_their_leaders_and_share_by_how_often_they_are_said():
    # Whoever is positive goes to the one, the rest to the other.
    found = word_model([[3], [-2], [1], [-1]], alpha=1).analyse([said([1, 2, 4, 3])])
    assert (found.masses.tolist(), found.by_integers) == ([5 / 10, 5 / 10, 0, 0], 0)
    # (0, 1) and (0, 1/2) attend to both ends of the edge above them: they follow nobody.
    for layers in (1, 8, math.inf):
        found = word_model([[-1, 1], [1, 1], [0, 1], [0, 0.5]], layers=layers).analyse([said([2, 2, 1, 4])])
        assert found.follows.tolist() == [0, 1, -1, -1]
    # Words with one vector are one leader, of which the last tells.
    found = word_model([[2, 0], [2, 0], [1, 0]]).analyse([said([1, 1, 1])])
    assert (found.follows.tolist(), found.leader_since.tolist()) == ([1, 1, 1], [0, 0, -1])


def test_whoever_attends_to_one_that_follows_another_follows_nobody():
    # The third goes after the second, and this after the first, which leads.
    for layers, expected in ((1, [0, 0, -1]), (20, [0, 0, 0])):
        found = word_model([[3, 0], [1.6, 1.4], [0, 1]], alpha=1, layers=layers).analyse([said([1, 1, 1])])
        assert (found.follows.tolist(), found.leader_since.tolist()) == (expected, [0, -1, -1])
        assert found.by_integers == 0


# With steps of a thousandth this settles at layer 221: more than the kernel computes.
SLOW = {"vectors": [[1, 2], [-3, 4], [0, 2], [0, 3], [-1, -2], [-2, 2]], "alpha": "1/1000"}


def test_a_cloud_that_takes_long_to_settle_is_left_to_the_engines(monkeypatch):
    model, text = word_model(**SLOW), said([1] * 6)
    run = model.explain(text).trajectory
    assert run is not None
    assert run.settled_at == 221
    expected = float(model.bias[0]) + float(model.decoder[0] @ run.ends().mean(axis=0))
    assert model.decision_function([text])[0] == pytest.approx(expected, abs=1e-12)
    # One that does not settle in time is taken as it is then.
    monkeypatch.setattr(_analysis, "DEEPEST", 100)
    assert model.analyse([text]).masses.tolist() == word_model(**SLOW, layers=100).analyse([text]).masses.tolist()


def test_infinite_depth_is_kept_in_a_folder(tmp_path):
    model, texts = small_model(layers=math.inf), random_texts(20)
    model.save(tmp_path / "model")
    assert json.loads((tmp_path / "model" / "config.json").read_text())["layers"] == "inf"
    again = hardmax.load(tmp_path / "model")
    assert "infinitely many layers" in repr(again)
    assert again.predict_proba(texts).tolist() == model.predict_proba(texts).tolist()


# ---------------------------------------------------------------- active tokens


def test_tokens_that_follow_the_neutral_leader_are_not_active():
    # The last lies where the neutral leader is.
    words = [[1, 0.1], [-1, 0.1], [0.01, 0.2], [0.5, 0.1], [0, 1]]
    found = word_model(words, decoder=[[3, 0]], extra=[0, 1]).analyse([said([1, 1, 3, 1, 1]), said([0, 0, 1]), ""])
    assert found.active.tolist() == [True, True, False, True, False, False, False, False, False]
    assert found.active_per_text.tolist() == [3, 0, 0]
    assert found.follows[:6].tolist() == [0, 1, 5, 0, 5, 5]


@pytest.mark.parametrize(
    ("decoder", "extra", "is_neutral"),
    [
        ([[3, 0]], [0, 1], True),
        ([[3, 0.5]], [0, 1], False),
        ([[3, 0]], None, False),
        ([[1, 2], [0, 2], [5, 2]], [0, 1], True),
        ([[1, 2], [0, 2], [5, 3]], [0, 1], False),
    ],
)
def test_a_leader_is_neutral_if_the_decoder_says_the_same_of_it_for_every_class(decoder, extra, is_neutral):
    model = small_model(classes=max(2, len(decoder)), decoder=decoder, extra=extra)
    assert model.has_neutral == is_neutral
    found = model.analyse(random_texts(40))
    others = found.ids < len(model.vocabulary)
    assert (found.active == others).all() == (not is_neutral)


# ---------------------------------------------------------------- doors and memory


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"embeddings": np.zeros((3, 2))}, "embeddings"),
        ({"embeddings": np.full((len(WORDS), 2), np.nan)}, "embeddings"),
        ({"decoder": [[1.0]]}, "decoder"),
        ({"decoder": [[1.0, np.inf]]}, "decoder"),
        ({"bias": [0.0, 0.0]}, "bias"),
        ({"extra": [0.0]}, "extra"),
        ({"metric": [[1.0]]}, "metric"),
        ({"metric": [[1.0, 0.0], [0.0, -1.0]]}, "metric"),
        *(({"layers": layers}, "layers") for layers in (-1, 2.5, -math.inf, math.nan, "Inf", "8", None, 10_001)),
        ({"alpha": 0}, "alpha"),
        ({"temperature": 0.0}, "temperature"),
        ({"gate": 1, "extra": [0, 1]}, "no token would be active"),
        ({"gate": -1, "extra": [0, 1]}, "gate"),
        ({"gate": 0.5}, "give `extra`"),
        ({"vocabulary": Vocabulary(WORDS, np.zeros((len(WORDS), 5)))}, "vocabulary"),
    ],
)
def test_parts_that_do_not_fit_are_refused_by_name(changes, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        small_model(**changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("classes", [["one"], ["one", "one"], [0, math.nan], "ab", [None, 1]])
def test_classes_that_are_none_are_refused(classes):
    given = small_model()
    with pytest.raises(InputError, match="classes"):
        TextModel(vocabulary=given.vocabulary, embeddings=given.embeddings, decoder=given.decoder, bias=given.bias,
                  classes=classes, layers=1)  # fmt: skip


def test_the_weights_of_a_model_cannot_be_written_on_and_a_model_that_nobody_holds_is_gone():
    given = np.ones((len(WORDS), 2), dtype=np.float32)
    model = small_model(embeddings=given)
    with pytest.raises(ValueError, match="read-only"):
        model.embeddings[:] = 0
    given[:] = 0
    assert model.embeddings.all()
    digest(model)
    lexicon, gone = weakref.ref(lexicon_of(model.vocabulary)), weakref.ref(model)
    del model
    gc.collect()
    assert gone() is lexicon() is None


def test_a_model_shows_and_describes_itself():
    model = small_model(tokeniser=Tokeniser(longest_phrase=2), **NEUTRAL, gate=0.25, neutral_weight=7)
    told = model.describe()
    assert len(told) <= 2000
    for fact in (
        "negative, positive",
        "0.25",
        "7 tokens",
        "8 layers",
        "alpha = 1",
        "undecided",
        "Limitations",
        "great",
    ):
        assert fact in told, fact
    assert len(hardmax.load("imdb-2d-best").describe(700)) <= 700
    many = small_model(classes=300, dimension=3).describe()
    assert len(many) <= 2000
    assert "class 0" in many
    with pytest.raises(InputError, match="`limit`"):
        model.describe(10)
    assert len(hardmax.load("imdb-2d-best")._repr_html_()) < 120_000
