"""Torch tensors at the door: recognised without importing torch, read without rounding, returned as
they came.

They are checked where they are: of a tensor on a GPU no more than its smallest and its largest
number leave it."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.validation import InputError

if TYPE_CHECKING:
    import torch

# pyright: reportMissingImports=false


def is_tensor(given: Any) -> bool:
    # Whoever has a tensor has imported torch, or is about to.
    return isinstance(given, getattr(sys.modules.get("torch"), "Tensor", ()))


def to_numpy(tensor: torch.Tensor, name: str) -> np.ndarray:
    """The numbers of a tensor, none of them rounded: floats of every kind fit into float64,
    integers stay integers."""
    try:
        dense = tensor.detach().cpu().resolve_neg()
        return (dense.double() if dense.dtype.is_floating_point else dense).numpy()
    except (TypeError, RuntimeError):  # sparse, quantised, conjugate, or without any numbers (meta)
        came = f"{tensor.dtype}, {tensor.layout}, on {tensor.device}"
        raise InputError(
            f"{name} must be a dense tensor of real numbers, not {came}. Convert it first."
        ) from None


def to_float64(tensor: torch.Tensor, device: Any) -> torch.Tensor | None:
    """A copy in float64 on a device, without -0.0; None where that would round, or some numbers are
    not finite."""
    import torch

    special = tensor.is_meta or tensor.is_quantized or tensor.is_complex()
    if special or tensor.layout is not torch.strided or not tensor.numel():
        return None
    moved = tensor.detach().to(device)
    # Beyond 2^53 integers may be rounded; torch cannot compare some unsigned ones on every device.
    if not moved.dtype.is_floating_point and moved.dtype.itemsize == 8:
        if not moved.dtype.is_signed:
            return None
        if any(abs(int(extreme)) > 2**53 for extreme in moved.aminmax()):
            return None
    copy = moved.to(torch.float64) + 0.0
    # The extremes of numbers among which there is a nan are nan.
    return copy if all(map(math.isfinite, torch.stack(copy.aminmax()).tolist())) else None


def concatenate(tables: Sequence[Any]) -> Any:
    """Arrays or tensors one behind the other."""
    if not is_tensor(tables[0]):
        return np.concatenate(tables)
    import torch

    return torch.cat(list(tables))


@dataclass(frozen=True)
class TensorKind:
    """The dtype and the device of a tensor."""

    dtype: Any
    device: Any

    @classmethod
    def of(cls, given: Any) -> TensorKind | None:
        """That of a tensor, or of all the tensors in a list; None for anything else."""
        items = given if isinstance(given, list | tuple) else [given]
        if not any(map(is_tensor, items)):
            return None
        kinds = [cls(item.dtype, item.device) if is_tensor(item) else None for item in items]
        if None in kinds or len(set(kinds)) > 1:
            names = {f"{kind.dtype} on {kind.device}" if kind else "no tensor" for kind in kinds}
            came = ", ".join(sorted(names))
            raise InputError(
                "`tokens` must be tensors of one dtype on one device, or none, "
                f"not {came}. Use .to(…)."
            )
        import torch

        if torch.is_grad_enabled() and any(item.requires_grad for item in items):
            raise InputError(
                "`tokens` requires gradients, which would be lost: pass tokens.detach(), "
                "or use hardmax.torch.HardmaxAttention, which has derivatives."
            )
        return kinds[0]

    def tensor(self, numbers: np.ndarray | torch.Tensor) -> torch.Tensor:
        """The numbers as a tensor of this kind. Tokens that move do not stay integers: those become
        float64."""
        import torch

        dtype = self.dtype if self.dtype.is_floating_point else torch.float64
        if not isinstance(numbers, torch.Tensor):
            numbers = torch.from_numpy(np.array(numbers, dtype=float, order="C"))
        return numbers.to(device=self.device, dtype=dtype)
