"""`hardmax clouds`: what it writes, other commands read."""

import csv
import json
from typing import Any

import numpy as np
from running import assert_refused

import hardmax as hm


def test_a_cloud_comes_back_as_the_same_floats(hardmax, here):
    assert hardmax("clouds square -o square.csv").code == 0
    square: Any = hm.io.read_cloud(here / "square.csv")
    assert np.array_equal(square, hm.clouds.square())
    written = hardmax("clouds gaussian --n 4 --d 3 --seed 2").out
    (here / "cloud.csv").write_text(written)
    read: Any = hm.io.read_cloud(here / "cloud.csv")
    read = read.astype(float)
    assert np.array_equal(read, hm.clouds.gaussian(4, 3, seed=2))
    assert max(map(len, written.replace("\n", ",").split(","))) <= 22
    about = hardmax("clouds").out.splitlines()
    assert len(about) == len(hm.clouds.MAKERS)
    assert all(line.endswith(".") for line in about)


def test_an_exam_question_on_whole_coordinates_is_answered_in_fractions(hardmax, here):
    question = hardmax("clouds integers --n 5 --seed 3").out
    tokens = hm.clouds.integers(5, seed=3).astype(int).tolist()
    assert question == "z0,z1\n" + "".join(f"{x},{y}\n" for x, y in tokens)
    layers = hardmax("simulate - --alpha 1/2 --layers 3 --exact --json", stdin=question.encode())
    run = hm.simulate(tokens, hm.Dynamics("1/2"), layers=3)
    expected = [[str(x) for x in row] for row in run.at(3, exact=True).tolist()]
    assert json.loads(layers.out)["tokens"] == expected
    assert any("/" in x for row in expected for x in row)
    hardmax("simulate - --alpha 1/2 --layers 3 --exact -o run.csv", stdin=question.encode())
    rows = list(csv.DictReader((here / "run.csv").read_text().splitlines()))
    assert [[row["z0"], row["z1"]] for row in rows[-5:]] == expected
    hardmax("limit - --alpha 1/3 --exact -o lim.csv", stdin=question.encode())
    rows = list(csv.DictReader((here / "lim.csv").read_text().splitlines()))
    limits = hm.limit(tokens, hm.Dynamics("1/3")).exact_limit_points().tolist()
    assert [[row["z0"], row["z1"]] for row in rows] == [[str(x) for x in row] for row in limits]


def test_what_a_cloud_does_not_have_is_refused(hardmax, here):
    assert_refused(hardmax("clouds square --n 3"), "clouds square", "n")
    assert_refused(hardmax("clouds sphere"), "NAME must be one of triangle")
