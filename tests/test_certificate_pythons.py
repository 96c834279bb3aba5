"""The checker of certificates alone, as a stranger runs it: on every Python of this machine, and
before it is trusted with a file."""

import ast
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_certificates import READ, small
from test_certificate import EXAMPLES, certificates_of_layers, mutated, signed

from hardmax import certificate as checker
from hardmax.certificate import Verdict, verify

CHECKER = Path(checker.__file__)
PYTHONS = [f"python3.{minor}" for minor in range(10, 15)]
VERDICTS = """
import certificate, json
for text in open("certificates.txt"):
    print(json.dumps(certificate.verify(json.loads(text), effort=0.01)[:2]))
"""


def run(*command: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def release(python: str) -> str:
    """The version of a Python: nothing, if it is missing or does not run."""
    if not shutil.which(python):
        return ""
    return run(python, "-c", "import sys; print(sys.version.split()[0])").stdout.strip()


@pytest.mark.check
@pytest.mark.parametrize("python", ["/usr/bin/python3", *PYTHONS])
def test_certificates_get_the_same_verdicts_on_every_python(python: str, tmp_path: Path):
    if not (found := release(python)):
        pytest.skip(f"{python} is missing or does not run")
    if found == release(sys.executable):
        pytest.skip(f"{python} is {found}, as that of all other tests")
    shutil.copy(CHECKER, tmp_path)
    rng, true = random.Random(0), [*EXAMPLES.values(), *certificates_of_layers(range(24))]
    forged = [signed(mutated(rng.choice(true), rng)) for _ in range(400)]
    texts = [json.dumps(document) for document in [*true, *forged]]
    (tmp_path / "certificates.txt").write_text("\n".join(texts))
    done = run(python, "-c", VERDICTS, folder=tmp_path)
    expected = [verify(json.loads(text), effort=0.01)[:2] for text in texts]
    assert all(accepted for accepted, _ in expected[: len(true)])
    assert [tuple(json.loads(line)) for line in done.stdout.splitlines()] == expected, done.stderr
    for name, (verdict, make) in (READ | {"a true one": ("accepted", small)}).items():
        (tmp_path / "proof.json").write_bytes(make())
        done = run(python, "-I", "-S", "certificate.py", "proof.json", folder=tmp_path)
        code = ["accepted", "refused", "nothing"].index(verdict)
        assert (done.returncode, done.stderr) == (code, ""), f"{name}: {done.stdout}"


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("increase", lambda *_: False),
        ("require", lambda *_: None),
        ("verify", lambda *_: Verdict(True, "")),
    ],
)
def test_a_python_that_gets_the_example_wrong_checks_nothing(
    name, broken, tmp_path, monkeypatch, capsys
):
    (tmp_path / "proof.json").write_bytes(small())
    monkeypatch.setattr(sys, "argv", ["certificate.py", str(tmp_path / "proof.json")])
    assert checker.main() == 0
    monkeypatch.setattr(checker, name, broken)
    capsys.readouterr()
    assert checker.main() == 2
    told = "nothing checked: it fails on its own example with Python "
    assert capsys.readouterr().out.startswith(told)


def test_a_python_that_is_too_old_says_which_is_needed():
    ast.parse(CHECKER.read_text("utf-8"), feature_version=(3, 7))  # or it would say nothing
    old = "import sys, runpy; sys.version_info = (3, 9, 2); runpy.run_path(sys.argv[1])"
    done = run(sys.executable, "-c", old, CHECKER)
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.startswith("certificate.py needs Python 3.10.7 or later, not ")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("words", [["--help"], [], ["proof.json", "1", "2"], ["proof.json", "0"]])
def test_the_checker_says_how_it_is_used(words, tmp_path: Path):
    (tmp_path / "proof.json").write_bytes(small())
    done = run(sys.executable, CHECKER, *words, folder=tmp_path)
    expected = "unreadable: `effort` must be" if words[-1:] == ["0"] else "usage: "
    assert (done.returncode, done.stderr, done.stdout[: len(expected)]) == (2, "", expected)


def test_a_reader_may_close_the_pipe(tmp_path: Path):
    (tmp_path / "proof.json").write_bytes(small())
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, CHECKER, tmp_path / "proof.json"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert done.stderr == b""
