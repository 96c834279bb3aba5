"""Runs whose layers are irrational, with an error that is proved, in balls (`balls`).

Balls grow from layer to layer. Once one is larger than asked, or does not decide what a token
attends to, everything is computed again with twice as many bits, up to a limit. What is undecided
then ends the run: of softmax, which decides nothing, no more is said than that."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from flint import ctx

from hardmax._common.format import pluralize
from hardmax._common.progress import Reporting
from hardmax._common.validation import InputError
from hardmax._exact.general import union_of
from hardmax._layer.attended import AttendedIndices
from hardmax._layer.attention import Softmax
from hardmax._runs.balls import BallLayer, Unclear
from hardmax._runs.floats import float_layers
from hardmax._runs.run import Run
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
    """What they attend to; None if that is not proved."""
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


def enclose(
    points: Points,
    dynamics: Dynamics,
    layers: int,
    *,
    error: float,
    kind: TensorKind | None,
) -> Run:
    """A number of layers, with a proved error."""
    is_softmax, stored = (
        isinstance(dynamics.attention, Softmax),
        np.abs(points.floats).max() / 2**53,
    )
    if is_softmax and error < stored:
        raise InputError(
            f"`error` {error:g} is less than float64 can store of these tokens ({stored:.1g})."
        )
    most, bits, seen = _MOST_BITS if is_softmax else _MOST_BITS_OF_CHOICES, 64, 0
    phases, problem, report = [], "not tried yet", Reporting("layers")
    while problem and bits <= most:
        phases, problem = [], ""
        with ctx.workprec(bits):
            try:
                for phase in _layers(points, dynamics, layers, error):
                    phases.append(phase)
                    if phase.choices is not None and len(phases) > seen:
                        seen = len(phases)
                        report(phase.layer, layers)
            except Unclear as unclear:
                problem = str(unclear)
        bits *= 2
    reason = _all_done(layers)
    if problem and is_softmax and dynamics.traits.convex:
        limit = f"`error` {error:g} cannot be proved with {_MOST_BITS:,} bits"
        raise InputError(f"{limit}: ask for fewer layers, a larger `error` or a smaller `beta`.")
    if problem:
        reason = f"undecided at layer {len(phases) - 1}: with {bits // 2:,} bits {problem}"
    known: Any = {"stop_reason": reason, "arithmetic": "enclosed"}
    return _run_of(phases, points, dynamics, f"balls of {bits // 2} bits", kind, **known)


def _layers(
    points: Points, dynamics: Dynamics, layers: int, allowed: float
) -> Iterator[SingleLayer]:
    """The layers with the precision that is set; Unclear where it does not suffice."""
    # Softmax that stays in the hull is never rounded by more than at the start.
    is_convex = isinstance(dynamics.attention, Softmax) and dynamics.traits.convex
    rounding = 0.0 if is_convex else _ROUNDING
    ball_layer = BallLayer(points, dynamics)
    state = ball_layer.start()
    while True:
        centres = np.array([[float(x.mid()) for x in row] for row in state.places])
        pairs = zip(state.places, centres.tolist(), strict=True)
        gaps = [[float(abs(x - y).upper()) for x, y in zip(*pair, strict=True)] for pair in pairs]
        errors = np.nextafter(np.array(gaps), np.inf)
        # A ball without bounds has the error nan or inf.
        if not (errors <= np.maximum(allowed, rounding * np.abs(centres))).all():
            raise Unclear(f"no coordinate is known to {allowed:g}")
        known: Any = {"layer": state.layer, "positions": centres[state.labels]}
        known["error"] = float(errors.max())
        try:
            choices = ball_layer.choose(state)
        except Unclear:
            nobody = np.zeros(points.count, dtype=bool)
            yield SingleLayer(**known, choices=None, is_leader=nobody)
            raise
        sets = union_of(choices.sets)
        is_own = np.repeat(state.labels, sets.sizes) == state.labels[sets.indices]
        is_leader = sets.all_of(is_own)
        yield SingleLayer(**known, choices=sets, is_leader=is_leader)
        if state.layer == layers:
            return
        state = ball_layer.move(state, choices)


def run_in_floats(
    points: Points, dynamics: Dynamics, layers: int, *, kind: TensorKind | None
) -> Run:
    """A number of layers in plain floats: nothing is proved."""
    phases = []
    for layer, (path, sets) in enumerate(islice(float_layers(points, dynamics), layers + 1)):
        known: Any = {"positions": path, "choices": sets, "is_leader": sets.is_leader}
        phases.append(SingleLayer(layer=layer, error=np.nan, **known))
    known = {"stop_reason": _all_done(layers), "arithmetic": "float"}
    return _run_of(phases, points, dynamics, "float", kind, **known)


def _all_done(layers: int) -> str:
    return f"{pluralize(layers, 'layer')} asked for and done"


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
        settled_at=None,
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
