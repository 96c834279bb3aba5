"""How far softmax is from hardmax over many layers, at low temperature: `softmax_gap`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_list
from hardmax._layer.attention import Softmax
from hardmax._layer.rules import check_plain
from hardmax._tokens.batches import read_one
from hardmax._tokens.rationals import Number, above, read_number
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.infinite_depth import Limit, limit
from hardmax.simulation import simulate

_BEYOND, _DEEPEST = 60, 10_000
_CLEAR = 100  # a distance that exceeds its error by this factor counts for the law


@dataclass(frozen=True, eq=False)
class SoftmaxGap:
    """Softmax beside hardmax, at several temperatures. Made by `softmax_gap`.

    Examples
    --------
    >>> from hardmax import Dynamics, softmax_gap
    >>> softmax_gap([[3.0], [-1.0], [1.0]], Dynamics(1), [10, 20]).distances.round(4).tolist()
    [0.0167, 0.0084]
    """

    betas: tuple[Fraction, ...]
    """Inverse temperatures."""
    distances: np.ndarray
    """The largest difference of a coordinate between softmax and hardmax, over all tokens and these
    layers, for each beta."""
    errors: np.ndarray
    """By how much each distance may be off, at most."""
    delta: Fraction | None
    """The smallest <A s, s - t> of two limits s and t of hardmax that differ; None if there is only
    one limit."""
    layers: int
    """Over how many layers the distances are taken."""
    margin: float
    """The smallest lead of a token that is attended to over one that is not, at these layers up to
    settling."""
    threshold: float | None
    """From about which beta on the law holds: where the weight of tokens that are not attended to,
    at most (n - 1) exp(-beta margin), falls below 1 / (beta delta). None if delta is None or 0. An
    estimate, not proved."""
    constant: float | None
    """c of the law distance = c / beta, from the largest beta that is above the threshold and has a
    distance of at least 100 times its error; None if there is none."""
    exponent: float | None
    """The slope of log distance against log beta between the two largest such betas; None if there
    are fewer."""

    def __repr__(self) -> str:
        law = "no law known" if self.threshold is None else f"threshold {self.threshold:.3g}"
        if self.constant is not None:
            law += f", distance = {self.constant:.4g} / beta"
        size = f"{pluralize(len(self.betas), 'beta')}, {pluralize(self.layers, 'layer')}"
        return f"SoftmaxGap({size}, delta {self.delta}, {law})"


def softmax_gap(
    tokens: Any,
    dynamics: Dynamics,
    betas: Sequence[Number],
    *,
    layers: int | None = None,
    error: float = 1e-8,
) -> SoftmaxGap:
    """Distance between softmax and hardmax over many layers, enclosed.

    Parameters
    ----------
    tokens : array_like of shape (n, d)
        The cloud.
    dynamics : Dynamics
        Step size and metric of hardmax.
    betas : sequence of numbers or str
        Inverse temperatures, positive and increasing.
    layers : int, optional
        Over how many layers to take the largest distance; by default 60 more than it takes until
        followers have weight beside their leaders, at the largest beta.
    error : float, default 1e-8
        By how much coordinates of softmax may be off.

    Returns
    -------
    SoftmaxGap
        The distances, and the law that they follow.

    Notes
    -----
    At any fixed depth softmax tends to hardmax as :math:`\\beta \\to \\infty`. But a token that
    goes to a leader has weight beside it once :math:`\\beta` times the lead of the leader is below
    1. With the largest score :math:`s` this takes about
    :math:`\\log(\\beta s) / \\log(1 + \\alpha)` layers, and 60 more show what comes of it.

    Let :math:`\\Delta = \\min \\langle A s, s - t \\rangle` over limits :math:`s \\neq t` of
    hardmax. If it is positive, the distance was observed to be :math:`c / \\beta` for large
    :math:`\\beta`. If it is 0, two limits tie for one of them, and softmax was observed to leave
    the limit of hardmax once followers have weight, unless all is symmetric. None of this is
    proved.

    Examples
    --------
    >>> softmax_gap([[3.0], [-1.0], [1.0]], Dynamics(1), [10, 20, 40])
    SoftmaxGap(3 betas, 69 layers, delta 4, threshold 1.08, distance = 0.1668 / beta)
    """
    listed = list(betas) if isinstance(betas, np.ndarray) and betas.ndim else betas
    wish = "a list of numbers, such as [10, 100]"
    numbers = tuple(read_number(beta, "`betas`") for beta in check_list(listed, "`betas`", wish))
    if not numbers or any(low >= high for low, high in pairwise((0, *numbers))):
        raise InputError("`betas` must be positive and increasing.")
    plain = check_plain(check_dynamics(dynamics), "`softmax_gap`")
    tokens = read_one(tokens).tokens
    lim = limit(tokens, plain)
    if lim.settled_at is None:
        raise InputError(f"`tokens`: hardmax has no proved limit here ({lim.stop_reason}).")
    if layers is None:
        layers = _depth(lim, numbers[-1])
    hard = simulate(tokens, plain, layers=layers)
    distances, errors = [], []
    for beta in numbers:
        softmax = Dynamics(plain.alpha, plain.matrix, attention=Softmax(beta))
        soft = simulate(tokens, softmax, layers=layers, error=error)
        distances.append(float(np.abs(soft.tokens - np.asarray(hard)).max()))
        errors.append(above(soft.error + hard.error + float(np.spacing(distances[-1]))))
    delta, margin = _delta(lim), _margin(lim, layers)
    threshold = _threshold(delta, margin, lim.run.n)
    lowest = math.inf if threshold is None else threshold
    is_clear = np.array(distances) >= _CLEAR * np.array(errors)
    clear = [k for k, beta in enumerate(numbers) if beta >= lowest and is_clear[k]]
    constant = exponent = None
    if clear:
        constant = float(numbers[clear[-1]]) * distances[clear[-1]]
    if len(clear) > 1:
        low, high = clear[-2:]
        fall = math.log(distances[high]) - math.log(distances[low])
        exponent = fall / (_log(numbers[high]) - _log(numbers[low]))
    return SoftmaxGap(
        betas=numbers,
        distances=np.array(distances),
        errors=np.array(errors),
        delta=delta,
        layers=layers,
        margin=margin,
        threshold=threshold,
        constant=constant,
        exponent=exponent,
    )


def _scores(points: np.ndarray, dynamics: Dynamics) -> np.ndarray:
    metric = dynamics.metric
    return (points if metric is None else points @ np.array(metric).T) @ points.T


def _log(number: Fraction) -> float:
    """The logarithm of a positive number of any size: that of floats ends at 1.8e308."""
    return math.log(number.numerator) - math.log(number.denominator)


def _depth(lim: Limit, beta: Fraction) -> int:
    """The default number of layers."""
    largest = np.abs(_scores(lim.run.at(0, exact=True), lim.run.dynamics)).max()
    growth = _log(max(Fraction(1), beta * largest))
    rate = math.log1p(lim.run.dynamics.alpha)
    if growth > _DEEPEST * rate:
        message = (
            f"`layers`: at this alpha followers have weight only after over {_DEEPEST:,} layers"
        )
        raise InputError(f"{message}; give a number.")
    return _BEYOND + math.ceil(growth / (rate or 1))


def _delta(lim: Limit) -> Fraction | None:
    points = np.array(list(dict.fromkeys(map(tuple, lim.exact_limit_points().tolist()))))
    scores = _scores(points, lim.run.dynamics)
    pairs = permutations(range(len(points)), 2)
    return min((scores[s, s] - scores[s, t] for s, t in pairs), default=None)


def _margin(lim: Limit, layers: int) -> float:
    """The smallest lead at these layers, up to settling, as a float."""
    smallest = math.inf
    for layer in range(min(lim.settled_at or 0, layers) + 1):
        for row in _scores(lim.run.at(layer, exact=True), lim.run.dynamics):
            # One denominator: integers compare far faster than fractions.
            unit = math.lcm(*(score.denominator for score in row))
            scores = sorted({score.numerator * (unit // score.denominator) for score in row})
            if len(scores) > 1:
                smallest = min(smallest, (scores[-1] - scores[-2]) / unit)
    return smallest


def _threshold(delta: Fraction | None, margin: float, n: int) -> float | None:
    """The larger solution of (n - 1) exp(-x) = margin / (x delta), over margin; 1 / margin if there
    is none."""
    if delta is None or delta <= 0 or not math.isfinite(margin):
        return None
    scale, x = float(n - 1) * float(delta) / margin, 1.0
    for _ in range(100):  # x = log(scale x) from above
        x = max(1.0, math.log(scale * x)) if scale > math.e else 1.0
    return x / margin
