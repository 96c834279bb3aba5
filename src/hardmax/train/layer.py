"""The layer with its exact derivative, over ragged batches of clouds.

Given the attended sets, a layer is linear in the tokens and smooth in alpha: z' = w + g (z - w), g = 1 / (1 + alpha).
Backpropagation through the chosen indices is its derivative wherever no tie breaks, with no temperature. The choice
itself does not change under small movements, so that the derivative with respect to the metric is zero; nothing is
lost, for a metric A = B'B is the identity after the change of coordinates z -> B z.
"""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from hardmax.train.attended import Attended, find_attended
from hardmax.train.clouds import Clouds

DEEP_ENOUGH = 64  # layers, of infinitely many


class _Step(torch.autograd.Function):
    """One layer, given who attends to whom; or several, if everybody attends to a leader, which stands still."""

    @staticmethod
    def forward(ctx: Any, tokens: torch.Tensor, alpha: torch.Tensor, attended: Attended, layers: float) -> torch.Tensor:
        means = attended.means(tokens)
        keep = (1 + alpha) ** -layers  # nothing after infinitely many
        ctx.attended, ctx.layers = attended, layers
        ctx.save_for_backward(tokens, means, keep, alpha)
        return means + keep * (tokens - means)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        (grad,) = grads
        tokens, means, keep, alpha = ctx.saved_tensors
        back = keep * grad + ctx.attended.hand_back((1 - keep) * grad)
        by_alpha = None
        if ctx.needs_input_grad[1] and ctx.layers < math.inf:
            by_alpha = -ctx.layers * keep / (1 + alpha) * _add_up(grad * (tokens - means))
        return back, by_alpha, None, None


def _add_up(terms: torch.Tensor) -> torch.Tensor:
    """Their sum; on the CPU by numpy, for that of torch depends on the number of threads."""
    if terms.is_cuda:
        return terms.sum()
    return torch.as_tensor(terms.numpy().sum(dtype=np.float64)).to(terms)


@dataclass(frozen=True, eq=False)
class Walked:
    """The tokens after the last layer, and which of them attended to themselves alone at some layer."""

    tokens: torch.Tensor
    leads: torch.Tensor


@dataclass(frozen=True, eq=False)
class Hardmax:
    """Tokens attend to whoever lies furthest along `metric @ token`; those who tie share by their multiplicities."""

    metric: np.ndarray | None = None

    def walk(self, tokens: torch.Tensor, clouds: Clouds, alpha: torch.Tensor, layers: float) -> Walked:
        """The tokens after `layers` layers. Who follows a leader has chosen for ever, and is not asked again.

        Of infinitely many layers, tokens that have not settled after DEEP_ENOUGH are taken to be where they go.
        """
        leads = torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)
        attended, walked = None, 0
        while layers > 0:
            attended = find_attended(tokens.detach(), clouds, self.metric, attended, leads)
            leads = leads | attended.is_leader
            over = attended.settled(leads) or (layers == math.inf and walked >= DEEP_ENOUGH)
            at_once, walked = layers if over else 1, walked + 1
            tokens = _Step.apply(tokens, alpha, attended, at_once)  # pyright: ignore[reportAssignmentType]
            layers = 0 if over else layers - 1
        return Walked(tokens, leads)


@dataclass(frozen=True, eq=False)
class Softmax:
    """Tokens attend to all, by softmax of the scores divided by a temperature: the smooth alternative."""

    temperature: float = 0.001
    metric: np.ndarray | None = None

    def walk(self, tokens: torch.Tensor, clouds: Clouds, alpha: torch.Tensor, layers: float) -> Walked:
        """The tokens after `layers` layers; nobody leads alone. Quadratic in the size of the clouds."""
        places, mask, logs = _pad(clouds, tokens)
        keep = 1 / (1 + alpha)
        for _ in range(DEEP_ENOUGH if layers == math.inf else int(layers)):
            rows = tokens[places]
            directions = rows if self.metric is None else rows @ torch.as_tensor(self.metric.T).to(tokens)
            scores = directions @ rows.transpose(1, 2) / self.temperature + logs[:, None, :]
            means = (torch.softmax(scores, dim=2) @ rows)[mask]
            tokens = means + keep * (tokens - means)
        return Walked(tokens, torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device))


def _pad(clouds: Clouds, like: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Places (B, n) of the tokens, which are real, and the logarithm of their multiplicities (-inf: not real)."""
    sizes = np.diff(clouds.offsets)
    columns = np.arange(sizes.max(initial=0))
    mask = columns < sizes[:, None]
    places = np.where(mask, clouds.offsets[:-1, None] + columns, 0)
    # An empty cloud, which nobody asks about, has a token as well: a softmax of nothing would be nan.
    known = mask | (sizes == 0)[:, None]
    logs = np.where(known, np.log(clouds.counts)[places] if len(clouds.counts) else 0.0, -np.inf)
    device = like.device
    return torch.from_numpy(places).to(device), torch.from_numpy(mask).to(device), torch.from_numpy(logs).to(like)
