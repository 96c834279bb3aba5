"""A small training under watch: what every step of Adam was given, and which clouds the network saw."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from small_training import TOKENS, examples
from torch.optim.optimizer import register_optimizer_step_pre_hook

from hardmax.train.clouds import Clouds
from hardmax.train.layer import Hardmax
from hardmax.train.log import Epoch
from hardmax.train.loop import train
from hardmax.train.network import Network, make_network
from hardmax.train.recipe import Recipe

UNSEEN = 5  # words that no text has


@dataclass(frozen=True)
class Step:
    """Adam is about to take a step: the rate and the gradient of each parameter."""

    rates: dict[str, float]
    grads: dict[str, np.ndarray]


@dataclass(frozen=True)
class Watched:
    """The network before and after, the reports, every step, and every batch with the alpha that it was walked with."""

    network: Network
    before: dict[str, np.ndarray]
    reports: list[Epoch] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    seen: list[tuple[Clouds, float]] = field(default_factory=list)

    @property
    def after(self) -> dict[str, np.ndarray]:
        return weights_of(self.network)


def weights_of(network: Network) -> dict[str, np.ndarray]:
    return {name: value.detach().numpy().copy() for name, value in network.state_dict().items()}


@contextmanager
def watched_steps() -> Iterator[list[torch.optim.Optimizer]]:
    """A list that grows by one with every step that any optimiser takes."""
    taken: list[torch.optim.Optimizer] = []
    handle = register_optimizer_step_pre_hook(lambda adam, *_: taken.append(adam))
    try:
        yield taken
    finally:
        handle.remove()


def watch(recipe: Recipe, texts: int = 40, seed: int = 0, validation=None) -> Watched:
    """Train on the texts of `small_training`; the network knows a few words more than they have."""
    network = make_network(TOKENS + UNSEEN, 2, recipe, Hardmax())
    found = Watched(network, weights_of(network))
    names = {id(parameter): name for name, parameter in network.named_parameters()}

    def note_step(adam: torch.optim.Optimizer, *_) -> None:
        parameters = [(names[id(p)], p, group["lr"]) for group in adam.param_groups for p in group["params"]]
        grads = {name: p.grad.numpy().copy() for name, p, _ in parameters if p.grad is not None}
        found.steps.append(Step({name: rate for name, _, rate in parameters}, grads))

    network.register_forward_pre_hook(
        lambda _, given: found.seen.append((given[0], float(torch.as_tensor(given[1]).detach())))
    )
    handle = register_optimizer_step_pre_hook(note_step)
    try:
        found.reports.extend(train(network, examples(texts, seed=seed), recipe, validation=validation))
    finally:
        handle.remove()
    return found
