"""The one boundary for torch and triton, which nothing outside imports to compute layers."""

import re
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from hardmax._common.validation import InputError, require_extra, shorten


@dataclass(frozen=True)
class Gpu:
    """A GPU as the engine of `simulate` and `limit`, through torch and triton (extra `gpu`).

    Tokens stay on it, and those that came as tensors are returned there. A cloud that floats cannot
    prove goes to the processor, and so do batches of small clouds.

    Parameters
    ----------
    device : str, default "cuda"
        The device in torch's words; ``"cuda:1"`` is the second of several.

    Examples
    --------
    >>> Gpu()
    Gpu(device='cuda')
    """

    device: str = "cuda"

    def __post_init__(self) -> None:
        if not (
            isinstance(self.device, str) and re.fullmatch("cuda(:[0-9]{1,4})?|cpu", self.device)
        ):
            raise InputError(
                f"`device` must be 'cuda' or such as 'cuda:1', not {shorten(self.device)}."
            )

    def check(self) -> None:
        """Refuse if there is no such GPU, no triton for the system, or if torch or triton is not
        installed."""
        if sys.platform != "linux":
            only_linux = "there is triton for Linux only. Leave `engine` out to use the processor."
            raise InputError(f"`engine` cannot be used: {only_linux}")
        require_extra("The GPU engine", "gpu", "torch", "triton")
        import torch  # pyright: ignore[reportMissingImports]

        if (
            self.device.startswith("cuda")
            and (torch.device(self.device).index or 0) >= torch.cuda.device_count()
        ):
            no_device = (
                f"torch finds no device {self.device!r}. Leave `engine` out to use the processor."
            )
            raise InputError(f"`engine` cannot be used: {no_device}")

    def limited(self) -> AbstractContextManager[None]:
        """Limit nothing: what is left to the processor is done by all its cores."""
        return nullcontext()
