import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from planted_files import make_model
from running import Command, Outcome

from hardmax.cli.main import run


@pytest.fixture
def hardmax(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command `hardmax`, started in this process: what it printed and its exit code."""

    def command(*arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["hardmax", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as left:
            run()
        printed = capsys.readouterr()
        return Outcome(int(left.value.code or 0), printed.out, printed.err)

    return command


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def with_model(here: Path) -> Path:
    """A folder to work in, with a model."""
    make_model().save(here / "model")
    return here
