"""Layers of softmax attention, enclosed: every coordinate is a ball of python-flint's `arb`, which
has the true value.

    z_i' = (I + alpha V)^-1 (z_i + alpha V w_i),    w_i = sum_j m_j e_ij z_j / sum_j m_j e_ij,
    e_ij = exp(beta (<A z_i, z_j> - c_i)) over all j that i may attend to,

with multiplicities m_j, and any c_i: the largest score, so that nothing overflows. Balls grow from
layer to layer. Once one is larger than asked, or has no bound at all, everything is computed again
with twice as many bits.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

import flint
import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_int
from hardmax._layer.attention import Softmax
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
    Enclosures(2 tokens in 1 dimension, 3 layers, no coordinate off by more than ...e-16)
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
        size = f"{pluralize(n, 'token')} in {pluralize(d, 'dimension')}, {pluralize(self.layers, 'layer')}"
        return f"Enclosures({size}, no coordinate off by more than {self.error:.2g})"


def enclose(cloud: Cloud, dynamics: Dynamics, layers: int) -> Enclosures:
    """So many layers of softmax attention, with the error that its `Softmax` asks for."""
    attention = dynamics.attention
    assert isinstance(attention, Softmax)
    z = to_fractions(cloud.tokens, "`tokens`")
    counts = [1] * len(z) if cloud.multiplicities is None else cloud.multiplicities.tolist()
    layers = check_int(layers, "`layers`", at_least=0)
    rounding = float(np.abs(z).max()) * 2.0**-53
    if attention.error < rounding:
        message = f"`error` {attention.error:g} is less than float64 can store of these tokens ({rounding:.1g})."
        raise InputError(message, argument="error")
    bits = 64
    while bits <= _MOST_BITS:
        with flint.ctx.workprec(bits):
            found = _walk(z, counts, dynamics, attention, layers)
        if found is not None:
            tokens, error = found
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


def _walk(
    z: np.ndarray, counts: list[int], dynamics: Dynamics, attention: Softmax, layers: int
) -> tuple[np.ndarray, float] | None:
    """The tokens of all layers and the largest error; None if one is not proved to be as asked."""
    n = len(z)
    mask, place = dynamics.allowed(n), _matrix(z)
    metric = None if dynamics.metric is None else _matrix(dynamics.metric).transpose()
    beta, path, largest = _ball(attention.beta), [], 0.0
    for layer in range(layers + 1):
        rows = place.tolist()
        path.append([[float(x.mid()) for x in row] for row in rows])
        balls, centres = chain(*rows), chain(*path[-1])
        errors = [_above(abs(x - y).upper()) for x, y in zip(balls, centres, strict=True)]
        # A ball without bounds has the error nan or inf. (Of 0 and nan, Python's max is 0.)
        if not all(error <= attention.error for error in errors):
            return None
        largest = max(largest, *errors)
        if layer == layers:
            break
        scores = (place if metric is None else place * metric) * place.transpose()
        weights = []
        for i, row in enumerate(scores.tolist()):
            among = range(n) if mask is None else np.flatnonzero(mask[i]).tolist()
            top = max(among, key=lambda j: row[j].mid())
            powers = {j: counts[j] * (beta * (row[j] - row[top])).exp() for j in among if j != top}
            # exp(0) without an error: the ball of a token that attends to one alone does not grow
            # with beta.
            powers[top] = flint.arb(counts[top])
            total = sum(powers.values())
            weights.append([powers[j] / total if j in powers else flint.arb(0) for j in range(n)])
        means, alpha = flint.arb_mat(weights) * place, dynamics.alpha_at(layer)
        keep = dynamics.rescaling(alpha)
        if dynamics.value is None:
            place = place * _ball(keep) + means * _ball(alpha * keep)
        else:
            place = place * _matrix(keep.T) + means * _matrix((alpha * keep @ dynamics.value).T)
    return np.array(path), largest


def _above(x: Any) -> float:
    """A float that is no less than an exact number."""
    return float(np.nextafter(float(x), np.inf))
