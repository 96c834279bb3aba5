"""What a run found out, for those who compute on: its phases, and positions at any layer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.validation import InputError, check_int, shorten
from hardmax._exact.general import GeneralPhase, GeneralSolver
from hardmax._exact.positions import ExactView, PhaseView
from hardmax._float.solver import FloatPhase, FloatSolver
from hardmax._layer.attended import AttendedSets
from hardmax._layer.rules import moves_to_means
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import rounding_of
from hardmax.dynamics import Dynamics
from hardmax.engines import AnyPhase, Solver

Layer = int | Literal["limit"]


def is_limit(layer: Any) -> bool:
    """Whether the limit is asked for, and not a layer."""
    return isinstance(layer, str) and layer == "limit"


@dataclass(frozen=True, eq=False)
class Decisions:
    """The layers at which attended sets had to be computed, and how; between them nothing changes.

    Examples
    --------
    >>> from hardmax import Dynamics, simulate
    >>> run = simulate([[1, 1], [1, -1], [0.5, 0]], Dynamics(1), layers=9)
    >>> decisions = run.details.decisions
    >>> decisions.layers, decisions.searches, decisions.arithmetic
    ((0,), ('dense and integers',), 'exact')
    """

    layers: tuple[int, ...]
    """Layers at which attended sets were computed."""
    searches: tuple[str, ...]
    """Search that found the attended sets at each of the `layers`; with "integers", if they had to
    decide."""
    margins: np.ndarray
    """At each of the `layers`, a lead of every attended token over those not attended.

    Relative to R^2 times the Frobenius norm of the metric (1 for the identity), R the largest norm.
    At the first layer the CPU finds the smallest lead, or 0 if tokens of such different sizes were
    not compared. Later, and on a GPU, it may be less: tokens far inside are not compared. Tokens
    that follow a leader for ever do not count."""
    arithmetic: str
    """What decided the attended sets: "certified" floats, "exact" integers (at least once), or
    "float"."""

    @property
    def smallest_margin(self) -> float:
        """The smallest of the `margins`."""
        return float(self.margins.min())


@dataclass(frozen=True, eq=False, kw_only=True)
class RunDetails:
    """The run of one cloud in full: `Trajectory.details`.

    Examples
    --------
    >>> from hardmax import Dynamics, simulate
    >>> run = simulate([[3], [3], [-1], [1]], Dynamics(1), layers=2)
    >>> run.details.points.multiplicities.tolist(), run.details.decisions.layers
    ([2, 1, 1], (0,))
    """

    points: Points
    """Distinct tokens, with multiplicities."""
    dynamics: Dynamics
    """Step size and metric."""
    solver: Solver
    """What computed the layers."""
    phases: tuple[AnyPhase, ...]
    """Ranges of layers in which no attended set changes: those with a recorded layer."""
    recorded: tuple[int, ...]
    """Layers that were asked for."""
    leader_since: np.ndarray
    """For each point the layer at which it became a leader, or -1."""
    decisions: Decisions
    """When and how attended sets were computed, and by what margins."""
    settled_at: int | None
    """First layer from which no attended set ever changes; None if the run did not get there."""
    stop_reason: str
    """Why the run ended."""

    @cached_property
    def leaders(self) -> np.ndarray:
        """Tokens that lead from some layer on."""
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
        """No token at a recorded layer is further than this from its exact position; nan if nothing
        is proved."""
        last = self.phases[-1]
        if isinstance(last, FloatPhase):
            return last.error
        if not moves_to_means(self.dynamics):
            path = [self.floats_at(layer) for layer in self.recorded]
            return rounding_of(np.concatenate(path))
        # The hull shrinks: no token is ever longer than the longest at the start.
        return rounding_of(self.points.floats)

    def floats_at(self, layer: Layer) -> np.ndarray:
        """Tokens at any layer, or their limits, (n, d).

        Parameters
        ----------
        layer : int or "limit"
            As for `Trajectory.at`.
        """
        if not is_limit(layer):
            return self.phase_at(layer).floats_at(layer)[self.points.of_token]
        targets = self._last_phase().targets
        table = targets if isinstance(targets, np.ndarray) else targets.floats()
        return table[self.points.of_token]

    def exact_at(self, layer: Layer) -> np.ndarray:
        """Tokens at any layer, or their limits, as Fractions, (n, d).

        Parameters
        ----------
        layer : int or "limit"
            As for `Trajectory.at`.
        """
        everybody = range(self.points.count)
        if is_limit(layer):
            vectors = self.exactly(self._last_phase()).targets(everybody)
        else:
            phase: Any = self.phase_at(layer)
            vectors = self.exactly(phase).later(everybody, layer - phase.layer)
        return np.array(vectors, dtype=object)[self.points.of_token]

    def attended(self, layer: int) -> AttendedSets:
        """For each token those that it attends to at a layer.

        Parameters
        ----------
        layer : int
            As for `Trajectory.attended`.
        """
        phase = self.phase_at(layer)
        if layer == phase.until:
            # Positions at the end of a phase are known, but the attended sets there belong to the
            # next one.
            phase = self._recompute_phase(layer)
        return AttendedSets(phase.choices, self.points)

    def leader_of(self) -> np.ndarray:
        """For each token the first token at the leader that it follows; all -1 if some follow no
        leader for ever."""
        choices, of_token = self.phases[-1].choices, self.points.of_token
        layer = self.dynamics
        ends_there = moves_to_means(layer) and layer.mask is None  # which keeps leaders apart
        is_known = ends_there and self.settled_at is not None and choices.all_single
        if not is_known or self.leader_since[choices.indices].min() < 0:
            return np.full(self.points.tokens, -1)
        first_token = np.unique(of_token, return_index=True)[1]
        return first_token[choices.indices[of_token]]

    def exactly(self, phase: AnyPhase) -> ExactView | PhaseView:
        """Exact positions in a phase, computed again if the phase came from a GPU.

        Parameters
        ----------
        phase : FloatPhase or GeneralPhase
            One of the phases of this run.
        """
        if self.solver.arithmetic == "float":
            raise InputError(
                "Exact positions need a proof, which 'float' has none: use 'certified'."
            )
        if phase.exactly is None:
            phase = next(again for again in self.recompute_phases() if again.layer == phase.layer)
        assert phase.exactly is not None, "the CPU keeps exact positions"
        return phase.exactly

    def phase_at(self, layer: Any) -> Any:
        """A phase that covers a layer: a recorded one, or one computed again.

        Parameters
        ----------
        layer : int
            As for `Trajectory.at`.
        """
        layer = check_int(layer, "`layer`", at_least=0)
        for phase in reversed(self.phases):
            # Its closed form gives the tokens at `until`, too.
            if phase.layer <= layer and (phase.until is None or layer <= phase.until):
                return phase
        last = self.recorded[-1]
        if layer > last:
            raise InputError(
                f"`layer` {shorten(layer)} lies beyond the {last} layers of this run, which has "
                f"not settled. Simulate with layers={shorten(layer)}."
            )
        return self._recompute_phase(layer)

    def _last_phase(self) -> Any:
        """The phase that lasts for ever."""
        if self.settled_at is None:
            raise InputError(
                "The run has not settled: where its tokens end is not known. Simulate more layers."
            )
        return self.phases[-1]

    def recompute_phases(self) -> Iterator[AnyPhase]:
        """All phases, computed again; if the run is certified by the CPU, which keeps exact
        positions."""
        solver = self.solver
        if not isinstance(solver, GeneralSolver) and solver.arithmetic != "float":
            solver = FloatSolver()
        return iter(solver.phases(self.points, self.dynamics))

    def _recompute_phase(self, layer: int) -> Any:
        """The phase whose attended sets are those of a layer, computed again."""
        phases = self.solver.phases(self.points, self.dynamics)
        return next(phase for phase in phases if phase.until is None or layer < phase.until)


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelResult:
    """What the kernel of a batch knows of the run of one cloud before its phases are known; names
    as in `RunDetails`. It settles only where all tokens go straight to their ends, so nobody moves
    for ever."""

    dynamics: Dynamics
    recorded: tuple[int, ...]
    last: np.ndarray
    """Tokens at the last layer, (n, d)."""
    leader_since: np.ndarray
    """For each token the layer at which it became a leader, or -1."""
    settled_at: int | None
    stop_reason: str
    error: float
    float_limits: Callable[[], np.ndarray]
    leader_of: Callable[[], np.ndarray]
    moving: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))

    @cached_property
    def leaders(self) -> np.ndarray:
        return np.flatnonzero(self.leader_since >= 0)

    @cached_property
    def leader_layers(self) -> np.ndarray:
        return self.leader_since[self.leaders]
