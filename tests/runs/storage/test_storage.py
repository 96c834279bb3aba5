"""Runs come back from files as they went in, and files that are not runs are told apart."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import effort
import numpy as np
import pytest

import hardmax as hm
from hardmax._run_files import signed

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
    del document["digest"]
    cases = {
        "truncated.json": good.read_text()[:100],
        "foreign.json": '{"a": 1}',
        "list.json": "[1, 2]",
        "newer.json": json.dumps(signed(document | {"version": 99})),
        "short.json": json.dumps(signed(document | {"leader_since": [0]})),
        "lost.json": json.dumps(signed({key: value for key, value in document.items() if key != "points"})),
        "garbage.npz": "not a zip",
        "alpha.json": json.dumps(signed(document | {"alpha": "-1"})),
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


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("record", [hm.Every(1), hm.Every(3), hm.LastOnly()])
def test_of_files_without_a_digest_only_the_tokens_are_trusted(tmp_path, version, record):
    path = tmp_path / "run.json"
    run = hm.simulate(hm.clouds.gaussian(40, 2), hm.Dynamics("1/10"), layers=7, record=record)
    run.save(path)
    document = json.loads(path.read_text()) | {"version": version, "settled_at": None, "leader_since": [0] * 40}
    del document["digest"]
    document["phases"][-1]["until"], document["phases"][-1]["indices"] = 99, [0] * 40
    path.write_text(json.dumps(document))
    again = hm.Trajectory.load(path)
    assert (again.recorded, again.settled_at, again.stopped) == (run.recorded, run.settled_at, run.stopped)
    assert again.leaders.tolist() == run.leaders.tolist()
    assert again.tokens.tobytes() == run.tokens.tobytes()
    assert len(again.phases) == len(run.phases)


# ---------------------------------------------------------------- what was changed


def places(document: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    """The ways to all that a document says."""
    if path:
        yield path
    if isinstance(document, dict | list):
        for key in document if isinstance(document, dict) else range(len(document)):
            yield from places(document[key], *path, key)


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    copy = json.loads(json.dumps(document))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copy


def documents(tmp_path) -> Iterator[Any]:
    """Documents without their digest: runs in floats and in integers, a batch with both."""
    square = hm.clouds.square(inside=[(0.5, 0.0)])
    hm.simulate(hm.clouds.gaussian(4, 2), HALF, layers=2).save(tmp_path / "a.json")
    hm.simulate(square, HALF, layers=2, arithmetic="exact").save(tmp_path / "b.json")
    hm.simulate([hm.clouds.gaussian(4, 2), np.array(square)], HALF, layers=2).save(tmp_path / "c.json")
    for name in "abc":
        document = json.loads((tmp_path / f"{name}.json").read_text())
        del document["digest"]
        yield document


def load(document: Any, path) -> Any:
    path.write_text(json.dumps(document))
    return (hm.Trajectory if document.get("format") == "hardmax-trajectory" else hm.Trajectories).load(path)


def test_whatever_is_changed_is_told(tmp_path):
    path = tmp_path / "changed.json"
    for document in documents(tmp_path):
        whole = signed(document)
        load(whole, path)
        load({key: whole[key] for key in sorted(whole)}, path)  # the order of keys says nothing
        for place in places(document):
            for value in (7, "other", None):
                edited = changed(whole, place, value)
                if edited != whole:
                    with pytest.raises(
                        hm.InputError, match=r"changed\.json` (is not what was saved|was not|has|holds)"
                    ):
                        load(edited, path)


@pytest.mark.parametrize("entry", ["document", "float64", "int64", "bool"])
def test_an_archive_with_an_edited_number_is_told(tmp_path, entry):
    path = tmp_path / "run.npz"
    hm.simulate(hm.clouds.gaussian(6, 2), HALF, layers=2).save(path)
    with np.load(path) as archive:
        entries = dict(archive)
    edited = entries[entry].copy()
    edited[-1] = edited[0]
    for changed_entries in (
        entries | {entry: edited},
        entries | {"notes": np.zeros(1)},
        {name: array for name, array in entries.items() if name != "digest"},
    ):
        if entry == "document" and changed_entries.get(entry) is edited:
            edited[:] = np.frombuffer(bytes(entries[entry]).replace(b"certified", b"certifieD"), dtype=np.uint8)
        np.savez(path, **changed_entries)  # pyright: ignore[reportArgumentType]
        with pytest.raises(hm.InputError, match=r"run\.npz` is not what was saved: its digest differs"):
            hm.Trajectory.load(path)


WRONG = (1.5, -1, 10**30, "x", True, None, [], [1.5], [[1.5]], {}, 1e308, "1e999999999", ["1/0"], [["1/0", "2"]])


def test_what_is_signed_but_no_run_gets_one_line(tmp_path):
    """Whoever makes a digest of their own still gets one line, or a run whose every field has its type and shape."""
    generator, path, refused = np.random.default_rng(0), tmp_path / "signed.json", 0
    for document in documents(tmp_path):
        found = list(places(document))
        chosen = found if effort.THOROUGH else [found[k] for k in generator.choice(len(found), 15, replace=False)]
        for place in chosen:
            for value in WRONG:
                try:
                    load(signed(changed(document, place, value)), path)
                except hm.InputError as error:
                    refused += 1
                    line = str(error)
                    assert line.startswith(f"`{path}`"), line
                    assert "\n" not in line
                    assert "Error:" not in line, f"{place} = {value!r}: {line}"
    assert refused > 150


@pytest.mark.parametrize(
    ("place", "value", "complaint"),
    [
        (("points", "multiplicities", 0), 1.5, "`multiplicities` must hold whole numbers, not 1.5"),
        (("points", "of_token", 0), True, "`of_token` must hold whole numbers"),
        (("points", "of_token", 0), 9, "`of_token` must hold whole numbers from 0 up to 3"),
        (("leader_since", 0), -2, "`leader_since` must hold whole numbers from -1"),
        (("leader_since",), [0], r"`leader_since` has shape \(1,\): expected 4"),
        (("phases", 0, "indices", 0), 4, "`indices` must hold whole numbers from 0 up to 3"),
        (("phases", 0, "offsets", 1), 3, "`offsets` must cut `indices`"),
        (("phases", 0, "alone", 0), 1, "`alone` must hold true or false"),
        (("phases", 0, "positions", 0, 0), "far", "`positions` must hold numbers"),
        (("phases", 0, "error"), -1, "`error` must be a number from 0 up, not -1"),
        (("recorded",), [0, 2, 1], "`recorded` must be layers, each later"),
        (("settled_at",), 0.5, "`settled_at` must be a whole number"),
        (("stopped",), None, "`stopped` must be a text"),
        (("phases",), [], "`phases` must follow one another"),
    ],
)
def test_every_field_has_its_type_shape_and_range(tmp_path, place, value, complaint):
    document = next(documents(tmp_path))
    with pytest.raises(hm.InputError, match=complaint):
        load(signed(changed(document, place, value)), tmp_path / "bad.json")


def test_a_run_becomes_a_table():
    pytest.importorskip("pyarrow")
    run = hm.simulate(hm.clouds.square(inside=[(0.5, 0.0)]), HALF, layers=4, record=hm.Every(2))
    table, frame = run.to_arrow(), run.to_pandas()
    assert table.column_names == ["layer", "token", "z0", "z1", "leader", "attends"]
    assert table.num_rows == len(frame) == 3 * run.n
    last = frame[frame.layer == 4].set_index("token")
    assert last.loc[last.leader].index.tolist() == run.leaders.tolist()
    assert last.attends[4] == run.attended(4)[4].tolist()
    assert np.array_equal(last[["z0", "z1"]].to_numpy(), run.at(4))
