import io
import sys
from types import SimpleNamespace

import pytest
from planted_files import make_model
from running import Outcome, typed

from hardmax.cli.main import run


@pytest.fixture
def hardmax(monkeypatch, capsys):
    """The command `hardmax`, started in this process: what it printed and its exit code."""

    def command(line="", *arguments, stdin=b"", terminal=False):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin)))
        for stream in (sys.stdout, sys.stderr):
            monkeypatch.setattr(stream, "isatty", lambda: terminal)
        with pytest.raises(SystemExit) as left:
            run(typed(line, *arguments))
        printed = capsys.readouterr()
        return Outcome(int(left.value.code or 0), printed.out, printed.err)

    return command


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def with_model(here):
    """A folder to work in, with a model."""
    make_model().save(here / "model")
    return here
