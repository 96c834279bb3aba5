"""Clouds that came as tensors: read on their device, and repeated tokens merged there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from hardmax._float.solver import Undecided
from hardmax._tokens.batches import Cloud, Form, Layout, Packed, Ragged, kind_of
from hardmax._tokens.points import Points
from hardmax._tokens.tensors import concatenate, is_tensor, rows_together, to_float64

# pyright: reportMissingImports=false

# Short floats differ in their high bits alone: added to the low ones so far down, they make all bits of a product.
_SHIFT = 29


def read_there(tokens: Any, device: str) -> tuple[Sequence[Cloud], Form] | None:
    """What `read_batch` gives, in tensors on a device; None where it has to say what is wrong, or to read rationals."""
    tokens = rows_together(tokens)
    kind, counts = kind_of(tokens), None
    if kind is None:
        return None
    if isinstance(tokens, Ragged):
        layout, table, offsets, counts = Layout.RAGGED, tokens.tokens, tokens.offsets, tokens.multiplicities
    elif not is_tensor(tokens):
        if any(cloud.ndim != 2 or cloud.shape[1] != tokens[0].shape[1] or not len(cloud) for cloud in tokens):
            return None
        layout, table, offsets = Layout.LIST, concatenate(tokens), np.cumsum([0, *map(len, tokens)])
    elif tokens.ndim in (2, 3) and tokens.numel():
        layout, table = Layout.CLOUD if tokens.ndim == 2 else Layout.STACK, tokens.flatten(0, -2)
        offsets = np.arange(0, len(table) + 1, tokens.shape[-2])
    else:
        return None
    there = to_float64(table, device)
    if there is None:
        return None
    return [Cloud(there)] if layout is Layout.CLOUD else Packed(there, offsets, counts), Form(layout, kind)


def merge_there(cloud: Cloud) -> Points:
    """The points of a cloud in tensors: `merge`, on their device.

    Equal tokens have equal keys: one sort of n numbers, where sorting rows would compare d of them at a time. Should
    different tokens ever share a key, the processor merges them: `Undecided`.
    """
    tokens: Any = cloud.tokens
    everybody = torch.arange(len(tokens), device=tokens.device)
    counts = torch.ones_like(everybody)
    if cloud.multiplicities is not None:
        counts = torch.from_numpy(cloud.multiplicities).to(tokens.device)
    keys, labels = torch.unique(keys_of(tokens), return_inverse=True)
    if len(keys) == len(tokens):
        return Points(tokens, counts, everybody)
    firsts = torch.full_like(keys, len(tokens)).scatter_reduce_(0, labels, everybody, "amin")
    if not torch.equal(tokens[firsts[labels]], tokens):
        raise Undecided
    order = firsts.argsort()  # points in order of first appearance
    of_token = order.argsort()[labels]
    return Points(tokens[firsts[order]], torch.zeros_like(keys).index_add_(0, of_token, counts), of_token)


def keys_of(tokens: torch.Tensor) -> torch.Tensor:
    """A whole number for each token: the same for equal ones, hardly ever for others."""
    bits = tokens.contiguous().view(torch.int64)
    # Whole numbers add up to the same in any order.
    return ((bits ^ (bits >> _SHIFT)) * _weights(tokens.shape[1], tokens.device)).sum(dim=1)


@lru_cache(maxsize=16)
def _weights(dimension: int, device: torch.device) -> torch.Tensor:
    """An odd number for each coordinate, the same ones every time."""
    odd = np.random.default_rng(0).integers(-(2**62), 2**62, dimension) * 2 + 1
    return torch.from_numpy(odd).to(device)
