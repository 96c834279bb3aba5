"""From a text to its tokens, each with its place in the text: the definition, for people and for one text at a time.

The byte kernel in `hardmax.text.tokens.kernels.scanning` says the same of many texts at once.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from hardmax._validation import check_bool, check_int, check_str
from hardmax.text.tokens.alphabets import Alphabet, alphabet_of, run_of_letters
from hardmax.text.tokens.characters import CLASSES, MARKS, fold
from hardmax.text.tokens.kernels.finding import Cutting

LONGEST_PHRASE = 5


class Token(NamedTuple):
    """A word, phrase or mark as the model knows it, and where it stands: `text[start:end]`."""

    surface: str
    start: int
    end: int


# The expression for what a token can look like, folded. Solos are runs of letters to those who do not split scripts.
_WORD = run_of_letters(CLASSES)
SURFACE = rf"{_WORD}(?: {_WORD}){{0,{LONGEST_PHRASE - 1}}}|[{MARKS}]"


@dataclass(frozen=True, kw_only=True)
class Tokeniser:
    """How texts are cut into tokens.

    A word is a run of letters and digits, with apostrophes inside ("don't" is one word), in lower case. Tags such as
    `<br />` separate. A phrase is up to `longest_phrase` consecutive words of one sentence, joined by a space; with
    `across_sentences`, phrases do not stop at sentence ends. With `marks`, every `!` and `?` is a token, too, also
    in full width (`！`, `？`) and the Arabic `؟`; the token is the plain one.

    With `split_scripts`, characters of scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) and emoji
    are words of their own, each with the signs that belong to it; between two of them a phrase has no space. Without,
    they are letters, as in models of version 0.1.

    With `overlapping`, a text has all the known tokens that stand in it, and "of the worst" may be there as four of
    them. Without, each place counts once: a text is cut into segments (`hardmax.text.tokens.segments`). `tokens` and
    `build_vocabulary`, which know no vocabulary yet, list all.

    >>> [token.surface for token in Tokeniser().tokens("Not good.<br />AVOID it!")]
    ['not', 'good', 'not good', 'avoid', 'it', 'avoid it']
    >>> [token.surface for token in Tokeniser().tokens("iPhone不好")]
    ['iphone', '不', 'iphone 不', '好', '不好']
    """

    longest_phrase: int = 2
    marks: bool = False
    across_sentences: bool = False
    split_scripts: bool = True
    overlapping: bool = True

    def __post_init__(self) -> None:
        longest = check_int(self.longest_phrase, "`longest_phrase`", at_least=1, at_most=LONGEST_PHRASE)
        object.__setattr__(self, "longest_phrase", longest)
        for name in ("marks", "across_sentences", "split_scripts", "overlapping"):
            object.__setattr__(self, name, check_bool(getattr(self, name), f"`{name}`"))

    def tokens(self, text: str) -> list[Token]:
        """The tokens of a text, in the order in which they end; phrases after their last word, the shorter first."""
        return list(self._tokens(check_str(text, "`text`")))

    @property
    def alphabet(self) -> Alphabet:
        """What characters are to it."""
        return alphabet_of(self.split_scripts)

    @property
    def cutting(self) -> Cutting:
        """The same as kernels read it."""
        return Cutting(self.longest_phrase, self.marks, self.across_sentences, self.overlapping)

    def to_dict(self) -> dict[str, Any]:
        """The options by name, as config.json keeps them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, options: dict[str, Any]) -> "Tokeniser":
        """What `to_dict` gave; what version 0.1 did not know of yet is as it was then."""
        return cls(**{"split_scripts": False} | options)

    def _tokens(self, text: str) -> Iterator[Token]:
        sentence: list[Token] = []
        for piece in self.alphabet.pieces(text):
            if piece.lastgroup in ("word", "solo"):
                sentence.append(Token(fold(piece.group()), piece.start(), piece.end()))
                for length in range(1, min(self.longest_phrase, len(sentence)) + 1):
                    yield self._phrase(sentence[-length:])
                continue
            if self.marks and (mark := fold(piece.group())) in MARKS:
                yield Token(mark, piece.start(), piece.end())
            if not self.across_sentences:
                sentence.clear()

    def _phrase(self, words: list[Token]) -> Token:
        return Token(self.alphabet.join([word.surface for word in words]), words[0].start, words[-1].end)
