"""From a text to its tokens, each with its place in the text: the definition, for people and for one text at a time.

The byte kernel in `hardmax.text.tokens.kernels.scanning` says the same of many texts at once.
"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from hardmax.checking import a_text, truth_value, whole_number
from hardmax.text.tokens.characters import APOSTROPHES, CLASSES, ENDS, MARKS, fold, ranges
from hardmax.text.tokens.kernels.encoding import Cutting
from hardmax.text.tokens.kernels.kinds import LETTER, LONGEST_TAG

LONGEST_PHRASE = 3


class Token(NamedTuple):
    """A word, phrase or mark as the model knows it, and where it stands: `text[start:end]`."""

    surface: str
    start: int
    end: int


_LETTERS = f"[^{ranges(np.flatnonzero(CLASSES != LETTER))}]+"
_WORD = f"{_LETTERS}(?:[{APOSTROPHES}]{_LETTERS})*"
SURFACE = re.compile(rf"{_WORD}(?: {_WORD}){{0,{LONGEST_PHRASE - 1}}}|[{MARKS}]")  # what a token can look like, folded
_PIECES = re.compile(
    rf"(?P<tag></?[A-Za-z][^<>]{{0,{LONGEST_TAG}}}>)"
    rf"|(?P<word>{_WORD})"
    rf"|(?P<end>[{re.escape(ENDS)}])"
)


@dataclass(frozen=True, kw_only=True)
class Tokeniser:
    """How texts are cut into tokens.

    A word is a run of letters and digits, with apostrophes inside ("don't" is one word), in lower case. Tags such as
    `<br />` separate. A phrase is up to `longest_phrase` consecutive words of one sentence, joined by a space; with
    `across_sentences`, phrases do not stop at sentence ends. With `marks`, every `!` and `?` is a token, too.

    >>> [token.surface for token in Tokeniser().tokens("Not good.<br />AVOID it!")]
    ['not', 'good', 'not good', 'avoid', 'it', 'avoid it']
    """

    longest_phrase: int = 2
    marks: bool = False
    across_sentences: bool = False

    def __post_init__(self) -> None:
        longest = whole_number(self.longest_phrase, "`longest_phrase`", at_least=1, at_most=LONGEST_PHRASE)
        object.__setattr__(self, "longest_phrase", longest)
        for name in ("marks", "across_sentences"):
            object.__setattr__(self, name, truth_value(getattr(self, name), f"`{name}`"))

    def tokens(self, text: str) -> list[Token]:
        """The tokens of a text, in the order in which they end; phrases after their last word, the shorter first."""
        return list(self._tokens(a_text(text, "`text`")))

    @property
    def cutting(self) -> Cutting:
        """The same as kernels read it."""
        return Cutting(self.longest_phrase, self.marks, self.across_sentences)

    def to_dict(self) -> dict[str, Any]:
        """The options by name, as config.json keeps them."""
        return asdict(self)

    def _tokens(self, text: str) -> Iterator[Token]:
        sentence: list[Token] = []
        for piece in _PIECES.finditer(text):
            if piece.lastgroup == "word":
                sentence.append(Token(fold(piece.group()), piece.start(), piece.end()))
                for length in range(1, min(self.longest_phrase, len(sentence)) + 1):
                    yield _join(sentence[-length:])
                continue
            if self.marks and piece.group() in MARKS:
                yield Token(piece.group(), piece.start(), piece.end())
            if not self.across_sentences:
                sentence.clear()


def _join(words: list[Token]) -> Token:
    return Token(" ".join(word.surface for word in words), words[0].start, words[-1].end)
