"""Many clouds in one call of a kernel: where their tokens are at a layer, who leads, and what floats cannot decide."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from hardmax.dynamics import Dynamics
from hardmax.engines.bounds import kernel_factors
from hardmax.engines.cpu import CPU, Cpu
from hardmax.engines.floats import float_metric
from hardmax.engines.kernels.small_clouds import UNDECIDED, walk_clouds
from hardmax.engines.stretch import power
from hardmax.tokens.kernels.merging import table_size

# Clouds between two words about progress.
_AT_ONCE = 4096


class Then(Enum):
    """What the tokens of a cloud do once it has settled."""

    GO_ON = auto()  # to the layer asked for
    STAY = auto()
    ARRIVE = auto()  # at their limits

    def shares(self, dynamics: Dynamics, layers: int) -> np.ndarray:
        """How much of its way a token keeps over 0, 1, … layers."""
        if self is Then.GO_ON:
            return np.array([float(power(dynamics.keep, m)) for m in range(layers + 1)])
        return np.full(layers + 1, 1.0 if self is Then.STAY else 0.0)


@dataclass(frozen=True, eq=False)
class BatchOutcome:
    """What the kernel found, token by token and cloud by cloud."""

    tokens: np.ndarray  # (total, d) at the layer asked for, or where the cloud settled
    leader_since: np.ndarray  # (total,) -1: not a leader
    settled: np.ndarray  # (clouds,) the layer; -1: not yet; UNDECIDED: floats could not prove a choice
    errors: np.ndarray  # (clouds,) how far tokens can be from the truth

    @property
    def undecided(self) -> np.ndarray:
        """The clouds that integers have to decide."""
        return np.flatnonzero(self.settled == UNDECIDED)


def walk_batch(
    tokens: np.ndarray,
    offsets: np.ndarray,
    dynamics: Dynamics,
    layers: int,
    *,
    cpu: Cpu = CPU,
    then: Then = Then.GO_ON,
    progress: Callable[[int, int], None] | None = None,
) -> BatchOutcome:
    """Walk every cloud `tokens[offsets[b]:offsets[b + 1]]` to where it settles, at most to a layer, `then` as asked."""
    tokens = tokens + 0.0  # -0.0 becomes 0.0: the same number must have the same bits
    metric = float_metric(dynamics)
    factors = np.array(kernel_factors(tokens.shape[1], metric))
    clouds = len(offsets) - 1
    outcome = BatchOutcome(
        np.empty_like(tokens), np.empty(len(tokens), dtype=np.int64), np.empty(clouds, dtype=np.int64), np.empty(clouds)
    )
    matrix = np.empty((0, 0)) if metric.matrix is None else metric.matrix
    longest = int(np.diff(offsets).max())
    for first in range(0, clouds, _AT_ONCE):
        last = min(first + _AT_ONCE, clouds)
        with cpu.limited():
            walk_clouds(
                tokens,
                tokens.view(np.int64),
                offsets[first : last + 1],
                matrix,
                float(dynamics.keep),
                then.shares(dynamics, layers),
                layers,
                factors,
                longest,
                table_size(longest),
                outcome.tokens,
                outcome.settled[first:last],
                outcome.leader_since,
                outcome.errors[first:last],
            )
        if progress is not None:
            progress(last, clouds)
    return outcome
