"""A model in which some tokens are forbidden, or have another weight."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from hardmax._validation import InputError, check_real, check_str, shorten
from hardmax.text._characters import fold
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import cut_surface
from hardmax.text.vocabulary import Vocabulary

FORBID = "forbid"
Edited = TypeVar("Edited", bound=TextModel)


def edit(model: Edited, changes: Mapping[str, Any]) -> Edited:
    """A model of the same kind in which some tokens are changed; see `TextModel.edit`."""
    if not isinstance(changes, Mapping) or not changes:
        raise InputError(f'`changes` must be a dict such as {{"awful": "forbid"}}, not {shorten(changes)}.')
    wishes = {_read_token(model, token): wish for token, wish in changes.items()}
    if len(wishes) < len(changes):
        raise InputError("`changes` has a token twice, in different spellings: give each once.")
    forbidden = {token for token, wish in wishes.items() if isinstance(wish, str) and wish == FORBID}
    vectors = {token: _vector(model, token, wish) for token, wish in wishes.items() if token not in forbidden}
    known, gone = model.vocabulary, _with_phrases(model, forbidden)
    kept = [v for v, surface in enumerate(known.surfaces) if surface not in gone]
    added = [token for token in vectors if token not in known.index]
    surfaces = [*(known.surfaces[v] for v in kept), *added]
    table = np.vstack([model.embeddings[kept], np.zeros((len(added), model.dimension))])
    for v, surface in enumerate(surfaces):
        table[v] = vectors.get(surface, table[v])
    counts = np.vstack([known.counts[kept], np.zeros((len(added), known.counts.shape[1]), dtype=np.int64)])
    metrics = model.metrics | {"edited": {**model.metrics.get("edited", {}), **wishes}}
    return replace(model, vocabulary=Vocabulary(surfaces, counts), embeddings=table, metrics=metrics)


def _read_token(model: TextModel, token: Any) -> str:
    """The token as the tokeniser has it."""
    folded = fold(check_str(token, "`changes` (each token)"))
    if folded not in [found.surface for found in model.tokeniser.tokens(folded)]:
        longest = model.tokeniser.longest_phrase
        raise InputError(f"`changes` has {shorten(token)}: expected a word, or a phrase of at most {longest} words.")
    return folded


def _with_phrases(model: TextModel, forbidden: set[str]) -> set[str]:
    """The tokens that go: those forbidden, and the phrases with a word that is."""
    if not forbidden:
        return set()
    parts = {surface: {surface, *cut_surface(surface)} for surface in model.vocabulary.surfaces}
    gone = {surface for surface, own in parts.items() if not forbidden.isdisjoint(own)}
    unknown = sorted(forbidden - set().union(*(parts[surface] for surface in gone)))
    if unknown:
        raise InputError(f"`changes` forbids {shorten(unknown[0])}, which the model does not know: leave it out.")
    if len(gone) == len(parts):
        raise InputError("`changes` forbids all tokens of the model: leave some.")
    return gone


def _vector(model: TextModel, token: str, wish: Any) -> np.ndarray:
    """Where a token shall start."""
    if isinstance(wish, Mapping):
        if not wish or any(label not in model.classes for label in wish):
            labels = shorten(model.classes)
            raise InputError(f"`changes` gives {shorten(token)} {shorten(wish)}: expected labels of {labels}.")
        weights = np.zeros(len(model.classes))
        for label, weight in wish.items():
            weights[model.classes.index(label)] = check_real(weight, "`changes` (each weight)")
        return _of_weight(model, token, weights[1:] - weights[:1] if len(model.bias) == 1 else weights)
    if isinstance(wish, int | float) and not isinstance(wish, bool):
        if len(model.bias) > 1:
            way = f"give a dict from labels to numbers, such as {{{model.classes[0]!r}: 1.0}}"
            raise InputError(f"`changes` gives {shorten(token)} one number for more than two classes: {way}.")
        return _of_weight(model, token, np.array([check_real(wish, "`changes` (each weight)")]))
    ways = f'"{FORBID}", a number, or a dict from labels to numbers'
    raise InputError(f"`changes` gives {shorten(token)} {shorten(wish)}: expected {ways}.")


def _of_weight(model: TextModel, token: str, weights: np.ndarray) -> np.ndarray:
    """The vector of that weight for each row of the decoder that is nearest to where the token is; a new token is at
    the height that tokens have where there is a neutral leader, else at the origin."""
    before = np.zeros(model.dimension)
    if token in model.vocabulary.index:
        before = model.embeddings[model.vocabulary.index[token]]
    elif model.has_neutral and model.extra is not None:
        axis = int(np.abs(model.extra).argmax())
        before[axis] = np.median(model.embeddings[:, axis])
    decoder = model.decoder.astype(np.float64)
    return before + np.linalg.lstsq(decoder, weights * model.temperature - decoder @ before, rcond=None)[0]
