"""The account of a text: what every word has to do with the outcome, and how the logit adds up."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.dynamics import Dynamics
from hardmax.text.model.masses import walk_cloud
from hardmax.wording import EXTRA, plain_depth

if TYPE_CHECKING:
    from hardmax.runs.trajectory import Trajectory

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
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _OF_ANY_WORD}
        return {"word": self.word, "spans": self.spans, "count": self.count} | own


_OF_ANY_WORD = {each.name for each in fields(Word)}


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


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Account:
    """All that is known of one text, as data; an `Explanation` also shows and saves itself."""

    text: str
    label: Label
    probability: float
    probabilities: dict[Label, float]
    towards: Label
    logit: float
    bias: float
    ledger: tuple[Share, ...]  # every known word, the largest contributions first
    counting: tuple[Vote, ...]  # the words that count, the largest votes first
    neutral: float  # the share of the words said that follow the neutral leader
    rest: float  # what these add together, and the extra token
    has_neutral: bool
    points: np.ndarray  # the cloud, in the order in which words appear
    voices: np.ndarray  # how much each of them counts
    dynamics: Dynamics
    layers: int | float

    @property
    def leaders(self) -> tuple[Share, ...]:
        """The words that lead, those with the largest mass first; a neutral leader is no word, and is left out."""
        leading = [share for share in self.ledger if share.leads and not (self.has_neutral and share.word == EXTRA)]
        return tuple(sorted(leading, key=lambda share: -share.mass))

    @property
    def known(self) -> int:
        """How many distinct words of the text the model knows; 0: the answer says nothing about this text."""
        return sum(share.word != EXTRA for share in self.ledger)

    @cached_property
    def trajectory(self) -> "Trajectory | None":
        """The run of the cloud through the layers; None if it is empty."""
        return walk_cloud(self.points, self.voices, self.dynamics, self.layers) if len(self.points) else None

    def to_dict(self) -> dict[str, Any]:
        """Label, probabilities, leaders and ledger as plain data, ready for JSON."""
        return {
            "text": self.text,
            "label": self.label,
            "probability": self.probability,
            "probabilities": [{"label": label, "probability": p} for label, p in self.probabilities.items()],
            "towards": self.towards,
            "logit": self.logit,
            "bias": self.bias,
            "known": self.known,
            "layers": plain_depth(self.layers),
            "alpha": str(self.dynamics.alpha),
            "neutral": self.neutral,
            "rest": self.rest,
            "counting": [vote.to_dict() for vote in self.counting],
            "leaders": [share.to_dict() for share in self.leaders],
            "ledger": [share.to_dict() for share in self.ledger],
        }
