"""Tokens far out, or next to nothing, among others."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from agreement import assert_same_sets
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax._float import active_set
from hardmax._float.bounds import Frame
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge


def metric_of(d: int) -> np.ndarray:
    mixed = np.random.default_rng(d).standard_normal((d, d))
    return mixed @ mixed.T + np.eye(d)


def cloud_of(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((n, d))


def in_one_coordinate(tokens: np.ndarray, size: float) -> None:
    tokens[7, 0] = size


@pytest.mark.parametrize("size", [1e20, 1e300, 1e-300])
@pytest.mark.parametrize("d", [2, 5])
def test_tokens_far_out_or_next_to_nothing_do_not_keep_the_limit_waiting(d, size):
    tokens = cloud_of(2500, d)
    in_one_coordinate(tokens, size)
    assert hm.limit(tokens, hm.Dynamics("1/2")).settled_at is not None


bits = st.integers(0, 2**64 - 1)
garbled = bits.map(lambda number: float(np.uint64(number).view(np.float64)))
EXPONENTS = [5, 8, 12, 16, 20, 50, 100, 154, 200, 300, 308, -20, -100, -300, -320]
powers = st.sampled_from(EXPONENTS).map(lambda exponent: 10.0**exponent)
far_numbers = powers | powers.map(lambda power: -power) | garbled.filter(np.isfinite)


@st.composite
def clouds_with_outliers(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray | None]:
    n = draw(st.integers(6, 14))
    d = draw(st.sampled_from([1, 2, 3, 5]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tokens = rng.standard_normal((n, d))
    if draw(st.booleans()):
        tokens = rng.integers(-3, 4, (n, d)).astype(float)
    for number in draw(st.lists(far_numbers, max_size=5)):
        row = draw(st.integers(0, n - 1))
        axis = draw(st.integers(0, d - 1))
        place = draw(st.sampled_from(["coordinate", "axis", "all"]))
        if place == "all":
            tokens[row] = number * rng.choice([-1.0, 0.5, 1.0], d)
        else:
            tokens[row] *= place == "coordinate"
            tokens[row, axis] = number
    metrics = [None, metric_of(d).round(2)]
    metrics += [np.diag(np.arange(1.0, d + 1)), np.diag(np.arange(d) % 2 + 0.0)]
    return tokens, metrics[draw(st.integers(0, 3))]


def to_fractions(table: np.ndarray) -> oracle.Cloud:
    return [[Fraction(x) for x in row] for row in table.tolist()]


alphas = st.sampled_from(["1/2", "10", "1/1000", "1000"])


@given(clouds_with_outliers(), alphas, st.sampled_from([0, np.inf]))
def test_whatever_sizes_tokens_have_all_attend_as_in_truth(drawn, alpha, fewest):
    tokens, metric = drawn
    layers = 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(active_set, "_FEWEST_POINTS", fewest)
        run = hm.simulate(tokens, hm.Dynamics(alpha, metric), layers=layers)
    matrix = None if metric is None else to_fractions(metric)
    history = list(oracle.walk(to_fractions(tokens), Fraction(alpha), matrix, layers))
    assert_same_sets(run, history)
    since = zip(run.leaders.tolist(), run.leader_layers.tolist(), strict=True)
    assert dict(since) == oracle.leaders_of(history)
    truth, _ = history[-1]
    off = np.array(to_fractions(run.at(layers))) - np.array(truth)
    assert abs(off).max() <= Fraction(run.error) * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("largest", [1e154, 1e200, 1e300, 1.7e308])
def test_beside_the_largest_floats_others_keep_all_their_digits(largest):
    tokens = np.append(cloud_of(50, 2), [[largest, 0.1]], axis=0)
    frame = Frame.of(merge(Cloud(tokens)))
    assert frame.error == 0
    assert np.isfinite(frame.numbers**2).all()
    assert frame.in_units(frame.numbers).tolist() == tokens.tolist()
