"""Word vectors: how they are read, and what training makes of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import listed_refusals, refuses
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax

from hardmax.text.vocabulary import Vocabulary
from hardmax.train import Settings, fit, fitting
from hardmax.train.bag import TYPICAL_WEIGHT, Bags, Design, regress
from hardmax.train.vectors import read_vectors

WORDS = st.lists(st.text("abcä", min_size=1, max_size=3), min_size=1, max_size=6, unique=True)
NUMBERS = st.floats(-100, 100, width=32)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[float]]:
    width = draw(st.integers(2, 4))
    words = draw(WORDS)
    vector = st.lists(NUMBERS, min_size=width, max_size=width)
    return {word: draw(vector) for word in words}


def as_text(table: dict[str, list[float]], header: bool, end: str) -> str:
    lines = []
    if header:
        width = len(next(iter(table.values())))
        lines.append(f"{len(table)} {width}")
    lines += [" ".join([word, *map(repr, vector)]) for word, vector in table.items()]
    return "".join(line + end for line in lines)


@given(tables(), st.booleans(), st.sampled_from(["\n", " \n", "\r\n"]))
def test_a_file_and_a_mapping_say_the_same(tmp_path_factory, table, header, end):
    folder = tmp_path_factory.mktemp("vectors")
    written = as_text(table, header, end)
    (folder / "glove.txt").write_bytes(written.encode())
    expected, found = read_vectors(table), read_vectors(folder / "glove.txt")
    assert list(expected.rows) == list(table)
    assert found.rows == expected.rows
    assert np.array_equal(found.table, expected.table)


@given(tables())
def test_vectors_have_length_1_and_their_directions_stay(table):
    found = read_vectors(table)
    for word, vector in table.items():
        given = np.array(vector, dtype=np.float32)
        length = np.linalg.norm(given)
        own = found.table[found.rows[word]]
        assert own * length == pytest.approx(given, rel=1e-5, abs=1e-5)
        assert np.linalg.norm(own) == pytest.approx(float(length > 0), abs=1e-5)


def test_of_words_that_differ_in_case_the_first_counts():
    table = {"Haus": [1, 0], "haus": [0, 1], "HAUS": [1, 1], "der": [0, 1]}
    found = read_vectors(table)
    assert found.rows == {"haus": 0, "der": 1}
    assert found.table.tolist() == [[1, 0], [0, 1]]


def read_lines(folder: Path, lines: str) -> Any:
    (folder / "bad.txt").write_bytes(lines.encode("latin-1"))
    return read_vectors(folder / "bad.txt")


def test_the_english_table_knows_which_words_are_alike():
    english = read_vectors("english")
    words = list(english.rows)

    def nearest(word):
        likeness = english.table @ english.table[english.rows[word]]
        return {words[row] for row in np.argsort(-likeness)[1:6]}

    assert {"tuesday", "friday"} <= nearest("monday")
    assert {"superb", "terrific"} <= nearest("excellent")
    assert {"tedious", "dull"} <= nearest("boring")


def test_vectors_of_frequent_words_are_shorter():
    vectors = read_vectors({"rare": [3, 4], "frequent": [0, 1], "not good": [1, 0]})
    counts = [[1, 1], [50, 50], [0, 1]]
    vocabulary = Vocabulary(["good", "frequent", "rare"], counts)
    found = vectors.of(vocabulary).toarray()
    lengths = np.linalg.norm(found, axis=1)
    assert lengths[0] == 0  # it has no vector
    assert 0 < lengths[1] < lengths[2] / 10
    assert found[2] / lengths[2] == pytest.approx([0.6, 0.8])


def test_unseen_words_come_heaviest_first_and_only_words_that_texts_can_contain():
    table = {"seen": [9, 0], "weak": [1, 9], "strong": [-9, 1]}
    unlikely = {"--": [1, 0], "two words": [1, 0], "unwanted": [1, 0]}
    vectors = read_vectors(table | unlikely)
    vocabulary = Vocabulary(["seen", "other"], [[1, 0], [0, 1]])
    own = np.array([[1.0], [0.0]])
    words, weights = vectors.unseen(vocabulary, own, ["unwanted"], 0.1)
    assert words == ["strong", "weak"]
    rows = [vectors.rows[word] for word in words]
    assert weights[:, 0] == pytest.approx(2 * vectors.table[rows, 0])


def test_of_equally_heavy_unseen_words_the_first_of_the_table_comes_first():
    vectors = read_vectors({"b": [1, 1], "c": [2, 2], "a": [3, 3]})
    vocabulary = Vocabulary(["seen"], [[1, 1]])
    words, _ = vectors.unseen(vocabulary, np.ones((2, 3)), [], 0.0)
    assert words == ["b", "c", "a"]


GOOD, BAD = [1.0, 0.1], [-1.0, 0.1]
MEANINGS = dict.fromkeys(["superb", "fine", "lovely"], GOOD)
MEANINGS |= dict.fromkeys(["awful", "dull", "dreadful"], BAD)
MEANINGS |= {"film": [0, 1], "plot": [0, 1]}
TEXTS = ["a superb film", "a fine plot", "an awful plot", "a dull film", "fine", "dull film"] * 3
LABELS = [1, 1, 0, 0, 1, 0] * 3


seeds, strengths = st.integers(0, 2**31), st.sampled_from([0.1, 1.0])


@given(st.integers(2, 4), st.integers(0, 3), seeds, strengths)
@settings(deadline=None)
def test_the_regression_is_that_on_columns_of_tokens_and_of_vectors(classes, width, seed, strength):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(classes), rng.integers(classes, size=30)])
    count, rows = len(labels), 1 if classes == 2 else classes
    factors = rng.choice([0, 0, 1, 1, -0.5], size=(count, 8))
    factors[:, 0] = 1  # no text is empty
    weights = rng.uniform(0.5, 2, count)
    bags = Bags(csr_array(factors), labels, weights, np.arange(count), classes, 0 * labels)
    vectors, bias = rng.normal(size=(8, width)), np.ones(rows)
    scale = rng.uniform(0.5, 2, (8, 1))
    design = Design(replace(bags, vectors=csr_array(vectors)))
    lengths = (bags.sizes.mean() + TYPICAL_WEIGHT) / (bags.sizes + TYPICAL_WEIGHT)
    own_and_vectors = np.hstack([np.diag(scale[:, 0]), vectors])
    columns = lengths[:, None] * factors @ own_and_vectors

    def loss(coefficients):
        logits = columns @ coefficients.reshape(-1, rows) + bias
        logits = np.hstack([0 * logits, logits]) if rows == 1 else logits
        of_label = log_softmax(logits, axis=1)[np.arange(count), labels]
        return 0.5 * (coefficients**2).sum() - strength * weights @ of_label

    least = minimize(loss, np.zeros((8 + width) * rows), tol=1e-8).fun
    how: dict[str, Any] = {"bias": bias, "consistent": False}
    found = regress(design, strength, scale, **how)
    elsewhere = regress(design, 10.0, 2 * scale, **how)
    again = regress(design, strength, scale, **how, start=elsewhere)
    for fitted in (found, again):
        own = (fitted.weights - vectors @ fitted.slope) / scale
        coefficients = np.vstack([own, fitted.slope]).ravel()
        assert loss(coefficients) == pytest.approx(least, rel=1e-3)


def test_words_that_no_training_text_has_say_what_their_vectors_say():
    model = fit(TEXTS, LABELS, Settings(vectors=MEANINGS))
    assert model.predict(["lovely", "dreadful"]).tolist() == [1, 0]
    index, documents = model.vocabulary.index, model.vocabulary.documents
    assert documents[index["lovely"]] == documents[index["dreadful"]] == 0
    assert documents[index["superb"]] == 3
    without = fit(TEXTS, LABELS, Settings(vectors=None))
    assert not without.analyse(["lovely", "dreadful"]).decided.any()


def test_words_that_are_not_wanted_do_not_come_from_the_table():
    how = Settings(vectors=MEANINGS, stop_words=["lovely"])
    surfaces = fit(TEXTS, LABELS, how).vocabulary.surfaces
    assert "dreadful" in surfaces
    assert "lovely" not in surfaces


def test_words_that_weigh_nothing_do_not_come_from_the_table():
    labels = [0, 1] * 5
    model = fit(["the same"] * 10, labels, Settings(vectors=MEANINGS))
    assert set(model.vocabulary.surfaces) <= {"the", "same", "the same"}


def test_no_more_tokens_than_asked_for_come_from_the_table():
    model = fit(TEXTS, LABELS, Settings(vectors=MEANINGS, max_features=3))
    assert len(model.vocabulary) == 3


ANIMALS = "dog cat horse cow sheep goat pig lion tiger bear wolf fox monkey snake bird fish"
FOOD = (
    "bread cheese butter soup rice potato tomato onion cake pizza beef sauce egg milk salad pasta"
)


def english_texts(texts: int) -> tuple[list[str], list[int]]:
    """Texts of two words each, names of animals or of food: most words are in few of them."""
    kinds = ANIMALS.split(), FOOD.split()
    rng = np.random.default_rng(0)
    labels = [text % 2 for text in range(texts)]
    pairs = [rng.choice(kinds[label], 2, replace=False) for label in labels]
    return [" ".join(pair) for pair in pairs], labels


def test_with_few_english_texts_english_vectors_are_used_by_default():
    model = fit(*english_texts(24))
    assert model.metrics["settings"]["vectors"] == "english"
    unseen = ["a rabbit", "donkeys", "sausage", "chocolate"]
    assert set(unseen[1:]).isdisjoint(english_texts(24)[0])
    assert model.predict(unseen).tolist() == [0, 0, 1, 1]


def test_with_more_texts_vectors_are_used_if_asked_for(monkeypatch):
    monkeypatch.setattr(fitting, "FEW_TEXTS", 23)
    texts, labels = english_texts(24)
    assert fit(texts, labels).metrics["settings"]["vectors"] is None
    asked = fit(texts, labels, Settings(vectors="english"))
    assert asked.metrics["settings"]["vectors"] == "english"


def test_english_vectors_are_not_used_for_another_language():
    texts, labels = english_texts(24)
    other = [text.translate(str.maketrans("aeiou", "äëïöü")) for text in texts]
    model = fit(other, labels)
    assert model.metrics["settings"]["vectors"] is None
    assert "dog" not in model.vocabulary.surfaces


def test_consistent_models_have_no_vectors():
    texts, labels = english_texts(24)
    model = fit(texts, labels, Settings(consistent=True))
    assert model.metrics["settings"]["vectors"] is None
    with refuses("`vectors` may turn words against their counts"):
        Settings(consistent=True, vectors="english")


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
