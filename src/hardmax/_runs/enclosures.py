"""Runs whose layers are irrational, with an error that is proved, in balls (`balls`).

Balls grow from layer to layer. Once one is larger than asked, or does not decide whom a token
attends to, everything is computed again with twice as many bits, up to a limit. What is undecided
then ends the run: of softmax, which decides nothing, no more is said than that."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from flint import ctx

from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, Progress, check_bool, check_int
from hardmax._exact.general import union_of
from hardmax._layer.attended import AttendedIndices, AttendedSets
from hardmax._layer.attention import Softmax
from hardmax._layer.rules import check_dimension, merge_points, moves_to_means
from hardmax._runs.balls import BallLayer, State, Unclear
from hardmax._runs.details import Decisions, Layer, RunDetails, is_limit
from hardmax._runs.floats import float_layers
from hardmax._runs.trajectory import Table, Trajectories, Trajectory, collected
from hardmax._tokens.batches import Cloud, read_batch
from hardmax._tokens.points import Points
from hardmax._tokens.tensors import TensorKind
from hardmax.dynamics import Dynamics

_MOST_BITS, _MOST_BITS_OF_CHOICES = 2**15, 2**12
ERROR = 1e-12
"""No coordinate may be off by more, by default; nor by less than rounding."""
_ROUNDING = 2.0**-52


@dataclass(frozen=True, eq=False, kw_only=True)
class EnclosedPhase:
    """A single layer: whom points attend to."""

    layer: int
    choices: AttendedIndices
    is_leader: np.ndarray


@dataclass(frozen=True)
class Enclosing:
    """In the place of a solver."""

    arithmetic: str = "enclosed"

    @property
    def search(self) -> str:
        return "balls" if self.arithmetic == "enclosed" else "float"


ENCLOSING = Enclosing()


@dataclass(frozen=True, eq=False, kw_only=True)
class EnclosedDetails(RunDetails):
    """What a run in balls found out."""

    path: np.ndarray
    """Points at every layer, (layers + 1, points, d)."""
    error: float  # pyright: ignore[reportIncompatibleVariableOverride]
    """No coordinate is further than this from its true value."""
    bits: int
    """The precision that it took."""
    undecided_at: int | None = None
    """The layer at which the run ends because more is not proved; None if all layers are there."""


class Enclosures(Trajectory):
    """Run of one cloud through irrational layers, softmax or normalisation, each coordinate with a
    proved error. Made by `simulate`.

    It has all that a `Trajectory` has, but for exact tokens. Attended sets are proved. Where they
    could not be, the run ends: `details.undecided_at` is that layer, `stop_reason` says why, and
    `details.bits` is the precision that it took.

    Examples
    --------
    >>> from hardmax import Dynamics, Softmax, simulate
    >>> simulate([[1.0], [2.0]], Dynamics(1, attention=Softmax(10)), layers=3)  # doctest: +ELLIPSIS
    Enclosures(2 tokens in 1 dimension, 3 layers, no coordinate off by more than ...e-1...)
    >>> run = simulate([[3, 4], [0, 2]], Dynamics(1, normalise="sphere"), layers=1)
    >>> run.at(1).round(3).tolist(), run.attended(0).tolist()
    ([[0.6, 0.8], [0.447, 0.894]], [[0], [0]])
    """

    details: EnclosedDetails  # pyright: ignore[reportIncompatibleVariableOverride]
    """The path, its precision, and whom points attend to."""

    def at(self, layer: Layer, *, exact: bool = False) -> Table:
        """Tokens at a layer, (n, d).

        Parameters
        ----------
        layer : int or "limit"
            From 0 to `layers`: limits are not known.
        exact : bool, default False
            Refused: coordinates are irrational.

        Returns
        -------
        ndarray or Tensor
            float64, or a tensor if tensors were given.
        """
        if check_bool(exact, "`exact`"):
            reason = "coordinates are irrational, and enclosed within `error`"
            if not self.certified:
                reason = "arithmetic 'float' proves nothing: use 'certified'"
            raise InputError(f"`exact`: {reason}.")
        return self._returned(self._floats_at(layer))

    def _floats_at(self, layer: Layer) -> np.ndarray:
        if is_limit(layer):
            raise InputError("`layer`: limits of softmax and normalised layers are not known.")
        number = self._check(layer, self.layers)
        return self.details.path[number][self.details.points.of_token]

    def attended(self, layer: int) -> AttendedSets:
        """For each token those that it attends to at a layer; all of them for softmax.

        Parameters
        ----------
        layer : int
            From 0 to `layers`, but where a run ends undecided.
        """
        phases = self.details.phases
        return AttendedSets(
            phases[self._check(layer, len(phases) - 1)].choices, self.details.points
        )

    def _check(self, layer: Any, at_most: int) -> int:
        number = check_int(layer, "`layer`", at_least=0)
        if number > at_most:
            raise InputError(
                f"`layer` {number} lies beyond what is known: {self.stop_reason}.",
            )
        return number

    def __repr__(self) -> str:
        tokens = f"{pluralize(self.n, 'token')} in {pluralize(self.d, 'dimension')}"
        layers = pluralize(self.layers, "layer")
        end = "" if self.details.undecided_at is None else ", then undecided"
        error = f"no coordinate off by more than {self.error:.2g}"
        return f"Enclosures({tokens}, {layers}{end}, {error if self.certified else 'float'})"


@dataclass
class _Attempt:
    """What so many bits prove."""

    bits: int
    path: list[np.ndarray] = field(default_factory=list)
    """Points at every layer."""
    labels: list[np.ndarray] = field(default_factory=list)
    """The places of the points at every layer."""
    sets: list[list[AttendedIndices]] = field(default_factory=list)
    error: float = 0.0
    problem: str = ""
    """Why there is no more, if there should be."""


class Encloser:
    """Layers of one cloud, one by one."""

    def __init__(self, points: Points, dynamics: Dynamics, error: float) -> None:
        self.points, self.dynamics, self.allowed = points, dynamics, error
        self.is_softmax = isinstance(dynamics.attention, Softmax)
        self.largest = float(np.abs(points.floats).max())
        # Tokens that stay in their hull are never rounded by more than at the start.
        self.rounding = 0.0 if self.is_convex else _ROUNDING
        if self.is_softmax and self.allowed < self.largest * 2.0**-53:
            raise InputError(
                f"`error` {self.allowed:g} is less than float64 can store of these tokens "
                f"({self.largest * 2.0**-53:.1g}).",
            )

    @property
    def is_convex(self) -> bool:
        """Whether this is softmax as it always was: its error is that asked for."""
        return self.is_softmax and moves_to_means(self.dynamics)

    def run(self, layers: int, progress: Progress | None) -> _Attempt:
        most = _MOST_BITS if self.is_softmax else _MOST_BITS_OF_CHOICES
        bits, seen = 64, -1
        while True:
            attempt = _Attempt(bits)
            with ctx.workprec(bits):
                for layer in self._layers(attempt, layers):
                    if progress is not None and layer > seen:
                        seen = layer
                        progress(layer, layers)
            if not attempt.problem or 2 * bits > most:
                return attempt
            bits *= 2

    def _layers(self, attempt: _Attempt, layers: int) -> Any:
        """The numbers of the layers that are known."""
        ball_layer = BallLayer(self.points, self.dynamics)
        state = ball_layer.start()
        while True:
            if not self._add(attempt, state):
                return
            try:
                choices = ball_layer.choose(state)
                attempt.sets.append(choices.sets)
                yield state.layer
                if state.layer == layers:
                    return
                state = ball_layer.move(state, choices)
            except Unclear as problem:
                attempt.problem = str(problem)
                return

    def _add(self, attempt: _Attempt, state: State) -> bool:
        """Add a layer; False if its error is too large."""
        centres = np.array([[float(x.mid()) for x in row] for row in state.places])
        pairs = zip(state.places, centres.tolist(), strict=True)
        gaps = [[float(abs(x - y).upper()) for x, y in zip(*pair, strict=True)] for pair in pairs]
        errors = np.nextafter(np.array(gaps), np.inf)
        # A ball without bounds has the error nan or inf.
        if not (errors <= np.maximum(self.allowed, self.rounding * np.abs(centres))).all():
            attempt.problem = f"no coordinate is known to {self.allowed:g}"
            return False
        attempt.error = max(attempt.error, float(errors.max()))
        attempt.path.append(centres[state.labels])
        attempt.labels.append(state.labels)
        return True


def enclose(
    cloud: Cloud,
    dynamics: Dynamics,
    layers: int,
    *,
    error: float = ERROR,
    kind: TensorKind | None = None,
    progress: Progress | None = None,
) -> Enclosures:
    """So many layers, with a proved error."""
    points, layers = merge_points(dynamics, cloud), check_int(layers, "`layers`", at_least=0)
    encloser = Encloser(points, dynamics, error)
    attempt = encloser.run(layers, progress)
    known = {"path": np.array(attempt.path), "error": attempt.error, "bits": attempt.bits}
    known["stop_reason"] = _all_done(layers)
    if attempt.problem and encloser.is_convex:
        limit = f"`error` {encloser.allowed:g} cannot be proved with {_MOST_BITS:,} bits"
        message = f"{limit}: ask for fewer layers, a larger `error` or a smaller `beta`."
        raise InputError(message)
    if attempt.problem:
        last = known["undecided_at"] = len(attempt.path) - 1
        undecided = f"undecided at layer {last}: with {attempt.bits:,} bits"
        known["stop_reason"] = f"{undecided} {attempt.problem}"
    sets = [union_of(heads) for heads in attempt.sets]
    return Enclosures(_details(points, dynamics, sets, attempt.labels, **known), kind)


def enclose_clouds(
    tokens: Any,
    dynamics: Dynamics,
    layers: int,
    progress: Progress | None,
    *,
    error: float = ERROR,
) -> Trajectory | Trajectories:
    """The run of a cloud, or the runs of a batch."""
    clouds, container = read_batch(tokens)
    check_dimension(dynamics, clouds[0].tokens.shape[1])
    how: Any = {"kind": container.tensors, "progress": progress, "error": error}
    runs = [enclose(cloud, dynamics, layers, **how) for cloud in clouds]
    return collected(runs, container, clouds)


def float_clouds(tokens: Any, dynamics: Dynamics, layers: int) -> Trajectory | Trajectories:
    """The same in plain floats: nothing is proved."""
    clouds, container = read_batch(tokens)
    check_dimension(dynamics, clouds[0].tokens.shape[1])
    runs, layers = [], check_int(layers, "`layers`", at_least=0)
    for cloud in clouds:
        points = merge_points(dynamics, cloud)
        path, sets = zip(*islice(float_layers(points, dynamics), layers + 1), strict=True)
        known = {"path": np.array(path), "error": np.nan, "bits": 53}
        known |= {"stop_reason": _all_done(layers), "solver": Enclosing("float")}
        runs.append(Enclosures(_details(points, dynamics, sets, None, **known), container.tensors))
    return collected(runs, container, clouds)


def _all_done(layers: int) -> str:
    return f"all {layers:,} layers asked for are done"


def _details(
    points: Points,
    dynamics: Dynamics,
    sets: Sequence[AttendedIndices],
    places: Sequence[np.ndarray] | None,
    *,
    settled_at: int | None = None,
    solver: Enclosing = ENCLOSING,
    **known: Any,
) -> EnclosedDetails:
    """What a run found out, a phase for each layer."""
    since, phases = np.full(points.count, -1), []
    for layer, choices in enumerate(sets):
        is_leader = choices.is_leader
        if places is not None:
            owners = np.repeat(places[layer], choices.sizes)
            is_own = owners == places[layer][choices.indices]
            is_leader = np.logical_and.reduceat(is_own, choices.offsets[:-1])
        since[~is_leader] = -1
        since[(since < 0) & is_leader] = layer
        phases.append(EnclosedPhase(layer=layer, choices=choices, is_leader=is_leader))
    count = len(sets) if places is None else len(places)
    layers, unknown = tuple(range(count)), np.full(count, np.nan)
    return EnclosedDetails(
        **known,
        points=points,
        dynamics=dynamics,
        solver=solver,  # pyright: ignore[reportArgumentType]
        phases=tuple(phases),
        recorded=layers,
        leader_since=since,
        decisions=Decisions(layers, (solver.search,) * count, unknown, solver.arithmetic),
        settled_at=settled_at,
    )
