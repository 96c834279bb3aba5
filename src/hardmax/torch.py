"""Hardmax attention as a layer of a torch network, with its exact derivative given the attended
sets.

Who attends to whom is found a block of rows at a time and kept as one index per token. Rows that
tie are searched again where their sets are needed: after collapse everybody ties with everybody,
and lists of sets would be quadratic."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false
from math import expm1, log
from typing import Any

import torch
from torch import Tensor, nn

from hardmax._common.validation import InputError, check_bool, check_int
from hardmax._layer.rules import check_definite
from hardmax.dynamics import Dynamics

__all__ = ["HardmaxAttention"]

_SCORES_AT_ONCE = 2**22


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

    Notes
    -----
    With w the mean of the tokens z_j that have the largest <A z_i, z_j>, a layer is
    z_i' = (z_i + alpha w)/(1 + alpha). Scores are computed in float64, whatever the tokens are in,
    and tie if they are equal as floats; `hardmax.step` decides ties exactly.

    The derivative is exact as long as the attended sets stay the same: gradients flow to each
    token, to the tokens that it attends to, and to alpha. The choice itself is piecewise constant,
    so the derivative with respect to A is zero wherever it exists, and A is no parameter. Nothing
    is lost: with A = L L^T, the tokens L^T z have the metric I, so ``nn.Linear(d, d, bias=False)``
    in front of the layer learns a metric, by the gradients of the tokens.

    For b clouds of n tokens, memory is O(b n d) per layer, ties or not.

    Examples
    --------
    >>> import torch
    >>> layer = HardmaxAttention(alpha=1, layers=2)
    >>> tokens = torch.tensor([[1.0, 1.0], [1.0, -1.0], [0.5, 0.0]], requires_grad=True)
    >>> moved = layer(tokens)
    >>> moved.tolist()
    [[1.0, 1.0], [1.0, -1.0], [0.875, 0.0]]
    >>> moved[2].sum().backward()
    >>> tokens.grad.tolist()
    [[0.375, 0.375], [0.375, 0.375], [0.25, 0.25]]
    """

    metric: Tensor | None
    """The metric A, in the state but no parameter; None for the identity."""

    def __init__(
        self,
        alpha: float | str = 1.0,
        metric: Any = None,
        *,
        layers: int = 1,
        learn_alpha: bool = False,
    ) -> None:
        super().__init__()
        given = check_definite(Dynamics(alpha, metric))
        self.layers = check_int(layers, "`layers`", at_least=1)
        self._alpha, self.raw_alpha = float(given.alpha), None
        if check_bool(learn_alpha, "`learn_alpha`"):
            raw = self._alpha + log(-expm1(-self._alpha))  # the softplus of which is alpha
            self.raw_alpha = nn.Parameter(torch.tensor(raw))
        matrix = None if given.metric is None else torch.from_numpy(given.metric.astype(float))
        self.register_buffer("metric", matrix)

    @property
    def alpha(self) -> Tensor | float:
        """The step size: a number, or a tensor with a gradient if it is learned."""
        return self._alpha if self.raw_alpha is None else nn.functional.softplus(self.raw_alpha)

    @property
    def dynamics(self) -> Dynamics:
        """The step size and the metric for the functions of the package, such as
        `hardmax.limit`."""
        metric = None if self.metric is None else self.metric.double().cpu().numpy()
        return Dynamics(torch.as_tensor(self.alpha, dtype=torch.float64).item(), metric)

    def extra_repr(self) -> str:
        """Return the step size and the number of layers, for `repr`."""
        return f"alpha={float(self.dynamics.alpha):g}, layers={self.layers}"

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the tokens after all layers.

        Parameters
        ----------
        tokens : Tensor of shape (n, d) or (batch, n, d)
            One cloud, or a batch of clouds of the same number of tokens, real or padding.
        mask : bool Tensor of shape (n,) or (batch, n), optional
            Which tokens are real; all by default. Nobody attends to padding, which is returned as
            it is.

        Returns
        -------
        Tensor
            The tokens after all layers, of the same shape and type.
        """
        if tokens.ndim not in (2, 3) or not tokens.numel() or not tokens.is_floating_point():
            came = f"{tokens.dtype} of shape {tuple(tokens.shape)}"
            wish = "a nonempty tensor of floats, (n, d) or (batch, n, d)"
            raise InputError(f"`tokens` must be {wish}, not {came}.")
        *shape, n, d = tokens.shape
        if mask is None:
            mask = torch.ones((*shape, n), dtype=torch.bool, device=tokens.device)
        elif mask.dtype != torch.bool or mask.shape != (*shape, n):
            came = f"{mask.dtype} of shape {tuple(mask.shape)}"
            raise InputError(f"`mask` must be torch.bool of shape {(*shape, n)}, not {came}.")
        if self.metric is not None and len(self.metric) != d:
            raise InputError(
                f"`tokens` must have {len(self.metric)} coordinates, as `metric` has, not {d}."
            )
        # Padding may be anything, even nan, which times 0 is nan.
        z = tokens.where(mask[..., None], 0).view(-1, n, d)
        real = mask.view(-1, n)
        contraction = 1 / (1 + self.alpha)
        for _ in range(self.layers):
            fixed = z.detach()
            means = _average(z, False, _choose(fixed, self.metric, real), fixed, self.metric, real)
            z = means + contraction * (z - means)  # in this form, rounding never moves a leader
        return z.view(tokens.shape).where(mask[..., None], tokens)


# Operators of their own, which torch.compile does not look into: they branch on whether there are
# ties.
@torch.library.custom_op("hardmax::choose", mutates_args=())
def _choose(z: Tensor, metric: Tensor | None, real: Tensor) -> Tensor:
    """The token that each one attends to, numbered through the batch; of those that tie, ~ their
    own number."""
    points, directions = _double(z, metric)
    numbers = torch.arange(real.numel(), device=z.device).view(real.shape)
    step, chosen = _rows_at_once(real), []
    blocks = directions.split(step, dim=1)
    for rows, block in zip(numbers.split(step, dim=1), blocks, strict=True):
        scores = _score(block, points, real)
        best, first = scores.max(2)
        alone = (scores == best[:, :, None]).sum(2) == 1
        chosen.append((numbers[:, :1] + first).where(alone, ~rows))
    return torch.cat(chosen, 1).where(real, numbers).contiguous()


@torch.library.custom_op("hardmax::average", mutates_args=())
def _average(
    v: Tensor, transposed: bool, chosen: Tensor, z: Tensor, metric: Tensor | None, real: Tensor
) -> Tensor:
    """The mean of the values v of what each token attends to; transposed, what it gets from those
    that attend to it."""
    values = v.double()  # bfloat16 cannot count beyond 256
    index, tied = chosen.maximum(~chosen).flatten(), (chosen < 0)[:, :, None]
    if transposed:
        alone = values.masked_fill(tied, 0).flatten(0, 1)
        result = torch.zeros_like(alone).index_add_(0, index, alone).view(v.shape)
    else:
        result = values.flatten(0, 1)[index].view(v.shape).masked_fill(tied, 0)
    if most := int(tied.sum(1).max()):
        points, directions = _double(z, metric)
        order = tied.byte().argsort(dim=1, descending=True)
        order = order[:, :most]  # all that tie, and some others
        for rows in order.split(_rows_at_once(real), dim=1):
            scores = _score(directions.take_along_dim(rows, 1), points, real)
            hits = (scores == scores.amax(2, keepdim=True)).double()
            shares = (hits / hits.sum(2, keepdim=True)).where(tied.take_along_dim(rows, 1), 0)
            if transposed:
                result += shares.mT @ values.take_along_dim(rows, 1)
            else:
                result.scatter_add_(1, rows.expand(-1, -1, v.shape[2]), shares @ values)
    return result.to(v.dtype).contiguous()


@_choose.register_fake
def _(z: Tensor, metric: Tensor | None, real: Tensor) -> Tensor:
    return torch.empty(real.shape, dtype=torch.int64, device=z.device)


@_average.register_fake
def _(v: Tensor, *_: Any) -> Tensor:
    return torch.empty(v.shape, dtype=v.dtype, device=v.device)


def _keep_sets(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.transposed = inputs[1]
    ctx.save_for_backward(*inputs[2:])


def _backward(ctx: Any, grads: Tensor) -> tuple[Tensor | None, ...]:
    return _average(grads, not ctx.transposed, *ctx.saved_tensors), *[None] * 5


_average.register_autograd(_backward, setup_context=_keep_sets)


def _double(z: Tensor, metric: Tensor | None) -> tuple[Tensor, Tensor]:
    """The tokens and A times the tokens in float64: no TF32, no autocast, and products of shorter
    floats are exact."""
    points = z.double()
    return points, points if metric is None else points @ metric.double().mT


def _score(directions: Tensor, points: Tensor, real: Tensor) -> Tensor:
    return (directions @ points.mT).masked_fill_(~real[:, None, :], -torch.inf)


def _rows_at_once(real: Tensor) -> int:
    return max(1, _SCORES_AT_ONCE // real.numel())
