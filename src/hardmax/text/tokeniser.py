"""From a text to its words, each with its place in the text: the definition, for one text.

The kernels in `hardmax.text._kernels_pieces` find the same words in many texts at once."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hardmax._common.validation import check_bool, check_int, check_str
from hardmax.text._characters import APOSTROPHES, CHARACTERS, EMOTICON, fold
from hardmax.text._kernels_pieces import (
    CLAUSE_END,
    FLAG,
    JOINER,
    LEAD,
    LETTER,
    LONGEST_TAG,
    SIGN,
    SOLO,
)

Span = tuple[int, int]
"""A place: text[start:end]."""

LONGEST_PHRASE = 5
# In the place of a word that is removed, since no model knows it: no phrase arises that nobody
# wrote, and words attend as before.
JOINT = "⋯"
_ASCII = 0x80
_WORDS = "solo", "word", "emoticon"


class Token(NamedTuple):
    """A word or phrase, and where it is in the text: `text[start:end]`."""

    surface: str
    start: int
    end: int


class Word(NamedTuple):
    """A word, where it is in the text, and the number of its clause."""

    surface: str
    start: int
    end: int
    clause: int


@dataclass(frozen=True, kw_only=True)
class Tokeniser:
    """How texts are cut into tokens.

    A word is a run of letters and digits, with apostrophes inside ("don't" is one word), in lower
    case; "13.1" is one, too. Tags such as `<br />` and punctuation that ends a clause separate.
    Characters of scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) and emoji
    are words of their own, each with the signs that belong to it; between two of them a phrase has
    no space. An emoticon that stands apart is a word: ":-)" is ":)". "Sooooo" and "sooo" are "soo".

    Parameters
    ----------
    longest_phrase : int, default 2
        A phrase is up to this many consecutive words of one clause, joined by a space; at most 5.
    overlapping : bool, default True
        Whether a text has all the known tokens that occur in it: "of the worst" may count as four
        of them. If not, each word belongs to one token at most (`keep_segments`). `tokens`, which
        knows no vocabulary, lists all.

    Examples
    --------
    >>> [token.surface for token in Tokeniser().tokens("Not good.<br />AVOID it!")]
    ['not', 'good', 'not good', 'avoid', 'it', 'avoid it']
    >>> [token.surface for token in Tokeniser().tokens("iPhone不好")]
    ['iphone', '不', 'iphone 不', '好', '不好']
    >>> [token.surface for token in Tokeniser(longest_phrase=1).tokens("Sooo good :-)) (see 3:4)")]
    ['soo', 'good', ':)', 'see', '3', '4']
    """

    longest_phrase: int = 2
    overlapping: bool = True

    def __post_init__(self) -> None:
        longest = check_int(
            self.longest_phrase, "`longest_phrase`", at_least=1, at_most=LONGEST_PHRASE
        )
        overlapping = check_bool(self.overlapping, "`overlapping`")
        vars(self).update(longest_phrase=longest, overlapping=overlapping)

    def tokens(self, text: str) -> list[Token]:
        """The tokens of a text in the order in which they end; phrases after their last word, the
        shorter first.

        Parameters
        ----------
        text : str
            Any text.

        Returns
        -------
        list of Token
            Surface, start and end of each.
        """
        words = cut_words(check_str(text, "`text`"))
        return [token_of(words, first, last) for first, last in self._places(words)]

    def _places(self, words: Sequence[Word]) -> Iterator[tuple[int, int]]:
        """The first and the last of these words for each token, in the order of `tokens`."""
        for last, word in enumerate(words):
            for first in range(last, max(last - self.longest_phrase, -1), -1):
                if words[first].clause != word.clause:
                    break
                yield first, last


def cut_words(text: str) -> list[Word]:
    """The words of a text.

    >>> [(word.surface, word.clause) for word in cut_words("Not good, but 13.1!")]
    [('not', 0), ('good', 0), ('but', 1), ('13.1', 1)]
    """
    words, clause = [], 0
    for piece in _pieces(text):
        if piece.lastgroup in _WORDS:
            words.append(Word(fold(piece.group()), piece.start(), piece.end(), clause))
        else:
            clause += 1
    return words


def places_of(words: Iterable[Word]) -> dict[str, list[Span]]:
    """The places of each word, in the order in which they first stand in a text.

    >>> places_of(cut_words("Good, not GOOD."))
    {'good': [(0, 4), (10, 14)], 'not': [(6, 9)]}
    """
    places: dict[str, list[Span]] = {}
    for word in words:
        places.setdefault(word.surface, []).append((word.start, word.end))
    return places


def replace_spans(text: str, edits: Iterable[tuple[Span, str]]) -> str:
    """The text with other words in some places, which do not overlap.

    >>> replace_spans("a bad, bad film", [((7, 10), "good"), ((2, 5), JOINT)])
    'a ⋯, good film'
    """
    parts, end_of_last = [], 0
    for (start, end), other in sorted(edits):
        parts += [text[end_of_last:start], other]
        end_of_last = end
    return "".join([*parts, text[end_of_last:]])


def token_of(words: Sequence[Word], first: int, last: int) -> Token:
    """The token from one word to another."""
    surface = join_words([word.surface for word in words[first : last + 1]])
    return Token(surface, words[first].start, words[last].end)


def keep_segments(found: Sequence[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Those of the known tokens of a text, each with its number, first and last word, that are its
    segments, in order.

    Tokens are taken in the order of the vocabulary, each from left to right, if none of their words
    is taken yet.

    >>> keep_segments([(2, 0, 1), (1, 0, 0), (0, 1, 2)])
    [(1, 0, 0), (0, 1, 2)]
    """
    taken, kept = set[int](), []
    for place, token in sorted(enumerate(found), key=lambda known: (known[1][0], known[0])):
        words = set(range(token[1], token[2] + 1))
        if taken.isdisjoint(words):
            taken |= words
            kept.append((place, token))
    return [token for _, token in sorted(kept)]


def join_words(words: Sequence[str]) -> str:
    """The surface of a phrase: a space between words, but none between solos, unless they would
    become one.

    >>> join_words(["iphone", "不", "好"])
    'iphone 不好'
    """
    surface = " ".join(words)
    if surface.isascii():
        return surface
    return words[0] + "".join(f"{_between(*pair)}{pair[1]}" for pair in pairwise(words))


def cut_surface(surface: str) -> list[str]:
    """The words of a token, as they are in texts; none if no text can contain it.

    >>> cut_surface("iphone 不好"), cut_surface("不 好"), cut_surface("Good")
    (['iphone', '不', '好'], [], [])
    """
    words = [fold(piece.group()) for piece in _pieces(surface) if piece.lastgroup in _WORDS]
    return words if words and join_words(words) == surface else []


def _between(before: str, word: str) -> str:
    solo = _solo()
    together = solo.match(before + word)
    stays = together is not None and together.end() == len(before)
    return "" if stays and solo.match(word) else " "


def _pieces(text: str) -> Iterator[re.Match[str]]:
    """The pieces of a text: groups tag, solo, word, emoticon, end."""
    # The same expression for the characters of most texts: that for all of Unicode takes long to be
    # compiled.
    return _pattern(_ASCII if text.isascii() else len(CHARACTERS.classes)).finditer(text)


@cache
def _pattern(characters: int) -> re.Pattern[str]:
    # Characters that the table does not reach are letters.
    letter = f"[^{_ranges(characters, *({*range(11)} - {LETTER, SIGN, JOINER}))}]"
    letters = f"{letter}+"
    solo = [] if characters == _ASCII else [f"(?P<solo>{_solo().pattern})"]
    pieces = [
        rf"(?P<tag></?[A-Za-z][^<>]{{0,{LONGEST_TAG}}}>)",
        *solo,
        f"(?P<word>{letters}(?:(?:[{APOSTROPHES}]|(?<=[0-9])[.,](?=[0-9])){letters})*)",
        rf"(?P<emoticon>(?<![^\0-\x20>]){EMOTICON}(?!(?P=mouth)|{letter}))",
        f"(?P<end>--|[.,{_ranges(characters, CLAUSE_END)}])",
    ]
    return re.compile("|".join(pieces))


@cache
def _solo() -> re.Pattern[str]:
    """A character that is a word of its own, and the signs that belong to it."""
    every = len(CHARACTERS.classes)
    solo, lead, flag, sign, joiner = (
        f"[{_ranges(every, kind)}]" for kind in (SOLO, LEAD, FLAG, SIGN, JOINER)
    )
    return re.compile(
        f"(?:{lead}?{solo}|{lead}|{flag}{flag}?)(?:{sign}|{joiner}[{_ranges(every, SOLO, FLAG)}]?)*"
    )


def _ranges(characters: int, *kinds: int) -> str:
    """The characters of these kinds, up to a limit, as ranges of a regular expression."""
    edges = np.flatnonzero(
        np.diff(np.isin(CHARACTERS.classes[:characters], kinds), prepend=False, append=False)
    )
    return "".join(
        f"\\U{first:08x}-\\U{last - 1:08x}" for first, last in edges.reshape(-1, 2).tolist()
    )
