import json
from pathlib import Path

import numpy as np
import pytest

from hardmax.paper.piece import Setting
from hardmax.paper.results import accuracy, histories, losses
from hardmax.paper.results.histories import authors_history, our_result
from hardmax.text import plant

EPOCHS = 21
PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "paper" / "authors_histories.json"


def result(dimension, kind, setting):
    """A document as paper mode writes them, of a training that did what the authors' did."""
    theirs = authors_history(dimension)
    tests = theirs["test_accuracy"][:EPOCHS]
    history = {
        "train_loss": theirs["train_loss"][:EPOCHS],
        "train_accuracy": theirs["train_accuracy"][:EPOCHS],
        "judged_accuracy": tests,
        "hard": {"epochs": [0, 10, 20], "train_loss_hard": [theirs["train_loss"][e] + 0.001 for e in (0, 10, 20)]},
    }
    chosen = {"epoch": tests.index(max(tests)), "judged_accuracy": max(tests)}
    last = {"epoch": EPOCHS - 1, "judged_accuracy": tests[-1]}
    return {"history": history, "chosen": chosen, "last": last, "test": {"accuracy": 0.75}, "source": histories.KEPT}


@pytest.fixture
def kept(monkeypatch):
    monkeypatch.setattr(accuracy, "our_result", result)
    monkeypatch.setattr(losses, "our_result", result)


def computed(piece):
    return json.loads(json.dumps(piece.compute(Setting())))


def test_the_authors_best_epochs_are_those_they_published():
    bests = {d: authors_history(d)["best"] for d in (2, 4, 8, 16)}
    assert [best["epoch"] for best in bests.values()] == [100, 46, 38, 20]
    assert [best["test_accuracy"] for best in bests.values()] == [0.7914, 0.8228, 0.8505, 0.8821]


def test_the_authors_curves_are_the_published_ones_to_four_digits():
    if not PUBLISHED.exists():
        pytest.skip("the authors' curves are not there")
    for d, published in json.loads(PUBLISHED.read_text()).items():
        ours = authors_history(int(d))
        for name, their_name in (("train_loss", "train_loss"), ("test_accuracy", "test_acc")):
            assert ours[name] == pytest.approx(published[their_name], abs=6e-5)


def test_accuracy_draws_a_panel_for_each_dimension(kept):
    numbers = computed(accuracy.PIECE)
    (figure,) = accuracy.PIECE.draw(numbers).values()
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["d = 2", "d = 4", "d = 8", "d = 16"]
    ours = np.asarray(figure.axes[0].lines[0].get_ydata())
    assert ours.tolist() == authors_history(2)["train_accuracy"][:EPOCHS]


def test_the_remark_on_accuracy_says_what_choosing_on_the_test_is_worth(kept):
    told = accuracy.remark(computed(accuracy.PIECE))
    assert "d = 16: 88.21% in epoch 20, theirs 88.21% in epoch 20" in told
    assert "looked at once, gives d = 2: 75.00%" in told


def test_the_table_of_accuracy_has_a_row_for_each_dimension(kept):
    head, *rows = accuracy.table(computed(accuracy.PIECE))
    assert [row[0] for row in rows] == [2, 4, 8, 16, 2, 2]
    assert all(len(row) == len(head) for row in rows)


def test_losses_stand_beside_the_authors(kept):
    numbers = computed(losses.PIECE)
    head, *rows = losses.table(numbers)
    assert [row[2] for row in rows] == [0, 10, 20] * 2
    assert all(len(row) == len(head) for row in rows)
    assert "differ by at most 0.0010" in losses.remark(numbers)
    (figure,) = losses.PIECE.draw(numbers).values()
    assert len(figure.axes) == 2


def test_where_nothing_is_kept_planted_words_stand_in_and_this_is_said(monkeypatch, tmp_path):
    pytest.importorskip("torch")
    monkeypatch.setattr(histories, "files", lambda package: tmp_path)
    monkeypatch.setattr(histories, "plant", lambda _, seed: plant(100, seed=seed))
    told = []
    found = our_result(2, "exact", Setting(progress=told.append))
    assert found["source"] == histories.PLANTED
    assert told == ["paper mode, d = 2, exact: trains on planted words"]
    assert found["history"]["train_loss"][-1] < found["history"]["train_loss"][0]


def test_what_is_kept_is_read(monkeypatch, tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "d2-paper.json").write_text('{"name": "d2-paper"}')
    monkeypatch.setattr(histories, "files", lambda package: tmp_path)
    assert our_result(2, "paper", Setting()) == {"name": "d2-paper", "source": histories.KEPT}


@pytest.mark.parametrize("dimension", [2, 4, 8, 16])
def test_the_page_of_the_docs_has_the_kept_numbers(dimension: int):
    page = (Path(__file__).parents[2] / "docs" / "paper.md").read_text("utf-8")
    paper, validated = (our_result(dimension, kind, Setting()) for kind in ("paper", "validated"))
    shares = authors_history(dimension)["best"]["test_accuracy"], paper["chosen"]["judged_accuracy"]
    cells = [f"{100 * share:.2f} %" for share in (*shares, validated["test"]["accuracy"])]
    assert f"| {dimension} | {' | '.join(cells)} |" in page
