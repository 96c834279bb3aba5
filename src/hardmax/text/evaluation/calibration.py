"""Temperature: one number that makes probabilities honest and changes no prediction."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from hardmax._tokens.batches import float_array
from hardmax._tokens.rationals import as_array
from hardmax._validation import InputError, check_instance, shorten
from hardmax.text.labels import class_numbers
from hardmax.text.text_model import TextModel

_WIDEST = 10.0  # temperatures from e^-10 to e^10


def fit_temperature(logits: Any, truth: Any) -> float:
    """The temperature T for which logits / T have the smallest log-loss, on data the model was not trained on.

    `logits` are (texts,) for two classes or (texts, classes); `truth` the classes as numbers.

    >>> round(fit_temperature([3.0, 3.0, 3.0, -3.0], [1, 1, 0, 0]), 3)
    4.328
    """
    table = float_array(logits, "`logits`")
    if table.ndim == 1:
        table = np.stack([np.zeros(len(table)), table], axis=1)
    labels = class_numbers(truth, "`truth`")
    if table.ndim != 2 or labels.shape != (len(table),) or not len(labels):
        raise InputError(f"`logits` are {table.shape} and `truth` {labels.shape}: expected one class for each row.")
    if not 0 <= labels.min() <= labels.max() < table.shape[1]:
        raise InputError(f"`truth` must be numbers of classes from 0 to {table.shape[1] - 1}, not {shorten(truth)}.")
    if not np.isfinite(table).all():
        raise InputError("`logits` must be finite numbers.")
    # As if two more texts had come, of no class in particular: where all texts are told apart without a mistake, the
    # best temperature would else be 0, and every probability 0 or 1.
    doubt = 2 / (len(labels) + 2)
    wished = (1 - doubt) * table[np.arange(len(labels)), labels] + doubt * table.mean(axis=1)

    def loss(coldness: float) -> float:
        scale = np.exp(coldness)
        return float((logsumexp(table * scale, axis=1) - wished * scale).mean())

    # The loss is convex in 1 / T, so it has one valley in its logarithm, too.
    found = minimize_scalar(loss, bounds=(-_WIDEST, _WIDEST), method="bounded", options={"xatol": 1e-9})
    return float(np.exp(-found.x))


def calibrate(model: TextModel, texts: Any, labels: Any) -> TextModel:
    """The same model with the temperature that suits validation texts and their labels best."""
    model = check_instance(model, TextModel, "`model`", "a TextModel")
    number = {name: c for c, name in enumerate(model.classes)}
    truth = []
    for label in as_array(labels, "`labels`").ravel().tolist():
        if not isinstance(label, str | int | float) or label not in number:
            known = shorten(list(model.classes), 80)
            raise InputError(f"`labels` has {shorten(label)}: expected the model's classes, {known}.")
        truth.append(number[label])
    # Logits come divided by the temperature that the model has already.
    factor = fit_temperature(model.decision_function(texts), truth)
    return replace(model, temperature=model.temperature * factor)
