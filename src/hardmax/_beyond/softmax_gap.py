"""How far softmax is from hardmax over many layers, at low temperature: `softmax_gap`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np

from hardmax._common.format import abridge, format_exact, pluralize
from hardmax._common.progress import Search
from hardmax._common.validation import InputError, check_list
from hardmax._layer.attention import Softmax
from hardmax._layer.rules import check_plain
from hardmax._tokens.batches import read_one
from hardmax._tokens.rationals import Number, above, read_number, to_fractions
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.figures.pictured import Pictured
from hardmax.infinite_depth import Limit, limit
from hardmax.simulation import simulate

_BEYOND, _DEEPEST = 60, 10_000


@dataclass(frozen=True, eq=False)
class SoftmaxGap(Pictured):
    """Softmax beside hardmax, at several temperatures. Made by `softmax_gap`.

    Its picture: the distance by beta, with its error.
    """

    _figure = "plot_gap"
    betas: tuple[Fraction, ...]
    """Inverse temperatures."""
    distances: np.ndarray
    """The largest difference of a coordinate between softmax and hardmax, over all tokens and these
    layers, for each beta."""
    errors: np.ndarray
    """By how much each distance may be off, at most."""
    delta: Fraction | None
    """The smallest <A s, s - t> of two limits s and t of hardmax that differ; 0 if some t ties with
    s for s; None if there is only one limit."""
    layers: int
    """Over how many layers the distances are taken."""
    interrupted: bool = False
    """Whether it ended by Ctrl-C: then there are fewer betas than were asked for."""

    def __repr__(self) -> str:
        pairs = zip(self.betas, self.distances, strict=True)
        apart = [f"{distance:.4g} at beta {float(beta):g}" for beta, distance in pairs]
        depth = f"{pluralize(self.layers, 'layer')}, delta {format_exact(self.delta)}"
        left = ", interrupted" * self.interrupted
        return f"SoftmaxGap({abridge(apart, 2)}; {depth}{left})"


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
        The distances, and what they may depend on. After Ctrl-C, those found so far.

    Notes
    -----
    At any fixed depth softmax tends to hardmax as :math:`\\beta \\to \\infty`. But a token that
    goes to a leader has weight beside it once :math:`\\beta` times the lead of the leader is below
    1. With the largest score :math:`s` this takes about
    :math:`\\log(\\beta s) / \\log(1 + \\alpha)` layers, and 60 more show what comes of it.

    Let `delta` be the minimum of :math:`\\langle A s, s - t \\rangle` over limits
    :math:`s \\neq t` of hardmax: by how much a limit prefers itself to any other, at least. If it
    is positive, the distance was observed to be :math:`c / \\beta` for large :math:`\\beta`. With
    delta 0, some limit prefers itself to another by nothing: they tie for it, at any
    :math:`\\beta`, and softmax was observed to leave the limit of hardmax once followers have
    weight, unless everything is symmetric. None of this is proved.

    Examples
    --------
    >>> softmax_gap([[3.0], [-1.0], [1.0]], Dynamics(1), [10, 20])
    SoftmaxGap(0.01674 at beta 10, 0.008352 at beta 20; 68 layers, delta 4)
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
    with Search("temperatures") as search:
        for done, beta in enumerate(numbers):
            search(done, len(numbers))
            softmax = Dynamics(plain.alpha, plain.metric, attention=Softmax(beta))
            soft = simulate(tokens, softmax, layers=layers, error=error)
            distance = float(np.abs(np.asarray(soft) - np.asarray(hard)).max())
            errors.append(above(soft.error + hard.error + float(np.spacing(distance))))
            distances.append(distance)
    if not distances:
        raise KeyboardInterrupt
    arrays, known = (np.array(distances), np.array(errors)), numbers[: len(distances)]
    return SoftmaxGap(known, *arrays, _delta(lim), layers, search.interrupted)


def _scores(points: np.ndarray, dynamics: Dynamics) -> np.ndarray:
    if dynamics.metric is None:
        return points @ points.T
    return points @ to_fractions(dynamics.metric, "`metric`").T @ points.T


def _depth(lim: Limit, beta: Fraction) -> int:
    """The default number of layers."""
    largest = np.abs(_scores(lim.run.at(0, exact=True), lim.run.dynamics)).max()
    scale = max(Fraction(1), beta * largest)  # maybe above the largest float
    growth = math.log(scale.numerator) - math.log(scale.denominator)
    rate = math.log1p(lim.run.dynamics.alpha_at(0))
    if growth > _DEEPEST * rate:
        reason = f"at this alpha followers have weight only after over {_DEEPEST:,} layers"
        raise InputError(f"`layers`: {reason}; give a number.")
    return _BEYOND + math.ceil(growth / (rate or 1))


def _delta(lim: Limit) -> Fraction | None:
    points = np.array(list(dict.fromkeys(map(tuple, lim.exact_limit_points().tolist()))))
    scores = _scores(points, lim.run.dynamics)
    pairs = permutations(range(len(points)), 2)
    return min((scores[s, s] - scores[s, t] for s, t in pairs), default=None)
