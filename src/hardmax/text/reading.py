"""Reading: one layer of hardmax attention between the words of a text.

A place of a token may attend to a modifier that stands a few words before it in the same clause, or
to itself. It attends to the strongest modifier there, of equals the nearest, and its vote is
multiplied by the modifier's factor, and moved by its shift."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.validation import (
    InputError,
    check_int,
    check_list,
    check_real,
    check_str,
    shorten,
)
from hardmax._tokens.rationals import read_number
from hardmax.text._characters import fold
from hardmax.text.tokeniser import Word, cut_surface

STEPS = 8  # factors are multiples of 1/8, so that products with weights are exact
LARGEST = 16
MUTED = 1 / 3  # a factor up to this leaves little of a vote
ANY = "*"


@dataclass(frozen=True)
class Modifier:
    """A word that changes the votes of the words after it.

    Parameters
    ----------
    word : str
        A word; "*n't" stands for all words that end in "n't", "n'*" for those that begin with "n'".
    factor : float
        What votes are multiplied by, rounded to a multiple of 1/8: near 0 mutes them, more than 1
        strengthens them, below 0 reverses them.
    texts : int, default 0
        How many training texts have it.
    shift : float, default 0.0
        What is added to votes then, in the unit of the weights: positive for the second of two
        classes. With more classes it must be 0.

    Examples
    --------
    >>> Modifier("never", -0.5).matches("never"), Modifier("*n't", -0.5).matches("wouldn't")
    (True, True)
    """

    word: str
    factor: float
    texts: int = 0
    shift: float = 0.0

    def __post_init__(self) -> None:
        word = fold(check_str(self.word, "`word`"))
        vars(self).update(word=word)
        example = word.replace(ANY, "a", 1) if self.is_form else word
        if cut_surface(example) != [example]:
            raise InputError(
                f'`word` must be one word, or a form such as "*n\'t", not {shorten(self.word)}.'
            )
        factor = check_real(self.factor, "`factor`", at_least=-LARGEST, at_most=LARGEST)
        if factor == 0:  # the layer divides by it
            raise InputError("`factor` must not be 0: give a small one, such as 1/8.")
        rounded = round(factor * STEPS) / STEPS or 1 / STEPS
        shift = float(np.float32(check_real(self.shift, "`shift`")))
        texts = check_int(self.texts, "`texts`", at_least=0)
        vars(self).update(factor=rounded, shift=shift, texts=texts)

    def __str__(self) -> str:
        moved = f" {self.shift:+.3g}" if self.shift else ""
        return f"{self.word} × {self.factor:g}{moved}"

    @property
    def is_form(self) -> bool:
        """Whether it stands for all words with an ending or a beginning."""
        return self.word.startswith(ANY) != self.word.endswith(ANY)

    @property
    def strength(self) -> float:
        """How far its factor is from 1: words attend to the strongest."""
        return abs(self.factor - 1)

    def matches(self, word: str) -> bool:
        """Whether a word is this modifier.

        Parameters
        ----------
        word : str
            In lower case.

        Returns
        -------
        bool
            True if it is the word, or has the form.
        """
        if not self.is_form:
            return word == self.word
        letters = self.word.strip(ANY)
        return word.endswith(letters) if self.word.startswith(ANY) else word.startswith(letters)


@dataclass(frozen=True, kw_only=True)
class VotingRule:
    """How the tokens of a text vote.

    Parameters
    ----------
    scope : int, default 4
        A token attends to a modifier at most this many words before it, in the same clause.
    gate : float, default 0.0
        A token is active if its vote is more than this share of the largest in its text; the others
        add nothing.
    alpha : number or str, default "0"
        With two classes, one layer of this step size may move each active token towards the leader
        of its class.
    neutral_weight : int, default 1
        The number of silent tokens that are added to each text: the more, the less confident the
        model is of short texts.

    Examples
    --------
    >>> VotingRule(gate=0.2, alpha=0.5)
    VotingRule(scope=4, gate=0.2, alpha='1/2', neutral_weight=1)
    """

    scope: int = 4
    gate: float = 0.0
    alpha: Any = "0"
    neutral_weight: int = 1

    def __post_init__(self) -> None:
        scope = check_int(self.scope, "`scope`", at_least=1, at_most=100)
        weight = check_int(self.neutral_weight, "`neutral_weight`", at_least=1, at_most=2**31 - 1)
        gate = check_real(self.gate, "`gate`", at_least=0)
        if gate >= 1:
            raise InputError(
                f"`gate` is {gate:g}, and no token would be active: expected less than 1."
            )
        alpha = read_number(self.alpha, "`alpha`")
        if alpha < 0:
            raise InputError(f"`alpha` must be 0 or more, not {alpha}.")
        vars(self).update(scope=scope, gate=gate, alpha=str(alpha), neutral_weight=weight)


@dataclass(frozen=True)
class Reader:
    """The modifiers of a model, and how many words before it a token may attend to one.

    A word that several modifiers match is the first of them that names it, else the first whose
    form it has."""

    modifiers: tuple[Modifier, ...] = ()
    scope: int = 4

    def __post_init__(self) -> None:
        expected = 'a list such as [Modifier("never", -0.5)]'
        listed = check_list(self.modifiers, "`modifiers`", expected)
        if not all(isinstance(modifier, Modifier) for modifier in listed):
            raise InputError(f"`modifiers` must be {expected}, not {shorten(self.modifiers)}.")
        if len({modifier.word for modifier in listed}) < len(listed):
            raise InputError("`modifiers` has a word twice: expected each once.")
        vars(self).update(modifiers=tuple(listed))

    @cached_property
    def _named(self) -> dict[str, int]:
        numbered = enumerate(self.modifiers)
        return {modifier.word: n for n, modifier in numbered if not modifier.is_form}

    @cached_property
    def _forms(self) -> list[tuple[int, Modifier]]:
        return [pair for pair in enumerate(self.modifiers) if pair[1].is_form]

    def number_of(self, word: str) -> int:
        """The number of the modifier that a word is, or -1."""
        if word in self._named:
            return self._named[word]
        return next((n for n, form in self._forms if form.matches(word)), -1)

    def numbers_of(self, words: Iterable[str]) -> list[int]:
        """The same for each of some words."""
        return list(map(self.number_of, words))

    def speaks_through(self, word: str) -> bool:
        """Whether a word is a modifier that mutes, turns or moves votes: it has none of its own."""
        number = self.number_of(word)
        if number < 0:
            return False
        modifier = self.modifiers[number]
        return modifier.factor <= MUTED or modifier.shift != 0

    def attend(self, words: Sequence[Word]) -> tuple[list[int], list[int]]:
        """For each word of a text the number of the modifier that it is, or -1, and the place of
        the modifier that a token which begins with it attends to, or -1 if to itself."""
        numbers = self.numbers_of(word.surface for word in words)
        attended = []
        for place in range(len(words)):
            near = self.in_scope(words, numbers, place)
            attended.append(
                max(near, key=lambda before: self.modifiers[numbers[before]].strength, default=-1)
            )
        return numbers, attended

    def in_scope(self, words: Sequence[Word], numbers: Sequence[int], place: int) -> list[int]:
        """The places of the modifiers that a token which begins at a place may attend to, the
        nearest first."""
        before = range(place - 1, max(place - self.scope, 0) - 1, -1)
        clause = words[place].clause
        return [at for at in before if numbers[at] >= 0 and words[at].clause == clause]
