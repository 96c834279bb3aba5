"""From texts and labels to a model: choose tokens, train, calibrate."""

# pyright: reportMissingImports=false
from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hardmax.checking import a_text, caller, file_path, instance, short
from hardmax.errors import InputError
from hardmax.text.evaluation.calibration import fit_temperature
from hardmax.text.files.claims import Claim
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.encoding import Encoded
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.train.clouds import as_clouds, pick
from hardmax.train.corpus import Corpus, prepare
from hardmax.train.examples import Examples, hold_out, read_examples, read_labels
from hardmax.train.layer import Hardmax, Softmax
from hardmax.train.log import Epoch
from hardmax.train.loop import Folder, decide, train
from hardmax.train.network import Network, make_network
from hardmax.train.recipe import Recipe
from hardmax.train.starting import dimension_for, start_training


def fit(
    texts: Any,
    labels: Any,
    recipe: Recipe | None = None,
    *,
    sample_weight: Any = None,
    folder: str | Path | None = None,
    progress: Callable[[Epoch], None] | None = None,
    layer: Hardmax | Softmax | None = None,
    device: str = "cpu",
) -> TextModel:
    """The model that a recipe makes of texts and their labels, of any kind; `sample_weight` says how much each text
    counts (in the training; the vocabulary is chosen, and the start made, on all texts of some weight).

    With a `folder`, its checkpoint and log are kept there, and a training that was cut short goes on from there, to the
    same bits. On the CPU the same texts, recipe and seed give the same weights at any number of threads.
    """
    recipe = Recipe() if recipe is None else instance(recipe, Recipe, "`recipe`", "a Recipe, such as Recipe(epochs=5)")
    layer = Hardmax() if layer is None else instance(layer, (Hardmax, Softmax), "`layer`", "a Hardmax() or a Softmax()")
    progress = caller(progress, "`progress`", "epoch")
    _check_device(device)
    folder = None if folder is None else file_path(folder, "`folder`")
    found, labels, counts = read_examples(texts, labels, sample_weight)
    classes, numbers = read_labels(labels, len(found))
    recipe = replace(recipe, dimension=dimension_for(len(classes), recipe))
    held_out = hold_out(numbers, recipe.validation_fraction, recipe.seed)
    tokeniser = Tokeniser(longest_phrase=recipe.longest_phrase, overlapping=recipe.overlapping)
    corpus = prepare(found, numbers, ~held_out, tokeniser, recipe)
    taught = pick(corpus.encoded, np.flatnonzero(~held_out))
    start = start_training(taught, numbers[~held_out], len(corpus.vocabulary), recipe)
    network = make_network(len(corpus.vocabulary), len(classes), recipe, layer, start).to(device)
    examples = _examples(corpus, numbers, counts, ~held_out, recipe)
    validation = _examples(corpus, numbers, counts, held_out, recipe) if held_out.any() else None
    with _held(folder, _fingerprint(corpus.encoded, numbers, counts, recipe)) as store:
        reports = train(network, examples, recipe, validation=validation, folder=store, progress=progress)
    temperature = 1.0
    if validation:
        logits, _ = decide(network, validation.clouds, network.alpha)
        temperature = fit_temperature(logits[:, 0] if len(classes) == 2 else logits, validation.labels)
    return _as_model(network, corpus, classes, recipe, temperature, tokeniser, reports)


def _examples(corpus: Corpus, labels: np.ndarray, weights: np.ndarray, which: np.ndarray, recipe: Recipe) -> Examples:
    extra = len(corpus.vocabulary) if recipe.extra or recipe.neutral else None
    clouds = as_clouds(corpus.encoded, recipe.binary, extra)
    rows = np.flatnonzero(which)
    return Examples(pick(clouds, rows), labels[rows], weights[rows])


def _check_device(device: Any) -> None:
    try:
        torch.device(a_text(device, "`device`"))
    except RuntimeError:
        raise InputError(
            f"`device` must be one that torch has, such as 'cpu' or 'cuda', not {short(device)}."
        ) from None


@contextmanager
def _held(folder: str | Path | None, fingerprint: str) -> Iterator[Folder | None]:
    """The folder of a training, which no other training writes meanwhile."""
    if folder is None:
        yield None
        return
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        claim = Claim.on(path)
    except OSError as error:
        raise InputError(f"`{folder}` cannot be made: {(error.strerror or str(error)).lower()}.") from None
    if claim is None:
        raise InputError(f"`{folder}` is held by another training: wait for it, or name another folder.")
    try:
        yield Folder(path, fingerprint)
    finally:
        claim.release()


def _fingerprint(encoded: Encoded, labels: np.ndarray, weights: np.ndarray, recipe: Recipe) -> str:
    digest = hashlib.sha256(recipe.fingerprint().encode())
    for array in (encoded.ids, encoded.counts, encoded.offsets, labels, weights):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _as_model(
    network: Network,
    corpus: Corpus,
    classes: list[Any],
    recipe: Recipe,
    temperature: float,
    tokeniser: Tokeniser,
    reports: list[Epoch],
) -> TextModel:
    with torch.no_grad():
        table, decoder, bias = (t.cpu().numpy() for t in (network.table(), network.decoder, network.bias))
        alpha = network.alpha.item()
    known = len(corpus.vocabulary)
    return TextModel(
        vocabulary=corpus.vocabulary,
        embeddings=table[:known],
        extra=table[known] if len(table) > known else None,
        decoder=np.pad(decoder, ((0, 0), (0, table.shape[1] - decoder.shape[1]))),
        bias=bias,
        classes=tuple(classes),
        layers=recipe.layers,
        alpha=repr(alpha),
        binary=recipe.binary,
        metric=network.layer.metric,
        temperature=temperature,
        tokeniser=tokeniser,
        metrics={"recipe": recipe.to_dict(), "training": [asdict(report) for report in reports]},
    )
