"""Layers of softmax attention, enclosed: by floats with bounds where these prove enough, else every
coordinate is a ball of python-flint's `arb`, which has the true value.

    z_i' = (I + alpha V)^-1 (z_i + alpha V w_i),    w_i = sum_j m_j e_ij z_j / sum_j m_j e_ij,
    e_ij = exp(beta (<A z_i, z_j> - c_i)) over all j that i may attend to,

with multiplicities m_j, and any c_i: the largest score, so that nothing overflows. Balls grow from
layer to layer. Once one is larger than asked, or has no bound at all, everything is computed again
with twice as many bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import flint
import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_int
from hardmax._layer.attention import Softmax
from hardmax._layer.rules import allowed_pairs, rescaling
from hardmax._runs.softmax_floats import run_floats
from hardmax._tokens.batches import Cloud
from hardmax._tokens.rationals import to_fractions
from hardmax.dynamics import Dynamics

_MOST_BITS = 2**15


@dataclass(frozen=True, eq=False)
class Enclosures:
    """Layers of softmax attention, each coordinate with a proved error. Made by `simulate`.

    Examples
    --------
    >>> from hardmax import Dynamics, Softmax, simulate
    >>> simulate([[1.0], [2.0]], Dynamics(1, attention=Softmax(10)), layers=3)  # doctest: +ELLIPSIS
    Enclosures(2 tokens in 1 dimension, 3 layers, no coordinate off by more than ...e-15)
    """

    dynamics: Dynamics
    """What was run."""
    tokens: np.ndarray
    """Tokens at every layer, (layers + 1, n, d): float64."""
    error: float
    """No coordinate is further than this from its true value."""
    bits: int
    """The precision that it took."""

    @property
    def layers(self) -> int:
        """Last layer of the run."""
        return len(self.tokens) - 1

    def at(self, layer: int) -> np.ndarray:
        """Tokens at a layer, (n, d).

        Parameters
        ----------
        layer : int
            From 0 to `layers`.
        """
        return self.tokens[check_int(layer, "`layer`", at_least=0, at_most=self.layers)].copy()

    def __repr__(self) -> str:
        _, n, d = self.tokens.shape
        tokens = f"{pluralize(n, 'token')} in {pluralize(d, 'dimension')}"
        layers = pluralize(self.layers, "layer")
        return f"Enclosures({tokens}, {layers}, no coordinate off by more than {self.error:.2g})"


def enclose(cloud: Cloud, dynamics: Dynamics, layers: int) -> Enclosures:
    """So many layers of softmax attention, with the error that its `Softmax` asks for."""
    attention = dynamics.attention
    assert isinstance(attention, Softmax)
    z = to_fractions(cloud.tokens, "`tokens`")
    counts = [1] * len(z) if cloud.multiplicities is None else cloud.multiplicities.tolist()
    layers = check_int(layers, "`layers`", at_least=0)
    rounding = float(np.abs(z).max()) * 2.0**-53
    if attention.error < rounding:
        raise InputError(
            f"`error` {attention.error:g} is less than float64 can store of these tokens "
            f"({rounding:.1g}).",
            argument="error",
        )
    enclosed = run_floats(z, counts, dynamics, attention.beta, layers, attention.error)
    if enclosed is not None:
        return Enclosures(dynamics, *enclosed, bits=53)
    bits = 64
    while bits <= _MOST_BITS:
        with flint.ctx.workprec(bits):
            enclosed = _run(z, counts, dynamics, attention, layers)
        if enclosed is not None:
            tokens, error = enclosed
            return Enclosures(dynamics, tokens, error, bits)
        bits *= 2
    limit = f"`error` {attention.error:g} cannot be proved with {_MOST_BITS:,} bits"
    message = f"{limit}: ask for fewer layers, a larger `error` or a smaller `beta`."
    raise InputError(message, argument="error")


def _ball(number: Any) -> Any:
    number = Fraction(number)
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def _matrix(table: Any) -> Any:
    return flint.arb_mat([[_ball(x) for x in row] for row in table])


def _run(
    z: np.ndarray, counts: list[int], dynamics: Dynamics, attention: Softmax, layers: int
) -> tuple[np.ndarray, float] | None:
    """The tokens of all layers and the largest error; None if one is not proved to be as asked."""
    mask, balls = allowed_pairs(dynamics, len(z)), _matrix(z)
    metric = None if dynamics.metric is None else _matrix(dynamics.metric).transpose()
    beta, path, largest = _ball(attention.beta), [], 0.0
    for layer in range(layers + 1):
        rows = balls.tolist()
        path.append([[float(x.mid()) for x in row] for row in rows])
        centres = chain(*path[-1])
        gaps = [float(abs(x - y).upper()) for x, y in zip(chain(*rows), centres, strict=True)]
        errors = np.nextafter(gaps, np.inf).tolist()
        # A ball without bounds has the error nan or inf. (Of 0 and nan, Python's max is 0.)
        if not all(error <= attention.error for error in errors):
            return None
        largest = max(largest, *errors)
        if layer == layers:
            break
        directions = balls if metric is None else balls * metric
        scores = (directions * balls.transpose()).tolist()
        weights = []
        for i, row in enumerate(scores):
            among = range(len(z)) if mask is None else np.flatnonzero(mask[i]).tolist()
            weights.append(_weights(row, among, counts, beta))
        means, alpha = flint.arb_mat(weights) * balls, dynamics.alpha_at(layer)
        contraction = rescaling(dynamics, alpha)
        if dynamics.value is None:
            balls = balls * _ball(contraction) + means * _ball(alpha * contraction)
        else:
            push = alpha * contraction @ dynamics.value
            balls = balls * _matrix(contraction.T) + means * _matrix(push.T)
    return np.array(path), largest


def _weights(scores: list[Any], among: Sequence[int], counts: list[int], beta: Any) -> list[Any]:
    """The weights of all tokens for one that attends to those `among` them, given their scores."""
    top = max(among, key=lambda j: scores[j].mid())
    powers = {}
    for j in among:
        if j != top:
            powers[j] = counts[j] * (beta * (scores[j] - scores[top])).exp()
    # exp(0) without an error: the ball of a token that attends to one alone does not grow with
    # beta.
    powers[top] = flint.arb(counts[top])
    total = sum(powers.values())
    return [powers[j] / total if j in powers else flint.arb(0) for j in range(len(scores))]
