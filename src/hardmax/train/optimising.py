"""Adam as recipes want it: its rates over the training, and its memory, to be kept and put back."""

# pyright: reportMissingImports=false
from __future__ import annotations

import math

import torch

from hardmax.train.checkpoints import State
from hardmax.train.network import Network
from hardmax.train.recipe import Recipe


def make_optimiser(network: Network, recipe: Recipe) -> torch.optim.Adam:
    """Adam, with rates of their own for the decoder and for alpha."""
    groups = [
        {"params": [network.embeddings], "share": 1.0, "weight_decay": recipe.weight_decay},
        {"params": [network.bias], "share": float(recipe.bias)},
        {"params": [network.decoder], "share": recipe.decoder_learning_rate},
        {"params": [network.growth], "share": recipe.alpha_learning_rate},
    ]
    return torch.optim.Adam(groups, lr=recipe.learning_rate, betas=(0.9, 0.99))


def set_rate(optimiser: torch.optim.Adam, recipe: Recipe, epoch: float) -> None:
    """The rate at a moment of the training: warmed up over one epoch, then falling as a cosine."""
    level = min(1.0, epoch) * (1 + math.cos(math.pi * epoch / recipe.epochs)) / 2
    for group in optimiser.param_groups:
        group["lr"] = recipe.learning_rate * group["share"] * level


def learn(network: Network, optimiser: torch.optim.Adam) -> None:
    """A step of Adam. Beside a neutral leader, who stays where it is, words that say nothing go on saying nothing."""
    if not network.neutral:
        optimiser.step()
        return
    silent = (network.embeddings.detach() == 0).all(dim=1)  # the neutral leader among them
    optimiser.step()
    with torch.no_grad():
        network.embeddings[silent] = 0.0


def copy_weights(network: Network) -> dict[str, torch.Tensor]:
    """The weights as they are now."""
    return {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}


def copy_memory(optimiser: torch.optim.Adam) -> dict[str, torch.Tensor]:
    """What Adam remembers: its steps and its means, by the number of the parameter."""
    stored = optimiser.state_dict()["state"]
    return {f"{number}.{name}": t.cpu().clone() for number, entry in stored.items() for name, t in entry.items()}


def restore(network: Network, optimiser: torch.optim.Adam, state: State) -> None:
    """Put weights and memory back."""
    network.load_state_dict(state.weights)
    entries: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in state.memory.items():
        number, name = key.split(".", 1)
        entries.setdefault(int(number), {})[name] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": entries})
