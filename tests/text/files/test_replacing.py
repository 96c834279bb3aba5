"""Whenever a save is killed or fails, the model that was there or the new one is there, whole, and nothing else."""

import os
import threading
from pathlib import Path

import effort
import pytest
from faults import BROKEN, DONE, KILLED, REFUSED, each_fault, fail, fork, kill
from text.small_models import small_model

from hardmax._validation import InputError
from hardmax.text.files import folder as folder_room
from hardmax.text.files import replacing
from hardmax.text.files.claims import Claim
from hardmax.text.text_model import TextModel

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")

OLD, NEW, NEXT = (small_model(seed) for seed in range(3))


def same(one: TextModel, other: TextModel) -> bool:
    return one.embeddings.tobytes() == other.embeddings.tobytes()


@pytest.fixture(params=["exchanged", "renamed"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a model goes, on a system that can exchange two folders and on one that cannot."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # what takes long is not what is tested
    if request.param == "renamed":
        monkeypatch.setattr(replacing, "_exchange", lambda *_: False)
    elif not replacing._exchange(*make_two(tmp_path)):
        pytest.skip("this file system cannot exchange two folders")
    return tmp_path / "models" / "model"


def make_two(folder: Path) -> tuple[Path, Path]:
    for name in ("one", "other"):
        (folder / name).mkdir()
    return folder / "one", folder / "other"


@pytest.mark.parametrize("fault", [kill, fail])
@pytest.mark.parametrize("there", [True, False], ids=["over a model", "where none is"])
def test_at_every_call_the_old_or_the_new_model_is_there(place: Path, fault, there: bool):
    if there:
        OLD.save(place)
    codes, found = [], []
    step = 1 if effort.THOROUGH or (there and fault is kill) else 3
    for code in each_fault(lambda: NEW.save(place), place.parent, fault, step):
        codes.append(code)
        if there or code == DONE:
            model = TextModel.load(place)
            assert same(model, OLD) or same(model, NEW)
            found.append(same(model, NEW))
        NEXT.save(place)
        assert same(TextModel.load(place), NEXT)
        assert [path.name for path in place.parent.iterdir()] == ["model"], "no litter"
        reset(place, there)
    assert codes[-1] == DONE
    assert len(codes) * step > 20, "there are many calls to be killed at"
    assert BROKEN not in codes
    assert KILLED in codes if fault is kill else REFUSED in codes
    assert set(found) == ({True, False} if there else {True})


def reset(place: Path, there: bool) -> None:
    if there:
        OLD.save(place)
    else:
        for path in place.iterdir():
            path.unlink()
        place.rmdir()


def test_readers_find_a_whole_model_while_it_is_replaced_again_and_again(place: Path):
    OLD.save(place)
    child = fork()
    if child == 0:
        try:
            for number in range(60):
                (NEW, OLD)[number % 2].save(place)
        finally:
            os._exit(0)
    reads = 0
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        model = TextModel.load(place)
        assert same(model, OLD) or same(model, NEW)
        reads += 1
    assert reads > 5


def test_saves_at_the_same_time_all_succeed_and_one_of_them_is_there(place: Path):
    threads = [threading.Thread(target=model.save, args=(place,)) for model in (OLD, NEW, NEXT) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    model = TextModel.load(place)
    assert any(same(model, saved) for saved in (OLD, NEW, NEXT))
    NEXT.save(place)
    assert [path.name for path in place.parent.iterdir()] == ["model"]


def test_what_a_living_process_is_filling_is_left_alone(place: Path):
    OLD.save(place)
    draft = place.with_name(".model.0123abcd.part")
    draft.mkdir()
    claim = Claim.on(draft)
    assert claim
    NEW.save(place)
    assert draft.is_dir()
    claim.release()
    NEW.save(place)
    assert not draft.exists()


def test_other_files_in_the_folder_of_a_model_stay(place: Path):
    OLD.save(place)
    (place / "notes.txt").write_text("mine")
    (place / "figures").mkdir()
    (place / "figures" / "a.svg").write_text("<svg/>")
    (place / "link").symlink_to("notes.txt")
    (place / "training.jsonl").write_text("{}")
    place.chmod(0o750)
    NEW.save(place)
    assert (place / "notes.txt").read_text() == "mine"
    assert (place / "figures" / "a.svg").read_text() == "<svg/>"
    assert (place / "link").is_symlink()
    assert not (place / "training.jsonl").exists(), "the log of the former model is not that of the new one"
    assert place.stat().st_mode & 0o777 == 0o750


def test_a_link_to_the_folder_of_a_model_stays_a_link(place: Path):
    OLD.save(place)
    link = place.with_name("link")
    link.symlink_to(place)
    NEW.save(link)
    assert link.is_symlink()
    assert same(TextModel.load(place), NEW)


def test_a_damaged_model_is_refused_however_often_it_is_read(place: Path):
    OLD.save(place)
    (place / "config.json").write_text("{}")
    with pytest.raises(InputError, match="its hash differs"):
        TextModel.load(place)


def test_a_model_that_was_found_beside_its_place_is_read_when_it_is_put_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place, beside = tmp_path / "model", tmp_path / ".model.0123abcd.new"
    OLD.save(place)
    found = [beside]  # as it was called a moment ago: the same folder, which has not changed since
    monkeypatch.setattr(folder_room, "find_folder", lambda target: found.pop() if found else target)
    monkeypatch.setattr(folder_room, "_identity", lambda path: (1, 2, 3))
    assert same(TextModel.load(place), OLD)
