"""What docs/paper.md says of trainings is what is kept in examples/paper/data."""

import json
import math
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = " ".join((ROOT / "docs" / "paper.md").read_text(encoding="utf-8").split())
TEST_REVIEWS, SLOW = 15_000, 1.5


def load(name: str) -> Any:
    return json.loads((ROOT / "examples" / "paper" / "data" / f"{name}.json").read_text("utf-8"))


def cell(accuracy: list[float], loss: list[float]) -> str:
    return f"{100 * max(accuracy):.2f} %, {100 * accuracy[-1]:.1f} %, {loss[-1]:.2f}"


def test_the_table_of_trainings_has_the_kept_accuracies_and_their_intervals():
    authors, curves = load("authors")["training"], load("training")["curves"]
    for d, curve in curves.items():
        theirs = cell(authors[d]["test_acc"], authors[d]["test_loss"])
        ours = cell(curve["test_accuracy"], curve["test_loss"])
        best = max(authors[d]["test_acc"])
        interval = 196 * math.sqrt(best * (1 - best) / TEST_REVIEWS)
        assert f"| {d} | {theirs} | {ours} | ± {interval:.1f} |" in PAGE
        assert abs(best - max(curve["test_accuracy"])) < 0.003


def test_the_last_test_losses_are_higher_than_the_authors():
    authors, curves = load("authors")["training"], load("training")["curves"]
    last = {d: curve["test_loss"][-1] for d, curve in curves.items()}
    ratios = {d: loss / authors[d]["test_loss"][-1] for d, loss in last.items()}
    higher = {d: round(100 * (ratio - 1)) for d, ratio in ratios.items()}
    assert f"**With d = 16 our last test loss is {higher.pop('16')} % higher**" in PAGE
    least, most = min(higher.values()), max(higher.values())
    assert f"With d = 2, 4 and 8 it is {least} to {most} % higher" in PAGE


def test_training_takes_seven_minutes_on_an_h200():
    curves = load("training")["curves"].values()
    assert {curve["device"] for curve in curves} == {"NVIDIA H200"}
    assert round(sum(curve["seconds"] for curve in curves) / 60) == 7
    assert "about seven minutes on an H200" in PAGE


def test_of_twelve_trainings_in_the_plane_three_end_as_the_authors_did():
    runs = [run for run in load("training")["plane"] if run["loss"] == "bce"]
    slow = [run for run in runs if run["alpha"][30] > SLOW]
    quick = [run for run in runs if run["alpha"][30] <= SLOW and len(run["alpha"]) > 100]
    low, high = (sorted(100 * run["test_accuracy"][-1] for run in some) for some in (slow, quick))
    assert f"Of {len(runs)} trainings with the authors' loss" in PAGE
    assert f"{len(slow)} keep a large alpha as theirs does" in PAGE
    assert f"and end at {low[0]:.1f} to {low[-1]:.1f} %" in PAGE
    reached = f"reach {high[0]:.1f} to {high[-1]:.1f} %"
    assert f"the {len(quick)} of them that were trained to the end {reached}" in PAGE


def test_thirteen_of_the_published_bars_are_higher_and_that_is_unexplained():
    published = load("authors")["histogram"]
    ours = load("leaders")["authors, test"]["histogram"]
    ratios = {word: round(count / ours[word], 1) for word, count in published.items()}
    high = {word: ratio for word, ratio in ratios.items() if ratio > 1.1}
    assert set(ratios) - set(high) == {"money", "boring"}
    span = f"{min(high.values())} to {max(high.values())}"
    assert f"{len(high)} of the published bars are {span} times as high: unexplained" in PAGE
