"""The account of a text: what every word has to do with the outcome, and how the logit adds up."""

import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._format import EXTRA_TOKEN
from hardmax.dynamics import Dynamics
from hardmax.text._analysis import Analysis, walk_cloud
from hardmax.text.encoding import Read
from hardmax.text.explain.margin import Margin, nearest_change
from hardmax.text.explain.removals import rank_removals
from hardmax.text.spans import Units
from hardmax.text.storage import digest
from hardmax.text.text_model import TextModel
from hardmax.text.wording import format_probability, layers_to_json

if TYPE_CHECKING:
    from hardmax.trajectory import Trajectory

_LAYERS_SHOWN = 8
Label = str | int | float | bool


@dataclass(frozen=True, kw_only=True)
class Word:
    """A word of a text, and where it stands."""

    word: str
    count: int  # how often it is said
    places: np.ndarray = field(repr=False, compare=False)  # (count, 2): `spans` as an array

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where it stands: text[start:end]."""
        return tuple(zip(*self.places.T.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _NOT_ITS_OWN}
        return {"word": self.word, "spans": self.spans, "count": self.count} | own


@dataclass(frozen=True, kw_only=True)
class Share(Word):
    """What one word has to do with the outcome."""

    mass: float  # its share of the mean in which the layers end
    contribution: float  # to the logit
    leads: bool


@dataclass(frozen=True, kw_only=True)
class Vote(Word):
    """A word that counts, and what it adds to the logit by ending where it ends."""

    leader: str | None  # the word that it follows, itself if it leads; None if it is with several, or with nobody yet
    vote: float  # its share of the words times what the decoder says of where it ends
    side: int = field(repr=False)  # the number of the class for which its leader speaks, or itself if it has none


@dataclass(frozen=True, kw_only=True)
class Removal(Word):
    """A single word, in the place where it is taken out: those before it in `removals` are gone then."""

    worth: float  # a third of `loss`, two thirds of what it says on its own
    loss: float  # how far the lead of the label falls; nan in a text that is too long to be read that often


_NOT_ITS_OWN = {"side", *(each.name for each in fields(Word))}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Account:
    """All that is known of one text, as data; an `Explanation` also shows and saves itself.

    Rows of arrays are the known words in the order in which they appear, and the extra token, if there is one, last.
    """

    text: str
    model: TextModel = field(repr=False)
    found: Analysis  # of this text alone
    read: Read = field(repr=False)  # where words stand in it
    ends: np.ndarray  # (words, d) where each word is after the last layer, or for ever

    # ---------------------------------------------------------------- the outcome

    @property
    def label(self) -> Label:
        """The class that `predict` gives: the most probable, or, where the text is undecided, the most frequent."""
        return self.model.classes[self._best]

    @property
    def decided(self) -> bool:
        """Whether a token is active and one class is ahead; if not, the label says nothing about this text."""
        return bool(self.found.decided[0])

    @property
    def answer(self) -> str:
        """The label and its probability, or "undecided"."""
        if not self.decided:
            return "undecided"
        return f"{self.label} {format_probability(self.probability)}"

    @property
    def probability(self) -> float:
        """How probable it is."""
        return float(self.found.probabilities[0, self._best])

    @property
    def probabilities(self) -> dict[Label, float]:
        """How probable each class is."""
        return dict(zip(self.model.classes, self.found.probabilities[0].tolist(), strict=True))

    @property
    def towards(self) -> Label:
        """The class for which positive numbers speak: the second of two classes, else the label itself."""
        return self.model.classes[1 if len(self.model.bias) == 1 else self._best]

    @property
    def logit(self) -> float:
        """The score of that class."""
        return float(self.found.logits[0, self._row])

    @property
    def bias(self) -> float:
        """What a text without words has for a score."""
        return float(self.model.prepared.bias[self._row])

    # ---------------------------------------------------------------- the two ledgers

    @cached_property
    def ledger(self) -> tuple[Share, ...]:
        """Every known word, the largest contributions first."""
        contributions = self.found.masses * self.model.prepared.scores[self.found.rows, self._row]
        rows = zip(
            self.words,
            self.places,
            self.found.counts.tolist(),
            self.found.masses.tolist(),
            contributions.tolist(),
            self.leads.tolist(),
            strict=True,
        )
        shares = [
            Share(word=word, places=places, count=count, mass=mass, contribution=part, leads=leads)
            for word, places, count, mass, part, leads in rows
        ]
        return tuple(sorted(shares, key=lambda share: -abs(share.contribution)))

    @cached_property
    def counting(self) -> tuple[Vote, ...]:
        """The words that count, the largest votes first."""
        votes = [
            Vote(
                word=self.words[t],
                places=self.places[t],
                count=int(self.found.counts[t]),
                leader=self.words[self.follows[t]] if self.follows[t] >= 0 else None,
                vote=float(self.votes[t]),
                side=int(self.sides[t]),
            )
            for t in np.flatnonzero(self.found.active).tolist()
        ]
        return tuple(sorted(votes, key=lambda vote: -abs(vote.vote)))

    @cached_property
    def removals(self) -> tuple[Removal, ...]:
        """The words of the text in the order in which to take them out: each time the one that is worth most, by how
        far the label's lead over the next class falls without it, and by what it says on its own; those that speak
        against the label come last. A word is taken out wherever it stands."""
        others = np.where(np.arange(len(self.model.classes)) == self._best, -1.0, self.found.probabilities[0])
        units = Units.of(self.text, self.model.tokeniser)
        return tuple(
            Removal(word=units.words[u], count=len(places), places=places, worth=worth, loss=loss)
            for u, worth, loss in rank_removals(self.model, units, self._best, int(others.argmax()))
            for places in [np.array(units.places[u])]
        )

    @property
    def neutral(self) -> float:
        """The share of the words said that follow the neutral leader."""
        words = self.found.ids < len(self.model.vocabulary)
        return float(self.voices[words & ~self.found.active].sum() / max(self.voices[words].sum(), 1))

    @property
    def rest(self) -> float:
        """What these add together, and the extra token."""
        return math.fsum(self.votes[~self.found.active])

    @property
    def has_neutral(self) -> bool:
        """Whether the model has a neutral leader."""
        return self.model.has_neutral

    @cached_property
    def leaders(self) -> tuple[Share, ...]:
        """The words that lead, those with the largest mass first; a neutral leader is no word, and is left out."""
        leading = [
            share for share in self.ledger if share.leads and not (self.has_neutral and share.word == EXTRA_TOKEN)
        ]
        return tuple(sorted(leading, key=lambda share: -share.mass))

    @property
    def known(self) -> int:
        """How many distinct words of the text the model knows; 0: the answer says nothing about this text."""
        return int((self.found.ids < len(self.model.vocabulary)).sum())

    @property
    def places(self) -> list[np.ndarray]:
        """Where each of the words stands, as in `Word.places`."""
        return self.read.places

    # ---------------------------------------------------------------- the cloud

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What the words are, in the order of all arrays."""
        surfaces, tokens = self.model.vocabulary.surfaces, len(self.model.vocabulary)
        return tuple(surfaces[token] if token < tokens else EXTRA_TOKEN for token in self.found.ids.tolist())

    @cached_property
    def points(self) -> np.ndarray:
        """The cloud, (words, d)."""
        return self.model.prepared.table[self.found.rows]

    @cached_property
    def voices(self) -> np.ndarray:
        """How much each of the words counts."""
        return self.model.prepared.voices(self.found)

    @cached_property
    def votes(self) -> np.ndarray:
        """What each of the words adds to the logit by ending where it ends."""
        says = self.model.prepared.says(self.ends)[:, self._row]
        return self.voices / max(self.voices.sum(), 1) * says

    @property
    def leads(self) -> np.ndarray:
        """Which of the words lead."""
        return self.found.leader_since >= 0

    @property
    def follows(self) -> np.ndarray:
        """The place of the leader to whom alone each of the words attends at the last layer; -1: there is none such."""
        return self.found.follows

    @cached_property
    def sides(self) -> np.ndarray:
        """The number of the class for which the leader of each of the words speaks, or itself where it has none."""
        leaders = np.where(self.follows >= 0, self.found.rows[self.follows], 0)
        own = self.model.prepared.says(self.ends)
        says = np.where(self.follows[:, None] >= 0, self.model.prepared.scores[leaders], own)
        return (says[:, 0] >= 0).astype(np.int64) if says.shape[1] == 1 else says.argmax(axis=1)

    @property
    def dynamics(self) -> Dynamics:
        """The parameters of a layer."""
        return self.model.dynamics

    @property
    def layers(self) -> int | float:
        """How many layers there are."""
        return self.model.layers

    @cached_property
    def trajectory(self) -> "Trajectory | None":
        """The run of the cloud through the layers; None if it is empty."""
        return walk_cloud(self.points, self.voices, self.dynamics, self.layers) if len(self.points) else None

    @cached_property
    def path(self) -> np.ndarray:
        """Where every word is at every layer, (layers + 1, words, d), the extra token last, as in `words`.

        Of infinitely many layers: those up to eight after the last that changes whom anybody attends to, and where
        words end for ever.
        """
        run = self.trajectory
        if run is None:
            return np.empty((int(self.layers) + 1 if math.isfinite(self.layers) else 2, 0, self.model.dimension))
        if math.isfinite(self.layers) or run.settled_at is None:
            return np.stack([run.floats_at(layer) for layer in range(run.layers + 1)])
        walked = [run.floats_at(layer) for layer in range(run.settled_at + _LAYERS_SHOWN + 1)]
        return np.stack([*walked, run.float_ends()])

    @cached_property
    def margin(self) -> Margin | None:
        """How far the nearest change of an attended set is: the smallest lead of all words and layers, as a share of
        |A| R² (see `Margin`); None where nobody has a choice."""
        return None if self.trajectory is None else nearest_change(self.trajectory, self.words, self.layers)

    @property
    def model_hash(self) -> str:
        """Which model it was, as 64 hexadecimal digits: in its folder `sha256sum config.json model.safetensors
        vocabulary.txt | sha256sum` prints the same."""
        return digest(self.model)

    def to_dict(self) -> dict[str, Any]:
        """Label, probabilities, leaders and ledger as plain data, ready for JSON."""
        return {
            "text": self.text,
            "label": self.label,
            "decided": self.decided,
            "probability": self.probability,
            "probabilities": [{"label": label, "probability": p} for label, p in self.probabilities.items()],
            "towards": self.towards,
            "logit": self.logit,
            "bias": self.bias,
            "known": self.known,
            "layers": layers_to_json(self.layers),
            "alpha": str(self.dynamics.alpha),
            "neutral": self.neutral,
            "rest": self.rest,
            "counting": [vote.to_dict() for vote in self.counting],
            "leaders": [share.to_dict() for share in self.leaders],
            "ledger": [share.to_dict() for share in self.ledger],
        }

    @cached_property
    def _best(self) -> int:
        return int(self.model.predicted(self.found)[0])

    @property
    def _row(self) -> int:
        """The row of the decoder that `logit` and the ledgers are about."""
        return 0 if len(self.model.bias) == 1 else self._best
