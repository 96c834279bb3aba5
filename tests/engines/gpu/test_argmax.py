"""The search on a GPU against `search_dense`: on a GPU where there is one, else its kernels
interpreted on the CPU."""

# pyright: reportMissingImports=false, reportIndexIssue=false
# ruff: noqa: E402
from collections.abc import Iterator

import numpy as np
import pytest
from effort import on_gpu
from hypothesis import example, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="the GPU engine needs torch (extra `gpu`)")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
pytest.importorskip("triton", reason="the GPU engine needs triton (extra `gpu`)")

from hardmax._float.argmax import search_dense
from hardmax._float.bounds import UNDERFLOW, SlackFactors
from hardmax._float.solver import Undecided
from hardmax._gpu import argmax, argmax_kernels
from hardmax._gpu.argmax import Search, find_furthest

pytestmark = pytest.mark.check


def there(table):
    return torch.tensor(np.asarray(table, dtype=float), device=DEVICE)


def gauss(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def assert_same(directions, points, share):
    """Rows that lead by this share of |z| R, z being the asker, have the winners of `search_dense`;
    one that does not leaves all undecided."""
    asking = np.arange(len(directions)) % len(points)
    norms = np.linalg.norm(points, axis=1)
    slack = share * norms[asking] * norms.max() + UNDERFLOW
    truth = search_dense(directions, points, slack)
    on_device, search = there(points), Search(SlackFactors(share, 0.0))

    def find(rows):
        who = torch.as_tensor(asking[rows], device=DEVICE)
        moved = there(directions[rows])
        return find_furthest(on_device, search, asking=who, directions=moved)

    if len(truth.contested):
        with pytest.raises(Undecided):
            find(np.arange(len(directions)))
    clear = np.setdiff1d(np.arange(len(directions)), truth.contested)
    if len(clear):
        found = find(clear)
        assert found.winners.tolist() == truth.winners[clear].tolist()
        # A proved gap is at most the lead, as far as either side may have rounded scores.
        nobody = np.full((len(clear), 1), -np.inf)  # over whom one that is alone leads
        scores = np.hstack([nobody, directions[clear] @ points.T])
        second, first = np.sort(scores, axis=1)[:, -2:].T
        gaps = found.gaps.cpu().numpy()
        longest = np.linalg.norm(directions, axis=1).max()
        rounding = 1e-13 * longest * norms.max()
        assert (slack[clear] * (1 - 1e-9) <= gaps).all()
        assert (gaps <= first - second + rounding).all()
        assert found.largest == pytest.approx(norms.max(), rel=1e-12, abs=1e-140)


seeds, shares = st.integers(0, 2**32), st.sampled_from([0.0, 0.05])


@settings(max_examples=on_gpu(200))
@given(seeds, st.integers(1, 5), st.integers(1, 150), st.integers(1, 4), shares)
# A contested row leads those outside its slack by less than the clear rows.
@example(149, 4, 146, 4, 0.05)
def test_ties_of_whole_numbers_are_those_of_the_reference(seed, d, n, rows, share):
    rng = np.random.default_rng(seed)
    points = rng.integers(-3, 4, (n, d))
    directions = rng.integers(-2, 3, (rows, d))
    assert_same(directions.astype(float), points.astype(float), share)


SHAPES = [(1, 1), (1, 3), (2, 1), (127, 2), (128, 16), (129, 17), (700, 40), (150, 150)]
SCALES = [(1, 1, 1), (1, 1e-4, 1e-8), (1e-30, 1, 1e30), (1e-90, 1e-92, 1e-91)]


def hard_cases() -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """Directions, points, and the share of |y| R by which a winner must lead."""
    for n, d in SHAPES:
        points = gauss(n + d, n, d)
        yield points[:: max(1, n // 20)], points, 1e-13
    for scales in np.array(SCALES):
        for shift in (0, 1e3):
            points = (gauss(0, 140, 3) + shift) * scales
            yield points[:9] / scales**2 * scales.min(), points, 1e-14
    points = np.repeat(gauss(1, 70, 4), [3] * 30 + [1] * 40, axis=0)
    some = points[::9]
    yield np.concatenate([some, np.zeros((2, 4)), some]), points, 1e-13
    # A lead far below half precision.
    ulps = np.random.default_rng(2).integers(0, 1000, (400, 3))
    points = 1 + ulps * 2.0**-40
    points[317, 0] = 1 + 1001 * 2.0**-40
    yield np.array([[1.0, 0, 0]]), points, 0.0
    # Many tiles near the best: scored in full.
    angles = np.linspace(0, 2 * np.pi, 2600, endpoint=False)
    points = np.stack([np.cos(angles), np.sin(angles), np.ones(2600)], axis=1)
    hair = 1e-9
    axes = np.array([[0, 0, 1.0], [hair, 1e-12, 1], [hair, 1e-12, -1], [1, 2, 0]])
    yield axes, points, 1e-16
    # Whole numbers of eleven bits, which fp16 has: what is lost is lost in sums of fp32.
    for seed in range(6):
        rng = np.random.default_rng(seed)
        direction, middle = rng.integers(1025, 2048, 32), rng.integers(1025, 2040, 32)
        ways = rng.integers(-6, 7, (20_000, 32))
        points = middle + ways[np.abs(ways @ direction) < 30][:40]
        both = np.concatenate([points, -points]).astype(float)
        yield np.stack([direction, direction + 2.0**-20]), both, 0.0
    # What the two coordinates of a direction lose in fp16 adds up to 0, but not along the points.
    hair = 2.0**-13
    points = np.array([[0.125 + hair, -0.5], [-0.625, 0.5]])
    directions = np.array([[1 - hair, 0.75 + hair]])
    yield directions, np.concatenate([points, -points]), 0.0
    # Directions and points of every size: a filter trusted too far would drop winners.
    sizes = 2.0 ** np.random.default_rng(4).integers(-30, 1, (2, 128, 24))
    directions, points = gauss(5, 128, 24), gauss(6, 128, 24)
    yield directions * sizes[0], points * sizes[1], 0.0


@pytest.mark.parametrize(("directions", "points", "share"), list(hard_cases()))
def test_hard_clouds_have_the_winners_of_the_reference(directions, points, share):
    assert_same(directions, points, share)


def test_rows_in_several_chunks(monkeypatch):
    monkeypatch.setattr(argmax, "_MAXIMA", 1)
    monkeypatch.setattr(argmax, "_SCORES", 1)
    points = gauss(3, 140, 2)
    assert_same(points.round(1), points.round(1), 1e-12)
    assert_same(points, points, 1e-13)


@pytest.mark.parametrize("width", [16, 64, 128, 256])
def test_accumulation_loses_no_more_than_assumed(width):
    # A large term, and small ones that an adder with few bits would drop; scores of a tile of one
    # point, repeated.
    rng = np.random.default_rng(width)
    directions = rng.uniform(0.5, 1, (128, width))
    directions *= 2.0 ** -rng.integers(0, 14, (128, 1))
    directions[:, rng.integers(0, width)] = 1
    signs = np.where(rng.random(width) < 0.3, -1, 1)
    point = rng.uniform(0.5, 1, width) * signs
    y, x = there(directions).half(), there(np.tile(point, (128, 1))).half()
    maxima = torch.empty((1, 128), device=DEVICE)
    best = there(np.full(128, -np.inf))
    nobody = torch.full((128,), -1, device=DEVICE)
    sizes = {"width": width, "depth": min(width, 128), "num_warps": 4}
    everybody = {"span": 1, "descending": False, "causal": False, "enable_fp_fusion": True}
    kernel = argmax_kernels.tile_maxima[(1, 1)]
    kernel(y, x, nobody, best, best, maxima, 128, 128, 1, **sizes, **everybody)
    exact = y.double() @ x[0].double()
    sums = y.double().abs() @ x[0].double().abs()
    bound = (width + 16) * 2.0**-23 * sums
    assert ((maxima[0] - exact).abs() <= bound).all()
    assert torch.equal(maxima[0].double(), best)


@pytest.mark.parametrize(("n", "d"), [(60, 2), (300, 3), (300, 24), (140, 140)])
def test_in_general_position_the_filter_leaves_nothing_to_be_scored_in_full(n, d):
    points = gauss(n + d, n, d)
    # Everybody leads, and by how much is clear.
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    leads = np.sort(points @ points.T, axis=1)
    assert np.min(leads[:, -1] - leads[:, -2]) > 1e-7
    search = Search(SlackFactors(1e-13, 0.0))
    on_device = there(points)
    numbers = argmax._numbers_there(on_device, search)
    found, state = argmax._filter(on_device, None, None, search, numbers)
    assert found.winners.tolist() == list(range(n))
    assert float(found.gaps.min()) > 1e-13
    assert state.tolist() == [pytest.approx(1), 0]


@pytest.mark.parametrize("d", [1, 3, 16])
@pytest.mark.parametrize("size", [1.0, 2.0**-60])
def test_the_frame_is_the_middle_of_the_cloud_and_its_reach_at_any_scale(d, size):
    points = there(gauss(d, 40, d) * size)
    low, high = torch.aminmax(points, dim=0)
    longest = torch.linalg.vector_norm(points, dim=1).amax()
    begin = argmax_kernels.HEADER.value
    state = there(np.full(begin + 16, np.nan))
    argmax_kernels.frame_points[(1,)](low, high, longest, state, d=d, width=16)
    centre = state[begin:]
    assert centre[:d].tolist() == pytest.approx(((low + high) / 2).tolist(), rel=1e-12)
    assert not centre[d:].any()
    reach = float((high - low).max() / 2)
    assert float(state[argmax_kernels.REACH.value]) == pytest.approx(reach, rel=1e-12)
