"""A run is a sequence of its layers and an array; the runs of a batch are a sequence that can be handed on."""

import pickle

import numpy as np
import pytest

import hardmax as hm

HALF = hm.Dynamics("1/2")
CLOUD = np.random.default_rng(0).standard_normal((7, 2))
CLOUDS = np.random.default_rng(1).standard_normal((5, 6, 2))


@pytest.mark.parametrize("record", [hm.Every(1), hm.Every(3), hm.LastOnly()])
def test_a_run_is_the_sequence_of_its_recorded_layers(record):
    run = hm.simulate(CLOUD, HALF, layers=7, record=record)
    assert len(run) == len(run.recorded) == len(list(run))
    assert np.array_equal(np.asarray(run), run.tokens)
    for row, (layer, tokens) in enumerate(zip(run.recorded, run, strict=True)):
        assert np.array_equal(tokens, run.at(layer))
        assert np.array_equal(run[row], tokens)
        assert np.array_equal(run[row - len(run)], tokens)
    assert np.array_equal(np.stack(run[::-1]), run.tokens[::-1])


def test_an_array_of_a_run_has_the_dtype_asked_for_and_is_its_own():
    run = hm.simulate(CLOUD, HALF, layers=2)
    assert np.asarray(run, dtype=np.float32).dtype == np.float32
    np.asarray(run)[:] = 0
    assert np.array_equal(run[0], CLOUD)
    with pytest.raises(ValueError, match="copy"):
        np.array(run, copy=False)


@pytest.mark.parametrize("index", [8, -9, 2**70])
def test_a_layer_that_is_not_recorded_is_no_item(index):
    run = hm.simulate(CLOUD, HALF, layers=7)
    with pytest.raises(IndexError):
        run[index]


def forms():
    yield CLOUDS
    yield list(CLOUDS)
    yield [CLOUDS[0], CLOUDS[1, :3]]
    yield hm.Ragged(CLOUDS.reshape(-1, 2), offsets=[0, 4, 30], multiplicities=np.arange(1, 31))
    yield [[[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]], [["1/3", "2/7"]]]


@pytest.mark.parametrize("arithmetic", ["certified", "exact", "float"])
@pytest.mark.parametrize("number", range(5))
def test_batches_can_be_pickled(arithmetic, number):
    runs = hm.simulate(list(forms())[number], HALF, layers=4, arithmetic=arithmetic)
    again = pickle.loads(pickle.dumps(runs))
    assert isinstance(again, hm.Trajectories)
    assert [run.leaders.tolist() for run in again] == [run.leaders.tolist() for run in runs]
    assert (again.settled_at, again.error == runs.error or np.isnan(runs.error)) == (runs.settled_at, True)
    for mine, its in zip(tables(again.at(4)), tables(runs.at(4)), strict=True):
        assert np.array_equal(mine, its)


def tables(given):
    return [given[cloud] for cloud in range(len(given))]


def test_one_run_of_a_batch_is_one_object():
    for runs in (hm.simulate(CLOUDS, HALF, layers=4), hm.simulate(CLOUDS, HALF, layers=4, arithmetic="exact")):
        assert runs[0] is runs[0]
        assert runs[-1] is runs[4]
        assert runs[1:3][0] is runs[1]


def test_a_batch_is_a_table_with_a_column_of_clouds():
    runs = hm.simulate(CLOUDS, HALF, layers=3)
    table = runs.to_pandas()
    assert list(table.columns) == ["cloud", "layer", "token", "z0", "z1", "leader", "attends"]
    assert len(table) == 5 * 4 * 6
    second = table[table.cloud == 2].drop(columns="cloud").reset_index(drop=True)
    assert second.equals(runs[2].to_pandas())


def test_what_worked_is_what_engine_takes():
    run = hm.simulate(CLOUD, HALF, layers=3, engine=hm.Cpu(threads=1))
    assert run.engine == hm.Cpu(threads=1)
    assert hm.simulate(CLOUD, HALF, layers=3, engine=run.engine).engine == run.engine
    assert hm.simulate(CLOUD, HALF, layers=3, arithmetic="exact").engine == hm.Cpu()
