"""A text without some of its words.

In the place of each is ⋯, a word that no model knows: no phrase arises that nobody wrote, and words
attend as before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hardmax.text.tokeniser import JOINT, Span, cut_words, places_of


def cut(text: str, spans: Sequence[Span]) -> str:
    """The text without the places; they are in order and do not overlap."""
    starts = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), len(text)]
    return JOINT.join(text[start:end] for start, end in zip(starts, ends, strict=True))


@dataclass(frozen=True)
class Units:
    """The distinct words of a text, each with all its places, in the order in which they first
    stand in it."""

    text: str
    words: tuple[str, ...]
    places: tuple[tuple[Span, ...], ...]

    @classmethod
    def of(cls, text: str) -> "Units":
        """The words as tokenisers cut them, known to a model or not."""
        places = places_of(cut_words(text))
        return cls(text, tuple(places), tuple(map(tuple, places.values())))

    def __len__(self) -> int:
        return len(self.words)

    def without(self, which: Iterable[int]) -> str:
        """The text without some of its words, wherever they stand."""
        return cut(self.text, sorted(span for word in which for span in self.places[word]))
