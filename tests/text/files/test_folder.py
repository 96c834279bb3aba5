import builtins
import hashlib
import json
import sys
import types

import numpy as np
import pytest
from safetensors.numpy import load, save
from text.small_models import random_texts, small_model

import hardmax as hm
from hardmax._validation import InputError, MissingExtra
from hardmax.text.files import finding
from hardmax.text.files.folder import write_model
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.tokeniser import Tokeniser

FILES = {"config.json", "model.safetensors", "vocabulary.txt", "metrics.json", "README.md", "hashes.json"}


@pytest.fixture
def folder(tmp_path):
    """A saved model with everything a model can have."""
    place = tmp_path / "model"
    small_model(
        extra=[0.3, -1.5], metric=[[2.0, 0.5], [0.5, 1.0]], temperature=1.3, alpha=0.1, metrics={"accuracy": 0.9}
    ).save(place)
    return place


def rewrite(folder, name, data: bytes) -> None:
    """Change a file, and its hash as well: what is wrong inside must be found without the hash."""
    (folder / name).write_bytes(data)
    hashes = json.loads((folder / "hashes.json").read_text())
    hashes[name] = hashlib.sha256(data).hexdigest()
    (folder / "hashes.json").write_text(json.dumps(hashes))


def with_tensor(folder, name, change) -> None:
    tensors = load((folder / "model.safetensors").read_bytes())
    tensors[name] = change(tensors[name])
    rewrite(folder, "model.safetensors", save(tensors))


def with_config(folder, **changes) -> None:
    config = json.loads((folder / "config.json").read_text())
    config.update(changes)
    rewrite(folder, "config.json", json.dumps({k: v for k, v in config.items() if v is not None}).encode())


def refusal(folder) -> str:
    with pytest.raises(InputError) as caught:
        TextModel.load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("changes", [{}, {"classes": 3}, {"extra": [1.0, 0.0]}, {"metric": [[2.0, 0.0], [0.0, 1.0]]}])
def test_a_saved_model_says_the_same_to_the_bit(tmp_path, changes):
    model, texts = small_model(**changes), random_texts(50)
    model.save(tmp_path / "model")
    again = TextModel.load(tmp_path / "model")
    assert {path.name for path in (tmp_path / "model").iterdir()} == FILES
    assert again.predict_proba(texts).tobytes() == model.predict_proba(texts).tobytes()
    assert (again.classes, again.alpha, again.tokeniser) == (model.classes, model.alpha, model.tokeniser)
    assert np.array_equal(again.vocabulary.counts, model.vocabulary.counts)


def test_options_of_the_tokeniser_that_version_0_1_did_not_write_are_as_they_were_then(tmp_path):
    small_model(tokeniser=Tokeniser(longest_phrase=3, overlapping=False)).save(tmp_path / "model")
    saved = json.loads((tmp_path / "model" / "config.json").read_text())["tokeniser"]
    assert TextModel.load(tmp_path / "model").tokeniser == Tokeniser(**saved)
    assert saved == {
        "longest_phrase": 3, "marks": False, "across_sentences": False, "split_scripts": True, "overlapping": False,
    }  # fmt: skip
    with_config(tmp_path / "model", tokeniser={"longest_phrase": 3, "marks": False, "across_sentences": False})
    assert TextModel.load(tmp_path / "model").tokeniser == Tokeniser(longest_phrase=3, split_scripts=False)


def test_saving_twice_writes_the_same_bytes_and_leaves_nothing_behind(tmp_path):
    for name in ("model", "model", "other"):
        small_model().save(tmp_path / name)
    one, other = ({path.name: path.read_bytes() for path in (tmp_path / n).iterdir()} for n in ("model", "other"))
    assert one == other
    assert {path.name for path in tmp_path.iterdir()} == {"model", "other"}


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("dear")
    with pytest.raises(InputError, match="other things"):
        small_model().save(tmp_path / "letters")
    with pytest.raises(InputError, match="is a file"):
        small_model().save(tmp_path / "letters" / "dear.txt")
    assert (tmp_path / "letters" / "dear.txt").read_text() == "dear"


def test_what_is_written_beside_a_model_is_not_replaced_by_what_lay_there_before(tmp_path):
    folder = tmp_path / "model"
    write_model(small_model(), folder, {"notes.txt": b"old", "log": b"old"})
    (folder / "log").unlink()
    (folder / "log").mkdir()
    (folder / "mine.txt").write_text("mine")
    write_model(small_model(), folder, {"notes.txt": b"new", "log": b"new"})
    assert {name: (folder / name).read_bytes() for name in ("notes.txt", "log", "mine.txt")} == {
        "notes.txt": b"new",
        "log": b"new",
        "mine.txt": b"mine",
    }


def test_a_model_that_cannot_be_written_leaves_the_former_one(tmp_path, monkeypatch):
    small_model(0).save(tmp_path / "model")
    before = (tmp_path / "model" / "model.safetensors").read_bytes()

    def fail(path, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hardmax.text.files.folder.write_whole", fail)
    with pytest.raises(InputError, match="no space left"):
        small_model(1).save(tmp_path / "model")
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("name", sorted(FILES - {"README.md"}))
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    assert f"{name}` does not exist: expected a folder that `save` wrote" in refusal(folder)


@pytest.mark.parametrize("name", sorted(FILES - {"README.md", "hashes.json"}))
def test_a_file_that_was_changed_is_named(folder, name):
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    assert name in refusal(folder)
    assert "hash" in refusal(folder)


def test_the_card_may_be_edited(folder):
    (folder / "README.md").write_text("mine")
    assert TextModel.load(folder).metrics == {"accuracy": 0.9}


def test_a_truncated_file_of_weights_is_refused(folder):
    rewrite(folder, "model.safetensors", (folder / "model.safetensors").read_bytes()[:-7])
    assert "cut off" in refusal(folder)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 some zip", b"\x80\x04pickle", b"\xff" * 100])
def test_a_foreign_file_of_weights_is_refused(folder, data):
    rewrite(folder, "model.safetensors", data)
    assert "no safetensors file" in refusal(folder)


@pytest.mark.parametrize("name", ["embeddings", "decoder", "bias", "extra", "metric"])
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda tensor: tensor * np.nan, "finite"),
        (lambda tensor: tensor[..., :1], "shape"),
        (lambda tensor: tensor.astype(np.int32), "int32"),
    ],
)
def test_weights_that_do_not_fit_are_named(folder, name, change, complaint):
    if name == "bias" and complaint == "shape":
        with_tensor(folder, name, lambda tensor: np.concatenate([tensor, tensor]))
    else:
        with_tensor(folder, name, change)
    assert f"`{name}`" in refusal(folder)
    assert complaint in refusal(folder)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format": "other"}, "says 'other'"),
        ({"version": 2}, "version 2"),
        ({"alpha": None}, "incomplete"),
        ({"alpha": "-1"}, "alpha"),
        ({"layers": "8"}, "layers"),
        ({"temperature": -1}, "temperature"),
        ({"temperature": "warm"}, "`temperature` must be a finite number"),
        ({"classes": ["a", "b", "c"]}, "shape"),
        ({"classes": 3}, "incomplete"),
        ({"tokeniser": {"marks": 3}}, "marks"),
        ({"tokeniser": {"wings": 3}}, "wings"),
        ({"tensors": ["embeddings"]}, "model.safetensors holds"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(folder, changes, complaint):
    with_config(folder, **changes)
    assert complaint in refusal(folder)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [(b"", "is not JSON"), (b"[1]", "is not a JSON object"), (b"{", "is not JSON"), (b"\xff\xfe", "is not JSON")],
)
@pytest.mark.parametrize("name", ["config.json", "metrics.json", "hashes.json"])
def test_a_file_that_is_no_json_object_is_refused(folder, name, data, complaint):
    if name == "hashes.json":
        (folder / name).write_bytes(data)
    else:
        rewrite(folder, name, data)
    assert f"{name}` {complaint}" in refusal(folder)


def test_a_vocabulary_of_another_size_is_refused(folder):
    rewrite(folder, "vocabulary.txt", b"good\t1\t2\n")
    assert "embeddings" in refusal(folder)


def test_classes_and_metrics_must_be_plain_data(tmp_path):
    with pytest.raises(InputError, match="plain data"):
        small_model(metrics={"when": object()}).save(tmp_path / "model")
    with pytest.raises(InputError, match="plain data"):
        small_model(metrics={"loss": float("nan")}).save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_load_takes_a_folder_or_a_shipped_name_and_lists_the_names_otherwise(folder, monkeypatch):
    monkeypatch.setattr(finding, "MODELS", folder.parent)
    assert finding.available() == ["model"]
    assert hm.load("model").alpha == hm.load(folder).alpha == "1/10"
    with pytest.raises(InputError, match="shipped are model") as caught:
        hm.load("imdb-9d")
    assert "\n" not in str(caught.value)


def test_from_pretrained_stays_offline_unless_asked(folder, monkeypatch):
    assert TextModel.from_pretrained(folder).alpha == "1/10"
    with pytest.raises(InputError, match="download=True"):
        TextModel.from_pretrained("somebody/model")
    with pytest.raises(InputError, match="neither"):
        TextModel.from_pretrained("nowhere")


def test_without_the_extra_the_hub_says_which_one_it_needs(monkeypatch):
    there = builtins.__import__

    def refuse(name, *rest):
        if name == "huggingface_hub":
            raise ImportError(name)
        return there(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match=r"hardmax\[hub\]"):
        TextModel.from_pretrained("somebody/model", download=True)
    with pytest.raises(MissingExtra, match=r"hardmax\[hub\]"):
        small_model().push_to_hub("somebody/model")


def test_the_hub_gets_and_gives_the_folder(tmp_path, monkeypatch):
    seen = {}
    hub = types.ModuleType("huggingface_hub")

    def upload_folder(repo_id, folder_path, revision, token):
        seen[repo_id, revision, token] = tmp_path / "remote"
        TextModel.load(folder_path).save(seen[repo_id, revision, token])

    def create_repo(name, private, exist_ok, token):
        return f"https://hub/{name}"

    def snapshot_download(name, revision, token):
        return str(seen[name, revision, token])

    def create_branch(name, branch, exist_ok, token):
        branches.append(branch)

    branches = []
    for function in (upload_folder, create_repo, create_branch, snapshot_download):
        monkeypatch.setattr(hub, function.__name__, function, raising=False)
    monkeypatch.setattr(
        hub, "create_branch", lambda name, branch, exist_ok, token: branches.append(branch), raising=False
    )
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    model, texts = small_model(), random_texts(20)
    assert model.push_to_hub("me/model") == "https://hub/me/model"
    again = TextModel.from_pretrained("me/model", download=True)
    assert again.predict_proba(texts).tobytes() == model.predict_proba(texts).tobytes()
    model.push_to_hub("me/model", revision="next", token="secret")
    TextModel.from_pretrained("me/model", download=True, revision="next", token="secret")
    assert branches == ["next"]
    assert set(seen) == {("me/model", None, None), ("me/model", "next", "secret")}
