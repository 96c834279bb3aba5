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
from hardmax.engines.floats.bounds import LARGEST, SMALLEST, SlackFactors, step_error
from hardmax.engines.floats.metric import float_metric, relative_margin
from hardmax.engines.gpu.contest import prove_gpu
from hardmax.engines.gpu.tensors import INSTALLED
from hardmax.engines.judging.walking import Undecided

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


def move_once(positions: torch.Tensor, dynamics: Dynamics) -> torch.Tensor:
    """Points one layer later; `Undecided` may be raised, as where one that is attended to is repeated."""
    norms, largest = _norms(positions)
    _check_range(largest, positions.shape[1])
    chosen, _ = _choose(positions, None, norms, largest, dynamics, 0.0)
    return _step(positions, chosen, float(dynamics.keep))


def walk_layers(positions: torch.Tensor, dynamics: Dynamics, error: float = 0.0) -> Iterator[GpuLayer]:
    """The layers of a walk of distinct points, known up to `error`, to where it settles; `Undecided` may be raised."""
    everybody = torch.arange(len(positions), device=positions.device)
    chosen, pending, since = everybody, None, torch.full_like(everybody, -1)
    for number in count():
        norms, largest = _norms(positions)
        if number == 0:
            _check_range(largest, positions.shape[1])
        winners, margin = _choose(positions, pending, norms, largest, dynamics, error)
        chosen = winners if pending is None else chosen.index_copy(0, pending, winners)
        leads = chosen == everybody
        since = torch.where(leads & (since < 0), number, since)
        pending = torch.nonzero(~leads[chosen]).flatten()
        yield GpuLayer(number, positions, chosen, since, not len(pending), margin, largest, error)
        if not len(pending):
            return
        positions = _step(positions, chosen, float(dynamics.keep))
        error += step_error(largest)


def _norms(positions: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Those of all points, none too small even where squares underflow, and the largest."""
    norms = torch.linalg.vector_norm(positions, dim=1) + 2.0**-500
    return norms, float(norms.max())


def _check_range(largest: float, dimension: int) -> None:
    """Refuse points whose largest coordinate may lie outside the sizes for which the bounds hold."""
    if not SMALLEST * dimension <= largest <= LARGEST:
        raise Undecided


def _step(positions: torch.Tensor, chosen: torch.Tensor, keep: float) -> torch.Tensor:
    targets = positions[chosen]
    return targets + keep * (positions - targets)


def _choose(
    positions: torch.Tensor,
    rows: torch.Tensor | None,
    norms: torch.Tensor,
    largest: float,
    dynamics: Dynamics,
    error: float,
) -> tuple[torch.Tensor, float]:
    """Whom the points of these rows attend to (None: of all), and the smallest margin."""
    metric = float_metric(dynamics)
    directions, sizes = (positions, norms) if rows is None else (positions[rows], norms[rows])
    if metric.matrix is not None:
        directions = directions @ torch.from_numpy(metric.matrix).to(positions.device).T
    # The bounds are plain arithmetic on norms: they take tensors as they take arrays.
    factors = SlackFactors.of(positions.shape[1], metric)
    slack = factors.slack(sizes, error, largest, error)  # pyright: ignore[reportArgumentType]
    with torch.cuda.device_of(positions):  # of several GPUs, kernels run on that of the tokens
        winners, gap = prove_gpu(directions, positions, slack)  # pyright: ignore[reportArgumentType]
    return winners, relative_margin(gap, metric.norm, largest)
