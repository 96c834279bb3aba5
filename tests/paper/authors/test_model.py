"""The imported model is the authors' one: logits and attended sets are those of their formulas, for every position."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paper.authors.making import REAL, saved_by_torch, small_file

from hardmax._validation import InputError
from hardmax.dynamics import Dynamics, attended, step
from hardmax.paper.authors.direct import evaluate_directly
from hardmax.paper.authors.model import LENGTH, encode_rows, model_of, run_of_rows, weigh_rows
from hardmax.paper.authors.weights import Weights, read_weights
from hardmax.text.text_model import TextModel


def weights_of(embeddings: Any, alpha: float = 2.3528, decoder: Any = (-7.2869, 5.7101), layers: int = 8) -> Weights:
    table = np.asarray(embeddings, dtype=np.float32)
    return Weights(
        embeddings=table,
        alpha=np.float32(alpha),
        decoder=np.asarray(decoder, dtype=np.float32),
        bias=np.float32(-0.2843),
        layers=layers,
        sha256="",
    )


def drawn(rows: int, d: int, seed: int = 0) -> Weights:
    random = np.random.default_rng(seed)
    return weights_of(random.standard_normal((rows, d)), decoder=5 * random.standard_normal(d))


def hard_reviews(rows: int, seed: int = 0) -> np.ndarray:
    """Words of all frequencies, many of them repeated, and reviews that are nearly, or wholly, PAD."""
    random = np.random.default_rng(seed)
    reviews = random.integers(1, rows, (24, LENGTH))
    reviews[8:16] = np.minimum(random.zipf(1.5, (8, LENGTH)), rows - 1)  # a few words, again and again
    for row, length in enumerate((0, 1, 2, 60, 127)):
        reviews[row, length:] = 0
    reviews[16:20] = reviews[16:20] % min(rows, 4)
    return reviews


def assert_agrees(weights: Weights, reviews: np.ndarray, tolerance: float = 1e-9) -> None:
    model = model_of(weights)
    found = weigh_rows(model, reviews)
    for number, review in enumerate(reviews):
        directly = evaluate_directly(weights, review)
        assert found.logits[number, 0] == pytest.approx(directly.logit, abs=tolerance)
        assert found.probabilities[number, 1] == pytest.approx(directly.probability, abs=tolerance)
        rows, run = run_of_rows(model, review)
        of_position = np.searchsorted(rows, review)
        for layer, sets in enumerate(directly.attended):
            ours = np.zeros((len(rows), len(rows)), dtype=bool)
            for row, chosen in enumerate(run.attended(layer)):
                ours[row, list(chosen)] = True
            assert (ours[np.ix_(of_position, of_position)] == sets).all()
        assert run.floats_at(weights.layers)[of_position] == pytest.approx(directly.tokens, abs=tolerance)


@pytest.mark.parametrize(("rows", "d"), [(300, 2), (40, 2), (300, 4), (100, 16)])
def test_logits_and_attended_sets_are_those_of_the_formulas(rows: int, d: int):
    assert_agrees(drawn(rows, d), hard_reviews(rows))


def test_the_authors_own_weights_agree_with_the_formulas():
    if not REAL.exists():
        pytest.skip(f"the authors' weights are not there ({REAL.name})")
    weights = read_weights(REAL)
    assert_agrees(weights, hard_reviews(weights.rows))
    assert_agrees(weights, hard_reviews(2000, seed=1))  # frequent words, whose vectors were trained


def test_what_torch_saves_agrees_with_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    torch = pytest.importorskip("torch")
    saved = {name: torch.from_numpy(array).double() for name, array in _saved(tmp_path, monkeypatch).items()}
    weights = read_weights(tmp_path / "torch.pth")
    reviews = hard_reviews(weights.rows, seed=3)
    z = saved["encoder.weight"][torch.from_numpy(reviews)]
    share = saved["attention.alpha"] / (1 + saved["attention.alpha"])
    for _ in range(8):  # a softmax so cold that it is a hardmax
        scores = (z[:, :, None, :] * z[:, None, :, :]).sum(dim=3)
        chosen = (scores == scores.amax(dim=2, keepdim=True)).double()
        z = z + share * (chosen @ z / chosen.sum(dim=2, keepdim=True) - z)
    logits = z.mean(dim=1) @ saved["decoder.weight"][0] + saved["decoder.bias"]
    assert weigh_rows(model_of(weights), reviews).logits[:, 0] == pytest.approx(logits.numpy(), abs=1e-9)


def _saved(folder: Path, patch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    return saved_by_torch(folder / "torch.pth", patch, rows=200)


# Corners of a square, its centre, and points that look at two corners: exact in floats, with alpha 1 and 3 too.
SQUARE = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0, 0], [0.5, 0], [-0.25, 0], [0, 0.5], [0.25, 0.25]]


@given(st.lists(st.integers(4, 8), min_size=4, max_size=20), st.sampled_from([1.0, 3.0]))
def test_ties_of_different_words_are_shared_by_how_often_they_are_said(inner, alpha):
    corners = [0, 1, 2, 3] * 4
    assert_agrees(weights_of(SQUARE, alpha=alpha, decoder=[1.5, 0.5]), np.array([corners + inner]))


def test_a_layer_is_the_one_of_the_definition():
    weights = drawn(20, 2, seed=5)
    review = np.array([3, 3, 7, 1, 0, 0, 0, 12])
    tokens = weights.embeddings[review].astype(np.float64)
    dynamics = Dynamics(Fraction(float(weights.alpha)))
    once = evaluate_directly(weights_of(weights.embeddings, float(weights.alpha), layers=1), review)
    assert once.tokens == pytest.approx(step(tokens, dynamics), abs=1e-14)
    assert [np.flatnonzero(row).tolist() for row in once.attended[0]] == [list(s) for s in attended(tokens, dynamics)]


def test_a_review_of_pad_alone_says_what_pad_says():
    weights = drawn(20, 2, seed=1)
    alone = weigh_rows(model_of(weights), np.zeros((1, LENGTH), dtype=int))
    assert alone.logits[0, 0] == pytest.approx(float(weights.embeddings[0] @ weights.decoder + weights.bias), abs=1e-6)


def test_how_much_pad_there_is_matters_and_the_order_of_words_does_not():
    model = model_of(drawn(20, 2, seed=1))
    few, many = [5, 6, 7, 0], [5, 6, 7, 0, 0, 0, 0, 0]
    assert weigh_rows(model, [few]).logits[0, 0] != weigh_rows(model, [many]).logits[0, 0]
    assert weigh_rows(model, [few]).logits[0, 0] == weigh_rows(model, [few[::-1]]).logits[0, 0]


def test_the_model_is_the_file_and_survives_its_folder(tmp_path: Path):
    weights = read_weights(small_file(tmp_path))
    model = model_of(weights)
    model.save(tmp_path / "model")
    again = TextModel.load(tmp_path / "model")
    assert (again.embeddings == weights.embeddings).all()
    assert Fraction(again.alpha) == Fraction(float(weights.alpha))
    assert (again.layers, again.binary, again.temperature, again.metric, again.extra) == (8, False, 1.0, None, None)
    assert again.classes == ("negative", "positive")
    reviews = hard_reviews(5)
    assert (weigh_rows(again, reviews).logits == weigh_rows(model, reviews).logits).all()
    card = (tmp_path / "model" / "README.md").read_text()
    assert "of texts it knows no word" in card


def test_with_words_it_reads_texts_and_says_how_roughly():
    model = model_of(drawn(4, 2), ["PAD", "The", "movie", "great"])
    assert model.metrics["rows that texts can have"] == 2
    assert "only roughly" in model.metrics["what it reads"]
    from_text = model.decision_function(["The GREAT movie"])
    assert from_text[0] == weigh_rows(model, [[2, 3]]).logits[0, 0]


def test_rows_become_distinct_words_with_counts():
    found = encode_rows(np.array([[4, 4, 1], [0, 0, 0]], dtype=np.uint8), rows=5)
    assert (found.ids.tolist(), found.counts.tolist(), found.offsets.tolist()) == ([1, 4, 0], [1, 2, 3], [0, 2, 3])


@pytest.mark.parametrize(
    "reviews",
    [
        *([1, 2], [[1, 2], [3]], [[0.5]], [["great"]], "great film", None, [[]], [[[1]]], [[True]], object()),
        *([[-1, 0]], [[0, 5]], np.array([[2**63]], dtype=np.uint64), np.zeros((0, 128), dtype=int)),
    ],
)
def test_what_are_no_rows_is_refused(reviews: Any):
    with pytest.raises(InputError, match="`reviews`"):
        encode_rows(reviews, rows=5)


def test_as_many_words_as_rows():
    with pytest.raises(InputError, match="expected 4, one for each row"):
        model_of(drawn(4, 2), ["PAD"])
    with pytest.raises(InputError, match="`weights` must be"):
        model_of(None)  # pyright: ignore[reportArgumentType]
