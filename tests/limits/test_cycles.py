"""Attended sets that come round again: what counts as a cycle, in made-up runs and in real ones."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import oracle
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Problem, any_metric_problems

import hardmax as hm
from hardmax._attended import Choices
from hardmax._clusters import LONGEST_PERIOD, Cycle, find_cycle
from hardmax._exact.positions import ExactPhase
from hardmax._float.phase import FloatPhase, StoredPositions
from hardmax._tokens.rationals import IntegerCloud

CORNERS = [[1, 0], [0, 1], [-1, 0], [0, -1]]
QUARTER_TURN = [[0, -1], [1, 0]]
# Of two points: to whom each of them attends. Only in the last do they chase one another.
SETS = [[[0], [1]], [[1], [1]], [[0, 1], [1]], [[0], [0]], [[1], [0]]]


def made_up(signs: list[int], lengths: list[int] | None = None, places: list[int] | None = None) -> Any:
    """A run of two points whose attended sets are SETS[sign] in each phase, of given lengths, at given places."""
    lengths, places = lengths or [1] * len(signs), places or list(range(len(signs)))
    phases, layer = [], 0
    for sign, length, place in zip(signs, lengths, places, strict=True):
        cloud = IntegerCloud([[place, 1], [2, 3]], 7 + place % 2 * 7).reduced()
        phases.append(
            ExactPhase(
                layer=layer,
                until=layer + length,
                choices=Choices.of_sets(SETS[sign]),
                is_leader=np.zeros(2, dtype=bool),
                margin=1.0,
                keep=Fraction(1, 2),
                positions=cloud,
                targets=cloud,
            )
        )
        layer += length
    return made_up_run(tuple(phases), SimpleNamespace(of_token=np.arange(2), count=2))


def made_up_run(phases: tuple, points: Any, certified: bool = True) -> Any:
    """What a cycle is looked for in."""
    return SimpleNamespace(phases=phases, points=points, certified=certified, exactly=lambda phase: phase.exactly)


def cycle_of(run: Any) -> Cycle:
    cycle = find_cycle(run)
    assert cycle is not None
    return cycle


def found_by_definition(signs: list[int], longest: int) -> tuple[int, int] | None:
    """The least p for which the last 3 p signs are three times the same, and where the repetition begins."""
    for period in range(1, longest + 1):
        if len(signs) >= 3 * period and all(signs[-1 - k] == signs[-1 - k - period] for k in range(2 * period)):
            first = len(signs) - 3 * period
            while first > 0 and signs[first - 1] == signs[first - 1 + period]:
                first -= 1
            return period, first
    return None


@settings(max_examples=examples(500))
@given(
    st.lists(st.integers(0, 4), max_size=12),
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
    st.integers(1, 5),
    st.integers(0, 4),
)
def test_the_shortest_period_seen_three_times_is_found_and_where_it_began(before, pattern, times, cut):
    signs = before + pattern * times
    signs = signs[: max(1, len(signs) - cut)]
    cycle = find_cycle(made_up(signs))
    wanted = found_by_definition(signs, LONGEST_PERIOD)
    assert (None if cycle is None else (cycle.period, cycle.since)) == wanted


@pytest.mark.parametrize(
    ("signs", "found"), [([1, 3] * 3, True), ([3, *[1, 3] * 2], False), ([1], False), ([1] * 3, True)]
)
def test_twice_is_chance_three_times_are_a_cycle(signs, found):
    assert (find_cycle(made_up(signs)) is not None) == found


def test_periods_of_up_to_sixty_four_stretches_are_looked_for():
    for period, found in ((LONGEST_PERIOD, True), (LONGEST_PERIOD + 1, False)):
        cycle = find_cycle(made_up(([1] * (period - 1) + [3]) * 3))
        assert (cycle is not None and cycle.period == period) == found
    assert LONGEST_PERIOD == 64


def test_a_period_is_counted_in_layers_and_stretches_of_other_lengths_do_not_repeat():
    cycle = cycle_of(made_up([0, 1, 3, 1, 3, 1, 3], lengths=[5, 2, 3, 2, 3, 2, 3]))
    assert (cycle.period, cycle.since) == (5, 5)
    assert find_cycle(made_up([1, 3, 1, 3, 1, 3], lengths=[2, 3, 2, 4, 2, 3])) is None


def test_tokens_came_back_if_they_are_where_they_were_a_period_before():
    signs = [1, 3] * 3
    for places, came_back in (([0, 2, 4, 6, 8, 6], True), ([0, 2, 4, 6, 4, 8], False), ([0, 8, 2, 4, 8, 6], False)):
        assert cycle_of(made_up(signs, places=places)).exact == came_back


def test_floats_do_not_tell_whether_tokens_came_back():
    run = made_up([1] * 3, places=[4, 4, 4])
    assert cycle_of(run).exact
    told = StoredPositions(np.zeros((2, 2)), np.ones(2, dtype=np.int64))
    floats = [
        FloatPhase(
            layer=s.layer,
            until=s.until,
            choices=s.choices,
            is_leader=s.is_leader,
            margin=1.0,
            keep=s.keep,
            places=told,
            error=0.0,
        )
        for s in run.phases
    ]
    assert not cycle_of(made_up_run(tuple(floats), run.points, certified=False)).exact


def test_those_who_follow_one_another_are_named_and_nobody_where_there_are_none():
    assert cycle_of(made_up([4] * 3)).chase == (0, 1)
    assert cycle_of(made_up([1] * 3)).chase == ()


def test_a_chase_names_the_first_token_of_each_point_and_none_that_only_run_after():
    run = made_up([1] * 3)
    # Point 0 runs after point 1, which chases point 2 and is chased by it; token 1 is point 0 once more.
    chasing = Choices.of_sets([[1], [2], [1]])
    phases = tuple(replace(phase, choices=chasing) for phase in run.phases)
    points = SimpleNamespace(of_token=np.array([0, 0, 1, 2, 1]), count=2)
    assert cycle_of(made_up_run(phases, points)).chase == (2, 3)


@settings(max_examples=examples(400))
@given(any_metric_problems(min_d=2, max_d=3, max_n=6))
def test_a_cycle_is_what_the_sets_of_real_layers_do(problem: Problem):
    cloud, metric, alpha = problem
    depth = 24
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), arithmetic="exact", at_most=depth)
    # With a metric that is symmetric positive definite there are none, and nobody looks for them.
    if lim.settled_at is not None or hm.Dynamics(alpha, metric).is_definite:
        assert lim.cycle is None
        return
    walked = [[sorted(several) for several in sets] for _, sets in oracle.walk(cloud, alpha, metric, depth)]
    names = {str(sets): number for number, sets in enumerate(walked)}
    wanted = found_by_definition([names[str(sets)] for sets in walked], LONGEST_PERIOD)
    cycle = lim.cycle
    assert (None if cycle is None else (cycle.period, cycle.since)) == wanted
    if cycle is not None and cycle.chase:
        for one, other in zip(cycle.chase, (*cycle.chase[1:], cycle.chase[0]), strict=True):
            assert other in walked[-1][one]


@pytest.mark.parametrize("layers", [1, 2, 3, 20])
def test_a_chase_is_seen_once_three_layers_are_walked(layers):
    lim = hm.limit(CORNERS, hm.Dynamics(1, QUARTER_TURN), at_most=layers)
    assert (lim.cycle is not None) == (layers >= 2)
    assert ("repeat with period 1" in lim.stopped) == (layers >= 2)


def test_of_repeated_tokens_that_chase_one_another_the_first_is_named():
    run = made_up([4] * 6)
    run.points.of_token = np.array([1, 0, 0, 1])
    assert cycle_of(run).chase == (1, 0)
