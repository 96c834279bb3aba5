"""Where a training stands, in one file: weights, the optimiser's memory, reports. Written whole; no pickle."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from hardmax._files import write_whole
from hardmax._validation import InputError
from hardmax.train.log import Epoch


@dataclass(eq=False)
class State:
    """A training between two epochs."""

    weights: dict[str, torch.Tensor]
    memory: dict[str, torch.Tensor]  # of the optimiser
    best: dict[str, torch.Tensor]  # the weights with the smallest validation loss
    reports: list[Epoch]

    @property
    def epochs(self) -> int:
        return len(self.reports)


_PARTS = ("weights", "memory", "best")


def write_checkpoint(path: Path, state: State, fingerprint: str) -> None:
    """Write the state; a process that is killed meanwhile leaves the checkpoint that was there."""
    tensors = {f"{part}/{name}": t.contiguous() for part in _PARTS for name, t in getattr(state, part).items()}
    told = {"fingerprint": fingerprint, "reports": json.dumps([asdict(report) for report in state.reports])}
    write_whole(path, save(tensors, metadata=told))


def read_checkpoint(path: Path, fingerprint: str) -> State | None:
    """The state that was written, or None if there is none. One of another recipe or other texts is refused."""
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as stored:
            told = stored.metadata() or {}
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    except (SafetensorError, OSError):
        raise InputError(f"`{path}` is not a checkpoint, or is cut off: remove it to start again.") from None
    if told.get("fingerprint") != fingerprint:
        raise InputError(f"`{path}` belongs to another recipe or other texts: name another folder, or remove it.")
    parts = {part: {n.split("/", 1)[1]: t for n, t in tensors.items() if n.startswith(part)} for part in _PARTS}
    return State(**parts, reports=[Epoch(**report) for report in json.loads(told["reports"])])
