"""Loss and accuracy of a network on some of the reviews, without waiting for the device."""

# pyright: reportMissingImports=false
from __future__ import annotations

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from hardmax.paper.mode.network import PaperNetwork
from hardmax.paper.mode.reviews_on_device import DeviceReviews

CHUNK = 500  # reviews at once: their scores take 33 MB


@torch.no_grad()
def evaluate(network: PaperNetwork, reviews: DeviceReviews, rows: torch.Tensor, *, hard: bool) -> torch.Tensor:
    """The mean loss and the accuracy, as a tensor of two that stays on the device."""
    sums = torch.zeros(2, device=rows.device)
    for part in rows.split(CHUNK):
        labels = reviews.labels.index_select(0, part)
        logits = network(reviews.ids.index_select(0, part), hard=hard)
        sums += torch.stack(loss_and_hits(logits, labels)).sum(dim=1)
    return sums / len(rows)


def loss_and_hits(logits: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """For each review its loss, and whether its class is the one that was found."""
    losses = binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return losses, ((logits > 0) == (labels > 0.5)).float()
