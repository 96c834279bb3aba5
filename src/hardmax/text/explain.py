"""Explanations: the votes of the tokens of a text, which add up to its logit, and what each attends
to."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hardmax import figures
from hardmax._common.cached import cached_property
from hardmax._common.files import write_whole
from hardmax._common.format import escape_json, format_probability
from hardmax._common.validation import InputError, check_path, shorten
from hardmax.text import page, view
from hardmax.text._analysis import LENGTHS, Analysis, weigh_text
from hardmax.text._characters import fold
from hardmax.text.encoding import Read
from hardmax.text.removals import Removal, rank_removals
from hardmax.text.tokeniser import Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hardmax.text.text_model import TextModel

Label = str | int | float | bool
# If known tokens cover less of a text, a note says so; of 500 IMDb reviews, 0.4 % have one.
_LEAST_KNOWN = 20  # percent


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """What one token of a text adds to its logit."""

    word: str
    """A word or a phrase."""
    count: int
    """How often the text has it."""
    weight: float
    """What it would add on its own, without the words that modify it."""
    modifiers: tuple[str, ...]
    """The words of the text that it attends to, in order; none if it attends to itself
    everywhere."""
    factor: float
    """What these multiply its vote by, the mean over its places."""
    shift: float
    """What these add to its vote then, the mean over its places."""
    vote: float
    """What it adds to the logit."""
    active: bool
    """Whether its vote is large enough to count."""
    leads: bool
    """Whether it is a leader, the strongest of its class, to which the others move by `alpha`."""
    spans: tuple[Span, ...] = field(repr=False)
    """Where it is: `text[start:end]`."""
    class_index: int = field(repr=False)
    """Index of the class that it counts towards: the label, if it adds to its logit."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {name: each for name, each in vars(self).items() if name != "class_index"}


class Link(NamedTuple):
    """A place of a token that attends to a modifier."""

    word: str
    """The token."""
    span: Span
    """Where it is: `text[start:end]`."""
    modifier: str
    """The modifier, as it stands in the text, in lower case."""
    modifier_span: Span
    """Where that is."""
    factor: float
    """What it multiplies the vote by."""
    shift: float
    """What it adds to the vote then."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Explanation:
    """Why a model gives a text its label: `bias` and the votes of the `ledger` add up to the
    `logit`.

    It shows itself in a notebook and is printed as a table.

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
    model: "TextModel"
    """The model that classified it."""
    _analysis: Analysis
    _read: Read

    # ---------------------------------------------------------------- the answer

    @property
    def label(self) -> Label:
        """The class that `predict` gives: the most probable one."""
        return self.model.classes[self._best]

    @property
    def decided(self) -> bool:
        """Whether a token is active and one class is ahead; if not, the label is a mere default."""
        return bool(self._analysis.decided[0])

    @property
    def answer(self) -> str:
        """The label and its probability, or "undecided"."""
        if not self.decided:
            return "undecided"
        return f"{self.label} {format_probability(self.probability)}"

    @property
    def probability(self) -> float:
        """Probability of the label."""
        return float(self._analysis.probabilities[0, self._best])

    @property
    def probabilities(self) -> dict[Label, float]:
        """Probability of each class."""
        probabilities = self._analysis.probabilities[0].tolist()
        return dict(zip(self.model.classes, probabilities, strict=True))

    @property
    def positive_class(self) -> Label:
        """The class that positive votes count towards: the second of two classes, else the label
        itself."""
        return self.model.classes[1] if len(self.model.classes) == 2 else self.label

    @property
    def logit(self) -> float:
        """The logit of `positive_class`."""
        return float(self._analysis.logits[0, self._row])

    @property
    def bias(self) -> float:
        """The logit of a text in which nothing votes."""
        return float(self.model.bias[self._row])

    @property
    def undecided_because(self) -> str:
        """Why the text is undecided; empty if it is decided."""
        if self.decided:
            return ""
        if not self.ledger:
            return "the model knows no word of this text"
        if self.active:
            return "several classes have the same score"
        return "none of the known tokens is active"

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Reasons to trust the answer less: a text unlike those of training, or of mostly unknown
        words."""
        if not self._read.places:
            return ()
        notes, size = [], len(self.text)
        shortest, longest = self.model.metrics.get(LENGTHS) or (0, size)
        if not shortest <= size <= longest:
            unlike = "shorter" if size < shortest else "longer"
            notes.append(
                f"The text has {size:,} characters: it is {unlike} than 99 % of the training texts."
            )
        is_known = np.zeros(size, dtype=bool)
        for start, end in np.concatenate(self._read.places):
            is_known[start:end] = True
        covered = 100 * is_known.mean()
        if covered < _LEAST_KNOWN:
            notes.append(f"Most words are unknown: known tokens cover {covered:.0f} % of the text.")
        return tuple(notes)

    # ---------------------------------------------------------------- the ledger

    @cached_property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """Every known token, the largest votes first."""
        analysis, words = self._analysis, self._words
        size = len(words) + self.model.rule.neutral_weight
        modifiers: dict[str, dict[str, None]] = {word: {} for word in words}
        for link in self.links:
            modifiers[link.word][link.modifier] = None
        entries = []
        for token, word in enumerate(words):
            entry = LedgerEntry(
                word=word,
                count=int(analysis.counts[token]),
                weight=float(analysis.weights[token, self._row] / size),
                modifiers=tuple(modifiers[word]),
                factor=float(analysis.factors[token]),
                shift=float(analysis.shifts[token] / size),
                vote=float(analysis.votes[token, self._row]),
                active=bool(analysis.active[token]),
                leads=bool(analysis.leads[token]),
                spans=tuple(map(tuple, self._read.places[token].tolist())),
                class_index=self._class_index(analysis.votes[token]),
            )
            entries.append(entry)
        return tuple(sorted(entries, key=lambda entry: (-abs(entry.vote), -abs(entry.weight))))

    @cached_property
    def active(self) -> tuple[LedgerEntry, ...]:
        """The tokens that have an effect, the largest votes first."""
        return tuple(entry for entry in self.ledger if entry.active)

    @cached_property
    def leaders(self) -> tuple[LedgerEntry, ...]:
        """The tokens that lead, the largest votes first: the strongest of each class, to which the
        others move by `alpha`, if that is more than 0."""
        return tuple(entry for entry in self.ledger if entry.leads)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Which token attends to which modifier, in the order of the text."""
        links, size = [], len(self._words) + self.model.rule.neutral_weight
        for word, places, attended in zip(self._words, *self._read[1:], strict=True):
            for span, (start, end, number) in zip(places.tolist(), attended.tolist(), strict=True):
                if number < 0:
                    continue
                modifier, name = self.model.modifiers[number], fold(self.text[start:end])
                change = modifier.factor, modifier.shift / size
                links.append(Link(word, tuple(span), name, (start, end), *change))
        return tuple(sorted(links, key=attrgetter("span", "word")))

    @cached_property
    def removals(self) -> tuple[Removal, ...]:
        """The words of known tokens in the order in which to remove them: each time the one that
        costs the label most, and adds most to it on its own; those against the label come last. A
        word is removed wherever it occurs."""
        return rank_removals(self)

    # ---------------------------------------------------------------- how it is shown

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "text": self.text,
            **self.model._made_by,
            "label": self.label,
            "decided": self.decided,
            "notes": self.notes,
            "probability": self.probability,
            "probabilities": [
                {"label": label, "probability": p} for label, p in self.probabilities.items()
            ],
            "positive_class": self.positive_class,
            "logit": self.logit,
            "bias": self.bias,
            "known": len(self.ledger),
            "attention": [link._asdict() for link in self.links],
            "leaders": [entry.word for entry in self.leaders],
            "ledger": [entry.to_dict() for entry in self.ledger],
        }

    def save(self, path: str | Path, *, interactive: bool = False) -> None:
        """Write the explanation, whole or not at all.

        Parameters
        ----------
        path : str or Path
            A file that ends in `.html`, `.json` or `.txt`. The page has no scripts, and of the
            model only its name, hash and classes, and what it says about words of this text.
        interactive : bool, default False
            Put the whole model into the page, so that words can be crossed out and other texts
            tried. Whoever has the page has the vocabulary, too, which comes from training texts.
        """
        path = check_path(path)
        suffix = path.suffix.lower()
        if interactive and suffix not in (".html", ".htm"):
            raise InputError("`interactive` is for pages: expected a `path` that ends in .html.")
        if suffix in (".html", ".htm"):
            page.write_explanation(self, path, interactive=interactive)
        elif suffix == ".json":
            write_whole(path, f"{escape_json(self.to_dict(), indent=1)}\n".encode())
        elif suffix == ".txt":
            write_whole(path, f"{self}\n".encode())
        else:
            raise InputError(f"`path` has the suffix {suffix!r}: expected .html, .json or .txt.")

    def plot(self, ax: "Axes | None" = None) -> "Axes":
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
        if not self.ledger:
            raise InputError("There is nothing to draw: the model knows no word of this text.")
        return figures.plot_text(self, ax)

    def __str__(self) -> str:
        return view.plain(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return page.fragment(self)

    # ---------------------------------------------------------------- how it works inside

    @cached_property
    def _best(self) -> int:
        return int(self._analysis.predicted[0])

    @property
    def _row(self) -> int:
        """The row of votes that `logit` and the ledger are about."""
        return 0 if len(self.model.bias) == 1 else self._best

    @cached_property
    def _words(self) -> tuple[str, ...]:
        """The known tokens, in the order in which they appear."""
        return tuple(map(self.model.vocabulary.surfaces.__getitem__, self._analysis.ids.tolist()))

    def _class_index(self, votes: np.ndarray) -> int:
        """The class that the votes of a token count towards."""
        if len(votes) == 1:
            return int(votes[0] > 0)
        if votes[self._best] > 0:
            return self._best
        others = votes.copy()
        others[self._best] = -np.inf  # what does not add to the label counts towards another
        return int(others.argmax())


def explain(model: "TextModel", text: str) -> Explanation:
    """Explain the label of a text; the numbers are those of `predict_proba`, bit for bit."""
    read, analysis = weigh_text(model, text)
    return Explanation(text=text, model=model, _analysis=analysis, _read=read)


def write_report(explanations: Iterable[Explanation], path: str | Path) -> None:
    """Write explanations, one below the other and with an index, to a `.html` file, whole or not at
    all.

    Parameters
    ----------
    explanations : iterable of Explanation
        What `model.explain(text)` gives.
    path : str or Path
        The file to write.

    Examples
    --------
    >>> from hardmax.text import load_model, write_report
    >>> model, path = load_model("sentiment-en"), getfixture("tmp_path") / "two.html"
    >>> write_report([model.explain(text) for text in ("A great film.", "Awful.")], path)
    """
    path = check_path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"`path` has the suffix {path.suffix!r}: expected .html.")
    listed = list(explanations) if isinstance(explanations, Iterable) else []
    if not listed or not all(isinstance(why, Explanation) for why in listed):
        wish = "a list of explanations, such as [model.explain(text)]"
        raise InputError(f"`explanations` must be {wish}, not {shorten(explanations)}.")
    write_whole(path, page.report(listed).encode())
