"""How characters make words, in regular expressions, and how words make the surface of a phrase: the definition."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from hardmax.text.tokens.characters import APOSTROPHES, CLASSES, LOWERED, fold, ranges, split_classes
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


def _any_of(classes: np.ndarray, *kinds: int) -> str:
    return f"[{ranges(np.flatnonzero(np.isin(classes, kinds)))}]"


def run_of_letters(classes: np.ndarray) -> str:
    """The expression for a word that is no solo: letters, with apostrophes inside."""
    # Characters that the table does not reach are letters.
    letters = f"[^{ranges(np.flatnonzero(~np.isin(classes, (LETTER, SIGN, JOINER))))}]+"
    return f"{letters}(?:[{APOSTROPHES}]{letters})*"


def _solo(classes: np.ndarray) -> str:
    solo, lead, flag, sign, joiner = (_any_of(classes, kind) for kind in (SOLO, LEAD, FLAG, SIGN, JOINER))
    return f"(?:{lead}?{solo}|{lead}|{flag}{flag}?)(?:{sign}|{joiner}{_any_of(classes, SOLO, FLAG)}?)*"


@dataclass(frozen=True, eq=False)
class Alphabet:
    """What characters are to kernels, and the pieces of a text to people's Python: groups tag, solo, word, end."""

    characters: Characters
    pieces: re.Pattern[str]
    solo: re.Pattern[str] | None

    @classmethod
    def of(cls, classes: np.ndarray) -> "Alphabet":
        """The alphabet in which characters are of these kinds."""
        solo = _solo(classes) if SOLO in classes else None
        pieces = [
            rf"(?P<tag></?[A-Za-z][^<>]{{0,{LONGEST_TAG}}}>)",
            *([f"(?P<solo>{solo})"] if solo else []),
            f"(?P<word>{run_of_letters(classes)})",
            f"(?P<end>{_any_of(classes, SENTENCE_END, MARK)})",
        ]
        return cls(Characters(classes, LOWERED), re.compile("|".join(pieces)), re.compile(solo) if solo else None)

    def join(self, words: Sequence[str]) -> str:
        """The surface of a phrase: a space between words, but none between solos, unless they would become one.

        >>> alphabet_of(True).join(["iphone", "不", "好"])
        'iphone 不好'
        """
        surface = " ".join(words)
        if self.solo is None or surface.isascii():
            return surface
        return words[0] + "".join(f"{self._between(*pair)}{pair[1]}" for pair in pairwise(words))

    def cut(self, surface: str) -> list[str]:
        """The words of a token, as they stand in texts; none if it stands in no text.

        >>> alphabet_of(True).cut("iphone 不好"), alphabet_of(True).cut("不 好")
        (['iphone', '不', '好'], [])
        """
        if self.solo is None or surface.isascii():
            return surface.split(" ")
        pieces = self.pieces.finditer(surface)
        words = [fold(piece.group()) for piece in pieces if piece.lastgroup in ("solo", "word")]
        return words if words and self.join(words) == surface else []

    def _between(self, before: str, word: str) -> str:
        assert self.solo is not None
        together = self.solo.match(before + word)
        stays = together is not None and together.end() == len(before)
        return "" if stays and self.solo.match(word) else " "


@cache
def alphabet_of(split_scripts: bool) -> Alphabet:
    """The alphabet in which scripts without spaces are split, or not; made once it is asked for."""
    return Alphabet.of(split_classes() if split_scripts else CLASSES)
