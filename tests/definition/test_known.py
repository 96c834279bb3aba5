"""The oracle against reasoning: closed-form limits, hand-computed sets, and statements about every
cloud."""

from fractions import Fraction
from math import ceil, log

import oracle
import pytest
from known import KNOWN, SQUARE, Known, rational

each_known = pytest.mark.parametrize("known", KNOWN, ids=str)


def last_cloud(known: Known) -> oracle.Cloud:
    # Once settled, a token keeps 1 / (1 + alpha) of its distance in a layer; the first ten let it
    # settle.
    layers = ceil(log(1e8) / log(1 + known.alpha)) + 10
    return oracle.run(known.tokens, known.alpha, known.metric, layers)[-1]


@each_known
def test_tokens_come_as_close_as_you_like_to_their_limits(known):
    for token, limit in zip(last_cloud(known), known.limits, strict=True):
        assert max(abs(x - y) for x, y in zip(token, limit, strict=True)) < Fraction(1, 10**6)


@each_known
def test_leaders_and_their_first_layers_are_as_stated(known):
    found = oracle.leaders(known.tokens, known.alpha, known.metric, layers=60)
    assert found == dict(zip(known.leaders, known.leader_layers, strict=True))


def test_a_tie_attends_to_every_index_including_copies():
    cloud = rational("1 1, 1 -1, 1 1, 1/2 0")
    assert oracle.attended_sets(cloud) == [{0, 2}, {1}, {0, 2}, {0, 1, 2}]


def test_one_layer_by_hand():
    cloud = [*SQUARE, *rational("1/2 0")]
    assert oracle.step(cloud, Fraction(1, 2))[4] == rational("2/3 0")[0]
