"""What a run has to say, whatever was recorded of it."""

import pickle
import re
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from refusals import listed_refusals, refuses

import hardmax as hm
from hardmax import stops

HALF = hm.Dynamics("1/2")


@pytest.fixture
def emerging():
    return hm.clouds.emerging_leader()


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
@pytest.mark.parametrize("record", [hm.Every(1), hm.Every(3), hm.LastOnly()])
def test_any_layer_can_be_asked_for_whatever_was_recorded(arithmetic, record):
    cloud = hm.clouds.gaussian(40, 2, seed=3)
    everything = hm.simulate(cloud, hm.Dynamics("1/10"), layers=12, arithmetic=arithmetic)
    run = hm.simulate(cloud, hm.Dynamics("1/10"), layers=12, arithmetic=arithmetic, record=record)
    for layer in range(13):
        assert np.array_equal(run.at(layer), everything.tokens[layer])
        assert run.attended(layer).tolist() == everything.attended(layer).tolist()


def test_a_leader_that_emerges_is_dated(emerging):
    run = hm.simulate(emerging, HALF, layers=10)
    assert max(run.leader_layers) > 0
    for leader, since in zip(run.leaders, run.leader_layers, strict=True):
        assert run.attended(int(since))[leader].tolist() == [leader]
        assert since == 0 or run.attended(int(since) - 1)[leader].tolist() != [leader]


def test_the_run_says_why_it_stopped(emerging):
    assert "settled at layer" in hm.simulate(emerging, HALF, stop=hm.Settled()).stop_reason
    assert (
        hm.simulate(emerging, HALF, layers=0).stop_reason
        == "all 0 layers asked for are done; not settled yet"
    )
    assert (
        hm.simulate(emerging, HALF, layers=50).stop_reason
        == "all 50 layers asked for are done; settled at layer 1"
    )
    first = hm.FirstOf(hm.Settled(), hm.AfterLayers(2))
    assert hm.simulate(emerging, HALF, stop=first).layers <= 2


def test_a_run_that_never_settles_gives_up_and_says_so():
    # A quarter turn as the metric: every corner chases the next one, for ever.
    corners = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    run = hm.simulate(corners, hm.Dynamics(1, [[0, -1], [1, 0]]), stop=hm.Settled(max_layers=25))
    assert run.layers == 25
    assert run.settled_at is None
    assert run.stop_reason == "gave up at layer 25: not settled yet"
    with refuses("beyond the 25 layers"):
        run.at(27)


def test_margins_agree_between_the_arithmetics():
    cloud = hm.clouds.gaussian(30, 3, seed=1)
    runs = [hm.simulate(cloud, HALF, layers=6, arithmetic=name) for name in ("certified", "exact")]
    for run in runs:
        assert run.details.decisions.layers == runs[0].details.decisions.layers
        assert run.details.decisions.margins == pytest.approx(
            runs[0].details.decisions.margins, rel=1e-6
        )
    assert runs[0].details.decisions.smallest_margin == runs[0].details.decisions.margins.min() > 0


def test_a_single_token_has_nobody_to_lead_over():
    run = hm.simulate([[2.0, 1.0]], HALF, layers=5)
    assert run.details.decisions.smallest_margin == np.inf
    assert run.leaders.tolist() == [0]
    assert run.at(5).tolist() == [[2.0, 1.0]]


def test_only_proved_choices_are_called_certified():
    cloud = hm.clouds.gaussian(20, 2)
    assert hm.simulate(cloud, HALF, layers=3).certified
    assert hm.simulate(cloud, HALF, layers=3, arithmetic="exact").certified
    by_floats = hm.simulate(cloud, HALF, layers=3, arithmetic="float")
    assert not by_floats.certified
    assert np.isnan(by_floats.error)
    with refuses("'float'"):
        by_floats.at(1, exact=True)
    assert np.allclose(by_floats.at(3), hm.simulate(cloud, HALF, layers=3).at(3))
    assert by_floats.attended(2).tolist() == hm.simulate(cloud, HALF, layers=3).attended(2).tolist()


def test_exactly_equal_float_scores_get_the_turned_square_wrong():
    # Trap H1: `==` on float scores misses ties that exact arithmetic sees.
    cloud = hm.clouds.rotated(hm.clouds.square(inside=[(0.5, 0.0), (-0.5, 0.0)]))
    goal = np.array([0.6, 0.8])
    naive = hm.simulate(cloud, HALF, layers=200, arithmetic="float")
    assert (
        np.linalg.norm(naive.at(200)[4] - goal) > 0.5
        or np.linalg.norm(naive.at(200)[5] + goal) > 0.5
    )
    proved = hm.simulate(cloud, HALF, layers=200)
    assert np.allclose(proved.at(200)[4:], [goal, -goal], atol=1e-15)


def test_floats_let_a_follower_vote_and_go_wrong_with_depth():
    # Trap H2: in floats the follower reaches its leader after some 50 layers and breaks the tie of
    # the other token.
    cloud = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0], ["3/10", "1/10"]]
    floats = hm.simulate(cloud, hm.Dynamics(1), layers=1000, arithmetic="float")
    assert np.allclose(floats.at(30)[4], (1, 0), atol=1e-6)
    assert np.allclose(floats.at(1000)[4], (1, 1))
    assert np.allclose(hm.simulate(cloud, hm.Dynamics(1), layers=1000).at(1000)[4], (1, 0))


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e300])
def test_clouds_at_the_ends_of_the_float_range_are_scaled(size):
    cloud = size * hm.clouds.gaussian(40, 2)
    run, exact = (
        hm.simulate(cloud, HALF, layers=3, arithmetic=how) for how in ("certified", "exact")
    )
    assert run.details.decisions.arithmetic == "certified"
    for layer in range(4):
        assert run.attended(layer).tolist() == exact.attended(layer).tolist()
        assert (
            np.abs(run.at(layer) / size - exact.at(layer) / size).max() <= run.error / size <= 1e-14
        )


SQUARE = [["1", "1"], ["1", "-1"], ["-1", "-1"], ["-1", "1"], ["1/2", "0"]]


def test_exact_tokens_follow_the_definition():
    run = hm.simulate(SQUARE, hm.Dynamics("1/3"), layers=4)
    tokens = [[Fraction(x) for x in row] for row in SQUARE]
    for layer in (0, 1, 4, 30):
        *_, (truth, _) = oracle.walk(tokens, Fraction(1, 3), None, layer)
        assert run.at(layer, exact=True).tolist() == truth


@pytest.mark.parametrize("layer", [10**9, 10**30, 10**300])
def test_exact_tokens_too_long_to_be_written_are_refused_in_one_line(layer):
    run = hm.simulate(SQUARE, HALF, layers=3)
    with refuses(r"more than 100,000 digits\. Ask for layers up to 209,590"):
        run.at(layer, exact=True)
    assert run.at(layer)[4].tolist() == [1, 0]


def test_exact_tokens_that_stand_still_can_be_had_at_any_layer():
    run = hm.simulate(SQUARE[:4], HALF, layers=3, arithmetic="exact")
    assert run.at(10**30, exact=True).tolist() == run.at(0, exact=True).tolist()


def test_tiny_tokens_beside_large_ones_are_still_proved_right():
    # Squares of 1e-160 underflow; a bound built on them would call an unproved choice proved.
    rng = np.random.default_rng(2)
    for _ in range(20):
        cloud = np.concatenate([rng.standard_normal((6, 2)), 1e-160 * rng.standard_normal((6, 2))])
        exact = hm.simulate(cloud, HALF, layers=5, arithmetic="exact")
        run = hm.simulate(cloud, HALF, layers=5)
        assert all(run.attended(k).tolist() == exact.attended(k).tolist() for k in range(6))


@pytest.mark.parametrize("scale", ["1", "1/1099511627776", "7/3"])
def test_margins_depend_neither_on_the_scale_of_the_metric_nor_on_who_decides(scale):
    nearly = -Fraction(1, 7) + Fraction(1, 10**20)
    cloud = [["1/3", "1/7"], ["1/3", str(nearly)], ["1/9", 0], ["-1/3", 0]]
    metric = [[Fraction(scale), 0], [0, Fraction(scale)]]
    plain = hm.simulate(cloud, HALF, layers=2, arithmetic="exact").details.decisions.margins
    # The norm of the identity counts as 1, that of a matrix is Frobenius'.
    for arithmetic in ("certified", "exact"):
        run = hm.simulate(cloud, hm.Dynamics("1/2", metric), layers=2, arithmetic=arithmetic)
        assert run.details.decisions.margins[:2] * np.sqrt(2) == pytest.approx(plain[:2], rel=1e-6)


@pytest.mark.parametrize("as_batch", [False, True])
def test_rational_tokens_below_the_smallest_normal_float_come_back_rounded(as_batch):
    cloud = [["1e-310"], ["2e-310"]]
    run = hm.simulate([cloud] if as_batch else cloud, hm.Dynamics(1), layers=1)
    (here,), (ends,) = (
        (run.at(1), run.at("limit")) if as_batch else ([run.at(1)], [run.at("limit")])
    )
    assert here.ravel() == pytest.approx([1.5e-310, 2e-310], abs=run.error)
    assert ends.ravel() == pytest.approx([2e-310, 2e-310], abs=run.error)
    assert run.error < 1e-318


def test_sums_of_tokens_at_the_end_of_the_float_range_do_not_overflow():
    cloud = np.array([[-2, 2], [1, -3], [-1, 3], [0, -3.0]])
    unit = hm.simulate(cloud, hm.Dynamics("1/50"), layers=2)
    run = hm.simulate(cloud * 2.0**1022, hm.Dynamics("1/50"), layers=2)
    assert run.tokens * 2.0**-1022 == pytest.approx(unit.tokens, abs=1e-13)


CLOUD = np.random.default_rng(0).standard_normal((7, 2))
CLOUDS = np.random.default_rng(1).standard_normal((5, 6, 2))


@pytest.mark.parametrize("record", [hm.Every(1), hm.Every(3), hm.LastOnly()])
def test_a_run_is_the_sequence_of_its_recorded_layers(record):
    run = hm.simulate(CLOUD, HALF, layers=7, record=record)
    assert run.recorded == {1: (0, 1, 2, 3, 4, 5, 6, 7), 3: (0, 3, 6, 7)}.get(
        getattr(record, "m", 0), (7,)
    )
    assert len(run) == len(run.recorded) == len(list(run))
    for row, (layer, tokens) in enumerate(zip(run.recorded, run, strict=True)):
        assert np.array_equal(tokens, run.at(layer))
        assert np.array_equal(run[row - len(run)], tokens)
    assert np.asarray(run, dtype=np.float32).dtype == np.float32
    np.asarray(run)[:] = 0
    assert np.array_equal(np.asarray(run), run.tokens)
    for index in (8, -9, 2**70):
        with pytest.raises(IndexError):
            run[index]
    with pytest.raises(ValueError, match="copy"):
        np.array(run, copy=False)


@pytest.mark.parametrize("arithmetic", ["certified", "exact", "float"])
@pytest.mark.parametrize(
    "tokens",
    [
        CLOUDS,
        [CLOUDS[0], CLOUDS[1, :3]],
        hm.Ragged(CLOUDS.reshape(-1, 2), offsets=[0, 4, 30], multiplicities=np.arange(1, 31)),
        [[[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]], [["1/3", "2/7"]]],
    ],
    ids=["stack", "list", "ragged", "rational"],
)
def test_batches_are_sequences_that_can_be_pickled(arithmetic, tokens):
    runs = hm.simulate(tokens, HALF, layers=4, arithmetic=arithmetic)
    assert runs[0] is runs[0] is runs[-len(runs)] is runs[:1][0]
    back = pickle.loads(pickle.dumps(runs))
    assert isinstance(back, hm.results.Trajectories)
    assert [run.leaders.tolist() for run in back] == [run.leaders.tolist() for run in runs]
    assert (back.settled_at, back.error == runs.error or np.isnan(runs.error)) == (
        runs.settled_at,
        True,
    )
    mine, its = back.at(4), runs.at(4)
    assert all(np.array_equal(mine[cloud], its[cloud]) for cloud in range(len(runs)))


def test_a_table_is_the_same_in_pandas_and_arrow():
    batch = [CLOUDS[2], CLOUDS[2][:3]]
    limits = hm.limits(batch, HALF), hm.limit(CLOUDS[2], HALF), hm.limit([[1.0]], HALF)
    for result in (hm.simulate(batch, HALF, layers=2), *limits):
        table = result.to_arrow()
        rows: Any = result.to_pandas()
        assert table.column_names == list(rows.columns)
        assert table.to_pylist() == [
            {
                name: None if name == "leader_since" and rows[name].isna()[row] else rows[name][row]
                for name in rows
            }
            for row in range(len(rows))
        ]
    clouds = hm.simulate(batch, HALF, layers=2).to_pandas()
    assert (
        clouds[clouds.cloud == 1]
        .drop(columns="cloud")
        .reset_index(drop=True)
        .equals(hm.simulate(batch[1], HALF, layers=2).to_pandas())
    )


def test_runs_become_tables():
    run = hm.simulate(CLOUDS[2], HALF, layers=3)
    table = run.to_pandas()
    assert list(table.columns) == ["layer", "token", "z0", "z1", "leader", "attends"]
    assert len(table) == 4 * 6
    last = table.query("layer == 3").set_index("token")
    assert last.loc[last.leader].index.tolist() == run.leaders.tolist()
    assert last.attends.tolist() == run.attended(3).tolist()
    assert np.array_equal(last[["z0", "z1"]].to_numpy(), run.at(3))


def test_what_is_advised_where_memory_runs_out_fits(monkeypatch):
    monkeypatch.setattr(stops, "MEMORY", 1000)
    for layers in range(12, 60):
        with refuses() as refused:
            stops.check_memory(range(layers), 5, 2)
        every = int(re.findall(r"Every\((\d+)\)", str(refused.value))[0])
        stops.check_memory(range(0, layers, every), 5, 2)


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
