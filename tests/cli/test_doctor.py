"""`hardmax doctor`: what is installed, what is missing and how to get it, and nothing about whose
machine it is."""

import importlib.metadata
import json
import platform
import sys
from pathlib import Path

import pytest
from running import facts

import hardmax as hm
from hardmax.cli import doctor

EXTRAS = set(importlib.metadata.metadata("hardmax").get_all("Provides-Extra", [])) - {"all"}


def test_versions_extras_and_machine_are_printed_and_nothing_private(hardmax):
    outcome = hardmax("doctor")
    assert (outcome.code, outcome.err) == (0, "")
    assert {"hardmax", "python", "numpy", "cores", "gpu"} <= facts(outcome.out).keys()
    document = hardmax("doctor --json").out
    found = json.loads(document)
    assert found["python"] == platform.python_version()
    assert found["missing_of_extra"].keys() >= EXTRAS
    assert found["ties are decided exactly"] is True
    for private in (str(Path.home()), sys.prefix, str(Path.cwd())):
        assert private not in outcome.out + document


def test_what_is_missing_comes_with_its_remedy(hardmax, monkeypatch):
    installed = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda name: name != "pyarrow" and installed(name))
    extra = "install hardmax[tables] (in a clone: pip install '.[tables]')"
    assert f"missing pyarrow: {extra}" in hardmax("doctor").out


def test_a_wrong_answer_is_noticed_and_an_exit_code(hardmax, monkeypatch):
    right = hm.limit

    def wrong(cloud, dynamics):
        return right([*cloud[:4], cloud[0]], dynamics)

    monkeypatch.setitem(vars(hm), "limit", wrong)
    assert hardmax("doctor").code == 1


@pytest.mark.check
def test_after_compiling_clouds_and_texts_wait_for_no_kernel():
    from hardmax._float.batch import walk_clouds
    from hardmax._float.rounded import _search

    doctor._compile_kernels()
    for kernel in (walk_clouds, _search):
        assert kernel.compiled.signatures
