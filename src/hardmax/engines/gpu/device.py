"""Walking on a GPU, in torch tensors that stay there between the layers. Needs the extra `gpu`.

Every choice is proved as by `judges.Proof`: `argmax` finds who is furthest, and `bounds` says by how much it must lead.
"""

# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false, reportIndexIssue=false
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from hardmax.dynamics import Dynamics
from hardmax.engines.floats.bounds import LARGEST, SMALLEST, SlackFactors, step_error
from hardmax.engines.floats.metric import float_metric, relative_margin
from hardmax.engines.gpu.argmax import Argmax, find_furthest
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
    found = _choose(positions, None, dynamics, 0.0, moves=True)
    _check_range(found.largest, positions.shape[1])
    assert found.moved is not None
    return found.moved


def walk_layers(positions: torch.Tensor, dynamics: Dynamics, error: float = 0.0) -> Iterator[GpuLayer]:
    """The layers of a walk of distinct points, known up to `error`, to where it settles; `Undecided` may be raised."""
    everybody = torch.arange(len(positions), device=positions.device)
    chosen, pending, since = everybody, None, torch.full_like(everybody, -1)
    for number in count():
        found = _choose(positions, pending, dynamics, error)
        if number == 0:
            _check_range(found.largest, positions.shape[1])
        chosen = found.winners if pending is None else chosen.index_copy(0, pending, found.winners)
        leads = chosen == everybody
        since = torch.where(leads & (since < 0), number, since)
        pending = torch.nonzero(~leads[chosen]).flatten()
        margin = relative_margin(float(found.gaps.min()), float_metric(dynamics).norm, found.largest)
        yield GpuLayer(number, positions, chosen, since, not len(pending), margin, found.largest, error)
        if not len(pending):
            return
        targets = positions[chosen]
        positions = targets + float(dynamics.keep) * (positions - targets)
        error += step_error(found.largest)


def _check_range(largest: float, dimension: int) -> None:
    """Refuse points whose largest coordinate may lie outside the sizes for which the bounds hold."""
    if not SMALLEST * dimension <= largest <= LARGEST:
        raise Undecided


def _choose(
    positions: torch.Tensor, rows: torch.Tensor | None, dynamics: Dynamics, error: float, *, moves: bool = False
) -> Argmax:
    """Whom the points of these rows attend to (None: of all)."""
    metric = float_metric(dynamics)
    askers, directions = None if rows is None else positions[rows], None
    if metric.matrix is not None:
        matrix = torch.from_numpy(metric.matrix).to(positions.device)
        directions = (positions if askers is None else askers) @ matrix.T
    factors = SlackFactors.of(positions.shape[1], metric)
    keep = float(dynamics.keep) if moves else None
    with torch.cuda.device_of(positions):  # of several GPUs, kernels run on that of the tokens
        return find_furthest(positions, factors, error=error, askers=askers, directions=directions, keep=keep)
