"""`hardmax doctor`: what is installed, what is missing and how to get it, and nothing about whose
machine it is."""

import importlib.metadata
import json
import platform
import sys
from pathlib import Path
from types import SimpleNamespace

from hardmax.cli import doctor

EXTRAS = set(importlib.metadata.metadata("hardmax").get_all("Provides-Extra", [])) - {"all"}


def test_versions_extras_and_machine_are_printed_and_nothing_private(hardmax):
    outcome = hardmax("doctor")
    assert (outcome.code, outcome.err) == (0, "")
    for name in (
        "hardmax: ",
        "python: ",
        "numpy: ",
        "typer: ",
        "cores: ",
        "gpu: ",
    ):
        assert name in outcome.out
    document = hardmax("doctor --json").out
    found = json.loads(document)
    assert found["versions"]["python"] == platform.python_version()
    assert set(found["missing_of_extra"]) == EXTRAS
    assert found["self_check"]["passed"] is True
    assert found["self_check"]["sentence"] in outcome.out
    for private in (platform.node(), str(Path.home()), sys.prefix, str(Path.cwd())):
        assert private not in outcome.out + document


def test_what_is_missing_comes_with_its_remedy(hardmax, monkeypatch):
    installed = doctor._version
    monkeypatch.setattr(
        doctor, "_version", lambda name: doctor.MISSING if name == "pyarrow" else installed(name)
    )
    printed = hardmax("doctor").out
    extra = "install hardmax[tables] (in a clone: pip install '.[tables]')"
    assert f"missing pyarrow: {extra}" in printed
    monkeypatch.setattr(doctor, "_version", lambda _: doctor.MISSING)
    assert json.loads(hardmax("doctor --json").out)["missing_of_extra"] == {}


def test_extras_need_nothing_that_is_made_for_other_systems(monkeypatch):
    needed = ["triton>=3.2; (sys_platform == 'linux') and extra == 'gpu'", "torch; extra == 'gpu'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda _: needed)
    monkeypatch.setattr(
        doctor, "_version", lambda name: "1" if name == "hardmax" else doctor.MISSING
    )
    for system, missing in (("linux", ["triton", "torch"]), ("darwin", ["torch"])):
        monkeypatch.setattr(sys, "platform", system)
        assert doctor._missing_of_extra() == {"gpu": missing}


def test_a_numba_that_was_not_tried_is_named(hardmax, monkeypatch):
    assert "slower: " not in hardmax("doctor").out
    monkeypatch.setattr("numba.__version__", "9.9.0")
    assert "slower: large clouds in many dimensions" in hardmax("doctor").out


def test_a_wrong_answer_is_noticed_and_an_exit_code(hardmax, monkeypatch):
    from hardmax import simulate

    monkeypatch.setattr(
        "hardmax.simulation.simulate",
        lambda cloud, dynamics, layers: simulate(
            cloud, dynamics, layers=layers, arithmetic="float"
        ),
    )
    monkeypatch.delitem(sys.modules["hardmax"].__dict__, "simulate", raising=False)
    outcome = hardmax("doctor")
    assert outcome.code == 1
    assert "off by" in outcome.out


def test_a_gpu_is_named_if_torch_can_use_it(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda _: "nvidia-smi")
    monkeypatch.setattr(doctor, "_version", lambda _: "2.13.0")
    for sees, gpu in ((False, "found, but torch cannot use it"), (True, "NVIDIA H200")):
        cuda = SimpleNamespace(
            is_available=lambda sees=sees: sees, get_device_name=lambda: "NVIDIA H200"
        )
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
        assert doctor._gpu() == gpu


def test_after_compiling_clouds_and_texts_wait_for_no_kernel():
    from hardmax._float.batch import walk_clouds
    from hardmax._float.rounded import search

    doctor._compile_kernels()
    for kernel in (walk_clouds, search):
        assert kernel.compiled.signatures
