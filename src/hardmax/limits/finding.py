"""`limit`: where every token ends after infinitely many layers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hardmax.dynamics import Dynamics
from hardmax.engines.arithmetics import engines_for
from hardmax.engines.machines import Machine, machine_for
from hardmax.limits.result import Limit
from hardmax.metrics import is_metric
from hardmax.runs.records import DEFAULT_MEMORY_LIMIT, Every, LastOnly
from hardmax.runs.simulation import Progress, run_points
from hardmax.runs.stops import Settled
from hardmax.tokens.batches import read_batch
from hardmax.tokens.points import merge
from hardmax.tokens.rationals import whole_number

# Where the theorem holds, clouds settle, most of them in a handful of layers; where it does not, they may never.
PATIENCE, PATIENCE_WITHOUT_THEOREM = 10_000, 500


def limit(
    tokens: Any,
    dynamics: Dynamics,
    *,
    arithmetic: str = "certified",
    at_most: int | None = None,
    progress: Progress | None = None,
    engine: Machine | None = None,
) -> Any:
    """The infinite-depth limit: a `Limit`, or a list of them if `tokens` is a batch of clouds.

    Walks until the attended sets are proved never to change again, by at most `at_most` layers, and reads off where
    everybody goes. If they do not settle, the result says so, and how far `points` may be off. `engine` is as in
    `simulate`.

    >>> lim = limit([[3.0], [-1.0], [1.0]], Dynamics(1))
    >>> lim.points.ravel().tolist(), lim.clusters.labels.tolist(), lim.layers_to("0.001")
    ([3.0, -1.0, 3.0], [0, 1, 0], 11)
    """
    clouds, form = read_batch(tokens)
    for cloud in clouds:
        dynamics.check_dimension(cloud.tokens.shape[1])
    machine = machine_for(tokens, engine)
    machine.check_dimension(clouds[0].tokens.shape[1])
    metric = dynamics.metric
    orderly = metric is None or is_metric(metric)
    if at_most is None:
        at_most = PATIENCE if orderly else PATIENCE_WITHOUT_THEOREM
    stop = Settled(whole_number(at_most, "`at_most`", at_least=0))
    record = LastOnly() if orderly else Every(1)
    engines = engines_for(arithmetic, machine)
    limits: list[Limit] = []
    for cloud in clouds:
        run = run_points(merge(cloud), dynamics, engines, stop, record, DEFAULT_MEMORY_LIMIT)
        limits.append(Limit(replace(run, tensor_kind=form.tensors)))
        if progress is not None:
            progress(len(limits), len(clouds))
    return limits[0] if form.is_single else Limits(limits)


class Limits(list[Limit]):
    """The limits of a batch, in order."""

    def __repr__(self) -> str:
        settled = sum(lim.settled_at is not None for lim in self)
        return f"Limits({len(self):,} clouds, {settled:,} settled)"


def limits_of(result: "Limit | Sequence[Limit]") -> list[Limit]:
    """One or many, as a list."""
    return [result] if isinstance(result, Limit) else list(result)
