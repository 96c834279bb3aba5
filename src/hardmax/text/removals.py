"""The words of a text in the order in which to remove them: `Explanation.removals`."""

from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from hardmax.text.encoding import find_known
from hardmax.text.tokeniser import JOINT, Span, places_of, replace_spans

if TYPE_CHECKING:
    from hardmax.text.explain import Explanation

_MOST_CHARACTERS = 200_000_000  # of the texts that are classified: some seconds


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
    """By how much the lead of the label, in logits, falls; nan in a text too long to be classified
    again for every word."""


def rank_removals(why: "Explanation") -> tuple[Removal, ...]:
    """The words of known tokens, also of those that overlap others, and of modifiers in use, each
    time the best of those left."""
    model, toward = why.model, _toward(why)
    words, known = find_known(
        why.text, model.vocabulary, replace(model.tokeniser, overlapping=True)
    )
    removable = {link.modifier for link in why.links}
    for _, first, last in known:
        removable.update(word.surface for word in words[first : last + 1])
    places = {word: spans for word, spans in places_of(words).items() if word in removable}

    def leads(texts: list[str]) -> np.ndarray:
        return model.analyse(texts).logits @ toward

    empty, *single = leads(["", *places])
    alone = {word: lead - empty for word, lead in zip(places, single, strict=True)}
    lead, characters = leads([why.text])[0], _MOST_CHARACTERS
    ranked: list[Removal] = []
    while len(ranked) < len(places):
        left, own = list(alone), 2 / 3 * np.array(list(alone.values()))
        gone = [span for removal in ranked for span in removal.spans]
        characters -= len(why.text) * len(left)
        if characters > 0:
            changed = [[(span, JOINT) for span in (*gone, *places[word])] for word in left]
            losses = lead - leads([replace_spans(why.text, edits) for edits in changed])
            scores = losses / 3 + own
        else:
            losses, scores = np.full(len(left), nan), own
        order = np.argsort(-scores, kind="stable").tolist()
        best = order[0]
        # Where nothing speaks for the label any more, the order of the others is that of now.
        is_last = characters <= 0 or scores[best] <= 0
        for n in order if is_last else [best]:
            word = left[n]
            ranked.append(Removal(word, tuple(places[word]), float(scores[n]), float(losses[n])))
            del alone[word]
        lead -= losses[best]
    return tuple(ranked)


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
