"""Infinite-depth limits: `limit` of a cloud, `limits` of many, and `verify`."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from hardmax import certificate as checker
from hardmax._common.cached import cached_property
from hardmax._common.columns import Columns, Tabular, stacked
from hardmax._common.files import read_certificate
from hardmax._common.format import pluralize
from hardmax._common.validation import (
    InputError,
    check_bool,
    check_choice,
    check_path,
    check_real,
    shorten,
)
from hardmax._layer.rules import merge_points
from hardmax._limits.certify import Certificate, certify, cloud_digest, layer_data
from hardmax._limits.clusters import (
    Clusters,
    find_clusters,
    first_within,
    float_limits,
    limit_error,
)
from hardmax._limits.radius import check_proved, radius
from hardmax._runs.run import Run, Runs, Table, Tables
from hardmax._streams.chunks import is_stream
from hardmax._streams.streamed import StreamedLimit, stream_limit
from hardmax._tokens.batches import CloudArray, CloudList, Clouds, depth, read_batch
from hardmax._tokens.columns import ColumnChoice
from hardmax._tokens.rationals import read_number
from hardmax.certificate import Verdict
from hardmax.dynamics import Dynamics, check_dynamics
from hardmax.engines import Engine
from hardmax.figures.pictured import Pictured
from hardmax.geometry.polytope import Polytope
from hardmax.simulation import read_tokens, simulate


@dataclass(frozen=True, eq=False, repr=False)
class Limit(Tabular, Pictured):
    """Infinite-depth limit of one cloud. Made by `limit`.

    As a table it has a row per token: token, limit (z0, z1, …), cluster, kind of the limit,
    leader_since (or missing). Its picture: tokens, paths and limits, with a colour and a shape for
    each cluster.

    Examples
    --------
    >>> from hardmax import Dynamics, limit
    >>> lim = limit([[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]], Dynamics("1/2"))
    >>> lim
    Limit(5 tokens in 2 dimensions: 4 leaders, 5 clusters, settled at layer 0, exact)
    >>> lim.limit_points[4].tolist(), str(lim.clusters.kind_of(4))
    ([1.0, 0.0], 'face 0, 1')
    """

    _figure = "plot_limit"
    run: Run
    """The layers up to settling, from which all else follows."""

    @property
    def n(self) -> int:
        """Number of tokens."""
        return self.run.n

    @property
    def d(self) -> int:
        """Dimension of the tokens."""
        return self.run.d

    @property
    def settled_at(self) -> int | None:
        """The layer of the last change, from which on all attended sets stay as they are; None: not
        settled."""
        return self.run.settled_at

    @property
    def stop_reason(self) -> str:
        """Why the run ended, in words."""
        if self.settled_at is None or not len(self.run.moving):
            return self.run.stop_reason
        return f"{self.run.stop_reason}; {pluralize(len(self.run.moving), 'token')} move for ever"

    @property
    def certified(self) -> bool:
        """Whether the limit is proved. `prove` writes the proof down, unless layers have a
        feed-forward block or heads with value matrices."""
        return self.run.certified and self.settled_at is not None

    @property
    def leaders(self) -> np.ndarray:
        """Tokens that attend to themselves alone from some layer on."""
        return self.run.leaders

    @cached_property
    def distinct_leaders(self) -> np.ndarray:
        """The first leader at each position where there is one: the vertices of the polytope, in
        order."""
        _, first = np.unique(self.clusters.labels[self.leaders], return_index=True)
        return self.leaders[np.sort(first)]

    @cached_property
    def limit_points(self) -> Table:
        """The limit of every token, (n, d), a tensor if the tokens were; the last layer if the run
        did not settle. Tokens that move for ever (`run.moving`) have none."""
        return self.run.at(self.run.layers) if self.settled_at is None else self.run.at("limit")

    def exact_limit_points(self) -> np.ndarray:
        """The limit of every token, if it is proved.

        Returns
        -------
        ndarray of Fraction
            (n, d).
        """
        check_proved(self.run, "`exact_limit_points`")
        return self.run.at("limit", exact=True)

    @cached_property
    def limit_error(self) -> float:
        """No limit is further than this from `limit_points`, even if the run did not settle. Tokens
        that move for ever have none: 0 if all do."""
        return limit_error(self.run)

    @cached_property
    def clusters(self) -> Clusters:
        """Tokens with equal limits."""
        return find_clusters(self.run)

    def polytope(self) -> Polytope:
        """The hull of the leaders.

        Returns
        -------
        Polytope
            Its vertex v is the token `distinct_leaders[v]`.
        """
        if not len(self.leaders):
            raise InputError("`polytope`: there are no leaders, so there is no polytope.")
        tokens = self.run.floats_at(self.run.layers)
        return Polytope(tokens[self.distinct_leaders], all_vertices=True)

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
        distance = read_number(float(eps) if isinstance(eps, np.floating) else eps, "`eps`")
        if distance <= 0:
            raise InputError(
                f"`eps` must be positive, not {shorten(eps)}: only a leader ever reaches its limit."
            )
        if len(self.run.moving):
            token = self.run.moving[0]
            raise InputError(f"Token {token} moves for ever: it has no limit to come close to.")
        if self.settled_at is None:
            reason = self.run.stop_reason
            raise InputError(
                f"The run has not settled ({reason}): no distance to the limit is known."
            )
        return first_within(self.run, distance**2)

    def radius(self) -> float:
        """A proved distance by which all tokens may be moved. For the paper's layer.

        Returns
        -------
        float
            Moving every token by at most this Euclidean distance changes no attended set at any
            layer; 0 if a token attends to several.
        """
        return radius(self.run)

    def prove(self, *, radius: bool = False) -> Certificate:
        """Plain data that proves the limit, for `verify` or any other checker.

        Parameters
        ----------
        radius : bool, default False
            Prove the `radius`, too: for the paper's layer with a symmetric metric.

        Returns
        -------
        Certificate
            docs/certificate.md says what it contains.
        """
        reach = self.radius() if check_bool(radius, "`radius`") else None
        if reach == math.inf:
            raise InputError("`radius`: a single token may be moved anywhere.")
        metric = self.run.dynamics.metric
        if radius and metric is not None and (metric != metric.T).any():
            raise InputError("`radius`: no checker proves it where the metric is not symmetric.")
        return certify(self.run, self.clusters, reach)

    def _columns(self) -> Columns:
        since = np.full(self.n, -1, dtype=self.run.leader_layers.dtype)
        since[self.leaders] = self.run.leader_layers
        kinds = np.array(list(map(str, self.clusters.kinds)), dtype=object)
        labels, points = self.clusters.labels, float_limits(self.run)
        columns: Columns = {"token": np.arange(self.n)}
        columns |= {f"z{axis}": column for axis, column in enumerate(points.T)}
        columns |= {"cluster": labels, "kind": kinds[labels]}
        return columns | {"leader_since": np.ma.masked_less(since, 0)}

    def __repr__(self) -> str:
        layer = self.settled_at
        settled = "not settled" if layer is None else f"settled at layer {layer}"
        clusters = pluralize(len(self.clusters), "cluster")
        size = f"{pluralize(self.n, 'token')} in {pluralize(self.d, 'dimension')}"
        leaders = pluralize(len(self.leaders), "leader")
        return f"Limit({size}: {leaders}, {clusters}, {settled}, {self.run.arithmetic})"


class Limits(Tabular, Pictured, Sequence[Limit]):
    """Limits of many clouds, in order. Made by `limits`.

    Each attribute of `Limit` is here an array or a list with an entry for each cloud. As a table it
    has the rows of every `Limit`, with a column `cloud` before them. Its picture: how many clouds
    have how many leaders.

    Examples
    --------
    >>> from hardmax import Dynamics, limits
    >>> found = limits([[[1.0], [2.0]], [[3.0]]], Dynamics(1))
    >>> found
    Limits(2 clouds, 2 settled)
    >>> [points.tolist() for points in found.limit_points]
    [[[2.0], [2.0]], [[3.0]]]
    """

    _figure = "plot_counts"

    def __init__(self, runs: Runs) -> None:
        self.runs = runs

    def __len__(self) -> int:
        return len(self.runs)

    @overload
    def __getitem__(self, index: int) -> Limit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Limit]: ...
    def __getitem__(self, index: int | slice) -> Limit | Sequence[Limit]:
        runs = self.runs[index]
        return Limit(runs) if isinstance(runs, Run) else [Limit(run) for run in runs]

    @property
    def n(self) -> np.ndarray:
        """Number of tokens of each cloud."""
        return np.array([lim.n for lim in self])

    @property
    def d(self) -> int:
        """Dimension of the tokens."""
        return self[0].d

    @property
    def settled_at(self) -> list[int | None]:
        """The layer at which each cloud settled; None if it did not."""
        return self.runs.settled_at

    @property
    def stop_reason(self) -> list[str]:
        """Why the run of each cloud ended, in words."""
        return [lim.stop_reason for lim in self]

    @property
    def certified(self) -> np.ndarray:
        """Whether the limit of each cloud is proved."""
        return np.array([lim.certified for lim in self])

    @property
    def leaders(self) -> list[np.ndarray]:
        """The leaders of each cloud."""
        return self.runs.leaders

    @property
    def distinct_leaders(self) -> list[np.ndarray]:
        """The first leader at each position of each cloud where there is one."""
        return [lim.distinct_leaders for lim in self]

    @property
    def limit_points(self) -> Tables:
        """The limits of all tokens in the form in which the clouds came; a list, if a cloud did not
        settle."""
        if None in self.settled_at:
            return [lim.limit_points for lim in self]
        return self.runs.at("limit")

    @property
    def limit_error(self) -> np.ndarray:
        """For each cloud, no limit is further than this from `limit_points`."""
        return np.array([lim.limit_error for lim in self])

    @property
    def clusters(self) -> list[Clusters]:
        """Tokens of each cloud with equal limits."""
        return [lim.clusters for lim in self]

    def _columns(self) -> Columns:
        return stacked([lim._columns() for lim in self])

    def __repr__(self) -> str:
        settled = sum(layer is not None for layer in self.settled_at)
        return f"Limits({pluralize(len(self), 'cloud')}, {settled:,} settled)"


class Options(TypedDict, total=False):
    """Options of `limit` and `limits`."""

    max_layers: int | None
    arithmetic: str
    columns: ColumnChoice
    engine: Engine | str | None


@overload
def limit(
    tokens: CloudList | CloudArray, dynamics: Dynamics, **options: Unpack[Options]
) -> Limit: ...
@overload
def limit(tokens: Any, dynamics: Dynamics, **options: Unpack[Options]) -> Any: ...
def limit(
    tokens: Any,
    dynamics: Dynamics,
    *,
    max_layers: int | None = None,
    arithmetic: str = "certified",
    columns: ColumnChoice = None,
    engine: Engine | str | None = None,
) -> Limit | StreamedLimit:
    """Infinite-depth limit of hardmax attention, with a certificate.

    Parameters
    ----------
    tokens : array_like of shape (n, d), a file, or a source of chunks
        Starting points. Floats stand for the binary fractions they store, strings for what they
        say. The name of a CSV, JSON, npy or npz file is read as by `hardmax.io.read_cloud`. A cloud
        larger than memory is read chunk by chunk from a `numpy.memmap`, a Dask
        array, a `pyarrow.dataset`, or a Parquet file, folder or pattern
        (``"points/*.parquet"``).
    dynamics : Dynamics
        Step size and metric.
    max_layers : int, optional
        Give up (`settled_at` is None) if the attended sets may still change after this layer,
        whatever the arithmetic. By default, after computing them at 10,000 layers, or at 500 where
        tokens may never settle, as in `simulate`.
    arithmetic : {"certified", "exact"}, default "certified"
        As in `simulate`.
    columns : sequence of str or str, optional
        Columns of a file or data frame that are the coordinates: ["x", "y"] or "x,y". By default
        all of them, but one that numbers the rows is refused; "all" takes that one, too.
    engine : Engine or str, optional
        As in `simulate`.

    Returns
    -------
    Limit or StreamedLimit
        Limit points, leaders, polytope and clusters; `StreamedLimit` for a source of chunks.

    Notes
    -----
    Once every token attends to one leader, :math:`z_i(k+m) = l + (1+\\alpha)^{-m} (z_i(k) - l)`
    for all m, so the limit is known after a handful of layers. Ties are settled by the same
    formula; docs/limits.md has the proof.

    Examples
    --------
    >>> lim = limit([[3.0], [-1.0], [1.0]], Dynamics(1))
    >>> lim.limit_points.ravel().tolist(), lim.clusters.labels.tolist(), lim.layers_to("0.001")
    ([3.0, -1.0, 3.0], [0, 1, 0], 11)
    """
    _check(dynamics, arithmetic)
    how: Any = {"max_layers": max_layers, "arithmetic": arithmetic, "engine": engine}
    if is_stream(tokens):
        return stream_limit(tokens, dynamics, columns=columns, **how)
    tokens = read_tokens(tokens, columns)
    if _are_many(tokens):
        raise InputError("`tokens` must be one cloud of shape (n, d): `limits` takes many.")
    return Limit(simulate(tokens, dynamics, **how))


def limits(
    tokens: Any,
    dynamics: Dynamics,
    *,
    max_layers: int | None = None,
    arithmetic: str = "certified",
    columns: ColumnChoice = None,
    engine: Engine | str | None = None,
) -> Limits:
    """Infinite-depth limits of many clouds.

    Parameters
    ----------
    tokens : list of array_like, array_like of shape (clouds, n, d), Clouds, or a file
        The clouds, all of one dimension.
    dynamics : Dynamics
        Step size and metric.
    max_layers, arithmetic, columns, engine
        As in `limit`.

    Returns
    -------
    Limits
        A sequence of `Limit`, with the same attributes as arrays or lists.

    Examples
    --------
    >>> limits([[[1.0], [2.0]], [[3.0]]], Dynamics(1)).leaders
    [array([1]), array([0])]
    """
    _check(dynamics, arithmetic)
    tokens = tokens if is_stream(tokens) else read_tokens(tokens, columns)
    if is_stream(tokens) or not _are_many(tokens):
        raise InputError("`tokens` must be many clouds: `limit` takes one.")
    how: Any = {"max_layers": max_layers, "arithmetic": arithmetic, "engine": engine}
    return Limits(simulate(tokens, dynamics, **how))


def _are_many(tokens: Any) -> bool:
    return isinstance(tokens, Clouds) or depth(tokens) > 2


def _check(dynamics: Dynamics, arithmetic: str) -> None:
    """Refuse layers without exact limits; warn of a metric to which the theorem does not apply."""
    is_definite = check_dynamics(dynamics).is_definite
    check_choice(arithmetic, ("certified", "exact"), "`arithmetic`")
    if not dynamics.traits.rational:
        others = "`simulate` follows them, and `softmax_gap` compares softmax with hardmax"
        raise InputError(f"Softmax and normalised layers have no exact limits: {others}.")
    if not is_definite:
        why = f"the theorem does not apply to the metric: {dynamics.indefinite_reason}."
        warnings.warn(why, stacklevel=3)


def verify(
    certificate: dict[str, Any] | str | Path | Limit,
    *,
    of: Any = None,
    dynamics: Dynamics | None = None,
    effort: float = 1,
) -> Verdict:
    """Check the certificate of a limit with `hardmax.certificate`, which shares no code with the
    rest of the package.

    Parameters
    ----------
    certificate : dict, str, Path or Limit
        A certificate, the path of a JSON file that has one, or a limit that is proved.
    of : array_like of shape (n, d), str or Path, optional
        The cloud, or a file with it: a certificate of another one is refused.
    dynamics : Dynamics, optional
        The layer: a certificate of another one is refused.
    effort : float, default 1
        Give up at this multiple of the usual cost (some seconds); `inf` is allowed.

    Returns
    -------
    Verdict
        True if every statement is true; else it has the reason. `Verdict.sentences` says what was
        proved.

    Examples
    --------
    >>> from hardmax import Dynamics, limit
    >>> proof = limit([[3.0], [-1.0], [1.0]], Dynamics(1)).prove()
    >>> verify(proof)
    Verdict(accepted=True, reason='every point has its limit, settled at layer 0')
    >>> verify(proof, of=[[5.0], [-1.0], [1.0]])
    Verdict(accepted=False, reason='cloud: the certificate is about another cloud')
    """
    boundless = isinstance(effort, float) and effort == math.inf
    effort = effort if boundless else check_real(effort, "`effort`", above=0)
    if isinstance(certificate, Limit):
        certificate = certificate.prove()
    elif isinstance(certificate, str | Path):
        certificate = read_certificate(check_path(certificate), effort)
    if not isinstance(certificate, dict):
        wish = "what `Limit.prove` gives, a file with it or a Limit"
        raise InputError(f"`certificate` must be {wish}, not {shorten(certificate)}.")
    layer = None if dynamics is None else layer_data(check_dynamics(dynamics))
    cloud = None if of is None else _digest_of(of, certificate)
    return checker.verify(certificate, effort=effort, cloud=cloud, layer=layer)


def _digest_of(tokens: Any, certificate: dict[str, Any]) -> str:
    """The fingerprint of a cloud; equal tokens are merged unless the certificate has a mask."""
    clouds, container = read_batch(read_tokens(tokens))
    if not container.is_single:
        raise InputError(f"`of` must be one cloud, not {len(clouds)}.")
    layer = certificate.get("layer")
    # No kind of attention that certificates know tells copies apart.
    has_mask = isinstance(layer, dict) and layer.get("mask") is not None
    return cloud_digest(merge_points(Dynamics(1, mask="causal" if has_mask else None), clouds[0]))
