"""Model folders: whole or not at all, checked when they are read; and the models that ship."""

import hashlib
import json
import math
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from refusals import refuses
from safetensors.numpy import load, save
from text.reviews import read_split
from text.small_models import models, small_model, texts

import hardmax as hm
from hardmax.text import shipped, storage
from hardmax.text.text_model import TextModel

DECIDING = ["config.json", "model.safetensors", "vocabulary.txt"]
LOADED = [*DECIDING, "hashes.json", "metrics.json"]
SHIPPED = shipped.available()
NOT = {"word": "not", "factor": -0.5, "texts": 9}
OLD, NEW = small_model(0), small_model(1)


@pytest.fixture
def folder(tmp_path):
    """A saved model with everything a model can have."""
    rule = {"gate": 0.25, "scope": 3, "neutral_weight": 9, "alpha": 0.1}
    small_model(**rule, metrics={"accuracy": 0.9}).save(tmp_path / "model")
    return tmp_path / "model"


def rewrite(folder: Path, name: str, data: bytes) -> None:
    """Change a file, and its hash as well: what is wrong inside must be found without the hash."""
    (folder / name).write_bytes(data)
    hashes = json.loads((folder / "hashes.json").read_text())
    hashes[name] = hashlib.sha256(data).hexdigest()
    (folder / "hashes.json").write_text(json.dumps(hashes))


def refusal(folder: Path) -> str:
    with refuses() as caught:
        hm.load_model(folder)
    return str(caught.value)


def same(one: TextModel, other: TextModel) -> bool:
    return one.weights.tobytes() == other.weights.tobytes()


@given(models(), texts())
def test_a_saved_model_says_the_same_to_the_bit_and_is_the_same_bytes_again(model, said):
    with tempfile.TemporaryDirectory() as name:
        one, other = Path(name, "model"), Path(name, "other")
        for folder in (one, one, other):
            model.save(folder)
        again = hm.load_model(one)
        files = {path.name: path.read_bytes() for path in one.iterdir()}
        assert files == {path.name: path.read_bytes() for path in other.iterdir()}
        assert set(Path(name).iterdir()) == {one, other}
    assert files.keys() == {*LOADED, "README.md"}
    chances = again.predict_proba([said.text])
    assert chances.tobytes() == model.predict_proba([said.text]).tobytes()
    for name in ("classes", "modifiers", "rule", "tokeniser", "_digest"):
        assert getattr(again, name) == getattr(model, name), name


def test_other_files_are_left_alone(tmp_path, folder):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("dear")
    with refuses("other files"):
        NEW.save(tmp_path / "letters")
    with refuses("is a file"):
        NEW.save(tmp_path / "letters" / "dear.txt")
    assert (tmp_path / "letters" / "dear.txt").read_text() == "dear"
    (folder / "notes.txt").write_text("mine")
    (tmp_path / "other name").symlink_to(folder)
    NEW.save(tmp_path / "other name")
    assert (folder / "notes.txt").read_text() == "mine"
    assert same(hm.load_model(folder), NEW)


@pytest.mark.parametrize("name", LOADED)
def test_a_file_that_is_missing_changed_endless_or_too_large_is_named(folder, name, monkeypatch):
    (folder / name).write_bytes((folder / name).read_bytes() + b" x")
    changed = "hash differs" if name in DECIDING else "is not JSON"
    assert f"{name}` is" in refusal(folder)
    assert changed in refusal(folder)
    monkeypatch.setattr(storage, "_MOST_BYTES", 2**25)  # a gigabyte takes its time
    os.truncate(folder / name, 2**40)  # takes no space on the disk
    assert f"{name}` is larger than" in refusal(folder)
    (folder / name).unlink()
    assert f"{name}` does not exist: expected a folder that `save` wrote" in refusal(folder)
    (folder / name).symlink_to("/dev/zero")
    assert f"{name}` is a device" in refusal(folder)


@pytest.mark.parametrize("data", [b"", b"\x80\x04pickle", None])
def test_a_foreign_or_cut_off_file_of_weights_is_refused(folder, data):
    cut_off = (folder / "model.safetensors").read_bytes()[:-7]
    rewrite(folder, "model.safetensors", cut_off if data is None else data)
    assert "not a safetensors file" in refusal(folder)


CHANGES = {
    "finite": lambda tensor: tensor * np.nan,
    "shape": lambda tensor: np.concatenate([tensor, tensor]),
    "int32": lambda tensor: tensor.astype(np.int32),
}


@pytest.mark.parametrize("name", ["weights", "bias"])
@pytest.mark.parametrize("complaint", CHANGES)
def test_weights_that_do_not_fit_are_named(folder, name, complaint):
    tensors = load((folder / "model.safetensors").read_bytes())
    tensors[name] = CHANGES[complaint](tensors[name])
    rewrite(folder, "model.safetensors", save(tensors))
    assert f"`{name}`" in refusal(folder)
    assert complaint in refusal(folder)


TWICE = [NOT, NOT | {"word": "NOT"}]
CONFIGURATIONS = [
    ("format", "other", "is not of format and version"),
    ("version", 1, "is not of format and version"),
    ("scope", "4", "`scope` must be"),
    ("classes", ["a", "b", "c"], "shape"),
    ("tokeniser", {"wings": 3}, "wings"),
    ("tokens", 3, "expected 3, as in config.json"),
    ("modifiers", None, "incomplete"),
    ("modifiers", [NOT | {"factor": math.nan}], "`factor` must be a finite number"),
    ("modifiers", TWICE, "a word twice"),
]


@pytest.mark.parametrize(("name", "value", "complaint"), CONFIGURATIONS)
def test_a_configuration_that_does_not_fit_is_refused(folder, name, value, complaint):
    config = json.loads((folder / "config.json").read_text())
    config[name] = value
    if value is None:
        del config[name]
    rewrite(folder, "config.json", json.dumps(config).encode())
    assert complaint in refusal(folder)


def test_other_files_that_do_not_fit_are_refused(folder, tmp_path):
    rewrite(folder, "vocabulary.txt", b"good\t1\t2\n")
    assert "vocabulary.txt has 1 tokens: expected 13" in refusal(folder)
    (folder / "hashes.json").write_text("[1]")
    assert "hashes.json` is not a JSON object" in refusal(folder)
    for metrics in ({"when": object()}, {"loss": math.nan}):
        with refuses("plain data"):
            small_model(metrics=metrics).save(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_load_takes_a_folder_or_a_shipped_name_and_lists_the_names_otherwise(folder, monkeypatch):
    monkeypatch.setattr(shipped, "MODELS", folder.parent)
    assert shipped.available() == ["model"]
    assert hm.load_model("model").rule.alpha == "1/10"
    with refuses("shipped are model"):
        hm.load_model("imdb-9d")


# ---------------------------------------------------------------- interrupted


@pytest.mark.parametrize("calls", [0, 6, 8, 11])
def test_a_save_that_fails_leaves_a_whole_model_or_one_that_is_refused(
    calls, tmp_path, monkeypatch
):
    """No reader takes a mixture of two models for one."""
    OLD.save(tmp_path / "model")
    before, left = Path.replace, iter(range(calls))

    def fail(path, target):
        if next(left, None) is None:
            raise OSError(28, "No space left on device")
        return before(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        with refuses("cannot be written: no space left on device"):
            NEW.save(tmp_path / "model")
    if calls <= 6:  # nothing was replaced yet
        assert same(hm.load_model(tmp_path / "model"), OLD)
    else:
        assert "its hash differs" in refusal(tmp_path / "model")
    assert {path.name for path in tmp_path.iterdir()} == {"model"}, "no litter"
    NEW.save(tmp_path / "model")
    assert same(hm.load_model(tmp_path / "model"), NEW)


# ---------------------------------------------------------------- the models that ship


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_model_reads_what_everybody_would_and_explains_it(name):
    model = hm.load_model(name)
    good, bad = "A wonderful film, one of the best I have seen.", "Awful, a waste of time."
    assert model.predict([good, bad]).tolist() == ["positive", "negative"]
    why = model.explain(f"{bad} The music is wonderful.")
    votes = sum(entry.vote for entry in why.ledger)
    assert np.isclose(votes + why.bias, why.logit)
    assert len(why.leaders) == 2  # one for, one against
    files = (shipped.MODELS / name).iterdir()
    assert sum(path.stat().st_size for path in files) < 4_000_000


def test_the_default_model_reads_what_is_denied():
    model = hm.load_model("sentiment-en")
    assert set(model.predict(["I don't like it.", "Not good at all."])) == {"negative"}
    ledger = {entry.word: entry for entry in model.explain("It never gets boring.").ledger}
    boring = ledger["boring"]
    assert boring.modifiers == ("never",)
    assert boring.weight < 0 < boring.vote
    assert model.explain("I couldn't like it").links[0].modifier == "couldn't"


@pytest.mark.parametrize("name", [name for name in SHIPPED if "imdb" in name])
def test_the_card_tells_the_truth(name):
    table, model = read_split("test", 2000), hm.load_model(name)
    truth = np.array(["negative", "positive"])[table["label"].to_numpy()]
    right = np.mean(model.predict(table["text"]) == truth)
    # A sample of 2,000 is off by less than this in 99.9 of 100 cases.
    assert abs(right - model.metrics["accuracy"]) < 0.022
