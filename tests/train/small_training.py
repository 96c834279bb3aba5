"""A small training for the tests, and, run as a script, one that is killed before a step of Adam."""

import os
import sys
from dataclasses import replace
from itertools import count
from pathlib import Path
from signal import SIGKILL

import numpy as np
from torch.optim.optimizer import register_optimizer_step_pre_hook

from hardmax.train.clouds import Clouds
from hardmax.train.examples import Examples
from hardmax.train.layer import Hardmax
from hardmax.train.loop import Folder, train
from hardmax.train.network import make_network
from hardmax.train.recipe import Recipe

RECIPE = Recipe(
    layers=4,
    validation_fraction=0.0,
    epochs=6,
    bag_of_words_epochs=1.0,
    alpha_warmup_epochs=1.0,
    batch_size=32,
    word_dropout=0.3,
    norm_penalty=0.01,
    weight_decay=1e-4,
)
LEARNS_ALPHA = replace(RECIPE, alpha_learning_rate=1.0)
RECIPES = {"alpha is given": RECIPE, "alpha is learned": LEARNS_ALPHA}
TOKENS = 300


def examples(texts=400, classes=2, seed=0):
    """Texts of about 30 tokens; those below 20 say the class, the others nothing."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, texts)
    rows = []
    for label in labels:
        loud = [c for c in range(20) if rng.random() < (0.5 if c % classes == label else 0.1)]
        rows.append(np.concatenate([loud, rng.choice(np.arange(20, TOKENS), 30, replace=False)]))
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    ids = np.concatenate(rows).astype(np.int64)
    return Examples(Clouds(ids, np.ones(len(ids)), offsets), labels, np.ones(texts, dtype=np.float32))


def train_small(folder=None, recipe=RECIPE, progress=None, classes=2, validation=None):
    """The trained network and its reports."""
    network = make_network(TOKENS, classes, recipe, Hardmax())
    store = Folder(Path(folder), "small") if folder else None
    data = examples(classes=classes)
    return network, train(network, data, recipe, folder=store, progress=progress, validation=validation)


if __name__ == "__main__":
    folder, name, last = sys.argv[1:]
    taken = count(1)
    register_optimizer_step_pre_hook(lambda *_: os.kill(os.getpid(), SIGKILL) if next(taken) == int(last) else None)
    train_small(folder, RECIPES[name])
