"""A corpus made into a model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hardmax.text.data.corpora import Corpus
from hardmax.text.text_model import TextModel
from hardmax.train import fitting
from hardmax.train.log import Epoch
from hardmax.train.recipe import Recipe
from hardmax.train.suited import Suited


def fit_corpus(
    corpus: Corpus,
    recipe: Recipe | Suited | None = None,
    *,
    folder: str | Path | None = None,
    progress: Callable[[Epoch], None] | None = None,
) -> TextModel:
    """The model that the recipe makes of the corpus, with its classes, and with what was measured in its `metrics`;
    `folder` and `progress` are as in `fit`."""
    classes, numbers = corpus.numbered()
    model = fitting.fit(corpus.texts, numbers, recipe, folder=folder, progress=progress)
    return replace(model, classes=classes, metrics={"texts": len(corpus)} | model.metrics)
