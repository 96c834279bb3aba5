"""What is removed and kept: the distinct words of a text, each with all its places."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hardmax.text.tokens.cutting import Span, cut, keep
from hardmax.text.tokens.tokeniser import Tokeniser


@dataclass(frozen=True)
class Units:
    """The distinct words of a text, in the order in which they first stand in it."""

    text: str
    words: tuple[str, ...]
    places: tuple[tuple[Span, ...], ...]

    @classmethod
    def of(cls, text: str, tokeniser: Tokeniser) -> "Units":
        """The words as the tokeniser cuts them, known to a model or not.

        >>> Units.of("Good, not GOOD.", Tokeniser()).words
        ('good', 'not')
        """
        found: dict[str, list[Span]] = {}
        for token in replace(tokeniser, longest_phrase=1, marks=False).tokens(text):
            found.setdefault(token.surface, []).append((token.start, token.end))
        return cls(text, tuple(found), tuple(map(tuple, found.values())))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def firsts(self) -> np.ndarray:
        """Where each word first stands, in ascending order."""
        return np.array([spans[0][0] for spans in self.places], dtype=np.int64)

    def without(self, which: Iterable[int]) -> str:
        """The text without some of its words, wherever they stand."""
        return cut(self.text, self._spans(which))

    def only(self, which: Iterable[int]) -> str:
        """The text of these words alone."""
        return keep(self.text, self._spans(which))

    def gather(self, spans: Iterable[Span], values: Iterable[float]) -> np.ndarray:
        """For each word the sum of the values at its places; a value at a place of several words is each of theirs."""
        starts, owners = self._occurrences
        sums = np.zeros(len(self))
        for (start, end), value in zip(spans, values, strict=True):
            touched = owners[np.searchsorted(starts[:, 1], start, side="right") : np.searchsorted(starts[:, 0], end)]
            if len(touched):
                sums[np.unique(touched)] += value
        return sums

    def touched_by(self, spans: Iterable[Span]) -> np.ndarray:
        """Which words stand, at least once, in one of the places."""
        return self.gather(spans := list(spans), np.ones(len(spans))) > 0

    @property
    def _occurrences(self) -> tuple[np.ndarray, np.ndarray]:
        """All places in order, (places, 2), and whose they are."""
        listed = sorted((span, word) for word, spans in enumerate(self.places) for span in spans)
        return (
            np.array([span for span, _ in listed], dtype=np.int64).reshape(-1, 2),
            np.array([word for _, word in listed], dtype=np.int64),
        )

    def _spans(self, which: Iterable[int]) -> list[Span]:
        return sorted(span for word in which for span in self.places[word])
