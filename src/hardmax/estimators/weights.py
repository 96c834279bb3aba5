"""Weights of texts: how much each counts."""

from typing import Any

import numpy as np

from hardmax._tokens.batches import float_array
from hardmax._validation import InputError


def read_weights(sample_weight: Any, texts: int) -> np.ndarray:
    """One weight for each text; all ones for None, one number for all of them.

    >>> read_weights(None, 2).tolist(), read_weights([0, 3], 2).tolist()
    ([1.0, 1.0], [0.0, 3.0])
    """
    if sample_weight is None:
        return np.ones(texts)
    weights = float_array(sample_weight, "`sample_weight`")
    if weights.ndim == 0:
        weights = np.full(texts, weights)
    if weights.shape != (texts,):
        raise InputError(f"`sample_weight` has shape {weights.shape}: expected ({texts},), one for each text.")
    if not np.isfinite(weights).all() or weights.min() < 0:
        raise InputError("`sample_weight` must be finite numbers, none of them negative.")
    return weights
