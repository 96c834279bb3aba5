"""Expected numbers of leaders: closed forms beside counted ones."""

import numpy as np
import pytest

import hardmax as hm


@pytest.mark.parametrize(
    ("n", "d", "expected"), [(100, 2, 17.78), (300, 3, 44.25), (300, 8, 174.64)]
)
def test_causal_clouds_have_as_many_leaders_as_the_integral_says(n, d, expected):
    assert hm.random_leaders(n, d, mask="causal") == pytest.approx(expected, abs=0.005)
    assert hm.random_leaders(n, d, mask=np.tri(n, dtype=bool)) == pytest.approx(
        hm.random_leaders(n, d, mask="causal"), rel=1e-10
    )


@pytest.mark.parametrize("mask", [None, "causal", "ring"])
def test_counted_leaders_are_as_many_as_expected(mask):
    random, n, d = np.random.default_rng(0), 12, 2
    allowed = np.eye(n, dtype=bool) | np.eye(n, k=1, dtype=bool) if mask == "ring" else mask
    if mask == "ring":
        allowed[0, 0] = False  # token 0 may not attend to itself, so it never leads
    clouds = random.standard_normal((60, n, d))
    runs = hm.simulate(list(clouds), hm.Dynamics(1, mask=allowed), layers=0)
    counts = np.array([len(leaders) for leaders in runs.leaders])
    error = counts.std(ddof=1) / len(counts) ** 0.5
    assert abs(counts.mean() - hm.random_leaders(n, d, mask=allowed)) < 4 * error


def test_extremes_are_known():
    # In one dimension the largest and the smallest lead, unless all are on one side of 0: 2 - 2 /
    # 2^n.
    for n in (1, 2, 5, 40):
        assert hm.random_leaders(n, 1) == pytest.approx(2 - 2 * 2.0**-n, rel=1e-9)
    assert hm.random_leaders(1000, 10**6) == pytest.approx(1000, rel=1e-9)
    with pytest.raises(hm.InputError, match="`mask` is 2 by 2, but there are 3 tokens"):
        hm.random_leaders(3, 2, mask=np.ones((2, 2), dtype=bool))
