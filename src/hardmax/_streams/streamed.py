"""What `limit` returns for one cloud that is read chunk by chunk, since it is larger than
memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.columns import write_parquet
from hardmax._common.files import make_folder
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_path, require_extra, shorten
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
from hardmax._runs.run import Run
from hardmax._runs.walk import Plan, run_points
from hardmax._streams.chunks import DaskChunks, LocalChunks, open_chunks
from hardmax._streams.passes import Candidates, gather, run_beside
from hardmax.dynamics import Dynamics

Columns = dict[str, np.ndarray]


def _limits_of(
    tokens: np.ndarray, _: int, known: Candidates, plan: Plan, columns: Columns
) -> Columns:
    """Of each token of a chunk what is said of the candidate that ends where it does."""
    run, place = run_beside(tokens, known, plan)
    choices = run.phases[-1].choices
    ends = choices.firsts.copy()
    ends[: len(known)] = np.arange(len(known))
    if ends.max() >= len(known):
        raise InputError("The tokens have changed since their limit was found.")
    return {name: column[ends[place]] for name, column in columns.items()}


def _write_part(tokens: np.ndarray, first: int, folder: Path, *what: Any) -> None:
    import pyarrow as pa

    found = _limits_of(tokens, first, *what)
    points = found.pop("limit_points")
    columns = {"token": first + np.arange(len(tokens))}
    columns |= {f"z{axis}": column for axis, column in enumerate(points.T)}
    write_parquet(folder / f"part-{first:012}.parquet", pa.table(columns | found))


@dataclass(frozen=True, eq=False, repr=False)
class StreamedLimit:
    """Infinite-depth limit of a cloud that is read chunk by chunk. Made by `limit`.

    What is small has the names that it has in `Limit`; `chunks` yields the rest.

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
    >>> lim.distinct_leaders.tolist(), lim.clusters().sizes.tolist(), lim.settled_at
    ([0, 1], [2, 1], 0)
    """

    n: int
    """Number of tokens."""
    settled_at: int | None
    """The layer from which on every token goes straight to its limit; None if the run did not
    settle."""
    _source: LocalChunks | DaskChunks
    _known: Candidates
    """Those who have to be in memory together."""
    _run: Run
    """Theirs."""
    _plan: Plan

    @property
    def d(self) -> int:
        """Dimension of the tokens."""
        return self._run.d

    @property
    def certified(self) -> bool:
        """Whether the limit is proved."""
        return self.settled_at is not None

    @property
    def distinct_leaders(self) -> np.ndarray:
        """Row number of the first leader at each position where there is one, increasing."""
        return self._known.rows[self._run.leaders]

    @property
    def n_in_memory(self) -> int:
        """How many distinct tokens had to be in memory together."""
        return len(self._known)

    @property
    def limit_error(self) -> float:
        """No limit is further than this from `limit_points`, even if the run did not settle."""
        return limit_error(self._run)

    def clusters(self) -> Clusters:
        """Tokens with equal limits: the source is read once more to count them.

        Returns
        -------
        Clusters
            Without `labels`: `chunks` yields them.
        """
        return self._clusters[0]

    def chunks(self) -> Iterator[Columns]:
        """Where the tokens end, chunk by chunk: the source is read while this is iterated over.

        Yields
        ------
        dict
            `limit_points`; `leader`, the first token at the leader where each ends, or -1 if it
            ends elsewhere; and `cluster`.
        """
        return iter(self._source.map(_limits_of, *self._question()))

    def write(self, folder: str | Path) -> None:
        """Write a Parquet file for each chunk (extra `tables`).

        Parameters
        ----------
        folder : str or Path
            A new folder, or an empty one. Each part is written completely or not at all; its
            columns are `token` (the row number), z0, z1, …, `leader` and `cluster`.
        """
        require_extra("`write`", "tables", "pyarrow")
        question = self._question()
        target = make_folder(check_path(folder, "`folder`"), "`folder`")
        if any(target.iterdir()):
            raise InputError(f"`folder` must be new or empty, not {shorten(str(target))}.")
        for _ in self._source.map(_write_part, target, *question):
            pass

    def __repr__(self) -> str:
        layer = self.settled_at
        settled = "not settled" if layer is None else f"settled at layer {layer}"
        size = f"{pluralize(self.n, 'token')} in {pluralize(self.d, 'dimension')}"
        leaders = pluralize(len(self.distinct_leaders), "distinct leader")
        return f"StreamedLimit({size}: {leaders}, {settled}; {self.n_in_memory:,} in memory)"

    @cached_property
    def _clusters(self) -> tuple[Clusters, np.ndarray]:
        """The clusters of the cloud, and the cluster of each candidate."""
        if self.settled_at is None:
            reason = self._run.stop_reason
            raise InputError(f"Where tokens end is not known: the run has not settled ({reason}).")
        found, rows = find_clusters(self._run), self._known.rows
        sizes, first = np.zeros(len(found), dtype=np.int64), np.full(len(found), self.n)
        row = 0
        for chunk in self._source.map(_limits_of, self._known, self._plan, {"label": found.labels}):
            labels = chunk["label"]
            np.minimum.at(first, labels, row + np.arange(len(labels)))
            sizes += np.bincount(labels, minlength=len(found))
            row += len(labels)
        order = np.argsort(first)
        kinds = tuple(_of_rows(found.kinds[label], rows) for label in order)
        clusters = Clusters(np.empty(0, dtype=np.int64), found.limit_points[order], kinds)
        vars(clusters)["sizes"] = sizes[order]
        return clusters, np.argsort(order)[found.labels]

    def _question(self) -> tuple[Candidates, Plan, Columns]:
        """What `_limits_of` needs."""
        clusters, labels = self._clusters
        leader = [kind.leader if isinstance(kind, Vertex) else -1 for kind in clusters.kinds]
        ends = self._run.floats_at("limit")
        columns = {"limit_points": ends, "leader": np.array(leader)[labels], "cluster": labels}
        return self._known, self._plan, columns


def _of_rows(kind: Kind, rows: np.ndarray) -> Kind:
    """A kind that names candidates, naming them by their rows."""
    if isinstance(kind, Vertex):
        return Vertex(int(rows[kind.leader]))
    if isinstance(kind, FaceProjection):
        return replace(kind, vertices=tuple(rows[list(kind.vertices)].tolist()))
    return kind


def stream_limit(
    tokens: Any,
    dynamics: Dynamics,
    *,
    max_layers: int | None,
    arithmetic: str,
    columns: Any,
    engine: Any,
) -> StreamedLimit:
    """`limit` of a cloud that is read chunk by chunk."""
    check_plain(dynamics, "A cloud that is read chunk by chunk")
    if arithmetic != "certified" or engine not in (None, "cpu", CPU):
        wish = "arithmetic='certified' and engine=None"
        raise InputError(f"A cloud that is read chunk by chunk needs {wish}.")
    return limit_of(open_chunks(tokens, columns), dynamics, max_layers)


def limit_of(
    chunks: LocalChunks | DaskChunks, dynamics: Dynamics, max_layers: int | None = None
) -> StreamedLimit:
    """The limit of the cloud in chunks."""
    whole, plan = gather(chunks, dynamics, max_layers)
    settled_at = whole.horizon if whole.has_settled else None
    run = run_points(whole.found.points, plan)
    return StreamedLimit(whole.n, settled_at, chunks, whole.found, run, plan)
