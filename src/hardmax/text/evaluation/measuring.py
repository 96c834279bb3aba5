"""A model measured on texts with labels: numbers, and which words lead."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._validation import InputError
from hardmax.text.evaluation.metrics import evaluate
from hardmax.text.knowing.leading import Leader
from hardmax.text.knowing.statistics import LeaderStatistics, statistics_of
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.texts import TextBytes


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What was measured; `metrics` by name, ready for JSON."""

    truth: np.ndarray
    predicted: np.ndarray
    probabilities: np.ndarray
    metrics: dict[str, Any]
    statistics: LeaderStatistics

    @property
    def leaders(self) -> tuple[Leader, ...]:
        """The words that lead, the most frequent first."""
        return self.statistics.leaders


def evaluate_model(model: TextModel, texts: Sequence[str] | TextBytes, labels: Sequence[Any]) -> Evaluation:
    """Measure the model on these texts; the labels are the model's classes, or say the same."""
    truth = _numbers(labels, model.classes)
    found = model.analyse(texts)
    predicted = model.predicted(found)
    metrics = evaluate(truth, found.probabilities, predicted) | {
        "undecided": float((~found.decided).mean()),
        "leaders_per_text": float(found.leaders_per_text.mean()),
        "words_that_count": float(found.counting_per_text.mean()),
        "mass_on_leaders": float(found.mass_on_leaders.mean()),
        "texts_without_a_known_word": int((np.diff(found.offsets) <= (model.extra is not None)).sum()),
    }
    return Evaluation(truth, predicted, found.probabilities, metrics, statistics_of(model, found))


def _numbers(labels: Sequence[Any], classes: Sequence[Any]) -> np.ndarray:
    # A CSV file has only texts: "1" there is the class 1 of a model that was trained on a table of numbers.
    number = {str(name): c for c, name in enumerate(classes)} | {name: c for c, name in enumerate(classes)}
    for label in labels:
        if label not in number and str(label) not in number:
            known, pairs = ", ".join(map(str, classes)), f"{label}={classes[0]},…"
            problem = f"The data have the label {label!r}: the model knows {known}."
            raise InputError(f"{problem} Rename the labels; on the command line, with --map {pairs}.")
    return np.array([number[label] if label in number else number[str(label)] for label in labels])
