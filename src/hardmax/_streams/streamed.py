"""What `limit` and `simulate` return for one cloud that is read chunk by chunk, since it is larger
than memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.columns import write_parquet
from hardmax._common.files import make_folder
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, Progress, check_path, require_extra, shorten
from hardmax._float.search import CPU
from hardmax._layer.rules import check_plain
from hardmax._limits.clusters import (
    Clusters,
    FaceProjection,
    Kind,
    Vertex,
    find_clusters,
    limit_error,
)
from hardmax._streams.chunks import DaskChunks, LocalChunks, open_chunks
from hardmax._streams.passes import Gathered, run_beside
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge
from hardmax.dynamics import Dynamics
from hardmax.geometry.polytope import Polytope

if TYPE_CHECKING:
    from dask.array import Array

Answer = dict[str, np.ndarray]


def _tokens_of(tokens: np.ndarray, _: int, found: Gathered) -> Answer:
    """The tokens of a chunk at the last layer."""
    run, place = run_beside(tokens, found.known, found.plan)
    return {"tokens": run.floats_at(found.run.layers)[place]}


def _limits_of(tokens: np.ndarray, _: int, found: Gathered, columns: Answer) -> Answer:
    """Of each token of a chunk what is said of the candidate that ends where it does."""
    run, place = run_beside(tokens, found.known, found.plan)
    choices, known = run.phases[-1].choices, len(found.known)
    ends = choices.indices[choices.offsets[:-1]]
    ends[:known] = np.arange(known)
    if ends.max() >= known:
        raise InputError("The tokens have changed since their limit was found.")
    return {name: column[ends[place]] for name, column in columns.items()}


def _write_part(tokens: np.ndarray, first: int, folder: Path, answer: Any, *what: Any) -> None:
    import pyarrow as pa

    found: Answer = answer(tokens, first, *what)
    points = found.pop(next(iter(found)))  # limits or tokens come first
    columns = {"token": first + np.arange(len(tokens))}
    columns |= {f"z{axis}": column for axis, column in enumerate(points.T)}
    write_parquet(folder / f"part-{first:012}.parquet", pa.table(columns | found))


def _find_copies(tokens: np.ndarray, first: int, values: np.ndarray) -> tuple[np.ndarray, ...]:
    """The rows of tokens that equal one of some distinct values, and which that is."""
    # Points are numbered as they first appear.
    places = merge(Cloud(np.concatenate([values, tokens]))).of_token[len(values) :]
    (equal,) = np.nonzero(places < len(values))
    return first + equal, places[equal]


@dataclass(frozen=True, eq=False, repr=False)
class Streamed:
    """What a streamed limit and a streamed run share: what is small, in memory."""

    _source: LocalChunks | DaskChunks
    _gathered: Gathered

    @property
    def n(self) -> int:
        """Number of tokens."""
        return self._gathered.n

    @property
    def d(self) -> int:
        """Dimension of the tokens."""
        return self._gathered.run.d

    @property
    def settled_at(self) -> int | None:
        """The layer from which on every token goes straight to its limit; None if the run did not
        settle."""
        return self._gathered.settled_at

    @property
    def stop_reason(self) -> str:
        """Why the run ended, in words."""
        return self._gathered.stop_reason

    @property
    def leaders(self) -> np.ndarray:
        """Row numbers of the leaders, increasing. If some of them are repeated, the source is read
        once more to find the copies."""
        return self._leaders[0]

    @property
    def leader_layers(self) -> np.ndarray:
        """For each of the `leaders` the layer at which it became one."""
        return self._gathered.run.leader_layers[self._leaders[1]]

    @property
    def distinct_leaders(self) -> np.ndarray:
        """The first leader at each position where there is one."""
        return self._gathered.known.rows[self._gathered.run.leaders]

    @cached_property
    def _leaders(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of all leaders, and of which of the distinct ones each is a copy."""
        known, leading = self._gathered.known, self._gathered.run.leaders
        if known.counts[leading].max(initial=1) == 1:
            return self.distinct_leaders, np.arange(len(leading))
        rows, which = zip(*self._source.map(_find_copies, known.values[leading]), strict=True)
        return np.concatenate(rows), np.concatenate(which)

    @property
    def n_in_memory(self) -> int:
        """How many distinct tokens had to be in memory together."""
        return len(self._gathered.known)

    def _question(self) -> tuple[Callable[..., Answer], list[Any]]:
        """What answers for a chunk, and what it needs for it."""
        raise NotImplementedError

    def chunks(self) -> Iterator[Answer]:
        """What becomes of the tokens, chunk by chunk: the source is read once more while this is
        iterated over.

        Yields
        ------
        dict
            For a run `tokens`, those at the last layer. For a limit `limit_points`, `leader`, the
            first token at the leader where each ends, or -1 if it ends elsewhere, and `cluster`.
        """
        answer, what = self._question()
        return iter(self._source.map(answer, *what, is_large=True))

    def write(self, folder: str | Path) -> None:
        """Write a Parquet file for each chunk (extra `tables`).

        Parameters
        ----------
        folder : str or Path
            A new folder, or an empty one. Each part is written completely or not at all; its
            columns are `token` (the row number), z0, z1, … and, for a limit, `leader` and
            `cluster`.
        """
        require_extra("`write`", "tables", "pyarrow")
        answer, what = self._question()
        target = make_folder(check_path(folder, "`folder`"), "`folder`")
        if any(target.iterdir()):
            raise InputError(f"`folder` must be new or empty, not {shorten(str(target))}.")
        for _ in self._source.map(_write_part, target, answer, *what):
            pass

    def to_dask(self) -> dict[str, "Array"]:
        """What `chunks` yields as dask arrays in the chunks of the tokens, not computed."""
        if not isinstance(self._source, DaskChunks):
            raise InputError(
                "`to_dask` is for tokens that came as a dask array: iterate over `chunks()`."
            )
        answer, what = self._question()
        example = answer(self._gathered.known.values[:1], 0, *what)
        return self._source.arrays(example, answer, *what)

    def __repr__(self) -> str:
        layer = self.settled_at
        settled = "not settled" if layer is None else f"settled at layer {layer}"
        size = f"{pluralize(self.n, 'token')} in {pluralize(self.d, 'dimension')}"
        leaders = pluralize(len(self.distinct_leaders), "distinct leader")
        return (
            f"{type(self).__name__}({size}: {leaders}, {settled}; {self.n_in_memory:,} in memory)"
        )


class StreamedClusters(Clusters):
    """Clusters of a cloud that is read chunk by chunk: it is read once more for their `labels`."""

    def __init__(
        self, lim: "StreamedLimit", points: np.ndarray, kinds: tuple[Kind, ...], sizes: np.ndarray
    ) -> None:
        vars(self).update(_limit=lim, limit_points=points, kinds=kinds, sizes=sizes)

    @cached_property
    def labels(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The cluster of each token, (n,)."""
        return vars(self)["_limit"]._column("cluster")


class StreamedLimit(Streamed):
    """Infinite-depth limit of a cloud that is read chunk by chunk. Made by `limit`.

    It has the attributes of `Limit`, with the same values for the same tokens in one array.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from hardmax import Dynamics, limit
    >>> with TemporaryDirectory() as folder:
    ...     points = np.memmap(f"{folder}/points", dtype=float, mode="w+", shape=(3, 1))
    ...     points[:] = [[3.0], [-1.0], [1.0]]
    ...     lim = limit(points, Dynamics(1))
    ...     [chunk["limit_points"].ravel().tolist() for chunk in lim.chunks()]
    [[3.0, -1.0, 3.0]]
    >>> lim.leaders.tolist(), lim.clusters.sizes.tolist(), lim.settled_at
    ([0, 1], [2, 1], 0)
    """

    @property
    def certified(self) -> bool:
        """Whether the limit is proved."""
        return self.settled_at is not None

    @property
    def limit_points(self) -> np.ndarray:
        """The limit of every token, (n, d), in memory: the source is read once more. `chunks`
        yields them chunk by chunk."""
        return self._column("limit_points")

    @property
    def limit_error(self) -> float:
        """No limit is further than this from `limit_points`, also if the run did not settle."""
        return limit_error(self._gathered.run)

    @property
    def clusters(self) -> Clusters:
        """Tokens with equal limits. The source is read once to count them, and once more for their
        `labels`."""
        return self._clusters[0]

    def polytope(self) -> Polytope:
        """The hull of the leaders.

        Returns
        -------
        Polytope
            Its vertex v is the token `distinct_leaders[v]`.
        """
        run = self._gathered.run
        return Polytope(run.floats_at(run.layers)[run.leaders], all_vertices=True)

    @cached_property
    def _clusters(self) -> tuple[Clusters, np.ndarray]:
        """The clusters of the cloud, and the cluster of each candidate."""
        if self.settled_at is None:
            wish = "where its tokens end is not known"
            raise InputError(f"The run has not settled ({self.stop_reason}): {wish}.")
        found, rows = find_clusters(self._gathered.run), self._gathered.known.rows
        sizes, first = np.zeros(len(found), dtype=np.int64), np.full(len(found), self.n)
        row = 0
        for chunk in self._source.map(_limits_of, self._gathered, {"label": found.labels}):
            labels = chunk["label"]
            np.minimum.at(first, labels, row + np.arange(len(labels)))
            sizes += np.bincount(labels, minlength=len(found))
            row += len(labels)
        order = np.argsort(first)
        kinds = tuple(_of_rows(found.kinds[label], rows) for label in order)
        clusters = StreamedClusters(self, found.limit_points[order], kinds, sizes[order])
        return clusters, np.argsort(order)[found.labels]

    def _column(self, name: str) -> np.ndarray:
        return np.concatenate([chunk[name] for chunk in self.chunks()])

    def _question(self) -> tuple[Callable[..., Answer], list[Any]]:
        clusters, labels = self._clusters
        leader = [kind.leader if isinstance(kind, Vertex) else -1 for kind in clusters.kinds]
        columns = {
            "limit_points": self._gathered.run.floats_at("limit"),
            "leader": np.array(leader)[labels],
            "cluster": labels,
        }
        return _limits_of, [self._gathered, columns]


def _of_rows(kind: Kind, rows: np.ndarray) -> Kind:
    """A kind that names candidates, naming them by their rows."""
    if isinstance(kind, Vertex):
        return Vertex(int(rows[kind.leader]))
    if isinstance(kind, FaceProjection):
        return replace(kind, vertices=tuple(rows[list(kind.vertices)].tolist()))
    return kind


class StreamedRun(Streamed):
    """The last layer of a run of a cloud that is read chunk by chunk. Made by `simulate`.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from hardmax import Dynamics, simulate
    >>> with TemporaryDirectory() as folder:
    ...     points = np.memmap(f"{folder}/points", dtype=float, mode="w+", shape=(3, 1))
    ...     points[:] = [[3.0], [-1.0], [1.0]]
    ...     run = simulate(points, Dynamics(1), layers=1)
    ...     [chunk["tokens"].ravel().tolist() for chunk in run.chunks()]
    [[3.0, -1.0, 2.0]]
    """

    @property
    def layers(self) -> int:
        """Last layer of the run."""
        return self._gathered.run.layers

    def _question(self) -> tuple[Callable[..., Answer], list[Any]]:
        return _tokens_of, [self._gathered]


def open_stream(
    tokens: Any,
    dynamics: Dynamics,
    progress: Progress | None,
    arithmetic: Any,
    engine: Any,
    columns: Any,
) -> LocalChunks | DaskChunks:
    """The chunks of a cloud, if it can be read chunk by chunk."""
    check_plain(dynamics, "A cloud that is read chunk by chunk")
    if arithmetic != "certified" or engine not in (None, "cpu", CPU):
        raise InputError(
            "A cloud that is read chunk by chunk needs arithmetic='certified' and engine=None."
        )
    return open_chunks(tokens, progress, columns)
