"""The search, walk and batches against the rational oracle, on clouds full of ties."""

# pyright: reportMissingImports=false
# ruff: noqa: E402
from fractions import Fraction

import numpy as np
import oracle
import pytest
from agreement import assert_same_as_oracle, distance
from effort import interpreted
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Problem, alphas, any_metric_problems, clouds, problems

torch = pytest.importorskip("torch", reason="the GPU engine needs torch (extra `gpu`)")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
pytest.importorskip("triton", reason="the GPU engine needs triton (extra `gpu`)")

import hardmax as hm
from hardmax._batch import UNDECIDED
from hardmax._exact.argmax import by_all_scores
from hardmax._exact.solver import ExactSolver
from hardmax._float.solver import Undecided
from hardmax._gpu import Gpu
from hardmax._gpu.batch import walk_batch_gpu
from hardmax._gpu.solver import GpuSolver, move_once
from hardmax._run import Plan, run_points
from hardmax._tokens.batches import read_batch
from hardmax._tokens.points import merge

ENGINES = (GpuSolver(Gpu(DEVICE)), ExactSolver(by_all_scores))


def stored(floats: np.ndarray) -> oracle.Cloud:
    """The numbers that floats are."""
    return [[Fraction(x) for x in row] for row in floats.tolist()]


@settings(max_examples=interpreted(40), deadline=None)
@given(any_metric_problems())
def test_a_winner_that_is_proved_is_the_true_one(problem: Problem):
    cloud, metric, alpha = problem
    tokens = np.array(cloud, dtype=np.float64)
    dynamics = hm.Dynamics(alpha, metric)
    truth = oracle.attended_sets(stored(tokens), metric)
    try:
        moved = move_once(torch.from_numpy(tokens).to(DEVICE), dynamics).cpu().numpy()
    except Undecided:
        return
    assert all(len(chosen) == 1 for chosen in truth)
    assert np.abs(moved - hm.step(tokens, dynamics)).max() <= 8 * 2.0**-53 * np.linalg.norm(tokens, axis=1).max()


@settings(max_examples=interpreted(40), deadline=None)
@given(problems())
def test_walks_on_a_device_are_the_true_ones(problem: Problem):
    cloud, metric, alpha = problem
    (tokens,), _ = read_batch(cloud)
    dynamics, stop = hm.Dynamics(alpha, metric), hm.AfterLayers(3)
    run = hm.Trajectory.of(run_points(merge(tokens), Plan(dynamics, ENGINES, stop, hm.Every(1))))
    assert_same_as_oracle([run], cloud, metric, alpha, 3)


@settings(max_examples=interpreted(25), deadline=None)
@given(st.lists(clouds(min_d=2, max_d=2, max_n=9), min_size=1, max_size=4), alphas)
def test_batches_on_a_device_are_the_true_ones_where_they_are_decided(batch, alpha):
    tables = [np.array(cloud, dtype=np.float64) for cloud in batch]
    tokens, offsets = torch.from_numpy(np.concatenate(tables)).to(DEVICE), np.cumsum([0, *map(len, tables)])
    outcome = walk_batch_gpu(tokens, offsets, hm.Dynamics(alpha), 3).to_numpy()
    for number, table in enumerate(tables):
        rows = slice(offsets[number], offsets[number + 1])
        history = list(oracle.walk(stored(table), alpha, None, 3))
        ties = any(len({tuple(cloud[j]) for j in attended}) > 1 for cloud, sets in history for attended in sets)
        if outcome.settled[number] == UNDECIDED:
            continue
        assert not ties
        assert distance(outcome.tokens[rows], history[-1][0]) <= outcome.errors[number] * (1 + 1e-9)
        since = outcome.leader_since[rows]
        assert {i: int(since[i]) for i in np.flatnonzero(since >= 0)} == oracle.leaders_of(history)
