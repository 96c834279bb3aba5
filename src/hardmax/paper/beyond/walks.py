"""Layers as others compute them: with softmax at a temperature, and with hardmax in floats, ties by `==`.

Both take clouds (…, n, d) and give them after each layer, the first as they came. Scores are summed coordinate by
coordinate, not by a library for matrices, so that every machine gives the same bits.
"""

from collections.abc import Iterator

import numpy as np


def softmax_walk(tokens: np.ndarray, alpha: float, temperature: float) -> Iterator[np.ndarray]:
    """Tokens go towards a mean of all tokens with weights exp(<z_i, z_j> / temperature), as the authors train.

    The largest score is taken off before: no exponent is above 0, and nothing overflows.

    >>> cold = softmax_walk(np.array([[1.0], [0.5]]), 1.0, 0.001)
    >>> [next(cold).ravel().tolist() for _ in range(3)]
    [[1.0, 0.5], [1.0, 0.75], [1.0, 0.875]]
    """
    while True:
        yield tokens
        scores = _scores(tokens)
        weights = np.exp((scores - scores.max(axis=-1, keepdims=True)) / temperature)
        weights /= weights.sum(axis=-1, keepdims=True)
        tokens = (tokens + alpha * _mean(weights, tokens)) / (1 + alpha)


def naive_walk(tokens: np.ndarray, alpha: float) -> Iterator[np.ndarray]:
    """Hardmax in floats, where whoever has the same float as the largest score is attended to."""
    while True:
        yield tokens
        scores = _scores(tokens)
        attended = (scores == scores.max(axis=-1, keepdims=True)).astype(np.float64)
        attended /= attended.sum(axis=-1, keepdims=True)
        tokens = (tokens + alpha * _mean(attended, tokens)) / (1 + alpha)


def _scores(tokens: np.ndarray) -> np.ndarray:
    scores = np.zeros((*tokens.shape[:-1], tokens.shape[-2]))
    for axis in range(tokens.shape[-1]):
        scores += tokens[..., :, None, axis] * tokens[..., None, :, axis]
    return scores


def _mean(weights: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    columns = [(weights * tokens[..., None, :, axis]).sum(axis=-1) for axis in range(tokens.shape[-1])]
    return np.stack(columns, axis=-1)
