"""The reviews as two tensors on the device that trains."""

# pyright: reportMissingImports=false
from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import torch

from hardmax._validation import InputError, shorten


@dataclass(frozen=True, eq=False)
class DeviceReviews:
    """Ids and labels of all reviews, and how many words there are; `digest` tells them from other reviews."""

    ids: torch.Tensor  # (reviews, n), int32
    labels: torch.Tensor  # (reviews,), float32
    words: int
    digest: str

    @property
    def device(self) -> str:
        return str(self.ids.device)


def put_on_device(ids: np.ndarray, labels: np.ndarray, words: int, device: str) -> DeviceReviews:
    """The reviews on "cpu" or "cuda". `ids` are (reviews, n) from 0 up to `words` - 1, `labels` 0 or 1."""
    ids, labels = np.ascontiguousarray(ids, dtype=np.int32), np.ascontiguousarray(labels, dtype=np.float32)
    if ids.ndim != 2 or labels.shape != ids.shape[:1] or len(ids) < 10:
        raise InputError(
            f"`ids` must be rows of ids, one for each of at least ten `labels`, not of shapes {shorten(ids.shape)} and "
            f"{shorten(labels.shape)}."
        )
    if ids.min() < 0 or ids.max() >= words or not np.isin(labels, (0, 1)).all():
        raise InputError(f"`ids` must be from 0 to {words - 1} and `labels` 0 or 1: prepare the reviews again.")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError('`device` is "cuda", but torch finds no GPU here. Take device="cpu".', argument="`device`")
    digest = hashlib.sha256(ids.tobytes() + labels.tobytes()).hexdigest()
    return DeviceReviews(torch.from_numpy(ids).to(device), torch.from_numpy(labels).to(device), words, digest)
