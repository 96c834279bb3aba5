"""The search on a GPU against `score_all`: on a GPU where there is one, else its kernels interpreted on the CPU."""

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
from hardmax._float.argmax import score_all
from hardmax._float.bounds import UNDERFLOW, SlackFactors
from hardmax._float.solver import FloatSolver, Undecided
from hardmax._gpu import argmax
from hardmax._gpu import argmax_kernels as kernels
from hardmax._gpu import solver as gpu
from hardmax._gpu.argmax import find_furthest
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge

HALF = hm.Dynamics("1/2")
FUSED = {"enable_fp_fusion": True}  # as in `argmax`


def there(table):
    return torch.from_numpy(table).to(DEVICE)


def assert_same(directions, points, share):
    """Rows that lead by this share of |y| R have the winners of `score_all`; one that does not leaves all undecided."""
    size = np.linalg.norm(directions, axis=1) * np.linalg.norm(points, axis=1).max()
    truth = score_all(directions, points, share * size + UNDERFLOW)
    on_device, asked = there(points), there(directions)
    factors = SlackFactors(share, 0.0)
    if len(truth.contested):
        with pytest.raises(Undecided):
            find_furthest(on_device, factors, askers=asked)
    clear = np.setdiff1d(np.arange(len(directions)), truth.contested)
    if len(clear):
        found = find_furthest(on_device, factors, askers=asked[clear])
        assert found.winners.tolist() == truth.winners[clear].tolist()
        # Gaps are differences of scores that either side may have rounded.
        assert 0 < float(found.gaps.min()) <= truth.gap + 1e-13 * size.max()
        assert found.largest == pytest.approx(np.linalg.norm(points, axis=1).max(), rel=1e-12, abs=1e-140)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(1, 150), st.integers(1, 9))
def test_ties_of_whole_numbers_are_those_of_the_reference(seed, d, n, rows):
    rng = np.random.default_rng(seed)
    points = rng.integers(-3, 4, (n, d)).astype(float)
    directions = rng.integers(-2, 3, (rows, d)).astype(float)
    assert_same(directions, points, 0.0)
    assert_same(directions, points, 0.05)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (1, 3), (2, 1), (127, 2), (128, 16), (129, 17), (700, 40), (150, 150)])
def test_gaussian_clouds(n, d, wide, monkeypatch):
    if wide:  # as where rows do not fit into registers
        monkeypatch.setattr(argmax, "_WIDEST", 0)
    points = np.random.default_rng(n + d).standard_normal((n, d))
    assert_same(points[:: max(1, n // 40)], points, 1e-13)


@pytest.mark.parametrize("scales", [(1, 1, 1), (1, 1e-4, 1e-8), (1e-30, 1, 1e30), (1e-90, 1e-92, 1e-91)])
@pytest.mark.parametrize("shift", some([1, 0, 1e3]))
def test_anisotropic_and_shifted_clouds(scales, shift):
    points = (np.random.default_rng(0).standard_normal((140, 3)) + shift) * np.array(scales, dtype=float)
    assert_same(points[:25] / np.array(scales) ** 2 * min(scales), points, 1e-14)


def test_repeated_directions_zero_directions_and_repeated_points():
    rng = np.random.default_rng(1)
    points = np.repeat(rng.standard_normal((70, 4)), [3] * 30 + [1] * 40, axis=0)
    assert_same(np.concatenate([points[::7], np.zeros((2, 4)), points[::7]]), points, 1e-13)


def test_a_lead_far_below_half_precision_is_seen():
    points = np.ones((400, 3)) + np.random.default_rng(2).integers(0, 1000, (400, 3)) * 2.0**-40
    points[317, 0] = 1 + 1001 * 2.0**-40
    assert_same(np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 1], [-1, 0, 2]]), points, 0.0)
    alone = find_furthest(there(points), SlackFactors(0.0, 0.0), askers=there(np.array([[1.0, 0, 0]])))
    assert alone.winners.tolist() == [317]


def test_rows_with_many_tiles_near_the_best_are_scored_in_full():
    angles = np.linspace(0, 2 * np.pi, 2600, endpoint=False)
    points = np.stack([np.cos(angles), np.sin(angles), np.ones(2600)], axis=1)
    assert_same(np.array([[0, 0, 1.0], [1e-9, 1e-12, 1], [1, 2, 0]]), points, 1e-16)


def test_rows_in_several_chunks(monkeypatch):
    monkeypatch.setattr(argmax, "_MAXIMA", 1)
    monkeypatch.setattr(argmax, "_SCORES", 1)
    points = np.random.default_rng(3).standard_normal((150, 2))
    assert_same(points.round(1), points.round(1), 1e-12)
    assert_same(points, points, 1e-13)


@pytest.mark.parametrize("metric", [None, [[2, 1, 0], [1, 2, 0], [0, 0, 1]]])
def test_points_move_as_the_definition_says(metric):
    tokens, dynamics = np.random.default_rng(7).standard_normal((60, 3)), hm.Dynamics("1/3", metric=metric)
    moved = gpu.move_once(there(tokens), dynamics)
    assert np.abs(moved.cpu().numpy() - hm.step(tokens, dynamics)).max() <= 1e-15
    near = np.concatenate([tokens, tokens[:12] * (1 + 2.0**-40)])  # of these some have to be scored in full
    moved = gpu.move_once(there(near), dynamics)
    assert np.abs(moved.cpu().numpy() - hm.step(near, dynamics)).max() <= 1e-15


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_left_to_the_door(bad):
    tokens = np.random.default_rng(8).standard_normal((40, 3))
    tokens[27, 1] = bad
    with pytest.raises(Undecided):
        gpu.move_once(there(tokens), HALF)


def test_the_bound_covers_the_filter():
    # Directions and points of every size: a filter trusted too far would drop winners.
    rng = np.random.default_rng(4)
    points, directions = (rng.standard_normal((128, 24)) * 2.0 ** rng.integers(-30, 1, (128, 24)) for _ in range(2))
    assert_same(directions, points, 0.0)


@pytest.mark.parametrize("width", [16, 64, 128, 256])
def test_accumulation_loses_no_more_than_assumed(width):
    # A large term, and small ones that an adder with few bits would drop; scores of a tile of one point, repeated.
    rng = np.random.default_rng(width)
    directions = rng.uniform(0.5, 1, (128, width)) * 2.0 ** -rng.integers(0, 14, (128, 1))
    directions[:, rng.integers(0, width)] = 1
    point = rng.uniform(0.5, 1, width) * np.where(rng.random(width) < 0.3, -1, 1)
    y = torch.from_numpy(directions).to(DEVICE).half()
    x = torch.from_numpy(np.tile(point, (128, 1))).to(DEVICE).half()
    maxima, best = (
        torch.empty((1, 128), device=DEVICE),
        torch.full((128,), -torch.inf, dtype=torch.float64, device=DEVICE),
    )
    kernels.tile_maxima[(1, 1)](
        y, x, maxima, best, 128, 1, 1, width=width, depth=min(width, 128), block=128, tile=128, num_warps=4, **FUSED
    )
    exact = (y.double() @ x[0].double()).cpu().numpy()
    bound = (width + 16) * 2.0**-23 * (y.double().abs() @ x[0].double().abs()).cpu().numpy()
    assert (np.abs(maxima[0].cpu().numpy() - exact) <= bound).all()
    assert torch.equal(maxima[0].double(), best)


@pytest.mark.parametrize(
    ("n", "d", "metric"), [(1, 1, None), (90, 2, None), (60, 3, [[2, 1, 0], [1, 2, 0], [0, 0, 1]])]
)
def test_walks_settle_where_proved_floats_do(n, d, metric):
    tokens = np.random.default_rng(n).standard_normal((n, d))
    dynamics = hm.Dynamics("1/2", metric=metric)
    *_, last = gpu.walk_layers(torch.from_numpy(tokens).to(DEVICE), dynamics)
    *_, truth = FloatSolver().walk(merge(Cloud(tokens)), dynamics)
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


@pytest.mark.parametrize("tokens", [[[1, 1], [1, -1], [0.5, 0]], [[0, 0]], [[0, 0], [1, 2]], [[1e-200, 1], [0, 1e200]]])
def test_what_floats_cannot_prove_is_undecided(tokens):
    with pytest.raises(Undecided):
        list(gpu.walk_layers(torch.tensor(tokens, dtype=torch.float64, device=DEVICE), HALF))
