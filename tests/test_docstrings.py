"""Public names are documented as numpydoc asks."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import hardmax.text

validation = pytest.importorskip("numpydoc.validate")
pytestmark = pytest.mark.check

IMPORT = re.compile(r"^from \.([\w.]+) import (.+)$", re.M)
NAMED = []
for package, stub in (("hardmax", hardmax.__file__), ("hardmax.text", hardmax.text.__file__)):
    for module, names in IMPORT.findall(Path(stub).with_suffix(".pyi").read_text()):
        for name in names.split(","):
            NAMED.append(f"{package}.{module}.{name.strip().partition(' as ')[0]}")
NAMED += [f"hardmax.results.{name}" for name in hardmax.results.__all__]
NAMED += ["hardmax.sklearn.HardmaxClassifier"]
NAMED += [
    "hardmax.train.fitting.fit",
    "hardmax.train.settings.Settings",
]
# Public modules, of which not every name is also one of the package.
OPEN = ["clouds", "io", "torch", "geometry.polytope", "geometry.projection"]
# What calls return and people do not make: their fields are documented one by one.
RETURNED = """
Analysis Broken InputError Corpus Explanation Reading AttendedSets Certificate Limit Limits
TheoremReport Runs Run Verdict StreamedLimit AlgebraicNumber Basins Bifurcations Falsification
MetricSearch Region SoftmaxGap
"""


def defined_in(module: str) -> list[str]:
    """Public functions and classes of a module."""
    loaded = importlib.import_module(f"hardmax.{module}")
    found = []
    for name, thing in vars(loaded).items():
        is_own = getattr(thing, "__module__", "") == loaded.__name__
        if is_own and callable(thing) and not name.startswith("_"):
            found.append(f"hardmax.{module}.{name}")
    return found


def members(path: str, thing: type) -> list[str]:
    """Methods and properties, in numpydoc's names; those that a base class has are documented
    there."""
    kinds = property | classmethod | staticmethod
    known = {name for base in thing.__mro__[1:] for name in vars(base)}
    found = []
    for name, value in vars(thing).items():
        if name.startswith("_") or name in known:
            continue
        if inspect.isfunction(value) or isinstance(value, kinds):
            found.append(f"{path}.{name}")
    return found


def errors(path: str, codes: str) -> list[str]:
    return [
        f"{path}: {code} {text}"
        for code, text in validation.validate(path)["errors"]
        if code in codes.split()
    ]


PATHS = set(NAMED)
for module in OPEN:
    PATHS.update(defined_in(module))


@pytest.mark.parametrize("path", sorted(PATHS))
def test_a_public_name_is_documented(path):
    module, _, name = path.rpartition(".")
    thing = getattr(importlib.import_module(module), name)
    if inspect.isclass(thing):
        returned = name in RETURNED.split()
        wrong = errors(path, "GL08 SS01" if returned else "GL08 SS01 EX01 PR01 PR02")
        for member in members(path, thing):
            wrong += errors(member, "GL08 SS01 PR01 PR02")
    else:
        wrong = errors(path, "GL08 SS01 PR01 PR02 RT01 EX01") if inspect.isfunction(thing) else []
    assert not wrong, "\n".join(wrong)
