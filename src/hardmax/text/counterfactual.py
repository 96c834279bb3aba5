"""Counterfactuals: the fewest words of a text to remove, or to replace, for another label.

A word is changed wherever it occurs in the text. Everything that is reported was found by
classifying the changed text: first by taking the word that helps most, again and again (of a very
long text many at once), and leaving out what was not needed; then by trying all smaller sets of
words, as long as there are not too many."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, combinations, islice, product
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.format import format_probability, pluralize, sanitize_line
from hardmax._common.validation import InputError, check_int, check_list, check_str, shorten
from hardmax.text._characters import fold
from hardmax.text._texts import number_of_class
from hardmax.text.explain import Label
from hardmax.text.tokeniser import Span, cut_words, places_of

if TYPE_CHECKING:
    from hardmax.text.text_model import TextModel

# In the place of a word that is removed, since no model knows it: no phrase arises that nobody
# wrote, and words attend as before.
JOINT = "⋯"
MAX_EVALUATIONS = 20_000
MARGIN = 1e-6
"""By which the new label must lead in probability: a flip does not land on a tie, nor on a rounding
error."""
_AT_ONCE = 2048  # texts that are classified together
_MOST_CHARACTERS = 100_000_000  # of the texts that are classified while words are added one by one


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
    """A counterfactual of a text, or that none was found (`changes` is empty)."""

    text: str
    """The text with the changes made; ⋯ stands for removed words, so that those around them form no
    phrase."""
    decided: bool
    """Whether the original text is decided; if not, there is no label to flip."""
    before: Label
    """The label of the original text."""
    after: Label
    """The label of the changed text."""
    probability: float
    """Probability of `after`, for the changed text."""
    probability_before: float
    """Probability of `before`, for the original text."""
    changes: tuple[Change, ...]
    """The words that change, in the order of the text."""
    proved_smallest: bool
    """Whether every smaller set of words was tried; if nothing was found, every set."""
    evaluations: int
    """How many changed texts were classified."""
    undecided: int = field(default=0)
    """How many of these were undecided, without the old label or a new one. They do not count as
    flips."""

    @property
    def found(self) -> bool:
        """Whether the label changes."""
        return bool(self.changes)

    @property
    def verdict(self) -> str:
        """Whether a smaller set of words may exist."""
        tried = f"{pluralize(self.evaluations, 'variant')} tried"
        if self.undecided:
            tried += f", {self.undecided:,} of them undecided"
        if self.found:
            verdict = "proved smallest" if self.proved_smallest else "smallest found, not proved"
            return f"{verdict} ({tried})"
        whole = "no set of words changes it"
        return f"{whole if self.proved_smallest else 'nothing tried changes it'} ({tried})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self) | {"found": self.found}

    def __str__(self) -> str:
        if not self.decided:
            return "undecided: there is no label to flip"
        before = f"{sanitize_line(self.before)} {format_probability(self.probability_before)}"
        if not self.found:
            return f"{before}: {self.verdict}"
        words = ", ".join(sanitize_line(change) for change in self.changes)
        how = "without" if self.changes[0].replacement is None else "replacing"
        after = f"{sanitize_line(self.after)} {format_probability(self.probability)}"
        count = pluralize(len(self.changes), "word")
        return f"{before} → {after} {how} {count}: {words}; {self.verdict}"

    def _repr_html_(self) -> str:
        from hardmax.figures.cards import table_card

        rows = [["word", "becomes", "places"]]
        for change in self.changes:
            instead = "(removed)" if change.replacement is None else change.replacement
            rows.append([change.word, instead, str(len(change.spans))])
        return table_card(self, rows if self.found else [[]], facts=str(self), note=self.text)


def flip(
    model: "TextModel",
    text: str,
    replacements: Sequence[str] | None,
    to: Label | None,
    protected: Sequence[str],
    max_evaluations: int,
) -> Flip:
    """Find the fewest words to remove, or to replace, for another label; see `TextModel.flip`."""
    text = check_str(text, "`text`")
    most = check_int(max_evaluations, "`max_evaluations`", at_least=1)
    instead = (None,) if replacements is None else _read_words(replacements, "`replacements`")
    staying = _read_words(protected, "`protected`", may_be_empty=True)
    analysis = model.analyse([text])
    before, decided = int(analysis.predicted[0]), bool(analysis.decided[0])
    goal = None if to is None else number_of_class(to, model.classes, "`to`")
    if decided and goal == before:
        problem = f"`to` is {shorten(to)}, which is the label now: name another class."
        raise InputError(problem)
    options = _options(text, instead, staying)
    search = _Search(model, text, before, goal, options if decided else [])
    flipping = search.greedily(most)
    largest = len(search.words) if flipping is None else len(flipping) - 1
    smaller, proved = search.all_up_to(largest, most)
    changes = tuple(sorted(smaller or flipping or (), key=lambda change: change.spans))
    changed = _changed(text, changes)
    now = model.analyse([changed])
    after = int(now.predicted[0])
    return Flip(
        text=changed,
        decided=decided,
        before=model.classes[before],
        after=model.classes[after],
        probability=float(now.probabilities[0, after]),
        probability_before=float(analysis.probabilities[0, before]),
        changes=changes,
        proved_smallest=proved,
        evaluations=search.count,
        undecided=search.undecided,
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
    count: int = 0
    undecided: int = 0

    def greedily(self, most: int) -> tuple[Change, ...] | None:
        """A set that changes the label, made by adding what helps most, and leaving out what is not
        needed; of a text with very many words, by adding many at once."""
        taken: list[Change] = []
        left = list(self.words)
        most = min(most, _MOST_CHARACTERS // max(len(self.text), 1))
        while left:
            options = list(chain.from_iterable(left))
            leads = self._leads([(*taken, change) for change in options])
            best = int(leads.argmax())
            if leads[best] > 0:
                return self._needed([*taken, options[best]])
            if self.count + len(options) > most:
                helps = leads > self._leads([tuple(taken)])[0]
                order = np.argsort(-leads, kind="stable").tolist()
                return self._at_once(taken, [options[n] for n in order if helps[n]])
            taken.append(options[best])
            left = [changes for changes in left if changes[0].word != options[best].word]
        return None

    def _at_once(self, taken: list[Change], ranked: list[Change]) -> tuple[Change, ...] | None:
        """As many of the changes that help, in this order and one for each word, as are enough,
        found by bisection."""
        more = list({change.word: change for change in reversed(ranked)}.values())[::-1]
        few, enough = 0, len(more)
        if not self._flips((*taken, *more)):
            return None
        while few + 1 < enough:
            half = (few + enough) // 2
            if self._flips((*taken, *more[:half])):
                enough = half
            else:
                few = half
        return self._needed([*taken, *more[:enough]])

    def all_up_to(self, most: int, evaluations: int) -> tuple[tuple[Change, ...] | None, bool]:
        """The first set that changes the label of all sets of 1, 2, … words, up to `most`; whether
        all were tried."""
        options = max(map(len, self.words), default=0)
        for size in range(1, most + 1):
            many = comb(len(self.words), size) * options**size
            if many > evaluations:
                return None, False
            evaluations -= many
            chosen = combinations(self.words, size)
            for sets in _batches(chain.from_iterable(product(*words) for words in chosen)):
                flips = np.flatnonzero(self._leads(sets) > 0)
                if len(flips):
                    return sets[int(flips[0])], True
        return None, True

    def _needed(self, taken: list[Change]) -> tuple[Change, ...]:
        """Without those that are not needed, the first taken asked first."""
        for change in list(taken):
            fewer = [kept for kept in taken if kept is not change]
            if fewer and self._flips(fewer):
                taken = fewer
        return tuple(taken)

    def _flips(self, changes: Sequence[Change]) -> bool:
        return bool(self._leads([tuple(changes)])[0] > 0)

    def _leads(self, sets: Sequence[tuple[Change, ...]]) -> np.ndarray:
        """For each set of changes by how much the label is another: more than 0, or so much is
        missing."""
        parts = []
        for batch in _batches(sets):
            parts.append(self.model.analyse([_changed(self.text, changes) for changes in batch]))
        chances = np.concatenate([part.probabilities for part in parts])
        decided = np.concatenate([part.decided for part in parts])
        self.count += len(sets)
        self.undecided += int((~decided).sum())
        chosen = self.before if self.goal is None else self.goal
        lead = chances[:, chosen] - np.delete(chances, chosen, axis=1).max(axis=1)
        if self.goal is None:
            lead = -lead
        return np.where(decided & (lead > MARGIN), 1.0 + lead, np.minimum(lead, 0.0))


def _batches(sets: Iterable[tuple[Change, ...]]) -> Iterator[list[tuple[Change, ...]]]:
    remaining = iter(sets)
    while batch := list(islice(remaining, _AT_ONCE)):
        yield batch


def _changed(text: str, changes: Iterable[Change]) -> str:
    """The text with the changes made."""
    edits = sorted((span, change.replacement) for change in changes for span in change.spans)
    parts, end_of_last = [], 0
    for (start, end), replacement in edits:
        parts += [text[end_of_last:start], JOINT if replacement is None else replacement]
        end_of_last = end
    return "".join([*parts, text[end_of_last:]])


def _read_words(words: Any, name: str, *, may_be_empty: bool = False) -> tuple[str, ...]:
    listed = check_list(words, name, "a list of words")
    if not (listed or may_be_empty):
        raise InputError(f"{name} must be a list of words, not {shorten(words)}.")
    return tuple(dict.fromkeys(check_str(word, f"{name} (each)") for word in listed))
