"""The package as its users find it: names that are there, signatures that can be written down, types that check."""

import importlib
import inspect
import json
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import hardmax as hm

MODULES = ("clouds", "engines", "estimators", "figures", "geometry", "text", "train")
USER = """
from fractions import Fraction
from typing import Any, assert_type

import numpy as np

import hardmax as hm

half = hm.Dynamics("1/2")
run = hm.simulate([[1.0, 0.0], [0.5, 0.5]], half, layers=3, record=hm.Every(2), engine=hm.Cpu(threads=1))
assert_type(run, hm.Trajectory)
assert_type(hm.simulate([[Fraction(1, 3)], [Fraction(2)]], half, stop=hm.Settled()), hm.Trajectory)
assert_type(hm.simulate([[[1.0], [2.0]], [[3.0]]], half, layers=1), hm.Trajectories)
assert_type(hm.simulate(np.zeros((5, 3, 2)) + 1, half, layers=1), Any)
lim = hm.limit([["1/3", "2/3"], ["0.5", "1"]], half)
assert_type(lim, hm.Limit)
assert_type(hm.limit(hm.Ragged([[1.0], [2.0]], offsets=[0, 1, 2]), half), hm.Limits)
print(run.leaders.tolist(), len(run), run[0].tolist(), lim.settled_at, hm.verify(lim.certificate))
model: hm.TextModel = hm.load("imdb-2d")
print(model.explain("A fine film.").label)
hm.simulate([[1.0]], half, layers="three")  # type: ignore[call-overload]
"""


@pytest.mark.parametrize("name", dir(hm))
def test_every_name_that_is_listed_is_there(name):
    assert getattr(hm, name) is not None


def test_modules_are_there_on_first_use():
    code = "import hardmax as hm; print([getattr(hm, name).__name__ for name in " + repr(MODULES) + "])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.stdout == f"{[f'hardmax.{name}' for name in MODULES]}\n", told.stderr
    assert set(MODULES) <= set(dir(hm))


@pytest.mark.parametrize("name", [name for name in dir(hm) if inspect.isfunction(getattr(hm, name))])
def test_what_is_in_a_signature_can_be_imported_from_where_the_function_is(name):
    function = getattr(hm, name)
    home = importlib.import_module(function.__module__)
    for kind in typing.get_type_hints(function, vars(home)).values():
        for one in (kind, *typing.get_args(kind)):
            if inspect.isclass(one) and one.__module__.startswith("hardmax"):
                assert getattr(hm, one.__name__) is one


def test_a_users_file_is_understood_by_a_strict_type_checker(tmp_path: Path):
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    paths = [str(Path(hm.__file__).parents[1])]
    settings = {"typeCheckingMode": "strict", "extraPaths": paths, "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--project", str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "0 errors" in told.stdout, told.stdout + told.stderr
