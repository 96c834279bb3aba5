"""What is asked of the fields of a recipe: lists of checks, and small texts to ask it of."""

# pyright: reportMissingImports=false
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hardmax.text.text_model import TextModel
from hardmax.train import Recipe, fit

# Four batches an epoch of forty texts, at the full step from the beginning.
SMALL = Recipe(
    layers=2,
    epochs=4,
    bag_of_words_epochs=0.0,
    alpha_warmup_epochs=0.0,
    batch_size=10,
    word_dropout=0.0,
    validation_fraction=0.0,
)
# Nothing is learned, so that the model is what training started from.
FROZEN = replace(SMALL, epochs=1, learning_rate=1e-12, longest_phrase=1, thrift=0.0, min_df=1)

# Words by how many texts of either class say them: "loud" and "dull" tell the classes apart, "calm" a little.
SAID = {"loud": (0, 12), "dull": (12, 0), "calm": (6, 8), "both": (12, 12), "rare": (0, 1)}


class Checks(list[tuple[str, Callable[[], None]]]):
    """Checks, each with the name of the field that it is about."""

    def of(self, field: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
        """Add a check of a field."""

        def add(check: Callable[[], None]) -> Callable[[], None]:
            self.append((field, check))
            return check

        return add


def reviews() -> tuple[list[str], np.ndarray]:
    """Texts of two classes, taking turns; word w is in the first `SAID[w][c]` texts of class c."""
    texts = [" ".join(w for w, often in SAID.items() if n < often[c]) for n in range(12) for c in (0, 1)]
    return texts, np.arange(24) % 2


def mixed_reviews() -> tuple[list[str], np.ndarray]:
    """Texts of eight words, each more or less likely in either class."""
    rng = np.random.default_rng(4)
    labels, likely = np.arange(40) % 2, rng.uniform(0.05, 0.9, (2, 8))
    rows = [np.flatnonzero(rng.random(8) < likely[c]) for c in labels]
    return [" ".join(f"word{'abcdefgh'[w]}" for w in row) for row in rows], labels


def known(recipe: Recipe, texts: Any = None, labels: Any = None) -> set[str]:
    """The words that a model of some texts knows."""
    return set(_model(recipe, texts, labels).vocabulary.surfaces)


def starts(recipe: Recipe, texts: Any = None, labels: Any = None) -> dict[str, float]:
    """Where words are along the axis that decides."""
    model = _model(recipe, texts, labels)
    return dict(zip(model.vocabulary.surfaces, model.embeddings[:, 0].tolist(), strict=True))


def _model(recipe: Recipe, texts: Any, labels: Any) -> TextModel:
    return fit(*reviews(), recipe) if texts is None else fit(texts, labels, recipe)
