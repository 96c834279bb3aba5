"""What a run has to say."""

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from refusals import listed_refusals, refuses

import hardmax as hm
from hardmax._runs import run as run_module
from hardmax._runs import walk

HALF = hm.Dynamics("1/2")
SQUARE = [["1", "1"], ["1", "-1"], ["-1", "-1"], ["-1", "1"], ["1/2", "0"]]
CLOUDS = np.random.default_rng(1).standard_normal((5, 6, 2))


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_layers_do_not_depend_on_the_phases_that_are_kept(arithmetic, monkeypatch):
    cloud, slow = hm.clouds.gaussian(40, 2, seed=3), hm.Dynamics("1/10")
    whole = hm.simulate(cloud, slow, 12, arithmetic=arithmetic)
    monkeypatch.setattr(walk, "_KEPT", 1)
    few = hm.simulate(cloud, slow, 12, arithmetic=arithmetic)
    assert len(few.phases) == 2 < len(whole.phases)
    assert few.decided_at == whole.decided_at
    for layer in range(13):
        assert np.array_equal(few.at(layer), whole.at(layer))
        assert few.attended(layer).tolist() == whole.attended(layer).tolist()


def test_a_leader_that_emerges_is_dated():
    run = hm.simulate(hm.clouds.emerging_leader(), HALF, 10)
    assert max(run.leader_layers) > 0
    for leader, since in zip(run.leaders, run.leader_layers, strict=True):
        before = max(int(since) - 1, 0)
        assert run.attended(int(since))[leader].tolist() == [leader]
        assert since == 0 or run.attended(before)[leader].tolist() != [leader]


def test_layers_may_be_of_any_size():
    cloud = [[-2, -2, 2], [2, 0, -2], [-3, -1, 1], [-1, 2, -3], [-1, 0, 3]]
    skew = hm.Dynamics("1e-25", [[-1, 2, -2], [-1, 1, 0], [2, 1, 2]])
    with pytest.warns(UserWarning, match="the theorem does not apply"):
        lim = hm.limit(cloud, skew, arithmetic="exact")
    run, (*_, emerged) = lim.run, lim.run.leader_layers.tolist()
    assert 2**63 < emerged < run.settled_at
    leader = run.leaders[-1]
    assert run.attended(emerged)[leader].tolist() == [leader]
    assert run.attended(emerged - 1)[leader].tolist() != [leader]
    assert hm.verify(lim)
    assert max(lim._columns()["leader_since"].tolist()[i] for i in run.leaders) == emerged
    assert run
    assert run[0].tolist() == cloud
    with refuses("layers of 5 tokens"):
        np.asarray(run)


def test_nobody_is_dated_where_nobody_begins_to_lead():
    cloud = [["1", "1", "0"], ["1", "-1", "0"], ["1/2", "0", "3/10"], ["11/10", "0", "-1"]]
    run = hm.limit(cloud, hm.Dynamics("1e-300"), arithmetic="exact").run
    assert run.leader_layers.tolist() == [0, 0, 0]
    assert run.settled_at > 10**299


def test_the_run_says_why_it_stopped():
    emerging = hm.clouds.emerging_leader()
    settled = hm.simulate(emerging, HALF)
    assert (settled.layers, settled.settled_at) == (1, 1)
    assert "settled at layer 1" in settled.stop_reason
    assert "done; not settled yet" in hm.simulate(emerging, HALF, 0).stop_reason
    assert "done; settled at layer 1" in hm.simulate(emerging, HALF, 50).stop_reason
    # A quarter turn as the metric: every corner chases the next one, for ever.
    corners = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    chasing = hm.Dynamics(1, [[0, -1], [1, 0]])
    run = hm.simulate(corners, chasing, max_layers=25)
    assert (run.layers, run.settled_at) == (25, None)
    assert run.stop_reason == "gave up at layer 25: not settled yet"
    with refuses("beyond layer 25"):
        run.at(27)


@pytest.mark.parametrize("scale", ["1", "1/1099511627776", "7/3"])
def test_margins_depend_neither_on_the_scale_of_the_metric_nor_on_who_decides(scale):
    nearly = -Fraction(1, 7) + Fraction(1, 10**20)
    cloud = [["1/3", "1/7"], ["1/3", str(nearly)], ["1/9", 0], ["-1/3", 0]]
    metric = [[Fraction(scale), 0], [0, Fraction(scale)]]
    plain = hm.simulate(cloud, HALF, 2, arithmetic="exact").margins
    # The norm of the identity counts as 1, that of a matrix is Frobenius'.
    expected = plain[:2] / np.sqrt(2)
    for arithmetic in ("certified", "exact"):
        run = hm.simulate(cloud, hm.Dynamics("1/2", metric), 2, arithmetic=arithmetic)
        assert run.margins[:2] == pytest.approx(expected, rel=1e-6)
    alone = hm.simulate([[2.0, 1.0]], HALF, 5)
    assert alone.margins.min() == np.inf  # nobody to lead over


def test_only_proved_choices_are_called_certified():
    cloud = hm.clouds.gaussian(20, 2)
    names = "certified", "exact", "float"
    certified, exact, floats = (hm.simulate(cloud, HALF, 3, arithmetic=name) for name in names)
    assert certified.certified
    assert exact.certified
    assert not floats.certified
    assert np.isnan(floats.error)
    with refuses("'float'"):
        floats.at(1, exact=True)
    assert np.allclose(floats.at(3), certified.at(3))
    assert floats.attended(2).tolist() == certified.attended(2).tolist()


def test_floats_alone_go_wrong_where_proofs_do_not():
    # `==` on float scores misses ties that exact arithmetic sees.
    tied = hm.clouds.square(inside=[(0.5, 0.0), (-0.5, 0.0)])
    turned = hm.clouds.rotated(tied)
    goal = np.array([[0.6, 0.8], [-0.6, -0.8]])
    floats = hm.simulate(turned, HALF, 200, arithmetic="float").at(200)[4:]
    assert np.abs(floats - goal).max() > 0.5
    proved = hm.simulate(turned, HALF, 200).at(200)[4:]
    assert np.allclose(proved, goal, atol=1e-15)
    # In floats a follower reaches its leader, and breaks the tie of another token.
    cloud = [*SQUARE, ["3/10", "1/10"]]
    merged = hm.simulate(cloud, hm.Dynamics(1), 1000, arithmetic="float").at(1000)
    assert np.allclose(merged[4], (1, 1))
    proved = hm.simulate(cloud, hm.Dynamics(1), 1000).at(1000)
    assert np.allclose(proved[4], (1, 0))


@pytest.mark.parametrize("size", [1e-300, 1e200, 1e300])
def test_clouds_at_the_ends_of_the_float_range_are_scaled(size):
    cloud = size * hm.clouds.gaussian(40, 2)
    run = hm.simulate(cloud, HALF, 3)
    exact = hm.simulate(cloud, HALF, 3, arithmetic="exact")
    assert run.arithmetic == "certified"
    for layer in range(4):
        off = np.abs(run.at(layer) / size - exact.at(layer) / size).max()
        assert run.attended(layer).tolist() == exact.attended(layer).tolist()
        assert off <= run.error / size <= 1e-14


def test_numbers_next_to_zero_and_to_the_largest_float_are_right():
    # Squares of 1e-160 underflow; a bound built on them would call an unproved choice proved.
    rng = np.random.default_rng(2)
    for _ in range(10):
        ordinary, small = rng.standard_normal((2, 6, 2))
        cloud = np.concatenate([ordinary, 1e-160 * small])
        run = hm.simulate(cloud, HALF, 5)
        exact = hm.simulate(cloud, HALF, 5, arithmetic="exact")
        for layer in range(6):
            assert run.attended(layer).tolist() == exact.attended(layer).tolist()
    below = hm.simulate([["1e-310"], ["2e-310"]], hm.Dynamics(1), 1)
    means = [1.5e-310, 2e-310]
    assert below.at(1).ravel() == pytest.approx(means, abs=below.error)
    assert below.error < 1e-318
    cloud = np.array([[-2, 2], [1, -3], [-1, 3], [0, -3.0]])
    slow = hm.Dynamics("1/50")
    unit = np.asarray(hm.simulate(cloud, slow, 2))
    large = np.asarray(hm.simulate(cloud * 2.0**1022, slow, 2))
    assert large * 2.0**-1022 == pytest.approx(unit, abs=1e-13)


def test_exact_tokens_follow_the_definition():
    run = hm.simulate(SQUARE, hm.Dynamics("1/3"), 4)
    tokens = [[Fraction(x) for x in row] for row in SQUARE]
    for layer in (0, 1, 4, 30):
        *_, (truth, _) = oracle.walk(tokens, Fraction(1, 3), None, layer)
        assert run.at(layer, exact=True).tolist() == truth


def test_exact_tokens_too_long_to_be_written_are_refused_unless_nobody_moves():
    run = hm.simulate(SQUARE, HALF, 3)
    for layer in (10**9, 10**300):
        with refuses(r"more than 100,000 digits\. Ask for layers up to 209,590"):
            run.at(layer, exact=True)
        assert run.at(layer)[4].tolist() == [1, 0]
    still = hm.simulate(SQUARE[:4], HALF, 3, arithmetic="exact")
    later = still.at(10**30, exact=True)
    assert later.tolist() == still.at(0, exact=True).tolist()


def test_a_run_is_the_sequence_of_its_layers(monkeypatch):
    run = hm.simulate(CLOUDS[0], HALF, 7)
    assert len(run) == len(list(run)) == 8
    for layer, tokens in enumerate(run):
        assert np.array_equal(tokens, run.at(layer))
        assert np.array_equal(run[layer - 8], tokens)
    assert np.asarray(run, dtype=np.float32).shape == (8, 6, 2)
    for index in (8, -9, 2**70):
        with pytest.raises(IndexError):
            run[index]
    with pytest.raises(ValueError, match="no array to share"):
        np.array(run, copy=False)
    monkeypatch.setattr(run_module, "MEMORY", 700)
    with refuses("8 layers of 6 tokens .* single layers"):
        np.asarray(run)


OFFSETS = {"offsets": [0, 4, 30], "multiplicities": np.arange(1, 31)}
BATCHES = {"stack": CLOUDS, "list": [CLOUDS[0], CLOUDS[1, :3]]}
BATCHES["offsets"] = hm.Clouds(CLOUDS.reshape(-1, 2), **OFFSETS)
BATCHES["rational"] = [SQUARE, [["1/3", "2/7"]]]


@pytest.mark.parametrize("arithmetic", ["certified", "exact", "float"])
@pytest.mark.parametrize("tokens", BATCHES.values(), ids=BATCHES)
def test_batches_are_sequences_of_what_single_clouds_give(arithmetic, tokens):
    runs: Any = hm.simulate(tokens, HALF, 4, arithmetic=arithmetic)
    runs = pickle.loads(pickle.dumps(runs))
    singles = [runs[index] for index in range(len(runs))]
    assert len(runs[1:]) == len(runs) - 1
    assert runs.settled_at == [run.settled_at for run in singles]
    assert runs.certified.tolist() == [run.certified for run in singles]
    assert runs.n.tolist() == [run.n for run in singles]
    for name in ("leaders", "leader_layers", "leader_of"):
        for mine, run in zip(getattr(runs, name), singles, strict=True):
            assert np.array_equal(mine, getattr(run, name)), name
    if arithmetic != "float":
        for mine, run, error in zip(runs.at(4), singles, runs.error, strict=True):
            assert np.abs(mine - run.at(4)).max() <= error + run.error


def test_runs_become_tables():
    cloud = CLOUDS[2]
    run = hm.simulate(cloud, HALF, 3)
    batch = hm.simulate([cloud, cloud[:3]], HALF, 3)
    table = run.to_pandas()
    assert list(table.columns) == ["layer", "token", "z0", "z1", "leader", "attends"]
    last = table.query("layer == 3").set_index("token")
    leading = last.loc[last.leader]
    assert leading.index.tolist() == run.leaders.tolist()
    assert last.attends.tolist() == run.attended(3).tolist()
    assert np.array_equal(last[["z0", "z1"]].to_numpy(), run.at(3))
    rows = batch.to_pandas().query("cloud == 0").drop(columns="cloud")
    assert rows.reset_index(drop=True).equals(table)
    for result in (batch, hm.limits(CLOUDS, HALF), hm.limit([[1.0]], HALF)):
        assert result.to_arrow().column_names == list(result.to_pandas().columns)


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
