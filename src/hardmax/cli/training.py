"""A corpus made into a model, measured on what was held out."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.text.data.corpora import Corpus
from hardmax.text.evaluate.evaluation import evaluate_model
from hardmax.text.text_model import TextModel
from hardmax.train.recipe import Recipe

if TYPE_CHECKING:
    from hardmax.train.log import Epoch


def train_on(
    corpus: Corpus,
    recipe: Recipe,
    fit: Callable[..., TextModel],
    checkpoint: Path,
    progress: "Callable[[Epoch], None] | None",
) -> TextModel:
    """The model that the recipe makes of the corpus, with what was measured in its `metrics`."""
    classes, numbers = corpus.numbered()
    model = fit(corpus.texts, numbers, recipe, folder=checkpoint, progress=progress)
    model = replace(model, classes=classes)
    measured = _measure(model, corpus, numbers, recipe)
    return replace(model, metrics={"texts": len(corpus)} | measured | model.metrics)


def _measure(model: TextModel, corpus: Corpus, numbers: np.ndarray, recipe: Recipe) -> dict[str, Any]:
    """On the texts that were held out; nothing if there are none."""
    from hardmax.train.fitting import hold_out

    rows = np.flatnonzero(hold_out(numbers, recipe.validation_fraction, recipe.seed))
    if not len(rows):
        return {}
    found = evaluate_model(model, [corpus.texts[row] for row in rows], [corpus.labels[row] for row in rows])
    return {f"validation_{name}": value for name, value in found.metrics.items()}
