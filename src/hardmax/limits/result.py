"""What is known of infinitely many layers."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.checking import short, whole_number
from hardmax.engines.exact.powers import power
from hardmax.engines.exact.vectors import fractions_table
from hardmax.errors import InputError
from hardmax.geometry.polytope import Polytope
from hardmax.limits.clusters import Clusters, KindOfToken, find_clusters
from hardmax.limits.cycles import Cycle, find_cycle
from hardmax.limits.distances import ToLimit, shrinkings, spread_above
from hardmax.metrics import is_metric
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.lengths import above, root
from hardmax.tokens.rationals import read_number
from hardmax.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Limit:
    """Where every token ends. Made by `limit`; everything here follows from the run up to the layer where it settled.

    >>> from hardmax import Dynamics, limit
    >>> lim = limit([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]], Dynamics("1/2"))
    >>> lim
    Limit(5 tokens in 2 dimensions: 4 leaders, 5 clusters, settled at layer 0, exact)
    >>> lim.points[4].tolist(), str(lim.kind[4]), lim.theorem_applies
    ([1.0, 0.0], 'face 0, 1', True)
    """

    run: Trajectory

    @property
    def settled_at(self) -> int | None:
        """The layer from which on every token goes straight to its limit; None if the run did not settle."""
        return self.run.settled_at

    @property
    def leaders(self) -> np.ndarray:
        """Tokens that at some layer attended to themselves alone."""
        return self.run.leaders

    @property
    def leader_layers(self) -> np.ndarray:
        """For each of the `leaders` the layer at which it became one."""
        return self.run.leader_layers

    @property
    def arithmetic(self) -> str:
        """What decided who attends to whom: `certified` (proved by floats), `exact` (integers) or `float`."""
        return self.run.arithmetic

    @property
    def certified(self) -> bool:
        """Whether the limit is proved."""
        return self.run.certified and self.settled_at is not None

    @property
    def stopped(self) -> str:
        """Why the walk ended, in words."""
        if self.cycle is None:
            return self.run.stopped
        return f"{self.run.stopped}; the attended sets repeat with period {self.cycle.period}"

    @cached_property
    def points(self) -> Any:
        """The limit of every token, (n, d): float64, or a tensor of the dtype and on the device on which they came;
        where the tokens were last, if the run did not settle."""
        return self.run.at(self.run.layers) if self.settled_at is None else self.run.ends()

    @cached_property
    def float_points(self) -> np.ndarray:
        """`points` as an array of float64, whatever the tokens came as."""
        return self.run.floats_at(self.run.layers) if self.settled_at is None else self.run.float_ends()

    @cached_property
    def exact_points(self) -> np.ndarray:
        """The limits as Fractions (n, d), where they are proved."""
        if not self.certified:
            raise InputError("`exact_points` needs a limit that is proved: use arithmetic='certified'.")
        targets = self.run.exactly(self.run.stretches[-1]).targets(range(self.run.points.count))
        return fractions_table(targets)[self.run.points.of_token]

    @cached_property
    def clusters(self) -> Clusters:
        """Tokens with equal limits."""
        return find_clusters(self.run)

    @cached_property
    def kind(self) -> KindOfToken:
        """`kind[i]`: what the limit of token i is, `Vertex`, `FaceProjection` or `Elsewhere`."""
        return KindOfToken(self.clusters)

    @cached_property
    def polytope(self) -> Polytope:
        """The hull K of the leaders. Its vertex v is the leader `leaders[v]`, repeated leaders counted once."""
        if not len(self.leaders):
            raise InputError("`polytope`: there are no leaders, so there is no polytope.")
        places = self.run.floats_at(self.run.layers)[self.distinct_leaders]
        metric = self.run.dynamics.metric
        # Distances in the norm of the metric, where it has one.
        measured = metric is not None and is_metric(metric)
        return Polytope(places, np.array(metric, dtype=np.float64) if measured else None)

    @cached_property
    def distinct_leaders(self) -> np.ndarray:
        """The first token of each place where a leader sits: the vertices of the polytope, in order."""
        stretch, leaders = self.run.stretches[-1], self.leaders
        points, first = np.unique(self.run.points.of_token[leaders], return_index=True)
        if not len(leaders) or stretch.choices.alone[points].all():
            # Whoever leads alone has outrun all other points, so their places differ.
            return leaders[first]
        # Distinct points may meet, if the metric is not positive definite; floats would merge near ones, too.
        seen: dict[tuple[Fraction, ...], int] = {}
        for token, place in zip(leaders[first], self.run.exactly(stretch).positions(points.tolist()), strict=True):
            seen.setdefault(place, token)
        return np.array(list(seen.values()))

    @cached_property
    def bound(self) -> float:
        """No limit is further than this from `points`. If the run did not settle: all stay in the hull that is left."""
        if self.settled_at is not None:
            return self.run.error
        # The true tokens are within the error of `points`, and a hull is no wider than its points are apart.
        return above(2 * spread_above(self.float_points) + 3 * self.run.error)

    @cached_property
    def cycle(self) -> Cycle | None:
        """Attended sets that come round again, if the run did not settle and they did."""
        return None if self.settled_at is not None else find_cycle(self.run)

    def distance_to_limit(self, layer: int) -> float:
        """The largest Euclidean distance of a token from its limit at a layer: g^(layer - settled_at) times that at
        settling, from there on."""
        layer = whole_number(layer, "`layer`", at_least=0)
        return root(self._square_at(layer))

    def layers_to(self, eps: Any) -> int:
        """The layer from which on every token is within `eps` of its limit. A float is the decimal it is written as."""
        near = read_number(float(eps) if isinstance(eps, np.floating) else eps, "`eps`")
        if near <= 0:
            raise InputError(f"`eps` must be positive, not {short(eps)}: only a leader ever reaches its limit.")
        layer, goal = self._settled(), near**2
        if self._square_at_settling > goal:
            return layer + shrinkings(self._square_at_settling, goal, self.run.dynamics.keep)
        return self._way.first_within(goal)

    @cached_property
    def theorem_reason(self) -> str:
        """Why Theorem 1.1 does not speak of this cloud; empty if it does."""
        metric, points = self.run.dynamics.metric, self.run.points
        if metric is not None and not is_metric(metric):
            return "the metric is not symmetric positive definite"
        zero = np.flatnonzero((points.coordinates == 0).all(axis=1))
        if len(zero):
            return f"token {int(np.flatnonzero(points.of_token == zero[0])[0])} is zero: it attends to everybody"
        if points.count < self.run.n or (points.multiplicities > 1).any():
            return "tokens are repeated: they were merged, with multiplicities"
        return ""

    @property
    def theorem_applies(self) -> bool:
        """Whether the assumptions of Theorem 1.1 hold: tokens distinct and nonzero, metric positive definite."""
        return not self.theorem_reason

    @cached_property
    def certificate(self) -> dict[str, Any]:
        """Plain data that proves the limit, for `verify` or a checker of one's own (see docs/certificate.md)."""
        from hardmax.limits.certifying import certify

        return certify(self)

    def __repr__(self) -> str:
        settled = "not settled" if self.settled_at is None else f"settled at layer {self.settled_at}"
        return (
            f"Limit({counted(self.run.n, 'token')} in {counted(self.run.d, 'dimension')}: "
            f"{counted(len(self.leaders), 'leader')}, {counted(len(self.clusters), 'cluster')}, "
            f"{settled}, {self.arithmetic})"
        )

    def plot(self, *, ax: "Axes | None" = None, figsize: tuple[float, float] | None = None) -> "Axes":
        """Draw starts, ways and limits, in the colour and shape of their clusters (extra `figures`).

        Gives the matplotlib axes; without `ax`, those of a new figure, with a title and a key.
        """
        from hardmax.figures.plotting import plot_limit

        return plot_limit(self, ax=ax, figsize=figsize)

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import limit_card

        return limit_card(self)

    def _settled(self) -> int:
        if self.settled_at is None:
            raise InputError(f"The run has not settled ({self.run.stopped}): no distance to the limit is known.")
        return self.settled_at

    @cached_property
    def _way(self) -> ToLimit:
        return ToLimit(self.run)

    @cached_property
    def _square_at_settling(self) -> Fraction:
        return self._way.square_at(self._settled())

    def _square_at(self, layer: int) -> Fraction:
        """The square of the largest distance of a token from its limit at a layer."""
        settled = self._settled()
        if layer < settled:
            return self._way.square_at(layer)
        return self._square_at_settling * power(self.run.dynamics.keep, layer - settled) ** 2
