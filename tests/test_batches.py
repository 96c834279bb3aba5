"""One cloud and many clouds are the same call, and results come back in the form in which the tokens came."""

from fractions import Fraction

import numpy as np
import pytest

import hardmax as hm

DYNAMICS = hm.Dynamics("1/2")
SMALL = np.array([[1.0, 0.0], [0.5, 0.5]])
LARGE = np.array([[2.0, 1.0], [-1.0, 1.0], [0.0, 3.0]])


def test_one_cloud_gives_one_table():
    assert hm.step(SMALL, DYNAMICS).shape == (2, 2)
    assert hm.simulate(SMALL, DYNAMICS, layers=3).tokens.shape == (4, 2, 2)


def test_a_list_of_clouds_gives_a_list():
    together = hm.step([SMALL, LARGE], DYNAMICS)
    assert isinstance(together, list)
    assert [cloud.tolist() for cloud in together] == [hm.step(cloud, DYNAMICS).tolist() for cloud in (SMALL, LARGE)]
    assert [len(sets) for sets in hm.attended([SMALL, LARGE], DYNAMICS)] == [2, 3]


def test_a_stack_of_clouds_gives_a_stack():
    stack = np.stack([LARGE, -LARGE, LARGE / 2])
    assert hm.step(stack, DYNAMICS).shape == stack.shape
    assert hm.simulate(stack, DYNAMICS, layers=2).at(2).shape == stack.shape


def test_tokens_with_offsets_give_tokens_with_offsets():
    ragged = hm.Ragged(np.concatenate([SMALL, LARGE]), offsets=[0, 2, 5])
    after = hm.step(ragged, DYNAMICS)
    assert isinstance(after, hm.Ragged)
    assert after.offsets.tolist() == [0, 2, 5]
    assert after[1].tolist() == hm.step(LARGE, DYNAMICS).tolist()
    runs = hm.simulate(ragged, DYNAMICS, layers=1)
    assert np.allclose(runs.at(1).tokens, after.tokens, rtol=1e-15)
    assert len(runs) == 2


def test_the_run_of_a_cloud_does_not_depend_on_its_batch():
    rng = np.random.default_rng(0)
    batch = [rng.standard_normal((int(n), 3)) for n in rng.integers(1, 40, size=20)]
    runs = hm.simulate(batch, DYNAMICS, layers=10)
    for cloud, run in zip(batch, runs, strict=True):
        assert np.array_equal(hm.simulate(cloud, DYNAMICS, layers=10).tokens, run.tokens)


def test_rationals_come_back_as_rationals():
    after = hm.step([["1/3", 0], ["-1/7", "0.1"]], DYNAMICS)
    assert all(isinstance(value, Fraction) for value in after.flat)


def test_float32_and_whole_numbers_are_the_numbers_they_are():
    thirds = np.array([[1 / 3, 1.0]], dtype=np.float32)
    assert hm.step(thirds, DYNAMICS).tolist() == thirds.astype(float).tolist()
    assert hm.step(np.array([[3, 1], [1, 1]]), DYNAMICS).dtype == np.float64
    huge = 2**60 + 1
    assert hm.step([[huge, 0]], DYNAMICS)[0, 0] == huge


def test_minus_zero_is_zero():
    assert hm.simulate([[0.0, 1.0], [-0.0, 1.0]], DYNAMICS, layers=0).leaders.tolist() == [0, 1]


def test_numbers_as_they_are_written():
    assert hm.as_written([[1.4, 0.1]]).tolist() == [[Fraction(7, 5), Fraction(1, 10)]]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "empty"),
        (np.zeros((0, 2)), "empty"),
        (np.zeros((2, 0)), "d must be at least 1"),
        ([1.0, 2.0], r"shape \(n, d\).*\(n, 1\)"),
        ([[1.0, 2.0], [3.0]], "token 1 has 1 coordinates, the tokens before it have 2"),
        ([[1.0], 2.0], "token 1 has a single number"),
        ([[0.0, 1.0], [np.nan, 1.0]], "token 1 is"),
        (np.array([[0.0], [0.0], [np.inf]]), "token 2 is"),
        ([["1", "two"]], r"row 0, column 1.*'two'"),
        ([["1/0"]], "finite number"),
        ([[1j]], "finite number"),
        (np.zeros((2, 2), dtype=complex), "real numbers"),
        ([[[1.0]], [[1.0, 2.0]]], "cloud 0 has 1, cloud 1 has 2"),
        ([[[1.0]], [[np.nan]]], "cloud 1"),
        ([[Fraction(10) ** 400]], "largest float"),
        ("points.csv", "shape"),
        (None, "shape"),
    ],
)
def test_bad_tokens_get_one_clear_line(tokens, message):
    with pytest.raises(hm.InputError, match=message) as caught:
        hm.simulate(tokens, DYNAMICS, layers=1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("offsets", "multiplicities", "message"),
    [
        ([0, 1], None, "number of tokens"),
        ([0, 2, 2, 5], None, "cloud 1 would be empty"),
        ([0.0, 5.0], None, "whole numbers"),
        ([0, 5], [1, 2], "5 whole numbers"),
        ([0, 5], [1, 1, 0, 1, 1], "from 1 up"),
    ],
)
def test_bad_offsets_get_one_clear_line(offsets, multiplicities, message):
    with pytest.raises(hm.InputError, match=message):
        hm.Ragged(np.concatenate([SMALL, LARGE]), offsets=offsets, multiplicities=multiplicities)
