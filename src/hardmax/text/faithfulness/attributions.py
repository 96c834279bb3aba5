"""How much each word of a text speaks for what the model says of it: ours, and three that need nothing else."""

from collections.abc import Callable

import numpy as np

from hardmax.text.spans import Units
from hardmax.text.text_model import TextModel

Attribution = Callable[[TextModel, Units], np.ndarray]
"""A score for each distinct word: the larger, the more it speaks for the predicted class."""


def by_votes(model: TextModel, units: Units) -> np.ndarray:
    """Ours: the votes of the tokens that count; that of a phrase is shared by its words."""
    why = model.explain(units.text)
    sign = 1.0 if why.label == why.towards else -1.0
    scores = np.zeros(len(units))
    for vote in why.counting:
        words = units.touched_by(vote.spans)
        scores[words] += sign * vote.vote / words.sum()
    return scores


def by_removals(model: TextModel, units: Units) -> np.ndarray:
    """Ours: the words in the order of `Explanation.removals`; those that the model does not know stand where words are
    that say nothing."""
    removals = model.explain(units.text).removals
    scores, number = np.zeros(len(units)), {word: n for n, word in enumerate(units.words)}
    for place, removal in enumerate(removals):
        scores[number[removal.word]] = len(removals) - place if removal.worth > 0 else -1 - place
    return scores


def by_leaving_out(model: TextModel, units: Units) -> np.ndarray:
    """How much less probable the answer is without the word: what measures are about, a word at a time."""
    if not len(units):
        return np.zeros(0)
    chances = model.predict_proba([units.text, *(units.without([word]) for word in range(len(units)))])
    answer = chances[0].argmax()
    return chances[0, answer] - chances[1:, answer]


def by_chance(model: TextModel, units: Units) -> np.ndarray:
    """Numbers drawn from the length of the text: what a measure gives to somebody who knows nothing."""
    return np.random.default_rng([len(units), len(units.text)]).random(len(units))
