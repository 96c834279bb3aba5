"""Many clouds in one call of a kernel: where their tokens are at a layer, who leads, and what floats cannot decide."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache

import numpy as np

from hardmax.compiling import interpreted
from hardmax.dynamics import Dynamics
from hardmax.engines.cpu.kernels.one_cloud import Rules
from hardmax.engines.cpu.kernels.small_clouds import UNDECIDED, WALKED, Clouds, Outcome, walk_clouds
from hardmax.engines.cpu.machine import CPU, Cpu
from hardmax.engines.exact.powers import float_powers
from hardmax.engines.floats.bounds import kernel_factors
from hardmax.engines.floats.metric import float_metric
from hardmax.tokens.kernels.merging import table_size

# Clouds between two words about progress.
_AT_ONCE = 4096
# Most clouds settle sooner. What comes after costs the same at any layer, once they have.
_FIRST_DEPTH = 16
_SMALL = 2**14  # products of coordinates
# Products of coordinates, up to a nanosecond each: of the clouds of a task in one layer, if there are not fewer clouds
# in it, and of a cloud in all its layers.
_TASK, _CLOUDS_OF_A_TASK, _MOST = 2**22, 32, 5 * 10**8


class Then(Enum):
    """What the tokens of a cloud do once it has settled."""

    GO_ON = auto()  # to the layer asked for
    STAY = auto()
    ARRIVE = auto()  # at their limits

    def shares(self, dynamics: Dynamics, layers: int, walked: int | None = None) -> np.ndarray:
        """How much of its way a token keeps until layer `layers`, if its cloud settled 0, 1, … layers before `walked`.

        The clouds are walked no further than to layer `walked` (to `layers`, if None): there is a share for each layer
        at which one of them may settle, and for no other.
        """
        walked = layers if walked is None else walked
        if self is Then.GO_ON:
            return float_powers(dynamics.keep, layers - walked, walked + 1)
        return np.full(walked + 1, 1.0 if self is Then.STAY else 0.0)


def depths(layers: int) -> Iterator[int]:
    """How far to walk until all clouds have settled: a little way first, then 16 times as far, at last all `layers`.

    >>> list(depths(5000)), list(depths(7))
    ([16, 256, 4096, 5000], [7])
    """
    depth = _FIRST_DEPTH
    while depth < layers:
        yield depth
        depth *= 16
    yield layers


@dataclass(frozen=True, eq=False)
class BatchOutcome:
    """What the kernel found, token by token and cloud by cloud."""

    tokens: np.ndarray  # (total, d) at the layer asked for, or where the cloud settled
    leader_since: np.ndarray  # (total,) -1: not a leader
    settled: np.ndarray  # (clouds,) the layer; -1: not yet; UNDECIDED: floats could not prove a choice
    errors: np.ndarray  # (clouds,) how far tokens can be from the truth
    # (total,) the first token, counted in its cloud, at the leader that each follows; -1 where it has not settled
    leader_of: np.ndarray | None = None

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
    leave_long: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> BatchOutcome:
    """Walk every cloud `tokens[offsets[b]:offsets[b + 1]]` to where it settles, at most to a layer, `then` as asked.

    A call of the kernel hears no Ctrl-C: with `leave_long` clouds that could take it a second are left undecided.
    """
    tokens = tokens + 0.0  # -0.0 becomes 0.0: the same number must have the same bits
    bits, metric = tokens.view(np.int64), float_metric(dynamics)
    factors = np.array(kernel_factors(tokens.shape[1], metric))
    clouds = len(offsets) - 1
    since, leader_of = (np.empty(len(tokens), dtype=np.int64) for _ in range(2))
    outcome = BatchOutcome(np.empty_like(tokens), since, np.full(clouds, WALKED), np.empty(clouds), leader_of)
    matrix = np.empty((0, 0)) if metric.matrix is None else metric.matrix
    sizes = np.diff(offsets)
    products = sizes**2 * tokens.shape[1]
    longest, is_small = int(sizes.max()), products.sum() <= _SMALL
    task = int(min(_CLOUDS_OF_A_TASK, max(1, _TASK // products.max())))
    shares = cache(lambda depth: then.shares(dynamics, layers, depth))
    for first in range(0, clouds, _AT_ONCE):
        last = min(first + _AT_ONCE, clouds)
        settled = outcome.settled[first:last]
        for depth in depths(layers):
            if leave_long:
                settled[(settled == WALKED) & (products[first:last] * depth > _MOST)] = UNDECIDED
            with cpu.limited(), interpreted(walk_clouds, if_small=is_small):
                walk_clouds(
                    Clouds(tokens, bits, offsets[first : last + 1], longest, table_size(longest), task),
                    Rules(matrix, float(dynamics.keep), depth, factors),
                    shares(depth),
                    Outcome(outcome.tokens, since, leader_of, settled, outcome.errors[first:last]),
                )
            if not (settled == WALKED).any():
                break
        if progress is not None:
            progress(last, clouds)
    return outcome
