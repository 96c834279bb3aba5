"""Parts of a text: some of its places, or some of its words, kept or cut out.

What is left is joined by a full stop, where a sentence ends, so that no phrase arises that nobody wrote.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hardmax.text.tokeniser import Tokeniser

Span = tuple[int, int]
"""A place: text[start:end]."""
JOINT = " . "


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same places in order, those that overlap as one.

    >>> merged([(5, 9), (0, 3), (2, 4)])
    [(0, 4), (5, 9)]
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start < found[-1][1]:
            start, end = found[-1][0], max(end, found.pop()[1])
        found.append((start, end))
    return found


def keep(text: str, spans: Sequence[Span]) -> str:
    """The places alone; they are in order and do not overlap.

    >>> keep("a good film", [(0, 1), (7, 11)])
    'a . film'
    """
    return JOINT.join(text[start:end] for start, end in spans)


def cut(text: str, spans: Sequence[Span]) -> str:
    """The text without the places; they are in order and do not overlap.

    >>> cut("a good film", [(2, 6)])
    'a  .  film'
    """
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return JOINT.join(text[start:end] for start, end in zip(starts, ends, strict=True))


def touched(words: Sequence[Span], spans: Iterable[Span]) -> np.ndarray:
    """Which of the words overlap one of the spans."""
    places = np.array(merged(spans), dtype=np.int64).reshape(-1, 2)
    starts, ends = np.array(words, dtype=np.int64).reshape(-1, 2).T
    return np.searchsorted(places[:, 1], starts, side="right") < np.searchsorted(places[:, 0], ends)


@dataclass(frozen=True)
class Units:
    """The distinct words of a text, each with all its places, in the order in which they first stand in it."""

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
        for token in replace(tokeniser, longest_phrase=1).tokens(text):
            found.setdefault(token.surface, []).append((token.start, token.end))
        return cls(text, tuple(found), tuple(map(tuple, found.values())))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def occurrences(self) -> tuple[list[Span], np.ndarray]:
        """All places in order, and the number of the word at each."""
        listed = sorted((span, word) for word, spans in enumerate(self.places) for span in spans)
        return [span for span, _ in listed], np.array([word for _, word in listed], dtype=np.int64)

    def without(self, which: Iterable[int]) -> str:
        """The text without some of its words, wherever they stand."""
        return cut(self.text, sorted(span for word in which for span in self.places[word]))

    def touched_by(self, spans: Iterable[Span]) -> np.ndarray:
        """Which words stand, at least once, in one of the places."""
        places, owners = self.occurrences
        found = np.zeros(len(self), dtype=bool)
        found[owners[touched(places, spans)]] = True
        return found
