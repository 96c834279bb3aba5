"""The paper's figures: the authors' published numbers come out of the engine, and the scripts of
the gallery run."""

import importlib
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hardmax import Dynamics, simulate

PAPER = Path(__file__).parents[2] / "examples" / "paper"
AUTHORS = json.loads((PAPER / "data" / "authors.json").read_text("utf-8"))
REVIEWS, MODEL = AUTHORS["reviews"], AUTHORS["model"]


@pytest.fixture
def script(monkeypatch):
    """Imports a module of the folder, and forgets it afterwards."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(PAPER))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(PAPER) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def run_review(film: str) -> tuple[Any, np.ndarray]:
    review = REVIEWS[film]
    return simulate(review["tokens"], Dynamics(alpha=MODEL["alpha"]), layers=8), np.array(
        review["rows"]
    )


@pytest.mark.parametrize("film", REVIEWS)
def test_the_tokens_of_a_review_end_where_the_authors_drew_them(film):
    run, _ = run_review(film)
    published = np.array(REVIEWS[film]["final_positions"])
    assert published.shape == (128, 2)
    assert np.abs(run.at(8) - published).max() < 3e-6


@pytest.mark.parametrize(
    ("film", "expected"), [("Strangeland", (1.90, 8.12)), ("Attack Force", (-3.17, -20.90))]
)
def test_a_review_has_the_logits_of_the_published_picture(film, expected):
    run, _ = run_review(film)
    logits = [
        float(run.at(layer).mean(axis=0) @ MODEL["decoder"] + MODEL["bias"]) for layer in (0, 8)
    ]
    assert logits == pytest.approx(expected, abs=0.005)


@pytest.mark.docs
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("figure1", "A = ((2, 1), (1, 1)): C_1 = {4}"),
        ("figure4", "10 points in S, 6 of them limits of tokens"),
        ("clustering", "d = 2      5 a review   23.2 %   17.5 %"),
        ("rank_one", "25 tokens attend to themselves alone at some of 100 layers, 10 in the end"),
    ],
)
def test_a_script_runs_and_draws(name, expected, script, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.delenv("HARDMAX_PAPER", raising=False)
    section = script("report").run_script(name)
    assert expected in section["output"]
    assert len(section["images"]) == 1
    assert "math" not in " ".join(section["paragraphs"])


def test_every_script_is_in_the_report(script):
    names = {path.stem.removeprefix("plot_") for path in PAPER.glob("plot_*.py")}
    assert set(script("report").ORDER) == names


# ---------------------------------------------------------------- preparation


def test_reviews_are_cleaned_as_the_authors_do(script):
    cleaned = script("prepare").clean(
        "It's <br />soooo good!!! See https://a.b/c, a 10/10 caf\u00e9"
    )
    assert cleaned == "It s soo good See a caf"


@pytest.fixture
def wordnet(tmp_path):
    (tmp_path / "index.noun").write_text("  1 a licence\nmovie n 1\nwolf n 1\nus n 1\nwa n 1\n")
    (tmp_path / "noun.exc").write_text("wolves wolf\n")
    return tmp_path


def test_nouns_become_singular_and_stop_words_go_before_and_after(script, wordnet):
    prepare: ModuleType = script("prepare")
    lemmatize = prepare.Lemmatizer(wordnet)
    assert [lemmatize(word) for word in ["movies", "wolves", "us", "Movies", "was"]] == [
        *["movie", "wolf", "us", "Movies", "wa"]
    ]
    assert prepare.words_of(["I cannot say that this was not a movies"], lemmatize) == [
        ["I", "say", "movie"]
    ]


# ---------------------------------------------------------------- training


@pytest.fixture
def train(script):
    pytest.importorskip("torch")
    return script("train")


def test_training_starts_from_the_authors_numbers(train):
    import torch

    torch.manual_seed(0)
    assert train.Network(121_296, 2).alpha.item() == pytest.approx(0.98210, abs=5e-6)


@pytest.mark.parametrize(
    "options", [{}, {"loss": "logits", "batches": "numpy", "start": "fresh", "order": 3}]
)
def test_training_lowers_the_loss(options, train):
    rng = np.random.default_rng(0)
    ids = rng.integers(3, 40, (300, 6)).astype(np.int32)
    labels = rng.integers(0, 2, 300).astype(np.int8)
    ids[:, 0] = np.where(labels == 1, 1, 2)
    result, weights = train.train(
        ids, labels, 40, 2, epochs=11, progress=lambda line: None, **options
    )
    assert result["train_loss"][-1] < 0.99 * result["train_loss"][0]
    assert len(result["test_accuracy"]) == 11
    assert result["hardmax"]["epoch"] == [0, 10]
    assert weights["embedding"].shape == weights["best_embedding"].shape == (40, 2)


class Malicious:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, ("it-ran",)


def test_the_authors_weights_are_read_without_running_anything(script, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    torch.save({"encoder.weight": Malicious()}, "weights.pth")
    with pytest.raises(Exception, match=r"[Ww]eights.only"):
        script("measure").load_authors(Path("weights.pth"))
    assert not Path("it-ran").exists()
