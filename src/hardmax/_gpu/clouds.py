"""Clouds that came as tensors, on a device: checked there, and copied nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._tokens.batches import Form, Layout, Ragged, kind_of
from hardmax._tokens.tensors import TensorKind, is_tensor, to_float64

if TYPE_CHECKING:
    import torch

# pyright: reportMissingImports=false


@dataclass(frozen=True, eq=False)
class DeviceClouds:
    """Clouds in one table on a device: cloud b is `tokens[offsets[b]:offsets[b + 1]]`."""

    tokens: torch.Tensor  # (total, d) float64, without -0.0; a copy, for whoever gave it may change his
    offsets: np.ndarray
    multiplicities: np.ndarray | None
    layout: Layout
    kind: TensorKind

    @property
    def form(self) -> Form:
        """How the tokens came."""
        return Form(self.layout, self.kind)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def dimension(self) -> int:
        return self.tokens.shape[1]

    @cached_property
    def offsets_there(self) -> torch.Tensor:
        """The offsets on the device of the tokens."""
        import torch

        if self.layout is Layout.STACK:  # known from two numbers
            return torch.arange(0, len(self.tokens) + 1, int(self.offsets[1]), device=self.tokens.device)
        return torch.from_numpy(self.offsets).to(self.tokens.device)

    def cloud(self, number: int) -> DeviceClouds:
        """One of them, by itself."""
        here = self._rows(number)
        counts = None if self.multiplicities is None else self.multiplicities[here]
        ends = np.array([0, here.stop - here.start])
        return DeviceClouds(self.tokens[here], ends, counts, Layout.CLOUD, self.kind)

    def restore(self, table: torch.Tensor, exact: dict[int, np.ndarray]) -> Any:
        """A table of all tokens, in the form in which they came; `exact` are clouds that take their places in it."""
        for cloud, floats in exact.items():
            table[self._rows(cloud)] = table.new_tensor(floats)
        table = self.kind.tensor(table)
        match self.layout:
            case Layout.CLOUD:
                return table
            case Layout.LIST:
                return list(table.split(np.diff(self.offsets).tolist()))
            case Layout.STACK:
                return table.reshape(len(self), -1, self.dimension)
            case Layout.RAGGED:
                return Ragged(table, self.offsets, self.multiplicities)

    def _rows(self, cloud: int) -> slice:
        return slice(*self.offsets[cloud : cloud + 2].tolist())


def read_there(tokens: Any, device: str) -> DeviceClouds | None:
    """The clouds in tensors, on a device; None where `read_batch` has to say what is wrong, or to read rationals."""
    kind = kind_of(tokens)
    laid_out = None if kind is None else _laid_out(tokens)
    if kind is None or laid_out is None:
        return None
    layout, table, offsets, counts = laid_out
    there = to_float64(table, device)
    return None if there is None else DeviceClouds(there, offsets, counts, layout, kind)


def _laid_out(tokens: Any) -> tuple[Layout, torch.Tensor, np.ndarray, np.ndarray | None] | None:
    """The layout, one table, the offsets of the clouds in it and their multiplicities; None if there is no such."""
    if isinstance(tokens, Ragged):
        return Layout.RAGGED, tokens.tokens, tokens.offsets, tokens.multiplicities
    if not is_tensor(tokens):
        if any(cloud.ndim != 2 or cloud.shape[1] != tokens[0].shape[1] or not len(cloud) for cloud in tokens):
            return None
        import torch

        return Layout.LIST, torch.cat(list(tokens)), np.cumsum([0, *map(len, tokens)]), None
    if tokens.ndim not in (2, 3) or not tokens.numel():
        return None
    count = tokens.shape[-2]
    layout = Layout.CLOUD if tokens.ndim == 2 else Layout.STACK
    return layout, tokens.flatten(0, -2), np.arange(tokens.numel() // count // tokens.shape[-1] + 1) * count, None
