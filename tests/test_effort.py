"""What searches longer where there is time is part of `make soak`, which gives it that time."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
ASKS = re.compile(r"^(?:from effort import|import effort)", flags=re.MULTILINE)


def test_whoever_asks_how_much_time_there_is_runs_in_the_soak():
    recipe = (TESTS.parent / "Makefile").read_text(encoding="utf-8").partition("\nsoak:")[2].partition("\n\n")[0]
    named = [TESTS.parent / path for path in re.findall(r"\btests/\S+", recipe)]
    asking = [path for path in TESTS.rglob("test_*.py") if ASKS.search(path.read_text(encoding="utf-8"))]
    assert len(asking) > 30
    assert [path for path in asking if not any(path.is_relative_to(place) for place in named)] == []
