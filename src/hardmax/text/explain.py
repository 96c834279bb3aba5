"""Explanations: the tokens that lead a text, and two ledgers that add up to its logit."""

import math
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._cached import cached_property
from hardmax._files import write_whole
from hardmax._format import escape_json
from hardmax._validation import InputError, check_path
from hardmax.text._analysis import Analysis, predicted_classes, walk_cloud, weigh_text
from hardmax.text._format import EXTRA_TOKEN, format_probability
from hardmax.text.encoding import Read
from hardmax.text.spans import Units
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel
from hardmax.text.tokeniser import cut_surface

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.console import RenderableType

    from hardmax.trajectory import Trajectory

Label = str | int | float | bool
LENGTHS = "training_lengths"
"""Where `TextModel.metrics` has the 1 % and 99 % quantiles of the lengths of training texts, in characters."""
_LAYERS_SHOWN = 8
_MOST_CHARACTERS = 50_000_000  # read again to rank removals: a second or two
_MOSTLY_UNKNOWN = 0.2  # if known tokens cover less of a text, a note says so; of 500 IMDb reviews, 0.4 % have one


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """What one token of a text adds to its logit: by mass, and by vote."""

    word: str
    """A word, a phrase, or `EXTRA_TOKEN`."""
    count: int
    """How often the text has it."""
    places: np.ndarray = field(repr=False, compare=False)
    """`spans` as an array (count, 2)."""
    mass: float
    """Share of its starting point in the mean of the last layer."""
    contribution: float
    """What this mass adds to the logit."""
    vote: float
    """What it adds to the logit by ending where it ends, near its leader."""
    active: bool
    """Whether it has an effect: neither the extra token, nor a follower of a neutral leader."""
    leads: bool
    """Whether it is a leader: it attends to itself alone."""
    leader: str | None
    """The token that it follows, itself if it leads; None if it attends to several, or there are no layers."""
    side: int = field(repr=False)
    """The number of the class that its leader counts towards, or itself if it has none."""

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where it is: `text[start:end]`."""
        return tuple(zip(*self.places.T.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("places", "side")}
        return own | {"spans": self.spans}


@dataclass(frozen=True)
class Removal:
    """A word of a text and what is lost with it, those before it in `Explanation.removals` being gone."""

    word: str
    """The word, in lower case."""
    spans: tuple[tuple[int, int], ...]
    """Where it is: `text[start:end]`."""
    score: float
    """What words are ranked by: a third of `loss`, two thirds of what the word adds to an empty text."""
    loss: float
    """By how much the lead of the label, in logits, falls; nan in a text too long to be read again for every word."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Explanation:
    """Why a model gives a text its label.

    Two ledgers both add up to the `logit`: `bias` and the contributions of the `ledger`; `bias`, the votes of the
    `active` tokens and the `rest`. It shows itself in a notebook and is printed as a table. Arrays have the known
    tokens in the order in which they appear, and the extra token, if there is one, last.

    Examples
    --------
    >>> from hardmax import load
    >>> why = load("imdb-2d").explain("An awful script, but the cast is great.")
    >>> why.label, [leader.word for leader in why.leaders]
    ('negative', ['awful', 'is great'])
    >>> bool(np.isclose(why.bias + sum(entry.contribution for entry in why.ledger), why.logit))
    True
    """

    text: str
    """The text that is explained."""
    model: TextModel = field(repr=False)
    """The model that classified it."""
    found: Analysis
    """Tokens, masses and logits of this text alone."""
    read: Read = field(repr=False)
    """Where the tokens are in it."""
    ends: np.ndarray
    """Where each token is after the last layer, (tokens, d)."""

    # ---------------------------------------------------------------- the answer

    @property
    def label(self) -> Label:
        """The class that `predict` gives: the most probable, or, if the text is undecided, the most frequent."""
        return self.model.classes[self._best]

    @property
    def decided(self) -> bool:
        """Whether a token is active and one class is ahead; if not, the label is a mere default."""
        return bool(self.found.decided[0])

    @property
    def answer(self) -> str:
        """The label and its probability, or "undecided"."""
        return f"{self.label} {format_probability(self.probability)}" if self.decided else "undecided"

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
        """The class that positive votes count towards: the second of two classes, else the label itself."""
        return self.model.classes[1 if len(self.model.bias) == 1 else self._best]

    @property
    def logit(self) -> float:
        """The score of that class."""
        return float(self.found.logits[0, self._row])

    @property
    def bias(self) -> float:
        """The score of a text without known tokens."""
        return float(self.model.prepared.bias[self._row])

    @property
    def known(self) -> int:
        """How many distinct tokens of the text the model knows."""
        return int((self.found.ids < len(self.model.vocabulary)).sum())

    @property
    def undecided_because(self) -> str:
        """Why the text is undecided; empty if it is decided."""
        if self.decided:
            return ""
        if not self.known:
            return "the model knows no word of this text"
        return "several classes have the same score" if self.active else "none of the known tokens is active"

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Reasons to trust the answer less: a text unlike those of training, or of mostly unknown words."""
        if not self.known:
            return ()
        notes, size = [], len(self.text)
        shortest, longest = self.model.metrics.get(LENGTHS) or (0, size)
        if not shortest <= size <= longest:
            unlike = "shorter" if size < shortest else "longer"
            notes.append(f"The text has {size:,} characters: it is {unlike} than 99 % of the training texts.")
        begins, ends = np.concatenate(self.read.places).T
        depth = np.cumsum(np.bincount(begins, minlength=size + 1) - np.bincount(ends, minlength=size + 1))
        if (covered := np.count_nonzero(depth) / size) < _MOSTLY_UNKNOWN:
            notes.append(f"Most words are unknown: known tokens cover {100 * covered:.0f} % of the text.")
        return tuple(notes)

    # ---------------------------------------------------------------- the two ledgers

    @cached_property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """Every known token and the extra one, the largest contributions first."""
        found, contributions = self.found, self.found.masses * self.model.prepared.scores[self.found.rows, self._row]
        columns = (found.counts, found.masses, contributions, self.votes, found.active, found.leader_since >= 0)
        numbers = zip(*(column.tolist() for column in (*columns, found.follows, self.sides)), strict=True)
        entries = [
            LedgerEntry(
                word=self.words[t],
                places=self.read.places[t],
                count=count,
                mass=mass,
                contribution=contribution,
                vote=vote,
                active=active,
                leads=leads,
                leader=self.words[leader] if leader >= 0 else None,
                side=side,
            )
            for t, (count, mass, contribution, vote, active, leads, leader, side) in enumerate(numbers)
        ]
        return tuple(sorted(entries, key=lambda entry: -abs(entry.contribution)))

    @cached_property
    def active(self) -> tuple[LedgerEntry, ...]:
        """The tokens that have an effect, the largest votes first."""
        return tuple(sorted((entry for entry in self.ledger if entry.active), key=lambda entry: -abs(entry.vote)))

    @cached_property
    def leaders(self) -> tuple[LedgerEntry, ...]:
        """The tokens that lead, the largest mass first, without the neutral leader; without layers nobody follows."""
        not_counted = EXTRA_TOKEN if self.model.has_neutral else None
        leading = [entry for entry in self.ledger if entry.leads and entry.word != not_counted]
        return tuple(sorted(leading, key=lambda entry: -entry.mass))

    @property
    def rest(self) -> float:
        """The votes of the inactive tokens and of the extra token together."""
        return math.fsum(self.votes[~self.found.active])

    @cached_property
    def removals(self) -> tuple[Removal, ...]:
        """The words of known tokens in the order in which to remove them: each time the one that costs the label most,
        and adds most to it on its own; those against the label come last. A word is removed wherever it occurs."""
        units = Units.of(self.text, self.model.tokeniser)
        tokens = {token.surface for token in self.model.tokeniser.tokens(self.text)}
        known = {word for token in tokens & self.model.vocabulary.index.keys() for word in cut_surface(token)}
        left = np.flatnonzero([word in known for word in units.words])
        alone = np.zeros(len(units))
        alone[left] = self._leads([units.words[word] for word in left]) - self._leads([""])
        lead, gone, read, found = self._leads([self.text])[0], list[int](), 0, list[Removal]()
        while len(left):
            read += len(left) * len(self.text)
            losses = np.full(len(left), np.nan)
            if read <= _MOST_CHARACTERS:
                losses = lead - self._leads([units.without([*gone, word]) for word in left.tolist()])
            scores = np.nan_to_num(losses) / 3 + 2 / 3 * alone[left]
            order = np.argsort(-scores, kind="stable")
            if scores[order[0]] > 0 and read <= _MOST_CHARACTERS:
                order = order[:1]
            for n in order.tolist():
                found.append(Removal(units.words[left[n]], units.places[left[n]], float(scores[n]), float(losses[n])))
            gone.append(int(left[order[0]]))
            lead -= losses[order[0]]
            left = np.delete(left, order)
        return tuple(found)

    def _leads(self, texts: list[str]) -> np.ndarray:
        """The logit of the label less that of the second most probable class, for each text."""
        logits = self.model.decision_function(texts)
        if logits.ndim == 1:
            return logits if self._best else -logits
        others = np.where(np.arange(len(self.model.classes)) == self._best, -1.0, self.found.probabilities[0])
        return logits[:, self._best] - logits[:, others.argmax()]

    # ---------------------------------------------------------------- the cloud

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The tokens, in the order of all arrays."""
        surfaces, tokens = self.model.vocabulary.surfaces, len(self.model.vocabulary)
        return tuple(surfaces[token] if token < tokens else EXTRA_TOKEN for token in self.found.ids.tolist())

    @cached_property
    def points(self) -> np.ndarray:
        """Where the tokens start, (tokens, d)."""
        return self.model.prepared.table[self.found.rows]

    @cached_property
    def voices(self) -> np.ndarray:
        """How often each token counts in the mean."""
        return self.model.prepared.voices(self.found)

    @cached_property
    def votes(self) -> np.ndarray:
        """What each token adds to the logit by ending where it ends."""
        says = self.model.prepared.says(self.ends)[:, self._row]
        return self.voices / max(self.voices.sum(), 1) * says

    @cached_property
    def sides(self) -> np.ndarray:
        """The number of the class that the leader of each token counts towards, or itself if it has none."""
        follows, prepared = self.found.follows, self.model.prepared
        leaders = np.where(follows >= 0, self.found.rows[follows], 0)
        own = prepared.says(self.ends)
        says = np.where(follows[:, None] >= 0, prepared.scores[leaders], own)
        return (says[:, 0] >= 0).astype(np.int64) if says.shape[1] == 1 else says.argmax(axis=1)

    @cached_property
    def trajectory(self) -> "Trajectory | None":
        """The run of the tokens through the layers; None if there are no tokens."""
        model = self.model
        return walk_cloud(self.points, self.voices, model.dynamics, model.layers) if len(self.points) else None

    @cached_property
    def radius(self) -> float:
        """Moving the vector of every token by at most this changes no attended set, which is proved; 0 if a token
        attends to several. So the same tokens lead, and the others follow the same leaders."""
        from hardmax._radius import radius

        return math.inf if self.trajectory is None else radius(self.trajectory, self.model.layers, together=True)

    @cached_property
    def path(self) -> np.ndarray:
        """Where every token is at every layer, (layers + 1, tokens, d).

        Of infinitely many layers: those up to eight after the last change of an attended set, and the limits.
        """
        run, layers = self.trajectory, self.model.layers
        if run is None:
            return np.empty((int(layers) + 1 if math.isfinite(layers) else 2, 0, self.model.dimension))
        if math.isfinite(layers) or run.settled_at is None:
            return np.stack([run.floats_at(layer) for layer in range(run.layers + 1)])
        walked = [run.floats_at(layer) for layer in range(run.settled_at + _LAYERS_SHOWN + 1)]
        return np.stack([*walked, run.float_ends()])

    @property
    def model_hash(self) -> str:
        """SHA-256 of the model: in its folder, `sha256sum config.json model.safetensors vocabulary.txt | sha256sum`."""
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
            "probabilities": [{"label": label, "probability": p} for label, p in self.probabilities.items()],
            "towards": self.towards,
            "logit": self.logit,
            "bias": self.bias,
            "known": self.known,
            "layers": "inf" if math.isinf(self.model.layers) else int(self.model.layers),
            "alpha": str(self.model.dynamics.alpha),
            "rest": self.rest,
            "leaders": [entry.to_dict() for entry in self.leaders],
            "ledger": [entry.to_dict() for entry in self.ledger],
        }

    def save(self, path: str | Path) -> None:
        """Write the explanation, whole or not at all.

        Parameters
        ----------
        path : str or Path
            A file that ends in `.html`, `.json` or `.txt`. The page has the text and the model in it: words can be
            crossed out and other texts be tried, and without scripts the explanation can be read.
        """
        path = check_path(path)
        suffix = path.suffix.lower()
        if suffix in (".html", ".htm"):
            from hardmax.text.page import write_explanation  # most explanations are read in a terminal

            write_explanation(self, path)
        elif suffix == ".json":
            write_whole(path, f"{escape_json(self.to_dict(), indent=1)}\n".encode())
        elif suffix == ".txt":
            write_whole(path, f"{self}\n".encode())
        else:
            raise InputError(f"`path` has the suffix {suffix!r}: expected .html, .json or .txt.")

    def draw(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the tokens in the plane, and their paths through the layers (extra `figures`).

        The region of each class is tinted, the line between is where a text is undecided; leaders are stars, the mean
        is a triangle, inactive tokens are a grey blur. More than two dimensions are projected: see
        `hardmax.figures.text_plot`.

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
        """The row of the decoder that `logit` and the ledgers are about."""
        return 0 if len(self.model.bias) == 1 else self._best


def explain(model: TextModel, text: str) -> Explanation:
    """Explain the label of a text; the numbers are those of `predict_proba`, bit for bit."""
    read, found, ends = weigh_text(model, text)
    return Explanation(text=text, model=model, found=found, read=read, ends=ends)
