"""The GPU contest against `score_all`: on a GPU where there is one, else its kernels interpreted on the CPU."""

# pyright: reportMissingImports=false, reportIndexIssue=false
# ruff: noqa: E402
import numpy as np
import pytest
from effort import some
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="the GPU engine needs torch (extra `gpu`)")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
pytest.importorskip("triton", reason="the GPU engine needs triton (extra `gpu`)")

import hardmax as hm
from hardmax.engines.floats.contest import Contest, score_all
from hardmax.engines.gpu import contest as gpu_contest
from hardmax.engines.gpu import device as gpu
from hardmax.engines.gpu import tensors as gpu_tensors
from hardmax.engines.gpu.filter import RoundedPoints
from hardmax.engines.gpu.kernels import contest as kernels
from hardmax.engines.judging.judges import Proof
from hardmax.engines.judging.walking import FloatWalker, Undecided
from hardmax.errors import MissingExtra
from hardmax.tokens.batches import Cloud
from hardmax.tokens.points import merge

HALF = hm.Dynamics("1/2")
FUSED = {"enable_fp_fusion": True}  # as in `gpu_filter`


def hold(directions, points, slack) -> Contest:
    return gpu_contest.hold_gpu(*(torch.from_numpy(part).to(DEVICE) for part in (directions, points, slack))).to_numpy()


def assert_same(directions, points, slack, *, first_best=True):
    ours, truth = hold(directions, points, slack), score_all(directions, points, slack)
    assert ours.contested.tolist() == truth.contested.tolist()
    assert [list(several) for several in ours.contenders] == [list(several) for several in truth.contenders]
    # Where scores are rounded, the first best of tied points is anybody's guess.
    rows = np.arange(len(directions)) if first_best else np.setdiff1d(np.arange(len(directions)), truth.contested)
    assert ours.winners[rows].tolist() == truth.winners[rows].tolist()
    # Gaps are differences of scores that either side may have rounded.
    size = np.linalg.norm(directions, axis=1).max() * np.linalg.norm(points, axis=1).max()
    assert 0 < ours.gap <= truth.gap + 1e-13 * size


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 150), st.integers(1, 9))
def test_ties_of_whole_numbers_are_those_of_the_reference(seed, d, n, rows):
    rng = np.random.default_rng(seed)
    points = rng.integers(-3, 4, (n, d)).astype(float)
    directions = rng.integers(-2, 3, (rows, d)).astype(float)
    assert_same(directions, points, np.zeros(rows))
    assert_same(directions, points, np.full(rows, 1.5))


@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 3), (2, 1), (127, 2), (128, 16), (129, 17), (700, 40), (150, 150)])
def test_gaussian_clouds(n, d):
    points = np.random.default_rng(n + d).standard_normal((n, d))
    directions = points[:: max(1, n // 40)]
    assert_same(directions, points, 1e-12 * np.linalg.norm(directions, axis=1))


@pytest.mark.parametrize("scales", [(1, 1, 1), (1, 1e-4, 1e-8), (1e-30, 1, 1e30), (1e-90, 1e-92, 1e-91)])
@pytest.mark.parametrize("shift", some([1, 0, 1e3]))
def test_anisotropic_and_shifted_clouds(scales, shift):
    points = (np.random.default_rng(0).standard_normal((140, 3)) + shift) * np.array(scales, dtype=float)
    directions = points[:25] / np.array(scales) ** 2 * min(scales)
    size = np.linalg.norm(directions, axis=1) * np.linalg.norm(points, axis=1).max()
    assert_same(directions, points, 1e-14 * size, first_best=False)


def test_repeated_directions_zero_directions_and_repeated_points():
    rng = np.random.default_rng(1)
    points = np.repeat(rng.standard_normal((70, 4)), 3, axis=0)
    directions = np.concatenate([points[:6], np.zeros((2, 4)), points[:6]])
    assert_same(directions, points, np.full(len(directions), 1e-12), first_best=False)


def test_a_lead_far_below_half_precision_is_seen():
    points = np.ones((400, 3)) + np.random.default_rng(2).integers(0, 1000, (400, 3)) * 2.0**-40
    directions = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 1], [-1, 0, 2]])
    points[317, 0] = 1 + 1001 * 2.0**-40
    assert_same(directions, points, np.zeros(4))
    assert hold(directions, points, np.zeros(4)).winners[0] == 317


def test_rows_with_many_tiles_near_the_best_are_scored_in_full():
    angles = np.linspace(0, 2 * np.pi, 2600, endpoint=False)
    points = np.stack([np.cos(angles), np.sin(angles), np.ones(2600)], axis=1)
    directions = np.array([[0, 0, 1.0], [1e-9, 0, 1], [1, 2, 0]])
    assert_same(directions, points, np.full(3, 1e-14))


def test_rows_in_several_chunks(monkeypatch):
    monkeypatch.setattr(gpu_contest, "_MAXIMA", 1)
    monkeypatch.setattr(gpu_contest, "_SCORES", 1)
    points = np.random.default_rng(3).standard_normal((150, 2)).round(1)
    assert_same(points, points, np.full(150, 1e-12), first_best=False)


def test_the_bound_covers_the_filter():
    # Scores of the filter, against float64, for directions and points of every size.
    rng = np.random.default_rng(4)
    points = rng.standard_normal((128, 24)) * 2.0 ** rng.integers(-30, 1, (128, 24))
    directions = rng.standard_normal((128, 24)) * 2.0 ** rng.integers(-30, 1, (128, 24))
    on_device = torch.from_numpy(points).to(DEVICE)
    cloud = RoundedPoints.of(on_device)
    rough = cloud.rough.cpu().numpy().astype(float)
    low, high = points.min(axis=0), points.max(axis=0)
    centred = points - (low + (high - low) / 2)
    scale = 2.0 ** -np.frexp(np.abs(centred).max())[1]
    lost = np.linalg.norm(rough[:, :24] - centred * scale, axis=1)
    assert lost.max() <= 2.0**-11 * np.linalg.norm(centred * scale, axis=1).max() + 2.0**-25 * np.sqrt(24)
    assert float(cloud.frame[3]) ** 0.5 == pytest.approx(lost.max(), rel=1e-9)
    assert not rough[:, 24:].any()
    assert_same(directions, points, np.zeros(128), first_best=False)


@pytest.mark.parametrize("width", [16, 64, 128, 256])
def test_accumulation_loses_no_more_than_assumed(width):
    # A large term, and small ones that an adder with few bits would drop; scores of a tile of one point, repeated.
    rng = np.random.default_rng(width)
    directions = rng.uniform(0.5, 1, (128, width)) * 2.0 ** -rng.integers(0, 14, (128, 1))
    directions[:, rng.integers(0, width)] = 1
    point = rng.uniform(0.5, 1, width) * np.where(rng.random(width) < 0.3, -1, 1)
    y = torch.from_numpy(directions).to(DEVICE).half()
    x = torch.from_numpy(np.tile(point, (128, 1))).to(DEVICE).half()
    maxima, best = torch.empty((1, 128), device=DEVICE), torch.full((128,), -torch.inf, device=DEVICE)
    kernels.tile_maxima[(1, 1)](
        y, x, maxima, best, 128, 1, 1, width=width, depth=min(width, 128), block=128, tile=128, num_warps=4, **FUSED
    )
    exact = (y.double() @ x[0].double()).cpu().numpy()
    bound = (width + 16) * 2.0**-23 * (y.double().abs() @ x[0].double().abs()).cpu().numpy()
    assert (np.abs(maxima[0].cpu().numpy() - exact) <= bound).all()
    assert torch.equal(maxima[0], best)


@pytest.mark.parametrize(
    ("n", "d", "metric"), [(1, 1, None), (90, 2, None), (60, 3, [[2, 1, 0], [1, 2, 0], [0, 0, 1]])]
)
def test_walks_settle_where_proved_floats_do(n, d, metric):
    tokens = np.random.default_rng(n).standard_normal((n, d))
    dynamics = hm.Dynamics("1/2", metric=metric)
    *_, last = gpu.walk_layers(torch.from_numpy(tokens).to(DEVICE), dynamics)
    *_, truth = FloatWalker("certified", Proof()).walk(merge(Cloud(tokens)), dynamics)
    assert (last.settled, last.layer) == (True, truth.layer)
    assert last.chosen.tolist() == truth.choices.indices.tolist()
    assert ((last.since >= 0).cpu().numpy() == truth.is_leader).all()
    assert np.abs(last.positions.cpu().numpy() - truth.positions).max() <= 1e-14
    assert last.margin > 0
    assert last.error < 1e-12


def test_tensors_may_lie_in_memory_as_they_like():
    tokens = torch.from_numpy(np.random.default_rng(5).standard_normal((40, 3))).to(DEVICE)
    turned = tokens.T.contiguous().T
    (*_, straight), (*_, last) = (gpu.walk_layers(each, HALF) for each in (tokens, turned))
    assert (last.layer, last.chosen.tolist()) == (straight.layer, straight.chosen.tolist())
    assert torch.equal(last.positions, straight.positions)
    slack = 1e-12 + tokens.new_zeros(1)
    contest = gpu_contest.hold_gpu(turned, turned, slack.expand(40)).to_numpy()
    truth = score_all(*(part.cpu().numpy() for part in (tokens, tokens, slack.repeat(40))))
    assert contest.winners.tolist() == truth.winners.tolist()


@pytest.mark.parametrize("tokens", [[[1, 1], [1, -1], [0.5, 0]], [[0, 0]], [[0, 0], [1, 2]], [[1e-200, 1], [0, 1e200]]])
def test_what_floats_cannot_prove_is_undecided(tokens):
    with pytest.raises(Undecided):
        list(gpu.walk_layers(torch.tensor(tokens, dtype=torch.float64, device=DEVICE), HALF))


def test_wrong_tensors_are_turned_away_at_the_door():
    points = torch.zeros((3, 2), dtype=torch.float64, device=DEVICE)
    with pytest.raises(hm.InputError, match="float64"):
        gpu_contest.hold_gpu(points.float(), points, points[:, 0])
    with pytest.raises(hm.InputError, match="shape"):
        gpu_contest.hold_gpu(points, points[:0], points[:, 0])


def test_without_the_extra_its_name_is_said(monkeypatch):
    monkeypatch.setattr(gpu_tensors, "INSTALLED", False)
    points = torch.zeros((3, 2), dtype=torch.float64, device=DEVICE)
    with pytest.raises(MissingExtra, match=r"hardmax\[gpu\]"):
        gpu_contest.hold_gpu(points, points, points[:, 0])
