"""The runs of a batch come back from files as they went in, in the form in which the tokens came."""

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hardmax._batch_runs import Together
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import alphas, clouds

import hardmax as hm
from hardmax._run_files import signed

HALF = hm.Dynamics("1/2")
SUFFIXES = (".npz", ".json")


def again(runs: hm.Trajectories, suffix: str) -> hm.Trajectories:
    with TemporaryDirectory() as folder:
        runs.save(Path(folder) / f"runs{suffix}")
        return hm.Trajectories.load(Path(folder) / f"runs{suffix}")


def same(one: Any, other: Any) -> bool:
    """Whether tokens are equal, number for number and in form."""
    if isinstance(one, hm.Ragged):
        return same(one.tokens, other.tokens) and np.array_equal(one.offsets, other.offsets)
    if isinstance(one, list):
        return isinstance(other, list) and all(map(np.array_equal, one, other)) and len(one) == len(other)
    return type(one) is type(other) is np.ndarray and one.dtype == other.dtype and np.array_equal(one, other)


def assert_same_answers(back: hm.Trajectories, runs: hm.Trajectories, layers: int) -> None:
    assert repr(back) == repr(runs)
    for layer in range(layers + 1):
        assert same(back.at(layer), runs.at(layer))
    assert [leaders.tolist() for leaders in back.leaders] == [leaders.tolist() for leaders in runs.leaders]
    assert back.settled_at == runs.settled_at
    if None not in runs.settled_at:
        assert same(back.ends(), runs.ends())
        assert same(back.at(layers + 1000), runs.at(layers + 1000))
    assert back.certified == runs.certified
    assert back.error == runs.error or np.isnan(runs.error)
    for one, other in zip(back, runs, strict=True):
        assert repr(one) == repr(other)
        assert (one.recorded, one.stopped, one.decided_at) == (tuple(other.recorded), other.stopped, other.decided_at)
        assert one.leader_layers.tolist() == other.leader_layers.tolist()
        for layer in (0, one.layers):
            assert one.attended(layer).tolist() == other.attended(layer).tolist()


def in_form(form: str, batch: list[np.ndarray]) -> Any:
    if form == "stack":
        return np.stack([cloud[: min(map(len, batch))] for cloud in batch])
    if form == "ragged":
        counts = 1 + np.arange(sum(map(len, batch))) % 3
        return hm.Ragged(np.concatenate(batch), np.cumsum([0, *map(len, batch)]), counts)
    return batch


@settings(max_examples=80, deadline=None)
@given(
    st.lists(clouds(min_d=2, max_d=2), min_size=1, max_size=4),
    alphas,
    st.sampled_from(["list", "stack", "ragged"]),
    st.sampled_from(["certified", "exact", "float"]),
    st.sampled_from([hm.AfterLayers(4), hm.Settled(60), hm.Settled(1)]),
    st.sampled_from([hm.Every(), hm.Every(3), hm.LastOnly()]),
    st.booleans(),
    st.sampled_from(SUFFIXES),
)
def test_runs_answer_as_they_did_before_they_were_saved(batch, alpha, form, arithmetic, stop, record, rational, suffix):
    dtype = object if rational else np.float64
    tokens = in_form(form, [np.array(cloud, dtype=object).astype(dtype) for cloud in batch])
    runs = hm.simulate(tokens, hm.Dynamics(alpha), stop=stop, arithmetic=arithmetic, record=record)
    together = isinstance(runs.runs, Together)
    assert together == (arithmetic == "certified" and not rational)
    back = again(runs, suffix)
    assert isinstance(back.runs, Together) == together
    assert_same_answers(back, runs, min(run.layers for run in runs))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_many_gaussian_clouds_come_back_without_being_walked_again(suffix, monkeypatch):
    batch = np.random.default_rng(0).standard_normal((60, 20, 2))
    batch[7, :4] = [[1, 1], [1, -1], [-1, -1], [-1, 1]]  # tied by its corners
    runs = hm.simulate(batch, hm.Dynamics("1/3", [[2, 1], [1, 1]]), layers=12)
    before = runs.at(12)
    monkeypatch.setattr("hardmax._batch_runs.walk_many", lambda *_: pytest.fail("walked again"))
    back = again(runs, suffix)
    assert same(back.at(12), before)
    assert [leaders.tolist() for leaders in back.leaders] == [leaders.tolist() for leaders in runs.leaders]
    assert back.settled_at == runs.settled_at


@dataclass(frozen=True)
class Odd:
    """A record of a user's own."""

    def layers(self, last: int) -> list[int]:
        return [*range(1, last, 2), last]

    def keeps(self, first: int, until: int) -> bool:
        return True


def test_runs_with_a_record_of_ones_own_keep_what_it_kept():
    runs = hm.simulate(np.random.default_rng(0).standard_normal((5, 9, 2)), HALF, layers=6, record=Odd())
    assert isinstance(runs.runs, Together)
    assert_same_answers(again(runs, ".npz"), runs, 6)


def test_tensors_come_back_as_arrays():
    torch = pytest.importorskip("torch")
    tokens = np.random.default_rng(0).standard_normal((4, 6, 2)).astype(np.float32)
    runs = hm.simulate(torch.from_numpy(tokens), HALF, layers=3)
    back = again(runs, ".npz")
    assert same(back.at(3), hm.simulate(tokens, HALF, layers=3).at(3))


def test_a_large_batch_has_few_entries_and_no_pickle(tmp_path):
    batch = [np.array(hm.clouds.square(inside=[(0.5, 0.0)])) for _ in range(40)]  # every one of them goes to integers
    runs = hm.simulate(batch, HALF, layers=3)
    assert runs.decided_by_integers == 40
    runs.save(tmp_path / "runs.npz")
    with np.load(tmp_path / "runs.npz", allow_pickle=False) as archive:
        assert len(archive.files) < 8
        assert all(archive[name].dtype != object for name in archive.files)
    runs.save(tmp_path / "runs.json")
    json.loads((tmp_path / "runs.json").read_text(), parse_constant=lambda name: pytest.fail(f"JSON knows no {name}"))


def test_the_last_layer_can_be_read_as_tokens(tmp_path):
    from hardmax.io import read_cloud

    tokens = in_form("ragged", [np.random.default_rng(n).standard_normal((n, 2)) for n in (3, 5)])
    for stop in (hm.AfterLayers(4), hm.Settled()):
        runs = hm.simulate(tokens, HALF, stop=stop)
        runs.save(tmp_path / "runs.npz")
        last = read_cloud(tmp_path / "runs.npz")
        assert isinstance(last, hm.Ragged)
        assert np.array_equal(last.tokens, np.concatenate([run.at(run.layers) for run in runs]))
        assert last.offsets.tolist() == [0, 3, 8]
        assert last.multiplicities is not None
        assert last.multiplicities.tolist() == tokens.multiplicities.tolist()


def test_one_run_and_many_are_told_apart(tmp_path):
    hm.simulate([[1.0], [0.5]], HALF, layers=2).save(tmp_path / "one.npz")
    hm.simulate([[[1.0], [0.5]]], HALF, layers=2).save(tmp_path / "many.json")
    with pytest.raises(hm.InputError, match=r"one\.npz` holds the run of one cloud: read it with `Trajectory\.load`"):
        hm.Trajectories.load(tmp_path / "one.npz")
    with pytest.raises(hm.InputError, match=r"many\.json` holds the runs of a batch .* with `Trajectories\.load`"):
        hm.Trajectory.load(tmp_path / "many.json")


def test_what_is_no_batch_gets_one_line(tmp_path):
    good = tmp_path / "good.json"
    batch = [np.random.default_rng(0).standard_normal((4, 2)), np.array(hm.clouds.square(inside=[(0.5, 0.0)]))]
    hm.simulate(batch, HALF, layers=2).save(good)
    document = json.loads(good.read_text())
    del document["digest"]
    together = document["together"]
    assert together["settled"][1] < -1, "the square is left to integers"
    cases = {
        "not saved by hardmax": {"tokens": [[1, 2]]},
        "version 99": document | {"version": 99},
        "says nothing of `together`": {key: value for key, value in document.items() if key != "together"},
        "`offsets`": document | {"offsets": [0, 4, 8]},
        "no stack": document | {"layout": "STACK"},
        "no cloud": document | {"layout": "CLOUD"},
        "'HEAP'": document | {"layout": "HEAP"},
        "0 runs, where 1 clouds": document | {"runs": []},
        "`errors` has shape (1,): expected 2": document | {"together": together | {"errors": [0.0]}},
        "`errors` must hold numbers from 0": document | {"together": together | {"errors": [0.0, -1.0]}},
        "other clouds": document | {"together": together | {"settled": [together["settled"][1], 0]}},
        "`settled`": document | {"together": together | {"settled": [0.5, together["settled"][1]]}},
        "`alpha`": document | {"together": together | {"alpha": "0"}},
        "`layers`": document | {"together": together | {"last_layer": -1}},
        "`when_settled`": document | {"together": together | {"when_settled": "False"}},
        "`m`": document | {"together": together | {"record": "some"}},
    }
    texts = {complaint: json.dumps(signed(changed)) for complaint, changed in cases.items()}
    texts |= {"breaks off": good.read_text()[:-9], "digest differs": json.dumps(document | {"digest": "0" * 64})}
    for complaint, text in texts.items():
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(hm.InputError) as refused:
            hm.Trajectories.load(tmp_path / "bad.json")
        assert complaint in str(refused.value)
        assert "bad.json`" in str(refused.value)
        assert "\n" not in str(refused.value)
    with pytest.raises(hm.InputError, match=r"nowhere\.npz` does not exist: expected the runs of a batch"):
        hm.Trajectories.load(tmp_path / "nowhere.npz")
    with pytest.raises(hm.InputError, match="must end in"):
        hm.simulate(batch, HALF, layers=2).save(tmp_path / "runs.xlsx")


def test_runs_that_cannot_be_written_leave_what_was_there(tmp_path, monkeypatch):
    runs = hm.simulate([[[1.0], [0.5]]], HALF, layers=2)
    runs.save(tmp_path / "runs.npz")
    before = (tmp_path / "runs.npz").read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(hm.InputError, match="no space left"):
        runs.save(tmp_path / "runs.npz")
    assert (tmp_path / "runs.npz").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["runs.npz"]


@pytest.mark.parametrize("version", [2, 3])
def test_of_files_without_a_digest_only_the_tokens_are_trusted(tmp_path, version):
    clouds = np.random.default_rng(0).standard_normal((5, 30, 2))
    for tokens in (clouds, [*clouds, clouds[0][:7]], clouds.astype(object)):
        runs = hm.simulate(tokens, hm.Dynamics("1/10"), layers=4)
        path = tmp_path / "runs.json"
        runs.save(path)
        document = json.loads(path.read_text()) | {"version": version}
        del document["digest"]
        if document["together"] is not None:
            document["together"]["leader_since"] = [0] * len(document["together"]["leader_since"])
        path.write_text(json.dumps(document))
        again = hm.Trajectories.load(path)
        assert [found.tolist() for found in again.leaders] == [found.tolist() for found in runs.leaders]
        assert all(np.array_equal(a, b) for a, b in zip(again.at(3), runs.at(3), strict=True))
