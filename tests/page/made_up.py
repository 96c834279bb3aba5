"""Models with weights that are known, so that no test of the page depends on what was trained."""

from typing import Any

import numpy as np

from hardmax.text import Modifier, TextModel, Vocabulary, VotingRule

WEIGHTS = {
    "awful": -8,
    "boring": -4,
    "dull": -5,
    "script": -1,
    "film": 0.01,
    "the two": 0.5,
    "not boring": 2,
    "great": 6,
    "lovely": 6,
    "wonderful": 7,
    "טוב": 3,
}
MODIFIERS = (
    Modifier("never", -0.5),
    Modifier("not", -0.5),
    Modifier("*n't", -0.5),
    Modifier("very", 2),
)


def two_classes(**changes: Any) -> TextModel:
    """A model of films."""
    parts = {
        "vocabulary": Vocabulary(list(WEIGHTS), np.ones((len(WEIGHTS), 2))),
        "weights": [[weight] for weight in WEIGHTS.values()],
        "bias": [0.25],
        "classes": ["negative", "positive"],
        "modifiers": [*MODIFIERS, Modifier("לא", -0.5)],
        "rule": VotingRule(gate=0.01),
        "name": "films",
    }
    return TextModel(**(parts | changes))


def many_classes(classes: int = 4) -> TextModel:
    """A model that knows the same words, with weights drawn at random."""
    rng = np.random.default_rng(0)
    return TextModel(
        vocabulary=Vocabulary(list(WEIGHTS), rng.integers(0, 9, (len(WEIGHTS), classes))),
        weights=3 * rng.normal(size=(len(WEIGHTS), classes)),
        bias=rng.normal(size=classes) / 4,
        classes=tuple(f"class {number}" for number in range(classes)),
        modifiers=MODIFIERS,
    )
