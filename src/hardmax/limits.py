"""Infinitely many layers: limit, and the check of its certificate.

What is known of infinitely many layers.

`limit`: where every token ends after infinitely many layers.

`verify`: check the certificate of a limit, given as data, as a file or as the limit itself.
"""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy as np

from hardmax import certificate as checker
from hardmax._certify import Certificate, certify, limits_csv
from hardmax._clusters import Clusters, Cycle, KindOfToken, ToLimit, find_clusters, find_cycle, shrinkings, spread_above
from hardmax._exact.vectors import fractions_table, power
from hardmax._format import finite_or_none, pluralize
from hardmax._tokens.batches import ManyClouds, OneCloud
from hardmax._tokens.rationals import above, read_number, root
from hardmax._validation import InputError, check_int, check_path, check_real, require_extra, shorten
from hardmax.certificate import Verdict
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.engines import Engine
from hardmax.geometry.polytope import Polytope
from hardmax.io import read_certificate, write_whole
from hardmax.simulation import Progress, simulate
from hardmax.stops import Every, LastOnly, Settled
from hardmax.trajectory import Trajectories, Trajectory

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

NEAR = "1e-6"  # how near the limit people usually ask to be


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
        targets = self.run.exactly(self.run.phases[-1]).targets(range(self.run.points.count))
        return fractions_table(targets)[self.run.points.of_token]

    @cached_property
    def clusters(self) -> Clusters:
        """Tokens with equal limits."""
        return find_clusters(self.run)

    @cached_property
    def kind(self) -> KindOfToken:
        """`kind[i]`: what the limit of token i is, `Vertex`, `FaceProjection` or `OtherLimit`."""
        return KindOfToken(self.clusters)

    @cached_property
    def polytope(self) -> Polytope:
        """The hull K of the leaders. Its vertex v is the leader `distinct_leaders[v]`: all of them, however close.
        Facets are refused where some are so close to the hull of the others that floats do not tell."""
        if not len(self.leaders):
            raise InputError("`polytope`: there are no leaders, so there is no polytope.")
        places = self.run.floats_at(self.run.layers)[self.distinct_leaders]
        dynamics = self.run.dynamics
        # Distances in the norm of the metric, where it has one.
        measured = dynamics.matrix is not None and dynamics.is_definite
        return Polytope(places, dynamics.matrix if measured else None, all_vertices=True)

    @cached_property
    def distinct_leaders(self) -> np.ndarray:
        """The first token of each place where a leader sits: the vertices of the polytope, in order."""
        phase, leaders = self.run.phases[-1], self.leaders
        points, first = np.unique(self.run.points.of_token[leaders], return_index=True)
        if not len(leaders) or phase.choices.is_leader[points].all():
            # Whoever leads alone has outrun all other points, so their places differ.
            return leaders[first]
        # Distinct points may meet, if the metric is not positive definite; floats would merge near ones, too.
        seen: dict[tuple[Fraction, ...], int] = {}
        for token, place in zip(leaders[first], self.run.exactly(phase).positions(points.tolist()), strict=True):
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
        layer = check_int(layer, "`layer`", at_least=0)
        return root(self._square_at(layer))

    def layers_to(self, eps: Any) -> int:
        """The layer from which on every token is within `eps` of its limit. A float is the decimal it is written as."""
        near = read_number(float(eps) if isinstance(eps, np.floating) else eps, "`eps`")
        if near <= 0:
            raise InputError(f"`eps` must be positive, not {shorten(eps)}: only a leader ever reaches its limit.")
        layer, goal = self._settled(), near**2
        if self._square_at_settling > goal:
            return layer + shrinkings(self._square_at_settling, goal, self.run.dynamics.contraction)
        return self._way.first_within(goal)

    @cached_property
    def theorem_reason(self) -> str:
        """Why Theorem 1.1 does not speak of this cloud; empty if it does."""
        points = self.run.points
        if not self.run.dynamics.is_definite:
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
    def certificate(self) -> Certificate:
        """Plain data that proves the limit, for `verify` or a checker of one's own (see docs/certificate.md)."""
        return certify(self.run, self.clusters)

    def save(self, path: str | Path) -> None:
        """Write the limit to a file, whole or not at all.

        `.npz` and `.json` hold the run, from which everything here is known again; `.csv` a line for each token.
        """
        path = check_path(path)
        if path.suffix == ".csv":
            write_whole(path, limits_csv(self).encode())
        else:
            self.run.save(path)

    @staticmethod
    def load(path: str | Path) -> "Limit":
        """Read a limit that `save` wrote to `.npz` or `.json`, or the limit of any run in such a file."""
        return Limit(Trajectory.load(path))

    def to_pandas(self) -> "pandas.DataFrame":
        """A row for each token: token, its limit z0…, its `cluster`, the `kind` of limit, `leader_since` (or <NA>)."""
        return limits_to_pandas([self])

    def to_dict(self) -> dict[str, Any]:
        """The limit as plain data, ready for JSON."""
        run, clusters = self.run, self.clusters
        return run.dynamics.to_dict() | {
            "n": run.n,
            "d": run.d,
            "layers": run.layers,
            "stopped": self.stopped,
            "settled_at": self.settled_at,
            f"layers_to_{NEAR}": None if self.settled_at is None else self.layers_to(NEAR),
            "arithmetic": self.arithmetic,
            "certified": self.certified,
            "bound": finite_or_none(self.bound),
            "theorem_applies": self.theorem_applies,
            "theorem_reason": self.theorem_reason,
            "cycle": None if self.cycle is None else self.cycle.to_dict(),
            "leaders": self.leaders.tolist(),
            "leader_layers": self.leader_layers.tolist(),
            "clusters": [
                {"point": point, "size": size} | kind.to_dict()
                for point, size, kind in zip(
                    clusters.points.tolist(), clusters.sizes.tolist(), clusters.kinds, strict=True
                )
            ],
            "labels": clusters.labels.tolist(),
            "points": self.points.tolist(),
        }

    def __repr__(self) -> str:
        settled = "not settled" if self.settled_at is None else f"settled at layer {self.settled_at}"
        return (
            f"Limit({pluralize(self.run.n, 'token')} in {pluralize(self.run.d, 'dimension')}: "
            f"{pluralize(len(self.leaders), 'leader')}, {pluralize(len(self.clusters), 'cluster')}, "
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
        return self._square_at_settling * power(self.run.dynamics.contraction, layer - settled) ** 2


def limits_to_pandas(limits: Sequence[Limit], *, with_cloud: bool = False) -> "pandas.DataFrame":
    """The rows of `Limit.to_pandas` for several limits, if need be with a column `cloud` before them."""
    require_extra("`to_pandas`", "tables", "pandas")
    import pandas

    sizes = [lim.run.n for lim in limits]
    starts = np.cumsum(sizes) - sizes
    points = np.concatenate([lim.float_points for lim in limits])
    since = pandas.array([pandas.NA], dtype="Int64").repeat(len(points))
    leaders = [lim.leaders + start for lim, start in zip(limits, starts, strict=True)]
    since[np.concatenate(leaders)] = np.concatenate([lim.leader_layers for lim in limits])
    kinds = [np.array([*map(str, lim.clusters.kinds)], dtype=object)[lim.clusters.labels] for lim in limits]
    clouds = {"cloud": np.repeat(np.arange(len(limits)), sizes)} if with_cloud else {}
    tokens = {"token": np.arange(len(points)) - np.repeat(starts, sizes)}
    told = {
        "cluster": np.concatenate([lim.clusters.labels for lim in limits]),
        "kind": np.concatenate(kinds),
        "leader_since": since,
    }
    return pandas.DataFrame(clouds | tokens | {f"z{axis}": points[:, axis] for axis in range(points.shape[1])} | told)


# Where the theorem holds, clouds settle, most of them in a handful of layers; where it does not, they may never.
PATIENCE, PATIENCE_WITHOUT_THEOREM = 10_000, 500


class Options(TypedDict, total=False):
    """What `limit` can be told besides tokens and dynamics."""

    arithmetic: str
    at_most: int | None
    progress: Progress | None
    engine: Engine | str | None


@overload
def limit(tokens: OneCloud, dynamics: Dynamics, **options: Unpack[Options]) -> Limit: ...
@overload
def limit(tokens: ManyClouds, dynamics: Dynamics, **options: Unpack[Options]) -> "Limits": ...
@overload
def limit(tokens: Any, dynamics: Dynamics, **options: Unpack[Options]) -> Any: ...
def limit(
    tokens: Any,
    dynamics: Dynamics,
    *,
    arithmetic: str = "certified",
    at_most: int | None = None,
    progress: Progress | None = None,
    engine: Engine | str | None = None,
) -> Any:
    """The infinite-depth limit: a `Limit`, or a list of them if `tokens` is a batch of clouds.

    Walks until the attended sets are proved never to change again, by at most `at_most` layers, and reads off where
    everybody goes. If they do not settle, the result says so, and how far `points` may be off. `engine` is as in
    `simulate`.

    >>> lim = limit([[3.0], [-1.0], [1.0]], Dynamics(1))
    >>> lim.points.ravel().tolist(), lim.clusters.labels.tolist(), lim.layers_to("0.001")
    ([3.0, -1.0, 3.0], [0, 1, 0], 11)
    """
    dynamics = check_dynamics(dynamics)
    if not dynamics.is_definite:
        warnings.warn(f"the theorem does not apply to the metric: {dynamics.indefinite_reason}.", stacklevel=2)
    if at_most is None:
        at_most = PATIENCE if dynamics.is_definite else PATIENCE_WITHOUT_THEOREM
    run = simulate(
        tokens,
        dynamics,
        stop=Settled(check_int(at_most, "`at_most`", at_least=0)),
        arithmetic=arithmetic,
        # Where there is no theorem there may be cycles, which are found in the layers.
        record=LastOnly() if dynamics.is_definite else Every(1),
        progress=progress,
        engine=engine,
    )
    return Limit(run) if isinstance(run, Trajectory) else Limits(run)


class Limits(Sequence[Limit]):
    """The limits of a batch, in order; each is put together when asked for."""

    def __init__(self, runs: Trajectories) -> None:
        self.runs = runs

    def __len__(self) -> int:
        return len(self.runs)

    @overload
    def __getitem__(self, index: int) -> Limit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Limit]: ...
    def __getitem__(self, index: int | slice) -> Limit | Sequence[Limit]:
        found = self.runs[index]
        return Limit(found) if isinstance(found, Trajectory) else [Limit(run) for run in found]

    @property
    def points(self) -> Any:
        """Where every token of every cloud ends, in the form in which they came; all clouds must have settled."""
        return self.runs.ends()

    @property
    def leaders(self) -> list[np.ndarray]:
        """For each cloud the tokens that lead."""
        return self.runs.leaders

    @property
    def settled_at(self) -> list[int | None]:
        """For each cloud the layer at which it settled."""
        return self.runs.settled_at

    def save(self, path: str | Path) -> None:
        """Write the runs, from which the limits are known again, to a `.npz` or `.json` file, whole or not at all."""
        self.runs.save(path)

    @staticmethod
    def load(path: str | Path) -> "Limits":
        """Read limits that `save` wrote, or those of any runs in such a file."""
        return Limits(Trajectories.load(path))

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows of every limit, with a column `cloud` before them."""
        return limits_to_pandas(list(self), with_cloud=True)

    def __repr__(self) -> str:
        settled = sum(layer is not None for layer in self.settled_at)
        return f"Limits({pluralize(len(self), 'cloud')}, {settled:,} settled)"

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import limits_card

        return limits_card(self)


def limits_of(result: "Limit | Sequence[Limit]") -> list[Limit]:
    """One or many, as a list."""
    return [result] if isinstance(result, Limit) else list(result)


def verify(certificate: "dict[str, Any] | str | Path | Limit", *, effort: float = 1) -> Verdict:
    """Accept a certificate if all of it is true, else refuse it, or give up at `effort` times the usual cost.

    It is plain data, as `Limit.certificate` or `json.loads` gives it, the path of a JSON file, or a `Limit`. What does
    the work is `hardmax.certificate.verify`, which stands alone and shares no code with what it checks.

    >>> from hardmax import Dynamics, limit
    >>> bool(verify(limit([[3.0], [-1.0], [1.0]], Dynamics(1))))
    True
    """
    boundless = isinstance(effort, float) and effort == math.inf
    effort = effort if boundless else check_real(effort, "`effort`", above=0)
    if isinstance(certificate, Limit):
        certificate = certificate.certificate
    elif isinstance(certificate, str | Path):
        certificate = read_certificate(check_path(certificate), effort)
    if not isinstance(certificate, dict):
        came = shorten(certificate)
        raise InputError(
            f"`certificate` must be what `Limit.certificate` gives, a file with it or a Limit, not {came}."
        )
    return checker.verify(certificate, effort=effort)
