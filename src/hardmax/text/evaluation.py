"""How good a classifier is: accuracy, calibration, and what leads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.format import first_few
from hardmax._common.validation import InputError, shorten
from hardmax.text._texts import SHOWN
from hardmax.text.interpret import Leader, frequent_leaders

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

_BINS = 15


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a model was measured to be on texts with labels."""

    truth: np.ndarray
    """The number of the class of each text."""
    predicted: np.ndarray
    """The number of the class that the model predicts."""
    probabilities: np.ndarray
    metrics: dict[str, Any]
    """By name, ready for JSON."""
    leaders: tuple[Leader, ...]
    """The tokens that lead, the most frequent first."""


def evaluate(truth: np.ndarray, probabilities: np.ndarray) -> dict[str, Any]:
    """Metrics of a classifier, which predicts the most probable class: `truth` are numbers of
    classes; `f1` is that of each class, 0 if it neither occurs nor is predicted.

    >>> chances = np.array([[0.5, 0.5], [0.2, 0.8], [0.6, 0.4], [0.25, 0.75]])
    >>> found = evaluate(np.array([0, 1, 1, 1]), chances)
    >>> found["accuracy"], found["confusion"]
    (0.75, [[1, 0], [1, 2]])
    """
    table = _confusion(truth, probabilities.argmax(axis=1), probabilities)
    right, texts = table.diagonal(), table.sum(axis=1)
    f1 = 2 * right / np.maximum(texts + table.sum(axis=0), 1)
    return {
        "texts": len(truth),
        "accuracy": float(right.sum() / len(truth)),
        "f1": f1.tolist(),
        "f1_macro": float(f1.mean()),
        "log_loss": _log_loss(truth, probabilities),
        "calibration_error": calibration_error(truth, probabilities),
        "confusion": table.tolist(),
    }


def _confusion(truth: np.ndarray, predicted: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """How many texts of each class are predicted to be of each."""
    classes = np.eye(probabilities.shape[1], dtype=int)
    return classes[truth].T @ classes[predicted]


def _log_loss(truth: np.ndarray, probabilities: np.ndarray) -> float:
    of_truth = probabilities[np.arange(len(truth)), truth]
    return float(-np.log(np.maximum(of_truth, np.finfo(float).tiny)).mean())


def calibration_curve(
    truth: np.ndarray, probabilities: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(confidence, accuracy, texts) in 15 bins of equally many texts, sorted by the probability of
    the predicted class."""
    # scikit-learn's curve does not tell how many texts a bin has, and takes one class of two.
    confidence, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == truth
    bins = np.array_split(np.argsort(confidence, kind="stable"), min(_BINS, len(truth)))
    means = [(confidence[part].mean(), right[part].mean(), len(part)) for part in bins]
    mean_confidence, accuracy, texts = np.transpose(means)
    return mean_confidence, accuracy, texts


def calibration_error(truth: np.ndarray, probabilities: np.ndarray) -> float:
    """The expected calibration error (ECE), in bins of equal mass: the mean gap of confidence and
    accuracy.

    >>> calibration_error(np.array([0, 1]), np.array([[0.5, 0.5], [0.25, 0.75]]))
    0.375
    """
    confidence, right, texts = calibration_curve(truth, probabilities)
    return float(np.average(np.abs(confidence - right), weights=texts))


def summarize(
    on: str, truth: np.ndarray, predicted: np.ndarray, probabilities: np.ndarray
) -> dict[str, Any]:
    """What a model card says of an evaluation, ready for JSON (`metrics["evaluations"]`): what it
    was measured on, (texts, right answers) of each class, log loss, calibration curve.

    >>> chances = np.array([[0.5, 0.5], [0.2, 0.8], [0.75, 0.25]])
    >>> summarize("three texts", np.array([0, 1, 1]), np.array([0, 1, 0]), chances)["classes"]
    [[1, 1], [2, 1]]
    """
    table = _confusion(truth, predicted, probabilities)
    curve = np.transpose(calibration_curve(truth, probabilities))
    return {
        "on": on,
        "classes": np.transpose([table.sum(axis=1), table.diagonal()]).tolist(),
        "log_loss": _log_loss(truth, probabilities),
        "calibration": curve.round(6).tolist(),
    }


def evaluate_model(model: "TextModel", texts: Any, labels: Sequence[Any]) -> Evaluation:
    """Measure a model on texts; the labels are the model's classes, or read the same.

    Undecided texts count as the class that `predict` gives them; `undecided` is their share."""
    truth = read_labels(labels, model.classes)
    found = model.analyse(texts)
    metrics = evaluate(truth, found.probabilities) | {
        "undecided": float((~found.decided).mean()),
        "leaders_per_text": float(found.leaders_per_text.mean()),
        "active_tokens": float(found.active_per_text.mean()),
    }
    leaders = frequent_leaders(model, found)
    return Evaluation(truth, found.predicted, found.probabilities, metrics, leaders)


def read_labels(labels: Sequence[Any], classes: Sequence[Any]) -> np.ndarray:
    """The numbers of the classes of labels: in a CSV file, "1" is the class 1."""
    number_of: dict[Any, int] = {str(name): number for number, name in enumerate(classes)}
    number_of |= {name: number for number, name in enumerate(classes)}
    numbers = [number_of.get(label, number_of.get(str(label), -1)) for label in labels]
    if -1 in numbers:
        known = first_few(map(str, classes), SHOWN)
        label = labels[numbers.index(-1)]
        hint = f"Rename the labels; on the command line, with --map {label}={classes[0]},…."
        raise InputError(f"`labels` has {shorten(label)}: the model knows {known}. {hint}")
    return np.array(numbers)
