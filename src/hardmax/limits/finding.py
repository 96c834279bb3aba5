"""`limit`: where every token ends after infinitely many layers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

import numpy as np

from hardmax.checking import whole_number
from hardmax.dynamics import Dynamics, read_dynamics
from hardmax.engines.machines import Machine
from hardmax.limits.result import Limit, limits_to_pandas
from hardmax.runs.records import Every, LastOnly
from hardmax.runs.simulation import Progress, simulate
from hardmax.runs.stops import Settled
from hardmax.runs.trajectories import Trajectories
from hardmax.runs.trajectory import Trajectory
from hardmax.tokens.types import ManyClouds, OneCloud
from hardmax.wording import counted

if TYPE_CHECKING:
    import pandas

# Where the theorem holds, clouds settle, most of them in a handful of layers; where it does not, they may never.
PATIENCE, PATIENCE_WITHOUT_THEOREM = 10_000, 500


class Options(TypedDict, total=False):
    """What `limit` can be told besides tokens and dynamics."""

    arithmetic: str
    at_most: int | None
    progress: Progress | None
    engine: Machine | str | None


@overload
def limit(tokens: OneCloud, dynamics: Dynamics, **options: Unpack[Options]) -> Limit: ...
@overload
def limit(tokens: ManyClouds, dynamics: Dynamics, **options: Unpack[Options]) -> "Limits": ...
@overload
def limit(tokens: Any, dynamics: Dynamics, **options: Unpack[Options]) -> Any: ...
def limit(
    tokens: Any,
    dynamics: Dynamics,
    *,
    arithmetic: str = "certified",
    at_most: int | None = None,
    progress: Progress | None = None,
    engine: Machine | str | None = None,
) -> Any:
    """The infinite-depth limit: a `Limit`, or a list of them if `tokens` is a batch of clouds.

    Walks until the attended sets are proved never to change again, by at most `at_most` layers, and reads off where
    everybody goes. If they do not settle, the result says so, and how far `points` may be off. `engine` is as in
    `simulate`.

    >>> lim = limit([[3.0], [-1.0], [1.0]], Dynamics(1))
    >>> lim.points.ravel().tolist(), lim.clusters.labels.tolist(), lim.layers_to("0.001")
    ([3.0, -1.0, 3.0], [0, 1, 0], 11)
    """
    dynamics = read_dynamics(dynamics)
    if at_most is None:
        at_most = PATIENCE if dynamics.is_definite else PATIENCE_WITHOUT_THEOREM
    run = simulate(
        tokens,
        dynamics,
        stop=Settled(whole_number(at_most, "`at_most`", at_least=0)),
        arithmetic=arithmetic,
        # Where there is no theorem there may be cycles, which are found in the layers.
        record=LastOnly() if dynamics.is_definite else Every(1),
        progress=progress,
        engine=engine,
    )
    return Limit(run) if isinstance(run, Trajectory) else Limits(run)


class Limits(Sequence[Limit]):
    """The limits of a batch, in order; each is put together when asked for."""

    def __init__(self, runs: Trajectories) -> None:
        self.runs = runs

    def __len__(self) -> int:
        return len(self.runs)

    @overload
    def __getitem__(self, index: int) -> Limit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Limit]: ...
    def __getitem__(self, index: int | slice) -> Limit | Sequence[Limit]:
        found = self.runs[index]
        return Limit(found) if isinstance(found, Trajectory) else [Limit(run) for run in found]

    @property
    def points(self) -> Any:
        """Where every token of every cloud ends, in the form in which they came; all clouds must have settled."""
        return self.runs.ends()

    @property
    def leaders(self) -> list[np.ndarray]:
        """For each cloud the tokens that lead."""
        return self.runs.leaders

    @property
    def settled_at(self) -> list[int | None]:
        """For each cloud the layer at which it settled."""
        return self.runs.settled_at

    def save(self, path: str | Path) -> None:
        """Write the runs, from which the limits are known again, to a `.npz` or `.json` file, whole or not at all."""
        self.runs.save(path)

    @staticmethod
    def load(path: str | Path) -> "Limits":
        """Read limits that `save` wrote, or those of any runs in such a file."""
        return Limits(Trajectories.load(path))

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows of every limit, with a column `cloud` before them."""
        return limits_to_pandas(list(self), with_cloud=True)

    def __repr__(self) -> str:
        settled = sum(layer is not None for layer in self.settled_at)
        return f"Limits({counted(len(self), 'cloud')}, {settled:,} settled)"

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import limits_card

        return limits_card(self)


def limits_of(result: "Limit | Sequence[Limit]") -> list[Limit]:
    """One or many, as a list."""
    return [result] if isinstance(result, Limit) else list(result)
