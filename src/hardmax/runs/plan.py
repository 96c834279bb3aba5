"""How clouds are to be walked: all that a run needs besides its tokens."""

from dataclasses import dataclass

from hardmax.dynamics import Dynamics
from hardmax.engines.walker import Walker
from hardmax.runs.records import Record
from hardmax.runs.stops import Stop

DEEPEST_KERNEL = 100_000  # layers that one kernel walks a batch through


@dataclass(frozen=True)
class Plan:
    """The dynamics, who walks, when to stop and what to keep."""

    dynamics: Dynamics
    walkers: tuple[Walker, ...]  # tried in turn; the last one decides everything
    stop: Stop
    record: Record
