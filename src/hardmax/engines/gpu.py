"""Walking on a GPU, in torch tensors that stay there between the layers. Needs the extra `gpu`.

Every choice is proved as by `floating.Proof`: who is furthest is found by `gpu_contest`, and `bounds` says by how much
it must lead.
"""

# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false, reportIndexIssue=false
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from hardmax.dynamics import Dynamics
from hardmax.engines.bounds import LARGEST, SMALLEST, SlackFactors, step_error
from hardmax.engines.floating import Undecided
from hardmax.engines.floats import float_metric, relative_margin
from hardmax.engines.gpu_contest import prove_gpu
from hardmax.engines.gpu_tensors import INSTALLED, check_table

if INSTALLED:
    import torch


@dataclass(frozen=True, eq=False)
class GpuLayer:
    """A layer of a walk: where the points are, and whom each attends to."""

    layer: int
    positions: torch.Tensor  # (p, d)
    chosen: torch.Tensor  # (p,) the point that each point attends to, alone
    leads: torch.Tensor  # (p,) which points attend to themselves
    settled: bool  # whether everybody follows a leader, for ever
    margin: float
    largest: float  # norm
    error: float  # how far positions can be from the truth


@dataclass(frozen=True, eq=False)
class GpuWalk:
    """Where a cloud settles: token i follows `leaders[i]` for ever, z_i(settled + m) = l + g^m (z_i(settled) - l)."""

    tokens: torch.Tensor  # (n, d) at the layer `settled`
    leaders: torch.Tensor  # (n,) the token at the limit of each token; of equal tokens, the first
    leader_since: torch.Tensor  # (n,) -1: not a leader
    settled: int
    margin: float  # at most the smallest lead, as a share of |A| R^2
    error: float  # how far `tokens` can be from the truth

    @property
    def limits(self) -> torch.Tensor:
        """The limit of every token."""
        return self.tokens[self.leaders]


def walk_gpu(points: torch.Tensor, dynamics: Dynamics) -> GpuWalk:
    """Walk a cloud on its device until it settles; every choice is proved as by `Proof`, or `Undecided` is raised.

    Equal tokens stay equal for ever: they are merged, where there are any.
    """
    check_table("points", points)
    dynamics.check_dimension(points.shape[1])
    tokens = points + 0.0  # -0.0 becomes 0.0
    try:
        return _walk_distinct(tokens, dynamics)
    except Undecided:
        distinct, of_token = torch.unique(tokens, dim=0, return_inverse=True)
        if len(distinct) == len(tokens):
            raise
    walk = _walk_distinct(distinct, dynamics)
    first = torch.full((len(distinct),), len(tokens), dtype=torch.int64, device=tokens.device)
    first.scatter_reduce_(0, of_token, torch.arange(len(tokens), device=tokens.device), "amin")
    return replace(
        walk,
        tokens=walk.tokens[of_token],
        leaders=first[walk.leaders[of_token]],
        leader_since=walk.leader_since[of_token],
    )


def _walk_distinct(positions: torch.Tensor, dynamics: Dynamics) -> GpuWalk:
    since = torch.full((len(positions),), -1, dtype=torch.int64, device=positions.device)
    margins = []
    for last in walk_layers(positions, dynamics):
        since[last.leads & (since < 0)] = last.layer
        margins.append(last.margin)
    return GpuWalk(last.positions, last.chosen, since, last.layer, min(margins), last.error)


def walk_layers(positions: torch.Tensor, dynamics: Dynamics, error: float = 0.0) -> Iterator[GpuLayer]:
    """The layers of a walk of distinct points, known up to `error`, to where it settles; `Undecided` may be raised."""
    if not SMALLEST <= float(positions.abs().max()) <= LARGEST:
        raise Undecided
    keep = float(dynamics.keep)
    everybody = torch.arange(len(positions), device=positions.device)
    chosen, pending = everybody, everybody
    for number in count():
        norms = torch.linalg.vector_norm(positions, dim=1) + 2.0**-500
        largest = float(norms.max())
        winners, margin = _choose(positions, pending, norms, largest, dynamics, error)
        chosen = winners if len(pending) == len(chosen) else chosen.index_copy(0, pending, winners)
        leads = chosen == everybody
        pending = torch.nonzero(~leads[chosen]).flatten()
        yield GpuLayer(number, positions, chosen, leads, not len(pending), margin, largest, error)
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
    factors = SlackFactors.of(positions.shape[1], metric)
    slack = factors.slack(norms[rows], error, largest, error)  # pyright: ignore[reportArgumentType]
    winners, gap = prove_gpu(asking, positions, slack)  # pyright: ignore[reportArgumentType]
    return winners, relative_margin(gap, metric.norm, largest)
