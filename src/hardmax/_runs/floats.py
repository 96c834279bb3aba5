"""Any layer as the definition has it, in plain floats: nothing is proved, and ties are what `==`
takes for ties."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hardmax._layer.attended import AttendedIndices
from hardmax._layer.attention import HARDMAX, Softmax
from hardmax._layer.rules import (
    allowed_pairs,
    check_known,
    rescaling,
)
from hardmax._tokens.points import Points
from hardmax.dynamics import Dynamics

_BLOCK = 2**22  # scores made at once


def float_layers(
    points: Points, dynamics: Dynamics
) -> Iterator[tuple[np.ndarray, AttendedIndices]]:
    """The points at each layer, (p, d), and what they attend to there with any head."""
    check_known(dynamics, "plain floats")
    z, layer = points.floats, 0
    heads = dynamics.all_heads
    metrics = [_matrix(head.metric, points.dimension) for head in heads]
    values = [_matrix(head.value, points.dimension) for head in heads]
    weights = [float(head.weight) for head in heads]
    block = max(1, _BLOCK // points.count)
    blocks = [slice(first, first + block) for first in range(0, points.count, block)]
    while True:
        after, alpha, sets = z.copy(), dynamics.alpha_at(layer), []
        for rows in blocks:
            attends = False
            for metric, value, weight in zip(metrics, values, weights, strict=True):
                shares = _shares(z, rows, z[rows] @ metric.T, points.multiplicities, dynamics)
                after[rows] += float(alpha) * weight * (shares @ z) @ value.T
                attends = attends | (shares > 0)
            sets += [np.flatnonzero(row) for row in np.asarray(attends)]
        yield z, AttendedIndices.of_sets(sets)
        z, layer = _after_attention(after, alpha, dynamics), layer + 1


def _matrix(matrix: Any, dimension: int) -> np.ndarray:
    return np.eye(dimension) if matrix is None else np.array(matrix, dtype=float)


def _shares(
    z: np.ndarray, rows: slice, directions: np.ndarray, counts: np.ndarray, dynamics: Dynamics
) -> np.ndarray:
    """What every point weighs in the means of some rows."""
    scores, attention = directions @ z.T, dynamics.attention
    mask = allowed_pairs(dynamics, len(z))
    if mask is not None:
        scores = np.where(mask[rows], scores, -np.inf)
    if isinstance(attention, Softmax):
        best = scores.max(axis=1, keepdims=True)
        weights = counts * np.exp(float(attention.beta) * (scores - best))
        return weights / weights.sum(axis=1, keepdims=True)
    rule: Any = attention or HARDMAX
    least = _last_of(scores, counts, rule.k) - float(rule.slack)
    weights = counts * (scores >= least) * (scores > -np.inf)
    return weights / weights.sum(axis=1, keepdims=True)


def _last_of(scores: np.ndarray, counts: np.ndarray, k: int) -> np.ndarray:
    """The k-th largest score of each row, counted with multiplicity; -inf if there are fewer."""
    if k == 1:
        return scores.max(axis=1, keepdims=True)
    order = np.argsort(-scores, axis=1)
    ranked = np.take_along_axis(scores, order, axis=1)
    enough = np.cumsum(counts[order], axis=1) >= k
    last = np.where(enough.any(axis=1), enough.argmax(axis=1), scores.shape[1] - 1)
    return np.take_along_axis(ranked, last[:, None], axis=1)


def _after_attention(y: np.ndarray, alpha: Any, dynamics: Dynamics) -> np.ndarray:
    """Division or normalisation, then the feed-forward block."""
    if not dynamics.normalises:
        scale = rescaling(dynamics, alpha)
        y = y @ scale.astype(float).T if isinstance(scale, np.ndarray) else float(scale) * y
    y = _normalised(y, dynamics.normalise)
    if dynamics.feed_forward is None:
        return y
    inner, bias, outer, shift = (part.astype(float) for part in dynamics.feed_forward.parts)
    fed = y + np.maximum(y @ inner.T + bias, 0) @ outer.T + shift
    return _normalised(fed, dynamics.normalise)


def _normalised(y: np.ndarray, normalise: str | None) -> np.ndarray:
    if normalise in (None, "plain"):
        return y
    size = 1.0
    if normalise == "layer":
        y, size = y - y.mean(axis=1, keepdims=True), np.sqrt(y.shape[1])
    return size * y / np.linalg.norm(y, axis=1, keepdims=True)
