"""What must fit together in a model, checked once, when it is made or read."""

from typing import TYPE_CHECKING

import numpy as np

from hardmax.checking import whole_number
from hardmax.errors import InputError

if TYPE_CHECKING:
    from hardmax.text.model import TextModel

DEEPEST = 10_000
COUNTS = ("all", "presence")


def check_model(model: "TextModel") -> None:
    """Shapes, finiteness and sizes; raises InputError with one line."""
    tokens, classes = len(model.vocabulary), len(model.classes)
    if model.embeddings.ndim != 2 or len(model.embeddings) != tokens or model.embeddings.shape[1] < 1:
        shape = f"({tokens}, d), a row for each token of the vocabulary"
        raise InputError(f"`embeddings` has shape {model.embeddings.shape}: expected {shape}.")
    if classes < 2 or len(set(model.classes)) != classes:
        raise InputError(f"`classes` is {list(model.classes)}: expected at least two, all different.")
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
    if not 0 < model.temperature < np.inf:
        raise InputError(f"`temperature` must be a positive number, not {model.temperature}.")
    if model.counts not in COUNTS:
        raise InputError(f"`counts` must be one of {', '.join(COUNTS)}, not {model.counts!r}.")
    if whole_number(model.layers, "`layers`", at_least=0) > DEEPEST:
        raise InputError(f"`layers` is {model.layers}: expected at most {DEEPEST:,}.")
    model.dynamics.check_dimension(d)  # alpha and the metric are checked when it is made


def _check_shape(name: str, value: np.ndarray | None, wish: tuple[int, ...]) -> None:
    if value is not None and value.shape != wish:
        raise InputError(f"`{name}` has shape {value.shape}: expected {wish}.")


def _check_finite(name: str, value: np.ndarray | None) -> None:
    if value is None or np.isfinite(value).all():
        return
    place = tuple(np.argwhere(~np.isfinite(value))[0].tolist())
    raise InputError(f"`{name}` is {value[place]} at {place}: expected finite numbers. Train again.")
