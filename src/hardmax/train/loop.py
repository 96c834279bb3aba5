"""The loop: epochs of Adam on batches of texts, from any checkpoint on. The same seed gives the same bits."""

# pyright: reportMissingImports=false
from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from hardmax.train.checkpoints import State, read_checkpoint, write_checkpoint
from hardmax.train.clouds import Clouds, drop_words, pick
from hardmax.train.evidence import weigh_evidence
from hardmax.train.examples import Examples
from hardmax.train.log import Epoch, write_log
from hardmax.train.network import Decided, Network, pool
from hardmax.train.optimising import copy_memory, copy_weights, learn, make_optimiser, restore, set_rate
from hardmax.train.recipe import Recipe

# The checkpoint of a training that holds texts out, or of the only one; and that of a second one, on all texts.
PART, WHOLE = "checkpoint.safetensors", "checkpoint-of-all.safetensors"
_TINY = 1e-12  # so that a word of no length has a slope, which is none
_AT_ONCE = 1024  # clouds, where nothing is learned


@dataclass(frozen=True, eq=False)
class Folder:
    """Where a training keeps its checkpoint and its log; the fingerprint tells one training from another."""

    path: Path
    fingerprint: str
    name: str = PART

    def read(self) -> State | None:
        return read_checkpoint(self.path / self.name, self.fingerprint)

    def write(self, state: State) -> None:
        write_checkpoint(self.path / self.name, state, self.fingerprint)
        write_log(self.path / "log.jsonl", state.reports)


def train(
    network: Network,
    examples: Examples,
    recipe: Recipe,
    *,
    validation: Examples | None = None,
    folder: Folder | None = None,
    progress: Callable[[Epoch], None] | None = None,
) -> list[Epoch]:
    """Train the network in place, or go on from the checkpoint in the folder; gives back what was reported.

    Every random choice of an epoch follows from the seed and the number of the epoch, so that nothing but the
    weights and Adam's memory has to be kept.
    """
    optimiser = make_optimiser(network, recipe)
    state = folder.read() if folder else None
    state = state or State(copy_weights(network), {}, {}, [])
    restore(network, optimiser, state)
    while state.epochs < recipe.epochs and not _is_over(state.reports, recipe):
        report = _train_epoch(network, optimiser, examples, recipe, state.epochs, validation)
        state.reports.append(report)
        if _is_best(state.reports, recipe):
            state.best = copy_weights(network)
        state.weights, state.memory = copy_weights(network), copy_memory(optimiser)
        if folder:
            folder.write(state)
        if progress:
            progress(report)
    if state.best:
        network.load_state_dict(state.best)
    return state.reports


def decide(network: Network, clouds: Clouds, alpha: float | torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The logits (clouds, rows) and the number of leaders of each cloud; nothing is learned."""
    logits, leaders = [], []
    network.eval()
    with torch.no_grad():
        for first in range(0, len(clouds), _AT_ONCE):
            part = pick(clouds, np.arange(first, min(first + _AT_ONCE, len(clouds))))
            found = network(part, alpha)
            logits.append(found.logits.cpu().numpy())
            leaders.append(np.bincount(part.cloud_of_token, found.leads.cpu().numpy(), minlength=len(part)))
    return np.concatenate(logits), np.concatenate(leaders)


def _train_epoch(
    network: Network,
    optimiser: torch.optim.Adam,
    examples: Examples,
    recipe: Recipe,
    epoch: int,
    validation: Examples | None,
) -> Epoch:
    began = time.perf_counter()
    relaxed = epoch >= recipe.epochs - recipe.relaxed_epochs
    if relaxed:
        network.silence()
    if recipe.evidence and epoch == recipe.epochs - recipe.relaxed_epochs:
        _trust(network, examples, recipe.evidence)
    network.train()
    rng = np.random.default_rng([recipe.seed, epoch])
    order = rng.permutation(len(examples))
    steps = math.ceil(len(order) / recipe.batch_size)
    losses, right, leaders = 0.0, 0, 0
    for step in range(steps):
        rows = order[step * recipe.batch_size : (step + 1) * recipe.batch_size]
        set_rate(optimiser, recipe, epoch + step / steps)
        clouds = drop_words(pick(examples.clouds, rows), recipe.word_dropout, rng, network.neutral_token)
        found = network(clouds, _alpha(network, recipe, epoch + step / steps))
        loss = _loss(found.logits, examples.labels[rows], examples.weights[rows])
        optimiser.zero_grad()
        (loss + _penalty(network, found, clouds, recipe, relaxed)).backward()
        learn(network, optimiser)
        losses += loss.item() * len(rows)
        right += int((_winners(found.logits.detach().cpu().numpy()) == examples.labels[rows]).sum())
        leaders += int(found.leads.sum())
    with torch.no_grad():
        alpha = float(_alpha(network, recipe, epoch + 1))
    return Epoch(
        epoch=epoch + 1,
        alpha=alpha,
        loss=losses / len(order),
        accuracy=right / len(order),
        leaders=leaders / len(order),
        **(_judge(network, validation, alpha) if validation else {}),
        seconds=time.perf_counter() - began,
    )


def _trust(network: Network, examples: Examples, share: float) -> None:
    """Lets evidence have its share in the lengths of words."""
    clouds, tokens = examples.clouds, network.words
    met = np.bincount(clouds.ids, minlength=tokens)[:tokens]
    evidence = weigh_evidence(clouds, examples.labels, len(network.embeddings))[:, :tokens]
    network.lengthen(evidence, met, share)


def _alpha(network: Network, recipe: Recipe, epoch: float) -> float | torch.Tensor:
    """The step at a moment: by the schedule while it rises, then that of the network, which may learn it."""
    return network.alpha if recipe.has_risen(epoch) else recipe.alpha_at(epoch)


def _judge(network: Network, validation: Examples, alpha: float) -> dict[str, float]:
    logits, leaders = decide(network, validation.clouds, alpha)
    loss = _loss(torch.from_numpy(logits), validation.labels, validation.weights)
    return {
        "validation_loss": float(loss),
        "validation_accuracy": float((_winners(logits) == validation.labels).mean()),
        "validation_leaders": float(leaders.mean()),
    }


def _loss(logits: torch.Tensor, labels: np.ndarray, weights: np.ndarray) -> torch.Tensor:
    truth, counts = torch.from_numpy(labels).to(logits.device), torch.from_numpy(weights).to(logits)
    if logits.shape[1] == 1:
        losses = binary_cross_entropy_with_logits(logits[:, 0], truth.to(logits), reduction="none")
    else:
        losses = cross_entropy(logits, truth, reduction="none")
    return (losses * counts).mean()


def _penalty(network: Network, found: Decided, clouds: Clouds, recipe: Recipe, relaxed: bool) -> torch.Tensor | float:
    """What the lengths of words cost: their squares, and, in units of the logit, the lengths themselves."""
    total: torch.Tensor | float = 0.0
    if recipe.norm_penalty:
        total = total + recipe.norm_penalty * pool(found.tokens**2, clouds).mean()
    if recipe.sparsity and not relaxed:
        lengths = (found.tokens**2 + _TINY).sum(dim=1, keepdim=True).sqrt()
        total = total + recipe.sparsity * network.decoder.detach().norm(dim=1).mean() * pool(lengths, clouds).mean()
    return total


def _winners(logits: np.ndarray) -> np.ndarray:
    return (logits[:, 0] > 0).astype(np.int64) if logits.shape[1] == 1 else logits.argmax(axis=1)


def _is_best(reports: list[Epoch], recipe: Recipe) -> bool:
    """Whether the last epoch has the smallest validation loss of those at the full step."""
    seen = [report for report in reports if recipe.has_risen(report.epoch) and report.validation_loss is not None]
    return bool(recipe.patience and seen and min(seen, key=lambda r: r.validation_loss or 0.0) is reports[-1])


def _is_over(reports: list[Epoch], recipe: Recipe) -> bool:
    """Whether the validation loss has not fallen for as long as patience lasts."""
    full = sum(recipe.has_risen(report.epoch) for report in reports)
    best = max((n for n in range(1, len(reports) + 1) if _is_best(reports[:n], recipe)), default=len(reports))
    return bool(recipe.patience and full and len(reports) - best >= recipe.patience)
