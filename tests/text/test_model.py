import gc
import weakref
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from text.reviews import read_split
from text.small_models import WORDS, random_texts, small_model

import hardmax
from hardmax._parallel import limit_threads
from hardmax._validation import InputError
from hardmax.text.model.contents import digest
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.building import build_vocabulary
from hardmax.text.tokens.encoding import encode
from hardmax.text.tokens.lexicon import lexicon_of
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary

METRIC = [[2.0, 0.5], [0.5, 1.0]]
VARIANTS = {
    "plain": {},
    "three classes": {"classes": 3},
    "metric": {"metric": METRIC},
    "extra token": {"extra": [0.3, -1.5]},
    "small steps": {"alpha": 0.1, "layers": 30},
    "sixteen dimensions": {"dimension": 16},
    "no layers": {"layers": 0},
    "one layer, large step": {"layers": 1, "alpha": 10},
    "temperature": {"temperature": 1.7},
    "presence": {"binary": True},
    # Vectors on a small grid are full of ties, which only integers decide.
    "ties": {"embeddings": np.random.default_rng(1).integers(-1, 2, size=(len(WORDS), 2))},
}


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


@pytest.mark.parametrize("name", VARIANTS)
def test_logits_are_those_of_the_definition(name):
    model = small_model(**VARIANTS[name])
    texts = random_texts(12 if model.layers > 10 else 40)
    found = model.decision_function(texts).reshape(len(texts), -1)
    for text, logits in zip(texts, found, strict=True):
        truth = [float(logit) for logit in exact_logits(model, text)]
        assert np.allclose(logits, truth, rtol=1e-12, atol=1e-12)


def test_ties_are_handed_to_integers_and_the_rest_is_not():
    assert small_model(**VARIANTS["ties"]).analyse(random_texts(40)).by_integers > 0
    assert small_model().analyse(random_texts(40)).by_integers == 0


@pytest.mark.parametrize("name", VARIANTS)
def test_a_prediction_does_not_depend_on_its_batch(name):
    model = small_model(**VARIANTS[name])
    texts = random_texts(100)
    whole = model.predict_proba(texts).tobytes()
    for size in (1, 7):
        parts = [model.predict_proba(texts[first : first + size]) for first in range(0, len(texts), size)]
        assert np.concatenate(parts).tobytes() == whole


def test_a_prediction_does_not_depend_on_the_number_of_threads():
    model, texts = small_model(), random_texts(500)
    found = set()
    for threads in (1, 2, 7):
        with limit_threads(threads):
            found.add(model.predict_proba(texts).tobytes())
    assert len(found) == 1


def test_real_reviews_are_predicted_alike_in_any_batch():
    table = read_split("train", 300)
    known = build_vocabulary(table["text"], table["label"].to_numpy(), Tokeniser(), words=2000, phrases=1000)
    rng = np.random.default_rng(0)
    odds = np.log((known.counts[:, 1] + 1) / (known.counts[:, 0] + 1))
    vectors = np.stack([odds, np.zeros(len(odds))], axis=1) + rng.normal(scale=0.1, size=(len(odds), 2))
    parts = {"vocabulary": known, "embeddings": vectors, "decoder": [[1, 0]], "bias": [0], "extra": [0, 0.4]}
    model = TextModel(**parts, classes=(0, 1), layers=8)
    texts = table["text"].to_pylist()
    whole = model.predict_proba(table["text"])
    assert np.concatenate([model.predict_proba([text]) for text in texts]).tobytes() == whole.tobytes()
    assert (model.predict(texts) == table["label"].to_numpy()).mean() > 0.7


@given(st.lists(st.text(), max_size=4))
def test_any_text_passes(texts):
    chances = small_model().predict_proba(texts)
    assert chances.shape == (len(texts), 2)
    assert np.allclose(chances.sum(axis=1), 1)


def test_ten_megabytes_pass():
    model = small_model()
    once, often = "great film. awful! ", "great film. awful! " * 550_000
    assert model.predict([often]).tolist() == model.predict([once]).tolist()
    assert len(model.explain(often[:1_000_000]).leaders) == len(model.explain(once).leaders)


def test_a_text_without_a_known_word_gets_the_bias():
    model = small_model()
    assert model.decision_function(["", "unknown"]).tolist() == [float(model.bias[0])] * 2
    assert model.explain("unknown").known == 0


def test_with_an_extra_token_a_text_without_a_known_word_gets_that():
    model = small_model(extra=[1.0, 2.0])
    expected = float(model.bias[0]) + float(model.decoder[0] @ [1.0, 2.0])
    assert model.decision_function(["unknown"])[0] == pytest.approx(expected)
    assert model.explain("unknown").known == 0


def test_labels_may_be_of_any_plain_type():
    assert small_model(classes=2).predict(["great"]).dtype.kind == "U"
    assert small_model(**{"classes": 3}).predict(random_texts(50)).tolist()
    numbers = small_model()
    model = TextModel(**{**_parts(numbers), "classes": (5, 7)})
    assert set(model.predict(random_texts(50)).tolist()) <= {5, 7}


def test_probabilities_follow_the_logits():
    model = small_model(classes=4)
    logits, chances = model.decision_function(random_texts(30)), model.predict_proba(random_texts(30))
    powers = np.exp(logits)
    assert np.allclose(chances, powers / powers.sum(axis=1, keepdims=True))
    two = small_model()
    assert np.allclose(
        two.predict_proba(random_texts(30))[:, 1], 1 / (1 + np.exp(-two.decision_function(random_texts(30))))
    )


def test_huge_logits_give_certain_probabilities_without_a_warning():
    model = small_model(decoder=[[1e30, 0.0]], classes=2)
    chances = model.predict_proba(["great", "awful", "film"])
    assert np.isfinite(chances).all()


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
        ({"layers": -1}, "layers"),
        ({"layers": 10**6}, "layers"),
        ({"alpha": 0}, "alpha"),
        ({"temperature": 0.0}, "temperature"),
        ({"classes": ["one"]}, "classes"),
        ({"classes": ["one", "one"]}, "classes"),
        ({"vocabulary": Vocabulary(WORDS, np.zeros((len(WORDS), 5)))}, "vocabulary"),
    ],
)
def test_parts_that_do_not_fit_are_refused_by_name(changes, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        TextModel(**{**_parts(small_model()), **changes})
    assert "\n" not in str(caught.value)


def _parts(model: TextModel) -> dict:
    names = ("vocabulary", "embeddings", "decoder", "bias", "classes", "layers", "alpha", "tokeniser")
    return {name: getattr(model, name) for name in names}


def test_a_model_shows_itself_in_a_notebook():
    model = replace(small_model(), classes=("<script>", "fine"))
    shown = model._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    best = model.vocabulary.surfaces[int((model.embeddings @ model.decoder[0]).argmax())]
    assert best in shown
    assert len(hardmax.load("imdb-16d")._repr_html_()) < 60_000


def test_the_weights_of_a_model_cannot_be_written_on_and_are_its_own():
    given = np.ones((len(WORDS), 2), dtype=np.float32)
    model = small_model(embeddings=given)
    with pytest.raises(ValueError, match="read-only"):
        model.embeddings[:] = 0
    given[:] = 0
    assert model.embeddings.all()


def test_a_model_that_nobody_holds_is_gone():
    model = small_model()
    digest(model)
    lexicon = weakref.ref(lexicon_of(model.vocabulary, model.tokeniser))
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    assert lexicon() is None


@pytest.mark.parametrize("classes", [2, 3])
def test_of_no_texts_there_is_nothing_to_weigh(classes):
    model = small_model(classes=classes)
    nothing = encode([], model.vocabulary, model.tokeniser)
    found, (again, ends) = model.weigh(nothing), model.weigh_words(nothing)
    for each in (found, again, model.analyse([])):
        assert len(each) == 0
        assert each.probabilities.shape == (0, classes)
    assert ends.shape == (0, model.dimension)
