"""In which order the reviews come, in every epoch: drawn ahead, so that an epoch never waits for the host."""

# pyright: reportMissingImports=false
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from hardmax.paper.mode.plan import Plan


@dataclass(frozen=True, eq=False)
class Order:
    """Batches of all epochs. The last one of an epoch is filled up with a review that has no share in it."""

    rows: torch.Tensor  # (epochs, steps, batch), int32
    shares: torch.Tensor  # (steps, batch): one over the size of the batch, or 0

    @property
    def steps(self) -> int:
        return len(self.shares)


def draw_order(training: np.ndarray, plan: Plan, device: str) -> Order:
    """Every epoch has its own order, which depends on the seed, the shuffle and the number of the epoch alone."""
    drawing = [plan.seed, 2] if not plan.shuffle else [plan.seed, 2, plan.shuffle]
    steps = -(-len(training) // plan.batch_size)
    rows = np.full((plan.epochs, steps * plan.batch_size), training[0], dtype=np.int32)
    for epoch in range(plan.epochs):
        rows[epoch, : len(training)] = np.random.default_rng([*drawing, epoch]).permutation(training)
    taken = (np.arange(steps * plan.batch_size) < len(training)).reshape(steps, plan.batch_size)
    shares = (taken / taken.sum(axis=1, keepdims=True)).astype(np.float32)
    shaped = rows.reshape(plan.epochs, steps, plan.batch_size)
    return Order(torch.from_numpy(shaped).to(device), torch.from_numpy(shares).to(device))
