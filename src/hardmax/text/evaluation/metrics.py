"""How good a classifier is, in numbers. numpy alone."""

from typing import Any

import numpy as np

from hardmax._tokens.batches import float_array
from hardmax._validation import InputError, check_int, shorten
from hardmax.text.labels import MOST_CLASSES, class_numbers

BINS = 15


def accuracy(truth: Any, predicted: Any) -> float:
    """The share of the texts whose class is the predicted one.

    >>> accuracy([0, 1, 1, 1], [0, 1, 0, 1])
    0.75
    """
    truth, predicted = _pair(truth, predicted)
    return float((truth == predicted).mean())


def confusion(truth: Any, predicted: Any, classes: int) -> np.ndarray:
    """Row by true class, column by predicted class: how many texts.

    >>> confusion([0, 1, 1, 1], [0, 1, 0, 1], 2).tolist()
    [[1, 0], [1, 2]]
    """
    classes = check_int(classes, "`classes`", at_least=1, at_most=MOST_CLASSES)
    truth, predicted = _pair(class_numbers(truth, "`truth`", classes), class_numbers(predicted, "`predicted`", classes))
    return np.bincount(truth * classes + predicted, minlength=classes**2).reshape(classes, classes)


def f1_by_class(truth: Any, predicted: Any, classes: int) -> np.ndarray:
    """For each class 2 · hits / (2 · hits + misses + false alarms); 0 where the class never occurs nor is predicted."""
    table = confusion(truth, predicted, classes)
    hits, total = np.diag(table), table.sum(axis=0) + table.sum(axis=1)
    return np.divide(2 * hits, total, out=np.zeros(classes), where=total > 0)


def f1_macro(truth: Any, predicted: Any, classes: int) -> float:
    """The mean of F1 over the classes.

    >>> round(f1_macro([0, 1, 1, 1], [0, 1, 0, 1], 2), 4)
    0.7333
    """
    return float(f1_by_class(truth, predicted, classes).mean())


def f1_binary(truth: Any, predicted: Any) -> float:
    """F1 of the second of two classes.

    >>> f1_binary([0, 1, 1, 1], [0, 1, 0, 1])
    0.8
    """
    return float(f1_by_class(truth, predicted, 2)[1])


def balanced_accuracy(truth: Any, predicted: Any, classes: int) -> float:
    """The mean share of each class that is found, over the classes that occur: 1/classes is chance, however many texts
    each has.

    >>> balanced_accuracy([0, 0, 0, 1], [0, 0, 0, 0], classes=2)
    0.5
    """
    table = confusion(truth, predicted, classes)
    occurs = table.sum(axis=1) > 0
    return float((np.diag(table)[occurs] / table.sum(axis=1)[occurs]).mean())


def log_loss(truth: Any, probabilities: Any) -> float:
    """The mean of -log of the probability given to the true class, which is taken to be at least 1e-15.

    >>> round(log_loss([0, 1], [[0.5, 0.5], [0.25, 0.75]]), 4)
    0.4904
    """
    truth, table = _table(truth, probabilities)
    return float(-np.log(np.maximum(table[np.arange(len(truth)), truth], 1e-15)).mean())


def brier(truth: Any, probabilities: Any) -> float:
    """The mean squared distance between probabilities and the truth, over all classes: 0 to 2.

    >>> brier([0, 1], [[0.5, 0.5], [0.25, 0.75]])
    0.3125
    """
    truth, table = _table(truth, probabilities)
    return float(((table - np.eye(table.shape[1])[truth]) ** 2).sum(axis=1).mean())


def calibration_curve(truth: Any, probabilities: Any, bins: int = BINS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(confidence, accuracy, texts) in bins of equally many texts, sorted by the probability of the predicted class."""
    truth, table = _table(truth, probabilities)
    confidence, right = table.max(axis=1), table.argmax(axis=1) == truth
    order = np.argsort(confidence, kind="stable")
    bins = check_int(bins, "`bins`", at_least=1, at_most=len(order) + BINS)
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return (
        np.array([confidence[part].mean() for part in parts]),
        np.array([right[part].mean() for part in parts]),
        np.array([len(part) for part in parts]),
    )


def calibration_error(truth: Any, probabilities: Any, bins: int = BINS) -> float:
    """The expected calibration error (ECE), in 15 bins of equal mass: the mean gap of confidence and accuracy.

    >>> calibration_error([0, 1], [[0.5, 0.5], [0.25, 0.75]], bins=1)
    0.375
    """
    confidence, right, texts = calibration_curve(truth, probabilities, bins)
    return float((np.abs(confidence - right) * texts).sum() / texts.sum())


def evaluate(truth: Any, probabilities: Any, predicted: Any = None) -> dict[str, Any]:
    """All of these by name; the confusion as a list of rows. F1 is macro, and `f1_binary` of the second of two.

    The predicted classes are the most probable ones unless they are given.
    """
    truth, table = _table(truth, probabilities)
    predicted, classes = table.argmax(axis=1) if predicted is None else predicted, table.shape[1]
    return {
        "texts": len(truth),
        "accuracy": accuracy(truth, predicted),
        "balanced_accuracy": balanced_accuracy(truth, predicted, classes),
        "f1_macro": f1_macro(truth, predicted, classes),
        **({"f1_binary": f1_binary(truth, predicted)} if classes == 2 else {}),
        "log_loss": log_loss(truth, table),
        "brier": brier(truth, table),
        "calibration_error": calibration_error(truth, table),
        "confusion": confusion(truth, predicted, classes).tolist(),
    }


def _pair(truth: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
    truth, predicted = np.asarray(truth), np.asarray(predicted)
    if truth.shape != predicted.shape or truth.ndim != 1 or not len(truth):
        shapes = f"`truth` has shape {truth.shape}, `predicted` {predicted.shape}"
        raise InputError(f"{shapes}: expected equally many classes, at least one.")
    return truth, predicted


def _table(truth: Any, probabilities: Any) -> tuple[np.ndarray, np.ndarray]:
    table = float_array(probabilities, "`probabilities`")
    if table.ndim != 2 or not table.size or not ((table >= 0) & (table <= 1)).all():
        wish = "a row for each text and a column for each class, of numbers from 0 to 1"
        raise InputError(f"`probabilities` must be {wish}, not {shorten(probabilities)}.")
    truth = class_numbers(truth, "`truth`", table.shape[1])
    if truth.shape != (len(table),) or not len(truth):
        shapes = f"`probabilities` has shape {table.shape}, `truth` {truth.shape}"
        raise InputError(f"{shapes}: expected a row for each text and a column for each class.")
    return truth, table
