"""Torch tensors at the door: recognised without importing torch, taken in as they are, and given back as they came."""

# pyright: reportMissingImports=false
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.errors import InputError

if TYPE_CHECKING:
    import torch


def is_tensor(given: Any) -> bool:
    """Whether this is a torch tensor.

    >>> is_tensor([[1.0, 2.0]])
    False
    """
    return type(given).__module__.split(".")[0] == "torch" and hasattr(given, "data_ptr")


def to_numpy(tensor: torch.Tensor, name: str) -> np.ndarray:
    """The numbers of a tensor, none of them rounded; `name` is for errors. Gradients stay behind.

    Half precision, bfloat16 and float32 all fit into float64. Whole numbers need not: they stay whole.
    """
    try:
        dense = tensor.detach().cpu().resolve_neg()
        return (dense.double() if dense.dtype.is_floating_point else dense).numpy()
    except (TypeError, RuntimeError):  # sparse, quantised, conjugate, or without any numbers (meta)
        came = f"{tensor.dtype}, {tensor.layout}, on {tensor.device}"
        raise InputError(f"{name} must be a dense tensor of real numbers, not {came}. Convert it first.") from None


@dataclass(frozen=True)
class TensorKind:
    """The dtype and the device of a tensor."""

    dtype: Any
    device: Any

    @classmethod
    def of(cls, given: Any) -> TensorKind | None:
        """That of a tensor, or of all in a list of them; None for what is no tensor, and where kinds are mixed."""
        tensors = given if isinstance(given, list | tuple) else [given]
        if not tensors or not all(map(is_tensor, tensors)):
            return None
        kinds = {cls(tensor.dtype, tensor.device) for tensor in tensors}
        return kinds.pop() if len(kinds) == 1 else None

    def tensor(self, numbers: np.ndarray) -> torch.Tensor:
        """The numbers as a tensor of this kind. Tokens that move do not stay whole numbers: those become float64."""
        import torch

        dtype = self.dtype if self.dtype.is_floating_point else torch.float64
        return torch.from_numpy(np.array(numbers, dtype=np.float64, order="C")).to(device=self.device, dtype=dtype)
