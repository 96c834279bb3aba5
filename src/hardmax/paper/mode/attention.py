"""Where the tokens of padded reviews look, with A = I: as a softmax of some temperature, and as the hardmax itself."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false
from __future__ import annotations

from typing import Any

import torch


def softmax_means(tokens: torch.Tensor, temperature: float) -> torch.Tensor:
    """For each token the mean of all of its review, weighed by softmax(<z, z'> / temperature); (reviews, n, d)."""
    scores = torch.bmm(tokens / temperature, tokens.transpose(1, 2))
    return torch.bmm(scores.softmax(dim=2), tokens)


def hardmax_means(tokens: torch.Tensor) -> torch.Tensor:
    """For each token the one of its review that is furthest along it; (reviews, n, d).

    Of several the first: those that are the same word stand in the same place, and others tie by rounding alone.
    """
    return _Furthest.apply(tokens)


class _Furthest(torch.autograd.Function):
    """The choice is constant under small movements, so that the derivative goes to the tokens chosen."""

    @staticmethod
    def forward(ctx: Any, tokens: torch.Tensor) -> torch.Tensor:
        chosen = torch.bmm(tokens, tokens.transpose(1, 2)).argmax(dim=2)
        ctx.save_for_backward(chosen)
        return tokens.gather(1, chosen[:, :, None].expand_as(tokens))

    @staticmethod
    def backward(ctx: Any, *wanted: torch.Tensor) -> torch.Tensor:
        (chosen,), (gradient,) = ctx.saved_tensors, wanted
        reviews, length, _ = gradient.shape
        # A product with ones where somebody is chosen: a GPU adds these in one order, and scattered sums in any.
        ones = gradient.new_zeros(reviews, length, length).scatter_(2, chosen[:, :, None], 1.0)
        return torch.bmm(ones.transpose(1, 2), gradient)
