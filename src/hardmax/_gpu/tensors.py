"""Tensors, and the points of a cloud, on a device.

What the GPU engine needs: its extra, and tensors of the right kind.

The distinct tokens of a cloud on a device: equal ones are found and merged there.

**How equal tokens are found.** Equal rows have equal keys, so that rows are distinct if their keys are: one sort of n
numbers, where sorting rows would compare d of them at a time. Rows with one key are compared; should different rows
ever share one, all rows are sorted.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from hardmax._tokens.points import Points
from hardmax._validation import InputError, MissingExtra

if TYPE_CHECKING:
    import torch

# pyright: reportMissingImports=false


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


# pyright: reportMissingImports=false, reportPossiblyUnboundVariable=false


if INSTALLED:
    import torch

# Short floats differ in their high bits alone: added to the low ones so far down, they make all bits of a product.
_SHIFT = 29


class GpuPoints(Points):
    """`Points` on a device. What they tell is the same; arrays are fetched when somebody asks for them."""

    def __init__(
        self, there: torch.Tensor, of_token_there: torch.Tensor | None, multiplicities_there: torch.Tensor
    ) -> None:
        # Fields of a frozen dataclass; those that are fetched are properties below.
        told = {
            "there": there,  # (p, d) float64
            "of_token_there": of_token_there,  # (n,), or None: every token is a point
            "multiplicities_there": multiplicities_there,
        }
        vars(self).update(told)

    there: torch.Tensor
    of_token_there: torch.Tensor | None
    multiplicities_there: torch.Tensor

    def spread(self, table: torch.Tensor) -> torch.Tensor:
        """A row for each token, of a table with a row for each point."""
        return table if self.of_token_there is None else table[self.of_token_there]

    @property
    def tokens(self) -> int:
        return self.count if self.of_token_there is None else len(self.of_token_there)

    @property
    def count(self) -> int:
        return len(self.there)

    @property
    def dimension(self) -> int:
        return self.there.shape[1]

    @cached_property
    def coordinates(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.there.cpu().numpy()

    @cached_property
    def multiplicities(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.multiplicities_there.cpu().numpy()

    @cached_property
    def of_token(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        return np.arange(self.count) if self.of_token_there is None else self.of_token_there.cpu().numpy()

    @property
    def floats_are_exact(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return True


def merge_there(tokens: torch.Tensor, multiplicities: np.ndarray | None = None) -> GpuPoints:
    """The points of a cloud of finite float64 numbers without -0.0: `merge`, on the device of the tokens."""
    weights = None if multiplicities is None else torch.from_numpy(multiplicities).to(tokens.device)
    firsts = _first_equals(tokens)
    if firsts is None:
        ones = torch.ones(len(tokens), dtype=torch.int64, device=tokens.device)
        return GpuPoints(tokens, None, ones if weights is None else weights)
    is_first = firsts == torch.arange(len(tokens), device=tokens.device)
    of_token = (is_first.cumsum(0) - 1)[firsts]
    points = tokens[is_first]
    counts = torch.zeros(len(points), dtype=torch.int64, device=tokens.device)
    counts.index_add_(0, of_token, torch.ones_like(of_token) if weights is None else weights)
    return GpuPoints(points, of_token, counts)


def _first_equals(tokens: torch.Tensor) -> torch.Tensor | None:
    """For each token the first one that equals it; None if all are distinct."""
    # A stable sort: of equal tokens the first comes first.
    keys, order = keys_of(tokens).sort(stable=True)
    same = keys[1:] == keys[:-1]
    if not bool(same.any()):
        return None
    pairs = same.nonzero().flatten()
    if not torch.equal(tokens[order[pairs]], tokens[order[pairs + 1]]):
        _, labels = torch.unique(tokens, dim=0, return_inverse=True)
        order = labels.argsort(stable=True)
        same = labels[order][1:] == labels[order][:-1]
    begins = torch.nn.functional.pad(~same, (1, 0), value=True)
    firsts = torch.empty_like(order)
    firsts[order] = order[begins][begins.cumsum(0) - 1]
    return firsts


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
