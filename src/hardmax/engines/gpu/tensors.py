"""What the GPU engine needs: its extra, and tensors of the right kind."""

# pyright: reportMissingImports=false
from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from hardmax.errors import InputError, MissingExtra

if TYPE_CHECKING:
    import torch

INSTALLED = find_spec("torch") is not None and find_spec("triton") is not None


def check_installed() -> None:
    """Say which extra is missing, if one is."""
    if not INSTALLED:
        raise MissingExtra("The GPU engine", "gpu")


def check_table(name: str, given: torch.Tensor) -> None:
    """Turn away what the kernels cannot take."""
    check_installed()
    if str(given.dtype) != "torch.float64" or given.ndim != 2 or not len(given):
        shape = tuple(given.shape)
        raise InputError(f"`{name}` must be a float64 tensor of shape (n, d), n > 0, not {given.dtype}, {shape}.")
