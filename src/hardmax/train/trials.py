"""What a recipe would come to, tried as a bag of words: trained on some texts, judged by others."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hardmax.text.tokens.building import build_vocabulary
from hardmax.text.tokens.encoding import Encoded, encode
from hardmax.text.tokens.texts import TextBytes
from hardmax.text.tokens.tokeniser import Tokeniser
from hardmax.train.bag import Bag, Way, mean_features, solve_bag
from hardmax.train.clouds import pick, restrict
from hardmax.train.corpus import way_of, word_counts
from hardmax.train.pruning import prune
from hardmax.train.recipe import Recipe

LONGEST, MOST = 3, 1_000_000
_STEPS = 50  # of the descent: who is better is plain long before the last digits


class Trial(NamedTuple):
    """What a bag of words made of the texts that judge."""

    right: np.ndarray  # which it told rightly

    @property
    def accuracy(self) -> float:
        """The share that it told rightly."""
        return float(self.right.mean())

    @property
    def wrong(self) -> float:
        """The share that it told wrongly."""
        return float((~self.right).mean())

    def is_as_good_as(self, other: "Trial") -> bool:
        """Whether the other tells no more texts rightly than chance would, by a standard deviation.

        >>> few = Trial(np.array([True] * 60 + [False] * 40))
        >>> few.is_as_good_as(Trial(np.array([True] * 61 + [False] * 39)))
        True
        >>> few.is_as_good_as(Trial(np.array([True] * 70 + [False] * 30)))
        False
        """
        lost = int((other.right & ~self.right).sum())
        won = int((self.right & ~other.right).sum())
        return lost - won <= math.sqrt(lost + won)


@dataclass(frozen=True, eq=False)
class Trials:
    """Texts, their classes as numbers, and which of them judge; candidates are counted once for all trials."""

    texts: TextBytes
    labels: np.ndarray
    judges: np.ndarray

    @property
    def words(self) -> float:
        """How many different words a usual text has."""
        sizes = np.diff(restrict(self._encoded, np.flatnonzero(self._lengths == 1), len(self._lengths)).offsets)
        return float(np.median(sizes))

    def judge(self, recipe: Recipe) -> Trial:
        """What the bag of words of the recipe comes to."""
        met, way = self._documents, way_of(recipe)
        # As in `prepare`: of phrases of three words one text more is asked.
        known = np.flatnonzero((self._lengths <= recipe.longest_phrase) & (met >= recipe.min_df + (self._lengths > 2)))
        loud = np.ones(len(known), dtype=np.bool_)
        taught = restrict(self._taught, known, len(met))
        if recipe.counting < 1:
            pruned = prune(taught, self.labels[~self.judges], self._lengths[known] == 1, way, recipe.counting)
            taught = restrict(taught, pruned.known, len(known))
            known, loud = known[pruned.known], pruned.loud
        bag = solve_bag(taught, self.labels[~self.judges], loud, way, _STEPS)
        return _judge(bag, restrict(self._judged, known, len(met)), self.labels[self.judges], way)

    @cached_property
    def _candidates(self) -> tuple[np.ndarray, Encoded]:
        """How many words each candidate is, and all texts in candidates."""
        tokeniser, teach = Tokeniser(longest_phrase=LONGEST), np.flatnonzero(~self.judges)
        found = build_vocabulary(
            self.texts.pick(teach), self.labels[teach], tokeniser, words=MOST, phrases=MOST, fewest=1
        )
        return word_counts(found, tokeniser), encode(self.texts, found, replace(tokeniser, overlapping=True))

    @property
    def _lengths(self) -> np.ndarray:
        return self._candidates[0]

    @property
    def _encoded(self) -> Encoded:
        return self._candidates[1]

    @cached_property
    def _taught(self) -> Encoded:
        return pick(self._encoded, np.flatnonzero(~self.judges))

    @cached_property
    def _judged(self) -> Encoded:
        return pick(self._encoded, np.flatnonzero(self.judges))

    @cached_property
    def _documents(self) -> np.ndarray:
        """How many of the texts that teach have each candidate."""
        return np.bincount(self._taught.ids, minlength=len(self._lengths))


@dataclass(frozen=True, eq=False)
class Folds:
    """Trials whose judges take turns, so that few texts are enough to see who is better."""

    parts: tuple[Trials, ...]

    @classmethod
    def of(cls, texts: TextBytes, labels: np.ndarray, judges: Sequence[np.ndarray]) -> "Folds":
        """Trials of the same texts, each with its judges."""
        return cls(tuple(Trials(texts, labels, these) for these in judges))

    @property
    def judged(self) -> int:
        """How many texts judge."""
        return sum(int(part.judges.sum()) for part in self.parts)

    @property
    def words(self) -> float:
        """How many different words a usual text has."""
        return self.parts[0].words

    def judge(self, recipe: Recipe) -> Trial:
        """What the bags of words of the recipe come to, together."""
        return Trial(np.concatenate([part.judge(recipe).right for part in self.parts]))


def _judge(bag: Bag, texts: Encoded, labels: np.ndarray, way: Way) -> Trial:
    logits = (mean_features(texts, bag.says.shape[1], way) @ bag.says.T) + bag.bias
    told = logits[:, 0] > 0 if logits.shape[1] == 1 else logits.argmax(axis=1)
    return Trial(told == labels)
