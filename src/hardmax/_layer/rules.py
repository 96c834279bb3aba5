"""What engines ask of a `Dynamics`: which tokens may attend to which, who counts, how tokens move;
and the checks that a layer is one they know."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.validation import InputError
from hardmax._layer.attention import HARDMAX, Softmax
from hardmax._layer.parts import inverse, is_strict
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import Points, merge

if TYPE_CHECKING:
    from hardmax.dynamics import Dynamics


def attended_among(
    dynamics: "Dynamics", scores: Mapping[int, int], counts: np.ndarray, unit: int
) -> list[int]:
    """The tokens that are attended to, of those with these scores: integers, in 1 / units. `counts`
    says how often each token is there."""
    attention = check_hardmax(dynamics, "attended sets").attention or HARDMAX
    if not scores:  # the first token under a strict mask
        return []
    return attention.chosen(scores, counts, unit)


def allowed_pairs(dynamics: "Dynamics", n: int) -> np.ndarray | None:
    """Which of n tokens may attend to which, (n, n); None if all may."""
    if dynamics.mask is None:
        return None
    mask = dynamics.mask
    if isinstance(mask, str):
        mask = np.tri(n, k=-int(is_strict(mask)), dtype=bool)
    if len(mask) != n:
        message = f"`mask` is {len(mask)} by {len(mask)}, but there are {n} tokens."
        raise InputError(message)
    return mask


def merge_points(dynamics: "Dynamics", cloud: Cloud) -> Points:
    """The tokens, equal ones merged: they stay equal for ever, unless they are told apart."""
    if not dynamics.traits.tells_copies_apart:
        return merge(cloud)
    n, counts = len(cloud.tokens), cloud.multiplicities
    counts = np.ones(n, dtype=int) if counts is None else counts
    return Points(cloud.tokens + 0, counts, np.arange(n))


def mean_value(dynamics: "Dynamics") -> Any:
    """The weighted mean V of the value matrices of all heads; None for the identity."""
    if not dynamics.traits.mixed:
        return dynamics.value
    heads = dynamics.all_heads
    size = next(len(head.value) for head in heads if head.value is not None)
    identity = np.eye(size, dtype=int).astype(object)
    return sum(head.weight * (identity if head.value is None else head.value) for head in heads)


def rescaling(dynamics: "Dynamics", alpha: Fraction) -> Any:
    """(I + alpha V)^-1, or the number that it is without a value matrix; I, if tokens are not
    divided."""
    value, is_plain = mean_value(dynamics), dynamics.normalise == "plain"
    if value is None:
        return Fraction(1) if is_plain else 1 / (1 + alpha)
    identity = np.eye(len(value), dtype=int).astype(object)
    if is_plain:
        return identity
    inverted = inverse(identity + alpha * value)
    if inverted is None:
        raise InputError(f"`value`: I + alpha V has no inverse with alpha {alpha}.")
    return inverted


def split_heads(dynamics: "Dynamics") -> list["Dynamics"]:
    """The layer of each head alone; the layer itself if there is a single one."""
    if dynamics.heads is None:
        return [dynamics]
    make: Any = type(dynamics)
    alone = []
    for head in dynamics.heads:
        mask = dynamics.mask if head.mask is None else head.mask
        parts = {"value": dynamics.value, "mask": mask, "ties": head.ties}
        alone.append(make(dynamics.alpha, head.metric, **parts))
    return alone


def check_dimension(dynamics: "Dynamics", dimension: int) -> None:
    """Raise an InputError if a matrix of the layer does not fit tokens of a dimension."""
    matrices = [("metric", dynamics.metric), ("value", dynamics.value)]
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


def check_plain(dynamics: "Dynamics", who: str) -> "Dynamics":
    """These dynamics, if they are the paper's; else an InputError that begins with who needs
    that."""
    if dynamics.traits.plain:
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


def check_known(dynamics: "Dynamics", who: str) -> None:
    """Raise an InputError if who does not know the kind of attention of these dynamics."""
    attention = dynamics.attention
    if attention is not None and who not in attention.known_to:
        raise InputError(f"`attention`: {type(attention).__name__} is unknown to {who}.")
    heads = dynamics.heads or ()
    if is_strict(dynamics.mask) or any(head.mask is not None for head in heads):
        raise InputError(f"`mask`: strict masks and those of single heads are unknown to {who}.")
    if any(head.ties for head in heads):
        raise InputError(f"`ties`: rules of single heads are unknown to {who}.")


def check_rational(dynamics: "Dynamics", who: str) -> "Dynamics":
    """These dynamics, if layers are rational; else an InputError that begins with who needs
    that."""
    if check_hardmax(dynamics, who).normalises:
        wish = "normalisation takes roots, and its layers are irrational: use `simulate`"
        raise InputError(f"{who}: {wish}.")
    return dynamics


def check_definite(dynamics: "Dynamics") -> "Dynamics":
    """These dynamics, if the metric is symmetric positive definite; else an InputError."""
    if dynamics.indefinite_reason:
        reason = dynamics.indefinite_reason
        raise InputError(f"`metric` must be symmetric positive definite: {reason}.")
    return dynamics
