"""Are they right? Answers beside brute force in float64, on a sample, or on all where that takes
seconds."""

from collections.abc import Callable
from typing import Any

import numpy as np

import hardmax as hm

MOST_SCORES = 10**9
BLOCK = 2**24  # scores at a time


def brute_force(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The furthest point along some of the points, all scores made in float64."""
    block = max(1, BLOCK // len(points))
    parts = [rows[start : start + block] for start in range(0, len(rows), block)]
    return np.concatenate([(points[part] @ points.T).argmax(axis=1) for part in parts])


def sample(n: int, most_scores: int = MOST_SCORES) -> np.ndarray:
    """Rows to check: all, or as many as there is time for."""
    count = min(n, max(1, most_scores // n))
    return np.sort(np.random.default_rng(9).choice(n, count, replace=False))


def check_winners(points: np.ndarray) -> Callable[[np.ndarray], tuple[int, int]]:
    """A check of winners, an index for each point. The truth is found once, when first asked
    for."""
    truth: dict[str, np.ndarray] = {}
    rows = sample(len(points))

    def check(winners: np.ndarray) -> tuple[int, int]:
        if not truth:
            truth["winners"] = brute_force(points, rows)
        return len(rows), int((np.asarray(winners)[rows] != truth["winners"]).sum())

    return check


def winners_of(run: hm.Run, layer: int = 0) -> np.ndarray:
    """What each token attends to at a layer, -1 where it attends to several: Gaussian clouds have
    no ties."""
    assert run.points.count == run.n  # no token is repeated
    choices = run.attended(layer).choices
    return np.where(choices.sizes == 1, choices.firsts, -1)


def check_every_layer(
    points: np.ndarray, dynamics: hm.Dynamics
) -> Callable[[Any], tuple[int, int]]:
    """A check of a limit, or of many layers: which token attends to which at each layer up to the one where
    it settled.

    The run is walked once more with every layer kept, and its end compared with the one in
    question."""

    def check(found: Any) -> tuple[int, int]:
        run = hm.simulate(points, dynamics, layers=found.settled_at)
        checked = wrong = 0
        rows = sample(len(points), MOST_SCORES // (found.settled_at + 1))
        for layer in range(found.settled_at + 1):
            truth = brute_force(run.at(layer), rows)
            winners = winners_of(run, layer)
            checked += len(rows)
            wrong += int((winners[rows] != truth).sum())
        assert np.array_equal(
            winners_of(run, found.settled_at), winners_of(_run_of(found), found.settled_at)
        )
        return checked, wrong

    return check


def _run_of(found: Any) -> hm.Run:
    return found.run if isinstance(found, hm.Limit) else found


def check_clouds(stack: np.ndarray, layers: int) -> Callable[[Any], tuple[int, int]]:
    """A check of a stack of clouds after so many layers: clouds in which a token is elsewhere than
    it should be."""
    truth: list[np.ndarray] = []

    def check(end: Any) -> tuple[int, int]:
        clouds = np.asarray(end).reshape(-1, *stack.shape[1:])
        if not truth:
            truth.extend(walk(cloud, layers) for cloud in stack)
        there = np.array(truth[: len(clouds)])
        # A wrong choice moves a token by far more, rounding, that of float32 too, by far less.
        return len(clouds), int((np.abs(clouds - there).max(axis=(1, 2)) > 1e-4).sum())

    return check


def walk(tokens: np.ndarray, layers: int) -> np.ndarray:
    """The layers of one cloud in float64, every score made."""
    for _ in range(layers):
        tokens = (tokens + 0.5 * tokens[(tokens @ tokens.T).argmax(axis=1)]) / 1.5
    return tokens
