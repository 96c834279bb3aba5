"""A corpus made into a model, measured on what was held out."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hardmax.text.data.corpora import Corpus
from hardmax.text.evaluation.measuring import evaluate_model
from hardmax.text.text_model import TextModel
from hardmax.train import fitting
from hardmax.train.examples import hold_out
from hardmax.train.log import Epoch
from hardmax.train.recipe import Recipe


def fit_corpus(
    corpus: Corpus,
    recipe: Recipe,
    *,
    folder: str | Path | None = None,
    progress: Callable[[Epoch], None] | None = None,
) -> TextModel:
    """The model that the recipe makes of the corpus, with its classes, and with what was measured in its `metrics`;
    `folder` and `progress` are as in `fit`."""
    classes, numbers = corpus.numbered()
    model = fitting.fit(corpus.texts, numbers, recipe, folder=folder, progress=progress)
    model = replace(model, classes=classes)
    measured = _measure(model, corpus, numbers, recipe)
    return replace(model, metrics={"texts": len(corpus)} | measured | model.metrics)


def _measure(model: TextModel, corpus: Corpus, numbers: np.ndarray, recipe: Recipe) -> dict[str, Any]:
    """On the texts that were held out; nothing if there are none."""
    rows = np.flatnonzero(hold_out(numbers, recipe.validation_fraction, recipe.seed))
    if not len(rows):
        return {}
    found = evaluate_model(model, [corpus.texts[row] for row in rows], [corpus.labels[row] for row in rows])
    return {f"validation_{name}": value for name, value in found.metrics.items()}
