"""A model in which some tokens are forbidden, or have weights that were set by hand."""

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.format import first_few
from hardmax._common.validation import (
    InputError,
    check_bool,
    check_instance,
    check_real,
    check_str,
    shorten,
)
from hardmax.text.tokeniser import cut_surface
from hardmax.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

FORBID = "forbid"
EDITED = "edited_after_measuring"


def edit(model: "TextModel", changes: Mapping[str, Any], add: bool) -> "TextModel":
    """A model in which some tokens are changed; see `TextModel.edit`."""
    check_instance(changes, Mapping, "`changes`", f'a dict such as {{"awful": "{FORBID}"}}')
    check_bool(add, "`add`")
    wishes = {_read_token(model, token): wish for token, wish in changes.items()}
    forbidden = {
        token for token, wish in wishes.items() if isinstance(wish, str) and wish == FORBID
    }
    weights = {
        token: _read_weights(model, token, wish)
        for token, wish in wishes.items()
        if token not in forbidden
    }
    known = model.vocabulary
    for token in () if add else weights:
        if token not in known.index:
            raise _unknown(model, token, ", or add it with `add=True`")
    gone = _with_phrases(model, forbidden)
    kept = [number for number, surface in enumerate(known.surfaces) if surface not in gone]
    added = [token for token in weights if token not in known.index or token in gone]
    surfaces = [*(known.surfaces[number] for number in kept), *added]
    if not surfaces:
        raise InputError("`changes` forbids all tokens of the model: leave some.")
    table = np.vstack([model.weights[kept], np.zeros((len(added), len(model.bias)))])
    for number, surface in enumerate(surfaces):
        table[number] = weights.get(surface, table[number])
    none = np.zeros((len(added), len(model.classes)), dtype=int)
    return replace(
        model,
        vocabulary=Vocabulary(surfaces, np.vstack([known.counts[kept], none])),
        weights=table,
        modifiers=[each for each in model.modifiers if each.word not in forbidden],
        metrics=model.metrics | {EDITED: model.metrics.get(EDITED, {}) | wishes},
    )


def _read_token(model: "TextModel", token: Any) -> str:
    """The token as the tokeniser has it."""
    size = len(check_str(token, "`changes` (each token)"))
    for surface, start, end in model.tokeniser.tokens(token):
        if end - start == size:
            return surface
    expected = f"a word, or a phrase of at most {model.tokeniser.longest_phrase} words"
    raise InputError(f"`changes` has {shorten(token)}: expected {expected}.")


def _read_weights(model: "TextModel", token: str, wish: Any) -> np.ndarray:
    """The weights that a token is to have."""
    name = f"`changes` for {shorten(token)}"
    if len(model.classes) == 2:
        return np.array([check_real(wish, f'{name}, unless "{FORBID}",')])
    labels = f"labels of {shorten(model.classes)}"
    wish = check_instance(wish, Mapping, name, f'"{FORBID}", or a dict from {labels} to numbers')
    if not wish.keys() <= {*model.classes}:
        raise InputError(f"{name} is {shorten(dict(wish))}: expected {labels}.")
    return np.array([check_real(wish.get(label, 0.0), name) for label in model.classes])


def _with_phrases(model: "TextModel", forbidden: set[str]) -> set[str]:
    """The tokens that go: those forbidden, and the phrases with a word that is."""
    gone, found = set[str](), {modifier.word for modifier in model.modifiers}
    for surface in model.vocabulary.surfaces if forbidden else ():
        parts = {surface, *cut_surface(surface)}
        if not parts.isdisjoint(forbidden):
            gone.add(surface)
            found |= parts
    for token in forbidden - found:
        raise _unknown(model, token)
    return gone


def _unknown(model: "TextModel", token: str, way_out: str = "") -> InputError:
    """The error about a token that the model does not know, with those that are spelt alike."""
    alike = first_few(map(repr, get_close_matches(token, model.vocabulary.surfaces, 3)), 3)
    correct = f"Did you mean {alike}? Correct it" if alike else "Correct it"
    if token in [modifier.word for modifier in model.modifiers]:
        way = "change it by `dataclasses.replace(model, modifiers=...)`"
        return InputError(f"`changes` has {shorten(token)}, which is a modifier: {way}.")
    problem = f"`changes` has {shorten(token)}, which the model does not know"
    return InputError(f"{problem}. {correct}{way_out}.")
