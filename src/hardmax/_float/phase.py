"""A phase of layers whose points and targets are floats."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hardmax._exact.positions import ExactView, Phase
from hardmax._exact.vectors import power
from hardmax._float.active_set import ActiveSet, mean_positions
from hardmax._tokens.rationals import unit_of

# Means of more points than this are left as floats have them.
_FEW = 1000
# Sums and differences of numbers beyond 2 to this may overflow.
_LARGE = 900


@dataclass(frozen=True, eq=False)
class StoredPositions:
    """Positions as they are."""

    positions: np.ndarray
    multiplicities: np.ndarray

    def in_units(self) -> np.ndarray:
        return self.positions


@dataclass(frozen=True, eq=False, kw_only=True)
class FloatPhase(Phase):
    """Points and targets as floats."""

    source: ActiveSet | StoredPositions
    """Where the points are at the first layer, computed when needed."""
    error: float
    """At any layer that the phase covers; nan if nothing is promised."""
    exactly: ExactView | None = None
    """Exact positions, where every choice is proved."""
    stored_targets: np.ndarray | None = None

    @cached_property
    def positions(self) -> np.ndarray:
        """Where the points are at the first layer of the phase, (p, d)."""
        return self.source.in_units()

    @cached_property
    def targets(self) -> np.ndarray:
        """Where each point goes, (p, d). Of limits that are means of few points every coordinate is rounded once."""
        if self.stored_targets is not None:
            return self.stored_targets
        counts = self.source.multiplicities
        targets = _without_overflow(lambda z: mean_positions(z, self.choices, counts), self.positions)
        if self.until is None and self.exactly is not None and not self.choices.all_single:
            few = np.flatnonzero((self.choices.sizes > 1) & (self.choices.sizes <= _FEW))
            if len(few):
                targets[few] = np.array(self.exactly.targets(few.tolist()), dtype=np.float64)
        return targets

    def floats_at(self, layer: int) -> np.ndarray:
        if layer == self.layer:
            return self.positions
        shrink = float(power(self.keep, layer - self.layer))
        return _without_overflow(lambda z, w: w + shrink * (z - w), self.positions, self.targets)


def _without_overflow(mix: Callable[..., np.ndarray], *tables: np.ndarray) -> np.ndarray:
    """Convex combinations of the rows of tables, computed in smaller units where sums could overflow."""
    spare = max(0, *(unit_of(table) - _LARGE for table in tables))
    if not spare:
        return mix(*tables)
    mixed = mix(*(np.ldexp(table, -spare) for table in tables))
    largest = np.ldexp(np.finfo(np.float64).max, -spare)  # rounding may lead beyond it, the combinations do not
    return np.ldexp(np.clip(mixed, -largest, largest), spare)
