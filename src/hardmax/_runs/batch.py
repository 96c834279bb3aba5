"""Many small clouds of the paper's layer, run by one kernel (`hardmax._float.batch`)."""

from typing import Any, TypeGuard

import numpy as np

from hardmax._float.batch import UNDECIDED, WALKED, BatchOutcome, tokens_at, walk_batch
from hardmax._float.search import CPU, Cpu
from hardmax._tokens.batches import PackedClouds, as_array
from hardmax.dynamics import Dynamics
from hardmax.engines import Engine

LARGEST_SMALL_CLOUD = 2048
DEEPEST = 100_000  # layers that one kernel walks a batch through


def takes(clouds: Any, dynamics: Dynamics, layers: int | None) -> TypeGuard[PackedClouds]:
    """Whether a kernel can run all these clouds."""
    return (
        isinstance(clouds, PackedClouds)
        and clouds.tokens.dtype != object
        and int(np.diff(clouds.offsets).max()) <= LARGEST_SMALL_CLOUD
        and dynamics.traits.plain
        and (layers is None or layers <= DEEPEST)
    )


class Kernel:
    """What the kernel knows of clouds to a last layer, or to where they settle within `most`."""

    def __init__(
        self,
        clouds: PackedClouds,
        dynamics: Dynamics,
        layers: int | None,
        most: int,
        engine: Engine,
    ) -> None:
        self.clouds, self.dynamics, self.asked = clouds, dynamics, layers
        self.cpu = engine if isinstance(engine, Cpu) else CPU
        self.layers = most if layers is None else layers
        self.outcome = self._walk(self.layers)
        undecided = UNDECIDED if layers is not None else WALKED  # then others may jump over layers
        self.left = np.flatnonzero(self.outcome.settled <= undecided).tolist()
        """Clouds that others have to run: of those, the arrays mean nothing."""

    def _walk(self, layers: int) -> BatchOutcome:
        tokens, offsets = as_array(self.clouds.tokens, "`tokens`"), self.clouds.offsets
        return walk_batch(tokens, offsets, self.dynamics, layers, cpu=self.cpu)

    def rows_of(self, cloud: int) -> slice:
        """The rows of a cloud in the table of all tokens."""
        return slice(*self.clouds.offsets[cloud : cloud + 2].tolist())

    def at(self, layer: int | None) -> np.ndarray:
        """All tokens at a layer, or (None) at their limits: a table of the caller's own."""
        outcome, settled = self.outcome, self.outcome.settled
        have_settled = bool((settled != WALKED).all()) and (layer is None or max(settled) <= layer)
        if layer not in (None, self.layers) and not have_settled:
            outcome = self._walk(layer)
        return tokens_at(outcome, self.clouds.offsets, self.dynamics.contraction, layer)

    def settled_at(self, cloud: int) -> int | None:
        """The layer at which a cloud settled."""
        settled = int(self.outcome.settled[cloud])
        return None if settled < 0 else settled

    def leaders(self, cloud: int) -> tuple[np.ndarray, np.ndarray]:
        """The leaders of a cloud, and the layer at which each became one."""
        since = self.outcome.leader_since[self.rows_of(cloud)]
        leaders = np.flatnonzero(since >= 0)
        return leaders, since[leaders]

    def leader_of(self, cloud: int) -> np.ndarray:
        """The leader that each token of a cloud follows; -1 where it has not settled."""
        leader_of: Any = self.outcome.leader_of
        return leader_of[self.rows_of(cloud)]

    def error(self, cloud: int) -> float:
        """How far tokens of a cloud can be from the truth."""
        return float(self.outcome.errors[cloud])
