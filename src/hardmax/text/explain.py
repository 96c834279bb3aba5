"""Explanations: the votes of the tokens of a text, which add up to its logit, and what each attends
to."""

from dataclasses import dataclass, field, fields
from itertools import repeat
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.files import write_whole
from hardmax._common.format import escape_json, format_probability
from hardmax._common.validation import InputError, check_path
from hardmax.text._analysis import Analysis, predicted_classes, weigh_text
from hardmax.text._characters import fold
from hardmax.text.encoding import Read
from hardmax.text.spans import Units
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import cut_surface

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.console import RenderableType

Label = str | int | float | bool
LENGTHS = "training_lengths"
"""Where `TextModel.metrics` has the 1 % and 99 % quantiles of the lengths of training texts, in
characters."""
_MOST_CHARACTERS = 50_000_000  # read again to rank removals: a second or two
_MOSTLY_UNKNOWN = (
    0.2  # if known tokens cover less of a text, a note says so; of 500 IMDb reviews, 0.4 % have one
)


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """What one token of a text adds to its logit."""

    word: str
    """A word or a phrase."""
    count: int
    """How often the text has it."""
    places: np.ndarray = field(repr=False, compare=False)
    """`spans` as an array (count, 2)."""
    weight: float
    """What it would add on its own, without the words that modify it."""
    modifiers: tuple[str, ...]
    """The words of the text that it attends to, in order; none if it attends to itself
    everywhere."""
    factor: float
    """What these multiply its vote by, the mean over its places."""
    vote: float
    """What it adds to the logit."""
    active: bool
    """Whether its vote is large enough to count."""
    leads: bool
    """Whether it is a leader: in the limit of the cloud of votes, it stays where it is."""
    leader: str | None
    """The leader at which it ends in that limit, itself if it leads; None if it is not active, or
    ends between."""
    side: int = field(repr=False)
    """The number of the class that it counts towards: the label, if it adds to its logit."""

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where it is: `text[start:end]`."""
        return tuple(zip(*self.places.T.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        own = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.name not in ("places", "side")
        }
        return own | {"spans": self.spans}


class Link(NamedTuple):
    """A place of a token that attends to a modifier."""

    word: str
    """The token."""
    span: tuple[int, int]
    """Where it is: `text[start:end]`."""
    modifier: str
    """The modifier, as it stands in the text, in lower case."""
    modifier_span: tuple[int, int]
    """Where that is."""
    factor: float
    """What it multiplies the vote by."""


@dataclass(frozen=True)
class Removal:
    """A word of a text and what is lost with it, those before it in `Explanation.removals` being
    gone."""

    word: str
    """The word, in lower case."""
    spans: tuple[tuple[int, int], ...]
    """Where it is: `text[start:end]`."""
    score: float
    """What words are ranked by: a third of `loss`, two thirds of what the word adds to an empty
    text."""
    loss: float
    """By how much the lead of the label, in logits, falls; nan in a text too long to be read again
    for every word."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Explanation:
    """Why a model gives a text its label: `bias` and the votes of the `ledger` add up to the
    `logit`.

    It shows itself in a notebook and is printed as a table. Arrays have the known tokens in the
    order in which they appear.

    Examples
    --------
    >>> from hardmax import load_model
    >>> why = load_model("sentiment-en").explain("It never gets boring.")
    >>> [(link.word, link.modifier) for link in why.links if link.word == "boring"]
    [('boring', 'never')]
    >>> bool(np.isclose(why.bias + sum(entry.vote for entry in why.ledger), why.logit))
    True
    """

    text: str
    """The text that is explained."""
    model: TextModel = field(repr=False)
    """The model that classified it."""
    found: Analysis
    """Tokens, votes and logits of this text alone."""
    read: Read = field(repr=False)
    """Where the tokens are in it, and what they attend to."""

    # ---------------------------------------------------------------- the answer

    @property
    def label(self) -> Label:
        """The class that `predict` gives: the most probable, or, if the text is undecided, the most
        frequent."""
        return self.model.classes[self._best]

    @property
    def decided(self) -> bool:
        """Whether a token is active and one class is ahead; if not, the label is a mere default."""
        return bool(self.found.decided[0])

    @property
    def answer(self) -> str:
        """The label and its probability, or "undecided"."""
        return (
            f"{self.label} {format_probability(self.probability)}" if self.decided else "undecided"
        )

    @property
    def probability(self) -> float:
        """Probability of the label."""
        return float(self.found.probabilities[0, self._best])

    @property
    def probabilities(self) -> dict[Label, float]:
        """Probability of each class."""
        return dict(zip(self.model.classes, self.found.probabilities[0].tolist(), strict=True))

    @property
    def towards(self) -> Label:
        """The class that positive votes count towards: the second of two classes, else the label
        itself."""
        return self.model.classes[1 if len(self.model.bias) == 1 else self._best]

    @property
    def logit(self) -> float:
        """The score of that class."""
        return float(self.found.logits[0, self._row])

    @property
    def bias(self) -> float:
        """The score of a text without known tokens."""
        return float(self.model.voting.bias[self._row])

    @property
    def known(self) -> int:
        """How many distinct tokens of the text the model knows."""
        return len(self.found.ids)

    @property
    def undecided_because(self) -> str:
        """Why the text is undecided; empty if it is decided."""
        if self.decided:
            return ""
        if not self.known:
            return "the model knows no word of this text"
        return (
            "several classes have the same score"
            if self.active
            else "none of the known tokens is active"
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Reasons to trust the answer less: a text unlike those of training, or of mostly unknown
        words."""
        if not self.known:
            return ()
        notes, size = [], len(self.text)
        shortest, longest = self.model.metrics.get(LENGTHS) or (0, size)
        if not shortest <= size <= longest:
            unlike = "shorter" if size < shortest else "longer"
            notes.append(
                f"The text has {size:,} characters: it is {unlike} than 99 % of the training texts."
            )
        begins, ends = np.concatenate(self.read.places).T
        depth = np.cumsum(
            np.bincount(begins, minlength=size + 1) - np.bincount(ends, minlength=size + 1)
        )
        if (covered := np.count_nonzero(depth) / size) < _MOSTLY_UNKNOWN:
            notes.append(
                f"Most words are unknown: known tokens cover {100 * covered:.0f} % of the text."
            )
        return tuple(notes)

    # ---------------------------------------------------------------- the ledger

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The tokens, in the order of all arrays."""
        surfaces = self.model.vocabulary.surfaces
        return tuple(surfaces[token] for token in self.found.ids.tolist())

    @cached_property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """Every known token, the largest votes first."""
        found, size = self.found, len(self.found.ids) + self.model.neutral_weight
        columns = (
            found.counts,
            found.weights[:, self._row] / size,
            found.factors,
            found.votes[:, self._row],
        )
        numbers = zip(
            *(c.tolist() for c in (*columns, found.active, found.leads, found.follows)), strict=True
        )
        entries = [
            LedgerEntry(
                word=self.words[t],
                places=self.read.places[t],
                count=count,
                weight=weight,
                modifiers=self._modifiers(t),
                factor=factor,
                vote=vote,
                active=active,
                leads=leads,
                leader=self.words[leader] if leader >= 0 else None,
                side=self._side(t),
            )
            for t, (count, weight, factor, vote, active, leads, leader) in enumerate(numbers)
        ]
        return tuple(sorted(entries, key=lambda entry: (-abs(entry.vote), -abs(entry.weight))))

    @cached_property
    def active(self) -> tuple[LedgerEntry, ...]:
        """The tokens that have an effect, the largest votes first."""
        return tuple(entry for entry in self.ledger if entry.active)

    @cached_property
    def leaders(self) -> tuple[LedgerEntry, ...]:
        """The tokens that lead, the largest votes first: a summary of the votes, not their cause.

        They are the exact limit of the cloud of the votes: of two classes the strongest token of
        each."""
        return tuple(entry for entry in self.ledger if entry.leads)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Which token attends to which modifier, in the order of the text."""
        factors, found = np.array([modifier.factor for modifier in self.model.modifiers]), []
        for word, places, attended in zip(
            self.words, self.read.places, self.read.attended, strict=True
        ):
            modified = attended[:, 2] >= 0
            spans = list(map(tuple, attended[modified, :2].tolist()))
            own, numbers = map(tuple, places[modified].tolist()), attended[modified, 2]
            found += map(
                Link, repeat(word), own, self._words_at(spans), spans, factors[numbers].tolist()
            )
        return tuple(sorted(found, key=attrgetter("span", "word")))

    def _words_at(self, spans: list[tuple[int, int]]) -> list[str]:
        spelt = [self.text[start:end] for start, end in spans]
        folded = {word: fold(word) for word in set(spelt)}  # which takes longer than to look it up
        return [folded[word] for word in spelt]

    def _modifiers(self, token: int) -> tuple[str, ...]:
        attended = self.read.attended[token]
        return tuple(dict.fromkeys(self._words_at(attended[attended[:, 2] >= 0, :2].tolist())))

    def _side(self, token: int) -> int:
        votes = self.found.votes[token]
        if len(votes) == 1:
            return int(votes[0] > 0)
        return self._best if votes[self._best] > 0 else int(votes.argmax())

    @cached_property
    def removals(self) -> tuple[Removal, ...]:
        """The words of known tokens in the order in which to remove them: each time the one that
        costs the label most, and adds most to it on its own; those against the label come last. A
        word is removed wherever it occurs."""
        units = Units.of(self.text, self.model.tokeniser)
        tokens = {token.surface for token in self.model.tokeniser.tokens(self.text)}
        known = {
            word
            for token in tokens & self.model.vocabulary.index.keys()
            for word in cut_surface(token)
        }
        attended = {word for entry in self.ledger for word in entry.modifiers}
        left = np.flatnonzero([word in known or word in attended for word in units.words])
        alone = np.zeros(len(units))
        alone[left] = self._leads([units.words[word] for word in left]) - self._leads([""])
        lead, gone, read, found = self._leads([self.text])[0], list[int](), 0, list[Removal]()
        while len(left):
            read += len(left) * len(self.text)
            losses = np.full(len(left), np.nan)
            if read <= _MOST_CHARACTERS:
                losses = lead - self._leads(
                    [units.without([*gone, word]) for word in left.tolist()]
                )
            scores = np.nan_to_num(losses) / 3 + 2 / 3 * alone[left]
            order = np.argsort(-scores, kind="stable")
            if scores[order[0]] > 0 and read <= _MOST_CHARACTERS:
                order = order[:1]
            for n in order.tolist():
                found.append(
                    Removal(
                        units.words[left[n]],
                        units.places[left[n]],
                        float(scores[n]),
                        float(losses[n]),
                    )
                )
            gone.append(int(left[order[0]]))
            lead -= losses[order[0]]
            left = np.delete(left, order)
        return tuple(found)

    def _leads(self, texts: list[str]) -> np.ndarray:
        """The logit of the label less that of the second most probable class, for each text."""
        logits = self.model.decision_function(texts)
        if logits.ndim == 1:
            return logits if self._best else -logits
        others = np.where(
            np.arange(len(self.model.classes)) == self._best, -1.0, self.found.probabilities[0]
        )
        return logits[:, self._best] - logits[:, others.argmax()]

    @property
    def model_hash(self) -> str:
        """SHA-256 of the model: in its folder, `sha256sum config.json model.safetensors
        vocabulary.txt | sha256sum`."""
        return digest(self.model)

    # ---------------------------------------------------------------- how it is shown

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "text": self.text,
            "model": self.model.name,
            "label": self.label,
            "decided": self.decided,
            "notes": self.notes,
            "probability": self.probability,
            "probabilities": [
                {"label": label, "probability": p} for label, p in self.probabilities.items()
            ],
            "towards": self.towards,
            "logit": self.logit,
            "bias": self.bias,
            "known": self.known,
            "attention": [link._asdict() for link in self.links],
            "leaders": [entry.word for entry in self.leaders],
            "ledger": [entry.to_dict() for entry in self.ledger],
        }

    def save(self, path: str | Path) -> None:
        """Write the explanation, whole or not at all.

        Parameters
        ----------
        path : str or Path
            A file that ends in `.html`, `.json` or `.txt`. The page has the text and the model in
            it: words can be crossed out and other texts be tried, and without scripts the
            explanation can be read.
        """
        path = check_path(path)
        suffix = path.suffix.lower()
        if suffix in (".html", ".htm"):
            from hardmax.text.page import (
                write_explanation,  # most explanations are read in a terminal
            )

            write_explanation(self, path)
        elif suffix == ".json":
            write_whole(path, f"{escape_json(self.to_dict(), indent=1)}\n".encode())
        elif suffix == ".txt":
            write_whole(path, f"{self}\n".encode())
        else:
            raise InputError(f"`path` has the suffix {suffix!r}: expected .html, .json or .txt.")

    def draw(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the votes of the active tokens as bars, and what they attend to (extra `figures`).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure if omitted.

        Returns
        -------
        matplotlib.axes.Axes
            The axes that were drawn on.
        """
        if not self.words:
            raise InputError("There is nothing to draw: the model knows no word of this text.")
        from hardmax.figures.text_plot import plot_text

        return plot_text(self, ax)

    def __str__(self) -> str:
        from hardmax.text.view import plain

        return plain(self)

    __repr__ = __str__

    def __rich__(self) -> "RenderableType":
        from hardmax.text.view import colored

        return colored(self)

    def _repr_html_(self) -> str:
        from hardmax.text.page import fragment

        return fragment(self)

    @cached_property
    def _best(self) -> int:
        return int(predicted_classes(self.model, self.found)[0])

    @property
    def _row(self) -> int:
        """The row of votes that `logit` and the ledger are about."""
        return 0 if len(self.model.bias) == 1 else self._best


def explain(model: TextModel, text: str) -> Explanation:
    """Explain the label of a text; the numbers are those of `predict_proba`, bit for bit."""
    read, found = weigh_text(model, text)
    return Explanation(text=text, model=model, found=found, read=read)
