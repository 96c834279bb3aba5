"""Layers of softmax attention in pairs of floats, each coordinate with a proved error.

Let z be the tokens as they are known, and z + E the truth, |E| <= e. With any head, token i gives
token j the weight q_j; let p = q / sum q exactly. The true weights are to each other as
p_j exp(t_j), where each t_j may be shifted by the same number, and with a leader l of token i

    |t_j| <= beta (<e_i, |A' (z_j - z_l)|> + <|A z_i| + |A| e_i, e_j>) + rounding.

With h_j = exp|t_j| - 1, m = sum p_j h_j < 1 and the mean w = sum p_j z_j, the true mean is
w + sum p_j exp(t_j) (E_j + z_j - w) / sum p_j exp(t_j), since sum p_j (z_j - w) = 0; and so it is
no further from w than

    sum p_j ((1 + h_j) e_j + h_j |z_j - w|) / (1 - m).

Where one token has all the weight, z_j - w is 0, and errors do not grow: balls, which forget that
weights add up to 1, double in size at every layer.

**Rounding.** A token between two others that are nearly as far is unstable: in a cloud of 3,000
Gaussian tokens what is off once is off by 10,000 times as much ten layers later. So all numbers
that count are sums of two floats.

A sum of k products x y is computed from slices: x = x1 + x2 + x3, where x1 is a multiple, of b
bits, of a power of two, x2 of one that is 2^b times smaller. If k 4^b <= 2^52, then x1 y1 and
x1 y2 + x2 y1 are exact, in any order, and so is the difference of two such sums. With u = 2^-53,
r = 2^-b, S = sum |x| and the largest X = |x| <= S and Y = |y|, |x2| <= r X and |x3| <= 1.2 r^2 X,
and likewise for y. So x1 y3 + x2 (y2 + y3) + x3 y is at most 5 k r^2 S Y, and off by at most
k' S Y, k' = 5 (k + 5) k r^2 u. If x counts c times, k is the sum of all c, but for the k + 5.

* With y_i = beta A z_i, s_i = sum |z_i|, a = max |beta A| and Z = max |z| the directions are off by
  d' a s_i, and scores by less than 18 d^2 (d + 4) r^2 u a s_i Z. The lead of one token over another
  is a difference of two, and off by less than 16 d d' a s_i Z. Floats suffice for
  |A' (z_j - z_l)|, which is off by less than 4 d (d + 4) u a Z.
* Means are quotients of sums: off by 2 n' Z, and by 32 u^2 of themselves for the division.
* exp = T (1 + s + b) 2^k, where T = 2^(j/1024) is a number of 22 bits and a rest below 2^-22, and
  |s| < 2^-11.5 a multiple of 2^-30, so that the first part of T (1 + s) is exact. With what s
  leaves out, |v| < 2^-30, b = s^2 / 2 + s^3 / 6 + ... + v (1 + s + ...) is below 2^-23.9 and off
  by less than 2^-74.5, and exp by less than 2^-72, relative to it.

Nothing is assumed but that floats are rounded as IEEE 754 says, and that products of matrices are
sums of products, in any order.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count, islice
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from hardmax._layer.rules import allowed_pairs, head_metrics, head_weights, rescaling
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import to_fractions
from hardmax.dynamics import Dynamics

_U = 2.0**-53
_MORE = 1 + 2.0**-20  # bounds are sums of fewer than a billion positive terms
_LEAST = 2.0**-1000  # more than what is lost where numbers underflow
_LOWEST = -64.0  # weights of smaller logarithms are bounded, not computed
_SMALL = 2.0**-46  # above the rest of a logarithm
_LARGEST = 2**200  # products of four are finite
_PAIRS = 2**15  # for which all numbers fit the cache
_SHIFT = 1.5 * 2.0**52  # what is added to it is rounded to an integer, its last bits
_OFF = 2.0**-71  # by how much exponentials may be off, and what underflows before

_STEPS = 1024
# log 2 / 1024 in two parts: products of the first with integers of 17 bits are exact.
_LOG, _REST = float.fromhex("0x1.62e42fefap-11"), float.fromhex("0x1.cf79abc9e3b3ap-50")
with ctx.workprec(128):
    _ROOTS = [arb(2) ** fmpq(j, _STEPS) for j in range(_STEPS)]
    _FIRST = np.array([float((root * 2**21 + 0.5).floor()) for root in _ROOTS]) / 2**21
    _SECOND = np.array([float(root - x) for root, x in zip(_ROOTS, _FIRST.tolist(), strict=True)])

Parts = tuple[np.ndarray, ...]
"""Numbers as sums of floats, of falling size."""


def run_floats(
    points: Points, dynamics: Dynamics, layers: int, error: float
) -> tuple[np.ndarray, float] | None:
    """The points at all layers and the largest error; None if that is not proved to be as asked."""
    path, largest = [], 0.0
    for tokens, errors in islice(float_layers(points, dynamics), layers + 1):
        largest = max(largest, float(((np.abs(tokens[1]) + errors) * _MORE).max()))
        if not largest <= error:
            return None
        path.append(tokens[0])
    return (np.array(path), largest) if len(path) > layers else None


def float_layers(points: Points, dynamics: Dynamics) -> Iterator[tuple[Parts, np.ndarray]]:
    """The points, in two parts, and their errors, at the layers where that is proved."""
    attention: Any = dynamics.attention
    exact = to_fractions(points.coordinates, "`tokens`")
    identity = np.eye(exact.shape[1], dtype=int)
    tables = [np.array(identity if one is None else one) for one in head_metrics(dynamics)]
    tables = [to_fractions(table, "`metric`") * attention.beta for table in tables]
    if not all(np.abs(table).max() < _LARGEST for table in [exact, *tables]):
        return
    layer = _Layer(points, dynamics, [_rounded(table) for table in tables])
    tokens = _rounded(exact)
    moved = tokens, _U * np.abs(tokens[1]) + _LEAST
    for number in count():
        yield moved
        moved = layer.move(*moved, rescaling(dynamics, dynamics.alpha_at(number)))
        if moved is None:
            return


class _Layer:
    def __init__(self, points: Points, dynamics: Dynamics, metrics: list[Parts]) -> None:
        self.metrics = metrics
        """Times beta."""
        self.counts = points.multiplicities.astype(float)
        self.tokens = sum(points.multiplicities.tolist())
        # A lower weight is off by less than twice what it is taken for, exp(-64).
        self.lowest = 4 * self.tokens * 2.0**-92
        self.mask = allowed_pairs(dynamics, points.count)
        self.weights = head_weights(dynamics)

    def move(self, z: Parts, e: np.ndarray, kept: Fraction) -> tuple[Parts, np.ndarray] | None:
        """The tokens after the layer, and their errors."""
        n, rows = len(e), max(1, _PAIRS // len(e))
        blocks = [slice(first, first + rows) for first in range(0, n, rows)]
        shares = [kept, *((1 - kept) * weight for weight in self.weights)]
        terms, after = [z], float(kept) * e + _LEAST
        for metric, share in zip(self.metrics, shares[1:], strict=True):
            head, found = _Head(self, metric, z, e), []
            for block in blocks:
                means = head.means(block)
                if means is None:
                    return None
                found.append(means)
            *means, drift = map(np.concatenate, zip(*found, strict=True))
            terms.append(tuple(means))
            after = after + float(share) * drift
        columns = [np.stack([term[k].ravel() for term in terms], axis=1) for k in (0, 1)]
        bits, off = _precision(len(shares), len(shares))
        factors = _slices(_rounded(np.array([shares])), bits)
        moved = _joined(_product(_slices(tuple(columns), bits), factors))
        rounded = off * np.abs(columns[0]).sum(axis=1) + 2 * _U**2 * np.abs(moved[0][:, 0])
        after = (after + rounded.reshape(e.shape)) * _MORE
        return tuple(part.reshape(e.shape) for part in moved), after


class _Head:
    """What a head does in a layer."""

    def __init__(self, layer: _Layer, metric: Parts, z: Parts, e: np.ndarray) -> None:
        self.layer, self.z, self.e = layer, z[0], e
        n, d = e.shape
        bits, off = _precision(d, d)
        look = _joined(_product(_slices(z, bits), _slices(metric, bits)))
        # Multiples of one number for all tokens, so that leads are exact, too.
        self.targets = _slices(z, bits, axis=None)
        self.looks = _slices(look, bits)
        size, largest = np.abs(metric[0]), np.abs(z[0]).max() + e.max()
        self.lengths = np.abs(look[0]) + e @ size.T
        self.turned = z[0] @ metric[0]
        lengths = 4 * off * np.abs(z[0]).sum(axis=1) + (d + 4) * _U * e.sum(axis=1)
        self.unsure = 4 * d * size.max() * largest * lengths
        self.bits, off = _precision(n, layer.tokens)
        columns = [np.vstack([z[0].T, np.ones(n)]), np.vstack([z[1].T, np.zeros(n)])]
        self.columns = _slices(tuple(columns), self.bits)
        self.largest = np.abs(z[0]).max(axis=0)
        self.furthest = 2 * self.largest + e.max(axis=0)
        self.rounding = 2 * off * self.largest + _LEAST

    def _logs(self, block: slice) -> Parts:
        """Logarithms of weights in two parts, that of a leader 0, and by how much they are off."""
        mask, e, turned = self.layer.mask, self.e, self.turned
        parts = _product([part[block] for part in self.looks], self.targets)
        scores = parts[0] + parts[1]
        if mask is not None:
            scores = np.where(mask[block], scores, -np.inf)
        rows, leaders = np.arange(len(scores)), scores.argmax(axis=1)
        for part in parts:
            part -= part[rows, leaders, None]
        high, low = _sum(parts[0], parts[1])
        low += parts[2]
        # Where the first is not larger, both are far below what leads may be off by.
        logs, rest = _sum_falling(high, low)
        t = self.lengths[block] @ e.T
        t += self.unsure[block, None]
        for own, error, way in zip(turned[leaders].T, e[block].T, turned.T, strict=True):
            away = way - own[:, None]
            np.abs(away, out=away)
            away *= error[:, None]
            t += away
        return logs, rest, t

    def means(self, block: slice) -> Parts | None:
        """Where it pulls tokens, in two parts, and by how much that may be off."""
        layer = self.layer
        logs, rest, h = self._logs(block)
        if layer.mask is not None:
            logs = np.where(layer.mask[block], logs, -np.inf)
        if not (h.max() <= 0.4 and logs.max() <= 1.0):
            return None
        h *= 1 + h
        np.clip(rest, -_SMALL, _SMALL, out=rest)
        high, low = _exp(np.maximum(logs, _LOWEST), rest)
        if layer.mask is not None:
            high, low = high * layer.mask[block], low * layer.mask[block]
        slices = _slices((high, low), self.bits)
        for part in (*slices, high):
            part *= layer.counts
        h += _OFF
        h *= high
        sums, more = _joined(_product(slices, self.columns))
        total = sums[:, -1:]
        means = _quotient((sums[:, :-1], more[:, :-1]), (total, more[:, -1:]))
        off = 32 * _U**2 * np.abs(means[0]) + self.rounding
        lost = h.sum(axis=1, keepdims=True) / total * _MORE + layer.lowest
        if not lost.max() <= 0.5:
            return None
        far = []
        for way, mean in zip(self.z.T, means[0].T, strict=True):
            away = way - mean[:, None]
            np.abs(away, out=away)
            far.append(np.einsum("ij,ij->i", h, away))
        high += h
        spread = (high @ self.e + np.stack(far, axis=1)) / total
        spread += lost * (off + 4 * _U * self.largest) + layer.lowest * self.furthest
        return *means, spread * _MORE / (1 - lost) + off


def _rounded(exact: np.ndarray) -> Parts:
    """Fractions in two floats."""
    high = exact.astype(float)
    return high, (exact - to_fractions(high, "`tokens`")).astype(float)


def _precision(terms: int, weight: int) -> tuple[int, float]:
    """How many bits slices have, and how far off a sum of products is in units of S Y, if all
    terms together count so often."""
    bits = (52 - weight.bit_length()) // 2
    return bits, 5 * (terms + 5) * weight * 4.0**-bits * _U


def _slices(rows: Parts, bits: int, axis: int | None = 1) -> Parts:
    """Each row as multiples of a power of two, of so many bits, of a smaller one, and the rest."""
    high, low = rows
    exponents = np.frexp(np.abs(high).max(axis=axis, keepdims=True))[1] - bits
    shift = np.ldexp(_SHIFT, exponents)
    first = high + shift
    first -= shift
    rest = high - first
    shift = np.ldexp(_SHIFT, exponents - bits)
    second = rest + shift
    second -= shift
    rest -= second
    rest += low
    return first, second, rest


def _product(x: Sequence[np.ndarray], y: Parts) -> Parts:
    """x y' in three parts, of which the first two are exact."""
    (x1, x2, x3), (y1, y2, y3) = x, y
    ends = y2 + y3
    middle, last = x1 @ y2.T, x1 @ y3.T
    middle += x2 @ y1.T
    last += x2 @ ends.T
    last += x3 @ (y1 + ends).T
    return x1 @ y1.T, middle, last


def _joined(parts: Parts) -> Parts:
    """A sum of three parts in two."""
    high, low = _sum(parts[0], parts[1])
    return _sum(high, low + parts[2])


def _sum(x: np.ndarray, y: np.ndarray) -> Parts:
    """x + y, and what is lost by rounding."""
    total = x + y
    gained = total - x
    lost = y - gained
    gained -= total
    gained += x
    lost += gained
    return total, lost


def _sum_falling(x: np.ndarray, y: np.ndarray) -> Parts:
    """The same, if y is not larger than x."""
    total = x + y
    lost = x - total
    lost += y
    return total, lost


def _quotient(x: Parts, y: Parts) -> Parts:
    """x / y, off by less than 32 u^2 of itself."""
    quotient = x[0] / y[0]
    product = quotient * y[0]
    (a, b), (c, d) = _halves(quotient), _halves(y[0])
    lost = ((a * c - product) + a * d + b * c) + b * d
    rest = ((x[0] - product) - lost) + (x[1] - quotient * y[1])
    return _sum(quotient, rest / y[0])


def _halves(x: np.ndarray) -> Parts:
    """x as a sum of two floats of 26 bits."""
    big = (2.0**27 + 1) * x
    high = big - (big - x)
    return high, x - high


def _exp(x: np.ndarray, more: np.ndarray) -> Parts:
    """exp(x + more) in two parts, for -64 <= x <= 1 and |more| <= 2^-46."""
    shifted = x * (1 / _LOG)
    shifted += _SHIFT
    times = shifted - _SHIFT
    s = x - times * _LOG
    v = s.copy()
    s += _SHIFT * 2.0**-30
    s -= _SHIFT * 2.0**-30
    v -= s
    times *= _REST
    v += more - times
    square = s * s
    b = s * (1 / 120)
    b += 1 / 24
    b *= s
    b += 1 / 6
    b *= s
    b += 0.5
    b *= square
    square = 0.5 * v
    square += s
    square += b
    square *= v
    b += v
    b += square
    last = shifted.view(np.int64)
    place = last & (_STEPS - 1)
    last >>= 10
    last += 1023
    last <<= 52
    scale = last.view(np.float64)
    first, second = _FIRST.take(place), _SECOND.take(place)
    high = first * s
    high += first
    s += b
    s *= second
    s += first * b
    s += second
    high, s = _sum_falling(high, s)
    high *= scale
    s *= scale
    return high, s
