"""The loop: it learns, it repeats itself to the bit, and it survives being killed."""

# pyright: reportMissingImports=false
# ruff: noqa: E402
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from effort import some

torch = pytest.importorskip("torch", reason="training needs torch (extra `train`)")

from small_training import RECIPE, RECIPES, examples, train_small

from hardmax._parallel import limit_threads
from hardmax._validation import InputError
from hardmax.train.clouds import Clouds
from hardmax.train.log import read_log
from hardmax.train.loop import decide

SCRIPT = Path(__file__).with_name("small_training.py")


def bits(network):
    return {name: value.detach().numpy().tobytes() for name, value in network.state_dict().items()}


@pytest.fixture(scope="module")
def trained():
    return train_small()


def test_it_learns_and_tells_how_it_goes(trained):
    _, reports = trained
    assert [report.epoch for report in reports] == [1, 2, 3, 4, 5, 6]
    assert [report.alpha for report in reports] == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert reports[-1].loss < reports[0].loss
    assert reports[-1].accuracy > 0.8
    assert reports[0].leaders == 0
    assert 1 <= reports[-1].leaders < 12


def test_what_is_learned_holds_for_texts_never_seen(trained):
    fresh = examples(seed=1)
    logits, _ = decide(trained[0], fresh.clouds, RECIPE.alpha)
    assert ((logits[:, 0] > 0) == fresh.labels).mean() > 0.75


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(trained):
    assert bits(train_small()[0]) == bits(trained[0])
    assert bits(train_small(recipe=replace(RECIPE, seed=1))[0]) != bits(trained[0])


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_threads_change_no_bit(recipe):
    network, _ = train_small(recipe=recipe)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        with limit_threads(1):
            assert bits(train_small(recipe=recipe)[0]) == bits(network)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("name", some(RECIPES))
def test_a_training_killed_in_the_middle_of_an_epoch_goes_on_to_the_same_bits(tmp_path, name):
    whole, whole_reports = train_small(recipe=RECIPES[name])
    # 13 batches an epoch: the 45th step is in the middle of the fourth.
    killed = subprocess.run([sys.executable, str(SCRIPT), str(tmp_path), name, "45"], check=False)
    assert killed.returncode == -9
    assert len(read_log(tmp_path / "log.jsonl")) == 3
    told_again: list[int] = []
    network, reports = train_small(tmp_path, RECIPES[name], progress=lambda report: told_again.append(report.epoch))
    assert told_again == [4, 5, 6]
    assert bits(network) == bits(whole)
    assert [(r.loss, r.alpha) for r in reports] == [(r.loss, r.alpha) for r in whole_reports]
    assert [r.loss for r in read_log(tmp_path / "log.jsonl")] == [r.loss for r in reports]


def test_a_finished_training_is_not_done_again(tmp_path, trained):
    train_small(tmp_path)
    told: list[int] = []
    network, _ = train_small(tmp_path, progress=lambda report: told.append(report.epoch))
    assert told == []
    assert bits(network) == bits(trained[0])


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    from hardmax.train.checkpoints import read_checkpoint

    train_small(tmp_path, recipe=replace(RECIPE, epochs=1))
    with pytest.raises(InputError, match="another recipe"):
        read_checkpoint(tmp_path / "checkpoint.safetensors", "large")
    (tmp_path / "checkpoint.safetensors").write_bytes(b"half of a file")
    with pytest.raises(InputError, match="not a checkpoint"):
        read_checkpoint(tmp_path / "checkpoint.safetensors", "small")


def test_a_log_that_is_none_is_told(tmp_path):
    (tmp_path / "log.jsonl").write_text("epoch 1")
    with pytest.raises(InputError, match="not a training log"):
        read_log(tmp_path / "log.jsonl")


def test_training_stops_when_validation_gets_no_better_and_keeps_the_best(tmp_path):
    patient = replace(RECIPE, epochs=40, patience=2, validation_fraction=0.5, learning_rate=0.1)
    unseen = examples(texts=100, seed=2)
    network, reports = train_small(recipe=patient, validation=unseen)
    losses = [report.validation_loss or 0.0 for report in reports if report.alpha == patient.alpha]
    assert len(reports) < patient.epochs
    assert min(losses) == losses[-3]
    logits, _ = decide(network, unseen.clouds, patient.alpha)
    signs = np.where(unseen.labels == 1, 1.0, -1.0)
    assert np.logaddexp(0, -signs * logits[:, 0]).mean() == pytest.approx(losses[-3], rel=1e-5)


def test_three_classes_are_learned_too():
    fresh = examples(seed=3, classes=3)
    network, _ = train_small(recipe=replace(RECIPE, decoder_learning_rate=1.0), classes=3)
    logits, _ = decide(network, fresh.clouds, RECIPE.alpha)
    assert logits.shape == (400, 3)
    assert (logits.argmax(axis=1) == fresh.labels).mean() > 0.6


def test_a_text_without_words_is_decided_by_the_bias(trained):
    network, _ = trained
    nothing = Clouds(np.empty(0, dtype=np.int64), np.empty(0), np.array([0, 0]))
    logits, leaders = decide(network, nothing, RECIPE.alpha)
    assert logits.tolist() == [network.bias.tolist()]
    assert leaders.tolist() == [0]
