"""Blocks whose layers are rational: value matrices of single heads, feed-forward blocks."""

from collections import Counter
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import oracle
import pytest
from block_problems import draw
from effort import THOROUGH
from layer_problems import judge

import hardmax as hm

PROBLEMS = 1000 if THOROUGH else 30


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
def test_whatever_is_said_of_a_block_is_so():
    claims = Counter()
    for number in range(PROBLEMS):
        problem = draw(number)
        wrong, said = judge(problem)
        assert not wrong, f"problem {number}: {wrong}"
        claims.update(said)
        claims["values"] += problem.parts.values is not None
        claims["blocks"] += problem.parts.block is not None
    assert claims["settled"] >= PROBLEMS // 10
    assert min(claims["values"], claims["blocks"]) >= PROBLEMS // 5


def test_step_and_attended_are_the_definition():
    for number in range(PROBLEMS // 2):
        problem = draw(number)
        layers = oracle.any_walk(problem.cloud, problem.parts)
        (_, sets), (after, _) = islice(layers, 2)
        found = hm.step(np.array(problem.cloud, dtype=object), problem.dynamics)
        assert oracle.table_of(found.tolist()) == after
        union = [set.union(*several) for several in zip(*sets, strict=True)]
        said: Any = hm.attended(problem.cloud, problem.dynamics)
        assert [set(chosen) for chosen in said.tolist()] == union


def test_a_feed_forward_block_moves_what_attention_leaves_alone():
    # One token attends to itself: attention leaves it, and the block adds 2 relu(x - 1) - 1.
    block = hm.FeedForward([[1]], [-1], [[2]], [-1])
    run = hm.simulate([["3/2"]], hm.Dynamics(1, feed_forward=block), layers=3)
    path = [run.at(layer, exact=True).item() for layer in range(4)]
    assert path == [Fraction(3, 2), Fraction(3, 2), Fraction(3, 2), Fraction(3, 2)]
    assert hm.limit([["3/2"]], hm.Dynamics(1, feed_forward=block)).settled_at == 0
    run = hm.simulate([["5/2"]], hm.Dynamics(1, feed_forward=block), layers=2)
    assert run.at(2, exact=True).item() == Fraction(21, 2)


def test_what_a_block_undoes_at_one_step_it_need_not_undo_at_another():
    # Attention takes 0 half-way to 1, from where the block takes it back; from 3/4 it does not.
    block = hm.FeedForward([[1], [1]], [0, "-1/2"], [[-1, 2]])
    mask = [[False, True], [False, True]]
    dynamics = hm.Dynamics([1, 3], mask=mask, feed_forward=block)
    lim = hm.limit([[0], [1]], dynamics, max_layers=3)
    path = [lim.run.at(layer, exact=True).ravel().tolist() for layer in range(3)]
    assert path == [[0, 1], [0, 1], [Fraction(1, 2), 1]]
