"""What `limit` and `simulate` return for one cloud that is read chunk by chunk, since it is larger
than memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.columns import write_parquet
from hardmax._common.files import make_folder
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_path, require_extra, shorten
from hardmax._exact.vectors import power
from hardmax._float.search import CPU
from hardmax._layer.rules import check_plain
from hardmax._limits.clusters import FaceProjection, Kind, Vertex, find_clusters
from hardmax._streams.chunks import Blocks, Local, Progress, open_chunks
from hardmax._streams.observers import Core, Scene, Tokens, leaders, observe
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge
from hardmax.dynamics import Dynamics
from hardmax.geometry.polytope import Polytope

if TYPE_CHECKING:
    from dask.array import Array


class Answers(NamedTuple):
    """All that is needed to answer for a chunk: the core, and columns of what to say of each of its
    tokens."""

    dynamics: Dynamics
    scenes: tuple[Scene, ...]
    tokens: Tokens
    columns: dict[str, np.ndarray]


def find_places(tokens: np.ndarray, core: Tokens) -> np.ndarray:
    """Where some tokens are in the core."""
    # Points are numbered as they first appear, and all tokens of the core are different.
    places = merge(Cloud(np.concatenate([core.values, tokens]))).of_token[len(core) :]
    if places.max(initial=-1) >= len(core):
        raise InputError("The tokens have changed since their limit was found.")
    return places


def answer_limits(tokens: np.ndarray, _: int, answers: Answers) -> dict[str, np.ndarray]:
    """The limits of the tokens of a chunk."""
    core = observe(tokens, answers.scenes, answers.dynamics).leader
    others = core < 0
    core[~others] = np.searchsorted(answers.tokens.rows, leaders(answers.scenes))[core[~others]]
    core[others] = find_places(tokens[others], answers.tokens)
    return {name: column[core] for name, column in answers.columns.items()}


def answer_layer(tokens: np.ndarray, _: int, answers: Answers, layer: int) -> dict[str, np.ndarray]:
    """The tokens of a chunk at a layer, to within rounding."""
    scenes, points = answers.scenes[:layer], answers.columns["points"]
    fates = observe(tokens, scenes, answers.dynamics)
    places, since = fates.places, np.where(fates.finished < 0, len(scenes), fates.finished)
    told = (fates.leader >= 0) & ~fates.unsure
    targets = points[np.searchsorted(answers.tokens.rows, leaders(scenes))][fates.leader[told]]
    shares = np.array(
        [float(power(answers.dynamics.contraction, layer - k)) for k in range(len(scenes) + 1)]
    )
    places[told] = targets + shares[since[told]][:, None] * (places[told] - targets)
    others = ~told if layer > len(scenes) else fates.unsure
    places[others] = points[find_places(tokens[others], answers.tokens)]
    return {"points": places}


def _write_part(tokens: np.ndarray, first: int, folder: Path, answer: Any, *arguments: Any) -> None:
    import pyarrow as pa

    found = answer(tokens, first, *arguments)
    points = found.pop("points")
    columns = {"token": first + np.arange(len(points))} | {
        f"z{axis}": column for axis, column in enumerate(points.T)
    }
    write_parquet(folder / f"part-{first:012}.parquet", pa.table(columns | found))


@dataclass(frozen=True, eq=False, repr=False)
class Streamed:
    """What a streamed limit and a streamed run share: what is small, in memory."""

    chunks_in: Local | Blocks
    core: Core

    @property
    def n(self) -> int:
        """Number of tokens."""
        return self.core.count

    @property
    def d(self) -> int:
        """Dimension of the tokens."""
        return self.core.run.d

    @property
    def settled_at(self) -> int | None:
        """The layer from which on every token goes straight to its limit; None if the run did not
        settle."""
        return self.core.run.settled_at

    @property
    def leaders(self) -> np.ndarray:
        """Row numbers of the leaders, increasing; where several tokens are at one place, the first
        of them."""
        return self.core.tokens.rows[self.core.run.leaders]

    @property
    def leader_layers(self) -> np.ndarray:
        """For each of the `leaders` the layer at which it became one."""
        return self.core.run.leader_layers

    @property
    def gathered(self) -> int:
        """How many distinct tokens had to be in memory together."""
        return len(self.core.tokens)

    def _answers(self, **columns: np.ndarray) -> Answers:
        return Answers(self.core.run.dynamics, self.core.scenes, self.core.tokens, columns)

    def _asked(self) -> tuple[Any, ...]:
        """The function that answers for a chunk, and its arguments, of which `Answers` are the
        first."""
        raise NotImplementedError

    def chunks(self) -> Iterator[dict[str, np.ndarray]]:
        """What becomes of the tokens, chunk by chunk: the source is read once more while this is
        iterated over.

        Yields
        ------
        dict
            `points` (n, d), the tokens at the limit or at the last layer; for a limit also
            `leader`, the first token at the leader where each ends, or -1 if it ends elsewhere, and
            `cluster`.
        """
        return iter(self.chunks_in.map(*self._asked()))

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
        asked, target = self._asked(), make_folder(check_path(folder, "`folder`"), "`folder`")
        if any(target.iterdir()):
            raise InputError(
                f"`folder` must be new or empty, not {shorten(str(target))}.", argument="folder"
            )
        for _ in self.chunks_in.map(_write_part, target, *asked):
            pass

    def to_dask(self) -> dict[str, "Array"]:
        """What `chunks` yields as dask arrays in the chunks of the tokens, not computed."""
        if not isinstance(self.chunks_in, Blocks):
            raise InputError(
                "`to_dask` is for tokens that came as a dask array: iterate over `chunks()`."
            )
        import dask.array as da

        asked = self._asked()
        parts = list(zip(self.chunks_in.lazily(*asked), self.chunks_in.sizes, strict=True))

        def lazy(name: str, column: np.ndarray) -> "Array":
            shape, kind = column.shape[1:], column.dtype
            return da.concatenate(
                [da.from_delayed(part[name], (size, *shape), kind) for part, size in parts]
            )

        return {name: lazy(name, column) for name, column in asked[1].columns.items()}

    def __repr__(self) -> str:
        settled = (
            "not settled" if self.settled_at is None else f"settled at layer {self.settled_at}"
        )
        return (
            f"{type(self).__name__}({pluralize(self.n, 'token')} in {pluralize(self.d, 'dimension')}: "
            f"{pluralize(len(self.leaders), 'leader')}, {settled}; {self.gathered:,} gathered)"
        )


class StreamedLimit(Streamed):
    """Infinite-depth limit of a cloud that is read chunk by chunk. Made by `limit`.

    It equals the limit of the same tokens in one array to the bit.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from hardmax import Dynamics, limit
    >>> with TemporaryDirectory() as folder:
    ...     points = np.memmap(f"{folder}/points", dtype=float, mode="w+", shape=(3, 1))
    ...     points[:] = [[3.0], [-1.0], [1.0]]
    ...     found = limit(points, Dynamics(1))
    ...     [chunk["points"].ravel().tolist() for chunk in found.chunks()]
    [[3.0, -1.0, 3.0]]
    >>> found.leaders.tolist(), found.cluster_sizes.tolist(), found.settled_at
    ([0, 1], [2, 1], 0)
    """

    @cached_property
    def polytope(self) -> Polytope:
        """The hull of the leaders; its vertex v is the token `leaders[v]`."""
        run = self.core.run
        return Polytope(run._floats_at(run.layers)[run.leaders], all_vertices=True)

    @property
    def cluster_points(self) -> np.ndarray:
        """The limit of each cluster, (clusters, d); clusters are in the order of their first
        tokens."""
        return self._clusters[0]

    @property
    def cluster_sizes(self) -> np.ndarray:
        """The number of tokens in each cluster."""
        return self._clusters[1]

    @property
    def cluster_kinds(self) -> tuple[Kind, ...]:
        """The kind of each cluster's limit."""
        return self._clusters[2]

    @cached_property
    def _clusters(self) -> tuple[np.ndarray, np.ndarray, tuple[Kind, ...], np.ndarray]:
        """Limits, sizes and kinds of the clusters, and the cluster of each token of the core."""
        if self.settled_at is None:
            raise InputError(
                f"The run has not settled ({self.core.run.stop_reason}): where its tokens end is not known."
            )
        core, rows, found = self.core, self.core.tokens.rows, find_clusters(self.core.run)
        # Tokens of the core count as often as the last pass left them; the others are followers.
        left, leading = (
            find_places(core.left.values, core.tokens),
            np.searchsorted(rows, core.followers.values[:, 0]),
        )
        members = found.labels[np.concatenate([left, leading])]
        counts = np.concatenate([core.left.counts, core.followers.counts])
        first = np.full(len(found), np.iinfo(np.int64).max)
        np.minimum.at(first, members, np.concatenate([core.left.rows, core.followers.rows]))
        order = np.argsort(first)
        kinds = tuple(_of_rows(found.kinds[label], rows) for label in order)
        sizes = np.bincount(members, counts, len(found)).astype(np.int64)[order]
        return found.points[order], sizes, kinds, np.argsort(order)[found.labels]

    def _asked(self) -> tuple[Any, ...]:
        _, _, kinds, labels = self._clusters
        leader = np.array([kind.leader if isinstance(kind, Vertex) else -1 for kind in kinds])
        return answer_limits, self._answers(
            points=self.core.run._floats_at("limit"), leader=leader[labels], cluster=labels
        )


def _of_rows(kind: Kind, rows: np.ndarray) -> Kind:
    """A kind that names tokens of the core, naming them by their rows."""
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
    >>> from hardmax import Dynamics, LastOnly, simulate
    >>> with TemporaryDirectory() as folder:
    ...     points = np.memmap(f"{folder}/points", dtype=float, mode="w+", shape=(3, 1))
    ...     points[:] = [[3.0], [-1.0], [1.0]]
    ...     run = simulate(points, Dynamics(1), layers=1, record=LastOnly())
    ...     [chunk["points"].ravel().tolist() for chunk in run.chunks()]
    [[3.0, -1.0, 2.0]]
    """

    @property
    def layers(self) -> int:
        """Last layer of the run."""
        return self.core.run.layers

    def _asked(self) -> tuple[Any, ...]:
        return (
            answer_layer,
            self._answers(points=self.core.run._floats_at(self.layers)),
            self.layers,
        )


def open_stream(
    tokens: Any, dynamics: Dynamics, progress: Progress, arithmetic: Any, engine: Any
) -> Local | Blocks:
    """The chunks of a cloud, if it can be read chunk by chunk."""
    check_plain(dynamics, "A cloud that is read chunk by chunk")
    if arithmetic != "certified" or engine not in (None, "cpu", CPU):
        raise InputError(
            "A cloud that is read chunk by chunk needs arithmetic='certified' and engine=None."
        )
    return open_chunks(tokens, progress)
