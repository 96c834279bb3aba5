"""Labels as numbers of classes."""

from typing import Any

import numpy as np

from hardmax._tokens.batches import as_array, whole_numbers
from hardmax._validation import InputError, shorten

MOST_CLASSES = 10_000
SHOWN = 10


def class_numbers(labels: Any, name: str, classes: int = MOST_CLASSES) -> np.ndarray:
    """The numbers of classes that labels are: whole numbers from 0 up, or truth values. A negative one would count
    from the end.

    >>> class_numbers([True, False], "`labels`").tolist()
    [1, 0]
    """
    array = as_array(labels, name)
    are_truths = array.dtype == bool or all(isinstance(entry, bool | np.bool_) for entry in array.ravel().tolist())
    numbers = array.astype(np.int64) if are_truths else whole_numbers(labels, name)
    if numbers.ndim != 1 or (numbers.size and not 0 <= numbers.min() <= numbers.max() < classes):
        raise InputError(f"{name} must be numbers of classes from 0 to {classes - 1}, not {shorten(labels)}.")
    return numbers


def number_of_class(label: Any, classes: tuple[Any, ...], name: str) -> int:
    """The number of the class that a label names.

    >>> number_of_class("good", ("bad", "good"), "`label`")
    1
    """
    # What is no label may have a comparison of its own, which says neither yes nor no.
    if not isinstance(label, str | int | float | np.generic) or label not in classes:
        named = ", ".join(shorten(each) for each in classes[:SHOWN]) + ", …" * (len(classes) > SHOWN)
        raise InputError(f"{name} must be one of {named}, not {shorten(label)}.", argument=name)
    return classes.index(label)
