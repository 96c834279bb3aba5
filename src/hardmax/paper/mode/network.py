"""The paper's network: embedding, layers that share alpha, the mean over all positions, a linear decoder."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false
from __future__ import annotations

import torch

from hardmax.paper.mode.attention import hardmax_means, softmax_means
from hardmax.paper.mode.plan import Plan

Weights = dict[str, torch.Tensor]


class PaperNetwork(torch.nn.Module):
    """From ids to logits. Padding is a word like any other, and alpha is not constrained, as with the authors."""

    def __init__(self, weights: Weights, plan: Plan) -> None:
        super().__init__()
        self.layers, self.temperature = plan.layers, plan.temperature
        self.embedding, self.alpha, self.decoder, self.bias = (
            torch.nn.Parameter(weights[name]) for name in ("embedding", "alpha", "decoder", "bias")
        )

    def forward(self, ids: torch.Tensor, *, hard: bool) -> torch.Tensor:
        """The logits of the second class, (reviews,), with softmax or hardmax."""
        tokens = torch.nn.functional.embedding(ids, self.embedding)
        for _ in range(self.layers):
            means = hardmax_means(tokens) if hard else softmax_means(tokens, self.temperature)
            tokens = (tokens + self.alpha * means) / (1 + self.alpha)
        return tokens.mean(dim=1) @ self.decoder + self.bias


def first_weights(words: int, plan: Plan, device: str) -> Weights:
    """Where training starts: embeddings normal, alpha uniform in (0, 1), decoder and bias uniform in ±1/sqrt(d).

    Drawn in the order in which the authors' program makes its parts, by torch on the processor: with seed 0 these are
    the very numbers they started from. (The rows of words that they never trained are still in their saved file.)
    """
    drawing = torch.Generator().manual_seed(plan.seed)
    bound = plan.dimension**-0.5
    drawn = {
        "embedding": torch.empty(words, plan.dimension).normal_(generator=drawing),
        "alpha": torch.empty(1).uniform_(generator=drawing),
        "decoder": torch.empty(plan.dimension).uniform_(-bound, bound, generator=drawing),
        "bias": torch.empty(1).uniform_(-bound, bound, generator=drawing),
    }
    return {name: values.to(device) for name, values in drawn.items()}
