"""What engines ask of a `Dynamics`: who may attend to whom, who counts, how tokens move; and the
checks that a layer is one they know."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.validation import InputError
from hardmax._layer.attention import Softmax
from hardmax._layer.parts import inverse
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import Points, merge

if TYPE_CHECKING:
    from hardmax.dynamics import Dynamics


def attended_among(
    dynamics: "Dynamics", scores: Mapping[int, int], counts: np.ndarray, unit: int
) -> list[int]:
    """The tokens that are attended to, of those with these scores: integers, in 1 / units. `counts`
    says how often each token is there."""
    attention: Any = check_hardmax(dynamics, "attended sets").attention
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
        raise InputError(message)
    return mask


def merge_points(dynamics: "Dynamics", cloud: Cloud) -> Points:
    """The tokens, equal ones merged: they stay equal for ever, unless a mask tells them apart."""
    if dynamics.mask is None:
        return merge(cloud)
    n, counts = len(cloud.tokens), cloud.multiplicities
    counts = np.ones(n, dtype=int) if counts is None else counts
    return Points(cloud.tokens + 0, counts, np.arange(n))


def has_own_values(dynamics: "Dynamics") -> bool:
    """Whether heads have value matrices of their own."""
    return any(head.value is not None for head in dynamics.heads or ())


def head_values(dynamics: "Dynamics") -> list[Any]:
    """The value matrix of each head, those of a single one: None for the identity."""
    if dynamics.heads is None:
        return [dynamics.value]
    return [dynamics.value if head.value is None else head.value for head in dynamics.heads]


def head_metrics(dynamics: "Dynamics") -> list[Any]:
    """The metric of each head, that of a single one: None for the identity."""
    if dynamics.heads is None:
        return [dynamics.metric]
    return [head.metric for head in dynamics.heads]


def mean_value(dynamics: "Dynamics") -> Any:
    """The weighted mean V of the value matrices of all heads; None for the identity."""
    if not has_own_values(dynamics):
        return dynamics.value
    values = head_values(dynamics)
    size = next(len(value) for value in values if value is not None)
    identity = np.eye(size, dtype=int).astype(object)
    weighted = zip(head_weights(dynamics), values, strict=True)
    return sum(weight * (identity if value is None else value) for weight, value in weighted)


def moves_to_means(dynamics: "Dynamics") -> bool:
    """Whether tokens go straight towards means of tokens, and nowhere else, so that none leaves
    the hull."""
    others = dynamics.value, dynamics.feed_forward, dynamics.normalise
    return all(part is None for part in others) and not has_own_values(dynamics)


def rescaling(dynamics: "Dynamics", alpha: Fraction) -> Any:
    """(I + alpha V)^-1, or the number that it is without a value matrix."""
    value = mean_value(dynamics)
    if value is None:
        return 1 / (1 + alpha)
    identity = np.eye(len(value), dtype=int).astype(object)
    inverted = inverse(identity + alpha * value)
    if inverted is None:
        raise InputError(f"`value`: I + alpha V has no inverse with alpha {alpha}.")
    return inverted


def split_heads(dynamics: "Dynamics") -> list["Dynamics"]:
    """The layer of each head alone; the layer itself if there is a single one."""
    if dynamics.heads is None:
        return [dynamics]
    make: Any = type(dynamics)
    value, mask = dynamics.value, dynamics.mask
    return [make(dynamics.alpha, head.metric, value=value, mask=mask) for head in dynamics.heads]


def head_weights(dynamics: "Dynamics") -> list[Fraction]:
    """The weights of the heads, which add up to 1: that is the weight of a single one."""
    weights = [Fraction(head.weight) for head in dynamics.heads or ()] or [Fraction(1)]
    return [weight / sum(weights) for weight in weights]


def check_dimension(dynamics: "Dynamics", dimension: int) -> None:
    """Raise an InputError if a matrix of the layer does not fit tokens of a dimension."""
    matrices = [("metric", dynamics.matrix), ("value", dynamics.value)]
    for head in dynamics.heads or ():
        matrices += [("metric", head.metric), ("value", head.value)]
    if dynamics.feed_forward is not None:
        matrices.append(("feed_forward", dynamics.feed_forward.outer))
    for name, matrix in matrices:
        if matrix is not None and len(matrix) != dimension:
            shape = "{} by {}".format(*np.shape(matrix))
            raise InputError(
                f"`{name}` is {shape}, but the tokens have {dimension} coordinates.",
            )
    if dynamics.normalise == "layer" and dimension == 1:
        raise InputError(
            "`normalise`: 'layer' makes every token of one coordinate 0: use 'sphere'.",
        )


def is_causal(dynamics: "Dynamics") -> bool:
    """Whether this is the paper's layer with a causal mask."""
    others = (dynamics.attention, dynamics.heads)
    is_alone = isinstance(dynamics.alpha, Fraction) and all(part is None for part in others)
    return is_alone and moves_to_means(dynamics) and isinstance(dynamics.mask, str)


def check_plain(dynamics: "Dynamics", who: str) -> "Dynamics":
    """These dynamics, if they are the paper's; else an InputError that begins with who needs
    that."""
    if dynamics.is_plain:
        return dynamics
    parts = "`value`, `mask`, `attention`, `heads`, `normalise` and `feed_forward`"
    raise InputError(
        f"{who} knows the paper's layer only: `Dynamics` with one `alpha` and without {parts}.",
    )


def check_hardmax(dynamics: "Dynamics", who: str) -> "Dynamics":
    """These dynamics, if attention chooses; else an InputError that begins with who needs that."""
    if isinstance(dynamics.attention, Softmax):
        wish = "softmax attends to all tokens, and its layers are irrational: use `simulate`"
        raise InputError(f"{who}: {wish}.")
    return dynamics


def check_rational(dynamics: "Dynamics", who: str) -> "Dynamics":
    """These dynamics, if layers are rational; else an InputError that begins with who needs
    that."""
    if check_hardmax(dynamics, who).normalise is not None:
        wish = "normalisation takes roots, and its layers are irrational: use `simulate`"
        raise InputError(f"{who}: {wish}.")
    return dynamics


def is_rational(dynamics: "Dynamics") -> bool:
    """Whether layers are rational, so that there are exact runs; all others are enclosed."""
    return dynamics.normalise is None and not isinstance(dynamics.attention, Softmax)


def check_definite(dynamics: "Dynamics") -> "Dynamics":
    """These dynamics, if the metric is symmetric positive definite; else an InputError."""
    if dynamics.indefinite_reason:
        reason = dynamics.indefinite_reason
        raise InputError(f"`metric` must be symmetric positive definite: {reason}.")
    return dynamics
