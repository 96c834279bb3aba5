"""`benchmarks/corpora.py` on planted texts: its rows, what it passes over, and that choosing sees
no test split."""

# pyright: reportMissingImports=false
import csv
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from estimators.quick import quick

from hardmax.text import make_synthetic_corpus

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The benchmark with a classifier that is trained in a moment, which writes its rows to
    tmp_path/results."""
    pytest.importorskip("pyarrow.parquet")
    # At the end: the folder has a text.py and a train.py, and so have the tests.
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER)])
    module = importlib.import_module("corpora")
    monkeypatch.setattr(module, "HardmaxClassifier", quick)
    monkeypatch.setattr(sys.modules["harness"], "RESULTS", tmp_path / "results")
    return module


def write_tables(folder: Path, test_split: str = "test") -> None:
    import pyarrow
    import pyarrow.parquet

    found = make_synthetic_corpus(120, words=6, length=8, disturbed=0.1, seed=1)
    columns = {
        "text": found.texts,
        "label": found.labels,
        "split": ["train"] * 80 + [test_split] * 40,
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "planted.parquet")
    pyarrow.parquet.write_table(
        pyarrow.table({"words": [["a"]], "label": ["x"]}), folder / "wordy.parquet"
    )


def test_a_row_for_the_peer_and_one_for_every_seed(
    corpora: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture
):
    write_tables(tmp_path)
    corpora.main([str(tmp_path)])
    assert "wordy: passed over" in capsys.readouterr().out
    with (tmp_path / "results" / "corpora.csv").open(newline="") as stream:
        peer, *ours = csv.DictReader(stream)
    assert peer["contestant"] == corpora.BY_WORDS
    assert peer["seed"] == ""
    assert peer["above_peer"] == "+0.0000"
    assert [(row["contestant"], row["seed"]) for row in ours] == [
        (corpora.OURS, seed) for seed in "012"
    ]
    for row in (peer, *ours):
        assert 0 < float(row["log_loss"]) < 0.7
        assert 0 <= float(row["calibration_error"]) < 0.5
    for row in ours:
        assert row["corpus"] == "planted"
        assert row["texts"] == "80"
        assert row["judged"] == "40"
        assert row["classes"] == "2"
        assert float(row["above_peer"]) == pytest.approx(
            float(row["accuracy"]) - float(peer["accuracy"]), abs=1e-4
        )
        assert float(row["accuracy"]) > 0.7 < float(row["f1_macro"])
        assert float(row["words_that_count"]) > 0 < float(row["leaders_per_text"])
        assert 0 < float(row["share_that_counts"]) <= 1
        assert '"gate"' in row["chosen"]


def test_validation_reads_the_training_part_alone_and_writes_nothing(
    corpora: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture
):
    write_tables(tmp_path, test_split="nobody may look")
    corpora.main([str(tmp_path), "planted", "--validation"])
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert not (tmp_path / "results").exists()
    learned, judged = corpora.parts_of(tmp_path / "planted.parquet", validation=True)
    assert (len(learned.texts), len(judged.texts)) == (60, 20)
    with pytest.raises(SystemExit, match="no rows of the split 'test'"):
        corpora.main([str(tmp_path), "planted"])
