"""What engines ask of a `Dynamics`: who may attend to whom, who counts, how tokens move; and the
checks that a layer is one they know."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.validation import InputError
from hardmax._layer.attention import Softmax
from hardmax._layer.parts import FULL, inverse
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import Points, merge

if TYPE_CHECKING:
    from hardmax.dynamics import Dynamics


def attended_among(
    dynamics: "Dynamics", scores: Mapping[int, int], counts: np.ndarray, unit: int
) -> list[int]:
    """The tokens that are attended to, of those with these scores: integers, in 1 / units. `counts`
    says how often each token is there."""
    attention: Any = check_rational(dynamics, "attended sets").attention
    if attention is None:
        least = max(scores.values())
    else:
        least = attention._least(scores, counts, unit)
    return [j for j, score in scores.items() if score >= least]


def allowed_pairs(dynamics: "Dynamics", n: int) -> np.ndarray | None:
    """Who of n tokens may attend to whom, (n, n); None if everybody may."""
    if dynamics.mask is None:
        return None
    mask = np.tri(n, dtype=bool) if isinstance(dynamics.mask, str) else dynamics.mask
    if len(mask) != n:
        message = f"`mask` is {len(mask)} by {len(mask)}, but there are {n} tokens."
        raise InputError(message, argument="mask")
    return mask


def merge_points(dynamics: "Dynamics", cloud: Cloud) -> Points:
    """The tokens, equal ones merged: they stay equal for ever, unless a mask tells them apart."""
    if dynamics.mask is None:
        return merge(cloud)
    n, counts = len(cloud.tokens), cloud.multiplicities
    counts = np.ones(n, dtype=np.int64) if counts is None else counts
    return Points(cloud.tokens + 0, counts, np.arange(n))


def rescaling(dynamics: "Dynamics", alpha: Fraction) -> Any:
    """(I + alpha V)^-1, or the number that it is without a value matrix."""
    value = dynamics.value
    if value is None:
        return 1 / (1 + alpha)
    if alpha == FULL:
        raise InputError("`alpha`: a full step ('inf') goes without `value`.", argument="alpha")
    identity = np.eye(len(value), dtype=np.int64).astype(object)
    inverted = inverse(identity + alpha * value)
    if inverted is None:
        raise InputError(
            f"`value`: I + alpha V has no inverse with alpha {alpha}.", argument="value"
        )
    return inverted


def split_heads(dynamics: "Dynamics") -> list["Dynamics"]:
    """The layer of each head alone."""
    make: Any = type(dynamics)
    value, mask = dynamics.value, dynamics.mask
    heads = dynamics.heads or ()
    return [make(dynamics.steps, head.metric, value=value, mask=mask) for head in heads]


def head_weights(dynamics: "Dynamics") -> list[Fraction]:
    """The weights of the heads, which add up to 1."""
    weights = [Fraction(head.weight) for head in dynamics.heads or ()]
    return [weight / sum(weights) for weight in weights]


def check_dimension(dynamics: "Dynamics", dimension: int) -> None:
    """Raise an InputError if the metric or the value matrix does not fit tokens of a dimension."""
    matrices = [("metric", dynamics.matrix), ("value", dynamics.value)]
    matrices += [("metric", head.metric) for head in dynamics.heads or ()]
    for name, matrix in matrices:
        if matrix is not None and (size := len(matrix)) != dimension:
            raise InputError(
                f"`{name}` is {size} by {size}, but the tokens have {dimension} coordinates.",
                argument=name,
            )


def is_causal(dynamics: "Dynamics") -> bool:
    """Whether this is the paper's layer with a causal mask."""
    others = (dynamics.value, dynamics.attention, dynamics.heads)
    is_alone = isinstance(dynamics.steps, Fraction) and all(part is None for part in others)
    return is_alone and isinstance(dynamics.mask, str)


def check_plain(dynamics: "Dynamics", who: str) -> "Dynamics":
    """These dynamics, if they are the paper's; else an InputError that begins with who needs
    that."""
    if dynamics.is_plain:
        return dynamics
    parts = "`value`, `mask`, `attention` and `heads`"
    raise InputError(
        f"{who} knows the paper's layer only: `Dynamics` with one `alpha` and without {parts}.",
        argument="dynamics",
    )


def check_rational(dynamics: "Dynamics", who: str) -> "Dynamics":
    """These dynamics, if layers are rational; else an InputError that begins with who needs
    that."""
    if isinstance(dynamics.attention, Softmax):
        wish = "softmax attends to all tokens, and its layers are irrational: use `simulate`"
        raise InputError(f"{who}: {wish}.", argument="dynamics")
    return dynamics


def check_definite(dynamics: "Dynamics") -> "Dynamics":
    """These dynamics, if the metric is symmetric positive definite; else an InputError."""
    if dynamics.indefinite_reason:
        message = f"`metric` must be symmetric positive definite: {dynamics.indefinite_reason}."
        raise InputError(message, argument="metric")
    return dynamics
