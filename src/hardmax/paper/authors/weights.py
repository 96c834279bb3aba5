"""The authors' classifier as numbers: what in their file is the embedding, the step, the decoder, the depth.

The file holds a whole torch module: a TClassifier with an Embedding (`encoder`), a CustomSelfAttention with one number
(`attention.alpha`), a Linear to one logit (`decoder`) and a Sigmoid. Whatever else has weights in it is refused, since
to leave it out would be to read another model.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hardmax._files import read_bytes, shown_name
from hardmax._format import format_layers, pluralize
from hardmax._validation import InputError, check_path, shorten
from hardmax.paper.authors.archive import LARGEST_FILE, WISH, read_members
from hardmax.paper.authors.opcodes import ATTENTION, CLASSIFIER, read_tree
from hardmax.paper.authors.records import Global, Instance, Tensor
from hardmax.paper.authors.tensors import read_order, read_tensor

MOST_LAYERS = 10_000
PICKLE = "data.pkl"
_LAYERS = "torch.nn.modules"
PARTS = {
    "encoder": (Global(f"{_LAYERS}.sparse", "Embedding"), ("weight",)),
    "attention": (ATTENTION, ("alpha",)),
    "decoder": (Global(f"{_LAYERS}.linear", "Linear"), ("weight", "bias")),
    "sigmoid": (Global(f"{_LAYERS}.activation", "Sigmoid"), ()),
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Weights:
    """All that the file says of the model, as it says it: float32, unrounded.

    A review is 128 rows of the embedding, row 0 (PAD) where it has fewer words. Each layer moves a token z by
    `alpha / (1 + alpha)` of the way to the mean of those it attends to (A = I); the mean of all tokens after the last
    layer goes through `decoder` and `bias` to the logit, and that is positive for a positive review.
    """

    embeddings: np.ndarray  # (rows, d)
    alpha: np.float32
    decoder: np.ndarray  # (d,)
    bias: np.float32
    layers: int
    sha256: str  # of the file

    def __repr__(self) -> str:
        size = f"{pluralize(self.rows, 'row')} in {pluralize(self.dimension, 'dimension')}"
        return f"Weights({size}, {format_layers(self.layers)}, alpha {self.alpha:.5g})"

    @property
    def rows(self) -> int:
        return len(self.embeddings)

    @property
    def dimension(self) -> int:
        return self.embeddings.shape[1]


def read_weights(path: str | Path) -> Weights:
    """The weights in a file that the authors' code saved. It is a pickle: nothing of it is run, and whatever such a
    file does not need is refused with one line."""
    name, data = shown_name(path), read_bytes(check_path(path), WISH, at_most=LARGEST_FILE)
    members = read_members(data, name)
    if PICKLE not in members:
        raise InputError(f"{name} has no {PICKLE}: {WISH}.")
    classifier = read_tree(members[PICKLE], name)
    dtype = read_order(members, name)
    found = {
        place: read_tensor(tensor, members, dtype, f"{name}: {place}")
        for place, tensor in _tensors(classifier, name).items()
    }
    _check_shapes(found, name)
    return Weights(
        embeddings=found["encoder.weight"],
        alpha=found["attention.alpha"][0],
        decoder=found["decoder.weight"][0],
        bias=found["decoder.bias"][0],
        layers=_depth(classifier, name),
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _tensors(classifier: Any, name: str) -> dict[str, Tensor]:
    """All that has numbers, by name; nothing is left out, and nothing else is there."""
    state = _state(classifier, CLASSIFIER, name)
    parts = _table(state, "_modules", name)
    _refuse_others("parts", parts, PARTS, name)
    for key in ("_parameters", "_buffers"):
        _refuse_others("weights", _table(state, key, name), (), name)
    found = {}
    for part, (kind, weights) in PARTS.items():
        place = f"{name}: {part}"
        state = _state(parts[part], kind, place)
        for key in ("_modules", "_buffers"):
            _refuse_others("weights", _table(state, key, place), (), place)
        _refuse_others("weights", table := _table(state, "_parameters", place), weights, place)
        found |= {f"{part}.{key}": _a_tensor(table[key], f"{place}.{key}") for key in weights}
    if parts["encoder"].state.get("max_norm") is not None:
        raise InputError(f"{name}: encoder shortens its vectors (max_norm), and expected is one that does not.")
    return found


def _check_shapes(found: dict[str, np.ndarray], name: str) -> None:
    embeddings = found["encoder.weight"]
    if embeddings.ndim != 2:
        raise InputError(f"{name}: encoder.weight has shape {embeddings.shape}: expected (rows, d).")
    wishes = {"attention.alpha": (1,), "decoder.weight": (1, embeddings.shape[1]), "decoder.bias": (1,)}
    for place, wish in wishes.items():
        if found[place].shape != wish:
            raise InputError(f"{name}: {place} has shape {found[place].shape}: expected {wish}.")
    if found["attention.alpha"][0] <= 0:
        raise InputError(f"{name}: attention.alpha is {found['attention.alpha'][0]}: expected a positive step.")


def _depth(classifier: Instance, name: str) -> int:
    layers = (classifier.state or {}).get("depth")
    if type(layers) is not int or not 0 <= layers <= MOST_LAYERS:
        # A list of lists, each of them twice, is short in a pickle and endless when it is written out.
        came = (
            shorten(layers) if layers is None or isinstance(layers, int | float | str) else f"a {type(layers).__name__}"
        )
        raise InputError(f"{name}: depth is {came}: expected a number of layers, from 0 to {MOST_LAYERS}.")
    return layers


def _state(found: Any, kind: Global, name: str) -> dict[str, Any]:
    """The attributes of an object of that class, which it must be."""
    if not isinstance(found, Instance) or found.of != kind or found.state is None:
        came = str(found.of) if isinstance(found, Instance) else type(found).__name__
        raise InputError(f"{name} is a {came}: expected a {kind} with its attributes.")
    return found.state


def _table(state: dict[str, Any], key: str, name: str) -> dict[str, Any]:
    found = state.get(key)
    if not isinstance(found, dict):
        raise InputError(f"{name} has no {key}: {WISH}.")
    return found


def _a_tensor(found: Any, name: str) -> Tensor:
    if not isinstance(found, Tensor):
        raise InputError(f"{name} is a {type(found).__name__}: expected a tensor.")
    return found


def _refuse_others(what: str, found: dict[str, Any], wished: Any, name: str) -> None:
    if set(found) != set(wished):
        came, wish = (", ".join(sorted(names)) or "none" for names in (found, wished))
        raise InputError(f"{name} has the {what} {shorten(came, 80)}: expected {wish}.")
