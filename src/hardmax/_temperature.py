"""How far softmax is from hardmax over many layers, at low temperature: `temperature`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hardmax._attention import Softmax
from hardmax._tokens.rationals import Number, above, read_number
from hardmax._validation import InputError, shorten
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.limits import Limit, limit
from hardmax.simulation import simulate


@dataclass(frozen=True, eq=False)
class Temperature:
    """Softmax beside hardmax, at several temperatures. Made by `temperature`.

    Examples
    --------
    >>> from hardmax import Dynamics, temperature
    >>> temperature([[3.0], [-1.0], [1.0]], Dynamics(1), [10, 20]).distances.round(4).tolist()
    [0.0167, 0.0084]
    """

    betas: tuple[Fraction, ...]
    """Inverse temperatures."""
    distances: np.ndarray
    """The largest difference of a coordinate between softmax and hardmax, over all tokens and layers, for each beta."""
    errors: np.ndarray
    """By how much each distance may be off, at most."""
    delta: Fraction | None
    """The smallest <A s, s - t> of two limits s and t of hardmax that differ; None if there is only one limit."""
    margin: float
    """The smallest lead of a token that is attended to over one that is not, at the layers up to settling."""
    threshold: float | None
    """From about which beta on the law holds: where the weight of tokens that are not attended to, at most
    (n - 1) exp(-beta margin), falls below 1 / (beta delta). None if delta is None or 0. An estimate, not proved."""
    constant: float | None
    """c of the law distance = c / beta, from the largest beta; None if that is below the threshold."""
    exponent: float | None
    """The slope of log distance against log beta between the two largest betas above the threshold; None if there are
    fewer."""

    def __repr__(self) -> str:
        law = "no law known" if self.threshold is None else f"threshold {self.threshold:.3g}"
        if self.constant is not None:
            law += f", distance = {self.constant:.4g} / beta"
        return f"Temperature({len(self.betas)} betas, delta {self.delta}, {law})"


def temperature(
    tokens: Any, dynamics: Dynamics, betas: Sequence[Number], *, layers: int = 60, error: float = 1e-10
) -> Temperature:
    """Distance between softmax and hardmax over many layers, enclosed (extra `exact`).

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        The cloud.
    dynamics : Dynamics
        Step size and metric of hardmax.
    betas : sequence of numbers or str
        Inverse temperatures, positive and increasing.
    layers : int, default 60
        Over how many layers to take the largest distance.
    error : float, default 1e-10
        By how much coordinates of softmax may be off.

    Returns
    -------
    Temperature
        The distances, and the law that they follow.

    Notes
    -----
    Let :math:`\\Delta = \\min \\langle A s, s - t \\rangle` over limits :math:`s \\neq t`. If it is positive, the
    distance was observed to be :math:`c / \\beta` for large :math:`\\beta`. If it is 0, two limits tie for one of them,
    and softmax may leave the limit of hardmax however large :math:`\\beta` is; where all is symmetric, it does not.

    Examples
    --------
    >>> temperature([[3.0], [-1.0], [1.0]], Dynamics(1), [10, 20, 40])
    Temperature(3 betas, delta 4, threshold 1.08, distance = 0.1668 / beta)
    """
    if not isinstance(betas, list | tuple | np.ndarray):
        raise InputError(
            f"`betas` must be a list of numbers, such as [10, 100], not {shorten(betas)}.", argument="betas"
        )
    numbers = tuple(read_number(beta, "`betas`") for beta in betas)
    if not numbers or any(one >= two for one, two in zip((0, *numbers), numbers, strict=False)):
        raise InputError("`betas` must be positive and increasing.", argument="betas")
    plain = check_dynamics(dynamics).check_plain("`temperature`")
    lim = limit(tokens, plain)
    if not isinstance(lim, Limit):
        raise InputError("`tokens` must be one cloud of shape (n, d), not a batch.", argument="tokens")
    if lim.settled_at is None:
        raise InputError(f"`tokens`: hardmax has no proved limit here ({lim.stopped}).", argument="tokens")
    hard = simulate(tokens, plain, layers=layers)
    distances, errors = [], []
    for beta in numbers:
        soft = simulate(tokens, Dynamics(plain.alpha, plain.matrix, attention=Softmax(beta, error)), layers=layers)
        distances.append(float(np.abs(soft.tokens - np.asarray(hard)).max()))
        errors.append(above(soft.error + hard.error + float(np.spacing(distances[-1]))))
    delta, margin = _delta(lim), _margin(lim)
    threshold = _threshold(delta, margin, lim.run.n)
    beyond = [k for k, beta in enumerate(numbers) if threshold is not None and beta >= threshold]
    constant = float(numbers[-1]) * distances[-1] if beyond else None
    exponent = None
    if len(beyond) > 1 and min(distances[-2:]) > 0:
        exponent = math.log(distances[-1] / distances[-2]) / math.log(numbers[-1] / numbers[-2])
    return Temperature(numbers, np.array(distances), np.array(errors), delta, margin, threshold, constant, exponent)


def _delta(lim: Limit) -> Fraction | None:
    points = np.array(list(dict.fromkeys(map(tuple, lim.exact_points.tolist()))))
    looks = points if lim.run.dynamics.metric is None else points @ np.array(lim.run.dynamics.metric).T
    gaps = [looks[s] @ (points[s] - points[t]) for s in range(len(points)) for t in range(len(points)) if s != t]
    return min(gaps, default=None)


def _margin(lim: Limit) -> float:
    """The smallest lead at the layers up to settling, as a float."""
    smallest, metric = math.inf, lim.run.dynamics.metric
    for layer in range((lim.settled_at or 0) + 1):
        z = lim.run.exact_at(layer)
        scores = (z if metric is None else z @ np.array(metric).T) @ z.T
        for row in scores:
            lower = [score for score in row if score < max(row)]
            smallest = min([smallest, *(float(max(row) - score) for score in lower)])
    return smallest


def _threshold(delta: Fraction | None, margin: float, n: int) -> float | None:
    """The larger solution of (n - 1) exp(-x) = margin / (x delta), over margin; 1 / margin if there is none."""
    if delta is None or delta <= 0 or not math.isfinite(margin):
        return None
    scale, x = float(n - 1) * float(delta) / margin, 1.0
    for _ in range(100):  # x = log(scale x) from above
        x = max(1.0, math.log(scale * x)) if scale > math.e else 1.0
    return x / margin
