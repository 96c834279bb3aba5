"""The one boundary for torch and triton.

`Gpu`: a graphics card that works. It can be named where there is none; torch is imported when it is to work.
"""

import re
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from hardmax._validation import InputError, require_extra, shorten


@dataclass(frozen=True)
class Gpu:
    """A graphics card, through torch and triton (extra `gpu`).

    Tokens stay on it, and those that came as tensors are given back there. A cloud that floats cannot prove goes to
    the processor.

    >>> Gpu()
    Gpu(device='cuda')
    """

    device: str = "cuda"

    def __post_init__(self) -> None:
        if not (isinstance(self.device, str) and re.fullmatch("cuda(:[0-9]{1,4})?|cpu", self.device)):
            raise InputError(
                f"`device` must be 'cuda', or one of several such as 'cuda:1', not {shorten(self.device)}."
            )

    def check(self, dimension: int) -> None:
        """Any dimension will do."""
        self.check_present()

    def check_present(self) -> None:
        """Refuse where there is no such GPU, or what drives it is not installed."""
        require_extra("The GPU engine", "gpu", "torch", "triton")
        import torch  # pyright: ignore[reportMissingImports]

        if self.device.startswith("cuda") and (torch.device(self.device).index or 0) >= torch.cuda.device_count():
            no_device = f"torch finds no device {self.device!r}. Leave `engine` out to use the processor."
            raise InputError(f"`engine` cannot be used: {no_device}", argument="engine")

    def limited(self) -> AbstractContextManager[None]:
        """What is left to the processor is done by all its cores."""
        return nullcontext()
