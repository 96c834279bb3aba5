"""Trainings in paper mode for the pieces that show them: kept ones, ones made now, and the authors' own.

A training of the full IMDb takes minutes on a GPU and hours on a processor, so that results of ours come with the
package (`kept/`), as do the authors' curves. Where one is missing, planted words stand in for the reviews.
"""

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._validation import require_extra
from hardmax.paper.piece import Setting
from hardmax.text import plant
from hardmax.text.corpora import read_corpus

KEPT, IMDB, PLANTED = "IMDb, kept", "IMDb", "planted words"


def authors_history(dimension: int) -> dict[str, Any]:
    """The authors' loss and accuracy, epoch by epoch, with four digits."""
    return json.loads((files("hardmax.paper") / "kept" / "authors.json").read_text("utf-8"))[str(dimension)]


def epoch_times() -> dict[str, Any]:
    """How long an epoch took on a GPU, and how much memory, with softmax ("paper") and with hardmax ("exact")."""
    return json.loads((files("hardmax.paper") / "kept" / "times.json").read_text("utf-8"))


def kept_file(dimension: int, kind: str) -> Traversable:
    """Where the training of a kind is, if it is kept."""
    return files("hardmax.paper") / "kept" / f"d{dimension}-{kind}.json"


def kept_training(dimension: int, kind: str) -> dict[str, Any]:
    """The document of a training that is kept."""
    return json.loads(kept_file(dimension, kind).read_text("utf-8"))


def our_result(dimension: int, kind: str, setting: Setting) -> dict[str, Any]:
    """The document of a training of a kind ("paper", "validated" or "exact"), with where its reviews came from.

    With all the time, and the reviews, it is trained now. Else it is the kept one, or a short one on planted words.
    """
    if setting.full and setting.data is not None:
        setting.progress(f"paper mode, d = {dimension}, {kind}: trains on IMDb")
        return _trained_on_imdb(dimension, kind, setting.data, setting.seed) | {"source": IMDB}
    if kept_file(dimension, kind).is_file():
        return kept_training(dimension, kind) | {"source": KEPT}
    setting.progress(f"paper mode, d = {dimension}, {kind}: trains on planted words")
    return _trained_on_planted_words(dimension, kind, setting.seed) | {"source": PLANTED}


@cache
def _trained_on_imdb(dimension: int, kind: str, data: Path, seed: int) -> dict[str, Any]:
    require_extra("Paper mode", "train", "torch")
    import torch

    from hardmax.paper.mode.running import train_paper

    ids, labels, words = _reviews(data, seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return train_paper(ids, labels, dimension, words=words, kind=kind, seed=seed, device=device)


@cache
def _reviews(data: Path, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    from hardmax.paper.reviews.lemmas import find_lemmas
    from hardmax.paper.reviews.preparing import prepare_reviews

    corpora = [read_corpus(data / f"{split}.parquet", on_bad_rows="refuse") for split in ("train", "test")]
    texts, labels = ([item for corpus in corpora for item in getattr(corpus, part)] for part in ("texts", "labels"))
    reviews = prepare_reviews(texts, labels, find_lemmas(), seed=seed)
    return reviews.ids, reviews.labels, len(reviews.vocabulary)


@cache
def _trained_on_planted_words(dimension: int, kind: str, seed: int) -> dict[str, Any]:
    """Some seconds: few and short reviews, and steps of Adam so much longer that thirty epochs learn something."""
    require_extra("Paper mode", "train", "torch")
    from hardmax.paper.mode.plan import plan_of
    from hardmax.paper.mode.results import result_of
    from hardmax.paper.mode.reviews_on_device import put_on_device
    from hardmax.paper.mode.training import Training
    from hardmax.paper.reviews.preparing import prepare_reviews

    corpus = plant(600, seed=seed)
    reviews = prepare_reviews(
        corpus.texts, [label == "positive" for label in corpus.labels], None, seed=seed, length=32
    )
    plan = replace(plan_of(dimension, kind, epochs=31, seed=seed), learning_rate=0.01)
    training = Training(put_on_device(reviews.ids, reviews.labels, len(reviews.vocabulary), "cpu"), plan)
    for _ in training.advance():
        pass
    return result_of(training)
