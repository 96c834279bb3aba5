"""Hardmax attention as a layer of a torch network, with its exact derivative given the attended
sets."""

# pyright: reportMissingImports=false, reportUntypedBaseClass=false
from fractions import Fraction
from math import expm1, log
from typing import Any

from hardmax._common.validation import InputError, MissingExtra, check_bool, check_int
from hardmax._layer.rules import check_definite
from hardmax.dynamics import Dynamics

try:
    import torch
    from torch import Tensor, nn
except ImportError:
    raise MissingExtra("`hardmax.torch`", "torch") from None

__all__ = ["HardmaxAttention"]


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

    For b clouds of n tokens, memory is O(b n (n + d)) per layer, as for attention in plain torch.

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
        assert isinstance(given.alpha, Fraction)
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
        return f"alpha={float(self.alpha):g}, layers={self.layers}"

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the tokens after all layers.

        Parameters
        ----------
        tokens : Tensor of shape (n, d) or (batch, n, d)
            One cloud, or a batch of clouds of the same number of tokens, real or padding.
        mask : bool Tensor of shape (n,) or (batch, n), optional
            Which tokens are real; all by default. No token attends to padding, which is returned as
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
            shares = _shares(z.detach().double(), self.metric, real)
            with torch.autocast(z.device.type, enabled=False):
                means = (shares @ z.double()).to(z.dtype)  # bfloat16 cannot count beyond 256
            z = means + contraction * (z - means)  # in this form, rounding never moves a leader
        return z.view(tokens.shape).where(mask[..., None], tokens)


def _shares(points: Tensor, metric: Tensor | None, real: Tensor) -> Tensor:
    """How much each token attends to each one (batch, n, n); padding attends to itself.

    In float64: no TF32, no autocast, and products of shorter floats are exact."""
    with torch.autocast(points.device.type, enabled=False):
        directions = points if metric is None else points @ metric.double().mT
        scores = (directions @ points.mT).masked_fill(~real[:, None, :], -torch.inf)
    hits = (scores == scores.amax(2, keepdim=True)) & real[:, :, None]
    hits |= torch.diag_embed(~real)
    return hits / hits.sum(2, keepdim=True, dtype=points.dtype)
