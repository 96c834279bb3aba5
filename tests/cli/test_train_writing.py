"""What a training writes is whole or not there, wherever it is killed; two trainings never write the same folder."""

import os
import signal
from dataclasses import asdict
from pathlib import Path

import pytest
from command import Command
from faults import BROKEN, DONE, KILLED, each_fault, fork, kill
from planted_files import write_csv, write_recipe
from text.small_models import small_model

pytest.importorskip("torch", reason="the extra `train` is not installed")

from hardmax._validation import InputError
from hardmax.text.text_model import TextModel
from hardmax.train.log import Epoch, read_log
from hardmax.train.writing import CURVE, Target

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def trained(seed: int) -> TextModel:
    report = Epoch(epoch=1, alpha=1.0, loss=seed / 8, accuracy=0.5, leaders=2.0, seconds=0.1)
    return small_model(seed, metrics={"training": [asdict(report)]})


OLD, NEW, NEXT = map(trained, range(3))


def write(model: TextModel, place: Path) -> None:
    """All that `hardmax train --force` does to files, the training itself being done."""
    target = Target(str(place), force=True, resume=False)
    with target.claimed():
        target.start()
        (target.checkpoint / "checkpoint.safetensors").write_bytes(b"half of the work")
        target.write(model, {CURVE: b"a curve"})


def whole_one_of(place: Path, *models: TextModel) -> TextModel:
    found = TextModel.load(place)
    log = read_log(place / "training.jsonl")
    assert asdict(log[0]) == found.metrics["training"][0], "the log is that of the model"
    assert (place / "training.png").read_bytes() == b"a curve"
    return next(model for model in models if model.embeddings.tobytes() == found.embeddings.tobytes())


def test_wherever_a_training_is_killed_the_old_or_the_new_model_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "fsync", lambda _: None)
    place = tmp_path / "model"
    write(OLD, place)
    codes, found = [], set()
    for code in each_fault(lambda: write(NEW, place), tmp_path, kill):
        codes.append(code)
        found.add(whole_one_of(place, OLD, NEW))
        write(NEXT, place)
        assert whole_one_of(place, NEXT)
        assert [path.name for path in tmp_path.iterdir()] == ["model"], "no litter"
        write(OLD, place)
    assert codes[-1] == DONE
    assert set(codes) == {DONE, KILLED}
    assert BROKEN not in codes
    assert found == {OLD, NEW}


@pytest.fixture
def another(tmp_path: Path):
    """A process that is training into `model`."""
    ready, tell = os.pipe()
    child = fork()
    if child == 0:
        with Target(str(tmp_path / "model"), force=False, resume=False).claimed():
            os.write(tell, b"!")
            signal.pause()
    os.read(ready, 1)
    yield child
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_the_second_training_into_a_folder_is_refused(tmp_path: Path, another: int, hardmax: Command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "data.csv")
    write_recipe(tmp_path / "quick.json")
    for options in ((), ("--force",), ("--resume",)):
        outcome = hardmax("train", "data.csv", "--recipe", "quick.json", "-o", "model", *options)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("error: `--output` 'model' is being trained by another process: wait for it")
        assert outcome.err.count("\n") == 1


def test_a_training_that_was_killed_holds_nothing(tmp_path: Path):
    target = Target(str(tmp_path / "model"), force=False, resume=False)
    child = fork()
    if child == 0:
        with target.claimed():
            os._exit(KILLED)
    os.waitpid(child, 0)
    assert (tmp_path / "model.training" / "claim").exists()
    with target.claimed():
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_claim_is_let_go_when_the_training_is_refused(tmp_path: Path):
    (tmp_path / "model").write_text("no folder")
    for _ in range(2):
        with (
            pytest.raises(InputError, match="is a file"),
            Target(str(tmp_path / "model"), force=False, resume=False).claimed(),
        ):
            pytest.fail("nothing can be written there")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_cannot_be_made_is_named_before_the_work(tmp_path: Path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(InputError, match=r"cannot be written: (not a directory|file exists)"),
        Target(str(tmp_path / "file" / "model"), force=False, resume=False).claimed(),
    ):
        pytest.fail("nothing can be written there")


def test_two_fits_do_not_share_a_folder(tmp_path: Path):
    from hardmax.text.files.claims import Claim
    from hardmax.train import fit

    claim = Claim.on(tmp_path)
    assert claim
    with pytest.raises(InputError, match="is held by another training: wait for it, or name another folder"):
        fit(["a good film", "a bad film"] * 4, ["pos", "neg"] * 4, folder=tmp_path)
    claim.release()
