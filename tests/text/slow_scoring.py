"""A folder scored slowly, in processes that start at once: they are forked from one in which all is
ready."""

import time
from pathlib import Path
from typing import Any

import pyarrow as pa
from text.small_models import small_model

from hardmax._kernels.parallel import limit_threads
from hardmax.text import score_files, scoring, tables
from hardmax.text.score_files import score_file
from hardmax.text.scoring import ScoreOptions
from hardmax.text.text_model import TextModel

if __name__ == "text.slow_scoring":  # not where pytest looks for doctests
    small_model().score_table(pa.table({"text": ["a great film"]}))  # kernels are loaded


def score_slowly(folder: Path) -> None:
    """Score `in` to `out` and write down how many rows there were in all."""
    tables._ROWS, score_files.PART_ROWS, answer = 50, 100, scoring.Scorer.answer

    def slowly(
        self: scoring.Scorer, texts: Any, faults: dict[int, str], place: Any
    ) -> tuple[Any, Any]:
        time.sleep(0.005)
        return answer(self, texts, faults, place)

    scoring.Scorer.answer = slowly
    with limit_threads(1):
        report = score_file(
            TextModel.load(folder / "model"), str(folder / "in"), folder / "out", ScoreOptions()
        )
    with (folder / "reports").open("a") as reports:
        reports.write(f"{report.rows}\n")
