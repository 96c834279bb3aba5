"""Torch tensors at the door: recognised without importing torch, taken in as float64, and given back as they came."""

# pyright: reportMissingImports=false
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch


def is_tensor(given: Any) -> bool:
    """Whether this is a torch tensor.

    >>> is_tensor([[1.0, 2.0]])
    False
    """
    return type(given).__module__.split(".")[0] == "torch" and hasattr(given, "data_ptr")


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a tensor. Half precision, bfloat16 and float32 all fit into float64; gradients stay behind."""
    tensor = tensor.detach().cpu()
    return (tensor.double() if tensor.dtype.is_floating_point else tensor).numpy()


@dataclass(frozen=True)
class TensorKind:
    """The dtype and the device of a tensor."""

    dtype: Any
    device: Any

    @classmethod
    def of(cls, given: Any) -> TensorKind | None:
        """That of a tensor, or of the first in a list of them; None for what is no tensor."""
        first: Any = given[0] if isinstance(given, list | tuple) and len(given) else given
        return cls(first.dtype, first.device) if is_tensor(first) else None

    def tensor(self, numbers: np.ndarray) -> torch.Tensor:
        """The numbers as a tensor of this kind. Tokens that move do not stay whole numbers: those become float64."""
        import torch

        dtype = self.dtype if self.dtype.is_floating_point else torch.float64
        return torch.from_numpy(np.array(numbers, order="C")).to(device=self.device, dtype=dtype)
