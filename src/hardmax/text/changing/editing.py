"""A model with other words: some that must not count, some that count as somebody wishes."""

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
    """A model of the same kind in which some words are otherwise; the given one stays as it is.

    Each word or phrase is given what shall become of it: "forbid", and it is unknown from then on (a single word also
    in all phrases that have it); a number, what it shall say, in units of the logit, if all words of a text were with
    it (positive for the second of two classes; for more, a dict from labels to numbers); or its vector. Words that were
    unknown become known. What was changed is in `metrics["edited"]`, and on the card.
    """
    if not isinstance(changes, Mapping) or not changes:
        raise InputError(f'`changes` must be a dict such as {{"awful": "forbid"}}, not {shorten(changes)}.')
    wishes = {_read_token(model, word): wish for word, wish in changes.items()}
    if len(wishes) < len(changes):
        raise InputError("`changes` has a word twice, in different spellings: give each once.")
    known, gone = model.vocabulary, _forbidden(model, wishes)
    vectors = {word: _vector(model, word, wish) for word, wish in wishes.items() if not _is_forbidden(wish)}
    kept = [v for v, surface in enumerate(known.surfaces) if surface not in gone]
    added = [word for word in vectors if word not in known.index]
    table = np.vstack([model.embeddings[kept], *(vectors[word][None] for word in added)])
    surfaces = [*(known.surfaces[v] for v in kept), *added]
    for v, surface in enumerate(surfaces):
        if surface in vectors:
            table[v] = vectors[surface]
    counts = np.vstack([known.counts[kept], np.zeros((len(added), known.counts.shape[1]), dtype=np.int64)])
    told = {word: _plain(wish) for word, wish in wishes.items()}
    metrics = model.metrics | {"edited": {**model.metrics.get("edited", {}), **told}}
    return replace(model, vocabulary=Vocabulary(surfaces, counts), embeddings=table, metrics=metrics)


def _read_token(model: TextModel, word: Any) -> str:
    """The word as the tokeniser has it."""
    folded = fold(check_str(word, "`changes` (each word)"))
    tokens = [token.surface for token in model.tokeniser.tokens(folded)]
    if folded not in tokens:
        longest = model.tokeniser.longest_phrase
        raise InputError(f"`changes` has {shorten(word)}: expected a word, or a phrase of at most {longest} words.")
    return folded


def _forbidden(model: TextModel, wishes: Mapping[str, Any]) -> set[str]:
    """The tokens that go."""
    named = {word for word, wish in wishes.items() if _is_forbidden(wish)}
    words = {word for word in named if len(cut_surface(word)) == 1}
    gone = (
        {s for s in model.vocabulary.surfaces if s in named or not words.isdisjoint(cut_surface(s))} if named else set()
    )
    unknown = [word for word in named if word not in gone and not words & {word}]
    unknown += [word for word in words if not any(word in cut_surface(surface) for surface in gone)]
    if unknown:
        raise InputError(f"`changes` forbids {shorten(unknown[0])}, which the model does not know: leave it out.")
    if len(gone) == len(model.vocabulary):
        raise InputError("`changes` forbids all words of the model: leave some.")
    return gone


def _vector(model: TextModel, word: str, wish: Any) -> np.ndarray:
    """Where the word shall stand."""
    if isinstance(wish, Mapping):
        return _saying(model, word, _by_label(model, word, wish))
    if isinstance(wish, int | float) and not isinstance(wish, bool):
        if len(model.bias) > 1:
            wish_text = f"a dict from labels to numbers, such as {{{model.classes[0]!r}: 1.0}}"
            raise InputError(
                f"`changes` gives {shorten(word)} one number, but there are more classes: give {wish_text}."
            )
        return _saying(model, word, np.array([check_real(wish, "`changes` (each weight)")]))
    try:
        vector = np.asarray(wish, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (model.dimension,) or not np.isfinite(vector).all():
        ways = f'"{FORBID}", a number, or a vector of {model.dimension} numbers'
        raise InputError(f"`changes` gives {shorten(word)} {shorten(wish)}: expected {ways}.")
    return vector


def _by_label(model: TextModel, word: str, wish: Mapping[Any, Any]) -> np.ndarray:
    unknown = [label for label in wish if label not in model.classes]
    if unknown or not wish:
        raise InputError(
            f"`changes` gives {shorten(word)} {shorten(wish)}: expected labels of {shorten(model.classes)}."
        )
    says = np.zeros(len(model.classes))
    for label, weight in wish.items():
        says[model.classes.index(label)] = check_real(weight, "`changes` (each weight)")
    return says[1:] - says[:1] if len(model.bias) == 1 else says


def _saying(model: TextModel, word: str, says: np.ndarray) -> np.ndarray:
    """The vector nearest to where the word is, or where words without a say are, of which the decoder says that."""
    decoder = model.decoder.astype(np.float64)
    before = model.embeddings[model.vocabulary.index[word]] if word in model.vocabulary.index else _silent(model)
    missing = says * model.temperature - decoder @ before
    return before + np.linalg.lstsq(decoder, missing, rcond=None)[0]


def _silent(model: TextModel) -> np.ndarray:
    """Where a word stands of which the decoder says nothing: at the height that words have where there is a neutral
    leader, else at the origin."""
    if not model.has_neutral or model.extra is None:
        return np.zeros(model.dimension)
    axis = int(np.abs(model.extra).argmax())
    silent = np.zeros(model.dimension)
    silent[axis] = np.median(model.embeddings[:, axis])
    return silent


def _is_forbidden(wish: Any) -> bool:
    return isinstance(wish, str) and wish == FORBID


def _plain(wish: Any) -> Any:
    """As JSON can hold it."""
    if isinstance(wish, Mapping):
        return {str(label): float(weight) for label, weight in wish.items()}
    return wish if isinstance(wish, str | int | float) else np.asarray(wish, dtype=np.float64).tolist()
