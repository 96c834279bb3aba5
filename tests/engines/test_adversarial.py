"""Problems of the soak, its checks against the oracle, and clouds on which a proof was
once wrong."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from soak.checks import judge
from soak.problems import problem
from soak.truth import ExactCloud, leaders_of
from strategies import hard_floats

import hardmax as hm


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_answers_to_adversarial_problems_are_those_of_integers(first):
    for number in range(first, first + 20):
        asked = problem(number)
        assert not (wrong := judge(asked)), "\n".join([str(asked), *wrong])


def near_line(seed: int) -> np.ndarray:
    """Tokens on a line through the origin up to rounding, and one beside it."""
    rng = np.random.default_rng(seed)
    turn = rng.uniform(0, 2 * np.pi)
    tokens = rng.uniform(-1, 1, (8192, 1)) * [np.cos(turn), np.sin(turn)]
    tokens[1] = 3 * rng.normal(size=2)
    return tokens


# Seen from the middle of a sample that is nearly collinear, points outside its polygon were once
# taken for inside.
@pytest.mark.parametrize("tokens", [near_line(1), near_line(53)])
def test_tokens_on_a_line_attend_as_in_truth(tokens):
    attended = hm.simulate(tokens, hm.Dynamics("1/2"), layers=0).attended(0)
    rows = [*range(4), *range(4, len(tokens), 50), len(tokens) - 1]
    assert [set(attended[row].tolist()) for row in rows] == ExactCloud.of(tokens, None).attended(
        rows
    )


def as_cloud(floats: np.ndarray) -> oracle.Cloud:
    return [[Fraction(x) for x in row] for row in floats.tolist()]


@given(hard_floats(max_n=9), st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(1000)]))
def test_the_truth_of_the_soak_is_that_of_the_oracle(tokens, alpha):
    ours = list(ExactCloud.of(tokens, None).walk(alpha, layers=2))
    theirs = list(oracle.walk(as_cloud(tokens), alpha, None, layers=2))
    assert leaders_of(ours) == oracle.leaders_of(theirs)
    for (cloud, sets), (expected, true) in zip(ours, theirs, strict=True):
        assert sets == true
        assert [
            [Fraction(int(x), cloud.denominator) for x in row] for row in cloud.numerators
        ] == expected
