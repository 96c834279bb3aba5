"""A model in which some tokens are forbidden, have another weight, or modify others by another
factor."""

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hardmax._common.validation import InputError, check_real, check_str, shorten
from hardmax.text._characters import fold
from hardmax.text.reading import ANY, Modifier
from hardmax.text.tokeniser import cut_surface
from hardmax.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

FORBID, TIMES = "forbid", "times "
_FACTOR = re.compile(rf"{TIMES}(-?\d+(\.\d+|/[1-9]\d*)?)")
Edited = TypeVar("Edited", bound="TextModel")


def edit(model: Edited, changes: Mapping[str, Any]) -> Edited:
    """A model of the same kind in which some tokens are changed; see `TextModel.edit`."""
    if not isinstance(changes, Mapping) or not changes:
        raise InputError(
            f'`changes` must be a dict such as {{"awful": "forbid"}}, not {shorten(changes)}.'
        )
    wishes = {_read_token(model, token): wish for token, wish in changes.items()}
    if len(wishes) < len(changes):
        raise InputError("`changes` has a token twice, in different spellings: give each once.")
    forbidden, factors, weights = set[str](), dict[str, float](), dict[str, np.ndarray]()
    for token, wish in wishes.items():
        if isinstance(wish, str) and wish == FORBID:
            forbidden.add(token)
        elif isinstance(wish, str) and (factor := _FACTOR.fullmatch(wish)):
            factors[token] = float(Fraction(factor[1]))
        else:
            weights[token] = _weights(model, token, wish)
    vocabulary, table = _edited_tokens(model, _with_phrases(model, forbidden), weights)
    return replace(
        model,
        vocabulary=vocabulary,
        weights=table,
        modifiers=_edited_modifiers(model, forbidden, factors),
        metrics=model.metrics | {"edited": {**model.metrics.get("edited", {}), **wishes}},
    )


def _edited_tokens(
    model: "TextModel", gone: set[str], weights: dict[str, np.ndarray]
) -> tuple[Vocabulary, np.ndarray]:
    """The vocabulary without some tokens and with others, and the weights of its tokens."""
    known = model.vocabulary
    kept = [number for number, surface in enumerate(known.surfaces) if surface not in gone]
    added = [token for token in weights if token not in known.index]
    surfaces = [*(known.surfaces[number] for number in kept), *added]
    table = np.vstack([model.weights[kept], np.zeros((len(added), len(model.bias)))])
    for number, surface in enumerate(surfaces):
        table[number] = weights.get(surface, table[number])
    none = np.zeros((len(added), len(model.classes)), dtype=int)
    return Vocabulary(surfaces, np.vstack([known.counts[kept], none])), table


def _edited_modifiers(
    model: "TextModel", forbidden: set[str], factors: dict[str, float]
) -> list[Modifier]:
    """The modifiers with these factors; not those that multiply by 1, unless these are left out of
    a form."""
    modifiers = {modifier.word: modifier for modifier in model.modifiers}
    for word in forbidden:
        modifiers.pop(word, None)
    for word, factor in factors.items():
        texts = modifiers[word].texts if word in modifiers else 0
        modifiers[word] = Modifier(word, factor, texts)
    in_effect = [modifier for modifier in modifiers.values() if modifier.factor != 1]
    forms = [modifier for modifier in in_effect if modifier.is_form]
    return [
        modifier
        for word, modifier in modifiers.items()
        if modifier.factor != 1 or any(form.matches(word) for form in forms)
    ]


def _read_token(model: "TextModel", token: Any) -> str:
    """The token as the tokeniser has it."""
    folded = fold(check_str(token, "`changes` (each token)"))
    if ANY in folded:
        return Modifier(folded, 1).word
    if folded not in [known.surface for known in model.tokeniser.tokens(folded)]:
        expected = f"a word, or a phrase of at most {model.tokeniser.longest_phrase} words"
        raise InputError(f"`changes` has {shorten(token)}: expected {expected}.")
    return folded


def _with_phrases(model: "TextModel", forbidden: set[str]) -> set[str]:
    """The tokens that go: those forbidden, and the phrases with a word that is."""
    if not forbidden:
        return set()
    parts = {surface: {surface, *cut_surface(surface)} for surface in model.vocabulary.surfaces}
    gone = {surface for surface, words in parts.items() if not forbidden.isdisjoint(words)}
    modifiers = {modifier.word for modifier in model.modifiers}
    unknown = sorted(forbidden - modifiers.union(*(parts[surface] for surface in gone)))
    if unknown:
        raise InputError(
            f"`changes` forbids {shorten(unknown[0])}, which the model does not know: leave it out."
        )
    if len(gone) == len(parts):
        raise InputError("`changes` forbids all tokens of the model: leave some.")
    return gone


def _weights(model: "TextModel", token: str, wish: Any) -> np.ndarray:
    """The weights that a token shall have."""
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
            known = token in model.vocabulary.index
            new = "" if known else ", which the model does not know yet,"
            problem = f"`changes` gives {shorten(token)}{new} one number for more than two classes"
            raise InputError(f"{problem}: {way}.")
        return np.array([check_real(wish, "`changes` (each weight)")])
    ways = f'"{FORBID}", a number, a dict from labels to numbers, or a factor such as "{TIMES}-1/2"'
    raise InputError(f"`changes` gives {shorten(token)} {shorten(wish)}: expected {ways}.")
