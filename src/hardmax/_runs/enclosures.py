"""Runs whose layers are irrational, with an error that is proved, in balls (`balls`).

Balls grow from layer to layer. Once one is larger than asked, or does not decide whom a token
attends to, everything is computed again with twice as many bits, up to a limit. What is undecided
then ends the run: of softmax, which decides nothing, no more is said than that."""

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from flint import ctx

from hardmax._common.validation import InputError, Progress, check_int
from hardmax._exact.general import union_of
from hardmax._layer.attended import AttendedIndices
from hardmax._layer.attention import Softmax
from hardmax._layer.rules import check_dimension, merge_points
from hardmax._runs.balls import BallLayer, State, Unclear
from hardmax._runs.floats import float_layers
from hardmax._runs.run import Run, Runs, collected
from hardmax._tokens.batches import Cloud, read_batch
from hardmax._tokens.points import Points
from hardmax._tokens.tensors import TensorKind
from hardmax.dynamics import Dynamics

_MOST_BITS, _MOST_BITS_OF_CHOICES = 2**15, 2**12
ERROR = 1e-12
"""No coordinate may be off by more, by default; nor by less than rounding."""
_ROUNDING = 2.0**-52


@dataclass(frozen=True, eq=False, kw_only=True)
class SingleLayer:
    """A single layer of which no closed form is known, as a phase."""

    layer: int
    positions: np.ndarray
    """The points, (p, d)."""
    choices: AttendedIndices | None
    """Whom they attend to; None if that is not proved."""
    is_leader: np.ndarray
    error: float
    """No coordinate is further than this from its true value."""
    exactly = None

    @property
    def until(self) -> int:
        return self.layer + 1

    def table_at(self, layer: int) -> np.ndarray:
        """The points."""
        return self.positions


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
        return self.is_softmax and self.dynamics.traits.convex

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
) -> Run:
    """So many layers, with a proved error."""
    points = merge_points(dynamics, cloud)
    encloser = Encloser(points, dynamics, error)
    attempt = encloser.run(layers, progress)
    reason = _all_done(layers)
    if attempt.problem and encloser.is_convex:
        limit = f"`error` {encloser.allowed:g} cannot be proved with {_MOST_BITS:,} bits"
        message = f"{limit}: ask for fewer layers, a larger `error` or a smaller `beta`."
        raise InputError(message)
    if attempt.problem:
        undecided = f"undecided at layer {len(attempt.path) - 1}: with {attempt.bits:,} bits"
        reason = f"{undecided} {attempt.problem}"
    phases = []
    for layer, (path, labels) in enumerate(zip(attempt.path, attempt.labels, strict=True)):
        choices, is_leader = None, np.zeros(points.count, dtype=bool)
        if layer < len(attempt.sets):
            choices = union_of(attempt.sets[layer])
            is_own = np.repeat(labels, choices.sizes) == labels[choices.indices]
            is_leader = np.logical_and.reduceat(is_own, choices.offsets[:-1])
        known: Any = {"positions": path, "choices": choices, "is_leader": is_leader}
        phases.append(SingleLayer(layer=layer, error=attempt.error, **known))
    known = {"settled_at": None, "stop_reason": reason, "arithmetic": "enclosed"}
    return _run_of(phases, points, dynamics, f"balls of {attempt.bits} bits", kind, **known)


def enclose_clouds(
    tokens: Any,
    dynamics: Dynamics,
    layers: int,
    progress: Progress | None,
    *,
    error: float = ERROR,
) -> Run | Runs:
    """The run of a cloud, or the runs of a batch."""
    clouds, container = read_batch(tokens)
    check_dimension(dynamics, clouds[0].tokens.shape[1])
    layers = check_int(layers, "`layers`", at_least=0)
    how: Any = {"kind": container.tensors, "progress": progress, "error": error}

    def walk(cloud: Cloud) -> Run:
        return enclose(cloud, dynamics, layers, **how)

    return collected(clouds, container, walk)


def float_clouds(tokens: Any, dynamics: Dynamics, layers: int) -> Run | Runs:
    """The same in plain floats: nothing is proved."""
    clouds, container = read_batch(tokens)
    check_dimension(dynamics, clouds[0].tokens.shape[1])
    layers = check_int(layers, "`layers`", at_least=0)

    def walk(cloud: Cloud) -> Run:
        points, phases = merge_points(dynamics, cloud), []
        for layer, (path, sets) in enumerate(islice(float_layers(points, dynamics), layers + 1)):
            known: Any = {"positions": path, "choices": sets, "is_leader": sets.is_leader}
            phases.append(SingleLayer(layer=layer, error=np.nan, **known))
        known = {"settled_at": None, "stop_reason": _all_done(layers), "arithmetic": "float"}
        return _run_of(phases, points, dynamics, "float", container.tensors, **known)

    return collected(clouds, container, walk)


def _all_done(layers: int) -> str:
    return f"all {layers:,} layers asked for are done"


def _run_of(
    phases: list[SingleLayer],
    points: Points,
    dynamics: Dynamics,
    search: str,
    kind: TensorKind | None,
    **known: Any,
) -> Run:
    since = np.full(points.count, -1)
    for phase in phases:
        if phase.choices is not None:
            since[~phase.is_leader] = -1
            since[(since < 0) & phase.is_leader] = phase.layer
    return Run(
        **known,
        dynamics=dynamics,
        points=points,
        phases=tuple(phases),
        layers=len(phases) - 1,
        leader_since=since,
        decided_at=tuple(range(len(phases))),
        decided_by=(search,) * len(phases),
        margins=np.full(len(phases), np.nan),
        tensor_kind=kind,
    )
