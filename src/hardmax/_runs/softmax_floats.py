"""Layers of softmax attention in float64, each coordinate with a proved error.

Let z be the floats of a layer, and z + E the truth, |E| <= e. Token i gives token j the weight
q_j, in floats; let p = q / sum q exactly. The true weights are to each other as p_j exp(t_j), where
each t_j may be shifted by the same number, and with a leader l of token i in floats

    |t_j| <= beta (<e_i, |A' (z_j - z_l)|> + <|A z_i| + |A| e_i, e_j>) + rounding.

With h_j = exp|t_j| - 1, m = sum p_j h_j < 1 and the mean w = sum p_j z_j, the true mean is
w + sum p_j exp(t_j) (E_j + z_j - w) / sum p_j exp(t_j), since sum p_j (z_j - w) = 0; and so it is
no further from w than

    sum p_j ((1 + h_j) e_j + h_j |z_j - w|) / (1 - m).

Where one token has all the weight, z_j - w is 0, and errors do not grow: balls, which forget that
weights add up to 1, double in size at every layer. Floats are rounded as IEEE 754 says; nothing
else is assumed, and the exponential is our own.
"""

from typing import Any

import numpy as np

from hardmax._layer.rules import allowed_pairs, rescaling
from hardmax._tokens.rationals import to_fractions
from hardmax.dynamics import Dynamics

_U = 2.0**-53
_MORE = 1 + 2.0**-20  # bounds are sums of fewer than a billion positive terms
_LEAST = 2.0**-1000  # more than what is lost where numbers underflow
_LOWEST = -64.0  # weights of smaller logarithms are bounded, not computed
_LARGEST = 2.0**300  # squares are finite, and products with them
_MOST_PAIRS = 20_000_000  # numbers held at once
# log 2 in two parts, of which the first has so few bits that its products with numbers below 128
# are exact.
_LOG_2, _REST = float.fromhex("0x1.62e42fefap-1"), float.fromhex("0x1.cf79abc9e3b3ap-40")


def run_floats(
    z: np.ndarray, counts: list[int], dynamics: Dynamics, beta: Any, layers: int, error: float
) -> tuple[np.ndarray, float] | None:
    """The tokens of all layers and the largest error; None if that is not proved to be as asked."""
    n, d = z.shape
    if n * n * d > _MOST_PAIRS or max(counts) > 2**53:
        return None
    mask, metric = allowed_pairs(dynamics, n), np.eye(d)
    if dynamics.metric is not None:
        metric = np.array(dynamics.metric).astype(np.float64)
    layer = _Layer(metric, float(beta), np.array(counts, dtype=np.float64), mask)
    tokens = z.astype(np.float64)
    errors = np.abs(z - to_fractions(tokens, "`tokens`")).astype(np.float64) * _MORE + _LEAST
    largest_number = max(np.abs(metric).max(), layer.beta, np.abs(tokens).max())
    if not largest_number < _LARGEST or not np.isfinite(tokens).all():
        return None
    path, largest = [tokens], float(errors.max())
    for number in range(layers):
        alpha = dynamics.alpha_at(number)
        contraction = rescaling(dynamics, alpha)
        moved = layer.move(tokens, errors, float(contraction), float(alpha * contraction))
        if moved is None or not moved[1].max() <= error:
            return None
        tokens, errors = moved
        path.append(tokens)
        largest = max(largest, float(errors.max()))
    return (np.array(path), largest) if largest <= error else None


class _Layer:
    def __init__(
        self, metric: np.ndarray, beta: float, counts: np.ndarray, mask: np.ndarray | None
    ) -> None:
        self.metric, self.beta, self.counts, self.mask = metric, beta, counts, mask

    def move(
        self, z: np.ndarray, e: np.ndarray, kept: float, pushed: float
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The tokens after the layer, and their errors."""
        size, beta = np.abs(self.metric), self.beta
        d = z.shape[1]
        directions, length = z @ self.metric.T, np.abs(z) @ size.T
        scores = directions @ z.T
        if self.mask is not None:
            scores = np.where(self.mask, scores, -np.inf)
        leaders = scores.argmax(axis=1)
        away = z[None] - z[leaders][:, None]  # (i, j, coordinate)
        far = np.abs(away)
        logs = beta * _total(np.moveaxis(directions[:, None] * away, 2, 0))
        # Rounded are beta, the metric, directions, what is away, products and sums.
        rounding = (3 * d + 8) * _U * beta * np.einsum("ic,ijc->ij", length, far) + 24 * _U
        turned = np.abs(away @ self.metric) + (d + 3) * _U * (far @ size)
        shift = np.einsum("ic,ijc->ij", e, turned) + (length + e @ size.T) @ e.T
        t = (beta * shift * (1 + 4 * _U) + rounding) * _MORE
        if self.mask is not None:
            logs, t = np.where(self.mask, logs, -np.inf), np.where(self.mask, t, 0.0)
        is_low = logs < _LOWEST
        # A weight that is lower in truth, too, is off by less than what it is taken for.
        uncertain = np.where(is_low & (logs + t <= _LOWEST), 0.0, t)
        if not (uncertain.max() <= 0.5 and logs.max() <= 1.0):
            return None
        h = np.where(is_low, 2.0, t * (1 + t))
        weights = self.counts * _exp(np.maximum(logs, _LOWEST))
        if self.mask is not None:
            weights = np.where(self.mask, weights, 0.0)
        total = _total(weights.T)
        p = weights / total[:, None]
        depth = 2 * len(z).bit_length() + 8
        shares = p[:, :, None]
        # Sums of halves of halves: a term is rounded as often as the logarithm of n.
        means = z[leaders] + _total(np.moveaxis(shares * away, 1, 0))
        off = depth * _U * (shares * far).sum(axis=1) * _MORE + 2 * _U * np.abs(means) + _LEAST
        apart = np.abs(z[None] - means[:, None]) * _MORE + off[:, None]
        lost = (p * h).sum(axis=1) * _MORE
        if not lost.max() <= 0.5:
            return None
        spread = (shares * ((1 + h)[:, :, None] * e + h[:, :, None] * apart)).sum(axis=1)
        drift = spread / (1 - lost)[:, None]
        moved = means + kept * (z - means)
        rounded = 4 * _U * (abs(kept) * np.abs(z - means) + np.abs(moved)) + off + _LEAST
        return moved, (abs(kept) * e + abs(pushed) * (drift + off) + rounded) * _MORE


def _total(terms: np.ndarray) -> np.ndarray:
    """The sum over the first axis, by halves."""
    while len(terms) > 1:
        half = (len(terms) + 1) // 2
        upper = terms[half:]
        terms = np.concatenate([terms[: len(upper)] + upper, terms[len(upper) : half]])
    return terms[0]


def _exp(x: np.ndarray) -> np.ndarray:
    """exp(x) for -64 <= x <= 1, off by less than 12 units in 2^53, relative to it."""
    times = np.rint(x / _LOG_2)
    rest = (x - times * _LOG_2) - times * _REST
    # |rest| < 0.35; the terms left out are less than 0.35^15 / 15! < 2^-60.
    power = np.ones_like(rest)
    for number in range(14, 0, -1):
        power = 1 + power * rest / number
    return np.ldexp(power, times.astype(np.int64))
