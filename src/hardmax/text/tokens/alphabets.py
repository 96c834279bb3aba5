"""How characters make words, in regular expressions, and how words make the surface of a phrase: the definition."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

from hardmax.text.tokens.characters import APOSTROPHES, CLASSES, LOWERED, fold, split_classes
from hardmax.text.tokens.kernels.kinds import (
    FLAG,
    JOINER,
    LEAD,
    LETTER,
    LONGEST_TAG,
    MARK,
    SENTENCE_END,
    SIGN,
    SOLO,
)
from hardmax.text.tokens.kernels.scanning import Characters

_ASCII = 0x80


@dataclass(frozen=True, eq=False)
class _Runs:
    """Characters that follow one another and are of one kind; there are a few hundred such runs."""

    kinds: list[int]
    firsts: list[int]
    lasts: list[int]

    @classmethod
    def of(cls, classes: np.ndarray) -> "_Runs":
        starts = np.concatenate([[0], np.flatnonzero(classes[1:] != classes[:-1]) + 1])
        lasts = np.append(starts[1:], len(classes)) - 1
        return cls(classes[starts].tolist(), starts.tolist(), lasts.tolist())

    def any_of(self, *kinds: int) -> str:
        """The expression for one character of these kinds."""
        return f"[{self._ranges(set(kinds))}]"

    def _ranges(self, kinds: set[int]) -> str:
        rows = zip(self.kinds, self.firsts, self.lasts, strict=True)
        return "".join(f"\\U{first:08x}-\\U{last:08x}" for kind, first, last in rows if kind in kinds)

    @property
    def word(self) -> str:
        """The expression for a word that is no solo: letters, with apostrophes inside."""
        # Characters that the table does not reach are letters.
        letters = f"[^{self._ranges({*self.kinds} - {LETTER, SIGN, JOINER})}]+"
        return f"{letters}(?:[{APOSTROPHES}]{letters})*"

    @property
    def solo(self) -> str | None:
        """The expression for a character that is a word of its own, and the signs that belong to it."""
        if SOLO not in self.kinds:
            return None
        solo, lead, flag, sign, joiner = (self.any_of(kind) for kind in (SOLO, LEAD, FLAG, SIGN, JOINER))
        return f"(?:{lead}?{solo}|{lead}|{flag}{flag}?)(?:{sign}|{joiner}{self.any_of(SOLO, FLAG)}?)*"

    @property
    def pieces(self) -> re.Pattern[str]:
        """The pieces of a text: groups tag, solo, word, end."""
        pieces = [
            rf"(?P<tag></?[A-Za-z][^<>]{{0,{LONGEST_TAG}}}>)",
            *([f"(?P<solo>{solo})"] if (solo := self.solo) else []),
            f"(?P<word>{self.word})",
            f"(?P<end>{self.any_of(SENTENCE_END, MARK)})",
        ]
        return re.compile("|".join(pieces))


def run_of_letters(classes: np.ndarray) -> str:
    """The expression for a word that is no solo: letters, with apostrophes inside."""
    return _Runs.of(classes).word


@dataclass(frozen=True, eq=False)
class Alphabet:
    """What characters are to kernels, and the pieces of a text to people's Python."""

    characters: Characters

    def pieces(self, text: str) -> Iterator[re.Match[str]]:
        """The pieces of a text: groups tag, solo, word, end."""
        return (self._of_ascii if text.isascii() else self._of_all).finditer(text)

    @cached_property
    def _of_ascii(self) -> re.Pattern[str]:
        """The same expression for the characters of most texts: that for all of Unicode takes long to be compiled."""
        return _Runs.of(self.characters.classes[:_ASCII]).pieces

    @cached_property
    def _of_all(self) -> re.Pattern[str]:
        return self._runs.pieces

    @cached_property
    def _solo(self) -> re.Pattern[str] | None:
        return re.compile(solo) if (solo := self._runs.solo) else None

    @cached_property
    def _runs(self) -> _Runs:
        return _Runs.of(self.characters.classes)

    def join(self, words: Sequence[str]) -> str:
        """The surface of a phrase: a space between words, but none between solos, unless they would become one.

        >>> alphabet_of(True).join(["iphone", "不", "好"])
        'iphone 不好'
        """
        surface = " ".join(words)
        if surface.isascii() or self._solo is None:
            return surface
        return words[0] + "".join(f"{self._between(*pair)}{pair[1]}" for pair in pairwise(words))

    def cut(self, surface: str) -> list[str]:
        """The words of a token, as they stand in texts; none if it stands in no text.

        >>> alphabet_of(True).cut("iphone 不好"), alphabet_of(True).cut("不 好")
        (['iphone', '不', '好'], [])
        """
        if surface.isascii() or self._solo is None:
            return surface.split(" ")
        pieces = self.pieces(surface)
        words = [fold(piece.group()) for piece in pieces if piece.lastgroup in ("solo", "word")]
        return words if words and self.join(words) == surface else []

    def _between(self, before: str, word: str) -> str:
        assert self._solo is not None
        together = self._solo.match(before + word)
        stays = together is not None and together.end() == len(before)
        return "" if stays and self._solo.match(word) else " "


@cache
def alphabet_of(split_scripts: bool) -> Alphabet:
    """The alphabet in which scripts without spaces are split, or not; made once it is asked for."""
    return Alphabet(Characters(split_classes() if split_scripts else CLASSES, LOWERED))
