"""`hardmax doctor` says what is there, what is missing and how to get it, and nothing about whose machine it is."""

import importlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from command import Command

from hardmax._batch import walk_clouds
from hardmax._float.rounded import search
from hardmax.cli.reports import health
from hardmax.text._kernels_layers import walk_texts
from hardmax.text._kernels_tokens import encode_texts, read_text

EXTRAS = set(importlib.metadata.metadata("hardmax").get_all("Provides-Extra", [])) - {"bench", "dev"}


def test_the_doctor_names_versions_extras_and_machine(hardmax: Command):
    outcome = hardmax("doctor")
    assert outcome.code == 0
    assert outcome.err == ""
    for name in ("hardmax: ", "python: ", "numpy: ", "typer: ", "cores: ", "memory: ", "gpu: ", "exact arithmetic: "):
        assert name in outcome.out
    assert "certified arithmetic gave the exact answer" in outcome.out


def test_json_says_the_same(hardmax: Command):
    found = json.loads(hardmax("doctor", "--json").out)
    assert found["versions"]["python"] == platform.python_version()
    assert set(found["missing_of_extra"]) == EXTRAS
    assert found["self_check"]["passed"] is True


def test_nothing_tells_whose_machine_it_is(hardmax: Command):
    said = hardmax("doctor").out + hardmax("doctor", "--json").out
    for secret in (platform.node(), str(Path.home()), sys.prefix, str(Path.cwd())):
        assert secret not in said


def test_a_missing_extra_comes_with_its_remedy(hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    installed = health.version
    monkeypatch.setattr(health, "version", lambda name: "not installed" if name == "pyarrow" else installed(name))
    assert "pip install 'hardmax[tables]'" in hardmax("doctor").out


def test_without_flint_plain_integers_are_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(health, "version", lambda _: "not installed")
    assert "plain integers" in health.exact_arithmetic()


def test_a_package_that_is_not_installed_has_no_extras(monkeypatch: pytest.MonkeyPatch):
    def unknown(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", unknown)
    assert health.missing_of_extra() == {}


def test_a_failed_self_check_is_an_exit_code(hardmax: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(health, "self_check", lambda: {"passed": False, "sentence": "certified arithmetic is off by 1"})
    outcome = hardmax("doctor")
    assert outcome.code == 1
    assert "off by 1" in outcome.out


def test_the_self_check_notices_a_wrong_answer(monkeypatch: pytest.MonkeyPatch):
    simulate = importlib.import_module("hardmax.simulation").simulate
    monkeypatch.setattr(
        "hardmax.simulation.simulate",
        lambda cloud, dynamics, layers: simulate(cloud, dynamics, layers=layers, arithmetic="float"),
    )
    found = health.self_check()
    assert found["passed"] is False
    assert "off by" in found["sentence"]


def nvidia_smi_that(answers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health.shutil, "which", lambda _: "nvidia-smi")
    monkeypatch.setattr(health.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=answers))


def test_a_gpu_is_named_and_torch_is_asked_about_it(monkeypatch: pytest.MonkeyPatch):
    nvidia_smi_that("NVIDIA H200, 143771 MiB\n", monkeypatch)
    monkeypatch.setattr(health, "version", lambda _: "2.13.0")
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: True))
    monkeypatch.setattr(health.importlib, "import_module", lambda _: torch)
    assert health.gpus() == {"gpu": "NVIDIA H200, 143771 MiB; torch sees it"}


def test_a_gpu_without_torch_is_named_all_the_same(monkeypatch: pytest.MonkeyPatch):
    nvidia_smi_that("NVIDIA H200, 143771 MiB\n", monkeypatch)
    monkeypatch.setattr(health, "version", lambda _: "not installed")
    assert health.gpus() == {"gpu": "NVIDIA H200, 143771 MiB; torch is not installed"}


def test_a_driver_that_hangs_does_not_hang_the_doctor(monkeypatch: pytest.MonkeyPatch):
    def hangs(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("nvidia-smi", 5)

    monkeypatch.setattr(health.shutil, "which", lambda _: "nvidia-smi")
    monkeypatch.setattr(health.subprocess, "run", hangs)
    assert health.gpus() == {"gpu": "nvidia-smi does not answer"}


def test_a_machine_without_the_tool_has_no_gpu(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(health.shutil, "which", lambda _: None)
    assert health.gpus() == {"gpu": "none found"}


def test_memory_may_be_unknown(monkeypatch: pytest.MonkeyPatch):
    def unknown(_: str) -> int:
        raise ValueError

    monkeypatch.setattr(os, "sysconf", unknown)
    assert health.memory() == {"memory": "unknown"}


def test_after_compiling_nothing_has_to_be_compiled_for_clouds_and_texts():
    health.compile_kernels()
    for kernel in (encode_texts, walk_texts, walk_clouds, search, read_text):
        assert kernel.compiled.signatures
