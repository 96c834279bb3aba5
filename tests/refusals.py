"""What is refused: by an `InputError` of one line.

Calls that are wrong stand in a list beside the tests of a module, `test_edit.refusals` beside
`test_edit.py`: a call, and below it a pattern that its message has. Imports that they alone need
come first."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hardmax._common.validation import InputError


@contextmanager
def refuses(*patterns: str) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """What is called here is refused in one line, in which these patterns are found."""
    with pytest.raises(InputError) as caught:
        yield caught
    line = str(caught.value)
    assert "\n" not in line
    for pattern in patterns:
        assert re.search(pattern, line), line


def listed_refusals(names: dict[str, Any]) -> Callable[..., None]:
    """A test of the list beside a module: calls use its names, and may write to `tmp_path`."""
    path = Path(names["__file__"]).with_suffix(".refusals")
    text = path.read_text(encoding="utf-8")
    cases = re.findall(r"^(\S.*)\n {4}(\S.*)$", text, re.M)
    imports, *_ = re.split("\n\n", text)
    assert len(cases) == len(re.findall(r"^ {4}", text, re.M)) > 0, path

    @pytest.mark.parametrize(("call", "pattern"), cases, ids=[call for call, _ in cases])
    def test_a_wrong_call_is_refused_in_one_line(
        call: str, pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        scope = names | {"tmp_path": tmp_path}
        monkeypatch.chdir(tmp_path)
        exec(imports, scope)
        with refuses(pattern):
            eval(call, scope)

    return test_a_wrong_call_is_refused_in_one_line
