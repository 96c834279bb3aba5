"""A longer search for the recipe that suits a corpus: whole models are trained, for as long as there is time."""

# pyright: reportMissingImports=false
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hardmax._format import pluralize
from hardmax._validation import check_callable, check_real
from hardmax.text.tokens.texts import TextBytes, read_texts
from hardmax.train.examples import hold_out, read_labels
from hardmax.train.fitting import fit
from hardmax.train.recipe import Recipe
from hardmax.train.suited import Choice, Suited
from hardmax.train.suiting import NOTHING, suit
from hardmax.train.trials import Trial

_JUDGES = 0.25
# What is tried, in this order: entries that go together, so that a step of one layer is not as long as of eight.
_CHANGES: tuple[dict[str, Any], ...] = (
    {"layers": 8},
    {"layers": 2, "alpha": 3.0},
    {"bag_strength": 30.0},
    {"bag_strength": 3.0},
    {"longest_phrase": 3},
    {"word_dropout": 0.4},
    {"word_dropout": 0.0},
    {"learning_rate": 0.005},
    {"epochs": 12},
    {"overlapping": False},
    {"counting": 0.6},
    {"counting": 0.3},
    {"counting": 0.2},
    {"marks": True},
    {"binary": False},
)


def search(
    texts: Any,
    labels: Any,
    given: Mapping[str, Any] = NOTHING,
    *,
    seconds: float,
    progress: Callable[[str], None] | None = None,
) -> Suited:
    """The best recipe that was found in so many seconds, for texts and their labels, of any kind.

    It starts from what `suit` chooses. One thing is changed at a time, the model trained on three quarters of the
    texts, and the change kept if more of the rest is told rightly than chance would have it. The last model may end
    after the time is over. `progress` is told in words what was tried.
    """
    seconds, progress = check_real(seconds, "`seconds`", above=0), check_callable(progress, "`progress`", "line")
    until = time.monotonic() + seconds
    found = read_texts(texts)
    _, labels = read_labels(labels, len(found))
    best = suit(found, labels, given)
    judges = hold_out(labels, _JUDGES, best.recipe.seed)
    if not judges.any():
        return best
    now = _judge(found, labels, judges, best.recipe)
    for changes in _CHANGES:
        if time.monotonic() >= until:
            break
        fresh = {name: value for name, value in changes.items() if getattr(best.recipe, name) != value}
        if not fresh or any(name in given for name in changes):
            continue
        tried = _judge(found, labels, judges, replace(best.recipe, **fresh))
        better = tried.accuracy > now.accuracy and not now.is_as_good_as(tried)
        words = ", ".join(f"{name} {value}" for name, value in fresh.items())
        if progress:
            progress(f"{words}: {tried.accuracy:.4f} instead of {now.accuracy:.4f}, {'kept' if better else 'not kept'}")
        if better:
            here = f"accuracy on {pluralize(int(judges.sum()), 'text')} held out"
            why = f"{here}: {tried.accuracy:.4f}, {now.accuracy:.4f} without"
            for name, value in fresh.items():
                best = best.and_choose(Choice(name, value, why))
            now = tried
    return best


def _judge(texts: TextBytes, labels: np.ndarray, judges: np.ndarray, recipe: Recipe) -> Trial:
    """What a model of the recipe makes of the texts that judge."""
    teach, rows = np.flatnonzero(~judges), np.flatnonzero(judges)
    model = fit(texts.pick(teach), labels[teach], replace(recipe, refit=False, patience=0, validation_fraction=0.0))
    return Trial(np.asarray(model.predict(texts.pick(rows))) == labels[rows])
