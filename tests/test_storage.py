"""Runs come back from files as they went in, and files that are not runs are told apart."""

import contextlib
import json

import numpy as np
import pytest

import hardmax as hm

HALF = hm.Dynamics("1/2")


def some_runs():
    rational = hm.clouds.turned(hm.clouds.square(inside=[(0.5, 0.0)]))
    yield hm.simulate(hm.clouds.gaussian(20, 3), HALF, layers=8)
    yield hm.simulate(hm.clouds.gaussian(8, 2), hm.Dynamics(0.1, [[2, 1], [1, 1]]), layers=8, arithmetic="exact")
    yield hm.simulate(rational, HALF, layers=100, record=hm.Every(10))
    yield hm.simulate(rational, HALF, layers=5, arithmetic="float", record=hm.LastOnly())
    yield hm.simulate([[1.0], [1.0], [0.0]], HALF, layers=2)


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_a_run_comes_back_as_it_went_in(tmp_path, suffix):
    for number, run in enumerate(some_runs()):
        path = tmp_path / f"run{number}{suffix}"
        run.save(path)
        back = hm.Trajectory.load(path)
        assert repr(back) == repr(run)
        assert back.dynamics == run.dynamics
        assert np.array_equal(back.tokens, run.tokens)
        assert np.array_equal(back.at(3), run.at(3))
        assert back.attended(2).tolist() == run.attended(2).tolist()
        assert back.leaders.tolist() == run.leaders.tolist()
        assert back.leader_layers.tolist() == run.leader_layers.tolist()
        assert np.array_equal(back.margins, run.margins)
        assert back.stopped == run.stopped
        assert back.error == run.error or np.isnan(run.error)


def test_files_hold_no_pickle_and_standard_json(tmp_path):
    run = next(iter(some_runs()))
    run.save(tmp_path / "run.json")
    json.loads((tmp_path / "run.json").read_text(), parse_constant=lambda name: pytest.fail(f"JSON knows no {name}"))
    run.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)


def test_bad_files_get_one_clear_line(tmp_path):
    good = tmp_path / "good.json"
    hm.simulate([[1.0], [0.5]], HALF, layers=2).save(good)
    document = json.loads(good.read_text())
    cases = {
        "truncated.json": good.read_text()[:100],
        "foreign.json": '{"a": 1}',
        "list.json": "[1, 2]",
        "newer.json": json.dumps(document | {"version": 99}),
        "short.json": json.dumps(document | {"leader_since": [0]}),
        "lost.json": json.dumps({key: value for key, value in document.items() if key != "points"}),
        "garbage.npz": "not a zip",
        "alpha.json": json.dumps(document | {"alpha": "-1"}),
    }
    for name, text in cases.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(hm.InputError) as caught:
            hm.Trajectory.load(tmp_path / name)
        assert "\n" not in str(caught.value)
        assert f"{name}`" in str(caught.value)
    with pytest.raises(hm.InputError, match=r"absent\.json` does not exist: expected the run of one cloud"):
        hm.Trajectory.load(tmp_path / "absent.json")
    with pytest.raises(hm.InputError, match="must end in"):
        hm.simulate([[1.0]], HALF, layers=1).save(tmp_path / "run.xlsx")


def test_an_archive_that_is_broken_anywhere_gets_one_clear_line(tmp_path):
    hm.simulate(hm.clouds.gaussian(6, 2), HALF, layers=2).save(tmp_path / "run.npz")
    whole, generator = (tmp_path / "run.npz").read_bytes(), np.random.default_rng(0)
    path = tmp_path / "broken.npz"
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place])
        with pytest.raises(hm.InputError, match=r"broken\.npz`"):
            hm.Trajectory.load(path)
        changed = bytearray(whole)
        changed[place] ^= int(generator.integers(1, 256))
        path.write_bytes(changed)
        with contextlib.suppress(hm.InputError):  # a byte that nobody reads may be anything
            hm.Trajectory.load(path)


@pytest.mark.parametrize("place", [{"start": 10**9}, {"start": "x"}, {"shape": [-1, 3]}, {"array": "nowhere"}])
def test_a_document_that_points_beside_its_arrays_is_damaged(tmp_path, place):
    path = tmp_path / "run.npz"
    hm.simulate(hm.clouds.gaussian(6, 2), HALF, layers=2).save(path)
    with np.load(path) as archive:
        entries = dict(archive)
    document = json.loads(entries["document"].tobytes())
    document["points"]["coordinates"] |= place
    entries["document"] = np.frombuffer(json.dumps(document).encode(), dtype=np.uint8)
    np.savez(path, **entries)
    with pytest.raises(hm.InputError, match=r"run\.npz` is damaged \("):
        hm.Trajectory.load(path)


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_files_of_version_2_are_still_read(tmp_path, suffix):
    """In that version every array was an entry of its own, and targets were kept."""
    path = tmp_path / f"run{suffix}"
    run = hm.simulate(hm.clouds.gaussian(6, 2), HALF, layers=5)
    run.save(tmp_path / "run.json")
    document = json.loads((tmp_path / "run.json").read_text()) | {"version": 2}
    for item, stretch in zip(document["stretches"], run.stretches, strict=True):
        item["targets"] = stretch.targets.tolist()  # pyright: ignore[reportAttributeAccessIssue]
    if suffix == ".npz":
        arrays = {"a0": run.leader_since, "a1": run.points.coordinates}
        document["leader_since"] = {"array": "a0"}
        document["points"]["coordinates"] = {"array": "a1"}
        np.savez(path, document=np.frombuffer(json.dumps(document).encode(), dtype=np.uint8), **arrays)
    else:
        path.write_text(json.dumps(document))
    back = hm.Trajectory.load(path)
    assert np.array_equal(back.tokens, run.tokens)
    assert back.leaders.tolist() == run.leaders.tolist()


def test_a_run_becomes_a_table():
    pytest.importorskip("pyarrow")
    run = hm.simulate(hm.clouds.square(inside=[(0.5, 0.0)]), HALF, layers=4, record=hm.Every(2))
    table, frame = run.to_arrow(), run.to_pandas()
    assert table.column_names == ["layer", "token", "z0", "z1", "alone", "attends"]
    assert table.num_rows == len(frame) == 3 * run.n
    last = frame[frame.layer == 4].set_index("token")
    assert last.loc[last.alone].index.tolist() == run.leaders.tolist()
    assert last.attends[4] == run.attended(4)[4].tolist()
    assert np.array_equal(last[["z0", "z1"]].to_numpy(), run.at(4))
