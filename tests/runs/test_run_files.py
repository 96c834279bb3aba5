"""Runs come back from files as they went in, and files that are not runs are refused in one
line."""

import contextlib
import json
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import listed_refusals, refuses
from strategies import alphas, clouds

import hardmax as hm
from hardmax import stops
from hardmax._runs.run import BatchTrajectories
from hardmax.io import read_cloud
from hardmax.simulation import load_run

HALF = hm.Dynamics("1/2")
SQUARE = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
LONG = [
    [10**19 + 1, 0],
    [-(10**19), 3],
    [Fraction(10**60, 3**100), 1],
    [Fraction(10**60, 3**100), 1],
]


def again(runs: Any) -> Any:
    with TemporaryDirectory() as folder:
        runs.save(Path(folder) / "run.npz")
        return load_run(Path(folder) / "run.npz")


def same(one: Any, other: Any) -> bool:
    """Whether tokens are equal, number for number and in form."""
    if isinstance(one, hm.Ragged):
        return same(one.tokens, other.tokens) and np.array_equal(one.offsets, other.offsets)
    if isinstance(one, list):
        return (
            isinstance(other, list)
            and all(map(np.array_equal, one, other))
            and len(one) == len(other)
        )
    return (
        type(one) is type(other) is np.ndarray
        and one.dtype == other.dtype
        and np.array_equal(one, other)
    )


def check_same(back: hm.Trajectory, run: hm.Trajectory) -> None:
    assert repr(back) == repr(run)
    assert back.recorded == run.recorded
    assert back.stop_reason == run.stop_reason
    assert back.settled_at == run.settled_at
    assert back.error == run.error or np.isnan(run.error)
    assert back.leaders.tolist() == run.leaders.tolist()
    assert back.leader_layers.tolist() == run.leader_layers.tolist()
    assert same(back.at(back.layers), run.at(run.layers))
    # What is not in the file is computed again.
    assert back.dynamics == run.dynamics
    assert same(back.tokens, run.tokens)
    assert np.array_equal(back.details.decisions.margins, run.details.decisions.margins)
    assert back.details.decisions.searches == run.details.decisions.searches
    assert [back.attended(k).tolist() for k in (0, back.layers)] == [
        run.attended(k).tolist() for k in (0, run.layers)
    ]


@pytest.mark.parametrize("record", [hm.Every(1), hm.Every(3), hm.LastOnly()])
@pytest.mark.parametrize("arithmetic", ["certified", "exact", "float", hm.TieSlack(1e-3)])
@pytest.mark.parametrize(
    "tokens", [SQUARE, LONG, hm.clouds.gaussian(20, 2)], ids=["tied", "long", "gaussian"]
)
def test_a_run_comes_back_as_it_went_in(tokens, arithmetic, record):
    for stop in (hm.AfterLayers(8), hm.Settled()):
        dynamics = hm.Dynamics("1/10", [[2, 1], [1, 1]])
        run = hm.simulate(tokens, dynamics, stop=stop, arithmetic=arithmetic, record=record)
        check_same(again(run), run)
        check_same(again(again(run)), run)


def test_a_run_as_deep_as_integers_go_and_one_with_multiplicities_come_back():
    run = hm.simulate(SQUARE, HALF, layers=10**25, record=hm.LastOnly())
    assert again(run).recorded == run.recorded == (10**25,)
    (counted,) = hm.simulate(hm.Ragged(LONG, [0, 4], [5, 1, 2, 3]), HALF, layers=2)
    assert (
        again(counted).details.points.multiplicities.tolist()
        == counted.details.points.multiplicities.tolist()
        == [5, 1, 5]
    )


def in_form(form: str, batch: list[np.ndarray]) -> Any:
    if form == "stack":
        return np.stack([cloud[: min(map(len, batch))] for cloud in batch])
    if form == "ragged":
        counts = 1 + np.arange(sum(map(len, batch))) % 3
        return hm.Ragged(np.concatenate(batch), np.cumsum([0, *map(len, batch)]), counts)
    return batch


class Odd(stops.Record):
    """A record of a user's own."""

    def layers(self, first: int, until: int) -> list[int]:
        return [layer for layer in range(first, until) if layer % 2]


@settings(max_examples=examples(1000))
@given(
    st.lists(clouds(min_d=2, max_d=2), min_size=1, max_size=4),
    alphas,
    st.sampled_from(["list", "stack", "ragged"]),
    st.sampled_from(["certified", "exact", "float"]),
    st.sampled_from([hm.AfterLayers(4), hm.Settled(60), hm.Settled(1)]),
    st.sampled_from([hm.Every(), hm.Every(3), hm.LastOnly(), Odd()]),
    st.booleans(),
)
def test_the_runs_of_a_batch_come_back_as_they_went_in(
    batch, alpha, form, arithmetic, stop, record, rational
):
    dtype = object if rational else np.float64
    tokens = in_form(form, [np.array(cloud, dtype=object).astype(dtype) for cloud in batch])
    runs = hm.simulate(tokens, hm.Dynamics(alpha), stop=stop, arithmetic=arithmetic, record=record)
    assert isinstance(runs, BatchTrajectories) == (arithmetic == "certified" and not rational)
    back = again(runs)
    assert repr(back) == repr(runs)
    assert (back.settled_at, back.certified) == (runs.settled_at, runs.certified)
    assert same(back.at(1), runs.at(1)) if min(run.layers for run in runs) else True
    if None not in runs.settled_at:
        assert same(back.at("limit"), runs.at("limit"))
        assert same(back.at(1000), runs.at(1000))
    for one, other in zip(back, runs, strict=True):
        check_same(one, other)


def test_the_last_layer_can_be_read_as_tokens_and_nothing_is_pickled(tmp_path):
    tokens = in_form("ragged", [np.random.default_rng(n).standard_normal((n, 2)) for n in (3, 5)])
    runs = hm.simulate(tokens, HALF, stop=hm.Settled())
    runs.save(tmp_path / "runs.npz")
    last = read_cloud(tmp_path / "runs.npz")
    assert isinstance(last, hm.Ragged)
    assert np.array_equal(last.tokens, np.concatenate([run.at(run.layers) for run in runs]))
    assert last.multiplicities is not None
    assert last.offsets.tolist() == [0, 3, 8]
    assert last.multiplicities.tolist() == tokens.multiplicities.tolist()
    with np.load(tmp_path / "runs.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)


def changed(path: Path, **changes: Any) -> None:
    """Write another header, or other arrays, into a file."""
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays.pop("header").tobytes())
    for name, value in changes.items():
        (arrays if isinstance(value, np.ndarray) else header)[name] = value
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)


def load_changed(folder: Path, **changes: Any) -> Any:
    path = folder / "run.npz"
    hm.simulate(SQUARE, HALF, layers=2).save(path)
    changed(path, **changes)
    return load_run(path)


@pytest.mark.parametrize("arithmetic", ["certified", "exact", "float"])
@pytest.mark.parametrize("tokens", [SQUARE, [SQUARE, SQUARE[1:]]], ids=["one run", "a batch"])
def test_a_last_layer_that_is_not_that_of_the_run_is_not_believed(tmp_path, tokens, arithmetic):
    """It once came back as certified."""
    path = tmp_path / "run.npz"
    run = hm.simulate(tokens, HALF, layers=3, arithmetic=arithmetic)
    run.save(path)
    with np.load(path) as archive:
        last = archive["tokens"]
    changed(path, tokens=last[::-1] + 7)
    back: Any = load_run(path)
    assert back.certified == run.certified
    pairs = [(back, run)] if tokens is SQUARE else zip(back, run, strict=True)
    for again_read, made in pairs:
        check_same(again_read, made)


def test_a_file_that_breaks_off_or_is_changed_anywhere_is_refused_in_one_line(tmp_path):
    hm.simulate(hm.clouds.gaussian(6, 2), HALF, layers=2).save(tmp_path / "run.npz")
    whole = (tmp_path / "run.npz").read_bytes()
    generator = np.random.default_rng(0)
    path = tmp_path / "broken.npz"
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place])
        with refuses(r"broken\.npz`"):
            load_run(path)
        edited = bytearray(whole)
        edited[place] ^= int(generator.integers(1, 256))
        path.write_bytes(edited)
        with contextlib.suppress(hm.InputError):  # a byte that nobody reads may be anything
            load_run(path)


def test_other_files_are_named(tmp_path):
    np.savez(tmp_path / "foreign.npz", tokens=np.zeros((2, 2)))
    for name, complaint in [
        ("foreign.npz", "KeyError.*: expected what"),
        ("absent.npz", "does not exist: expected what"),
    ]:
        with refuses(complaint):
            load_run(tmp_path / name)
    run = hm.simulate([[1.0]], HALF, layers=1)
    with refuses(r"must end in \.npz, \.html or \.gif, not '\.json'"):
        run.save(tmp_path / "run.json")
    with refuses(r"`layers` are the frames of a \.gif"):
        run.save(tmp_path / "run.npz", layers=[0])


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
