"""Hardmax attention as a layer of a torch network, with its exact derivative given the attended sets.

Who attends to whom is found a block of rows at a time and kept as one index per token. Rows that tie are searched again
where their sets are needed: after collapse everybody ties with everybody, and lists of sets would be quadratic.
"""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false
from collections.abc import Iterator
from functools import partial
from math import expm1, log
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from hardmax._validation import InputError, check_bool, check_int
from hardmax.dynamics import Dynamics

__all__ = ["HardmaxAttention"]

_BLOCK = 2**24  # scores in memory at a time


class HardmaxAttention(nn.Module):
    """Hardmax attention as a differentiable layer of a network.

    Parameters
    ----------
    alpha : number or str, default 1.0
        Step size, positive.
    metric : array_like of shape (d, d), optional
        Symmetric positive definite matrix A; the identity by default.
    layers : int, default 1
        Number of layers, all with the same step size and metric.
    learn_alpha : bool, default False
        Make the step size the softplus of a parameter, `raw_alpha`, that starts at `alpha`.
    learn_metric : bool, default False
        Make A the product L L^T of a parameter, `factor`. It never gets a gradient (see Notes): it is meant for
        searches without gradients, and for surrogate gradients of your own.

    Notes
    -----
    With w the mean of the tokens z_j that have the largest <A z_i, z_j>, a layer is z_i' = (z_i + alpha w)/(1 + alpha).
    Scores are computed in float64, whatever the tokens are in, and tie if they are equal as floats; `hardmax.step`
    decides ties exactly.

    The derivative is exact as long as the attended sets stay the same: gradients flow to each token, to the tokens that
    it attends to, and to alpha. The choice itself is piecewise constant, so the derivative with respect to A is zero
    wherever it exists. Nothing is lost: a metric A = B^T B is the identity for the tokens B z, so
    ``nn.Linear(d, d, bias=False)`` in front of the layer learns it through the tokens.

    For batches of b clouds of n tokens, memory is O(b n d) per layer, ties or not.

    Examples
    --------
    >>> layer = HardmaxAttention(alpha=1, layers=2)
    >>> tokens = torch.tensor([[1.0, 1.0], [1.0, -1.0], [0.5, 0.0]], requires_grad=True)
    >>> moved = layer(tokens)
    >>> moved.tolist()
    [[1.0, 1.0], [1.0, -1.0], [0.875, 0.0]]
    >>> moved[2].sum().backward()
    >>> tokens.grad.tolist()
    [[0.375, 0.375], [0.375, 0.375], [0.25, 0.25]]
    """

    matrix: Tensor | None

    def __init__(
        self,
        alpha: float | str = 1.0,
        metric: Any = None,
        *,
        layers: int = 1,
        learn_alpha: bool = False,
        learn_metric: bool = False,
    ) -> None:
        super().__init__()
        given = Dynamics(alpha, metric).check_definite()
        self.layers = check_int(layers, "`layers`", at_least=1)
        self.fixed_alpha = float(given.alpha)
        self.raw_alpha = self.factor = None
        if check_bool(learn_alpha, "`learn_alpha`"):
            raw = self.fixed_alpha + log(-expm1(-self.fixed_alpha))  # the softplus of which is alpha
            self.raw_alpha = nn.Parameter(torch.tensor(raw))
        matrix = None if given.matrix is None else torch.from_numpy(given.matrix.astype(np.float64))
        if check_bool(learn_metric, "`learn_metric`"):
            if matrix is None:
                message = "`learn_metric` needs a `metric` to start from, such as torch.eye(d)."
                raise InputError(message, argument="learn_metric", also=("metric",))
            # Without requires_grad: DistributedDataParallel waits for the gradients of all parameters that have it.
            self.factor, matrix = nn.Parameter(torch.linalg.cholesky(matrix), requires_grad=False), None
        self.register_buffer("matrix", matrix)

    @property
    def alpha(self) -> Tensor | float:
        """The step size: a number, or a tensor with a gradient if it is learned."""
        return self.fixed_alpha if self.raw_alpha is None else nn.functional.softplus(self.raw_alpha)

    @property
    def metric(self) -> Tensor | None:
        """The metric A; None for the identity."""
        return self.matrix if self.factor is None else self.factor @ self.factor.mT

    @property
    def dynamics(self) -> Dynamics:
        """The step size and the metric for the functions of the package, such as `hardmax.limit`."""
        metric = None if self.metric is None else self.metric.double().cpu().numpy()
        return Dynamics(float(self.alpha), metric)

    def extra_repr(self) -> str:
        """Return the step size and the number of layers, for `repr`."""
        return f"alpha={float(self.alpha):g}, layers={self.layers}"

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the tokens after all layers.

        Parameters
        ----------
        tokens : Tensor of shape (n, d) or (batch, n, d)
            One cloud, or a batch of clouds of the same number of tokens, real or padding.
        mask : bool Tensor of shape (n,) or (batch, n), optional
            Which tokens are real; all by default. Nobody attends to padding, which is returned as it is.

        Returns
        -------
        Tensor
            The tokens after all layers, of the same shape and type.
        """
        if tokens.ndim not in (2, 3) or not tokens.numel() or not tokens.is_floating_point():
            found = f"{tokens.dtype} of shape {tuple(tokens.shape)}"
            raise InputError(f"`tokens` must be floats of shape (n, d) or (batch, n, d), none of them 0, not {found}.")
        *shape, n, d = tokens.shape
        if mask is None:
            mask = torch.ones((*shape, n), dtype=torch.bool, device=tokens.device)
        elif mask.dtype != torch.bool or mask.shape != (*shape, n):
            found = f"{mask.dtype} of shape {tuple(mask.shape)}"
            raise InputError(f"`mask` must be torch.bool of shape {(*shape, n)}, not {found}.")
        metric = self.metric
        if metric is not None and len(metric) != d:
            raise InputError(f"`metric` is {len(metric)} by {len(metric)}, but the tokens have {d} coordinates.")
        # Padding may be anything, even nan, which times 0 is nan.
        z, real = tokens.where(mask[..., None], 0).view(-1, n, d), mask.view(-1, n)
        keep = 1 / (1 + self.alpha)
        for _ in range(self.layers):
            fixed = z.detach()
            index, sizes = _choose(fixed, metric, real)
            means = _average(z, index, sizes, fixed, metric, real)
            z = means + keep * (z - means)  # in this form, rounding never moves a leader
        return z.view(tokens.shape).where(mask[..., None], tokens)


# Operators that torch.compile does not look into: they branch on whether there are ties.


@torch.library.custom_op("hardmax::choose", mutates_args=())
def _choose(z: Tensor, metric: Tensor | None, real: Tensor) -> tuple[Tensor, Tensor]:
    """The first token that each one attends to, numbered through the batch, and how many there are."""
    points, directions = _double(z, metric)
    firsts, sizes = [], []
    for block in directions.split(_block_size(z), dim=1):
        scores = _score(block, points, real)
        best, first = scores.max(2)
        firsts.append(first)
        sizes.append((scores == best[:, :, None]).sum(2, dtype=torch.int32))
    numbers = torch.arange(0, real.numel(), real.shape[1], device=z.device)[:, None] + torch.cat(firsts, 1)
    return numbers.flatten(), torch.cat(sizes, 1).where(real, 1)


@torch.library.custom_op("hardmax::average", mutates_args=())
def _average(values: Tensor, index: Tensor, sizes: Tensor, z: Tensor, metric: Tensor | None, real: Tensor) -> Tensor:
    """The mean of the values of what each token attends to."""
    means = values.flatten(0, 1)[index].view_as(values)
    for rows, shares in _ties(sizes, z, metric, real):
        means.scatter_(1, rows.expand(-1, -1, values.shape[2]), (shares @ values.double()).to(values.dtype))
    return means


@torch.library.custom_op("hardmax::spread", mutates_args=())
def _spread(grads: Tensor, index: Tensor, sizes: Tensor, z: Tensor, metric: Tensor | None, real: Tensor) -> Tensor:
    """What each token gets of the gradients of those that attend to it: the transpose of `_average`."""
    rest = grads.double(memory_format=torch.contiguous_format)  # bfloat16 cannot count beyond 256
    spread = torch.zeros_like(rest)
    for rows, shares in _ties(sizes, z, metric, real):
        rows = rows.expand(-1, -1, grads.shape[2])
        spread += shares.mT @ rest.gather(1, rows)
        rest = rest.scatter(1, rows, 0.0)
    spread.view(-1, grads.shape[2]).index_add_(0, index, rest.flatten(0, 1))
    return spread.to(grads.dtype)


@_choose.register_fake
def _(z: Tensor, metric: Tensor | None, real: Tensor) -> tuple[Tensor, Tensor]:
    return torch.empty_like(real, dtype=torch.int64).flatten(), torch.empty_like(real, dtype=torch.int32)


@_average.register_fake
@_spread.register_fake
def _(values: Tensor, *_: Tensor | None) -> Tensor:
    return torch.empty_like(values, memory_format=torch.contiguous_format)


def _keep_sets(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[1:])


def _apply(transpose: Any, ctx: Any, grads: Tensor) -> tuple[Tensor | None, ...]:
    return transpose(grads, *ctx.saved_tensors), *[None] * 5


# Both are linear in their first argument, and each is the transpose of the other.
for _one, _other in ((_average, _spread), (_spread, _average)):
    _one.register_autograd(partial(_apply, _other), setup_context=_keep_sets)


def _ties(sizes: Tensor, z: Tensor, metric: Tensor | None, real: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Rows (b, m, 1) that include all that tie, a block at a time, and the weights (b, m, n) of what they attend to."""
    tied = sizes > 1
    if most := int(tied.sum(1).max()):
        points, directions = _double(z, metric)
        order = tied.byte().argsort(dim=1, descending=True)[:, :most, None]
        for rows in order.split(_block_size(z), dim=1):
            scores = _score(directions.take_along_dim(rows, 1), points, real)
            hits = (scores == scores.amax(2, keepdim=True)).double()
            yield rows, hits / hits.sum(2, keepdim=True)


def _double(z: Tensor, metric: Tensor | None) -> tuple[Tensor, Tensor]:
    """The tokens and A times the tokens in float64: no TF32, no autocast, and products of shorter floats are exact."""
    points = z.double()
    return points, points if metric is None else points @ metric.double().mT


def _score(directions: Tensor, points: Tensor, real: Tensor) -> Tensor:
    return (directions @ points.mT).masked_fill(~real[:, None, :], -torch.inf)


def _block_size(z: Tensor) -> int:
    return max(1, _BLOCK // (z.shape[0] * z.shape[1]))
