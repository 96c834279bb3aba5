"""The model as torch trains it: vectors of the words, the layers, the mean, a line that decides."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from hardmax.train.clouds import Clouds
from hardmax.train.kernels import add_rows, pool_clouds, spread_grads
from hardmax.train.layer import Hardmax, Softmax
from hardmax.train.recipe import Recipe
from hardmax.train.starting import Start, start_from_noise

GRADED_LAYERS = 8
_TINY = 1e-12


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
    tokens: torch.Tensor  # what words say at layer 0: without the axis of a neutral leader
    leads: torch.Tensor  # which tokens lead


class Network(torch.nn.Module):
    """Embeddings, decoder and bias; see `TextModel`. The extra token, if there is one, is the last row.

    With a neutral leader, words stand at a given height on one axis more, the last, and the neutral leader, the extra
    token then, at 1; nobody learns anything there, and the decoder does not look at it. What is learned of alpha
    is `growth`, the logarithm of its ratio to `given_alpha`: so it stays positive, and is the number that was given, to
    the bit, where nothing is learned.
    """

    def __init__(self, start: Start, recipe: Recipe, layer: Hardmax | Softmax) -> None:
        super().__init__()
        self.layers, self.layer, self.given_alpha = recipe.layers, layer, recipe.alpha
        self.neutral = recipe.neutral
        vectors = start.vectors
        self.words = len(vectors)
        if self.neutral:
            vectors = np.vstack([vectors, np.zeros(vectors.shape[1])])
        elif recipe.extra:
            vectors = np.vstack([vectors, np.eye(vectors.shape[1])[-1]])
        self.embeddings = torch.nn.Parameter(torch.from_numpy(vectors.astype(np.float32)))
        self.decoder = torch.nn.Parameter(torch.from_numpy(start.decoder.astype(np.float32)))
        self.bias = torch.nn.Parameter(torch.from_numpy(start.bias.astype(np.float32)))
        self.growth = torch.nn.Parameter(torch.zeros((), dtype=torch.float64), requires_grad=False)

    @property
    def alpha(self) -> torch.Tensor:
        """The full step: the given one, or what has been learned since."""
        return self.given_alpha * self.growth.exp()

    @property
    def neutral_token(self) -> int | None:
        """The number of the neutral leader, if there is one."""
        return len(self.embeddings) - 1 if self.neutral else None

    def forward(self, clouds: Clouds, alpha: float | torch.Tensor) -> Decided:
        """What the clouds come to; while alpha is 0, without layers.

        Of infinitely many layers, a follower keeps nothing of itself and could learn nothing: it is trained with
        GRADED_LAYERS, in which it keeps a little.
        """
        ids = torch.from_numpy(clouds.ids).to(self.embeddings.device)
        start: torch.Tensor = _LookUp.apply(self.embeddings, ids)  # pyright: ignore[reportAssignmentType]
        step = torch.as_tensor(alpha).to(start)
        depth = GRADED_LAYERS if self.training and self.layers == math.inf else self.layers
        walked = self.layer.walk(self._stand(start, ids), clouds, step, depth if alpha > 0 else 0)
        means = pool(walked.tokens, clouds)[:, : start.shape[1]]
        # Products and sums of a few numbers a row: a matrix product may add in an order that depends on threads.
        logits = (means[:, None, :] * self.decoder).sum(dim=2) + self.bias
        return Decided(logits, start, walked.leads)

    def table(self) -> torch.Tensor:
        """The vectors of all tokens, as a model has them; the extra token, if there is one, is the last row."""
        return self._stand(self.embeddings.detach(), torch.arange(len(self.embeddings)).to(self.embeddings.device))

    def silence(self) -> None:
        """Let words that can count in no text, beside whatever leader, say nothing.

        A word follows the neutral leader unless its product with a leader of its side is more than that with the
        neutral one: x X + y y > y, at most with the longest X there is.
        """
        with torch.no_grad():
            lengths = self.embeddings.norm(dim=1)
            self.embeddings[lengths * lengths.max() <= self.neutral * (1 - self.neutral)] = 0.0

    def lengthen(self, evidence: np.ndarray, often: np.ndarray, share: float) -> None:
        """Let who leads be decided by evidence: lengths become length^(1 - share) evidence^share.

        `evidence` is (rows, tokens), for the class of each row of the decoder; of two classes, positive for the
        second. A word has that for the class it stands for; without any it keeps a little. The mean length of words,
        met as `often` as they are, stays as it is.
        """
        with torch.no_grad():
            known = self.embeddings[: evidence.shape[1]]
            # Not a matrix product, which may add in an order that depends on threads.
            says = np.einsum("td,rd->tr", known.cpu().numpy(), self.decoder.cpu().numpy())
            mine = np.take_along_axis(evidence.T, says.argmax(axis=1)[:, None], axis=1)[:, 0]
            if says.shape[1] == 1:
                mine = evidence[0] * np.sign(says[:, 0])
            lengths = known.norm(dim=1).cpu().numpy()
            loud = lengths > 0
            if not loud.any():
                return
            least = np.quantile(mine[loud & (mine > 0)], 0.05) if (loud & (mine > 0)).any() else 1.0
            wished = lengths ** (1 - share) * np.maximum(mine, least) ** share
            scale = (lengths * often)[loud].sum() / max((wished * often)[loud].sum(), _TINY)
            factor = np.where(loud, wished * scale / np.maximum(lengths, _TINY), 1.0)
            known *= torch.from_numpy(factor).to(known)[:, None]

    def _stand(self, start: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        """The vectors with their heights, if there is a neutral leader."""
        if not self.neutral:
            return start
        heights = torch.where(ids == self.neutral_token, 1.0, self.neutral).to(start)
        return torch.cat([start, heights[:, None]], dim=1)


def make_network(
    tokens: int, classes: int, recipe: Recipe, layer: Hardmax | Softmax, start: Start | None = None
) -> Network:
    """The network before training, from where it starts; from noise if that is not said."""
    network = Network(start or start_from_noise(tokens, classes, recipe), recipe, layer)
    network.growth.requires_grad_(recipe.alpha_learning_rate > 0)
    return network
