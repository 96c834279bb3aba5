"""Public names are documented as numpydoc asks."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import hardmax.text

validation = pytest.importorskip("numpydoc.validate")
pytestmark = pytest.mark.check

NAMED = [
    f"{package}.{module}.{name.strip().partition(' as ')[0]}"
    for package, stub in (("hardmax", hardmax.__file__), ("hardmax.text", hardmax.text.__file__))
    for module, names in re.findall(
        r"^from \.([\w.]+) import (.+)$", Path(stub).with_suffix(".pyi").read_text(), flags=re.M
    )
    for name in names.split(",")
]
NAMED += [f"hardmax.results.{name}" for name in hardmax.results.__all__]
NAMED += ["hardmax.sklearn.HardmaxClassifier"]
NAMED += [
    "hardmax.train.fitting.fit",
    "hardmax.train.settings.Settings",
]
# Public modules, of which not every name is also one of the package.
OPEN = ["clouds", "io", "torch", "geometry.polytope", "geometry.projection"]
# What calls return and people do not make: their fields are documented one by one.
RETURNED = [
    "Analysis",
    "Broken",
    "InputError",
    "Corpus",
    "Explanation",
    "Reading",
    "AttendedSets",
    "Certificate",
    "Limit",
    "Limits",
    "TheoremReport",
    "Runs",
    "Run",
    "Verdict",
    "StreamedLimit",
    "AlgebraicNumber",
    "Basins",
    "Bifurcations",
    "Falsification",
    "MetricSearch",
    "Region",
    "SoftmaxGap",
]


def defined_in(module: str) -> list[str]:
    """Public functions and classes of a module."""
    loaded = importlib.import_module(f"hardmax.{module}")
    return [
        f"hardmax.{module}.{name}"
        for name, thing in vars(loaded).items()
        if not name.startswith("_")
        and getattr(thing, "__module__", "") == loaded.__name__
        and callable(thing)
    ]


def members(path: str, thing: type) -> list[str]:
    """Methods and properties, in numpydoc's names; those that a base class has are documented
    there."""
    kinds = property | classmethod | staticmethod
    known = {name for base in thing.__mro__[1:] for name in vars(base)}
    return [
        f"{path}.{name}"
        for name, value in vars(thing).items()
        if not name.startswith("_")
        and name not in known
        and (inspect.isfunction(value) or isinstance(value, kinds))
    ]


def errors(path: str, codes: str) -> list[str]:
    return [
        f"{path}: {code} {text}"
        for code, text in validation.validate(path)["errors"]
        if code in codes.split()
    ]


@pytest.mark.parametrize(
    "path", sorted({*NAMED, *(name for module in OPEN for name in defined_in(module))})
)
def test_a_public_name_is_documented(path):
    module, _, name = path.rpartition(".")
    thing = getattr(importlib.import_module(module), name)
    if inspect.isclass(thing):
        wrong = errors(path, "GL08 SS01" + ("" if name in RETURNED else " EX01 PR01 PR02"))
        wrong += [
            error
            for member in members(path, thing)
            for error in errors(member, "GL08 SS01 PR01 PR02")
        ]
    else:
        wrong = errors(path, "GL08 SS01 PR01 PR02 RT01 EX01") if inspect.isfunction(thing) else []
    assert not wrong, "\n".join(wrong)
