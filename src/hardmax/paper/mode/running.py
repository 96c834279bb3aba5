"""Trainings from their first epoch, or their checkpoint, to their result: one alone, or several that take turns."""

# pyright: reportMissingImports=false
from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._validation import check_choice
from hardmax.paper.mode.checkpoints import resume, write_checkpoint
from hardmax.paper.mode.plan import KINDS, Plan, plan_of
from hardmax.paper.mode.results import DOCUMENT, result_of, write_result
from hardmax.paper.mode.reviews_on_device import DeviceReviews, put_on_device
from hardmax.paper.mode.training import Training
from hardmax.paper.telling import Progress, say_nothing


def train_paper(
    ids: np.ndarray,
    labels: np.ndarray,
    dimension: int,
    *,
    words: int | None = None,
    kind: str = "paper",
    epochs: int = 101,
    seed: int = 0,
    device: str = "cpu",
    progress: Progress = say_nothing,
) -> dict[str, Any]:
    """Train the paper's network on reviews as ids, and give the document of its result back.

    `kind` is "paper" for the authors' own way, "validated" where a tenth of the training reviews chooses the epoch, or
    "exact" for training with the hardmax in place of a softmax.
    """
    check_choice(kind, KINDS, "`kind`")
    words = int(np.max(ids)) + 1 if words is None else words
    reviews = put_on_device(ids, labels, words, device)
    training = Training(reviews, plan_of(dimension, kind, epochs=epochs, seed=seed))
    for _ in _followed(training, None, epochs, progress):
        pass
    return result_of(training)


def train_together(
    reviews: DeviceReviews,
    plans: Sequence[Plan],
    folder: Path,
    *,
    at_once: int = 4,
    checkpoint_every: int = 10,
    seconds: float = float("inf"),
    record_graphs: bool = True,
    progress: Progress = say_nothing,
) -> list[dict[str, Any]]:
    """Train all plans, some of them at once, and write each to its own folder, where it goes on if it was cut short.

    Once so many `seconds` are over, those that are under way stop at their last checkpoint. The documents of all that
    are at their end come back.
    """
    began, waiting, walking = time.perf_counter(), list(plans), []
    while (waiting or walking) and time.perf_counter() - began < seconds:
        while waiting and len(walking) < at_once:
            plan = waiting.pop(0)
            home = folder / plan.name
            if (home / DOCUMENT).exists():
                progress(f"{plan.name}: is there")
                continue
            home.mkdir(parents=True, exist_ok=True)
            training = Training(reviews, plan, record_graphs=record_graphs)
            resume(home, training)
            walking.append((training, _followed(training, home, checkpoint_every, progress)))
        for training, steps in list(walking):
            if next(steps, "end") == "end":
                walking.remove((training, steps))
                write_result(folder / training.plan.name, training, at_once=at_once)
                progress(f"{training.plan.name}: written")
    documents = [folder / plan.name / DOCUMENT for plan in plans]
    return [json.loads(path.read_text("utf-8")) for path in documents if path.exists()]


def _followed(training: Training, home: Path | None, every: int, progress: Progress) -> Iterator[bool]:
    """The training piece by piece, told and kept every so many epochs."""
    began, before = time.perf_counter(), training.seconds
    for is_epoch in training.advance():
        if is_epoch and (training.done % every == 0 or training.done == training.plan.epochs):
            training.wait()
            training.seconds = before + time.perf_counter() - began
            progress(_told(training))
            if home is not None:
                write_checkpoint(home, training)
        yield is_epoch


def _told(training: Training) -> str:
    loss, _, _, accuracy, alpha = training.history[training.done - 1].tolist()[:5]
    return (
        f"{training.plan.name}: epoch {training.done} of {training.plan.epochs}, training loss {loss:.4f}, "
        f"accuracy {accuracy:.4f}, alpha {alpha:.3f}, {training.seconds / training.done:.2f} s an epoch"
    )
