"""The dynamics in float64, and phases whose points and targets are floats."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._exact.positions import ExactView, Phase
from hardmax._exact.vectors import power
from hardmax._float.active_set import ActiveSet, mean_positions
from hardmax._float.bounds import norms_above, relative_margin, rounding_error
from hardmax._float.policies import TieResolver
from hardmax._float.search import CPU, Cpu
from hardmax._layer.attended import AttendedIndices
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import unit_of
from hardmax.dynamics import Dynamics

# Means of more points than this are left as floats have them.
_FEW = 1000
# Sums and differences of numbers beyond 2 to this may overflow.
_LARGE = 900


class Undecided(Exception):
    """Floats cannot prove which token attends to which."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FloatPhase(Phase):
    """Points and targets as floats, to within `error` at any layer of the phase, and exactly."""

    source: ActiveSet
    error: float
    exactly: ExactView

    @cached_property
    def positions(self) -> np.ndarray:
        """Where the points are at the first layer of the phase, (p, d)."""
        return self.source.frame.in_units(self.source.all_positions())

    @cached_property
    def targets(self) -> np.ndarray:
        """Where each point goes, (p, d). Of limits that are means of few points every coordinate is
        rounded once."""
        counts = self.source.multiplicities
        targets = _without_overflow(
            lambda z: mean_positions(z, self.choices, counts), self.positions
        )
        if self.until is None and not self.choices.all_single:
            few = np.flatnonzero((self.choices.sizes > 1) & (self.choices.sizes <= _FEW))
            if len(few):
                targets[few] = np.array(self.exactly.targets(few.tolist()), dtype=np.float64)
        return targets

    def ends(self) -> np.ndarray:
        return self.targets

    def floats_at(self, layer: int) -> np.ndarray:
        if layer == self.layer:
            return self.positions
        shrink = float(power(self.contraction, layer - self.layer))
        return _without_overflow(lambda z, w: w + shrink * (z - w), self.positions, self.targets)


def _without_overflow(mix: Callable[..., np.ndarray], *tables: np.ndarray) -> np.ndarray:
    """Convex combinations of the rows of tables, computed in smaller units where sums could
    overflow."""
    spare = max(0, *(unit_of(table) - _LARGE for table in tables))
    if not spare:
        return mix(*tables)
    mixed = mix(*(np.ldexp(table, -spare) for table in tables))
    largest = np.ldexp(
        np.finfo(np.float64).max, -spare
    )  # rounding may lead beyond it, the combinations do not
    return np.ldexp(np.clip(mixed, -largest, largest), spare)


@dataclass(frozen=True)
class FloatSolver:
    """Floats compute, and every choice is proved."""

    engine: Cpu = CPU
    arithmetic: str = "certified"

    @property
    def exact(self) -> "FloatSolver":
        """A solver whose phases have exact positions."""
        return self

    def phases(self, points: Points, dynamics: Dynamics) -> Iterator[FloatPhase]:
        """The phases from layer 0 on; ends after one that lasts for ever."""
        ties = TieResolver(points, dynamics)
        active = ActiveSet(
            layer=0,
            contraction=dynamics.contraction,
            frame=ties.frame,
            multiplicities=points.multiplicities,
            positions=ties.frame.numbers,
            errors=np.minimum(ties.error, rounding_error(norms_above(ties.frame.numbers))),
            worst=ties.error,
        )
        pending = np.arange(points.count)
        choices = AttendedIndices.of_single(pending)
        lasting: int | None = 0
        while lasting is not None:
            with self.engine.limited():
                if lasting:
                    active = active.after_layers(choices, lasting)
                found = ties.decide(active, pending)
                before, choices = choices, choices.with_rows(pending, found.choices())
                (pending,) = (~choices.follows_leader).nonzero()
                lasting = ties.lasting(active, choices, pending)
                error = active.worst + active.step_error(choices)
                phase = FloatPhase(
                    layer=active.layer,
                    until=None if lasting is None else active.layer + lasting,
                    choices=choices,
                    unchanged=active.layer > 0 and choices.same_as(before),
                    is_leader=ties.is_leader(choices),
                    margin=relative_margin(found.gap, ties.metric.norm, active.longest),
                    contraction=dynamics.contraction,
                    source=active,
                    error=ties.frame.error_in_units(error, active.longest),
                    decided_by=" and ".join(found.by),
                    exactly=ties.exactly(),
                )
            yield phase
