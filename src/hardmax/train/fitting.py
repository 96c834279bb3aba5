"""From texts and labels to a model: choose tokens, train, calibrate."""

# pyright: reportMissingImports=false
from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from hardmax._validation import InputError, check_callable, check_instance, check_path, check_str, shorten
from hardmax.text.evaluation.calibration import fit_temperature
from hardmax.text.evaluation.measuring import evaluate_model
from hardmax.text.files.claims import Claim
from hardmax.text.text_model import TextModel
from hardmax.text.tokens.encoding import Encoded
from hardmax.text.tokens.texts import TextBytes
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.train.clouds import as_clouds, pick
from hardmax.train.corpus import Corpus, prepare
from hardmax.train.examples import Examples, hold_out, read_examples, read_labels
from hardmax.train.layer import Hardmax, Softmax
from hardmax.train.log import Epoch
from hardmax.train.loop import PART, WHOLE, Folder, decide, train
from hardmax.train.network import Network, make_network
from hardmax.train.recipe import Recipe
from hardmax.train.starting import dimension_for, start_training
from hardmax.train.suited import Suited
from hardmax.train.suiting import suit


def fit(
    texts: Any,
    labels: Any,
    recipe: Recipe | Suited | None = None,
    *,
    sample_weight: Any = None,
    folder: str | Path | None = None,
    progress: Callable[[Epoch], None] | None = None,
    layer: Hardmax | Softmax | None = None,
    device: str = "cpu",
) -> TextModel:
    """The model that a recipe makes of texts and their labels, of any kind; without a recipe, one that suits the texts.

    `sample_weight` says how much each text counts (in the training; the vocabulary is chosen, and the start made,
    on all texts of some weight).

    With a `folder`, its checkpoint and log are kept there, and a training that was cut short goes on from there, to the
    same bits. On the CPU the same texts, recipe and seed give the same weights at any number of threads.
    """
    layer = (
        Hardmax()
        if layer is None
        else check_instance(layer, (Hardmax, Softmax), "`layer`", "a Hardmax() or a Softmax()")
    )
    progress = check_callable(progress, "`progress`", "epoch")
    _check_device(device)
    folder = None if folder is None else check_path(folder, "`folder`")
    found, labels, counts = read_examples(texts, labels, sample_weight)
    classes, numbers = read_labels(labels, len(found))
    suited = _suited(recipe, found, numbers)
    recipe = replace(suited.recipe, dimension=dimension_for(len(classes), suited.recipe))
    work = _Work(found, numbers, counts, classes, recipe, layer, device)
    held_out = hold_out(numbers, recipe.validation_fraction, recipe.seed)
    about = {"recipe": recipe.to_dict()} | ({"chosen": suited.to_dict()} if suited.choices else {})
    with _held(folder) as path:
        learned = work.learn(~held_out, held_out, path, progress)
        model = work.model(learned)
        measured = _measure(model, found, numbers, held_out) if held_out.any() else {}
        about = measured | about | {"training": _plain(learned.reports)}
        if recipe.refit and held_out.any():
            again = work.learn(np.ones_like(held_out), ~np.ones_like(held_out), path, _counting_on(progress, recipe))
            model = replace(work.model(again), temperature=model.temperature)
            about |= {"on_all_texts": _plain(again.reports)}
    return replace(model, metrics=about)


class _Learned(NamedTuple):
    """What a training came to."""

    network: Network
    corpus: Corpus
    temperature: float
    reports: list[Epoch]


@dataclass(frozen=True, eq=False)
class _Work:
    """What is learned from, and how."""

    texts: TextBytes
    labels: np.ndarray
    weights: np.ndarray
    classes: list[Any]
    recipe: Recipe
    layer: Hardmax | Softmax
    device: str

    @property
    def tokeniser(self) -> Tokeniser:
        return Tokeniser(
            longest_phrase=self.recipe.longest_phrase, marks=self.recipe.marks, overlapping=self.recipe.overlapping
        )

    def learn(
        self,
        teaches: np.ndarray,
        judges: np.ndarray,
        folder: Path | None,
        progress: Callable[[Epoch], None] | None,
    ) -> _Learned:
        """Train on the texts that `teaches` marks; those that `judges` marks, if any, calibrate."""
        corpus = prepare(self.texts, self.labels, teaches, self.tokeniser, self.recipe)
        taught = pick(corpus.encoded, np.flatnonzero(teaches))
        start = start_training(taught, self.labels[teaches], corpus.loud, self.recipe)
        network = make_network(len(corpus.vocabulary), len(self.classes), self.recipe, self.layer, start)
        network = network.to(self.device)
        validation = self._examples(corpus, judges) if judges.any() else None
        fingerprint = self._fingerprint(corpus.encoded)
        store = folder and Folder(folder, fingerprint, WHOLE if teaches.all() and self.recipe.refit else PART)
        examples = self._examples(corpus, teaches)
        reports = train(network, examples, self.recipe, validation=validation, folder=store, progress=progress)
        temperature = 1.0
        if validation:
            logits, _ = decide(network, validation.clouds, network.alpha)
            temperature = fit_temperature(logits[:, 0] if len(self.classes) == 2 else logits, validation.labels)
        return _Learned(network, corpus, temperature, reports)

    def model(self, learned: _Learned) -> TextModel:
        """The model that was trained; nothing is measured yet."""
        network, known = learned.network, len(learned.corpus.vocabulary)
        with torch.no_grad():
            table, decoder, bias = (t.cpu().numpy() for t in (network.table(), network.decoder, network.bias))
            alpha = network.alpha.item()
        return TextModel(
            vocabulary=learned.corpus.vocabulary,
            embeddings=table[:known],
            extra=table[known] if len(table) > known else None,
            decoder=np.pad(decoder, ((0, 0), (0, table.shape[1] - decoder.shape[1]))),
            bias=bias,
            classes=tuple(self.classes),
            layers=self.recipe.layers,
            alpha=repr(alpha),
            binary=self.recipe.binary,
            metric=network.layer.metric,
            temperature=learned.temperature,
            tokeniser=self.tokeniser,
        )

    def _examples(self, corpus: Corpus, which: np.ndarray) -> Examples:
        extra = len(corpus.vocabulary) if self.recipe.extra or self.recipe.neutral else None
        clouds = as_clouds(corpus.encoded, self.recipe.binary, extra)
        rows = np.flatnonzero(which)
        return Examples(pick(clouds, rows), self.labels[rows], self.weights[rows])

    def _fingerprint(self, encoded: Encoded) -> str:
        told = [type(self.layer).__name__, *(np.asarray(value).tolist() for value in vars(self.layer).values())]
        layer = "" if told == ["Hardmax", None] else str(told)
        digest = hashlib.sha256(f"{self.recipe.fingerprint()}{layer}".encode())
        for array in (encoded.ids, encoded.counts, encoded.offsets, self.labels, self.weights):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def _suited(recipe: Recipe | Suited | None, texts: TextBytes, numbers: np.ndarray) -> Suited:
    if recipe is None:
        return suit(texts, numbers)
    wish = "a Recipe, such as Recipe(epochs=5), or what `suit` chose"
    given = check_instance(recipe, (Recipe, Suited), "`recipe`", wish)
    return given if isinstance(given, Suited) else Suited(given)


def _measure(model: TextModel, texts: TextBytes, numbers: np.ndarray, which: np.ndarray) -> dict[str, Any]:
    """On texts that were held out."""
    rows = np.flatnonzero(which)
    found = evaluate_model(model, texts.pick(rows), [model.classes[c] for c in numbers[rows]])
    return {f"validation_{name}": value for name, value in found.metrics.items()}


def _plain(reports: list[Epoch]) -> list[dict[str, Any]]:
    return [asdict(report) for report in reports]


def _counting_on(progress: Callable[[Epoch], None] | None, recipe: Recipe) -> Callable[[Epoch], None] | None:
    """Tells of a second training, whose epochs are counted on from the first."""
    return progress and (lambda epoch: progress(replace(epoch, epoch=recipe.epochs + epoch.epoch)))


def _check_device(device: Any) -> None:
    try:
        torch.device(check_str(device, "`device`"))
    except RuntimeError:
        raise InputError(
            f"`device` must be one that torch has, such as 'cpu' or 'cuda', not {shorten(device)}."
        ) from None


@contextmanager
def _held(folder: str | Path | None) -> Iterator[Path | None]:
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
        yield path
    finally:
        claim.release()
