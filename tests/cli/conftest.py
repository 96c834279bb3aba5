import io
import sys
from types import SimpleNamespace

import pytest
from command import Command, Outcome

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
