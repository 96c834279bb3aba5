"""The model as torch trains it: vectors of the words, the layers, the mean, a line that decides."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from hardmax.train.clouds import Clouds
from hardmax.train.kernels import add_rows, pool_clouds, spread_grads
from hardmax.train.layer import Hardmax, Softmax
from hardmax.train.recipe import Recipe


class _LookUp(torch.autograd.Function):
    """The vectors of the words; gradients are added in the order of the words, so that the sum is always the same."""

    @staticmethod
    def forward(ctx: Any, table: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        ctx.ids, ctx.shape = ids, table.shape
        return table.index_select(0, ids)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        (grad,) = grads
        table = grad.new_zeros(ctx.shape)
        if grad.is_cuda:
            return table.index_add_(0, ctx.ids, grad), None
        add_rows(ctx.ids.numpy(), grad.numpy(), table.numpy())
        return table, None


class _Pool(torch.autograd.Function):
    """The mean of each cloud, counted with multiplicity."""

    @staticmethod
    def forward(ctx: Any, tokens: torch.Tensor, clouds: Clouds) -> torch.Tensor:
        ctx.clouds, ctx.tokens = clouds, len(tokens)
        means = np.empty((len(clouds), tokens.shape[1]), dtype=tokens.detach().cpu().numpy().dtype)
        pool_clouds(tokens.detach().cpu().numpy(), clouds.counts, clouds.offsets, means)
        return torch.from_numpy(means).to(tokens.device)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        grad = grads[0].contiguous().cpu().numpy()
        back = np.empty((ctx.tokens, grad.shape[1]), dtype=grad.dtype)
        spread_grads(grad, ctx.clouds.counts, ctx.clouds.offsets, back)
        return torch.from_numpy(back).to(grads[0].device), None


def pool(tokens: torch.Tensor, clouds: Clouds) -> torch.Tensor:
    """The mean of each cloud, (clouds, d)."""
    return _Pool.apply(tokens, clouds)  # pyright: ignore[reportReturnType]


@dataclass(frozen=True, eq=False)
class Decided:
    """What the network makes of a batch."""

    logits: torch.Tensor  # (clouds, rows)
    tokens: torch.Tensor  # at layer 0
    leads: torch.Tensor  # which tokens lead


class Network(torch.nn.Module):
    """Embeddings (the extra token is the last row, if there is one), decoder and bias; see `TextModel`.

    What is learned of alpha is `growth`, the logarithm of its ratio to `given_alpha`: so it stays positive, and is the
    number that was given, to the bit, where nothing is learned.
    """

    def __init__(
        self, embeddings: np.ndarray, decoder: np.ndarray, layers: int, layer: Hardmax | Softmax, given_alpha: float
    ) -> None:
        super().__init__()
        self.layers, self.layer, self.given_alpha = layers, layer, given_alpha
        self.embeddings = torch.nn.Parameter(torch.from_numpy(embeddings.astype(np.float32)))
        self.decoder = torch.nn.Parameter(torch.from_numpy(decoder.astype(np.float32)))
        self.bias = torch.nn.Parameter(torch.zeros(len(decoder)))
        self.growth = torch.nn.Parameter(torch.zeros((), dtype=torch.float64), requires_grad=False)

    @property
    def alpha(self) -> torch.Tensor:
        """The full step: the given one, or what has been learned since."""
        return self.given_alpha * self.growth.exp()

    def forward(self, clouds: Clouds, alpha: float | torch.Tensor) -> Decided:
        ids = torch.from_numpy(clouds.ids).to(self.embeddings.device)
        start: torch.Tensor = _LookUp.apply(self.embeddings, ids)  # pyright: ignore[reportAssignmentType]
        step = torch.as_tensor(alpha).to(start)
        walked = self.layer.walk(start, clouds, step, self.layers if alpha > 0 else 0)
        means = pool(walked.tokens, clouds)
        # Products and sums of a few numbers a row: a matrix product may add in an order that depends on threads.
        logits = (means[:, None, :] * self.decoder).sum(dim=2) + self.bias
        return Decided(logits, start, walked.leads)


def make_network(
    tokens: int, classes: int, recipe: Recipe, layer: Hardmax | Softmax, says: np.ndarray | None = None
) -> Network:
    """The network before training.

    Two classes decide along the first axis; more have directions spread evenly over the plane of the first two. Tokens
    start along these directions as far as `says` tells for each class, or anywhere. The extra token starts along the
    last axis.
    """
    rng = np.random.default_rng([recipe.seed, recipe.dimension])
    embeddings = rng.normal(size=(tokens + recipe.extra, recipe.dimension)) * recipe.init_std
    turns = 2 * np.pi * np.arange(1 if classes == 2 else classes) / classes
    decoder = np.zeros((len(turns), recipe.dimension))
    decoder[:, 0] = recipe.decoder_norm * np.cos(turns)
    if recipe.dimension > 1:
        decoder[:, 1] = recipe.decoder_norm * np.sin(turns)
    if says is not None:
        embeddings[:tokens] = (says[:, :, None] * (decoder / recipe.decoder_norm)[:, None, :]).sum(axis=0)
    if recipe.extra:
        embeddings[-1] = np.eye(recipe.dimension)[-1]
    network = Network(embeddings, decoder, recipe.layers, layer, recipe.alpha)
    network.growth.requires_grad_(recipe.alpha_learning_rate > 0)
    return network
