"""THE definition. Tokens z_1 … z_n, a metric A, a step alpha > 0:

    C_i  = { j : <A z_i, z_j> is largest }          the attended set of token i
    w_i  = mean of z_j over j in C_i
    z_i' = (z_i + alpha w_i) / (1 + alpha)          one layer

This is the paper's layer. Others differ in one or more parts: a mask says among which j token i
chooses, the step alpha depends on the layer, a value matrix V makes it z_i' = (I + alpha V)^-1 (z_i
+ alpha V w_i), and attention may also go to scores below the largest: to those within a slack of it
(localmax), to the k largest (top-k), or to all, w_i being the mean with the weights exp(beta <A
z_i, z_j>) (softmax). Of several heads each has its own A and so its own means; w_i is their
weighted mean.

`attended` and `step` below are these lines in rational arithmetic; softmax is irrational, and
`_softmax` encloses it. They are meant to be read, and every engine must agree with them; `simulate`
is the same mathematics made fast."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.validation import InputError, check_instance, check_int
from hardmax._layer.attended import AttendedSets, Choices
from hardmax._layer.attention import Attention, Softmax, read_attention, to_plain
from hardmax._layer.metric import not_a_metric
from hardmax._layer.parts import (
    Head,
    Steps,
    inverse,
    read_heads,
    read_mask,
    read_square,
    read_steps,
    read_value,
)
from hardmax._tokens.batches import Cloud, Ragged, read_batch, restore
from hardmax._tokens.points import Points, merge
from hardmax._tokens.rationals import IntegerCloud, Number, to_fractions


@dataclass(frozen=True, init=False, eq=False)
class Dynamics:
    """What a layer does: its step size, its metric, and what makes it another than the paper's.

    Parameters
    ----------
    alpha : number, str, sequence of them or Steps
        Step size, positive. A float stands for the decimal that it prints as: 0.1 is 1/10. A
        sequence has the steps of the first layers, of which the last stays for ever; `Steps` is a
        rule.
    metric : array_like of shape (d, d), optional
        The matrix A; the identity by default. Unless it is symmetric positive definite, leaders and
        limits need not exist, and `limit` warns.
    value : array_like of shape (d, d), optional
        The value matrix V, through which attended tokens act; the identity by default.
    mask : "causal" or array_like of bool of shape (n, n), optional
        Entry (i, j) says whether token i may attend to token j; with "causal" it may if j <= i. All
        may by default.
    attention : Localmax, TopK or Softmax, optional
        Who counts besides the tokens with the largest score, which are the only ones by default.
    heads : sequence of Head, optional
        Several heads instead of one, each with its metric and weight.

    Examples
    --------
    >>> Dynamics(0.1).alpha, Dynamics("1/2", metric=[[2, 1], [1, 1]]).contraction
    (Fraction(1, 10), Fraction(2, 3))
    >>> Dynamics(1, value=[[1, 1], [1, 1]]), Dynamics(["1/2", 1], mask="causal").alpha_at(7)
    (Dynamics(alpha='1', value=[['1', '1'], ['1', '1']]), Fraction(1, 1))
    """

    steps: Fraction | tuple[Fraction, ...] | Steps
    """The step size, those of the first layers, or a rule."""
    matrix: np.ndarray | None
    """The metric, read-only: float64, or Fractions where float64 cannot represent it; None for the
    identity."""
    value: np.ndarray | None
    """The value matrix, Fractions; None for the identity."""
    mask: np.ndarray | str | None
    """Who may attend to whom; None if everybody may."""
    attention: Attention | None
    """Who counts; None for hardmax."""
    heads: tuple[Head, ...] | None
    """Several heads; None for one."""

    def __init__(
        self,
        alpha: Number | Sequence[Number] | Steps,
        metric: Any = None,
        *,
        value: Any = None,
        mask: Any = None,
        attention: Any = None,
        heads: Any = None,
    ) -> None:
        matrix = None if metric is None else read_square(metric, "metric")
        vars(self).update(
            steps=read_steps(alpha), matrix=matrix, value=read_value(value), mask=read_mask(mask)
        )
        vars(self).update(attention=read_attention(attention), heads=read_heads(heads))
        if self.heads is not None and not (
            metric is attention is None and isinstance(self.steps, Fraction)
        ):
            raise InputError(
                "`heads` take one `alpha`, and neither `metric` nor `attention`: each has its own metric."
            )
        if value is not None and not isinstance(self.steps, Steps):
            for step in self.steps if isinstance(self.steps, tuple) else [self.steps]:
                self.rescaling(step)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dynamics):
            return NotImplemented
        pairs = [(self.matrix, other.matrix), (self.value, other.value), (self.mask, other.mask)]
        same = (
            self.steps == other.steps
            and self.attention == other.attention
            and self._heads() == other._heads()
        )
        return same and all(np.array_equal(*pair) for pair in pairs)  # pyright: ignore[reportArgumentType]

    def __hash__(self) -> int:
        return hash(self.steps)

    def __repr__(self) -> str:
        alpha = self.steps if isinstance(self.steps, Steps) else self.to_dict()["alpha"]
        names = [name for name in ("metric", "value", "mask") if getattr(self, name) is not None]
        parts = [f"{name}={self._plain(name)!r}" for name in names]
        parts += [] if self.attention is None else [f"attention={self.attention}"]
        parts += [] if self.heads is None else [f"heads={self._heads()}"]
        return f"Dynamics({', '.join([f'alpha={alpha!r}', *parts])})"

    def to_dict(self) -> dict[str, Any]:
        """Return the step, the metric and, where they are not the paper's, the other parts as plain
        data, exactly."""
        if isinstance(self.steps, Steps):
            raise InputError(
                "`alpha` is a rule, which cannot be written down: give the steps of the first layers."
            )
        alpha = (
            [str(step) for step in self.steps] if isinstance(self.steps, tuple) else str(self.steps)
        )
        others = {
            name: self._plain(name) for name in ("value", "mask") if getattr(self, name) is not None
        }
        others |= {} if self.attention is None else {"attention": to_plain(self.attention)}
        others |= {} if self.heads is None else {"heads": self._heads()}
        return {"alpha": alpha, "metric": self._plain("metric")} | others

    def _heads(self) -> list[dict[str, Any]]:
        pairs = [
            (each.to_dict()["metric"], str(head.weight))
            for each, head in zip(self.of_heads(), self.heads or (), strict=True)
        ]
        return [{"metric": metric, "weight": weight} for metric, weight in pairs]

    def of_heads(self) -> list["Dynamics"]:
        """The layer of each head alone."""
        return [
            Dynamics(self.steps, head.metric, value=self.value, mask=self.mask)
            for head in self.heads or ()
        ]  # pyright: ignore[reportArgumentType]

    def shares(self) -> list[Fraction]:
        """The weights of the heads, which add up to 1."""
        weights = [Fraction(head.weight) for head in self.heads or ()]
        return [weight / sum(weights) for weight in weights]

    def _plain(self, name: str) -> Any:
        part = getattr(self, name)
        if part is None or isinstance(part, str):
            return part
        return [
            [entry if isinstance(entry, bool) else str(entry) for entry in row]
            for row in np.array(part).tolist()
        ]

    @property
    def alpha(self) -> Fraction:
        """The step size, if it is the same at all layers."""
        if not isinstance(self.steps, Fraction):
            raise InputError(
                "`alpha` differs from layer to layer: ask for `alpha_at(layer)`.", argument="alpha"
            )
        return self.steps

    def alpha_at(self, layer: int) -> Fraction:
        """The step size of a layer.

        Parameters
        ----------
        layer : int
            From 0 up.
        """
        layer = check_int(layer, "`layer`", at_least=0)
        if isinstance(self.steps, Steps):
            return self.steps.at(layer)
        return (
            self.steps[min(layer, len(self.steps) - 1)]
            if isinstance(self.steps, tuple)
            else self.steps
        )

    def rescaling(self, alpha: Fraction) -> Any:
        """(I + alpha V)^-1, or the number that it is without a value matrix.

        Parameters
        ----------
        alpha : Fraction
            The step.
        """
        if self.value is None:
            return 1 / (1 + alpha)
        found = inverse(np.eye(len(self.value), dtype=np.int64).astype(object) + alpha * self.value)
        if found is None:
            raise InputError(
                f"`value`: I + alpha V has no inverse with alpha {alpha}.", argument="value"
            )
        return found

    @property
    def is_plain(self) -> bool:
        """Whether this is the paper's layer: one step, hardmax, no value matrix, no mask. All
        engines can do that."""
        others = (
            self.value is None
            and self.mask is None
            and self.attention is None
            and self.heads is None
        )
        return others and isinstance(self.steps, Fraction)

    def check_plain(self, who: str) -> "Dynamics":
        """Return these dynamics, if they are the paper's; else raise an InputError that names who
        needs that.

        Parameters
        ----------
        who : str
            Begins the message.
        """
        if self.is_plain:
            return self
        parts = "`value`, `mask`, `attention` and `heads`"
        message = (
            f"{who} knows the paper's layer only: `Dynamics` with one `alpha` and without {parts}."
        )
        raise InputError(message, argument="dynamics")

    def check_rational(self, who: str) -> "Dynamics":
        """Return these dynamics, if layers are rational; else raise an InputError that names who
        needs that.

        Parameters
        ----------
        who : str
            Begins the message.
        """
        if isinstance(self.attention, Softmax):
            message = f"{who}: softmax attends to all tokens, and its layers are irrational: use `simulate`."
            raise InputError(message, argument="dynamics")
        return self

    def allowed(self, n: int) -> np.ndarray | None:
        """Who of n tokens may attend to whom, (n, n); None if everybody may.

        Parameters
        ----------
        n : int
            Number of tokens.
        """
        if self.mask is None:
            return None
        mask = np.tri(n, dtype=bool) if isinstance(self.mask, str) else self.mask
        if len(mask) != n:
            message = f"`mask` is {len(mask)} by {len(mask)}, but there are {n} tokens."
            raise InputError(message, argument="mask")
        return mask

    def counted(self, scores: Mapping[int, int], counts: np.ndarray, unit: int) -> list[int]:
        """Of some tokens those that are attended to.

        Parameters
        ----------
        scores : mapping of int to int
            By token, in 1 / units.
        counts : ndarray of int
            How often each token is there.
        unit : int
            What a score of 1 is.
        """
        attention = self.check_rational("attended sets").attention
        if attention is None:
            least = max(scores.values())
        else:
            least = attention._least(scores, counts, unit)  # pyright: ignore[reportAttributeAccessIssue]
        return [j for j, score in scores.items() if score >= least]

    def points(self, cloud: Cloud) -> Points:
        """The tokens, equal ones merged: they stay equal for ever, unless a mask tells them apart.

        Parameters
        ----------
        cloud : Cloud
            The tokens, with multiplicities.
        """
        if self.mask is None:
            return merge(cloud)
        n = len(cloud.tokens)
        counts = (
            np.ones(n, dtype=np.int64) if cloud.multiplicities is None else cloud.multiplicities
        )
        return Points(cloud.tokens + 0, counts, np.arange(n))

    @cached_property
    def metric(self) -> tuple[tuple[Fraction, ...], ...] | None:
        """The metric in Fractions; None for the identity."""
        return (
            None
            if self.matrix is None
            else tuple(tuple(map(Fraction, row)) for row in self.matrix.tolist())
        )

    @property
    def is_definite(self) -> bool:
        """Whether the metric is symmetric positive definite, as the theorem assumes; decided
        exactly, and once."""
        return not self.indefinite_reason

    @cached_property
    def indefinite_reason(self) -> str:
        """Why the metric is not symmetric positive definite; empty if it is."""
        return "" if self.matrix is None else not_a_metric(self.matrix)

    def check_definite(self) -> "Dynamics":
        """Return these dynamics, if the metric is symmetric positive definite and the step one for
        all layers; else raise an InputError."""
        if self.is_definite and self.alpha:
            return self
        message = f"`metric` must be symmetric positive definite: {self.indefinite_reason}."
        raise InputError(message, argument="metric")

    @cached_property
    def contraction(self) -> Fraction:
        """The factor 1 / (1 + alpha) by which a layer shrinks the distance of a token to its
        target."""
        return 1 / (1 + self.alpha)

    @cached_property
    def metric_denominator(self) -> int:
        """The common denominator of the metric; 1 for the identity."""
        return 1 if self.matrix is None else IntegerCloud.of(self.matrix).denominator

    @cached_property
    def metric_integers(self) -> list[list[int]] | None:
        """The metric times its common denominator: a positive factor changes no attended set."""
        return None if self.matrix is None else IntegerCloud.of(self.matrix).numerators

    def check_dimension(self, dimension: int) -> None:
        """Raise an InputError if the metric or the value matrix does not fit tokens of a dimension.

        Parameters
        ----------
        dimension : int
            Number of coordinates of a token.
        """
        others = [("metric", head.metric) for head in self.heads or ()]
        for name, matrix in (("metric", self.matrix), ("value", self.value), *others):
            if matrix is not None and (size := len(matrix)) != dimension:
                message = (
                    f"`{name}` is {size} by {size}, but the tokens have {dimension} coordinates."
                )
                raise InputError(message, argument=name)


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
    clouds, form = read_batch(tokens)
    sets = []
    for points, *heads in _attended_of_heads(clouds, dynamics):
        union = [sorted({*several[0]}.union(*several[1:])) for several in zip(*heads, strict=True)]
        sets.append(AttendedSets(Choices.of_sets(union), points))
    return sets[0] if form.is_single else sets


def step(tokens: Any, dynamics: Dynamics, *, layer: int = 0) -> Any:
    """The tokens one layer later, in the form and kind of numbers in which they came (floats are
    rounded once).

    >>> step([[1, 1], [1, -1], [0.5, 0]], Dynamics(1)).tolist()
    [[1.0, 1.0], [1.0, -1.0], [0.75, 0.0]]
    """
    dynamics, moved = check_dynamics(dynamics), []
    alpha, value = dynamics.alpha_at(layer), dynamics.value
    clouds, form = read_batch(tokens)
    for cloud, (points, *heads) in zip(clouds, _attended_of_heads(clouds, dynamics), strict=True):
        z, counts = (
            to_fractions(points.coordinates, "`tokens`"),
            points.multiplicities.astype(object),
        )
        of_heads = [
            np.array([counts[c] @ z[c] / counts[c].sum() for c in chosen]) for chosen in heads
        ]
        means = sum(share * w for share, w in zip(dynamics.shares() or [1], of_heads, strict=True))
        if value is None:
            after = (z + alpha * means) / (1 + alpha)
        else:
            after = (z + alpha * means @ value.T) @ dynamics.rescaling(alpha).T
        moved.append(after.astype(cloud.tokens.dtype)[points.of_token])
    return restore(form, moved, tokens.multiplicities if isinstance(tokens, Ragged) else None)


def _attended_of_heads(clouds: Iterable[Cloud], dynamics: Dynamics) -> Iterator[tuple[Any, ...]]:
    """The distinct points of each cloud, and for each head those that each of them attends to."""
    for found in zip(
        *(_attended_points(clouds, each) for each in dynamics.of_heads() or [dynamics]), strict=True
    ):
        yield found[0][0], *(chosen for _, chosen in found)


def _attended_points(
    clouds: Iterable[Cloud], dynamics: Dynamics
) -> Iterator[tuple[Points, list[list[int]]]]:
    """The distinct points of each cloud, and those that each of them attends to."""
    for cloud in clouds:
        dynamics.check_dimension(cloud.tokens.shape[1])
        points, chosen = dynamics.points(cloud), []
        allowed = dynamics.allowed(len(cloud.tokens))
        for i, z in enumerate(points.integers.numerators):
            direction = (
                z
                if dynamics.matrix is None
                else [_dot(row, z) for row in dynamics.metric_integers or ()]
            )
            others = range(points.count) if allowed is None else np.flatnonzero(allowed[i]).tolist()
            scores = {j: _dot(direction, points.integers.numerators[j]) for j in others}
            unit = points.integers.denominator**2 * dynamics.metric_denominator
            chosen.append(dynamics.counted(scores, points.multiplicities, unit))
        yield points, chosen


def _dot(x: list[int], y: list[int]) -> int:
    return sum(a * b for a, b in zip(x, y, strict=True))
