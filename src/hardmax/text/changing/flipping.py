"""The fewest words of a text without which, or with others in place of which, a model says something else.

A word is taken out wherever it stands in the text. Whatever is told was found by asking the model about the changed
text: first by taking the word that helps most, again and again (of a very long text many at once), and leaving out what
was not needed; then by trying all smaller sets of words, as long as there are not too many.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, islice, product
from math import comb
from typing import Any

import numpy as np

from hardmax._format import pluralize, sanitize_line
from hardmax._validation import InputError, check_int, check_str, shorten
from hardmax.text.explain.account import Label
from hardmax.text.labels import number_of_class
from hardmax.text.spans import JOINT, Span, Units
from hardmax.text.text_model import TextModel
from hardmax.text.wording import format_probability

TRIES = 20_000
_AT_ONCE = 2048  # texts that are asked about together
_MOST_CHARACTERS = 100_000_000  # of the texts that are asked about while words are added one by one


@dataclass(frozen=True)
class Change:
    """A word that goes, wherever it stands, and what comes instead; None: nothing."""

    word: str
    spans: tuple[Span, ...]
    instead: str | None = None

    def __str__(self) -> str:
        return self.word if self.instead is None else f"{self.word} → {self.instead}"


@dataclass(frozen=True, kw_only=True)
class Flip:
    """What was found. Without `changes` nothing was."""

    text: str  # with the changes made
    decided: bool  # whether the text as it was is decided: if not, there is no class to flip from
    before: Label
    after: Label
    probability: float  # of `after`, for the changed text
    probability_before: float  # of `before`, for the text as it was
    changes: tuple[Change, ...]
    smallest: bool  # every set of fewer words was tried; of nothing found: every set there is
    tried: int  # texts that the model was asked about

    @property
    def found(self) -> bool:
        """Whether the answer changes."""
        return bool(self.changes)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self) | {"found": self.found}

    def __str__(self) -> str:
        if not self.decided:
            return "undecided: no class to flip from"
        how = "all that are smaller were tried" if self.smallest else "not all that are smaller were tried"
        if not self.found:
            return f"{sanitize_line(self.before)}, whatever was tried ({pluralize(self.tried, 'text')})"
        words = ", ".join(sanitize_line(str(change)) for change in self.changes)
        after = f"{sanitize_line(self.after)} ({format_probability(self.probability)})"
        return f"{sanitize_line(self.before)} → {after} by {pluralize(len(self.changes), 'word')}: {words}; {how}"


def flip(
    model: TextModel, text: str, *, instead: Sequence[str] | None = None, to: Any = None, tries: int = TRIES
) -> Flip:
    """The fewest words to take out, or to replace by one of `instead`, for another answer, or for the answer `to`.

    The changed text is decided; a text that is undecided has no class to flip from. At most about `tries` changed texts
    are asked about to show that no fewer words do it.
    """
    text, tries = check_str(text, "`text`"), check_int(tries, "`tries`", at_least=1)
    asked = _Asked.of(model, text, None if instead is None else _read_words(instead), to)
    if not asked.decided:
        asked.words.clear()
    found = asked.greedily(tries)
    most = len(asked.words) if found is None else len(found) - 1
    smaller = asked.all_up_to(most, tries)
    best = smaller.found if smaller.found is not None else found
    changes = tuple(sorted(best or (), key=lambda change: change.spans))
    changed = _changed(text, changes)
    now = model.analyse([changed])
    after = int(model.predicted(now)[0])
    return Flip(
        text=changed,
        decided=asked.decided,
        before=model.classes[asked.before],
        after=model.classes[after],
        probability=float(now.probabilities[0, after]),
        probability_before=asked.probability,
        changes=changes,
        smallest=smaller.complete or smaller.found is not None,
        tried=asked.count,
    )


@dataclass(frozen=True)
class _Smaller:
    """What trying all sets up to a size came to."""

    found: tuple[Change, ...] | None
    complete: bool


@dataclass(eq=False)
class _Asked:
    """A text, its words, and what the model says of changed ones."""

    model: TextModel
    text: str
    before: int
    decided: bool
    probability: float
    goal: int | None  # the class that is wanted; None: any other
    words: list[list[Change]]  # for each word what can be done with it
    count: int = 0

    @classmethod
    def of(cls, model: TextModel, text: str, instead: tuple[str, ...] | None, to: Any) -> "_Asked":
        found = model.analyse([text])
        before, decided = int(model.predicted(found)[0]), bool(found.decided[0])
        goal = None
        if to is not None:
            goal = number_of_class(to, model.classes, "`to`")
            if decided and goal == before:
                raise InputError(
                    f"`to` is {shorten(to)}, which is the answer: expected another class.", argument="`to`"
                )
        units, others = Units.of(text, model.tokeniser), (None,) if instead is None else instead
        words = [
            [Change(word, spans, other) for other in others if other != word]
            for word, spans in zip(units.words, units.places, strict=True)
        ]
        probability = float(found.probabilities[0, before])
        return cls(model, text, before, decided, probability, goal, [options for options in words if options])

    def greedily(self, tries: int) -> tuple[Change, ...] | None:
        """A set that changes the answer, made by adding what helps most, and leaving out what is not needed; of a text
        with very many words, by adding many at once."""
        taken: list[Change] = []
        left = list(self.words)
        most = min(tries, _MOST_CHARACTERS // max(len(self.text), 1))
        while left:
            options = [change for options in left for change in options]
            towards = self._towards([(*taken, change) for change in options])
            best = int(towards.argmax())
            if towards[best] > 0:
                return self._needed([*taken, options[best]])
            if self.count + len(options) > most:
                helps = towards > self._towards([tuple(taken)])[0]
                return self._at_once(taken, [options[n] for n in np.argsort(-towards, kind="stable") if helps[n]])
            taken.append(options[best])
            left = [each for each in left if each[0].word != options[best].word]
        return None

    def _at_once(self, taken: list[Change], ranked: list[Change]) -> tuple[Change, ...] | None:
        """As many of the changes that help, in this order and one for each word, as are enough, found by halving."""
        more = list({change.word: change for change in reversed(ranked)}.values())[::-1]
        few, enough = 0, len(more)
        if self._towards([(*taken, *more)])[0] <= 0:
            return None
        while few + 1 < enough:
            half = (few + enough) // 2
            few, enough = (few, half) if self._towards([(*taken, *more[:half])])[0] > 0 else (half, enough)
        return self._needed([*taken, *more[:enough]])

    def all_up_to(self, most: int, tries: int) -> _Smaller:
        """All sets of 1, 2, … words, up to `most`, as long as all of a size can be tried."""
        options = max((len(each) for each in self.words), default=0)
        for size in range(1, most + 1):
            many = comb(len(self.words), size) * options**size
            if many > tries:
                return _Smaller(None, complete=False)
            tries -= many
            for several in _batches(self._sets(size)):
                flips = np.flatnonzero(self._towards(several) > 0)
                if len(flips):
                    return _Smaller(several[int(flips[0])], complete=True)
        return _Smaller(None, complete=True)

    def _sets(self, size: int) -> Iterator[tuple[Change, ...]]:
        for words in combinations(self.words, size):
            yield from product(*words)

    def _needed(self, taken: list[Change]) -> tuple[Change, ...]:
        """Without those that the answer changes without, the first taken asked first."""
        for change in list(taken):
            fewer = [each for each in taken if each is not change]
            if fewer and self._towards([tuple(fewer)])[0] > 0:
                taken = fewer
        return tuple(taken)

    def _towards(self, sets: Sequence[tuple[Change, ...]]) -> np.ndarray:
        """For each set of changes how far it goes: above 0 the answer is another, below it is that much too little.

        An undecided text is no answer.
        """
        several = [[_changed(self.text, changes) for changes in some] for some in _batches(sets)]
        found = [self.model.analyse(texts) for texts in several]
        chances = np.concatenate([part.probabilities for part in found])
        decided = np.concatenate([part.decided for part in found])
        self.count += len(sets)
        if self.goal is None:
            gap = np.delete(chances, self.before, axis=1).max(axis=1) - chances[:, self.before]
        else:
            gap = chances[:, self.goal] - np.delete(chances, self.goal, axis=1).max(axis=1)
        return np.where(decided & (gap > 0), 1.0 + gap, np.minimum(gap, 0.0))


def _batches(sets: Iterable[tuple[Change, ...]]) -> Iterator[list[tuple[Change, ...]]]:
    each = iter(sets)
    while several := list(islice(each, _AT_ONCE)):
        yield several


def _changed(text: str, changes: Iterable[Change]) -> str:
    """The text with the changes made."""
    edits = sorted((span, change.instead) for change in changes for span in change.spans)
    parts, at = [], 0
    for (start, end), instead in edits:
        parts += [text[at:start], JOINT if instead is None else instead]
        at = end
    return "".join([*parts, text[at:]])


def _read_words(instead: Any) -> tuple[str, ...]:
    if isinstance(instead, str) or not isinstance(instead, Sequence) or not instead:
        raise InputError(f"`instead` must be a list of words, not {shorten(instead)}.", argument="`instead`")
    return tuple(dict.fromkeys(check_str(word, "`instead` (each)") for word in instead))
