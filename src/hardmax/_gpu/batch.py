"""Many small clouds on a GPU in one kernel: `walk_batch` of `hardmax._float.batch`, in tensors that
stay there.

**How wrong the filter can be.** Write v = 2^-24, and s for the power of two that brings the largest
coordinate of a cloud to between 1/2 and 1. Rounding s y and s x to float32 changes each coordinate
by at most v of itself, a dot product of float32 numbers, fused or not, loses at most gamma_d(v) of
|s y| |s x|; so a filter score is within (d + 4) v s^2 a rho_i rho of s^2 <y, x>, with a, rho_i, rho
as in `bounds`, for d < 2^12. Underflow adds less than 2^-110, since a direction is at most 2 d
long. The float64 score that the filter stands in for is itself within gamma_d(u) of <y, x>. B = (d
+ 8) v a rho_i rho, times SAFETY, covers both and the rounding of B itself.

**What follows.** A point whose filter score leads all others by more than s^2 (2 B + slack) leads
in float64 by more than the slack: it is chosen, as it would have been. Short points need not be
looked at where a rho_i times the longest of them trails by as much. Rows for which neither holds
are scored in float64, as on a CPU, bit for bit."""

from functools import lru_cache
from typing import Any

import numpy as np
import torch

from hardmax._float.batch import WALKED, BatchOutcome, Then, depths
from hardmax._float.bounds import SAFETY, float_metric, kernel_factors
from hardmax._gpu import batch_kernels as kernels
from hardmax._tokens.tensors import is_tensor
from hardmax.dynamics import Dynamics

# pyright: reportMissingImports=false, reportIndexIssue=false

LARGEST_CLOUD, LARGEST_DIMENSION = 1024, 64
# More programs than run at a time on the GPUs of today.
_PROGRAMS = 132 * 32
# A token is long if the square of its norm is this share of the largest.
_LONG = 0.25
# Without fused operations the bits are those of the processor.
_COMPILED = {"num_warps": 1, "enable_fp_fusion": False}


def suits(offsets: np.ndarray, dimension: int) -> bool:
    """Whether all clouds are small enough for a program each."""
    return int(np.diff(offsets).max()) <= LARGEST_CLOUD and dimension <= LARGEST_DIMENSION


def walk_batch_gpu(
    given: torch.Tensor | np.ndarray,
    offsets: np.ndarray,
    dynamics: Dynamics,
    layers: int,
    device: str,
    then: Then,
) -> BatchOutcome:
    """Walk every cloud `given[offsets[b]:offsets[b + 1]]` to where it settles, at most to a layer,
    `then` as asked.

    Of tensors the numbers of each token stay on the device; those of each cloud are fetched.
    """
    tokens = torch.as_tensor(given, device=device).contiguous()
    (total, d), clouds = tokens.shape, len(offsets) - 1
    room = -(-int(np.diff(offsets).max()) // kernels.WARP) * kernels.WARP
    slots = 1 << (4 * room - 1).bit_length()  # of a table that is nearly empty
    programs = min(clouds, _PROGRAMS)
    starts = torch.from_numpy(offsets).to(device)
    moved, since = (
        torch.empty((total, d), dtype=torch.float64, device=device),
        starts.new_empty(total),
    )
    errors = torch.empty(
        (2, clouds), dtype=torch.float64, device=device
    )  # and settled, to be fetched at once
    fines = torch.empty((programs, 2, room, d), dtype=torch.float64, device=device)
    # What lies behind the points of a cloud is scored, and thrown away: it must be numbers.
    roughs = torch.zeros((programs, 2, d, room), dtype=torch.float32, device=device)
    lists = torch.empty((programs, 4 * room + slots), dtype=torch.int32, device=device)
    of_clouds = np.empty((2, clouds))
    for depth in depths(layers):
        numbers = _numbers(dynamics, d, layers, depth, then, device)
        outcome = (moved, since, errors[1].view(torch.int64), errors[0])
        memory = (fines, roughs, lists, torch.zeros(1, dtype=torch.int32, device=device))
        fixed = {"has_metric": dynamics.matrix is not None, "room": room, "slots": slots, "d": d}
        with torch.cuda.device_of(tokens):  # of several GPUs, the kernel runs on that of the tokens
            kernels.walk_clouds[(programs,)](
                tokens, starts, *numbers, *outcome, *memory, clouds, depth, **fixed, **_COMPILED
            )
        of_clouds = errors.cpu().numpy()
        if not (of_clouds[1].view(np.int64) == WALKED).any():
            break
    of_tokens: Any = (
        (moved, since) if is_tensor(given) else (moved.cpu().numpy(), since.cpu().numpy())
    )
    return BatchOutcome(of_tokens[0], of_tokens[1], of_clouds[1].view(np.int64), of_clouds[0])


@lru_cache(maxsize=16)
def _numbers(
    dynamics: Dynamics, d: int, layers: int, depth: int, then: Then, device: str
) -> tuple[torch.Tensor, ...]:
    """The metric, the shares that a token keeps until layer `layers`, and the factors that the
    kernel counts with."""
    metric = float_metric(dynamics)
    factors = kernel_factors(d, metric)  # in the order of `batch_kernels`
    factors += [
        float(dynamics.contraction),
        2 * (d + 8) * 2.0**-24 * SAFETY * metric.norm,
        SAFETY * metric.norm,
        _LONG,
    ]
    matrix = np.zeros((1, 1)) if metric.matrix is None else metric.matrix
    parts = (matrix, then.shares(dynamics.contraction, layers, depth), np.array(factors))
    return tuple(torch.from_numpy(part).to(device) for part in parts)
