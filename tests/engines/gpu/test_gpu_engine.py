"""The GPU engine walks the phases of proved floats, and fetches them only when asked."""

# pyright: reportMissingImports=false
# ruff: noqa: E402
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the GPU engine needs torch (extra `gpu`)")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
pytest.importorskip("triton", reason="the GPU engine needs triton (extra `gpu`)")

import hardmax as hm
from hardmax._exact.solver import ExactSolver
from hardmax._float.solver import FloatSolver, Undecided
from hardmax._gpu import Gpu
from hardmax._gpu import tensors as gpu_tensors
from hardmax._gpu.solver import GpuSolver
from hardmax._run import Plan, run_points
from hardmax._tokens.batches import Cloud, read_batch
from hardmax._tokens.points import merge
from hardmax._validation import MissingExtra

ENGINE = GpuSolver(Gpu(DEVICE))
SLOW = hm.Dynamics("1/10")


def run(tokens, dynamics, layers) -> hm.Trajectory:
    (cloud,), _ = read_batch(tokens)
    engines = (ENGINE, ExactSolver())
    return hm.Trajectory.of(run_points(merge(cloud), Plan(dynamics, engines, hm.AfterLayers(layers), hm.Every(1))))


@pytest.mark.parametrize("metric", [None, [[2, 1], [1, 2]]])
def test_stretches_are_those_of_proved_floats(metric):
    points = merge(Cloud(np.random.default_rng(0).standard_normal((40, 2))))
    dynamics = hm.Dynamics("1/10", metric)
    ours = list(ENGINE.walk(points, dynamics))
    theirs = list(FloatSolver().walk(points, dynamics))
    assert len(ours) == len(theirs) > 2
    for mine, its in zip(ours, theirs, strict=True):
        assert (mine.layer, mine.until, mine.keep) == (its.layer, its.until, its.keep)
        assert mine.choices.lists() == its.choices.lists()
        assert mine.is_leader.tolist() == its.is_leader.tolist()
        assert np.array_equal(mine.positions, its.positions)
        assert np.array_equal(mine.targets, its.targets)
        assert np.array_equal(mine.floats_at(mine.layer + 1), its.floats_at(its.layer + 1))
        assert mine.error == pytest.approx(its.error, rel=1e-9)
        assert 0 < mine.margin <= its.margin * (1 + 1e-9)


def test_nothing_is_fetched_before_it_is_asked_for():
    phase = next(ENGINE.walk(merge(Cloud(np.array([[3.0], [1.0]]))), SLOW))
    assert not {"positions", "targets", "choices", "is_leader"} & set(vars(phase))
    assert phase.positions.tolist() == [[3.0], [1.0]]
    assert phase.positions is phase.positions


def test_a_run_on_a_device_is_a_run_like_any_other(tmp_path):
    tokens = np.random.default_rng(1).standard_normal((20, 3))
    on_device, at_home = run(tokens, SLOW, 6), hm.simulate(tokens, SLOW, layers=6)
    assert np.array_equal(on_device.tokens, at_home.tokens)
    assert on_device.leaders.tolist() == at_home.leaders.tolist()
    assert on_device.attended(3).tolist() == at_home.attended(3).tolist()
    assert on_device.arithmetic == "certified"
    on_device.save(tmp_path / "run.npz")
    assert np.array_equal(hm.Trajectory.load(tmp_path / "run.npz").tokens, at_home.tokens)


def test_ties_are_left_to_the_next_engine():
    square = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
    with pytest.raises(Undecided):
        list(ENGINE.walk(merge(Cloud(np.array(square, dtype=float))), SLOW))
    assert run(square, SLOW, 3).arithmetic == "exact"


def test_numbers_that_floats_cannot_hold_carry_their_error():
    tokens = [["1/3", "0"], ["1/7", "2/3"]]
    assert run(tokens, SLOW, 1).error > hm.simulate(np.array([[0.3, 0.0], [0.1, 0.7]]), SLOW, layers=1).error


def test_the_engine_says_which_extra_it_misses(monkeypatch):
    monkeypatch.setattr(gpu_tensors, "INSTALLED", False)
    with pytest.raises(MissingExtra, match=r"hardmax\[gpu\]"):
        next(ENGINE.walk(merge(Cloud(np.ones((1, 1)))), SLOW))
