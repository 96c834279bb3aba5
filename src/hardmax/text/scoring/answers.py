"""What a model says of every text, as columns: label, probability, margin, leaders, words that count, their votes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._format import EXTRA_TOKEN
from hardmax.text._analysis import Analysis
from hardmax.text.scoring.arrow import Array, Table, pa
from hardmax.text.text_model import TextModel

ANSWERS = ("label", "decided", "probability", "margin", "leaders", "counting", "votes")


@dataclass(frozen=True, eq=False)
class Answerer:
    """A model with its words and classes as Arrow has them."""

    model: TextModel
    surfaces: Array
    classes: Array

    @classmethod
    def of(cls, model: TextModel) -> "Answerer":
        """Who answers for the model."""
        return cls(model, pa.array([*model.vocabulary.surfaces, EXTRA_TOKEN], pa.string()), _classes(model.classes))

    def schema(self) -> Any:
        """The columns of the answers, with their types."""
        texts, numbers = pa.list_(pa.string()), pa.list_(pa.float64())
        kinds = (self.classes.type, pa.bool_(), pa.float64(), pa.float64(), texts, texts, numbers)
        return pa.schema(list(zip(ANSWERS, kinds, strict=True)))

    def answer(self, texts: Any) -> Table:
        """The answers for the texts; those for a text depend on that text alone, to the bit.

        The margin is the probability of the label less that of the most probable other class; it is above 0 where the
        text is decided. Leaders stand by their mass,
        the words that count by the size of their votes, as in an explanation, and `votes` are in the same order.
        """
        parts = [self._answer(found, says) for found, says in self.model.weigh_texts(texts)]
        return pa.Table.from_batches(parts, schema=self.schema())

    def _answer(self, found: Analysis, says: np.ndarray) -> Any:
        texts = np.repeat(np.arange(len(found)), np.diff(found.offsets))
        best, every = self.model.predicted(found), np.arange(len(found))
        probability, others = found.probabilities[every, best], found.probabilities.copy()
        others[every, best] = -1.0
        leads = found.leader_since >= 0
        if self.model.has_neutral:
            leads &= found.ids < len(self.model.vocabulary)
        row = np.zeros_like(best) if len(self.model.bias) == 1 else best
        leading, counting = np.flatnonzero(leads), np.flatnonzero(found.active)
        adds = self.model.prepared.scores[found.ids[leading], row[texts[leading]]]
        leading, _ = _ranked(leading, texts, found.masses[leading], np.abs(found.masses[leading] * adds))
        votes = _votes(self.model, found, says, texts, row, counting)
        counting, order = _ranked(counting, texts, np.abs(votes))
        columns = (
            self.classes.take(pa.array(best)),
            pa.array(found.decided),
            pa.array(probability),
            pa.array(probability - others.max(axis=1)),
            _lists(self.surfaces.take(pa.array(found.ids[leading])), texts[leading], len(found)),
            _lists(self.surfaces.take(pa.array(found.ids[counting])), texts[counting], len(found)),
            _lists(pa.array(votes[order]), texts[counting], len(found)),
        )
        return pa.record_batch(list(columns), schema=self.schema())


def _votes(
    model: TextModel, found: Analysis, says: np.ndarray, texts: np.ndarray, row: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """What the words add to the logit of the second of two classes, or to that of the label."""
    voices = model.prepared.voices(found)
    spoken = np.bincount(texts, voices, minlength=len(found))  # whole numbers: exact in floats
    return voices[words] / np.maximum(spoken, 1)[texts[words]] * says[words, row[texts[words]]]


def _ranked(words: np.ndarray, texts: np.ndarray, *sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words text by text, in each the largest first; those of equal size by the next one, or as they appear. Also
    which they were among those given, as the sizes are."""
    order = np.lexsort((*(-size for size in reversed(sizes)), texts[words]))
    return words[order], order


def _lists(values: Array, texts: np.ndarray, count: int) -> Array:
    offsets = np.zeros(count + 1, dtype=np.int32)
    np.cumsum(np.bincount(texts, minlength=count), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def _classes(classes: tuple[Any, ...]) -> Array:
    """The labels in a column of their own kind; as texts, where they are of several kinds or too large for a column."""
    if len({type(name) for name in classes}) == 1:
        try:
            return pa.array(list(classes))
        except (pa.ArrowInvalid, OverflowError):
            pass
    return pa.array([str(name) for name in classes], pa.string())
