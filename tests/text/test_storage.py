"""Model folders: whole or not at all, checked when they are read; and the models that ship."""

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from refusals import listed_refusals, refuses
from safetensors.numpy import load, save
from text.reviews import read_split
from text.small_models import models, small_model, texts

import hardmax as hm
from hardmax.text import shipped, storage
from hardmax.text.text_model import TextModel

DECIDING = ["config.json", "model.safetensors", "vocabulary.txt"]
FILES = {*DECIDING, "metrics.json", "README.md", "hashes.json"}
SHIPPED = shipped.available()
NOT = {"word": "not", "factor": -0.5, "texts": 9}
OLD, NEW = small_model(0), small_model(1)


@pytest.fixture
def folder(tmp_path):
    return saved_model(tmp_path)


def saved_model(tmp_path: Path) -> Path:
    """A saved model with everything a model can have."""
    place = tmp_path / "model"
    small_model(gate=0.25, scope=3, neutral_weight=9, alpha=0.1, metrics={"accuracy": 0.9}).save(
        place
    )
    return place


def rewrite(folder, name, data: bytes) -> None:
    """Change a file, and its hash as well: what is wrong inside must be found without the hash."""
    (folder / name).write_bytes(data)
    hashes = json.loads((folder / "hashes.json").read_text())
    hashes[name] = hashlib.sha256(data).hexdigest()
    (folder / "hashes.json").write_text(json.dumps(hashes))


def load_with(tmp_path: Path, **changes: Any) -> TextModel:
    """A model whose configuration was changed; None leaves something out."""
    folder = saved_model(tmp_path)
    config = json.loads((folder / "config.json").read_text()) | changes
    kept = {name: value for name, value in config.items() if value is not None}
    rewrite(folder, "config.json", json.dumps(kept).encode())
    return TextModel.load(folder)


def refusal(folder) -> str:
    with refuses() as caught:
        TextModel.load(folder)
    return str(caught.value)


def same(one: TextModel, other: TextModel) -> bool:
    return one.weights.tobytes() == other.weights.tobytes()


@settings(max_examples=15)
@given(models(), texts())
def test_a_saved_model_says_the_same_to_the_bit_and_is_the_same_bytes_again(model, said):
    with tempfile.TemporaryDirectory() as name:
        tmp_path = Path(name)
        for folder in ("model", "model", "other"):
            model.save(tmp_path / folder)
        again = TextModel.load(tmp_path / "model")
        files = [
            {path.name: path.read_bytes() for path in (tmp_path / n).iterdir()}
            for n in ("model", "other")
        ]
        assert {path.name for path in tmp_path.iterdir()} == {"model", "other"}
    assert files[0] == files[1]
    assert set(files[0]) == FILES
    assert again.predict_proba([said.text]).tobytes() == model.predict_proba([said.text]).tobytes()
    for name in ("classes", "modifiers", "rule", "tokeniser"):
        assert getattr(again, name) == getattr(model, name), name


def test_the_card_says_what_was_measured_and_the_limitations_and_may_be_edited(folder):
    card = (folder / "README.md").read_text()
    assert "| accuracy | 0.9 |" in card
    assert "## Limitations" in card
    (folder / "README.md").write_text("mine")
    assert TextModel.load(folder).metrics == {"accuracy": 0.9}


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("dear")
    with refuses("other files"):
        small_model().save(tmp_path / "letters")
    with refuses("is a file"):
        small_model().save(tmp_path / "letters" / "dear.txt")
    assert (tmp_path / "letters" / "dear.txt").read_text() == "dear"


def test_other_files_in_the_folder_of_a_model_stay(tmp_path):
    OLD.save(tmp_path / "model")
    (tmp_path / "model" / "notes.txt").write_text("mine")
    (tmp_path / "other name").symlink_to(tmp_path / "model")
    NEW.save(tmp_path / "other name")
    assert (tmp_path / "model" / "notes.txt").read_text() == "mine"
    assert same(TextModel.load(tmp_path / "model"), NEW)


@pytest.mark.parametrize("name", sorted(FILES - {"README.md"}))
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    assert f"{name}` does not exist: expected a folder that `save` wrote" in refusal(folder)


@pytest.mark.parametrize("name", DECIDING)
def test_a_file_that_was_changed_is_named(folder, name):
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    assert f"{name}` is not the file that was saved: its hash differs" in refusal(folder)


@pytest.mark.parametrize(
    "data", [b"", b"PK\x03\x04 some zip", b"\x80\x04pickle", b"\xff" * 100, None]
)
def test_a_foreign_or_cut_off_file_of_weights_is_refused(folder, data):
    rewrite(
        folder,
        "model.safetensors",
        (folder / "model.safetensors").read_bytes()[:-7] if data is None else data,
    )
    assert "not a safetensors file" in refusal(folder)


@pytest.mark.parametrize("name", ["weights", "bias"])
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda tensor: tensor * np.nan, "finite"),
        (lambda tensor: np.concatenate([tensor, tensor]), "shape"),
        (lambda tensor: tensor.astype(np.int32), "int32"),
    ],
)
def test_weights_that_do_not_fit_are_named(folder, name, change, complaint):
    tensors = load((folder / "model.safetensors").read_bytes())
    tensors[name] = change(tensors[name])
    rewrite(folder, "model.safetensors", save(tensors))
    assert f"`{name}`" in refusal(folder)
    assert complaint in refusal(folder)


@pytest.mark.parametrize(
    ("data", "complaint"), [(b"", "is not JSON"), (b"[1]", "is not a JSON object")]
)
@pytest.mark.parametrize("name", ["config.json", "metrics.json", "hashes.json"])
def test_a_file_that_is_no_json_object_is_refused(folder, name, data, complaint):
    if name == "config.json":
        rewrite(folder, name, data)
    else:
        (folder / name).write_bytes(data)
    assert f"{name}` {complaint}" in refusal(folder)


LOADED = sorted(FILES - {"README.md"})


@pytest.mark.parametrize("name", LOADED)
def test_a_device_or_a_pipe_in_place_of_a_file_is_refused(folder, name):
    """Reading them would fill the memory, or wait for ever."""
    for replace_it in (lambda path: path.symlink_to("/dev/zero"), os.mkfifo):
        (folder / name).unlink()
        replace_it(folder / name)
        assert f"{name}` is not a file: expected a folder that `save` wrote" in refusal(folder)


@pytest.mark.parametrize("name", LOADED)
def test_no_more_of_a_file_is_read_than_a_model_may_have(folder, name, monkeypatch):
    monkeypatch.setattr(storage, "_MOST_BYTES", 2**25)  # a gigabyte takes its time
    os.truncate(folder / name, 2**40)  # takes no space on the disk
    mebibytes = 16 if name.endswith(".json") else 32
    assert f"{name}` is larger than {mebibytes} MiB, the most that is read" in refusal(folder)


def test_a_vocabulary_of_another_size_and_what_is_no_plain_data_are_refused(folder, tmp_path):
    rewrite(folder, "vocabulary.txt", b"good\t1\t2\n")
    assert "vocabulary.txt has 1 tokens: expected 13" in refusal(folder)
    for metrics in ({"when": object()}, {"loss": float("nan")}):
        with refuses("plain data"):
            small_model(metrics=metrics).save(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_load_takes_a_folder_or_a_shipped_name_and_lists_the_names_otherwise(folder, monkeypatch):
    monkeypatch.setattr(shipped, "MODELS", folder.parent)
    assert shipped.available() == ["model"]
    assert hm.load_model("model").rule.alpha == hm.load_model(folder).rule.alpha == "1/10"
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
        assert same(TextModel.load(tmp_path / "model"), OLD)
    else:
        assert "its hash differs" in refusal(tmp_path / "model")
    assert {path.name for path in tmp_path.iterdir()} == {"model"}, "no litter"
    NEW.save(tmp_path / "model")
    assert same(TextModel.load(tmp_path / "model"), NEW)


# ---------------------------------------------------------------- the models that ship


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_model_reads_what_everybody_would_and_explains_it(name):
    model = hm.load_model(name)
    texts = [
        "A wonderful film, one of the best I have seen.",
        "Awful. The worst film of the year, a waste of time.",
    ]
    assert model.predict(texts).tolist() == ["positive", "negative"]
    why = model.explain(
        "An awful waste of time, and the plot makes no sense at all; only the music is wonderful."
    )
    assert np.isclose(sum(entry.vote for entry in why.ledger) + why.bias, why.logit)
    assert len(why.leaders) == 2  # one for, one against
    assert sum(path.stat().st_size for path in (shipped.MODELS / name).iterdir()) < 1_700_000


def test_the_default_model_reads_what_is_denied():
    model = hm.load_model("sentiment-en")
    assert model.predict(["I don't like it.", "Not good at all."]).tolist() == [
        "negative",
        "negative",
    ]
    [boring] = [
        entry for entry in model.explain("It never gets boring.").ledger if entry.word == "boring"
    ]
    assert (boring.modifiers, boring.weight < 0) == (("never",), True)
    assert boring.vote > boring.weight / 2
    assert model.explain("I couldn't like it").links[0].modifier == "couldn't"


@pytest.mark.parametrize("name", [name for name in SHIPPED if name.startswith("imdb")])
def test_the_card_tells_the_truth(name):
    table, model = read_split("test", 2000), hm.load_model(name)
    right = np.mean(
        model.predict(table["text"])
        == np.array(["negative", "positive"])[table["label"].to_numpy()]
    )
    # A sample of 2,000 is off by less than this in 99.9 of 100 cases.
    assert abs(right - model.metrics["accuracy"]) < 0.022


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
