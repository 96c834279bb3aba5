"""Many small clouds on a GPU in one call of a kernel: `batch.walk_batch`, in torch tensors that stay there.

**How wrong the filter can be.** Write v = 2^-24, and s for the power of two that brings the largest coordinate of a
cloud to between 1/2 and 1. Rounding s y and s x to float32 changes each coordinate by at most v of itself, a dot
product of float32 numbers, fused or not, loses at most gamma_d(v) of |s y| |s x|; so a filter score is within
(d + 4) v s^2 a rho_i rho of s^2 <y, x>, with a, rho_i, rho as in `bounds`, for d < 2^12. Underflow adds less than
2^-110, since a direction is at most 2 d long. The float64 score that the filter stands in for is itself within
gamma_d(u) of <y, x>. B = (d + 8) v a rho_i rho, times SAFETY, covers both and the rounding of B itself.

**What follows.** A point whose filter score leads all others by more than s^2 (2 B + slack) leads in float64 by more
than the slack: it is chosen, as it would have been. Short points need not be looked at where a rho_i times the longest
of them trails by as much. Rows for which neither holds are scored in float64, as on a CPU, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from hardmax._batch import UNDECIDED, BatchOutcome, Then
from hardmax._float.bounds import SAFETY, float_metric, kernel_factors
from hardmax._gpu import batch_kernels as gpu_clouds
from hardmax._gpu.batch_kernels import WARP
from hardmax._gpu.tensors import INSTALLED, check_table
from hardmax._validation import InputError
from hardmax.dynamics import Dynamics

# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false, reportIndexIssue=false


if INSTALLED:
    import torch

LARGEST_CLOUD, LARGEST_DIMENSION = 1024, 64
# More programs than run at a time on the GPUs of today.
_PROGRAMS = 132 * 32
# A token is long if the square of its norm is this share of the largest.
_LONG = 0.25


@dataclass(frozen=True, eq=False)
class GpuBatchOutcome:
    """A `BatchOutcome` in tensors. Of undecided clouds nothing else is known."""

    tokens: torch.Tensor  # (total, d) at the layer asked for, or where the cloud settled
    leader_since: torch.Tensor  # (total,) -1: not a leader
    settled: torch.Tensor  # (clouds,) the layer; -1: not yet; UNDECIDED: floats could not prove a choice
    errors: torch.Tensor  # (clouds,) how far tokens can be from the truth

    @property
    def undecided(self) -> torch.Tensor:
        """The clouds that integers have to decide."""
        return torch.nonzero(self.settled == UNDECIDED).flatten()

    def to_numpy(self) -> BatchOutcome:
        """The same outcome, off the device."""
        parts = (self.tokens, self.leader_since, self.settled, self.errors)
        return BatchOutcome(*(part.cpu().numpy() for part in parts))


def suits(offsets: Any, dimension: int) -> bool:
    """Whether all clouds are small enough for a program each.

    >>> suits([0, 132, 1000], 2), suits([0, 132, 5000], 2), suits([0, 132], 300)
    (True, False, False)
    """
    return _longest(offsets) <= LARGEST_CLOUD and dimension <= LARGEST_DIMENSION


def _longest(offsets: Any) -> int:
    if isinstance(offsets, np.ndarray | list | tuple):
        return int(np.diff(offsets).max())
    return int(offsets.diff().max())


def walk_batch_gpu(
    tokens: torch.Tensor,
    offsets: torch.Tensor | np.ndarray,
    dynamics: Dynamics,
    layers: int,
    *,
    then: Then = Then.GO_ON,
) -> GpuBatchOutcome:
    """Walk every cloud `tokens[offsets[b]:offsets[b + 1]]` to where it settles, at most to a layer, `then` as asked."""
    check_table("tokens", tokens)
    dynamics.check_dimension(tokens.shape[1])
    device, (_, d) = tokens.device, tokens.shape
    longest = _longest(offsets)
    _check_sizes(longest, d)
    offsets = torch.as_tensor(offsets, dtype=torch.int64, device=device).contiguous()
    clouds = len(offsets) - 1
    room = -(-longest // WARP) * WARP
    slots = 1 << (4 * room - 1).bit_length()  # of a table that is nearly empty
    programs = min(clouds, _PROGRAMS)
    outcome = _outcome_to_fill(tokens, clouds)
    with torch.cuda.device_of(tokens):  # of several GPUs, the kernel runs on that of the tokens
        gpu_clouds.walk_clouds[(programs,)](
            tokens.contiguous(),
            offsets,
            *_numbers(dynamics, d, layers, then, device),
            outcome.tokens,
            outcome.leader_since,
            outcome.settled,
            outcome.errors,
            *_memory(programs, room, slots, d, device),
            clouds,
            layers,
            has_metric=dynamics.matrix is not None,
            room=room,
            slots=slots,
            d=d,
            num_warps=1,
            enable_fp_fusion=False,
        )
    return outcome


def _check_sizes(longest: int, d: int) -> None:
    if longest > LARGEST_CLOUD or d > LARGEST_DIMENSION:
        raise InputError(
            f"`tokens` of {longest:,} to a cloud and {d} coordinates are too many for one program on a GPU, which "
            f"takes {LARGEST_CLOUD:,} and {LARGEST_DIMENSION}. Walk the large clouds one by one."
        )


def _outcome_to_fill(tokens: torch.Tensor, clouds: int) -> GpuBatchOutcome:
    device = tokens.device
    return GpuBatchOutcome(
        torch.empty_like(tokens, memory_format=torch.contiguous_format),
        torch.empty(len(tokens), dtype=torch.int64, device=device),
        torch.empty(clouds, dtype=torch.int64, device=device),
        torch.empty(clouds, dtype=torch.float64, device=device),
    )


def _memory(programs: int, room: int, slots: int, d: int, device: torch.device) -> tuple[torch.Tensor, ...]:
    """What programs work with: `fines`, `roughs`, `lists` and `queue` of `gpu_clouds.walk_clouds`."""
    return (
        torch.empty((programs, 2, room, d), dtype=torch.float64, device=device),
        # What lies behind the points of a cloud is scored, and thrown away: it must be numbers.
        torch.zeros((programs, 2, d, room), dtype=torch.float32, device=device),
        torch.empty((programs, 4 * room + slots), dtype=torch.int32, device=device),
        torch.zeros(1, dtype=torch.int32, device=device),
    )


@lru_cache(maxsize=16)
def _numbers(dynamics: Dynamics, d: int, layers: int, then: Then, device: torch.device) -> tuple[torch.Tensor, ...]:
    """The metric, the shares that a token keeps in so many layers, and the factors that the kernel counts with."""
    metric = float_metric(dynamics)
    # In the order of `gpu_layout`.
    factors = kernel_factors(d, metric)
    factors += [float(dynamics.contraction), 2 * (d + 8) * 2.0**-24 * SAFETY * metric.norm, SAFETY * metric.norm, _LONG]
    matrix = np.zeros((1, 1)) if metric.matrix is None else metric.matrix
    parts = (matrix, then.shares(dynamics, layers), np.array(factors))
    return tuple(torch.from_numpy(part).to(device) for part in parts)
