"""A model in which some tokens are forbidden, have another weight, or modify others by another
factor."""

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from hardmax._common.validation import InputError, check_real, check_str, shorten
from hardmax.text._characters import fold
from hardmax.text.reading import ANY, Modifier
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import cut_surface
from hardmax.text.vocabulary import Vocabulary

FORBID, TIMES = "forbid", "times "
Edited = TypeVar("Edited", bound=TextModel)


def edit(model: Edited, changes: Mapping[str, Any]) -> Edited:
    """A model of the same kind in which some tokens are changed; see `TextModel.edit`."""
    if not isinstance(changes, Mapping) or not changes:
        raise InputError(
            f'`changes` must be a dict such as {{"awful": "forbid"}}, not {shorten(changes)}.'
        )
    wishes = {_read_token(model, token): wish for token, wish in changes.items()}
    if len(wishes) < len(changes):
        raise InputError("`changes` has a token twice, in different spellings: give each once.")
    forbidden = {
        token for token, wish in wishes.items() if isinstance(wish, str) and wish == FORBID
    }
    factors = {
        token: float(Fraction(wish.removeprefix(TIMES)))
        for token, wish in wishes.items()
        if _is_factor(wish)
    }
    others = {
        token: wish
        for token, wish in wishes.items()
        if token not in forbidden and token not in factors
    }
    weights = {token: _weights(model, token, wish) for token, wish in others.items()}
    known, gone = model.vocabulary, _with_phrases(model, forbidden)
    kept = [v for v, surface in enumerate(known.surfaces) if surface not in gone]
    added = [token for token in weights if token not in known.index]
    surfaces = [*(known.surfaces[v] for v in kept), *added]
    table = np.vstack([model.weights[kept], np.zeros((len(added), len(model.bias)))])
    for v, surface in enumerate(surfaces):
        table[v] = weights.get(surface, table[v])
    counts = np.vstack(
        [known.counts[kept], np.zeros((len(added), known.counts.shape[1]), dtype=np.int64)]
    )
    modifiers = {
        modifier.word: modifier for modifier in model.modifiers if modifier.word not in forbidden
    }
    for token, factor in factors.items():
        texts = modifiers[token].texts if token in modifiers else 0
        modifiers[token] = Modifier(token, factor, texts)
    return replace(
        model,
        vocabulary=Vocabulary(surfaces, counts),
        weights=table,
        modifiers=_in_effect(list(modifiers.values())),
        metrics=model.metrics | {"edited": {**model.metrics.get("edited", {}), **wishes}},
    )


def _in_effect(modifiers: list[Modifier]) -> list[Modifier]:
    """Without those that multiply by 1, unless these are left out of a form."""
    in_effect = [modifier for modifier in modifiers if modifier.factor != 1]
    forms = [modifier for modifier in in_effect if modifier.is_form]
    return [m for m in modifiers if m in in_effect or any(form.matches(m.word) for form in forms)]


def _is_factor(wish: Any) -> bool:
    return (
        isinstance(wish, str) and re.fullmatch(rf"{TIMES}-?\d+(\.\d+|/[1-9]\d*)?", wish) is not None
    )


def _read_token(model: TextModel, token: Any) -> str:
    """The token as the tokeniser has it."""
    folded = fold(check_str(token, "`changes` (each token)"))
    if ANY in folded:
        return Modifier(folded, 1).word
    if folded not in [found.surface for found in model.tokeniser.tokens(folded)]:
        longest = model.tokeniser.longest_phrase
        raise InputError(
            f"`changes` has {shorten(token)}: expected a word, or a phrase of at most {longest} words."
        )
    return folded


def _with_phrases(model: TextModel, forbidden: set[str]) -> set[str]:
    """The tokens that go: those forbidden, and the phrases with a word that is."""
    if not forbidden:
        return set()
    parts = {surface: {surface, *cut_surface(surface)} for surface in model.vocabulary.surfaces}
    gone = {surface for surface, own in parts.items() if not forbidden.isdisjoint(own)}
    modifiers = {modifier.word for modifier in model.modifiers}
    unknown = sorted(forbidden - modifiers.union(*(parts[surface] for surface in gone)))
    if unknown:
        raise InputError(
            f"`changes` forbids {shorten(unknown[0])}, which the model does not know: leave it out."
        )
    if len(gone) == len(parts):
        raise InputError("`changes` forbids all tokens of the model: leave some.")
    return gone


def _weights(model: TextModel, token: str, wish: Any) -> np.ndarray:
    """What a token shall say."""
    if ANY in token:
        ways = f'"{FORBID}", or a factor such as "{TIMES}-1/2"'
        raise InputError(
            f"`changes` gives the form {shorten(token)} {shorten(wish)}: expected {ways}."
        )
    if isinstance(wish, Mapping):
        if not wish or any(label not in model.classes for label in wish):
            labels = shorten(model.classes)
            raise InputError(
                f"`changes` gives {shorten(token)} {shorten(wish)}: expected labels of {labels}."
            )
        weights = np.zeros(len(model.classes))
        for label, weight in wish.items():
            weights[model.classes.index(label)] = check_real(weight, "`changes` (each weight)")
        return weights[1:] - weights[:1] if len(model.bias) == 1 else weights
    if isinstance(wish, int | float) and not isinstance(wish, bool):
        if len(model.bias) > 1:
            way = f"give a dict from labels to numbers, such as {{{model.classes[0]!r}: 1.0}}"
            raise InputError(
                f"`changes` gives {shorten(token)} one number for more than two classes: {way}."
            )
        return np.array([check_real(wish, "`changes` (each weight)")])
    ways = f'"{FORBID}", a number, a dict from labels to numbers, or a factor such as "{TIMES}-1/2"'
    raise InputError(f"`changes` gives {shorten(token)} {shorten(wish)}: expected {ways}.")
