"""From a cloud to its run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.progress import Reporting
from hardmax._exact.general import GeneralPhase
from hardmax._exact.vectors import MOST_DIGITS, TooLong
from hardmax._float.search import CPU
from hardmax._float.solver import Undecided
from hardmax._runs.run import Run
from hardmax._tokens.batches import Cloud, Container, as_array, read_batch
from hardmax._tokens.points import Points
from hardmax._tokens.tensors import TensorKind
from hardmax.dynamics import Dynamics
from hardmax.engines import Engine, Gpu, Solver

# Products of digits of exact positions, some 20 ns each, after which a cloud that has not
# settled is given up.
_MOST_WORK = 5 * 10**7
# Layers at which attended sets are computed before a cloud is given up, if no last layer is given;
# layers other than the paper's may never settle.
MOST_LAYERS, FEWER_LAYERS = 10_000, 500
_MOST_LEADS = 10_000  # of tokens over others: their closed forms take seconds
_KEPT = 2**25  # coordinates of the phases that are kept


@dataclass(frozen=True)
class Plan:
    """How to run a cloud. Of the solvers the first that decides everything counts; the last one
    always does."""

    dynamics: Dynamics
    solvers: tuple[Solver, ...]
    layers: int | None = None
    """The last layer; None: where the cloud settles."""
    max_layers: int | None = None
    """The last layer that a cloud which does not settle is followed to."""
    engine: Engine = CPU

    @property
    def last(self) -> int | None:
        """The last layer that a run may have to know."""
        return self.max_layers if self.layers is None else self.layers

    @property
    def usual(self) -> int:
        """Layers at which attended sets are computed before a cloud is given up, without
        `max_layers`."""
        may_cycle = not (self.dynamics.traits.plain and self.dynamics.is_definite)
        return FEWER_LAYERS if may_cycle else MOST_LAYERS


def read_clouds(tokens: Any, engine: Engine) -> tuple[Sequence[Cloud], Container]:
    """The clouds in `tokens`, and the form they came in; a GPU reads tensors where they are."""
    if isinstance(engine, Gpu):
        from hardmax._runs.tensors import read_on_device

        on_device = read_on_device(tokens, engine.device)
        if on_device is not None:
            return on_device
    return read_batch(tokens)


def run_points(points: Points, plan: Plan, kind: TensorKind | None = None) -> Run:
    """The run of one cloud whose repeated tokens are merged; its tokens are given back as tensors
    of a kind."""
    with plan.engine.limited():
        for solver in plan.solvers:
            try:
                return _follow(points, plan, solver, kind)
            except Undecided:
                continue
    raise AssertionError("the last solver decides everything")


def _follow(points: Points, plan: Plan, solver: Solver, kind: TensorKind | None) -> Run:
    """The phases of a solver to the end of a run; `Undecided` if it is not the last solver and
    another has to jump over layers."""
    kept: list[Any] = []
    decided: list[tuple[int, str, float]] = []
    since, changed_at, unchanged = np.full(points.count, -1), 0, 0
    work, reason, is_last = 0, "", solver is plan.solvers[-1]
    report = Reporting("layers")
    # Those that are left out are computed again; the error of what leaves the hull is in each.
    room = max(2, _KEPT // (points.count * points.dimension))
    try:
        for phase in solver.phases(points, plan.dynamics):
            unchanged = unchanged + 1 if phase.unchanged and "integers" in phase.decided_by else 0
            if not is_last and _is_slow(phase, len(decided), unchanged, plan):
                raise Undecided
            decided.append((phase.layer, phase.decided_by, phase.margin))
            report(phase.layer, plan.last or plan.usual)
            if not phase.unchanged:
                changed_at = phase.layer
            ends = phase.until is None or (plan.last is not None and phase.until > plan.last)
            if ends and not is_last and plan.layers is None and _may_last(phase):
                raise Undecided
            since = phase.leading_since(since)
            if len(kept) == room and plan.dynamics.traits.convex:
                kept.pop()
            kept.append(phase)
            if ends:
                break
            if plan.layers is None:
                work += 0 if phase.exactly is None else phase.exactly.work
                reason = _why_give_up(len(decided), work, phase, plan)
                if reason:
                    break
    except TooLong:
        if not is_last:
            raise Undecided from None
        if not kept or plan.layers is not None:
            raise
        reason = f"exact positions would have more than {MOST_DIGITS:,} digits"
    report.end()
    latest = kept[-1]
    settled_at = changed_at if latest.until is None else None
    # Up to the end of the phase everything is known.
    layers = latest.layer if latest.until is None else latest.until - 1
    if plan.layers is not None:
        layers = plan.layers
    elif plan.max_layers is not None:
        layers = min(layers, plan.max_layers)
    numbers, names, margins = zip(*decided, strict=True)
    by_integers = any("integers" in name for name in names)
    return Run(
        dynamics=plan.dynamics,
        points=points,
        phases=tuple(kept),
        layers=layers,
        settled_at=settled_at,
        stop_reason=why_stopped(plan.layers, layers, settled_at, reason or "not settled yet"),
        arithmetic="exact" if by_integers else solver.arithmetic,
        leader_since=as_array(since, "`leader_since`"),
        decided_at=numbers,
        decided_by=names,
        margins=np.array(margins),
        solver=solver,
        tensor_kind=kind,
    )


def _is_slow(phase: Any, decided: int, unchanged: int, plan: Plan) -> bool:
    """Whether going layer by layer no longer pays: integers decide again and again that nothing has
    changed, or a run without a last layer does not settle."""
    points = len(phase.is_leader)
    if unchanged > 8 + points // 256:
        return True
    if plan.layers is not None or decided != MOST_LAYERS - 1:
        return False
    return points * int((~phase.choices.follows_leader).sum()) < _MOST_LEADS


def _may_last(phase: Any) -> bool:
    """Whether a phase may last for ever although its solver does not say so: points that tie
    others may go on to do so."""
    return phase.until is not None and bool((phase.choices.sizes > 1).any())


def _why_give_up(decisions: int, work: int, phase: Any, plan: Plan) -> str:
    """Why a run that does not settle had better stop after a phase, if so."""
    if plan.max_layers is None and decisions > plan.usual:
        return "not settled yet"
    if work <= _MOST_WORK:
        return ""
    bits = phase.layer * math.log2(plan.dynamics.contraction.denominator)
    if isinstance(phase, GeneralPhase):
        bits = phase.bits
    digits = int(bits * math.log10(2))
    return f"exact positions have {digits:,} digits by now, and more with every layer"


def why_stopped(asked: int | None, last: int, settled_at: int | None, reason: str) -> str:
    """Why a run that ends at layer `last` does so, in words."""
    if asked is not None:
        settled = "not settled yet" if settled_at is None else f"settled at layer {settled_at}"
        return f"{pluralize(last, 'layer')} asked for and done; {settled}"
    if settled_at is not None:
        return f"settled at layer {settled_at}: no attended set ever changes again"
    return f"gave up at layer {last:,}: {reason}"
