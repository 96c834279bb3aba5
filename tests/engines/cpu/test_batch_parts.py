"""Batches of small clouds whose layer has a mask, a value matrix or several steps: what the kernel
says is what fractions say."""

from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import oracle
import pytest
from effort import THOROUGH
from layer_problems import Answer, Problem, draw, to_lists

import hardmax as hm
from hardmax._float.batch_parts import suits

MANY = 2000 if THOROUGH else 60


def problems(first: int):
    """Problems for the kernel. Two of three have hardly a tie: tokens are moved a little."""
    for number in range(first, first + MANY):
        problem = draw(number)
        if not suits(problem.dynamics, np.array([len(problem.cloud)])):
            continue
        if number % 3:
            random = np.random.default_rng(number)
            cloud = [
                [x + Fraction(int(random.integers(2**20)), 2**30) for x in token]
                for token in problem.cloud
            ]
            problem = replace(problem, cloud=cloud)
        yield number, problem


def batch_of(problem: Problem) -> np.ndarray:
    """The cloud, and half of it: so that two clouds are in a kernel."""
    cloud = np.array(problem.cloud, dtype=float)  # halves and quarters of whole numbers
    return np.stack([cloud, cloud / 2])


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
def test_limits_of_a_batch_are_those_of_fractions():
    known = 0
    for number, problem in problems(20_000):
        limits: Any = hm.limits(batch_of(problem), problem.dynamics, max_layers=problem.max_layers)
        assert not [*Answer(problem, limits[0]).wrong()], number
        known += 0 not in limits.runs.exact
    assert known >= MANY // 20


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
def test_layers_of_a_batch_are_those_of_fractions():
    known = 0
    for number, problem in problems(40_000):
        runs: Any = hm.simulate(batch_of(problem), problem.dynamics, layers=3 + 9 * (number % 2))
        walked = islice(oracle.any_walk(problem.cloud, problem.parts), runs[0].layers + 1)
        places = [np.array(to_lists(place)) for place, _ in walked]
        exact: Any = hm.simulate(problem.cloud, problem.dynamics, layers=runs[0].layers)
        for layer in (1, runs[0].layers):
            off = np.abs(runs.at(layer)[0].astype(object) - places[layer]).max()
            assert off <= Fraction(runs[0].error), number
        known += 0 not in runs.exact
        assert runs.leaders[0].tolist() == exact.leaders.tolist(), number
        assert runs[0].leader_layers.tolist() == exact.leader_layers.tolist(), number
        assert runs.settled_at[0] == exact.settled_at, number
        assert runs[0].stop_reason == exact.stop_reason, number
        if None not in runs.settled_at and not len(exact.details.moving):
            ends = exact.at("limit", exact=True)
            off = np.abs(runs.at("limit")[0].astype(object) - ends).max()
            assert off <= Fraction(runs[0].error), number
    assert known >= MANY // 20


def test_whoever_follows_a_leader_may_leave_it_under_a_mask():
    """Somebody else may be ahead on the way, and behind at both of its ends."""
    random = np.random.default_rng(1)
    dynamics = hm.Dynamics(1, [[0, 0], [1, 2]], mask="causal")
    clouds = random.integers(-20, 21, (150, 5, 2)) + random.integers(-99, 99, (150, 5, 2)) / 2**10
    together = hm.limits(clouds, dynamics).settled_at
    alone = [hm.limit(cloud, dynamics, arithmetic="exact").settled_at for cloud in clouds]
    assert together == alone
