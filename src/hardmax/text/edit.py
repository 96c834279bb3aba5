"""A model with other tokens (edit), and two models side by side (compare)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from hardmax._format import sanitize_line
from hardmax._validation import InputError, check_instance, check_real, check_str, shorten
from hardmax.text.explain import Label, explain
from hardmax.text.model.model import Model
from hardmax.text.tokens.characters import fold
from hardmax.text.tokens.texts import read_texts
from hardmax.text.tokens.vocabulary import Vocabulary

FORBID = "forbid"
_MOST_TOKENS = 5
Edited = TypeVar("Edited", bound=Model)


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
    plain = {
        token: vectors[token].tolist() if isinstance(w, list | tuple | np.ndarray) else w for token, w in wishes.items()
    }
    metrics = model.metrics | {"edited": {**model.metrics.get("edited", {}), **plain}}
    return replace(model, vocabulary=Vocabulary(surfaces, counts), embeddings=table, metrics=metrics)


def _read_token(model: Model, token: Any) -> str:
    """The token as the tokeniser has it."""
    folded = fold(check_str(token, "`changes` (each token)"))
    if folded not in [found.surface for found in model.tokeniser.tokens(folded)]:
        longest = model.tokeniser.longest_phrase
        raise InputError(f"`changes` has {shorten(token)}: expected a word, or a phrase of at most {longest} words.")
    return folded


def _with_phrases(model: Model, forbidden: set[str]) -> set[str]:
    """The tokens that go: those forbidden, and the phrases with a word that is."""
    if not forbidden:
        return set()
    cut = model.tokeniser.alphabet.cut
    parts = {surface: {surface, *cut(surface)} for surface in model.vocabulary.surfaces}
    gone = {surface for surface, own in parts.items() if not forbidden.isdisjoint(own)}
    unknown = sorted(forbidden - set().union(*(parts[surface] for surface in gone)))
    if unknown:
        raise InputError(f"`changes` forbids {shorten(unknown[0])}, which the model does not know: leave it out.")
    if len(gone) == len(parts):
        raise InputError("`changes` forbids all tokens of the model: leave some.")
    return gone


def _vector(model: Model, token: str, wish: Any) -> np.ndarray:
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
            raise InputError(f"`changes` gives {shorten(token)} one number, but there are more classes: {way}.")
        return _of_weight(model, token, np.array([check_real(wish, "`changes` (each weight)")]))
    try:
        vector = np.asarray(wish, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    if vector.shape != (model.dimension,) or not np.isfinite(vector).all():
        ways = f'"{FORBID}", a number, or a vector of {model.dimension} numbers'
        raise InputError(f"`changes` gives {shorten(token)} {shorten(wish)}: expected {ways}.")
    return vector


def _of_weight(model: Model, token: str, weights: np.ndarray) -> np.ndarray:
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


# ---------------------------------------------------------------- two models side by side


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A text that two models answer differently."""

    row: int
    """Its place among the texts, from 0."""
    text: str
    """The text."""
    before: Label | None
    """The label by the first model; None: undecided."""
    after: Label | None
    """The label by the second model; None: undecided."""
    votes: dict[str, tuple[float, float]]
    """Tokens whose votes differ, with both votes, the largest differences first."""

    def __str__(self) -> str:
        moved = [f"{sanitize_line(token)} {a:+.2f} → {b:+.2f}" for token, (a, b) in self.votes.items()]
        before, after = ("undecided" if one is None else sanitize_line(one) for one in (self.before, self.after))
        return f"text {self.row}: {before} → {after}; {', '.join(moved[:_MOST_TOKENS]) or 'no vote differs'}"


def compare(model: Model, other: Model, texts: Any) -> list[Changed]:
    """Compare the answers of two models; see `TextModel.compare`."""
    check_instance(other, Model, "`other`", "a TextModel")
    if model.classes != other.classes:
        raise InputError(f"`other` has the classes {shorten(other.classes)}: expected {shorten(model.classes)}.")
    given = read_texts(texts).strings()
    if not given:
        raise InputError("`texts` must be at least one text, in UTF-8.")
    rows = np.flatnonzero(model.analyse(given).answers != other.analyse(given).answers).tolist()
    return [_changed(row, given[row], model, other) for row in rows]


def _changed(row: int, text: str, *models: Model) -> Changed:
    # With more than two classes the votes of each model are for its own label.
    whys = [explain(model, text) for model in models]
    first, second = ({entry.word: entry.vote for entry in why.active} for why in whys)
    votes = {token: (first.get(token, 0.0), second.get(token, 0.0)) for token in (first | second)}
    moved = sorted(((t, v) for t, v in votes.items() if v[0] != v[1]), key=lambda each: -abs(each[1][1] - each[1][0]))
    before, after = (why.label if why.decided else None for why in whys)
    return Changed(row=row, text=text, before=before, after=after, votes=dict(moved))
