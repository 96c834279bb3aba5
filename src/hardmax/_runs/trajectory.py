"""What a simulation returns: `Trajectory` for one cloud, `Trajectories` for a batch."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from hardmax import figures
from hardmax._common.cached import cached_property
from hardmax._common.columns import Columns, Tabular, stacked
from hardmax._common.format import pluralize
from hardmax._common.validation import (
    InputError,
    check_bool,
    check_int,
    check_path,
    normalize_index,
)
from hardmax._layer.attended import AttendedSets
from hardmax._runs.details import KernelResult, Layer, RunDetails, is_limit
from hardmax._tokens.batches import Cloud, Container, PackedClouds, restore
from hardmax._tokens.tensors import TensorKind
from hardmax.dynamics import Dynamics
from hardmax.page import cloud_data, write_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Table = np.ndarray  # or a tensor, if the tokens came as one
Tables = Any  # an array, a list of arrays or a Ragged, as the tokens came


class Trajectory(Tabular):
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
    >>> run.at("limit").ravel().tolist(), run.at(2, exact=True)[2].tolist()
    ([3.0, -1.0, 3.0], [Fraction(5, 2)])
    """

    details: RunDetails
    """Phases, decisions and exact positions, for those who compute on."""

    def __init__(self, details: RunDetails, tensor_kind: TensorKind | None = None) -> None:
        self.details, self._tensor_kind = details, tensor_kind

    @property
    def _summary(self) -> RunDetails | KernelResult:
        """What is known without the phases."""
        return self.details

    @property
    def dynamics(self) -> Dynamics:
        """Step size and metric."""
        return self._summary.dynamics

    @property
    def n(self) -> int:
        """Number of tokens."""
        return self.details.points.tokens

    @property
    def d(self) -> int:
        """Dimension of the tokens."""
        return self.details.points.dimension

    @property
    def recorded(self) -> tuple[int, ...]:
        """Layers in `tokens`."""
        return self._summary.recorded

    @property
    def layers(self) -> int:
        """Last layer of the run."""
        return self.recorded[-1]

    @property
    def settled_at(self) -> int | None:
        """First layer from which no attended set ever changes; None if the run did not get
        there."""
        return self._summary.settled_at

    @property
    def stop_reason(self) -> str:
        """Why the run ended."""
        return self._summary.stop_reason

    @property
    def leaders(self) -> np.ndarray:
        """Tokens that attend to themselves alone, from some layer on. Once a leader, always a
        leader: unless there is a value matrix, with which those that lost it do not count."""
        return self._summary.leaders

    @property
    def leader_layers(self) -> np.ndarray:
        """For each of the `leaders` the layer at which it became one."""
        return self._summary.leader_layers

    @property
    def certified(self) -> bool:
        """Whether every attended set is that of real arithmetic."""
        return self.details.solver.arithmetic != "float"

    @property
    def error(self) -> float:
        """No token at a recorded layer is further than this from its exact position; nan if nothing
        is proved."""
        return self._summary.error

    @property
    def _arithmetic(self) -> str:
        return self.details.decisions.arithmetic

    @cached_property
    def tokens(self) -> Table:
        """Tokens at every recorded layer, (recorded layers, n, d): float64, or a tensor if tensors
        were given."""
        return self._returned(np.asarray(self))

    def at(self, layer: Layer, *, exact: bool = False) -> Table:
        """Tokens at any layer, or their limits, (n, d). Free once the cloud has settled.

        Parameters
        ----------
        layer : int or "limit"
            A layer of the run, or any later one if the run settled; "limit" for the limit of every
            token, if the run settled.
        exact : bool, default False
            Return Fractions, if the run is certified; refused if they would have more than 100,000
            digits, unless nobody moves.

        Returns
        -------
        ndarray or Tensor
            float64, or a tensor if tensors were given.
        """
        if not check_bool(exact, "`exact`"):
            return self._returned(self._floats_at(layer))
        return self.details.exact_at(layer)

    def _floats_at(self, layer: Layer) -> np.ndarray:
        """`at` in float64, whatever was given."""
        return self.details.floats_at(layer)

    def _leader_of(self) -> np.ndarray:
        """For each token the first token at the leader that it follows; all -1 if some follow no
        leader for ever."""
        return self._summary.leader_of()

    @property
    def _moving(self) -> np.ndarray:
        """Tokens that are proved to move for ever."""
        return self._summary.moving

    def attended(self, layer: int) -> AttendedSets:
        """For each token those that it attends to at a layer.

        Parameters
        ----------
        layer : int
            A layer of the run, or any later one if the run settled.
        """
        return self.details.attended(layer)

    def __len__(self) -> int:
        return len(self.recorded)

    def __iter__(self) -> Iterator[Table]:
        return map(self.at, self.recorded)

    def __getitem__(self, index: int) -> Table:
        return self.at(self.recorded[normalize_index(index, len(self), "`index`")])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError(
                "A run has no array to share: its layers are computed. Leave `copy` as it is."
            )
        return np.array([self._floats_at(layer) for layer in self.recorded], dtype=dtype)

    def _columns(self) -> Columns:
        layers, n, d = np.array(self.recorded), self.n, self.d
        since = np.full(n, layers[-1] + 1)  # later than any layer
        since[self.leaders] = self.leader_layers
        path = np.asarray(self).reshape(-1, d)
        columns: Columns = {"layer": np.repeat(layers, n)}
        columns["token"] = np.tile(np.arange(n), len(layers))
        columns |= {f"z{axis}": path[:, axis] for axis in range(d)}
        columns["leader"] = (layers[:, None] >= since).ravel()
        columns["attends"] = [
            attended.tolist() for layer in self.recorded for attended in self.attended(layer)
        ]
        return columns

    def plot(self, layer: int | None = None, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the tokens at a layer: leaders, who attends to whom, and the paths so far (extra
        `figures`).

        Parameters
        ----------
        layer : int, optional
            The last layer by default. Tokens of more than three dimensions are shown by principal
            coordinates.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure with a legend.

        Returns
        -------
        matplotlib Axes
            The axes.
        """
        return figures.plot_run(self, layer, ax)

    def save(self, path: str | Path) -> None:
        """Write a page or a film, completely or not at all; the suffix says which.

        Parameters
        ----------
        path : str or Path
            ``.html``: a page that runs this cloud in any browser, without a network: drag tokens,
            change alpha, play the layers; up to 2,000 tokens. ``.gif``: a film in which every frame
            is a layer, of many some (extra `figures`).
        """
        path = check_path(path)
        suffix = path.suffix.lower()
        if suffix == ".gif":
            figures.animate_run(self, path)
        elif suffix in (".html", ".htm"):
            cloud = cloud_data(self.details.points, self.dynamics)
            write_page(path, {"room": "dynamics", "cloud": cloud})
        else:
            raise InputError(f"`path` must end in .html or .gif, not {path.suffix!r}.")

    def __repr__(self) -> str:
        settled = (
            "not settled" if self.settled_at is None else f"settled at layer {self.settled_at}"
        )
        return (
            f"Trajectory({pluralize(self.n, 'token')} in {pluralize(self.d, 'dimension')}, "
            f"{pluralize(self.layers, 'layer')}, {pluralize(len(self.leaders), 'leader')}, "
            f"{settled}, {self._arithmetic})"
        )

    def _returned(self, floats: np.ndarray) -> Any:
        return floats if self._tensor_kind is None else self._tensor_kind.tensor(floats)


class LazyTrajectory(Trajectory):
    """A run of which the kernel of a batch knows where it leads. Its phases are computed when they
    are asked for."""

    def __init__(
        self, known: KernelResult, make: Callable[[], RunDetails], tensor_kind: TensorKind | None
    ) -> None:
        self._known, self._make, self._tensor_kind = known, make, tensor_kind

    @cached_property
    def details(self) -> RunDetails:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._make()

    @property
    def _summary(self) -> KernelResult:
        return self._known

    @property
    def n(self) -> int:
        return len(self._known.last)

    @property
    def d(self) -> int:
        return self._known.last.shape[1]

    @property
    def certified(self) -> bool:
        return True

    @property
    def _arithmetic(self) -> str:
        return "certified"

    def __reduce__(self) -> tuple[Any, ...]:
        # What is known of one cloud refers to the whole batch.
        return Trajectory, (self.details, self._tensor_kind)

    def _floats_at(self, layer: Layer) -> np.ndarray:
        if is_limit(layer):
            known = self.settled_at is not None
            return self._known.float_limits().copy() if known else super()._floats_at(layer)
        if check_int(layer, "`layer`", at_least=0) == self.layers:
            return self._known.last.copy()
        return super()._floats_at(layer)


class Trajectories(Tabular, Sequence[Trajectory]):
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
        self,
        runs: Sequence[Trajectory],
        container: Container,
        multiplicities: np.ndarray | None = None,
    ) -> None:
        self._runs, self._container, self._multiplicities = runs, container, multiplicities

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

    def at(self, layer: Layer) -> Tables:
        """Tokens of all clouds at a layer, or their limits, in the form in which they were given.

        Parameters
        ----------
        layer : int or "limit"
            A layer of all the runs, or any later one if they settled; "limit" for the limits of all
            tokens, if all clouds settled.
        """
        return restore(self._container, [run.at(layer) for run in self], self._multiplicities)

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


def collected(
    runs: Sequence[Any], container: Container, clouds: Sequence[Cloud]
) -> Trajectory | Trajectories:
    """The run of a single cloud, or those of all clouds."""
    if container.is_single:
        return runs[0]
    counts = clouds.multiplicities if isinstance(clouds, PackedClouds) else None
    return Trajectories(runs, container, counts)
