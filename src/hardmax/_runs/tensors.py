"""Clouds that came as tensors: read, merged and walked on their device; by the processor where
floats fail to prove."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from hardmax._common.cached import cached_property
from hardmax._float.solver import Undecided
from hardmax._gpu.solver import move_once
from hardmax._layer.rules import check_dimension
from hardmax._tokens.batches import Cloud, Clouds, Container, Layout, PackedClouds, kind_of
from hardmax._tokens.points import Points, merge
from hardmax._tokens.tensors import concatenate, is_tensor, to_float64, to_numpy
from hardmax.dynamics import Dynamics

# Clouds and points hold tensors here, where they hold arrays elsewhere.
# pyright: reportMissingImports=false, reportIncompatibleVariableOverride=false
# pyright: reportArgumentType=false


def read_on_device(tokens: Any, device: str) -> tuple[Sequence[Cloud], Container] | None:
    """What `read_batch` gives, in tensors on a device; None where it has to say what is wrong, or
    to read rationals."""
    kind = kind_of(tokens)
    if kind is None:
        return None
    clouds = _put_together(tokens)
    if clouds is None:
        return None
    layout, packed = clouds
    table = to_float64(packed.tokens, device)
    if table is None:
        return None
    moved = replace(packed, tokens=table)
    return [Cloud(table)] if layout is Layout.CLOUD else moved, Container(layout, kind)


def _put_together(tokens: Any) -> tuple[Layout, PackedClouds] | None:
    """Clouds in one tensor; None where they do not fit together."""
    if isinstance(tokens, Clouds):
        return Layout.RAGGED, PackedClouds(tokens.tokens, tokens.offsets, tokens.multiplicities)
    if is_tensor(tokens):
        if tokens.ndim not in (2, 3) or not tokens.numel():
            return None
        layout = Layout.CLOUD if tokens.ndim == 2 else Layout.STACK
        table = tokens.flatten(0, -2)
        return layout, PackedClouds(table, np.arange(0, len(table) + 1, tokens.shape[-2]))
    for cloud in tokens:
        if cloud.ndim != 2 or cloud.shape[1] != tokens[0].shape[1] or not len(cloud):
            return None
    offsets = np.cumsum([0, *map(len, tokens)])
    return Layout.LIST, PackedClouds(concatenate(tokens), offsets)


def merge_on_device(cloud: Cloud) -> Points:
    """The points of a cloud in tensors: `merge`, on their device.

    Equal tokens have equal keys: one sort of n numbers, where sorting rows would compare d of them
    at a time. Should different tokens ever share a key, the processor merges them."""
    tokens: Any = cloud.tokens
    everybody = torch.arange(len(tokens), device=tokens.device)
    counts = torch.ones_like(everybody)
    if cloud.multiplicities is not None:
        counts = torch.from_numpy(cloud.multiplicities).to(tokens.device)
    keys, labels = torch.unique(keys_of(tokens), return_inverse=True)
    if len(keys) == len(tokens):
        return DevicePoints(Points(tokens, counts, everybody))
    firsts = torch.full_like(keys, len(tokens)).scatter_reduce_(0, labels, everybody, "amin")
    if not torch.equal(tokens[firsts[labels]], tokens):
        return merge(Cloud(to_numpy(tokens, "`tokens`"), cloud.multiplicities))
    order = firsts.argsort()  # points in order of first appearance
    of_token = order.argsort()[labels]
    totals = torch.zeros_like(keys).index_add_(0, of_token, counts)
    return DevicePoints(Points(tokens[firsts[order]], totals, of_token))


def keys_of(tokens: torch.Tensor) -> torch.Tensor:
    """A whole number for each token: the same for equal ones, hardly ever for others."""
    bits = tokens.contiguous().view(torch.int64)
    # Short floats differ in their high bits alone: moved down, these make all bits of a product.
    # Whole numbers add up to the same in any order.
    odd = np.random.default_rng(0).integers(-(2**62), 2**62, tokens.shape[1]) * 2 + 1
    factors = torch.from_numpy(odd).to(tokens.device)
    return ((bits ^ (bits >> 29)) * factors).sum(dim=1)


class DevicePoints(Points):
    """Points that stay on their device; what is asked for in arrays is fetched then."""

    there: Any
    """The points, in tensors."""

    def __init__(self, there: Points) -> None:
        vars(self).update(there=there)

    @cached_property
    def coordinates(self) -> np.ndarray:
        return self.there.coordinates.cpu().numpy()

    @cached_property
    def multiplicities(self) -> np.ndarray:
        return self.there.multiplicities.cpu().numpy()

    @cached_property
    def of_token(self) -> np.ndarray:
        return self.there.of_token.cpu().numpy()

    @property
    def tokens(self) -> int:
        return len(self.there.of_token)

    @property
    def count(self) -> int:
        return len(self.there.coordinates)

    @property
    def dimension(self) -> int:
        return self.there.coordinates.shape[1]

    def spread(self, table: Any) -> Any:
        return table[self.there.of_token if is_tensor(table) else self.of_token]


def step_table(tokens: torch.Tensor, dynamics: Dynamics) -> torch.Tensor | None:
    """A table of floats one layer later, of the paper's layer or one with a causal mask; None if it
    is no table, or floats cannot prove a choice.

    Nothing leaves the device before the choices are made: the search itself finds numbers that are
    not finite."""
    is_table = tokens.ndim == 2 and tokens.layout is torch.strided and tokens.numel()
    if not is_table or not tokens.dtype.is_floating_point or tokens.requires_grad:
        return None
    check_dimension(dynamics, tokens.shape[1])
    try:
        if tokens.dtype is torch.float64:  # two conversions less to wait for
            return move_once(tokens, dynamics)
        return move_once(tokens.double(), dynamics).to(tokens.dtype)
    except Undecided:
        return None
