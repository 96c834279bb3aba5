"""THE definition. Tokens z_1 … z_n, a metric A, a step alpha > 0:

    C_i  = { j : <A z_i, z_j> is largest }          the attended set of token i
    w_i  = mean of z_j over j in C_i
    z_i' = (z_i + alpha w_i) / (1 + alpha)          one layer

This is the paper's layer. Others differ in one or more parts: a mask says among which j token i
chooses, the step alpha depends on the layer, and attention may also go to scores below the largest:
to those within a slack of it (localmax), to the k largest (top-k), or to all, w_i being the mean
with the weights exp(beta <A z_i, z_j>) (softmax). Of several tokens that tie, the first or the last
may be the only one that is attended to. A strict mask leaves token 0 nobody to attend to: w_0 = 0.

A transformer block does more. Of several heads h, each has a metric A_h, a value matrix V_h and a
weight a_h > 0, the weights scaled to a sum of 1. A layer then is, in this order,

    w_i^h                                           for each head, as above, along A_h z_i
    y_i  = z_i + alpha sum_h a_h V_h w_i^h          attention, with a residual connection
    x_i  = (I + alpha V)^-1 y_i, V = sum_h a_h V_h  normalisation: the paper's division,
           or y_i / |y_i|                           ... on the sphere,
           or (y_i - m) / s                         ... of layers
           or y_i                                   ... plain: none
    u_i  = x_i + W2 relu(W1 x_i + b1) + b2          a feed-forward block, with a residual connection
    z_i' = u_i, u_i / |u_i| or (u_i - m) / s        normalisation as before; else none

with one head, V_h = I and no feed-forward block where none is given. Layer normalisation takes the
mean m of the d coordinates of a token from it, and divides by their standard deviation s, the root
of the mean square; there are no gains and no epsilon. What is 0 before it is divided has no layer
after it. Tokens at layer 0 are those given, normalised or not.

The paper's Figure 3 has three kinds of networks. The *pure-attention transformer* has no
feed-forward block, and the *full transformer* has one. The *deep neural network* has no attention:
that is a mask by which each token attends to itself alone, as (1 + alpha) z_i / (1 + alpha) = z_i,
and normalising twice is normalising once.

`attended` and `step` below are these lines in rational arithmetic. Softmax and the two
normalisations are irrational, and `hardmax._runs.balls` encloses them. They are meant to be
read, and every engine must agree with them; `simulate` is the same mathematics made fast."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.validation import InputError, check_instance, check_int
from hardmax._layer.attended import AttendedIndices, AttendedSets
from hardmax._layer.attention import HARDMAX, Attention, Softmax, Ties, read_attention
from hardmax._layer.metric import not_a_metric
from hardmax._layer.parts import (
    FeedForward,
    Head,
    is_strict,
    read_alpha,
    read_feed_forward,
    read_heads,
    read_mask,
    read_normalise,
    read_square,
    read_value,
    to_plain,
)
from hardmax._layer.rules import (
    allowed_pairs,
    attended_among,
    check_dimension,
    check_rational,
    merge_points,
    rescaling,
    split_heads,
)
from hardmax._tokens.batches import Cloud, Clouds, read_batch, restore
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import IntegerCloud, Number, dot, to_fractions

_READERS: dict[str, Callable[[Any], Any]] = {
    "alpha": read_alpha,
    "metric": read_square,
    "value": read_value,
    "mask": read_mask,
    "attention": read_attention,
    "heads": read_heads,
    "normalise": read_normalise,
    "feed_forward": read_feed_forward,
}


class Traits(NamedTuple):
    """What a layer is like, as engines ask."""

    plain: bool
    """The paper's layer: one step, hardmax, no mask, and all else as in `convex`."""
    convex: bool
    """Tokens go straight to means of tokens, and nowhere else, so that none leaves the hull."""
    rational: bool
    """Layers are rational, so that there are exact runs; all others are enclosed."""
    causal: bool
    """The paper's layer, but for a causal mask."""
    mixed: bool
    """Heads have value matrices of their own."""
    tells_copies_apart: bool
    """Equal tokens may move differently: they are not merged."""


@dataclass(frozen=True, init=False, eq=False)
class Dynamics:
    """What a layer does: its step size, its metric, and its departures from the paper's layer.

    Parameters
    ----------
    alpha : number, str or sequence of them
        Step size, positive. A float stands for the decimal that it prints as: 0.1 is 1/10. A
        sequence, or "2,1,1/2", has the steps of the first layers, of which the last stays for ever.
    metric : array_like of shape (d, d) or str, optional
        The matrix A, also typed as "2,1;1,1"; the identity by default. Unless it is symmetric
        positive definite, leaders and limits need not exist, and `limit` warns.
    value : array_like of shape (d, d) or str, optional
        The value matrix V, through which attended tokens act; the identity by default.
    mask : "causal", "strict" or array_like of bool of shape (n, n), optional
        Entry (i, j) says whether token i may attend to token j; with "causal" it may if j <= i,
        with "strict" if j < i. All may by default.
    attention : Localmax, TopK, Softmax or str, optional
        Who counts besides the tokens with the largest score, which are the only ones by default;
        also in words: "localmax:1/2", "topk:2", "softmax:100".
    heads : sequence of Head, optional
        Several heads instead of one, each with its metric, its weight, its value matrix, its mask
        and its rule for ties.
    normalise : {"sphere", "layer", "plain"}, optional
        How tokens are normalised, instead of the paper's division: to length 1, to coordinates
        with mean 0 and standard deviation 1, or not at all.
    feed_forward : FeedForward, optional
        A block of ReLU units after attention.
    ties : {"average", "leftmost", "rightmost"}, optional
        Attend to all tokens that tie, the default, or to the first or the last of them.

    Examples
    --------
    >>> Dynamics(0.1).alpha, Dynamics("1/2", metric=[[2, 1], [1, 1]]).contraction
    (Fraction(1, 10), Fraction(2, 3))
    >>> Dynamics(1, value=[[1, 1], [1, 1]]), Dynamics(["1/2", 1], mask="causal").alpha_at(7)
    (Dynamics(alpha='1', value=[['1', '1'], ['1', '1']]), Fraction(1, 1))
    """

    alpha: Fraction | tuple[Fraction, ...]
    """The step size, or those of the first layers, of which the last stays."""
    metric: np.ndarray | None
    """The metric, read-only: float64, or Fractions where float64 cannot represent it; None for the
    identity."""
    value: np.ndarray | None
    """The value matrix, Fractions; None for the identity."""
    mask: np.ndarray | str | None
    """Who may attend to whom; None if all may."""
    attention: Attention | None
    """Who counts; None for hardmax."""
    heads: tuple[Head, ...] | None
    """Several heads; None for one."""
    normalise: str | None
    """How tokens are normalised, "sphere", "layer" or "plain"; None for the paper's division."""
    feed_forward: FeedForward | None
    """The feed-forward block; None for none."""

    def __init__(
        self,
        alpha: Number | Sequence[Number],
        metric: Any = None,
        *,
        value: Any = None,
        mask: Any = None,
        attention: Any = None,
        heads: Any = None,
        normalise: Any = None,
        feed_forward: Any = None,
        ties: str | None = None,
    ) -> None:
        if ties not in (None, "average"):
            if attention is not None:
                raise InputError("`ties` are for hardmax: leave out `attention`.")
            attention = Ties(ties)
        given = {"alpha": alpha, "metric": metric, "value": value, "mask": mask}
        given |= {"attention": attention, "heads": heads}
        given |= {"normalise": normalise, "feed_forward": feed_forward}
        for name, part in given.items():
            is_default = part is None and name != "alpha"
            vars(self)[name] = None if is_default else _READERS[name](part)
        one_step = isinstance(self.alpha, Fraction)
        is_usual = self.attention is None or isinstance(self.attention, Softmax)
        if heads is not None and not (one_step and metric is None and is_usual):
            raise InputError(
                "`heads` take one `alpha`, and no `metric`, `ties` or `attention` but softmax: "
                "each has its own."
            )
        if not self.normalises and (value is not None or heads is not None):
            for step in self.steps:
                rescaling(self, step)  # refused if there is none

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Dynamics) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.alpha)

    def __repr__(self) -> str:
        parts = self.to_dict().items()
        return f"Dynamics({', '.join(f'{name}={part!r}' for name, part in parts if part)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the step, the metric and, where they are not the paper's, the other parts as plain
        data, exactly: `Dynamics` takes them."""
        parts = {name: getattr(self, name) for name in _READERS}
        known = {name: to_plain(part) for name, part in parts.items() if part is not None}
        return {"alpha": known["alpha"], "metric": None} | known

    @property
    def steps(self) -> tuple[Fraction, ...]:
        """The step sizes of the first layers, of which the last stays: one, if all are alike."""
        return self.alpha if isinstance(self.alpha, tuple) else (self.alpha,)

    def alpha_at(self, layer: int) -> Fraction:
        """The step size of a layer.

        Parameters
        ----------
        layer : int
            From 0 up.
        """
        layer = check_int(layer, "`layer`", at_least=0)
        return self.steps[min(layer, len(self.steps) - 1)]

    @cached_property
    def traits(self) -> Traits:
        """What this layer is like."""
        moves = self.value, self.normalise, self.feed_forward
        heads = self.heads or ()
        mixed = any(head.value is not None for head in heads)
        strict = any(is_strict(part.mask) for part in (self, *heads))
        convex = all(part is None for part in moves) and not mixed and not strict
        is_single = isinstance(self.alpha, Fraction) and self.attention is None
        bare = convex and is_single and self.heads is None
        causal = bare and isinstance(self.mask, str)
        rational = not self.normalises and not isinstance(self.attention, Softmax)
        told_apart = self.mask is not None or (self.attention or HARDMAX).tells_copies_apart
        told_apart |= any(head.mask is not None or head.ties for head in heads)
        return Traits(bare and self.mask is None, convex, rational, causal, mixed, told_apart)

    @cached_property
    def all_heads(self) -> tuple[Head, ...]:
        """The heads, or the only one, with weights that add up to 1 and the value matrix through
        which each acts."""
        heads = self.heads or (Head(self.metric),)
        total = sum(Fraction(head.weight) for head in heads)
        return tuple(
            replace(
                head,
                weight=head.weight / total,
                value=self.value if head.value is None else head.value,
            )
            for head in heads
        )

    @property
    def normalises(self) -> bool:
        """Whether tokens are divided by roots."""
        return self.normalise in ("sphere", "layer")

    @property
    def is_definite(self) -> bool:
        """Whether the metric is symmetric positive definite, as the theorem assumes; decided
        exactly, and once."""
        return not self.indefinite_reason

    @cached_property
    def indefinite_reason(self) -> str:
        """Why the metric is not symmetric positive definite; empty if it is."""
        return "" if self.metric is None else not_a_metric(self.metric)

    @cached_property
    def contraction(self) -> Fraction:
        """The factor 1 / (1 + alpha) by which a layer shrinks the distance of a token to its
        target, in the end."""
        return 1 / (1 + self.steps[-1])

    @cached_property
    def metric_denominator(self) -> int:
        """The common denominator of the metric; 1 for the identity."""
        return 1 if self.metric is None else IntegerCloud.of(self.metric).denominator

    @cached_property
    def metric_integers(self) -> list[list[int]] | None:
        """The metric times its common denominator: a positive factor changes no attended set."""
        return None if self.metric is None else IntegerCloud.of(self.metric).numerators


def check_dynamics(dynamics: Any) -> Dynamics:
    """The dynamics that were given, if they are that."""
    return check_instance(dynamics, Dynamics, "`dynamics`", "a Dynamics, such as Dynamics(0.5)")


def attended(tokens: Any, dynamics: Dynamics) -> AttendedSets | list[AttendedSets]:
    """Attended set of every token, computed exactly.

    Parameters
    ----------
    tokens : array_like of shape (n, d), or a batch of clouds
        The tokens.
    dynamics : Dynamics
        Step size and metric.

    Returns
    -------
    AttendedSets or list of AttendedSets
        One for each cloud, if `tokens` is a batch.

    Examples
    --------
    >>> attended([[1, 1], [1, -1], [0.5, 0]], Dynamics(1))
    AttendedSets([[0], [1], [0, 1]])
    """
    dynamics = check_dynamics(dynamics)
    clouds, container = read_batch(tokens)
    sets = []
    for cloud in clouds:
        points, heads = _attended_points(cloud, dynamics)
        union = [sorted(set().union(*chosen)) for chosen in zip(*heads, strict=True)]
        sets.append(AttendedSets(AttendedIndices.of_sets(union), points))
    return sets[0] if container.is_single else sets


def step(tokens: Any, dynamics: Dynamics, *, layer: int = 0) -> Any:
    """The tokens one layer later, in the form and kind of numbers in which they came (floats are
    rounded once).

    >>> step([[1, 1], [1, -1], [0.5, 0]], Dynamics(1)).tolist()
    [[1.0, 1.0], [1.0, -1.0], [0.75, 0.0]]
    """
    dynamics, moved = check_rational(check_dynamics(dynamics), "`step`"), []
    alpha = dynamics.alpha_at(layer)
    scale = rescaling(dynamics, alpha)
    clouds, container = read_batch(tokens)
    for cloud in clouds:
        points, heads = _attended_points(cloud, dynamics)
        z, counts = to_fractions(points.coordinates, "`tokens`"), points.multiplicities
        after = z
        for head, chosen in zip(dynamics.all_heads, heads, strict=True):
            means = _means(z, counts.astype(object), chosen)
            push = means if head.value is None else means @ head.value.T
            after = after + alpha * head.weight * push
        after = after @ scale.T if isinstance(scale, np.ndarray) else scale * after
        if dynamics.feed_forward is not None:
            after = dynamics.feed_forward(after)
        moved.append(after.astype(cloud.tokens.dtype)[points.of_token])
    multiplicities = tokens.multiplicities if isinstance(tokens, Clouds) else None
    return restore(container, moved, multiplicities)


def _means(z: np.ndarray, counts: np.ndarray, attended_sets: list[list[int]]) -> np.ndarray:
    """For each attended set the mean of its points; 0 for none."""
    means = 0 * z
    for i, chosen in enumerate(attended_sets):
        if chosen:
            means[i] = counts[chosen] @ z[chosen] / counts[chosen].sum()
    return means


def _attended_points(cloud: Cloud, dynamics: Dynamics) -> tuple[Points, list[list[list[int]]]]:
    """The distinct points of a cloud, and for each head the points that each of them attends to."""
    points = merge_points(dynamics, cloud)
    return points, attended_by_head(points, dynamics)


def attended_by_head(points: Points, dynamics: Dynamics) -> list[list[list[int]]]:
    """For each head the points that each point attends to."""
    return [list(_attended_of_head(points, head)) for head in split_heads(dynamics)]


def _attended_of_head(points: Points, dynamics: Dynamics) -> Iterator[list[int]]:
    check_dimension(dynamics, points.dimension)
    vectors = points.integers.numerators
    unit = points.integers.denominator**2 * dynamics.metric_denominator
    allowed, everybody = allowed_pairs(dynamics, points.count), range(points.count)
    for i, z in enumerate(vectors):
        direction = z
        if dynamics.metric_integers is not None:
            direction = [dot(row, z) for row in dynamics.metric_integers]
        candidates = everybody if allowed is None else np.flatnonzero(allowed[i]).tolist()
        scores = {j: dot(direction, vectors[j]) for j in candidates}
        yield attended_among(dynamics, scores, points.multiplicities, unit)
