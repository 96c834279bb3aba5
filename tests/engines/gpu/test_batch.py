"""Ragged batches on a GPU against the kernel for the CPU: the same choices, the same bits."""

# pyright: reportMissingImports=false, reportIndexIssue=false
# ruff: noqa: E402
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the GPU engine needs torch (extra `gpu`)")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
triton = pytest.importorskip("triton", reason="the GPU engine needs triton (extra `gpu`)")
import triton.language as tl

import hardmax as hm
from hardmax._float.batch import UNDECIDED, WALKED, BatchOutcome, Then, walk_batch
from hardmax._gpu import batch as gpu_batch
from hardmax._gpu.batch import walk_batch_gpu
from hardmax._gpu.batch_kernels import TABLE, TWINS, _best_two, _rivals, find_twins
from hardmax._kernels import compiling

HALF = hm.Dynamics("1/2")
TILTED = hm.Dynamics("1/3", metric=[[2, 1, 0], [1, 2, 0], [0, 0, "1/10"]])


def assert_same_as_cpu(clouds, dynamics, layers, then=Then.GO_ON) -> BatchOutcome:
    tokens, offsets = np.concatenate(clouds), np.cumsum([0, *map(len, clouds)])
    truth = walk_batch(tokens, offsets, dynamics, layers, then=then)
    ours = walk_batch_gpu(tokens, offsets, dynamics, layers, DEVICE, then)
    assert ours.settled.tolist() == truth.settled.tolist()
    decided = truth.settled != UNDECIDED
    rows = np.repeat(decided, np.diff(offsets))
    assert ours.leader_since[rows].tolist() == truth.leader_since[rows].tolist()
    assert np.array_equal(ours.tokens[rows], truth.tokens[rows])
    assert np.array_equal(ours.errors[decided], truth.errors[decided])
    return ours


@pytest.mark.parametrize(("d", "layers"), [(1, 8), (2, 0), (2, 40), (5, 1)])
def test_clouds_of_all_sizes_are_walked_to_the_same_bits(d, layers):
    rng = np.random.default_rng(d)
    clouds = [
        rng.standard_normal((n, d)) * 10.0 ** rng.integers(-20, 20) for n in (1, 2, 31, 33, 70)
    ]
    assert_same_as_cpu(clouds, HALF, layers)


@pytest.mark.parametrize("then", [Then.STAY, Then.ARRIVE])
def test_metrics_and_what_tokens_do_once_they_have_settled(then):
    rng = np.random.default_rng(0)
    clouds = [
        rng.standard_normal((n, 3)) + shift for n, shift in ((1, 0), (9, 0), (25, 0), (12, 3))
    ]
    settled = assert_same_as_cpu(clouds, TILTED, 30, then).settled
    assert settled.max() > 0
    assert assert_same_as_cpu(clouds, TILTED, int(settled.max()) - 1).settled.min() == WALKED


def test_repeated_tokens_are_the_token_they_repeat():
    rng = np.random.default_rng(1)
    cloud = rng.standard_normal((20, 2))
    several = cloud[np.r_[0:20, rng.integers(0, 20, 25)]]
    several[25] = -0.0
    clouds = [several, np.repeat(cloud[:1], 3, axis=0), np.array([[0.0, 1.0], [-0.0, 1.0]])]
    assert (assert_same_as_cpu(clouds, HALF, 6).settled == [UNDECIDED, 0, 0]).all()
    clouds[0] = several[:25]
    assert assert_same_as_cpu(clouds, HALF, 6).settled[0] >= 0


@pytest.mark.parametrize("in_python", [True, False], ids=["as Python", "compiled"])
@pytest.mark.parametrize(
    "cloud", [[[1, 1], [1, -1], [0.5, 0]], [[0, 0]], [[0, 0], [1, 2]], [[1e-200, 1], [0, 1e200]]]
)
def test_what_floats_cannot_prove_is_undecided(cloud, in_python, monkeypatch):
    monkeypatch.setattr(compiling.Kernel, "_is_sooner_interpreted", lambda *_: in_python)
    one = np.array([[1.0, 2.0]])
    ours = assert_same_as_cpu([one, np.array(cloud, dtype=float), one], HALF, 5)
    assert ours.settled.tolist() == [0, UNDECIDED, 0]
    assert ours.undecided.tolist() == [1]


def test_leads_beyond_float32_and_beyond_the_long_tokens_are_seen():
    rng = np.random.default_rng(2)
    angles = 2 * np.pi * rng.random((40, 1))
    round_and_narrow = np.hstack([np.cos(angles), np.sin(angles)]) * (
        1 + 2.0**-40 * rng.integers(1, 9, (40, 1))
    )
    long_and_thin = np.concatenate([rng.standard_normal((40, 2)) * 0.1, [[100.0, 0.0]]])
    # Between two tokens to its left and right: float32 sees a lead, often that of the wrong one.
    turns = [middle + np.array([1, 1e-9 - 1, 0]) for middle in rng.uniform(0, 6, 12)]
    reaches = np.array([[1], [1], [0.1]])
    between = [np.stack([np.cos(turn), np.sin(turn)], axis=1) * reaches for turn in turns]
    clouds = [round_and_narrow, long_and_thin, *between]
    assert assert_same_as_cpu(clouds, HALF, 8).settled.min() >= WALKED


def test_tokens_that_become_equal_on_the_way_stay_rivals():
    # A follower reaches its leader in floats, and never in truth: only tokens equal at the start
    # are one.
    @triton.jit
    def count(tokens, points, found):
        row = tl.arange(0, 2)
        floor = tl.zeros((2,), dtype=tl.float64) + 0.5
        tl.store(found + row, _rivals(tokens, points, points, row, row * 0, floor, 3, 1))

    points = torch.ones((3, 1), dtype=torch.float64, device=DEVICE)
    tokens = torch.tensor([[1.0], [0.5], [1.0]], dtype=torch.float64, device=DEVICE)
    found = torch.empty(2, dtype=torch.int32, device=DEVICE)
    count[(1,)](tokens, points, found, enable_fp_fusion=False)
    assert found.tolist() == [1, 1]


@pytest.mark.parametrize("count", [1, 2, 31, 70])
def test_the_best_score_is_found_with_the_first_that_has_it_and_the_best_of_the_others(count):
    @triton.jit
    def find(points, directions, tops, places, seconds, count):
        row = tl.arange(0, 4)
        top, place, second = _best_two(points, directions, row, count, False, 0, 2)
        tl.store(tops + row, top)
        tl.store(places + row, place)
        tl.store(seconds + row, second)

    # Whole numbers: scores are exact, and often equal.
    rng = np.random.default_rng(count)
    points, directions = rng.integers(-3, 4, (count, 2)), rng.integers(-3, 4, (4, 2))
    tops, seconds = (torch.empty(4, dtype=torch.float64, device=DEVICE) for _ in range(2))
    places = torch.empty(4, dtype=torch.int32, device=DEVICE)
    given = [torch.tensor(table.astype(float), device=DEVICE) for table in (points, directions)]
    find[(1,)](*given, tops, places, seconds, count, enable_fp_fusion=False)
    scores = (directions @ points.T).astype(float)
    assert places.tolist() == scores.argmax(axis=1).tolist()
    ranked = np.sort(np.hstack([np.full((4, 1), -np.inf), scores]), axis=1)
    assert seconds.tolist() == ranked[:, -2].tolist()
    assert tops.tolist() == ranked[:, -1].tolist()


@pytest.mark.parametrize("count", [1, 5, 64, 129, 300])
def test_of_equal_tokens_one_at_least_is_scored_and_those_that_are_scored_are_counted(count):
    @triton.jit
    def find(tokens, lists, kept, count, room: tl.constexpr, slots: tl.constexpr):
        tl.store(kept, find_twins(tokens, lists, count, room, slots, 1))

    room, slots = 512, 2048
    numbers = np.random.default_rng(count).integers(0, 1 + count // 2, count)
    tokens = torch.tensor(numbers[:, None].astype(float), device=DEVICE)
    lists = torch.zeros(int(TABLE.value) * room + slots, dtype=torch.int32, device=DEVICE)
    kept = torch.zeros(1, dtype=torch.int32, device=DEVICE)
    find[(1,)](tokens, lists, kept, count, room, slots)
    first = int(TWINS.value) * room
    scored = lists[first : first + count].cpu().numpy() == 0
    assert {*numbers[scored].tolist()} == {*numbers.tolist()}
    assert kept.tolist() == [scored.sum()]
    # Few places of the table are taken by strangers.
    assert scored.sum() <= len(np.unique(numbers)) + count // 4


def test_more_clouds_than_programs(monkeypatch):
    monkeypatch.setattr(gpu_batch, "_PROGRAMS", 2)
    rng = np.random.default_rng(3)
    assert_same_as_cpu([rng.standard_normal((n, 2)) for n in (3, 20, 1, 7, 12)], HALF, 4)
