"""Labels of any kind, read at the door: numbers of classes for the training, and the classes as they came."""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from hardmax._validation import InputError, check_numeric, shorten
from hardmax.text.tokens.texts import is_missing


def read_targets(y: Any, texts: int) -> tuple[np.ndarray, np.ndarray]:
    """(classes, numbers): the different labels in order, of the dtype in which they came, and each text's number.

    >>> classes, numbers = read_targets(["pos", "neg", "pos"], 3)
    >>> classes.tolist(), numbers.tolist()
    (['neg', 'pos'], [1, 0, 1])
    """
    if y is None:
        raise InputError("`y`: HardmaxClassifier requires y to be passed, but the target y is None.")
    labels = _flat(y)
    if len(labels) != texts:
        raise InputError(f"`y` has {len(labels)} labels for {texts} texts: expected one for each text.")
    _refuse_missing(labels)
    _refuse_measurements(labels)
    _refuse_mixtures(y, labels)
    try:
        classes, numbers = np.unique(labels, return_inverse=True)
    except Exception as error:  # whatever comparing labels raises
        why = shorten(str(error), 80)
        raise InputError(f"`y` has labels that cannot be put in order: {why}. Give texts or numbers.") from None
    if len(classes) < 2:
        raise InputError(f"`y` has one class, {classes[0]!r}, alone: expected at least two to tell apart.")
    return classes, numbers.astype(np.int64)


def plain_names(classes: np.ndarray) -> tuple[Any, ...]:
    """The classes as a model folder can hold them: texts, numbers, truth values; anything else by what it says."""
    values = classes.tolist()
    return tuple(value if isinstance(value, str | int | float | bool) else str(value) for value in values)


def _flat(y: Any) -> np.ndarray:
    check_numeric(y, "`y`")
    try:
        return column_or_1d(y, warn=True)
    except Exception:  # of scikit-learn, or of whatever was given
        raise InputError("`y` must hold one label for each text: give a list or a column of labels.") from None


def _refuse_missing(labels: np.ndarray) -> None:
    if labels.dtype.kind not in "fO":
        return
    for row, label in enumerate(labels.tolist()):
        if is_missing(label):
            raise InputError(f"`y` row {row} is missing (NaN): give the text a label, or leave it out.")


def _refuse_measurements(labels: np.ndarray) -> None:
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        raise InputError("`y` has fractions. Unknown label type: continuous. Give every text a class.")


def _refuse_mixtures(y: Any, labels: np.ndarray) -> None:
    # numpy makes texts of all of them, and 1 would come back as "1".
    if labels.dtype.kind == "U" and isinstance(y, list | tuple):
        other = next((label for label in y if not isinstance(label, str)), "")
        if not isinstance(other, str):
            raise InputError(f"`y` mixes texts with {shorten(other)}: give all labels as texts, or none.")
