"""Checks of the fields that decide how a model is trained."""

# pyright: reportMissingImports=false
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from field_checks import FROZEN, SMALL, Checks, known, reviews, starts
from small_training import TOKENS, examples
from watching import UNSEEN, Watched, watch, watched_steps

from hardmax.train import Recipe, fit
from hardmax.train.examples import hold_out
from hardmax.train.layer import Hardmax
from hardmax.train.network import make_network

CHECKS = Checks()


def rates(recipe: Recipe, parameter: str = "embeddings") -> np.ndarray:
    return np.array([step.rates[parameter] for step in watch(recipe).steps])


@CHECKS.of("epochs")
def so_many_are_trained():
    assert [report.epoch for report in watch(replace(SMALL, epochs=3)).reports] == [1, 2, 3]


@CHECKS.of("epochs")
def the_rate_falls_to_half_at_their_middle_and_to_nought_at_their_end():
    for epochs in (4, 6):
        found = rates(replace(SMALL, epochs=epochs))
        assert found[2 * epochs] == pytest.approx(SMALL.learning_rate / 2)
        assert found[-1] < SMALL.learning_rate / 100


@CHECKS.of("bag_of_words_epochs")
def alpha_is_nought_for_so_long():
    alphas = [alpha for _, alpha in watch(replace(SMALL, bag_of_words_epochs=1.5)).seen]
    assert alphas == [0.0] * 6 + [1.0] * 10


@CHECKS.of("alpha_warmup_epochs")
def alpha_rises_in_a_line_for_so_long():
    alphas = [
        alpha for _, alpha in watch(replace(SMALL, alpha=2.0, bag_of_words_epochs=1.0, alpha_warmup_epochs=2.0)).seen
    ]
    assert alphas == [0.0] * 4 + [2.0 * k / 8 for k in range(8)] + [2.0] * 4


@CHECKS.of("batch_size")
def so_many_texts_make_a_step():
    found = watch(replace(SMALL, epochs=1, batch_size=16))
    assert [len(clouds) for clouds, _ in found.seen] == [16, 16, 8]
    assert len(found.steps) == 3


@CHECKS.of("learning_rate")
def steps_are_as_long_as_that_warmed_up_over_one_epoch_and_falling_as_a_cosine():
    found = rates(replace(SMALL, learning_rate=0.03))
    cosine = 0.03 * np.cos(np.pi * np.arange(16) / 32) ** 2
    assert found[:4] == pytest.approx(cosine[:4] * [0, 0.25, 0.5, 0.75])
    assert found[4:] == pytest.approx(cosine[4:])


@CHECKS.of("learning_rate")
def weights_move_by_as_much():
    slow, fast = (watch(replace(SMALL, epochs=1, learning_rate=rate)) for rate in (1e-4, 1e-2))
    assert np.abs(fast.after["embeddings"] - fast.before["embeddings"]).max() > 5e-3
    assert np.abs(slow.after["embeddings"] - slow.before["embeddings"]).max() < 5e-4


@CHECKS.of("alpha_learning_rate")
def alpha_is_learned_at_that_share_of_the_rate_once_it_has_risen():
    found = watch(replace(SMALL, bag_of_words_epochs=1.0, alpha_warmup_epochs=1.0, alpha_learning_rate=0.25))
    for step in found.steps:
        assert step.rates["growth"] == pytest.approx(0.25 * step.rates["embeddings"])
    alphas = [alpha for _, alpha in found.seen]
    assert alphas[:8] == [0.0] * 4 + [0.0, 0.25, 0.5, 0.75]
    assert alphas[8] == 1.0
    assert 1.0 not in alphas[9:]


@CHECKS.of("decoder_learning_rate")
def the_decoder_is_learned_at_that_share_of_the_rate():
    fixed, learned = watch(SMALL), watch(replace(SMALL, decoder_learning_rate=0.25))
    assert fixed.after["decoder"].tolist() == fixed.before["decoder"].tolist()
    assert (learned.after["decoder"] != learned.before["decoder"]).all()
    for step in learned.steps:
        assert step.rates["decoder"] == pytest.approx(0.25 * step.rates["embeddings"])


@CHECKS.of("decoder_norm")
def its_rows_are_as_long_as_that():
    assert np.linalg.norm(fit(*reviews(), replace(FROZEN, decoder_norm=3.0)).decoder, axis=1) == pytest.approx([3.0])
    three = make_network(5, 3, replace(SMALL, decoder_norm=3.0), Hardmax()).decoder.detach().numpy()
    assert np.linalg.norm(three, axis=1) == pytest.approx([3.0] * 3)


@CHECKS.of("init_std")
def words_start_as_far_from_the_origin_as_that_and_stay_where_no_text_has_them():
    found = watch(replace(SMALL, init_std=0.7))
    assert found.before["embeddings"].std() == pytest.approx(0.7, rel=0.1)
    assert found.after["embeddings"][-UNSEEN:].tolist() == found.before["embeddings"][-UNSEEN:].tolist()


@CHECKS.of("init_std")
def what_words_say_is_scaled_to_that_spread():
    near, far = (starts(replace(FROZEN, init="odds", init_std=start)) for start in (0.2, 0.6))
    assert far["loud"] / near["loud"] == pytest.approx(3.0)


@CHECKS.of("init")
def words_start_anywhere_or_where_log_odds_or_a_linear_model_put_them():
    noise, odds, linear = (starts(replace(FROZEN, init=kind)) for kind in ("noise", "odds", "linear"))
    for says in (odds, linear):
        assert np.sign([says["loud"], says["dull"]]).tolist() == [1, -1]
        assert abs(says["both"]) < abs(says["calm"]) < abs(says["dull"])
    assert odds["rare"] / odds["loud"] == pytest.approx(np.log(2) / np.log(13), rel=0.1)
    assert linear["rare"] / linear["loud"] < 0.1
    assert min(map(abs, noise.values())) > 0
    assert noise["both"] != pytest.approx(odds["both"], abs=0.01)


@CHECKS.of("word_dropout")
def so_large_a_share_of_the_words_is_left_out_in_training_and_none_in_judging():
    unseen, taught = examples(texts=30, seed=2), examples(texts=40)
    found = watch(replace(SMALL, epochs=1, word_dropout=0.75), validation=unseen)
    *batches, judged = [len(clouds.ids) for clouds, _ in found.seen]
    assert sum(batches) / len(taught.clouds.ids) == pytest.approx(0.25, abs=0.03)
    assert judged == len(unseen.clouds.ids)


@CHECKS.of("norm_penalty")
def words_are_pulled_to_the_origin_as_the_mean_square_of_a_text_says():
    free, pulled = (watch(replace(SMALL, epochs=1, norm_penalty=penalty)) for penalty in (0.0, 0.5))
    clouds = free.seen[0][0]
    share = np.bincount(clouds.ids, 1 / np.diff(clouds.offsets)[clouds.cloud_of_token], TOKENS + UNSEEN)
    slope = 0.5 * 2 * free.before["embeddings"] * share[:, None] / (len(clouds) * 2)
    found = pulled.steps[0].grads["embeddings"] - free.steps[0].grads["embeddings"]
    np.testing.assert_allclose(found, slope, atol=1e-6)
    assert np.abs(slope).max() > 1e-3


@CHECKS.of("norm_penalty")
def words_end_shorter_and_the_loss_that_is_told_is_without_the_penalty():
    def length(found: Watched) -> float:
        return float(np.linalg.norm(found.after["embeddings"][:-UNSEEN], axis=1).mean())

    free, little, much = (watch(replace(SMALL, norm_penalty=penalty)) for penalty in (0.0, 0.1, 10.0))
    assert length(much) < length(little) < length(free)
    frozen = [
        watch(replace(SMALL, learning_rate=1e-12, norm_penalty=penalty)).reports[0].loss for penalty in (0.0, 10.0)
    ]
    assert frozen[0] == frozen[1]


@CHECKS.of("sparsity")
def words_are_pulled_to_the_origin_as_the_mean_length_in_a_text_says():
    free, pulled = (watch(replace(SMALL, epochs=1, sparsity=penalty)) for penalty in (0.0, 0.5))
    clouds = free.seen[0][0]
    share = np.bincount(clouds.ids, 1 / np.diff(clouds.offsets)[clouds.cloud_of_token], TOKENS + UNSEEN)
    vectors = free.before["embeddings"]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    slope = 0.5 * SMALL.decoder_norm * unit * share[:, None] / len(clouds)
    found = pulled.steps[0].grads["embeddings"] - free.steps[0].grads["embeddings"]
    np.testing.assert_allclose(found, slope, atol=1e-5)
    assert np.abs(slope).max() > 1e-2


NEUTRAL = replace(SMALL, neutral=0.2, sparsity=0.5, learning_rate=0.05)


@CHECKS.of("relaxed_epochs")
def in_the_last_epochs_nothing_pulls():
    still = replace(NEUTRAL, learning_rate=1e-12, init_std=5.0)
    for relaxed in (0, 1):
        pulled, free = (watch(replace(still, sparsity=s, relaxed_epochs=relaxed)).steps for s in (0.5, 0.0))
        same = [np.array_equal(a.grads["embeddings"], b.grads["embeddings"]) for a, b in zip(pulled, free, strict=True)]
        assert same == [False] * (len(same) * (4 - relaxed) // 4) + [True] * (len(same) * relaxed // 4)


@CHECKS.of("relaxed_epochs")
def words_that_can_count_nowhere_are_silent_by_then_and_stay_so():
    found = watch(replace(NEUTRAL, relaxed_epochs=2, epochs=6)).after["embeddings"][:-1]
    lengths = np.linalg.norm(found, axis=1)
    assert (lengths == 0).any()
    assert (lengths[lengths > 0] > 0.01).all()
    assert np.linalg.norm(watch(replace(NEUTRAL, epochs=6)).after["embeddings"][:-1], axis=1).min() > 0


@CHECKS.of("evidence")
def lengths_follow_evidence_from_the_relaxed_epochs_on():
    texts, labels = reviews()
    still = replace(FROZEN, init="bag", neutral=0.2, relaxed_epochs=1)
    lengths = {share: starts(replace(still, evidence=share), texts, labels) for share in (0.0, 0.5, 1.0)}
    assert lengths[1.0]["loud"] / lengths[1.0]["rare"] > lengths[0.5]["loud"] / lengths[0.5]["rare"]
    assert lengths[0.5]["loud"] / lengths[0.5]["rare"] > 1.5 * lengths[0.0]["loud"] / lengths[0.0]["rare"]
    for found in lengths.values():
        assert found["loud"] > 0 > found["dull"]


@CHECKS.of("weight_decay")
def words_that_no_text_has_shrink():
    kept, shrunk = (watch(replace(SMALL, weight_decay=decay)) for decay in (0.0, 0.01))
    assert kept.after["embeddings"][-UNSEEN:].tolist() == kept.before["embeddings"][-UNSEEN:].tolist()
    assert (np.abs(shrunk.after["embeddings"]) < np.abs(shrunk.before["embeddings"]))[-UNSEEN:].all()


# what is held out


@CHECKS.of("validation_fraction")
def so_large_a_share_of_every_class_teaches_nothing_and_judges():
    texts, labels = reviews()
    with watched_steps() as taken:
        model = fit(texts, labels, replace(FROZEN, batch_size=1, validation_fraction=0.25))
    assert len(taken) == 18
    held = hold_out(labels, 0.25, FROZEN.seed)
    right = model.predict([text for text, out in zip(texts, held, strict=True) if out]) == labels[held]
    assert model.metrics["training"][0]["validation_accuracy"] == pytest.approx(right.mean())
    assert np.bincount(labels[held]).tolist() == [3, 3]
    assert model.vocabulary.documents[model.vocabulary.index["both"]] == 18


@CHECKS.of("refit")
def after_it_is_measured_the_model_is_trained_on_all_texts():
    texts, labels = reviews()
    once = replace(FROZEN, validation_fraction=0.25, learning_rate=0.05, epochs=3)
    told = []
    first, again = fit(texts, labels, once), fit(texts, labels, replace(once, refit=True), progress=told.append)
    assert again.vocabulary.documents[again.vocabulary.index["both"]] == 24
    assert again.temperature == first.temperature
    assert again.metrics["validation_accuracy"] == first.metrics["validation_accuracy"]
    assert [epoch.epoch for epoch in told] == [1, 2, 3, 4, 5, 6]
    whole = fit(texts, labels, replace(once, validation_fraction=0.0))
    assert again.embeddings.tolist() == whole.embeddings.tolist() != first.embeddings.tolist()


@CHECKS.of("patience")
def training_stops_when_so_many_epochs_were_no_better():
    for patience in (1, 3):
        found = watch(
            replace(SMALL, learning_rate=0.3, epochs=12, patience=patience, validation_fraction=0.5),
            validation=examples(100, seed=2),
        )
        losses = [report.validation_loss or 0.0 for report in found.reports]
        assert len(losses) < 12
        assert losses.index(min(losses)) == len(losses) - 1 - patience


@CHECKS.of("seed")
def it_decides_where_words_start_who_is_held_out_and_the_order_of_the_texts():
    one, same, other = (watch(replace(SMALL, seed=seed)) for seed in (1, 1, 2))
    assert one.after["embeddings"].tolist() == same.after["embeddings"].tolist()
    assert (one.before["embeddings"] != other.before["embeddings"]).all()
    assert one.seen[0][0].ids.tolist() != other.seen[0][0].ids.tolist()
    epochs = [found[0].ids.tolist() for found in one.seen[::4]]
    assert all(before != after for before, after in pairwise(epochs))
    texts, labels = [f"both word{'abcdefghijkl'[n]}" for n in range(12) for _ in (0, 1)], np.arange(24) % 2
    assert known(replace(FROZEN, validation_fraction=0.5, seed=1), texts, labels) != known(
        replace(FROZEN, validation_fraction=0.5, seed=2), texts, labels
    )
