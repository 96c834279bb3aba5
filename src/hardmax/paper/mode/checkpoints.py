"""Where a training in paper mode stands, in one file: weights, Adam's memory, the best weights, history. No pickle."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from hardmax._files import write_whole
from hardmax._validation import InputError
from hardmax.paper.mode.training import Training

NAME = "checkpoint.safetensors"


def write_checkpoint(folder: Path, training: Training) -> None:
    """Write where the training stands after the epochs it has done; whoever is killed meanwhile keeps the last one."""
    training.wait()
    tensors = {name: value.detach().cpu().contiguous() for name, value in _places(training).items()}
    told = {"fingerprint": _fingerprint(training), "done": str(training.done), "seconds": str(training.seconds)}
    write_whole(folder / NAME, save(tensors, metadata=told))


@torch.no_grad()
def resume(folder: Path, training: Training) -> None:
    """Put the training where the checkpoint in the folder says, if there is one; one of another training is refused."""
    path = folder / NAME
    if not path.exists():
        return
    try:
        with safe_open(path, framework="pt") as stored:
            told = stored.metadata() or {}
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    except (SafetensorError, OSError):
        raise InputError(f"`{path}` is not a checkpoint, or is cut off: remove it to start again.") from None
    if told.get("fingerprint") != _fingerprint(training):
        raise InputError(f"`{path}` belongs to another training: name another folder, or remove it.")
    with training.in_stream():
        _make_memory(training)
        for name, place in _places(training).items():
            place.copy_(tensors[name])
    training.wait()
    training.done, training.seconds = int(told["done"]), float(told["seconds"])


def _fingerprint(training: Training) -> str:
    return json.dumps(asdict(training.plan) | {"reviews": training.reviews.digest})


def _places(training: Training) -> dict[str, torch.Tensor]:
    """All that changes in a training, by name."""
    places = {f"weights/{name}": value for name, value in training.network.named_parameters()}
    for name, value in training.network.named_parameters():
        places |= {f"adam/{name}/{part}": kept for part, kept in training.adam.state[value].items()}
    places |= {f"best/{name}": value for name, value in training.best.items()}
    return places | {"best_accuracy": training.best_accuracy, "history": training.history}


def _make_memory(training: Training) -> None:
    """Have Adam make what it remembers, by a step along nothing, and of no length: the weights are replaced next."""
    for value in training.parameters:
        value.grad = torch.zeros_like(value)
    training.adam.step()
    training.adam.zero_grad(set_to_none=True)
