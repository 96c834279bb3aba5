"""Torch tensors at the door: recognised without importing torch, taken in without rounding, given back as they came.

They are looked at where they are: of a tensor on a GPU no more than its smallest and its largest number leave it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._validation import InputError

if TYPE_CHECKING:
    import torch

# pyright: reportMissingImports=false


def is_tensor(given: Any) -> bool:
    """Whether this is a torch tensor.

    >>> is_tensor([[1.0, 2.0]])
    False
    """
    return _is_kind_of_tensor(type(given))


def _is_kind_of_tensor(kind: type) -> bool:
    return kind.__module__.split(".")[0] == "torch" and hasattr(kind, "data_ptr")


def holds_tensors(given: Any) -> bool:
    """Whether this is a list in which there are tensors."""
    return isinstance(given, list | tuple) and any(map(_is_kind_of_tensor, set(map(type, given))))


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


def to_float64(tensor: torch.Tensor, device: Any) -> torch.Tensor | None:
    """A copy in float64 on a device, without -0.0; None where that cannot hold the numbers, or they are not finite."""
    import torch

    dense = tensor.layout is torch.strided and not (tensor.is_meta or tensor.is_quantized or tensor.is_complex())
    if not dense or not tensor.numel():
        return None
    there = tensor.detach().to(device)
    if not there.dtype.is_floating_point and not _fits_float64(there):
        return None
    copy = there.to(torch.float64) + 0.0
    # The extremes of numbers among which there is a nan are nan.
    extremes = torch.stack(copy.aminmax()).tolist()
    return copy if all(map(math.isfinite, extremes)) else None


def _fits_float64(whole: torch.Tensor) -> bool:
    """Whether no whole number lies beyond 2^53; no, for kinds that torch cannot compare on every device."""
    if whole.dtype.itemsize <= 4 and (whole.dtype.is_signed or whole.dtype.itemsize == 1):
        return True
    return whole.dtype.is_signed and all(abs(int(extreme)) <= 2**53 for extreme in whole.aminmax())


def is_plain_table(given: Any) -> bool:
    """Whether this is a tensor of shape (n, d) whose numbers are finite and float64 holds them."""
    return is_tensor(given) and given.ndim == 2 and to_float64(given, given.device) is not None


def concatenate(tables: Sequence[Any]) -> Any:
    """Arrays or tensors one behind the other."""
    if not is_tensor(tables[0]):
        return np.concatenate(tables)
    import torch

    return torch.cat(list(tables))


def rows_together(given: Any) -> Any:
    """A table, where its rows came as tensors one by one; all else as it came."""
    if not holds_tensors(given) or not is_tensor(given[0]) or given[0].ndim > 1 or TensorKind.of(given) is None:
        return given
    import torch

    for token, row in enumerate(given):
        if row.shape != given[0].shape:
            raise InputError(
                f"`tokens`: token {token} is of shape {tuple(row.shape)}, the tokens before it {tuple(given[0].shape)}."
            )
    return torch.stack(list(given))


@dataclass(frozen=True)
class TensorKind:
    """The dtype and the device of a tensor."""

    dtype: Any
    device: Any

    @classmethod
    def of(cls, given: Any) -> TensorKind | None:
        """That of a tensor, or of all the tensors in a list; None for what is no tensor."""
        if is_tensor(given):
            _refuse_gradients(given)
            return cls(given.dtype, given.device)
        if not holds_tensors(given):
            return None
        first = given[0]
        for place, item in enumerate(given):
            if not (is_tensor(first) and is_tensor(item)) or (item.dtype, item.device) != (first.dtype, first.device):
                raise InputError(
                    f"`tokens`: in a list all must be tensors of one dtype on one device, or none; item 0 is "
                    f"{_named(first)}, item {place} is {_named(item)}. Convert them with .to(dtype=…, device=…)."
                )
        for item in given:
            _refuse_gradients(item)
        return cls(first.dtype, first.device)

    def tensor(self, numbers: np.ndarray | torch.Tensor) -> torch.Tensor:
        """The numbers as a tensor of this kind. Tokens that move do not stay whole numbers: those become float64."""
        import torch

        dtype = self.dtype if self.dtype.is_floating_point else torch.float64
        if not isinstance(numbers, torch.Tensor):
            numbers = torch.from_numpy(np.array(numbers, dtype=np.float64, order="C"))
        return numbers.to(device=self.device, dtype=dtype)


def _refuse_gradients(tensor: torch.Tensor) -> None:
    import torch

    if tensor.requires_grad and torch.is_grad_enabled():
        raise InputError(
            "`tokens` requires gradients, which would be lost: pass tokens.detach(), "
            "or train with hardmax.train.layer.Hardmax, which has derivatives."
        )


def _named(item: Any) -> str:
    return f"{item.dtype} on {item.device}" if is_tensor(item) else "no tensor"
