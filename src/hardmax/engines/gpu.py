"""Walking on a GPU, in torch tensors that stay there between the layers. Needs the extra `gpu`.

Every choice is proved as by `floating.Proof`: who is furthest is found by `gpu_contest`, and `bounds` says by how much
it must lead.
"""

# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false, reportIndexIssue=false
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from hardmax.dynamics import Dynamics
from hardmax.engines.bounds import LARGEST, SMALLEST, score_slack, step_error
from hardmax.engines.floating import Undecided, float_metric, relative_margin
from hardmax.engines.gpu_contest import prove_gpu
from hardmax.engines.gpu_tensors import INSTALLED

if INSTALLED:
    import torch


@dataclass(frozen=True, eq=False)
class GpuLayer:
    """A layer of a walk: where the points are, and whom each attends to."""

    layer: int
    positions: torch.Tensor  # (p, d)
    chosen: torch.Tensor  # (p,) the point that each point attends to, alone
    since: torch.Tensor  # (p,) the layer since which each leads; -1: it does not
    settled: bool  # whether everybody follows a leader, for ever
    margin: float
    largest: float  # norm
    error: float  # how far positions can be from the truth


def walk_layers(positions: torch.Tensor, dynamics: Dynamics, error: float = 0.0) -> Iterator[GpuLayer]:
    """The layers of a walk of distinct points, known up to `error`, to where it settles; `Undecided` may be raised."""
    if not SMALLEST <= float(torch.stack(positions.aminmax()).abs().max()) <= LARGEST:
        raise Undecided
    keep = float(dynamics.keep)
    everybody = torch.arange(len(positions), device=positions.device)
    chosen, pending, since = everybody, everybody, torch.full_like(everybody, -1)
    for number in count():
        norms = torch.linalg.vector_norm(positions, dim=1) + 2.0**-500
        largest = float(norms.max())
        winners, margin = _choose(positions, pending, norms, largest, dynamics, error)
        chosen = winners if len(pending) == len(chosen) else chosen.index_copy(0, pending, winners)
        leads = chosen == everybody
        since = torch.where(leads & (since < 0), number, since)
        pending = torch.nonzero(~leads[chosen]).flatten()
        yield GpuLayer(number, positions, chosen, since, not len(pending), margin, largest, error)
        if not len(pending):
            return
        targets = positions[chosen]
        positions = targets + keep * (positions - targets)
        error += step_error(largest)


def _choose(
    positions: torch.Tensor, rows: torch.Tensor, norms: torch.Tensor, largest: float, dynamics: Dynamics, error: float
) -> tuple[torch.Tensor, float]:
    """Whom the points of these rows attend to, and the smallest margin."""
    metric = float_metric(dynamics)
    asking = positions[rows]
    if metric.matrix is not None:
        asking = asking @ torch.from_numpy(metric.matrix).to(positions.device).T
    # The bounds are plain arithmetic on norms: they take tensors as they take arrays.
    slack = score_slack(norms[rows], largest, positions.shape[1], metric.norm, metric.error, error)  # pyright: ignore[reportArgumentType]
    with torch.cuda.device_of(positions):  # of several GPUs, kernels run on that of the tokens
        winners, gap = prove_gpu(asking, positions, slack)  # pyright: ignore[reportArgumentType]
    return winners, relative_margin(gap, metric.norm, largest)
