"""`hardmax clouds`: what it writes, `limit` reads exactly."""

import numpy as np
from running import assert_refused

import hardmax as hm


def test_a_cloud_comes_back_with_every_digit(hardmax, here):
    assert hardmax("clouds square -o square.csv").code == 0
    assert np.array_equal(hm.io.read_cloud(here / "square.csv"), hm.clouds.square())
    (here / "cloud.csv").write_text(hardmax("clouds gaussian --n 4 --d 3 --seed 2").out)
    assert np.array_equal(hm.io.read_cloud(here / "cloud.csv"), hm.clouds.gaussian(4, 3, seed=2))
    assert "emerging-leader" in hardmax("clouds").out


def test_what_a_cloud_does_not_have_is_refused(hardmax, here):
    assert_refused(hardmax("clouds square --n 3"), "clouds square", "n")
    assert_refused(hardmax("clouds sphere"), "NAME must be one of triangle")
