"""Two models side by side: which answers change, and which words are why."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hardmax._format import pluralize, sanitize_line
from hardmax._validation import InputError, check_instance, shorten
from hardmax.text._texts import read_texts
from hardmax.text.explain.account import Label
from hardmax.text.explain.explaining import explain
from hardmax.text.text_model import TextModel
from hardmax.text.wording import format_probability

_MOST_SHOWN, _MOST_WORDS = 10, 5


@dataclass(frozen=True)
class Moved:
    """A word whose vote is not the same."""

    word: str
    before: float  # what it added to the logit, or 0
    after: float


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A text of which the second model says something else."""

    row: int
    text: str
    before: Label
    after: Label
    decided_before: bool
    decided_after: bool
    probability_before: float  # of the answer that was given
    probability_after: float
    words: tuple[Moved, ...]  # the largest changes of votes first

    def __str__(self) -> str:
        moved = ", ".join(f"{sanitize_line(w.word)} {w.before:+.2f} → {w.after:+.2f}" for w in self.words[:_MOST_WORDS])
        before, after = (
            f"{sanitize_line(label)} {format_probability(p)}" if decided else "undecided"
            for label, p, decided in (
                (self.before, self.probability_before, self.decided_before),
                (self.after, self.probability_after, self.decided_after),
            )
        )
        return f"text {self.row}: {before} → {after}; {moved or 'no vote of a word is another'}"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What became of some texts."""

    texts: int
    changed: tuple[Changed, ...]
    mean_difference: float  # between the probabilities of the first model's answers, in the mean

    @property
    def share(self) -> float:
        """The share of the texts of which something else is said."""
        return len(self.changed) / self.texts

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self) | {"share": self.share}

    def __str__(self) -> str:
        head = f"{pluralize(self.texts, 'text')}, {len(self.changed):,} with another answer ({100 * self.share:.1f} %)"
        more = [f"… and {len(self.changed) - _MOST_SHOWN:,} more"] * (len(self.changed) > _MOST_SHOWN)
        return "\n".join([head, *map(str, self.changed[:_MOST_SHOWN]), *more])

    __repr__ = __str__


def compare(model: TextModel, other: TextModel, texts: Any) -> Comparison:
    """Which of the texts another model answers otherwise, and which words are why. "Undecided" is an answer."""
    for one, name in ((model, "`model`"), (other, "`other`")):
        check_instance(one, TextModel, name, "a TextModel")
    if model.classes != other.classes:
        raise InputError(f"`other` has the classes {shorten(other.classes)}: expected {shorten(model.classes)}.")
    given = read_texts(texts).strings()
    if not given:
        raise InputError("`texts` must be at least one text, in UTF-8.")
    before, after = model.analyse(given), other.analyse(given)
    rows, labels = np.arange(len(given)), model.predicted(before)
    changed = np.flatnonzero(before.answers != after.answers)
    differences = np.abs(before.probabilities - after.probabilities)[rows, labels]
    return Comparison(
        texts=len(given),
        changed=tuple(_changed(model, other, given, row) for row in changed.tolist()),
        mean_difference=float(differences.mean()),
    )


def _changed(first: TextModel, second: TextModel, texts: Sequence[str], row: int) -> Changed:
    before, after = explain(first, texts[row]), explain(second, texts[row])
    # With more than two classes each account is of the logit of its own answer.
    votes = [{vote.word: vote.vote for vote in one.counting} for one in (before, after)]
    moved = [Moved(word, *(own.get(word, 0.0) for own in votes)) for word in dict.fromkeys([*votes[0], *votes[1]])]
    return Changed(
        row=row,
        text=texts[row],
        before=before.label,
        after=after.label,
        decided_before=before.decided,
        decided_after=after.decided,
        probability_before=before.probability,
        probability_after=after.probability,
        words=tuple(sorted((w for w in moved if w.before != w.after), key=lambda w: -abs(w.after - w.before))),
    )
