"""A user's file, which `make types` checks strictly and nobody runs."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

from fractions import Fraction
from typing import assert_type

import numpy as np

import hardmax as hm
from hardmax.text import TextModel


def use() -> None:
    half = hm.Dynamics("1/2")
    run = hm.simulate([[1.0, 0.0], [0.5, 0.5]], half, layers=3, engine=hm.Cpu(threads=1))
    assert_type(run, hm.Run)
    assert_type(hm.simulate([[Fraction(1, 3)], [Fraction(2)]], half), hm.Run)
    assert_type(hm.simulate([[[1.0], [2.0]], [[3.0]]], half, layers=1), hm.results.Runs)
    cloud = np.random.default_rng(0).normal(size=(5, 2))
    assert_type(hm.limit(cloud, half), hm.Limit)
    assert_type(hm.limit(np.array([[1.0, 2.0]]), half), hm.Limit)
    assert_type(hm.limits(np.zeros((5, 3, 2)) + 1, half), hm.results.Limits)
    assert_type(hm.limits([cloud, cloud], half), hm.results.Limits)
    assert_type(hm.simulate(cloud, half, layers=1), hm.Run)
    assert_type(hm.simulate([cloud, cloud], half, layers=1), hm.results.Runs)
    assert_type(hm.simulate([[[1.0, 2], [3, 4]]], half, layers=1), hm.results.Runs)
    assert_type(hm.simulate([["1/3", 2]], half, layers=1), hm.Run)
    assert_type(hm.simulate(np.zeros((5, 3, 2)) + 1, half, layers=1), hm.results.Runs)
    lim = hm.limit([["1/3", "2/3"], ["0.5", "1"]], half)
    assert_type(lim, hm.Limit)
    assert_type(hm.limits(hm.Clouds([[1.0], [2.0]], offsets=[0, 1, 2]), half), hm.results.Limits)
    print(run.leaders.tolist(), len(run), run[0].tolist(), lim.settled_at, hm.verify(lim.prove()))
    model: TextModel = hm.load_model("sentiment-en")
    print(model.explain("A fine film.").label)
    hm.simulate([[1.0]], half, layers="three")  # type: ignore[call-overload]
