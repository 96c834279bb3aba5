"""`benchmarks/faithfulness.py`: our rankings minus the peers', text by text."""

# pyright: reportMissingImports=false
import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def faithfulness(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    return importlib.import_module("faithfulness")


def test_an_interval_of_differences_is_that_of_their_mean(faithfulness: ModuleType):
    differences = np.random.default_rng(1).normal(0.1, 0.5, 400)
    mean, low, high = faithfulness.paired_interval(differences)
    error = differences.std() / 20
    assert mean == differences.mean()
    assert low == pytest.approx(mean - 1.96 * error, abs=0.1 * error)
    assert high == pytest.approx(mean + 1.96 * error, abs=0.1 * error)


def test_texts_are_compared_with_themselves(faithfulness: ModuleType):
    # Texts differ by far more than the rankings do: only in pairs can a small lead be seen.
    texts = np.random.default_rng(2).normal(size=(50, len(faithfulness.MEASURES)))
    measured = {"removals": texts + 0.02, "votes": texts - 0.01, "LIME": texts}
    rows = faithfulness.pairs(measured)
    assert [row[:3] for row in rows] == [
        (own, "LIME", measure)
        for own in ("removals", "votes")
        for measure in ("comprehensiveness", "sufficiency")
    ]
    assert [row[3:] for row in rows] == [("+0.0200",) * 3] * 2 + [("-0.0100",) * 3] * 2
