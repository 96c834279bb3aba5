"""Counterfactuals: the fewest words of a text to remove, or to replace, for another label.

A word is changed wherever it occurs in the text. Everything that is reported was found by
classifying the changed text: first by taking the word that helps most, again and again, and leaving
out what was not needed; then by trying all smaller sets of words, as long as there are not too
many. Where no set of words gives another label, the same search finds the fewest without which the
text is undecided."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, combinations, product
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.format import format_probability, pluralize, sanitize_line
from hardmax._common.validation import InputError, check_str, shorten
from hardmax.text._characters import fold
from hardmax.text._texts import number_of_class, read_words
from hardmax.text.explain import Label
from hardmax.text.tokeniser import JOINT, Span, cut_words, places_of, replace_spans

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

MARGIN = 1e-6
"""By which the new label must lead in probability: a flip does not land on a tie, nor on a rounding
error."""
_MOST_TRIED = 20_000  # sets of words, to prove that none is smaller
_AT_ONCE = 2048  # texts that are classified together
_ONE_BY_ONE = 8  # words; this many times more are taken at once where more are needed


@dataclass(frozen=True)
class Change:
    """A word that is removed or replaced, wherever it occurs."""

    word: str
    """The word, in lower case."""
    spans: tuple[Span, ...]
    """Where it is: `text[start:end]`."""
    replacement: str | None = None
    """The word that takes its place; None if it is removed."""

    def __str__(self) -> str:
        return self.word if self.replacement is None else f"{self.word} → {self.replacement}"


@dataclass(frozen=True, kw_only=True)
class Flip:
    """A counterfactual of a text, or that none was found: `changes` is empty, or leaves a text that
    is undecided (`lost`)."""

    text: str
    """The text with the changes made; ⋯ stands for removed words, so that those around them form no
    phrase."""
    decided: bool
    """Whether the original text is decided; if not, there is no label to flip."""
    before: Label
    """The label of the original text."""
    after: Label
    """The label of the changed text; a mere default if it is lost."""
    lost: bool
    """Whether no words were found that give another label, and without these no label is left: the
    changed text is undecided."""
    probability: float
    """Probability of `after`, for the changed text."""
    probability_before: float
    """Probability of `before`, for the original text."""
    changes: tuple[Change, ...]
    """The words that change, in the order of the text."""
    proved_smallest: bool
    """Whether every smaller set of words was tried; if none gives another label, every set."""
    evaluations: int
    """How many changed texts were classified."""

    @property
    def found(self) -> bool:
        """Whether the label becomes another one."""
        return bool(self.changes) and not self.lost

    @property
    def verdict(self) -> str:
        """Whether a smaller set of words may exist."""
        tried = f"{pluralize(self.evaluations, 'variant')} tried"
        if self.found:
            verdict = "proved smallest" if self.proved_smallest else "smallest found, not proved"
            return f"{verdict} ({tried})"
        nothing = "no set of words" if self.proved_smallest else "nothing tried"
        return f"{nothing} gives another label ({tried})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self) | {"found": self.found}

    def __str__(self) -> str:
        if not self.decided:
            return "undecided: there is no label to flip"
        before = f"{sanitize_line(self.before)} {format_probability(self.probability_before)}"
        if not self.changes:
            return f"{before}: {self.verdict}"
        words = ", ".join(sanitize_line(change) for change in self.changes)
        how = "without" if self.changes[0].replacement is None else "replacing"
        after = f"{sanitize_line(self.after)} {format_probability(self.probability)}"
        after = "undecided" if self.lost else after
        count = pluralize(len(self.changes), "word")
        return f"{before} → {after} {how} {count}: {words}; {self.verdict}"


def flip(
    model: "TextModel",
    text: str,
    replacements: Sequence[str] | None,
    to: Label | None,
    protected: Sequence[str],
) -> Flip:
    """Find the fewest words to remove, or to replace, for another label; see `TextModel.flip`."""
    text = check_str(text, "`text`")
    instead = (None,) if replacements is None else read_words(replacements, "`replacements`")
    if not instead:
        raise InputError(f"`replacements` must be a list of words, not {shorten(replacements)}.")
    staying = read_words(protected, "`protected`")
    analysis = model.analyse([text])
    before, decided = int(analysis.predicted[0]), bool(analysis.decided[0])
    goal = None if to is None else number_of_class(to, model.classes, "`to`")
    if decided and goal == before:
        problem = f"`to` is {shorten(to)}, which is the label now: name another class."
        raise InputError(problem)
    options = _options(text, instead, staying)
    search = _Search(model, text, before, goal, options if decided else [])
    fewest, proved = search.fewest()
    if not fewest:
        search.may_lose = True
        fewest, _ = search.fewest()
    changes = tuple(sorted(fewest, key=lambda change: change.spans))
    changed = _changed(text, changes)
    now = model.analyse([changed])
    after = int(now.predicted[0])
    return Flip(
        text=changed,
        decided=decided,
        before=model.classes[before],
        after=model.classes[after],
        lost=search.may_lose and bool(changes),
        probability=float(now.probabilities[0, after]),
        probability_before=float(analysis.probabilities[0, before]),
        changes=changes,
        proved_smallest=proved,
        evaluations=search.count,
    )


def _options(
    text: str, instead: Sequence[str | None], protected: Sequence[str]
) -> list[list[Change]]:
    """For each word that may be changed what can be done with it."""
    places, staying = places_of(cut_words(text)), set[str]()
    for token in protected:
        words = {word.surface for word in cut_words(token)}
        if places.keys().isdisjoint(words):
            problem = f"`protected` has {shorten(token)}, which is not in the text."
            raise InputError(problem)
        staying |= words
    options = []
    for word, spans in places.items():
        others = [other for other in instead if other is None or fold(other) != word]
        if others and word not in staying:
            options.append([Change(word, tuple(spans), other) for other in others])
    return options


@dataclass(eq=False)
class _Search:
    """A text, its words, and how changed texts are classified."""

    model: "TextModel"
    text: str
    before: int  # the class of the text
    goal: int | None  # the class that is wanted; None: any other
    words: list[list[Change]]  # for each word what can be done with it
    may_lose: bool = False  # whether it is enough that the text is undecided
    count: int = 0

    def fewest(self) -> tuple[tuple[Change, ...], bool]:
        """The smallest set that was found, or an empty one; whether all smaller sets were tried."""
        flipping = self.greedily()
        largest = len(self.words) if flipping is None else len(flipping) - 1
        smaller, proved = self.all_up_to(largest)
        return smaller or flipping or (), proved

    def greedily(self) -> tuple[Change, ...] | None:
        """A set that changes the label, made by adding what helps most, and leaving out what is not
        needed."""
        taken: list[Change] = []
        left = list(self.words)
        while left:
            options = list(chain.from_iterable(left))
            leads = self._leads([(*taken, change) for change in options])
            best = [options[n] for n in np.argsort(-leads, kind="stable").tolist()]
            if leads.max() > 0:
                return self._needed([*taken, best[0]])
            one_for_each = {change.word: change for change in reversed(best)}
            most = max(1, min(1 + len(taken) // _ONE_BY_ONE, len(left) // 2))
            more = list(reversed(one_for_each.values()))[:most]
            taken += more
            left = [changes for changes in left if changes[0].word not in {m.word for m in more}]
        return None

    def all_up_to(self, most: int) -> tuple[tuple[Change, ...] | None, bool]:
        """The first set that changes the label of all sets of 1, 2, … words, up to `most`; whether
        all were tried."""
        options = max(map(len, self.words), default=0)
        tried = 0
        for size in range(1, most + 1):
            tried += comb(len(self.words), size) * options**size
            if tried > _MOST_TRIED:
                return None, False
            chosen = combinations(self.words, size)
            sets = list(chain.from_iterable(product(*words) for words in chosen))
            flips = np.flatnonzero(self._leads(sets) > 0)
            if len(flips):
                return sets[int(flips[0])], True
        return None, True

    def _needed(self, taken: list[Change]) -> tuple[Change, ...]:
        """Without those that are not needed, the first taken asked first."""
        for change in list(taken):
            fewer = [kept for kept in taken if kept is not change]
            if fewer and self._leads([fewer])[0] > 0:
                taken = fewer
        return tuple(taken)

    def _leads(self, sets: Sequence[Sequence[Change]]) -> np.ndarray:
        """For each set of changes by how much the label is another: more than 0, or so much is
        missing."""
        if len(sets) > _AT_ONCE:
            parts = self._leads(sets[:_AT_ONCE]), self._leads(sets[_AT_ONCE:])
            return np.concatenate(parts)
        found = self.model.analyse([_changed(self.text, changes) for changes in sets])
        self.count += len(sets)
        chosen, chances = self.before if self.goal is None else self.goal, found.probabilities
        lead = chances[:, chosen] - np.delete(chances, chosen, axis=1).max(axis=1)
        if self.goal is None:
            lead = -lead
        undecided = np.ones(len(sets)) if self.may_lose else np.minimum(lead, 0.0)
        return np.where(found.decided, lead, undecided) - MARGIN


def _changed(text: str, changes: Iterable[Change]) -> str:
    """The text with the changes made."""
    edits = []
    for change in changes:
        other = JOINT if change.replacement is None else change.replacement
        edits += [(span, other) for span in change.spans]
    return replace_spans(text, edits)
