"""What a simulation returns: `Trajectory` for one cloud, `Trajectories` for a batch."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, overload

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.columns import Columns, Tabular, stacked
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_int, check_path, normalize_index, shorten
from hardmax._exact.general import GeneralPhase, GeneralSolver
from hardmax._exact.positions import ExactPhase, ExactView, PhaseView
from hardmax._exact.vectors import fractions_table
from hardmax._float.search import CPU
from hardmax._float.solver import FloatPhase
from hardmax._layer.attended import AttendedSets
from hardmax._layer.parts import Steps
from hardmax._tokens.batches import Form, restore
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import rounding_of
from hardmax._tokens.tensors import TensorKind
from hardmax.dynamics import Dynamics
from hardmax.engines import Solver, solvers_for, walk

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Table: TypeAlias = np.ndarray  # or a tensor, if the tokens came as one
Tables: TypeAlias = Any  # an array, a list of arrays or a Ragged, as the tokens came


class Known(NamedTuple):
    """What the kernel of a batch knows of a run before its phases are known."""

    make: Callable[[], "Trajectory"]
    last: np.ndarray  # tokens at the last layer
    ends: Callable[[], np.ndarray]
    leader_of: Callable[[], np.ndarray]


class Stored:
    """What `Trajectory` and `Trajectories` share: files."""

    def save(self, path: str | Path) -> None:
        """Write an `.npz` file, completely or not at all.

        Parameters
        ----------
        path : str or Path
            Name of the file. `hardmax simulate` can read it, too, and go on from the last layer.
        """
        from hardmax._runs.files import save

        save(self, check_path(path))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save` wrote, and walk it again; tensors become arrays.

        Parameters
        ----------
        path : str or Path
            Name of the file.
        """
        from hardmax._runs.files import load

        return load(check_path(path), cls)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Trajectory(Stored, Tabular):
    """Run of one cloud, a sequence of its recorded layers. `simulate` makes it.

    As a table it has a row for each token at each recorded layer: layer, token, z0, z1, …,
    `leader`, `attends`.

    Examples
    --------
    >>> from hardmax import Dynamics, simulate
    >>> run = simulate([[3.0], [-1.0], [1.0]], Dynamics(1), layers=2)
    >>> run
    Trajectory(3 tokens in 1 dimension, 2 layers, 2 leaders, settled at layer 0, certified)
    >>> run[2].ravel().tolist(), len(run), run.leaders.tolist()
    ([3.0, -1.0, 2.5], 3, [0, 1])
    """

    points: Points
    """Distinct tokens, with multiplicities."""
    dynamics: Dynamics
    """Step size and metric."""
    solver: Solver
    """What computed the layers."""
    phases: tuple[FloatPhase | ExactPhase | GeneralPhase, ...]
    """Ranges of layers in which no attended set changes: those with a recorded layer."""
    recorded: tuple[int, ...]
    """Layers in `tokens`."""
    leader_since: np.ndarray
    """For each point the layer at which it became a leader, or -1."""
    margins: np.ndarray
    """At each of the layers `decided_at`, a lead of every attended token over those not attended.

    Relative to R^2 times the Frobenius norm of the metric (1 for the identity), R the largest norm.
    At the first layer the CPU finds the smallest lead, or 0 if tokens of such different sizes were
    not compared. Later, and on a GPU, it may be less: tokens far inside are not compared. Tokens
    that follow a leader for ever do not count."""
    decided_by: dict[int, str]
    """Search that found the attended sets at each of the layers `decided_at`, or "integers"."""
    settled_at: int | None
    """First layer from which no attended set ever changes; None if the run did not get there."""
    stopped: str
    """Why the run ended."""
    tensor_kind: TensorKind | None = None
    """Kind of tensor that the tokens were given as, if they were."""
    known: Known | None = None
    """What is known already, if the phases are not."""

    @classmethod
    def _of_known(cls, known: Known, leader_since: np.ndarray, **fields: Any) -> "Trajectory":
        """A run of which these fields are known, and since when each token leads; the others follow
        on request."""
        run, (leaders,) = cls.__new__(cls), np.nonzero(leader_since >= 0)
        vars(run).update(fields, known=known, leaders=leaders, leader_layers=leader_since[leaders])
        return run

    def __getattr__(self, name: str) -> Any:
        # Called only for what is missing: fields of a run whose phases are not known yet.
        if self.known is None or name not in Trajectory.__dataclass_fields__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        vars(self).update(vars(self.known.make()) | vars(self))
        return vars(self)[name]

    def __getstate__(self) -> dict[str, Any]:
        # What is known of one cloud refers to the whole batch.
        return (
            vars(self)
            if self.known is None
            else vars(self.known.make()) | vars(self) | {"known": None}
        )

    @property
    def n(self) -> int:
        """Number of tokens."""
        return self.points.tokens if self.known is None else len(self.known.last)

    @property
    def d(self) -> int:
        """Dimension of the tokens."""
        return self.points.dimension if self.known is None else self.known.last.shape[1]

    @property
    def layers(self) -> int:
        """Last layer of the run."""
        return self.recorded[-1]

    @property
    def arithmetic(self) -> str:
        """What decided the attended sets: "certified" floats, "exact" integers (at least once), or
        "float"."""
        if self.known is not None:
            return "certified"
        by_integers = any("integers" in searches for searches in self.decided_by.values())
        return "exact" if by_integers else self.solver.arithmetic

    @property
    def certified(self) -> bool:
        """Whether every attended set is that of real arithmetic."""
        return self.solver.arithmetic != "float"

    @cached_property
    def tokens(self) -> Table:
        """Tokens at every recorded layer, (recorded layers, n, d): float64, or a tensor if tensors
        were given."""
        return self._returned(np.asarray(self))

    def at(self, layer: int) -> Table:
        """Tokens at any layer, (n, d): float64, or a tensor if tensors were given. Free once the
        cloud has settled.

        Parameters
        ----------
        layer : int
            A layer of the run, or any later one if the run settled.
        """
        return self._returned(self.floats_at(layer))

    def ends(self) -> Table:
        """Limit of every token, (n, d), as `at` returns tokens; the run must have settled."""
        return self._returned(self.float_ends())

    def floats_at(self, layer: int) -> np.ndarray:
        """Tokens at any layer as float64, whatever was given.

        Parameters
        ----------
        layer : int
            As for `at`.
        """
        if self.known is not None and check_int(layer, "`layer`", at_least=0) == self.layers:
            return self.known.last.copy()
        return self.phase_at(layer).floats_at(layer)[self.points.of_token]

    def float_ends(self) -> np.ndarray:
        """`ends` as float64, whatever was given."""
        if self.known is not None and self.settled_at is not None:
            return self.known.ends().copy()
        targets = self._last_phase().targets
        return (targets if isinstance(targets, np.ndarray) else targets.floats())[
            self.points.of_token
        ]

    def leader_of(self) -> np.ndarray:
        """For each token the first token at the leader that it follows; all -1 if some follow no
        leader for ever."""
        if self.known is not None:
            return self.known.leader_of()
        choices, of_token = self.phases[-1].choices, self.points.of_token
        # A mask keeps equal leaders apart, and followers may stop short of their leader if steps
        # follow a rule.
        ends_there = self.dynamics.value is None and self.dynamics.mask is None
        ends_there = ends_there and not isinstance(self.dynamics.steps, Steps)
        if not ends_there or self.settled_at is None or not choices.all_single:
            return np.full(self.n, -1)
        if self.leader_since[choices.indices].min() < 0:
            return np.full(self.n, -1)
        return np.unique(of_token, return_index=True)[1][choices.indices[of_token]]

    def exact_at(self, layer: int) -> np.ndarray:
        """Tokens at any layer as Fractions, (n, d), if the run is certified.

        Parameters
        ----------
        layer : int
            As for `at`; refused if the fractions would have more than 100,000 digits, unless nobody
            moves.
        """
        phase = self.phase_at(layer)
        points = self._exactly(phase).later(range(self.points.count), layer - phase.layer)
        return fractions_table(points)[self.points.of_token]

    def _exactly(self, phase: FloatPhase | ExactPhase | GeneralPhase) -> ExactView | PhaseView:
        """Exact positions in a phase, computed again if the phase came from a GPU."""
        if not self.certified:
            raise InputError(
                f"Exact positions need a proof, which {self.arithmetic!r} has none: use 'certified'."
            )
        if phase.exactly is None:
            phase = next(again for again in self.walk_again() if again.layer == phase.layer)
        assert phase.exactly is not None, "the CPU keeps exact positions"
        return phase.exactly

    def attended(self, layer: int) -> AttendedSets:
        """For each token those that it attends to at a layer.

        Parameters
        ----------
        layer : int
            As for `at`.
        """
        phase = self.phase_at(layer)
        if layer == phase.until:
            # Positions at the end of a phase are known, but the attended sets there belong to the
            # next one.
            phase = self._walk_to(layer)
        return AttendedSets(phase.choices, self.points)

    @cached_property
    def leaders(self) -> np.ndarray:
        """Tokens that attend to themselves alone, from some layer on. Once a leader, always a
        leader: unless there is a value matrix, with which those that lost it do not count."""
        return np.flatnonzero(self.leader_since[self.points.of_token] >= 0)

    @cached_property
    def leader_layers(self) -> np.ndarray:
        """For each of the `leaders` the layer at which it became one."""
        return self.leader_since[self.points.of_token][self.leaders]

    @cached_property
    def moving(self) -> np.ndarray:
        """Tokens that are proved to move for ever, which needs a value matrix: to infinity, if the
        run has settled, or within bounds, with attended sets that never stop changing."""
        if self.dynamics.value is None:
            return np.empty(0, dtype=np.int64)
        last = self.phases[-1]
        return np.flatnonzero(
            np.isin(self.points.of_token, last.moving if isinstance(last, GeneralPhase) else ())
        )

    @property
    def decided_at(self) -> tuple[int, ...]:
        """Layers at which attended sets had to be computed; between them nothing changes."""
        return tuple(self.decided_by)

    @property
    def smallest_margin(self) -> float:
        """The smallest of the `margins`."""
        return float(self.margins.min())

    @cached_property
    def error(self) -> float:
        """No token at a recorded layer is further than this from its exact position; nan if nothing
        is proved."""
        last = self.phases[-1]
        if isinstance(last, FloatPhase):
            return last.error
        if self.dynamics.value is not None:
            return rounding_of(np.asarray(self).reshape(-1, self.d))
        # The hull shrinks: no token is ever longer than the longest at the start.
        return rounding_of(self.points.floats)

    def phase_at(self, layer: int) -> Any:
        """A phase that covers a layer: a recorded one, or one computed again.

        Parameters
        ----------
        layer : int
            As for `at`.
        """
        layer = check_int(layer, "`layer`", at_least=0)
        for phase in reversed(self.phases):
            if phase.covers(layer):
                return phase
        if layer > self.layers:
            raise InputError(
                f"`layer` {shorten(layer)} lies beyond the {self.layers} layers of this run, which has not settled. "
                f"Simulate with layers={shorten(layer)}."
            )
        return self._walk_to(layer)

    def walk_again(self) -> Iterator[FloatPhase | ExactPhase | GeneralPhase]:
        """All phases, computed again; if the run is certified by the CPU, which keeps exact
        positions."""
        is_last = isinstance(self.solver, GeneralSolver) or not self.certified
        solver = self.solver if is_last else solvers_for("certified", CPU)[0]
        return walk(solver, self.points, self.dynamics)

    def __len__(self) -> int:
        return len(self.recorded)

    def __getitem__(self, index: int) -> Table:
        return self.at(self.recorded[normalize_index(index, len(self), "`index`")])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError(
                "A run has no array to share: its layers are computed. Leave `copy` as it is."
            )
        return np.array([self.floats_at(layer) for layer in self.recorded], dtype=dtype)

    def _columns(self) -> Columns:
        layers, n = np.array(self.recorded), self.n
        since = np.where(self.leader_since < 0, layers[-1] + 1, self.leader_since)[
            self.points.of_token
        ]
        path = np.asarray(self).reshape(-1, self.d)
        columns: Columns = {
            "layer": np.repeat(layers, n),
            "token": np.tile(np.arange(n), len(layers)),
        }
        columns |= {f"z{axis}": path[:, axis] for axis in range(self.d)}
        columns["leader"] = (layers[:, None] >= since[None, :]).ravel()
        columns["attends"] = [
            attended.tolist() for layer in self.recorded for attended in self.attended(layer)
        ]
        return columns

    @overload
    def plot(
        self,
        layers: int | None = None,
        *,
        ax: "Axes | None" = None,
        figsize: tuple[float, float] | None = None,
    ) -> "Axes": ...
    @overload
    def plot(
        self, layers: Sequence[int], *, figsize: tuple[float, float] | None = None
    ) -> np.ndarray: ...
    def plot(
        self,
        layers: int | Sequence[int] | None = None,
        *,
        ax: "Axes | None" = None,
        figsize: tuple[float, float] | None = None,
    ) -> "Axes | np.ndarray":
        """Draw the tokens at a layer: leaders, who attends to whom, and the paths so far (extra
        `figures`).

        Parameters
        ----------
        layers : int or sequence of int, optional
            The last layer by default. Tokens of more than three dimensions are shown by principal
            coordinates.
        ax : matplotlib Axes, optional
            Where to draw one layer; by default a new figure with a legend.
        figsize : tuple of float, optional
            Size of a new figure, in inches.

        Returns
        -------
        matplotlib Axes, or an array of them
            One for each layer.
        """
        from hardmax.figures.layers import plot_run

        return plot_run(self, layers, ax=ax, figsize=figsize)

    def animate(
        self, path: str | Path, *, layers: Sequence[int] | None = None, fps: float = 4
    ) -> None:
        """Write a film in which every frame is a layer, completely or not at all (extra `figures`).

        Parameters
        ----------
        path : str or Path
            A `.gif` file.
        layers : sequence of int, optional
            The recorded layers by default.
        fps : float, default 4
            Frames per second.
        """
        from hardmax.figures.layers import animate_run

        animate_run(self, path, layers=layers, fps=fps)

    def page(self, path: str | Path) -> None:
        """Write a page that runs this cloud in any browser: drag tokens, change alpha, play the
        layers.

        Parameters
        ----------
        path : str or Path
            A `.html` file; it needs no network. The page takes up to 2,000 tokens, and computes
            everything itself.
        """
        from hardmax.page import cloud_data, write_page

        write_page(path, {"room": "dynamics", "cloud": cloud_data(self.points, self.dynamics)})

    def __repr__(self) -> str:
        settled = (
            f"settled at layer {self.settled_at}" if self.settled_at is not None else "not settled"
        )
        return (
            f"Trajectory({pluralize(self.n, 'token')} in {pluralize(self.d, 'dimension')}, "
            f"{pluralize(self.layers, 'layer')}, {pluralize(len(self.leaders), 'leader')}, "
            f"{settled}, {self.arithmetic})"
        )

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import cloud_card

        return cloud_card(self)

    def _returned(self, floats: np.ndarray) -> Any:
        return floats if self.tensor_kind is None else self.tensor_kind.tensor(floats)

    def _last_phase(self) -> Any:
        """The phase that lasts for ever."""
        if self.settled_at is None:
            raise InputError(
                "The run has not settled: where its tokens end is not known. Simulate more layers."
            )
        return self.phases[-1]

    def _walk_to(self, layer: int) -> Any:
        phases = walk(self.solver, self.points, self.dynamics)
        return next(phase for phase in phases if phase.until is None or layer < phase.until)


class Trajectories(Stored, Tabular, Sequence[Trajectory]):
    """Runs of the clouds of a batch. `simulate` makes it.

    As a table it has the rows of every `Trajectory`, with a column `cloud` before them.

    Examples
    --------
    >>> from hardmax import Dynamics, simulate
    >>> runs = simulate([[[1.0], [2.0]], [[3.0]]], Dynamics(1), layers=1)
    >>> [cloud.tolist() for cloud in runs.at(1)]
    [[[1.5], [2.0]], [[3.0]]]
    """

    def __init__(
        self, runs: Sequence[Trajectory], form: Form, multiplicities: np.ndarray | None = None
    ) -> None:
        self._runs, self.form, self.multiplicities = runs, form, multiplicities

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, index: int) -> Trajectory: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Trajectory]: ...
    def __getitem__(self, index: int | slice) -> Trajectory | Sequence[Trajectory]:
        if isinstance(index, slice):
            return [self[cloud] for cloud in range(len(self))[index]]
        return self._run(normalize_index(index, len(self), "`index`"))

    def _run(self, cloud: int) -> Trajectory:
        return self._runs[cloud]

    def at(self, layer: int) -> Tables:
        """Tokens of all clouds at a layer, in the form in which they were given.

        Parameters
        ----------
        layer : int
            A layer of all the runs, or any later one if they settled.
        """
        return restore(self.form, [run.at(layer) for run in self], self.multiplicities)

    def ends(self) -> Tables:
        """Limits of all tokens of all clouds, in the form in which they were given; all clouds must
        have settled."""
        return restore(self.form, [run.ends() for run in self], self.multiplicities)

    def _columns(self) -> Columns:
        return stacked([run._columns() for run in self])

    @property
    def leaders(self) -> list[np.ndarray]:
        """Leaders of each cloud."""
        return [run.leaders for run in self]

    @property
    def settled_at(self) -> list[int | None]:
        """Layer at which each cloud settled."""
        return [run.settled_at for run in self]

    @property
    def certified(self) -> bool:
        """Whether every attended set of every cloud is that of real arithmetic."""
        return self[0].certified

    @property
    def error(self) -> float:
        """No token at a recorded layer is further than this from its exact position; nan if nothing
        is proved."""
        return float(np.max([run.error for run in self]))

    def __repr__(self) -> str:
        settled = sum(layer is not None for layer in self.settled_at)
        return f"Trajectories({pluralize(len(self), 'cloud')}, {settled:,} settled)"

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import batch_card

        return batch_card(self)
