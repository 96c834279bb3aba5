"""`benchmarks/corpora.py` on planted texts: its rows, what it passes over, that choosing sees no
test split; and what its peers compute."""

# pyright: reportMissingImports=false
import csv
import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from estimators.quick import THREE, quick
from scipy.sparse import csr_array

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


def test_a_row_for_every_peer_and_one_for_every_seed(
    corpora: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture
):
    write_tables(tmp_path)
    corpora.main([str(tmp_path)])
    assert "wordy: passed over" in capsys.readouterr().out
    with (tmp_path / "results" / "corpora.csv").open(newline="") as stream:
        first, second, *ours = csv.DictReader(stream)
    assert first["contestant"].startswith("TF-IDF of words")
    assert second["contestant"].startswith("naive-Bayes weights of words")
    better = max(float(peer["accuracy"]) for peer in (first, second))
    assert [(row["contestant"], row["seed"]) for row in ours] == [
        (corpora.OURS, seed) for seed in "012"
    ]
    for row in (first, second, *ours):
        assert 0 < float(row["log_loss"]) < 0.7
        assert 0 <= float(row["calibration_error"]) < 0.5
        assert float(row["above_peer"]) == pytest.approx(float(row["accuracy"]) - better, abs=1e-4)
    assert '"C"' in first["chosen"]
    for row in ours:
        assert row["corpus"] == "planted"
        assert row["texts"] == "80"
        assert row["judged"] == "40"
        assert row["classes"] == "2"
        assert float(row["accuracy"]) > 0.7 < float(row["f1_macro"])
        assert float(row["words_that_count"]) > 0 < float(row["leaders_per_text"])
        assert 0 < float(row["share_that_counts"]) <= 1
        assert '"gate"' in row["chosen"]


def test_validation_reads_the_training_part_alone_and_writes_nothing(
    corpora: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture
):
    write_tables(tmp_path, test_split="nobody may look")
    corpora.main([str(tmp_path), "planted", "--validation"])
    assert len(capsys.readouterr().out.splitlines()) == 5
    assert not (tmp_path / "results").exists()
    learned, judged = corpora.parts_of(tmp_path / "planted.parquet", validation=True)
    assert (len(learned.texts), len(judged.texts)) == (60, 20)
    with pytest.raises(SystemExit, match="no rows of the split 'test'"):
        corpora.main([str(tmp_path), "planted"])


def test_a_column_weighs_as_much_as_it_is_more_frequent_in_one_class(corpora: ModuleType):
    counts = csr_array(np.array([[1, 1], [1, 0], [1, 1], [0, 1]]))
    peers = sys.modules["corpora_peers"]
    found = peers.NaiveBayesWeights().fit(counts, np.array([1, 1, 0, 0]))
    # One is added to each count: 3 and 2 of 5 tokens inside, 2 and 3 of 5 outside.
    weights = np.log([1.5, 2 / 3])
    assert found.transform(counts).toarray() == pytest.approx(counts.toarray() * weights)


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_peers_learn_three_classes_of_which_a_fold_lacks_one(corpora: ModuleType):
    rows = [row for row, label in enumerate(THREE.labels) if label != "food"]
    rows.append(THREE.labels.index("food"))
    texts, labels = ([column[row] for row in rows] for column in (THREE.texts, THREE.labels))
    peers = sys.modules["corpora_peers"]
    by_words = [*peers.peers_for(texts, labels).values()]
    by_vectors = peers.by_vectors(texts, labels)
    for peer in (*by_words, by_vectors):
        told = peer.fit(texts, labels).predict(texts)
        assert np.mean(told == np.array(labels)) > 0.6
    for peer in (*by_words, by_vectors[-1]):
        assert np.isfinite(peer.cv_results_["mean_test_score"]).all()


def test_folds_of_peers_keep_copies_together(corpora: ModuleType):
    texts = [f"Word {number // 2}{'!' * (number % 2)}" for number in range(40)]
    folds = sys.modules["corpora_peers"].folds_of(texts, ["a", "a", "b", "b"] * 10)
    assert len(folds) == 4
    for learned, judged in folds:
        assert not {*(learned // 2)} & {*(judged // 2)}


def test_of_few_labels_every_peer_has_its_column(
    corpora: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_tables(tmp_path)
    monkeypatch.setattr(corpora, "FEW", (60,))
    monkeypatch.setattr(corpora, "DRAWS", 1)
    corpora.main([str(tmp_path), "planted", "--few"])
    with (tmp_path / "results" / "few_labels.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["corpus"], row["texts"], row["draw"]) == ("planted", "60", "0")
    for contestant in ("accuracy", "peer", "naive_bayes", "mean_vectors"):
        assert 0.6 < float(row[contestant]) <= 1
