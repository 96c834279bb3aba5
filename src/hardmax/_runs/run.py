"""What a simulation returns: `Run` for one cloud, `Runs` for a batch."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

import numpy as np

from hardmax import figures
from hardmax._common.cached import cached_property
from hardmax._common.columns import Columns, Tabular, stacked
from hardmax._common.format import pluralize
from hardmax._common.progress import Reporting
from hardmax._common.validation import (
    InputError,
    check_bool,
    check_int,
    check_path,
    normalize_index,
    shorten,
)
from hardmax._exact.general import GeneralPhase
from hardmax._layer.attended import AttendedSets
from hardmax._layer.rules import merge_points
from hardmax._runs.batch import Kernel
from hardmax._tokens.batches import Cloud, Container, PackedClouds, restore, restore_table
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import rounding_of
from hardmax._tokens.tensors import TensorKind, is_tensor
from hardmax.dynamics import Dynamics
from hardmax.figures.pictured import Pictured
from hardmax.page import cloud_data, write_page

Table = np.ndarray  # or a tensor, if the tokens came as one
Tables = Any  # an array, a list of arrays or Clouds, as the tokens came
Layer = int | Literal["limit"]
T = TypeVar("T")

try:
    MEMORY = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")  # bytes
except (AttributeError, ValueError, OSError):  # not everywhere does the system say
    MEMORY = 16 * 2**30


def is_limit(layer: Any) -> bool:
    """Whether the limit is asked for, and not a layer."""
    return isinstance(layer, str) and layer == "limit"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Run(Tabular):
    """Run of one cloud: a sequence of its layers, each computed when it is asked for. Made by
    `simulate`.

    As a table it has a row for each token at each layer: layer, token, z0, z1, …, `leader`,
    `attends`.

    Examples
    --------
    >>> from hardmax import Dynamics, simulate
    >>> run = simulate([[3.0], [-1.0], [1.0]], Dynamics(1), layers=2)
    >>> run
    Run(3 tokens in 1 dimension, 2 layers, 2 leaders, settled at layer 0, certified)
    >>> run[2].ravel().tolist(), len(run), run.leaders.tolist()
    ([3.0, -1.0, 2.5], 3, [0, 1])
    >>> run.at("limit").ravel().tolist(), run.at(2, exact=True)[2].tolist()
    ([3.0, -1.0, 3.0], [Fraction(5, 2)])
    """

    dynamics: Dynamics
    """What a layer does."""
    points: Points
    """Distinct tokens, with multiplicities."""
    phases: tuple[Any, ...]
    """Ranges of layers in which no attended set changes: all of them, or the first and the last
    where they would take too much memory."""
    layers: int
    """Last layer of the run."""
    settled_at: int | None
    """First layer from which no attended set ever changes; None if the run did not get there."""
    stop_reason: str
    """Why the run ended."""
    arithmetic: str
    """What decided the attended sets: "certified" floats, "exact" integers (at least once),
    "enclosed" balls, or "float"."""
    leader_since: np.ndarray
    """For each point the layer at which it became a leader, or -1."""
    decided_at: tuple[int, ...]
    """Layers at which attended sets were computed; between them nothing changes."""
    decided_by: tuple[str, ...]
    """Search that found the attended sets there; with "integers", if they had to decide."""
    margins: np.ndarray
    """There, a lead of every attended token over those not attended.

    Relative to R^2 times the Frobenius norm of the metric (1 for the identity), R the largest norm.
    At the first layer the CPU finds the smallest lead, or 0 if tokens of such different sizes were
    not compared. Later, and on a GPU, it may be less: tokens far inside are not compared. Tokens
    that follow a leader for ever do not count."""
    solver: Any = None
    """What computes phases that were not kept."""
    tensor_kind: TensorKind | None = None
    """The kind of tensors in which the tokens came."""

    @property
    def n(self) -> int:
        """Number of tokens."""
        return self.points.tokens

    @property
    def d(self) -> int:
        """Dimension of the tokens."""
        return self.points.dimension

    @property
    def certified(self) -> bool:
        """Whether every attended set is that of real arithmetic."""
        return self.arithmetic != "float"

    @cached_property
    def leaders(self) -> np.ndarray:
        """Tokens that attend to themselves alone, from some layer on. Once a leader, always a
        leader, unless there is a value matrix; tokens that stop leading are not listed."""
        return np.flatnonzero(self.leader_since[self.points.of_token] >= 0)

    @cached_property
    def leader_layers(self) -> np.ndarray:
        """For each of the `leaders` the layer at which it became one."""
        return self.leader_since[self.points.of_token][self.leaders]

    @cached_property
    def moving(self) -> np.ndarray:
        """Tokens that move for ever, to infinity, as a value matrix may make them."""
        last = self.phases[-1]
        if self.dynamics.value is None or not isinstance(last, GeneralPhase):
            return np.empty(0, dtype=int)
        return np.flatnonzero(np.isin(self.points.of_token, last.moving))

    @cached_property
    def error(self) -> float:
        """No token at a layer of the run is further than this from its exact position; nan if
        nothing is proved."""
        if isinstance(self.phases[-1], GeneralPhase) and self.dynamics.traits.convex:
            # The hull shrinks: no token is ever longer than the longest at the start.
            return rounding_of(self.points.floats)
        return max(phase.error for phase in self.phases)

    @cached_property
    def leader_of(self) -> np.ndarray:
        """For each token the first token at the leader that it follows; all -1 if some follow no
        leader for ever."""
        choices, of_token = self.phases[-1].choices, self.points.of_token
        traits = self.dynamics.traits
        ends_there = traits.convex and not traits.tells_copies_apart
        is_known = ends_there and self.settled_at is not None and choices.all_single
        if not is_known or self.leader_since[choices.indices].min() < 0:
            return np.full(self.n, -1)
        return self.points.first_tokens[choices.indices[of_token]]

    def at(self, layer: Layer, *, exact: bool = False) -> Table:
        """Tokens at any layer, or their limits, (n, d). Free once the cloud has settled.

        Parameters
        ----------
        layer : int or "limit"
            A layer of the run, or any later one if the run settled; "limit" for the limit of every
            token, if the run settled.
        exact : bool, default False
            Return Fractions, if layers are rational and the run is certified; refused if they would
            have more than 100,000 digits, unless nothing moves.

        Returns
        -------
        ndarray or Tensor
            float64, or a tensor if tensors were given.
        """
        if check_bool(exact, "`exact`"):
            return self._exact_at(layer)
        table = self.points.spread(self._table_at(layer))
        if self.tensor_kind is not None:
            given: Any = self.tensor_kind.tensor(table)
            return given
        return table

    def floats_at(self, layer: Layer) -> np.ndarray:
        """`at` in float64, whatever was given.

        Parameters
        ----------
        layer : int or "limit"
            As for `at`.
        """
        table = self.points.spread(self._table_at(layer))
        return table if isinstance(table, np.ndarray) else table.cpu().numpy()

    def _table_at(self, layer: Layer) -> Any:
        """The points, in an array or a tensor."""
        if is_limit(layer):
            return self._last_phase().ends()
        return self.phase_at(layer).table_at(layer)

    def _exact_at(self, layer: Layer) -> np.ndarray:
        everybody = range(self.points.count)
        if is_limit(layer):
            vectors = self.exactly(self._last_phase()).targets(everybody)
        else:
            phase = self.phase_at(layer)
            vectors = self.exactly(phase).later(everybody, layer - phase.layer)
        return np.array(vectors, dtype=object)[self.points.of_token]

    def attended(self, layer: int) -> AttendedSets:
        """For each token those that it attends to at a layer.

        Parameters
        ----------
        layer : int
            A layer of the run, or any later one if the run settled.
        """
        phase = self.phase_of(layer)
        if phase.choices is None:
            raise InputError(f"`layer` {layer}: {self.stop_reason}.")
        return AttendedSets(phase.choices, self.points)

    def phase_at(self, layer: Any) -> Any:
        """A phase that covers a layer: one that was kept, or one computed again.

        Parameters
        ----------
        layer : int
            As for `at`.
        """
        layer, last = check_int(layer, "`layer`", at_least=0), self.phases[-1]
        if layer > self.layers and last.until is not None:
            raise InputError(
                f"`layer` {shorten(layer)} lies beyond layer {self.layers:,}, the last one: "
                f"{self.stop_reason}. Simulate more layers."
            )
        for phase in reversed(self.phases):
            # Its closed form gives the tokens at `until`, too.
            if phase.layer <= layer and (phase.until is None or layer <= phase.until):
                return phase
        return self._recompute_phase(layer)

    def phase_of(self, layer: int) -> Any:
        """The phase whose attended sets are those of a layer.

        Parameters
        ----------
        layer : int
            As for `at`.
        """
        # Positions at the end of a phase are known, but the sets there belong to the next one.
        phase = self.phase_at(layer)
        return phase if layer != phase.until else self._recompute_phase(layer)

    def _last_phase(self) -> Any:
        """The phase that lasts for ever."""
        if self.settled_at is None:
            raise InputError(
                "The run has not settled: where its tokens end is not known. Simulate more layers."
            )
        return self.phases[-1]

    def exactly(self, phase: Any) -> Any:
        """Exact positions in a phase, computed again if the phase came from a GPU.

        Parameters
        ----------
        phase : Phase
            One of the phases of this run.
        """
        if self.arithmetic in ("float", "enclosed"):
            reason = "'float' proves nothing: use 'certified'"
            if self.certified:
                reason = "coordinates are irrational, and enclosed within `error`"
            raise InputError(f"`exact`: {reason}.")
        if phase.exactly is None:
            phase = next(again for again in self.exact_phases() if again.layer == phase.layer)
        return phase.exactly

    def exact_phases(self) -> Iterator[Any]:
        """All phases, computed again by the processor, which keeps exact positions."""
        return iter(self.solver.exact.phases(self.points, self.dynamics))

    def _recompute_phase(self, layer: int) -> Any:
        """The phase whose attended sets are those of a layer, computed again."""
        phases = self.solver.phases(self.points, self.dynamics)
        return next(phase for phase in phases if phase.until is None or layer < phase.until)

    def __len__(self) -> int:
        return self.layers + 1

    def __bool__(self) -> bool:
        return True  # `len` is refused where there are more layers than Python counts

    def __iter__(self) -> Iterator[Table]:
        return map(self.at, range(self.layers + 1))

    def __getitem__(self, index: int) -> Table:
        return self.at(normalize_index(index, self.layers + 1, "`index`"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("A run has no array to share: its layers are computed.")
        count = self.layers + 1
        needed = 8 * count * self.n * self.d
        if needed > MEMORY:
            raise InputError(
                f"{count:,} layers of {self.n:,} tokens in {self.d} dimensions need "
                f"{needed // 10**9:,} GB, more than this machine has ({MEMORY / 1e9:,.1f} GB). "
                "Take single layers by `at`.",
            )
        return np.array([self.floats_at(layer) for layer in range(count)], dtype=dtype)

    def _columns(self) -> Columns:
        n, d = self.n, self.d
        path = np.asarray(self).reshape(-1, d)  # refused if there are too many layers
        layers, since = np.arange(len(self)), np.full(n, len(self))  # later than any layer
        since[self.leaders] = self.leader_layers
        columns: Columns = {"layer": np.repeat(layers, n)}
        columns["token"] = np.tile(np.arange(n), len(layers))
        columns |= {f"z{axis}": path[:, axis] for axis in range(d)}
        columns["leader"] = (layers[:, None] >= since).ravel()
        columns["attends"] = [
            attended.tolist() for layer in layers.tolist() for attended in self.attended(layer)
        ]
        return columns

    def plot(self, layers: int | Sequence[int] | None = None, *, ax: Any = None) -> Any:
        """Draw the tokens at a layer: leaders, which token attends to which, and the paths so far
        (extra `figures`).

        Parameters
        ----------
        layers : int or list of int, optional
            The last layer by default; several are drawn side by side. Tokens of more than three
            dimensions are shown by principal coordinates.
        ax : matplotlib Axes, or a list of them for several layers, optional
            Where to draw; by default a new figure with a legend.

        Returns
        -------
        matplotlib Axes, or a list of them for several layers
            The axes.
        """
        return figures.plot_run(self, layers, ax)

    def save(self, path: str | Path) -> None:
        """Write a page or a film, completely or not at all; the suffix says which.

        Parameters
        ----------
        path : str or Path
            ``.html``: a page that runs this cloud in any browser, without a network: drag tokens,
            change alpha, play the layers; up to 2,000 tokens. ``.gif`` or ``.mp4``: a film in which
            every frame is a layer, if there are many only some (extra `figures`; the program ffmpeg
            for mp4).
        """
        path = check_path(path)
        suffix = path.suffix.lower()
        if suffix in (".gif", ".mp4"):
            figures.animate_run(self, path)
        elif suffix in (".html", ".htm"):
            cloud = cloud_data(self.points, self.dynamics)
            write_page(path, {"room": "dynamics", "cloud": cloud})
        else:
            wish = "must end in .html, .gif or .mp4"
            way = "`to_pandas()` gives a table"
            raise InputError(f"`path` {wish}, not {path.suffix!r}; {way}.")

    def __repr__(self) -> str:
        settled = (
            "not settled" if self.settled_at is None else f"settled at layer {self.settled_at}"
        )
        return (
            f"Run({pluralize(self.n, 'token')} in {pluralize(self.d, 'dimension')}, "
            f"{pluralize(self.layers, 'layer')}, {pluralize(len(self.leaders), 'leader')}, "
            f"{settled}, {self.arithmetic})"
        )


def points_of(cloud: Cloud, dynamics: Dynamics) -> Points:
    """The tokens of a cloud, equal ones merged; tensors stay on their device."""
    if is_tensor(cloud.tokens):
        from hardmax._runs.tensors import merge_on_device

        return merge_on_device(cloud)
    return merge_points(dynamics, cloud)


class Runs(Tabular, Pictured, Sequence[Run]):
    """Runs of the clouds of a batch: a sequence of `Run`, with the same attributes as arrays or
    lists. Made by `simulate`.

    Many small clouds are run by one kernel, which knows where they are and who leads; what else is
    asked of a single cloud is computed then. As a table it has the rows of every `Run`, with a
    column `cloud` before them. Its picture: how many clouds have how many leaders.

    Examples
    --------
    >>> from hardmax import Dynamics, simulate
    >>> runs = simulate([[[1.0], [2.0]], [[3.0]]], Dynamics(1), layers=1)
    >>> [cloud.tolist() for cloud in runs.at(1)]
    [[[1.5], [2.0]], [[3.0]]]
    """

    _figure = "plot_counts"

    def __init__(
        self,
        clouds: Sequence[Cloud],
        container: Container,
        dynamics: Dynamics,
        walk: Callable[[Points], Run],
        kernel: Kernel | None = None,
    ) -> None:
        self._clouds, self._container, self._dynamics = clouds, container, dynamics
        self._walk, self._kernel = walk, kernel
        self._walked: dict[int, Run] = {}
        left, report = range(len(clouds)) if kernel is None else kernel.left, Reporting("clouds")
        for done, cloud in enumerate(left, len(clouds) + 1 - len(left)):
            self._walked[cloud] = self._run_of(cloud)
            report(done, len(clouds))

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | ({"_walk": None} if self._kernel is None else {})

    def __len__(self) -> int:
        return len(self._clouds)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | Sequence[Run]:
        if isinstance(index, slice):
            return [self[cloud] for cloud in range(len(self))[index]]
        cloud = normalize_index(index, len(self), "`index`")
        return self._walked.get(cloud) or self._run_of(cloud)

    def _run_of(self, cloud: int) -> Run:
        return self._walk(points_of(self._clouds[cloud], self._dynamics))

    def at(self, layer: Layer) -> Tables:
        """Tokens of all clouds at a layer, or their limits, in the form in which they were given.

        Parameters
        ----------
        layer : int or "limit"
            A layer of all the runs, or any later one if they settled; "limit" for the limits of all
            tokens, if all clouds settled.
        """
        counts = self._clouds.multiplicities if isinstance(self._clouds, PackedClouds) else None
        kernel = self._kernel
        if kernel is None:
            return restore(self._container, [run.at(layer) for run in self], counts)
        number = None if is_limit(layer) else check_int(layer, "`layer`", at_least=0)
        if (number is None or number > kernel.layers) and None in self.settled_at:
            cloud = self.settled_at.index(None)
            raise InputError(f"`layer` {shorten(layer)}: cloud {cloud} has not settled.")
        table = kernel.at(number)
        for cloud, run in self._walked.items():
            table[kernel.rows_of(cloud)] = run.floats_at(layer)
        return restore_table(self._container, table, kernel.clouds.offsets, counts)

    def _of_each(self, known: Callable[[Kernel, int], T], of_run: Callable[[Run], T]) -> list[T]:
        """An entry for each cloud: from the kernel, or from its run."""
        kernel, walked = self._kernel, self._walked
        return [
            known(kernel, cloud)
            if kernel is not None and cloud not in walked
            else of_run(walked[cloud])
            for cloud in range(len(self))
        ]

    @property
    def n(self) -> np.ndarray:
        """Number of tokens of each cloud."""
        return np.array([len(cloud.tokens) for cloud in self._clouds])

    @property
    def d(self) -> int:
        """Dimension of the tokens."""
        return self._clouds[0].tokens.shape[1]

    @cached_property
    def settled_at(self) -> list[int | None]:
        """Layer at which each cloud settled; None if it did not."""
        return self._of_each(Kernel.settled_at, lambda run: run.settled_at)

    @cached_property
    def leaders(self) -> list[np.ndarray]:
        """Leaders of each cloud."""
        return self._of_each(lambda kernel, b: kernel.leaders(b)[0], lambda run: run.leaders)

    @cached_property
    def leader_layers(self) -> list[np.ndarray]:
        """For each of the leaders of each cloud the layer at which it became one."""
        return self._of_each(lambda kernel, b: kernel.leaders(b)[1], lambda run: run.leader_layers)

    @cached_property
    def leader_of(self) -> list[np.ndarray]:
        """For each token of each cloud the first token at the leader that it follows for ever; all
        -1 if some follow none."""
        return self._of_each(Kernel.leader_of, lambda run: run.leader_of)

    @cached_property
    def error(self) -> np.ndarray:
        """No token of each cloud is further than this from its exact position; nan if nothing is
        proved."""
        return np.array(self._of_each(Kernel.error, lambda run: run.error))

    @cached_property
    def certified(self) -> np.ndarray:
        """Whether every attended set of each cloud is that of real arithmetic."""
        return np.array(self._of_each(lambda *_: True, lambda run: run.certified))

    @property
    def stop_reason(self) -> list[str]:
        """Why the run of each cloud ended."""
        return [run.stop_reason for run in self]

    def _columns(self) -> Columns:
        return stacked([run._columns() for run in self])

    def __repr__(self) -> str:
        settled = sum(layer is not None for layer in self.settled_at)
        return f"Runs({pluralize(len(self), 'cloud')}, {settled:,} settled)"
