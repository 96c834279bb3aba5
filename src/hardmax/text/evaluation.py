"""How good a classifier is: accuracy, calibration, and what leads."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._tokens.batches import float_array
from hardmax._validation import InputError, check_int, require_extra, shorten
from hardmax.text._analysis import predicted_classes
from hardmax.text._texts import SHOWN, class_numbers
from hardmax.text.interpret import Leader, frequent_leaders
from hardmax.text.text_model import TextModel

BINS = 15


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a model was measured to be on texts with labels."""

    truth: np.ndarray
    """The number of the class of each text."""
    predicted: np.ndarray
    """The number of the class that the model predicts."""
    decided: np.ndarray
    """Whether each text is decided."""
    probabilities: np.ndarray
    metrics: dict[str, Any]
    """By name, ready for JSON."""
    leaders: tuple[Leader, ...]
    """The tokens that lead, the most frequent first."""


def evaluate(truth: Any, probabilities: Any, predicted: Any = None) -> dict[str, Any]:
    """Metrics of a classifier, by scikit-learn (extra `sklearn`).

    Parameters
    ----------
    truth : array_like of int, of shape (texts,)
        The class of each text as a number 0, 1, ….
    probabilities : array_like of shape (texts, classes)
        What was predicted.
    predicted : array_like of int, optional
        The predicted classes; by default the most probable ones.

    Returns
    -------
    dict
        Accuracy, balanced accuracy, F1 (macro, and of the second of two classes), log loss, the Brier score over all
        classes (0 to 2), the expected calibration error in 15 bins of equally many texts, and the confusion matrix.

    Examples
    --------
    >>> found = evaluate([0, 1, 1, 1], [[0.5, 0.5], [0.2, 0.8], [0.6, 0.4], [0.25, 0.75]])
    >>> found["accuracy"], found["confusion"]
    (0.75, [[1, 0], [1, 2]])
    """
    require_extra("`evaluate`", "sklearn", "sklearn")
    from sklearn.metrics import confusion_matrix, f1_score, log_loss, recall_score

    truth, table = _table(truth, probabilities)
    labels = np.arange(table.shape[1])
    never: Any = 0.0  # the F1 of a class that neither occurs nor is predicted
    predicted = class_numbers(table.argmax(axis=1) if predicted is None else predicted, "`predicted`", len(labels))
    if len(predicted) != len(truth):
        raise InputError(f"`predicted` has {len(predicted)} entries: expected {len(truth)}, one for each text.")
    return {
        "texts": len(truth),
        "accuracy": float((truth == predicted).mean()),
        # Of the classes that occur: 1 / classes is chance, however many texts each has.
        "balanced_accuracy": float(recall_score(truth, predicted, labels=np.unique(truth), average="macro")),
        "f1_macro": float(f1_score(truth, predicted, labels=labels, average="macro", zero_division=never)),
        **({"f1_binary": float(f1_score(truth, predicted, zero_division=never))} if len(labels) == 2 else {}),
        "log_loss": float(log_loss(truth, table, labels=labels)),
        "brier": float(((table - np.eye(len(labels))[truth]) ** 2).sum(axis=1).mean()),
        "calibration_error": calibration_error(truth, table),
        "confusion": confusion_matrix(truth, predicted, labels=labels).tolist(),
    }


def calibration_curve(truth: Any, probabilities: Any, bins: int = BINS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(confidence, accuracy, texts) in bins of equally many texts, sorted by the probability of the predicted class."""
    # scikit-learn's curve does not tell how many texts a bin has, and takes one class of two.
    truth, table = _table(truth, probabilities)
    confidence, right = table.max(axis=1), table.argmax(axis=1) == truth
    bins = check_int(bins, "`bins`", at_least=1, at_most=len(truth) + BINS)
    parts = [part for part in np.array_split(np.argsort(confidence, kind="stable"), bins) if len(part)]
    means = [(confidence[part].mean(), right[part].mean(), len(part)) for part in parts]
    said, true, texts = (np.array(column) for column in zip(*means, strict=True))
    return said, true, texts


def calibration_error(truth: Any, probabilities: Any, bins: int = BINS) -> float:
    """The expected calibration error (ECE), in 15 bins of equal mass: the mean gap of confidence and accuracy.

    >>> calibration_error([0, 1], [[0.5, 0.5], [0.25, 0.75]], bins=1)
    0.375
    """
    confidence, right, texts = calibration_curve(truth, probabilities, bins)
    return float((np.abs(confidence - right) * texts).sum() / texts.sum())


def evaluate_model(model: TextModel, texts: Any, labels: Sequence[Any]) -> Evaluation:
    """Measure a model on texts; the labels are the model's classes, or read the same.

    Undecided texts count as the class that `predict` gives them; `undecided` is their share, and `accuracy_decided` is
    of the others.
    """
    truth = _numbers(labels, model.classes)
    found = model.analyse(texts)
    predicted, decided = predicted_classes(model, found), found.decided
    metrics = evaluate(truth, found.probabilities, predicted) | {
        "undecided": float((~decided).mean()),
        "accuracy_decided": float((truth == predicted)[decided].mean()) if decided.any() else None,
        "leaders_per_text": float(found.leaders_per_text.mean()),
        "active_tokens": float(found.active_per_text.mean()),
    }
    return Evaluation(truth, predicted, decided, found.probabilities, metrics, frequent_leaders(model, found))


def _numbers(labels: Any, classes: Sequence[Any]) -> np.ndarray:
    # A CSV file has only texts: "1" there is the class 1 of a model that was trained on a table of numbers.
    number = {str(name): c for c, name in enumerate(classes)} | {name: c for c, name in enumerate(classes)}
    listed = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    for label in listed:
        if not isinstance(label, str | int | float) or (label not in number and str(label) not in number):
            known = ", ".join(map(str, classes[:SHOWN])) + ", …" * (len(classes) > SHOWN)
            hint = f"Rename the labels; on the command line, with --map {label}={classes[0]},…."
            raise InputError(f"`labels` has {shorten(label)}: the model knows {known}. {hint}")
    return np.array([number[label] if label in number else number[str(label)] for label in listed], dtype=np.int64)


def _table(truth: Any, probabilities: Any) -> tuple[np.ndarray, np.ndarray]:
    table = float_array(probabilities, "`probabilities`")
    if table.ndim != 2 or not table.size or not ((table >= 0) & (table <= 1)).all():
        expected = "a row for each text and a column for each class, of numbers from 0 to 1"
        raise InputError(f"`probabilities` must be {expected}, not {shorten(probabilities)}.")
    truth = class_numbers(truth, "`truth`", table.shape[1])
    if len(truth) != len(table):
        raise InputError(f"`truth` has {len(truth)} entries: expected {len(table)}, one for each row of probabilities.")
    return truth, table
