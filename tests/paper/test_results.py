"""Leaders counted, and the documents about them that are kept."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import numpy as np
import oracle
import pytest

from hardmax.paper.authors.direct import evaluate_directly
from hardmax.paper.authors.model import model_of, weigh_rows
from hardmax.paper.authors.weights import Weights
from hardmax.paper.piece import Numbers
from hardmax.paper.results import histogram, orders, reviews, table1
from hardmax.paper.results.counting import Counted, count_first_indices, count_leaders
from hardmax.paper.results.leading import leading_words
from hardmax.paper.results.texts import REVIEWS
from hardmax.text.shipped import load

NumbersOf = Callable[[str], Numbers]
ROWS, POSITIONS, LAYERS = 30, 12, 3


def weights_of(seed: int, *, dimension: int = 2) -> Weights:
    """Small whole numbers, so that there are ties; the step is exact in floats."""
    rng = np.random.default_rng(seed)
    return Weights(
        embeddings=rng.integers(-3, 4, (ROWS, dimension)).astype(np.float32),
        alpha=np.float32(1),
        decoder=rng.normal(size=dimension).astype(np.float32),
        bias=np.float32(0.25),
        layers=LAYERS,
        sha256="",
    )


def reviews_of(seed: int, reviews: int = 25) -> np.ndarray:
    """Rows of the embedding; the ends are padding."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(1, ROWS, (reviews, POSITIONS))
    ids[np.arange(POSITIONS) >= rng.integers(3, POSITIONS + 1, (reviews, 1))] = 0
    return ids


def leading_points(weights: Weights, review: np.ndarray, layers: int) -> list[set[tuple[Fraction, ...]]]:
    """The distinct points that attend to no other, at every layer, by the definition in fractions."""
    cloud = [[Fraction(float(x)) for x in weights.embeddings[row]] for row in review]
    found = []
    for tokens, sets in oracle.walk(cloud, Fraction(1), layers=layers):
        where = [tuple(token) for token in tokens]
        found.append({where[i] for i, own in enumerate(sets) if {where[j] for j in own} == {where[i]}})
    return found


@pytest.mark.parametrize("seed", range(3))
def test_leaders_are_those_who_attend_to_themselves_alone(seed: int):
    weights, reviews = weights_of(seed), reviews_of(seed)
    # Rows with the same vector are one point: a review has but one of them.
    _, first = np.unique(weights.embeddings, axis=0, return_inverse=True)
    alone = np.array([np.flatnonzero(first == group)[0] for group in first])
    reviews = alone[reviews]
    counted = count_leaders(weigh_rows(model_of(weights), reviews))
    by_hand = [leading_points(weights, review, LAYERS) for review in reviews]
    assert counted.leaders.tolist() == [len(layers[-1]) for layers in by_hand]
    assert counted.from_start.tolist() == [len(layers[-1] & layers[0]) for layers in by_hand]


@pytest.mark.parametrize("seed", range(3))
def test_first_indices_are_those_of_the_attended_sets_position_by_position(seed: int):
    drawn = np.random.default_rng(seed).normal(size=(ROWS, 3)).astype(np.float32)  # no ties that rounding could break
    # The sets at layer 3 are those of a fourth step.
    deeper = replace(weights_of(seed, dimension=3), embeddings=drawn, layers=LAYERS + 1)
    reviews = reviews_of(seed)
    late, early = count_first_indices(deeper, reviews, (LAYERS, 1))
    for number, review in enumerate(reviews):
        attended = evaluate_directly(deeper, review).attended
        leads = attended.argmax(axis=2) == np.arange(POSITIONS)
        assert late.leaders[number] == leads[LAYERS].sum()
        assert late.from_start[number] == (leads[LAYERS] & leads[0]).sum()
        assert early.leaders[number] == leads[1].sum()


def test_a_token_that_ties_is_no_leader_but_a_first_index():
    weights = Weights(
        embeddings=np.array([[0, 0], [2, 1], [2, -3]], dtype=np.float32),
        alpha=np.float32(1),
        decoder=np.ones(2, dtype=np.float32),
        bias=np.float32(0),
        layers=0,
        sha256="",
    )
    review = np.array([[0, 1, 2]])  # zero attends to all three, and is the first of them
    assert count_leaders(weigh_rows(model_of(weights), review)).leaders.tolist() == [2]
    assert count_first_indices(weights, review, (0,))[0].leaders.tolist() == [3]


def test_a_leader_that_is_left_out_is_not_counted():
    found = weigh_rows(model_of(weights_of(0)), reviews_of(0))
    padding = [bool((found.leader_since[a:b][found.ids[a:b] == 0] >= 0).any()) for a, b in pairs(found.offsets)]
    assert any(padding)
    fewer = count_leaders(found).leaders - count_leaders(found, without=0).leaders
    assert fewer.tolist() == [int(leads) for leads in padding]


def pairs(offsets: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))


def test_a_distribution_says_what_its_numbers_said():
    leaders = np.random.default_rng(0).integers(3, 9, 200)
    document = Counted(leaders, leaders - 1).document("leaders", 8)
    assert document["share_from_start"] == pytest.approx(((leaders - 1) / leaders).mean(), abs=1e-6)
    told = table1.summary(document)
    assert (document["fewest"], told["most"]) == (leaders.min(), leaders.max())
    assert told["mean"] == pytest.approx(leaders.mean(), abs=1e-4)
    assert told["deviation"] == pytest.approx(leaders.std(), abs=1e-4)


def test_the_kept_table_is_of_all_test_reviews(numbers_of: NumbersOf):
    numbers = numbers_of("results.table1")
    assert numbers["reviews"] == 15_000
    for model in numbers["models"]:
        reviews = numbers["own_reviews" if model["source"] == table1.OWN else "reviews"]
        assert {sum(own["reviews"]) for own in model["counted"]} == {reviews}
    ours = [model["dimension"] for model in numbers["models"] if model["source"] == table1.OURS]
    assert ours == [2, 2, 4, 4, 8, 8, 16, 16]


def test_the_accuracies_of_the_kept_table_are_those_of_the_trainings(numbers_of: NumbersOf):
    """Hardmax in place of the softmax at temperature 0.001 changes a few labels."""
    for model in numbers_of("results.table1")["models"]:
        if model["source"] == table1.OURS:
            kept = json.loads((files("hardmax.paper") / "kept" / f"d{model['dimension']}-paper.json").read_text())
            epoch = kept["last" if model["weights"] == "last" else "chosen"]
            assert model["epoch"] == epoch["epoch"]
            assert model["accuracy"] == pytest.approx(epoch["judged_accuracy"], abs=1e-3)


def test_leaders_never_get_fewer_from_layer_to_layer(numbers_of: NumbersOf):
    for model in numbers_of("results.table1")["models"]:
        means = [own["mean"] for own in model["counted"] if own["how"] == table1.LEADERS]
        assert means == sorted(means)


def test_the_table_has_a_row_for_each_model_and_way_of_counting(numbers_of: NumbersOf):
    head, *rows = table1.table(numbers_of("results.table1"))
    assert len(rows) == 8 * 2 + 2 + 2 * 3
    first = dict(zip(head, rows[0], strict=True))
    assert (first["whose"], first["d"], first["counted"]) == (table1.OURS, 2, table1.LEADERS)
    assert first["mean, layer 9"] >= first["mean, last layer"]


def test_leading_words_are_counted_review_by_review():
    weights, reviews = weights_of(4), reviews_of(4, 60)
    weights = replace(weights, decoder=np.array([1.5, -1], dtype=np.float32))
    model = model_of(weights)
    found = weigh_rows(model, reviews)
    second = np.random.default_rng(4).random(len(reviews)) < 0.5
    words = [f"word{row}" for row in range(ROWS)]
    expected: dict[str, list[int]] = {}
    for review, is_second in zip(reviews, second, strict=True):
        alone = weigh_rows(model, review[None])
        logit = float(alone.logits[0, 0])
        for token in alone.ids[alone.leader_since >= 0].tolist():
            own = float(weights.embeddings[token] @ weights.decoder) + 0.25
            if (logit > 0) == is_second and abs(own) > 2:
                counts = expected.setdefault(words[token], [0, 0])
                counts[0] += 1
                counts[1] += abs(logit) > 2
    told = leading_words(model, found, second, words, most=ROWS)
    assert {word["word"]: [word["reviews"], word["confident"]] for word in told} == expected
    assert [word["reviews"] for word in told] == sorted((word["reviews"] for word in told), reverse=True)


def test_the_authors_own_weights_are_led_by_the_words_that_they_published(numbers_of: NumbersOf):
    """Their list of words was not published: this is how well it has been found again."""
    theirs = next(m for m in numbers_of("results.histogram")["models"] if m["source"] == histogram.AUTHORS)
    assert {word["word"] for word in theirs["words"][:15]} == set(histogram.PUBLISHED)


def test_the_kept_words_lead_in_no_more_reviews_than_there_are(numbers_of: NumbersOf):
    for model in numbers_of("results.histogram")["models"]:
        often = [word["reviews"] for word in model["words"]]
        assert often == sorted(often, reverse=True)
        assert often[0] <= model["correct"] <= model["reviews"]
        assert all(word["confident"] <= word["reviews"] and abs(word["logit"]) > 2 for word in model["words"])


def kept_reviews() -> list[dict]:
    return json.loads((files("hardmax.paper") / "kept" / "two_reviews.json").read_text("utf-8"))["models"]


@pytest.mark.parametrize("number", range(2))
def test_the_pictured_reviews_have_the_logits_of_the_network_position_by_position(number: int, numbers_of: NumbersOf):
    kept, drawn = kept_reviews()[number], numbers_of("results.reviews")["models"][number]
    for own, shown in zip(kept["reviews"], drawn["reviews"], strict=True):
        weights = Weights(
            embeddings=np.array(own["vectors"], dtype=np.float32),
            alpha=np.float32(Fraction(kept["alpha"])),
            decoder=np.array(kept["decoder"], dtype=np.float32),
            bias=np.float32(kept["bias"]),
            layers=kept["layers"] + 1,
            sha256="",
        )
        review = np.repeat(np.arange(len(own["counts"])), own["counts"])
        assert len(review) == 128
        deeper = evaluate_directly(weights, review)
        alone = (deeper.attended.sum(axis=2) == np.array(own["counts"])[review]) & deeper.attended.diagonal(0, 1, 2)
        leads = {review[position] for position in np.flatnonzero(alone[kept["layers"]])}
        assert leads == {token for token, since in enumerate(shown["leader_since"]) if since >= 0}
        direct = evaluate_directly(replace(weights, layers=kept["layers"]), review)
        assert shown["logits"][-1] == pytest.approx(direct.logit, abs=1e-3)
        assert np.array(shown["path"][-1])[review] == pytest.approx(direct.tokens, abs=1e-4)


def test_our_model_says_of_the_pictured_reviews_what_it_says_of_their_texts(numbers_of: NumbersOf):
    drawn = numbers_of("results.reviews")["models"][-1]
    logits = [review["logits"][-1] for review in drawn["reviews"]]
    assert logits == pytest.approx(load("imdb-2d").decision_function(list(REVIEWS.values())).tolist(), abs=1e-3)


def test_every_word_of_the_pictured_reviews_follows_somebody_who_leads(numbers_of: NumbersOf):
    for model in numbers_of("results.reviews")["models"]:
        for review in model["reviews"]:
            assert all(review["leader_since"][followed] >= 0 for followed in review["follows"])


def test_leaders_are_named_in_the_picture(numbers_of: NumbersOf):
    (figure,) = reviews.PIECE.draw(numbers_of("results.reviews")).values()
    texts = [text.get_text() for text in figure.axes[-1].texts]
    assert any(text.startswith("(neutral): ") for text in texts)
    assert {"negative", "positive"} <= set(texts)


def test_the_moving_picture_has_a_frame_for_each_layer(tmp_path: Path, numbers_of: NumbersOf):
    image = pytest.importorskip("PIL.Image")
    model = numbers_of("results.reviews")["models"][-1]
    reviews.animate({"models": [model]}, tmp_path / "x.gif")
    with image.open(tmp_path / "x.gif") as film:
        assert film.n_frames == model["layers"] + 1


def test_no_text_and_no_weights_are_kept_but_those_of_the_pictured_words():
    names = ("leaders", "leading_words", "two_reviews")
    assert sum(len((files("hardmax.paper") / "kept" / f"{name}.json").read_bytes()) for name in names) < 60_000
    for model in kept_reviews():
        assert all(" " not in word for review in model["reviews"] for word in review["words"])


def test_orders_are_as_far_apart_as_the_kept_trainings(numbers_of: NumbersOf):
    plane, four = numbers_of("results.orders")["runs"]
    assert [one["order"] for one in plane["orders"]] == list(range(17))
    assert [one["order"] for one in four["orders"]] == list(range(5))
    for run in (plane, four):
        assert all(one["best"] == max(one["test"]) == one["test"][one["best_epoch"]] for one in run["orders"])
    told = orders.remark({"runs": [plane, four]})
    assert "d = 2: in 17 orders the best test accuracy is 80.18% to 84.03%" in told
    assert "within a tenth of the authors' in 2. In the plane" in told


def test_losses_are_alike_within_a_tenth_of_the_authors():
    assert orders._is_alike([0.54, 0.19, 1.0], [0.5, 0.2, 1.0])
    assert not orders._is_alike([0.5, 0.2, 1.11], [0.5, 0.2, 1.0])
