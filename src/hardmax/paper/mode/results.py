"""What comes of a training in paper mode: a small document, and the weights."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save

from hardmax._files import write_whole
from hardmax._format import escape_json
from hardmax.paper.mode.history import as_lists
from hardmax.paper.mode.training import Training

DOCUMENT, WEIGHTS = "result.json", "weights.safetensors"


def result_of(training: Training, *, at_once: int = 1) -> dict[str, Any]:
    """The document: the plan, the history, the chosen epoch, and the test, where it was kept for the end.

    In the paper's own split the judges are the test reviews, so that `chosen` has seen them: the authors' rule. With
    some held out these are the judges, and `test` is what the chosen weights give on reviews that chose nothing.
    `at_once` says how many trainings shared the device, and so its time.
    """
    training.wait()
    plan, split = training.plan, training.split
    history = as_lists(training.history[: training.done].tolist(), 0 if plan.exact else plan.compare_every)
    accuracies = history["judged_accuracy"]
    chosen = accuracies.index(max(accuracies))
    reviews = {"training": len(split.training), "judging": len(split.judging), "once": len(split.once)}
    document = {
        "name": plan.name,
        "plan": asdict(plan),
        "reviews": reviews | {"words": training.reviews.words, "digest": training.reviews.digest},
        "judged_by": "held-out training reviews" if len(split.once) else "test reviews",
        "history": history,
        "chosen": _at(history, chosen),
        "last": _at(history, training.done - 1),
        "device": torch.cuda.get_device_name() if training.is_cuda else "cpu",
        "torch": torch.__version__,
        "seconds": round(training.seconds, 3),
        "at_once": at_once,
    }
    return document | ({"test": training.test_once()} if len(split.once) else {})


def write_result(folder: Path, training: Training, *, at_once: int = 1) -> dict[str, Any]:
    """Write the document and the weights, the last and the chosen ones, and give the document back.

    Where reviews were held out, only the chosen weights are kept, and of the exact hardmax only the last: those that
    somebody will look at.
    """
    document = result_of(training, at_once=at_once)
    kept = {} if training.plan.held_out else {f"last/{name}": value for name, value in training.weights().items()}
    if not training.plan.exact:
        kept |= {f"chosen/{name}": value for name, value in training.best.items()}
    tensors = {name: value.detach().cpu().contiguous() for name, value in kept.items()}
    write_whole(folder / WEIGHTS, save(tensors, metadata={"plan": json.dumps(document["plan"])}))
    write_whole(folder / DOCUMENT, escape_json(document).encode("utf-8"))
    return document


def _at(history: dict[str, Any], epoch: int) -> dict[str, Any]:
    return {"epoch": epoch} | {name: values[epoch] for name, values in history.items() if name != "hard"}
