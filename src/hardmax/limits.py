"""Infinite-depth limits: `limit`, what it returns, and `verify`."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy as np

from hardmax import certificate as checker
from hardmax._common.cached import cached_property
from hardmax._common.columns import Columns, Tabular
from hardmax._common.files import read_certificate
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_int, check_path, check_real, shorten
from hardmax._layer.rules import check_rational
from hardmax._limits.certify import Certificate, certify
from hardmax._limits.clusters import (
    Clusters,
    Vertex,
    find_clusters,
    find_period,
    first_within,
    number,
)
from hardmax._limits.radius import radius
from hardmax._runs.run import BatchTrajectories
from hardmax._runs.trajectory import Table, Trajectories, Trajectory
from hardmax._streams.chunks import is_stream
from hardmax._streams.observers import find_core
from hardmax._streams.streamed import StreamedLimit, open_stream
from hardmax._tokens.batches import BatchArray, BatchList, CloudArray, CloudList, as_array
from hardmax._tokens.rationals import above, longest_above, read_number
from hardmax.certificate import Verdict
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.engines import Engine
from hardmax.geometry.polytope import Polytope
from hardmax.simulation import Progress, simulate
from hardmax.stops import EachPhase, Every, LastOnly, Settled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class Limit(Tabular):
    """Infinite-depth limit of one cloud. Made by `limit`.

    As a table it has a row per token: token, limit (z0, z1, …), cluster, kind of the limit,
    leader_since (or missing).

    Examples
    --------
    >>> from hardmax import Dynamics, limit
    >>> lim = limit([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]], Dynamics("1/2"))
    >>> lim
    Limit(5 tokens in 2 dimensions: 4 leaders, 5 clusters, settled at layer 0, exact)
    >>> lim.points[4].tolist(), str(lim.kind[4]), lim.theorem_applies
    ([1.0, 0.0], 'face 0, 1', True)
    """

    run: Trajectory
    """The layers up to settling, from which all else follows: `Limit(load_run(path))` is a
    saved limit."""

    @property
    def settled_at(self) -> int | None:
        """The layer of the last change, from which on all attended sets stay as they are; None: not
        settled."""
        return self.run.settled_at

    @property
    def leaders(self) -> np.ndarray:
        """Tokens that attend to themselves alone from some layer on."""
        return self.run.leaders

    @property
    def certified(self) -> bool:
        """Whether the limit is proved."""
        return self.run.certified and self.settled_at is not None

    @property
    def stopped(self) -> str:
        """Why the run ended, in words."""
        repeats = (
            "" if self.period is None else f"; the attended sets repeat with period {self.period}"
        )
        endless = len(self.moving) if self.settled_at is not None else 0
        return (
            self.run.stop_reason
            + repeats
            + (f"; {pluralize(endless, 'token')} move for ever" if endless else "")
        )

    @property
    def moving(self) -> np.ndarray:
        """Tokens that are proved to move for ever and have no limit: to infinity, as `points` say,
        or within bounds."""
        return self.run._moving

    @cached_property
    def points(self) -> Table:
        """The limit of every token, (n, d), a tensor if the tokens were; the last layer if the run
        did not settle."""
        return self.run.at(self.run.layers) if self.settled_at is None else self.run.at("limit")

    @cached_property
    def float_points(self) -> np.ndarray:
        """`points` as a float64 array, even if the tokens were tensors."""
        return (
            self.run._floats_at(self.run.layers)
            if self.settled_at is None
            else self.run._floats_at("limit")
        )

    @cached_property
    def exact_points(self) -> np.ndarray:
        """The limit of every token as Fractions, (n, d), if it is proved."""
        if not self.certified:
            raise InputError(
                "`exact_points` needs a limit that is proved: use arithmetic='certified'."
            )
        return self.run.at("limit", exact=True)

    @cached_property
    def clusters(self) -> Clusters:
        """Tokens with equal limits."""
        return find_clusters(self.run)

    @cached_property
    def kind(self) -> np.ndarray:
        """The kind of every token's limit, (n,): `Vertex`, `FaceProjection` or `OtherLimit`."""
        return np.array(self.clusters.kinds, dtype=object)[self.clusters.labels]

    @cached_property
    def polytope(self) -> Polytope:
        """The hull of the leaders; its vertex v is the token `distinct_leaders[v]`."""
        if not len(self.leaders):
            raise InputError("`polytope`: there are no leaders, so there is no polytope.")
        return Polytope(
            self.run._floats_at(self.run.layers)[self.distinct_leaders], all_vertices=True
        )

    @cached_property
    def distinct_leaders(self) -> np.ndarray:
        """The first leader at each position where there is one: the vertices of the polytope, in
        order."""
        _, first = np.unique(self.clusters.labels[self.leaders], return_index=True)
        return self.leaders[np.sort(first)]

    @cached_property
    def bound(self) -> float:
        """No limit is further than this from `points`, also if the run did not settle. Tokens that
        move for ever have none: 0 if all do."""
        if self.settled_at is not None:
            return self.run.error if len(self.moving) < self.run.n else 0.0
        if self.run.dynamics.value is not None:
            return math.inf
        # All tokens stay in the hull that is left, and no two points of a hull are further apart
        # than twice the largest distance of its vertices from any one place; the true tokens are
        # within the error of `points`.
        middle = self.float_points.min(axis=0) / 2 + self.float_points.max(axis=0) / 2
        return above(2 * longest_above(self.float_points - middle) + 3 * self.run.error)

    @cached_property
    def period(self) -> int | None:
        """After how many layers the attended sets repeat, if they do so at the end of a run that
        did not settle."""
        return None if self.settled_at is not None else find_period(self.run)

    def layers_to(self, eps: float | str | Fraction) -> int:
        """The first layer from which on every token is within a distance of its limit.

        Parameters
        ----------
        eps : float, str or Fraction
            The Euclidean distance; a float is the decimal that it is written as.

        Returns
        -------
        int
            The number of layers.
        """
        near = read_number(float(eps) if isinstance(eps, np.floating) else eps, "`eps`")
        if near <= 0:
            raise InputError(
                f"`eps` must be positive, not {shorten(eps)}: only a leader ever reaches its limit."
            )
        if len(self.moving):
            raise InputError(
                f"Token {self.moving[0]} moves for ever: it has no limit to come close to."
            )
        if self.settled_at is None:
            raise InputError(
                f"The run has not settled ({self.run.stop_reason}): no distance to the limit is known."
            )
        return first_within(self.run, near**2)

    @cached_property
    def radius(self) -> float:
        """Moving every token by at most this Euclidean distance changes no attended set at any
        layer, which is proved; 0 if a token attends to several. For the paper's layer."""
        return radius(self.run)

    @cached_property
    def theorem_reason(self) -> str:
        """Why Theorem 1.1 does not apply; empty if it does."""
        points = self.run.details.points
        if not self.run.dynamics.is_plain:
            return "it is about hardmax layers without a mask and a value matrix, all with the same step"
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
        """Whether Theorem 1.1 applies: tokens distinct and nonzero, metric symmetric positive
        definite."""
        return not self.theorem_reason

    @cached_property
    def certificate(self) -> Certificate:
        """Plain data that proves the limit, for `verify` or any other checker
        (docs/certificate.md)."""
        return certify(self.run, self.clusters)

    @cached_property
    def robust_certificate(self) -> Certificate:
        """The same with the radius, which is proved, too; for a finite one and a symmetric
        metric."""
        if self.radius == math.inf:
            raise InputError("`robust_certificate`: a single token may be moved anywhere.")
        return certify(self.run, self.clusters, self.radius)

    def _columns(self) -> Columns:
        return _columns_of(*_rows_of(self, 0)[1:])

    def __repr__(self) -> str:
        settled = (
            "not settled" if self.settled_at is None else f"settled at layer {self.settled_at}"
        )
        try:
            clusters = f"{pluralize(len(self.clusters), 'cluster')}, "
        except InputError:  # exact positions are too long to be compared
            clusters = ""
        return (
            f"Limit({pluralize(self.run.n, 'token')} in {pluralize(self.run.d, 'dimension')}: "
            f"{pluralize(len(self.leaders), 'leader')}, {clusters}{settled}, {self.run._arithmetic})"
        )

    def plot(
        self, *, ax: "Axes | None" = None, figsize: tuple[float, float] | None = None
    ) -> "Axes":
        """Draw tokens, paths and limits, with a colour and shape for each cluster (extra
        `figures`).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure with a title and a legend.
        figsize : tuple of float, optional
            Size of the new figure, in inches.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        from hardmax.figures.limits import plot_limit

        return plot_limit(self, ax=ax, figsize=figsize)

    def page(self, path: str | Path) -> None:
        """Write a page that runs this cloud in any browser: drag tokens, change alpha, see the
        exact limit.

        Parameters
        ----------
        path : str or Path
            As for `Trajectory.page`.
        """
        self.run._write_page(path)

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import cloud_card

        return cloud_card(self)


class Limits(Tabular, Sequence[Limit]):
    """Limits of a batch of clouds, in order. Made by `limit`.

    As a table it has the rows of every `Limit`, with a column `cloud` before them.

    Examples
    --------
    >>> from hardmax import Dynamics, limit
    >>> limits = limit([[[1.0], [2.0]], [[3.0]]], Dynamics(1))
    >>> limits
    Limits(2 clouds, 2 settled)
    >>> [points.tolist() for points in limits.points]
    [[[2.0], [2.0]], [[3.0]]]
    """

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
        """The limits of all tokens in the form in which the clouds came; all clouds must have
        settled."""
        return self.runs.at("limit")

    @property
    def leaders(self) -> list[np.ndarray]:
        """The leaders of each cloud."""
        return self.runs.leaders

    @property
    def settled_at(self) -> list[int | None]:
        """The layer at which each cloud settled; None if it did not."""
        return self.runs.settled_at

    def _counts(self) -> dict[str, list[Any]]:
        """When each cloud settled, how many leaders and clusters it has, if one kernel found them
        for all of them."""
        if not isinstance(runs := self.runs, BatchTrajectories):
            return {}
        starts, since = (
            runs.clouds.offsets[:-1],
            as_array(runs.outcome.leader_since, "`leader_since`"),
        )
        own = (
            np.arange(len(since)) - np.repeat(starts, np.diff(runs.clouds.offsets))
            == runs.leader_of
        )
        leaders, clusters = (
            np.add.reduceat(which, starts, dtype=np.int64).tolist() for which in (since >= 0, own)
        )
        for cloud in np.flatnonzero(runs.leader_of[starts] < 0).tolist():  # not all follow leaders
            clusters[cloud] = len(self[cloud].clusters)
        return {"settled_at": self.settled_at, "leaders": leaders, "clusters": clusters}

    def _columns(self) -> Columns:
        if isinstance(self.runs, BatchTrajectories):
            clouds, *rows = _rows_together(self, self.runs)
        else:
            parts = zip(*(_rows_of(lim, cloud) for cloud, lim in enumerate(self)), strict=True)
            clouds, *rows = map(np.concatenate, parts)
        return {"cloud": clouds} | _columns_of(*rows)

    def __repr__(self) -> str:
        settled = sum(layer is not None for layer in self.settled_at)
        return f"Limits({pluralize(len(self), 'cloud')}, {settled:,} settled)"

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import batch_card

        return batch_card(self)


def _columns_of(
    tokens: np.ndarray, points: np.ndarray, labels: np.ndarray, kinds: Any, since: Any
) -> Columns:
    columns: Columns = {"token": tokens} | {
        f"z{axis}": column for axis, column in enumerate(points.T)
    }
    return columns | {"cluster": labels, "kind": kinds, "leader_since": np.ma.masked_less(since, 0)}


def _rows_of(lim: Limit, cloud: int) -> tuple[np.ndarray, ...]:
    since, clusters = np.full(lim.run.n, -1), lim.clusters
    since[lim.leaders] = lim.run.leader_layers
    kinds = np.array(list(map(str, clusters.kinds)), dtype=object)[clusters.labels]
    return (
        np.full(lim.run.n, cloud),
        np.arange(lim.run.n),
        lim.float_points,
        clusters.labels,
        kinds,
        since,
    )


def _rows_together(limits: Limits, runs: BatchTrajectories) -> tuple[np.ndarray, ...]:
    """The same for all clouds at once, as far as all tokens of a cloud follow leaders."""
    offsets = runs.clouds.offsets
    clouds = np.repeat(np.arange(len(runs)), np.diff(offsets))
    start = offsets[:-1][clouds]
    tokens, leader_of = np.arange(len(clouds)) - start, runs.leader_of
    labels, first = number(np.where(leader_of < 0, 0, leader_of) + start)
    labels -= np.searchsorted(first, start)
    kinds = np.array(
        [str(Vertex(token)) for token in range(max(1, leader_of.max() + 1))], dtype=object
    )[leader_of]
    since = as_array(runs.outcome.leader_since, "`leader_since`").astype(np.int64)
    rows = clouds, tokens, as_array(runs.arrived.tokens, "`tokens`").copy(), labels, kinds, since
    for cloud in np.flatnonzero(leader_of[offsets[:-1]] < 0).tolist():
        for column, values in zip(rows, _rows_of(limits[cloud], cloud), strict=True):
            column[offsets[cloud] : offsets[cloud + 1]] = values
    return rows


class Options(TypedDict, total=False):
    """Options of `limit`."""

    max_layers: int | None
    arithmetic: str
    engine: Engine | str | None
    progress: Progress | None


@overload
def limit(tokens: CloudList, dynamics: Dynamics, **options: Unpack[Options]) -> Limit: ...
@overload
def limit(tokens: BatchList, dynamics: Dynamics, **options: Unpack[Options]) -> Limits: ...
@overload
def limit(tokens: CloudArray, dynamics: Dynamics, **options: Unpack[Options]) -> Limit: ...
@overload
def limit(tokens: BatchArray, dynamics: Dynamics, **options: Unpack[Options]) -> Limits: ...
@overload
def limit(tokens: Any, dynamics: Dynamics, **options: Unpack[Options]) -> Any: ...
def limit(
    tokens: Any,
    dynamics: Dynamics,
    *,
    max_layers: int | None = None,
    arithmetic: str = "certified",
    engine: Engine | str | None = None,
    progress: Progress | None = None,
) -> Limit | Limits | StreamedLimit:
    """Infinite-depth limit of hardmax attention, with a certificate.

    Parameters
    ----------
    tokens : array_like of shape (n, d), a batch of clouds, or a source of chunks
        Starting points. Floats stand for the binary fractions they store, strings for what they
        say. A cloud larger than memory is read chunk by chunk from a `numpy.memmap`, an array of
        Zarr or Dask, a `pyarrow.dataset`, or a Parquet file, folder or pattern
        (``"points/*.parquet"``).
    dynamics : Dynamics
        Step size and metric.
    max_layers : int, optional
        Give up (`settled_at` is None) if the attended sets may still change after so many layers.
        By default, after they had to be computed 10,000 times, or 500 times where tokens may never
        settle: if the metric is not symmetric positive definite, or the layer not the paper's.
    arithmetic : {"certified", "exact", "float"}, default "certified"
        As in `simulate`; "float" proves nothing.
    engine : Engine or str, optional
        As in `simulate`.
    progress : callable, optional
        Called with (clouds done, clouds), or with (tokens read, tokens) in every pass over a source
        of chunks.

    Returns
    -------
    Limit, Limits or StreamedLimit
        Limit points, leaders, polytope and clusters; `Limits` for a batch, `StreamedLimit` for a
        source of chunks.

    Notes
    -----
    Once every token attends to one leader, :math:`z_i(k+m) = l + (1+\\alpha)^{-m} (z_i(k) - l)` for all m, so the limit
    is known after a handful of layers. Ties are settled by the same formula; docs/limits.md has the proof.

    Examples
    --------
    >>> lim = limit([[3.0], [-1.0], [1.0]], Dynamics(1))
    >>> lim.points.ravel().tolist(), lim.clusters.labels.tolist(), lim.layers_to("0.001")
    ([3.0, -1.0, 3.0], [0, 1, 0], 11)
    """
    dynamics = check_dynamics(dynamics)
    if not dynamics.is_definite:
        warnings.warn(
            f"the theorem does not apply to the metric: {dynamics.indefinite_reason}.", stacklevel=2
        )
    check_rational(dynamics, "`limit`")
    default = None if dynamics.is_definite or not dynamics.is_plain else 500
    stop = Settled(
        default if max_layers is None else check_int(max_layers, "`max_layers`", at_least=0)
    )
    if is_stream(tokens):
        chunks = open_stream(tokens, dynamics, progress, arithmetic, engine)
        return StreamedLimit(chunks, find_core(chunks, dynamics, stop))
    run = simulate(
        tokens,
        dynamics,
        stop=stop,
        arithmetic=arithmetic,
        # Without the theorem there may be cycles, which are found in the layers.
        record=EachPhase()
        if not dynamics.is_plain
        else LastOnly()
        if dynamics.is_definite
        else Every(1),
        progress=progress,
        engine=engine,
    )
    return Limit(run) if isinstance(run, Trajectory) else Limits(run)


def verify(certificate: dict[str, Any] | str | Path | Limit, *, effort: float = 1) -> Verdict:
    """Check the certificate of a limit with `hardmax.certificate`, which shares no code with the
    rest of the package.

    Parameters
    ----------
    certificate : dict, str, Path or Limit
        A certificate, the path of a JSON file that has one, or a limit that is proved.
    effort : float, default 1
        Give up at so many times the usual cost (some seconds); `inf` is allowed.

    Returns
    -------
    Verdict
        True if every statement is true; else it has the reason.

    Examples
    --------
    >>> from hardmax import Dynamics, limit
    >>> verify(limit([[3.0], [-1.0], [1.0]], Dynamics(1)))
    Verdict(accepted=True, reason='every point has its limit, settled at layer 0')
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
