"""What must fit together in a model, checked once, when it is made or read."""

from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.checking import instance, one_of, real_number, short, whole_number
from hardmax.errors import InputError
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.text.tokens.vocabulary import Vocabulary
from hardmax.tokens.batches import whole_numbers
from hardmax.tokens.rationals import objects_in, plain
from hardmax.tokens.tables import as_array

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

DEEPEST, MOST_CLASSES = 10_000, 10_000
COUNTS = ("all", "presence")


def check_model(model: "TextModel") -> None:
    """Shapes, finiteness and sizes; raises InputError with one line."""
    instance(model.vocabulary, Vocabulary, "`vocabulary`", "a Vocabulary")
    instance(model.tokeniser, Tokeniser, "`tokeniser`", "a Tokeniser, such as Tokeniser()")
    instance(model.metrics, dict, "`metrics`", "a dict of plain data")
    tokens, classes = len(model.vocabulary), len(model.classes)
    if model.embeddings.ndim != 2 or len(model.embeddings) != tokens or model.embeddings.shape[1] < 1:
        shape = f"({tokens}, d), a row for each token of the vocabulary"
        raise InputError(f"`embeddings` has shape {short(model.embeddings.shape)}: expected {shape}.")
    d, rows = model.embeddings.shape[1], 1 if classes == 2 else classes
    _check_shape("decoder", model.decoder, (rows, d))
    _check_shape("bias", model.bias, (rows,))
    _check_shape("extra", model.extra, (d,))
    _check_shape("metric", model.metric, (d, d))
    for name in ("embeddings", "decoder", "bias", "extra", "metric"):
        _check_finite(name, getattr(model, name))
    if model.vocabulary.counts.shape[1] != classes:
        counted = model.vocabulary.counts.shape[1]
        raise InputError(f"`vocabulary` counts {counted} classes: expected {classes}, as in `classes`.")
    object.__setattr__(model, "temperature", real_number(model.temperature, "`temperature`", above=0))
    one_of(model.counts, COUNTS, "`counts`")
    object.__setattr__(model, "layers", whole_number(model.layers, "`layers`", at_least=0, at_most=DEEPEST))
    model.dynamics.check_dimension(d)  # alpha and the metric are checked when it is made


def read_classes(classes: Any) -> tuple[str | int | float | bool, ...]:
    """The names of the classes, as a model folder can hold them: at least two, all different."""
    wish = "at least two texts, numbers or truth values, all different"
    if isinstance(classes, list | tuple) or (isinstance(classes, np.ndarray) and classes.ndim == 1):
        names = [plain(name) for name in (classes.tolist() if isinstance(classes, np.ndarray) else classes)]
        are_plain = all(isinstance(name, str | int | float) and name == name for name in names)
        if are_plain and len(set(names)) == len(names) >= 2:
            return tuple(names)
    raise InputError(f"`classes` must be {wish}, not {short(classes)}.")


def class_numbers(labels: Any, name: str, classes: int = MOST_CLASSES) -> np.ndarray:
    """The numbers of classes that labels are: whole numbers from 0 up, or truth values. A negative one would count
    from the end.

    >>> class_numbers([True, False], "`labels`").tolist()
    [1, 0]
    """
    array = objects_in(labels, name) if isinstance(labels, list | tuple) else as_array(labels, name)
    are_truths = array.dtype == bool or all(isinstance(entry, bool | np.bool_) for entry in array.ravel().tolist())
    numbers = array.astype(np.int64) if are_truths else whole_numbers(labels, name)
    if numbers.ndim != 1 or (numbers.size and not 0 <= numbers.min() <= numbers.max() < classes):
        raise InputError(f"{name} must be numbers of classes from 0 to {classes - 1}, not {short(labels)}.")
    return numbers


def _check_shape(name: str, value: np.ndarray | None, wish: tuple[int, ...]) -> None:
    if value is not None and value.shape != wish:
        raise InputError(f"`{name}` has shape {short(value.shape)}: expected {wish}.")


def _check_finite(name: str, value: np.ndarray | None) -> None:
    if value is None or np.isfinite(value).all():
        return
    place = tuple(np.argwhere(~np.isfinite(value))[0].tolist())
    raise InputError(f"`{name}` is {value[place]} at {place}: expected finite numbers. Train again.")
