"""An explanation: a few words that lead, and an account of the logit to which every word contributes its part."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax.checking import file_path
from hardmax.dynamics import Dynamics
from hardmax.errors import InputError
from hardmax.foreign import harmless_json
from hardmax.text.model.masses import walk_cloud
from hardmax.tokens.files import write_whole
from hardmax.wording import EXTRA

if TYPE_CHECKING:
    from hardmax.runs.trajectory import Trajectory

Label = str | int | float | bool


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one word has to do with the outcome."""

    word: str
    count: int  # how often it is said
    mass: float  # its share of the mean in which the layers end
    contribution: float  # to the logit
    leads: bool
    places: np.ndarray = field(repr=False, compare=False)  # (count, 2): `spans` as an array

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Where it stands: text[start:end]."""
        return tuple(zip(*self.places.T.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The share as plain data."""
        return {
            "word": self.word,
            "spans": self.spans,
            "count": self.count,
            "mass": self.mass,
            "contribution": self.contribution,
            "leads": self.leads,
        }


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Explanation:
    """Why a model says what it says of a text. `bias` and the contributions of the ledger add up to `logit`.

    `towards` is the class for which positive numbers speak: the second of two classes, else the label itself.
    """

    text: str
    label: Label
    probability: float
    probabilities: dict[Label, float]
    towards: Label
    logit: float
    bias: float
    ledger: tuple[Share, ...]  # every known word, the largest contributions first
    points: np.ndarray  # the cloud, in the order in which words appear
    voices: np.ndarray  # how much each of them counts
    dynamics: Dynamics
    layers: int

    @property
    def leaders(self) -> tuple[Share, ...]:
        """The words that lead, those with the largest mass first."""
        return tuple(sorted((share for share in self.ledger if share.leads), key=lambda share: -share.mass))

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
            "layers": self.layers,
            "alpha": str(self.dynamics.alpha),
            "leaders": [share.to_dict() for share in self.leaders],
            "ledger": [share.to_dict() for share in self.ledger],
        }

    def save(self, path: str | Path) -> None:
        """Write the explanation to a `.html`, `.json` or `.txt` file, whole or not at all."""
        from hardmax.text.explain.showing import page

        path = file_path(path)
        suffix = path.suffix.lower()
        if suffix == ".json":
            content = harmless_json(self.to_dict(), indent=1) + "\n"
        elif suffix == ".txt":
            content = f"{self}\n"
        elif suffix in (".html", ".htm"):
            content = page(self)
        else:
            raise InputError(f"`path` has the suffix {suffix!r}: expected .html, .json or .txt.")
        write_whole(path, content.encode())

    def __str__(self) -> str:
        from hardmax.text.explain.showing import plain

        return plain(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from hardmax.text.explain.showing import fragment

        return fragment(self)
