"""The words of a text in the order in which to remove them: `Explanation.removals`."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from hardmax._kernels.compiling import interpreted
from hardmax.text._kernels_removals import Judge, Written, make_scratch, remove_words
from hardmax.text.encoding import find_known, modifier_arrays
from hardmax.text.tokeniser import Span, places_of

if TYPE_CHECKING:
    from hardmax.text.explain import Explanation

_MOST_WORDS = 50_000_000  # read again: a second or two
_FEW_WORDS = 5_000  # that Python reads before numba would be ready


@dataclass(frozen=True)
class Removal:
    """A word of a text and what is lost with it, those before it in `Explanation.removals` being
    gone."""

    word: str
    """The word, in lower case."""
    spans: tuple[Span, ...]
    """Where it is: `text[start:end]`."""
    score: float
    """What words are ranked by: a third of `loss`, two thirds of what the word adds to an empty
    text."""
    loss: float
    """By how much the lead of the label, in logits, falls; nan in a text too long to be read again
    for every word."""


def rank_removals(why: "Explanation") -> tuple[Removal, ...]:
    """The words of known tokens, also of those that overlap others, and of modifiers in use, each
    time the best of those left."""
    model, toward = why.model, _toward(why)
    every_token = replace(model.tokeniser, overlapping=True)
    words, known = find_known(why.text, model.vocabulary, every_token)
    places = places_of(words)
    surfaces, unit_of = list(places), {surface: unit for unit, surface in enumerate(places)}
    units = np.array([unit_of[word.surface] for word in words], dtype=np.int32)
    removable = {link.modifier for link in why.links}
    for _, first, last in known:
        removable.update(word.surface for word in words[first : last + 1])
    candidates = np.array(sorted(unit_of[surface] for surface in removable), dtype=int)
    if not len(candidates):
        return ()
    leads = model.analyse(["", *(surfaces[unit] for unit in candidates)]).logits @ toward
    alone = leads[1:] - leads[0]
    clauses = np.array([word.clause for word in words])
    numbers = model._reader.numbers_of(word.surface for word in words)
    numbers = np.array(numbers, dtype=np.int32)
    tokens, firsts, lasts = np.array(known, dtype=np.int32).reshape(-1, 3).T.copy()
    written = Written(units, np.searchsorted(clauses, clauses), numbers, tokens, firsts, lasts)
    judge = Judge(
        modifier_arrays(model._reader), model._voting, model.tokeniser.overlapping, toward
    )
    sizes = len(words), len(known), len(model.vocabulary), len(toward)
    read = np.cumsum(np.arange(len(candidates), 0, -1)) * len(words)
    rounds = int(np.searchsorted(read, _MOST_WORDS, side="right"))
    lead = float((why._analysis.logits @ toward)[0])
    with interpreted(remove_words, if_small=read[-1] <= _FEW_WORDS):
        scratch = make_scratch(*sizes)
        order, losses, scores = remove_words(
            written, judge, scratch, candidates, alone, lead, rounds
        )
    left = np.setdiff1d(np.arange(len(candidates)), order)
    if len(order) == rounds:
        losses[left], scores[left] = np.nan, 2 / 3 * alone[left]
    ranked = [*order, *left[np.argsort(-scores[left], kind="stable")]]
    names = [surfaces[unit] for unit in candidates[ranked]]
    costs = zip(scores[ranked].tolist(), losses[ranked].tolist(), strict=True)
    removals = zip(names, costs, strict=True)
    return tuple(Removal(name, tuple(places[name]), *cost) for name, cost in removals)


def _toward(why: "Explanation") -> np.ndarray:
    """How often each logit counts: the lead of the label is its logit less that of the second most
    probable class."""
    rows, label = len(why.model.bias), why._best
    if rows == 1:
        return np.array([1.0 if label else -1.0])
    toward, probabilities = np.zeros(rows), np.array(list(why.probabilities.values()))
    probabilities[label] = -1.0
    toward[label], toward[probabilities.argmax()] = 1.0, -1.0
    return toward
