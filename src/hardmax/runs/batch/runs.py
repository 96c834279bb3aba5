"""What the runs of a batch answer, whoever walked them."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from hardmax.runs.run import Run
from hardmax.tokens.batches import Form


class Runs(ABC):
    """The runs of many clouds."""

    form: Form
    """How the tokens came, and so how results go back."""
    multiplicities: np.ndarray | None
    """How often each token of all clouds counts, if that was said."""

    at_hand: int = 0
    """How many runs are worth keeping once they are made: none, where all are kept anyway."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def run(self, cloud: int) -> Run:
        """The run of one cloud; it may have to be made."""

    @abstractmethod
    def at(self, layer: int) -> Any:
        """The tokens of all clouds at a layer, in the form in which they came."""

    @abstractmethod
    def ends(self) -> Any:
        """Where all tokens of all clouds go for ever, in the form in which they came; all clouds must have settled."""

    @property
    @abstractmethod
    def leaders(self) -> list[np.ndarray]:
        """For each cloud the tokens that lead."""

    @property
    @abstractmethod
    def settled_at(self) -> list[int | None]:
        """For each cloud the layer at which it settled."""

    @property
    @abstractmethod
    def certified(self) -> bool:
        """Whether every choice in every cloud is that of real arithmetic."""

    @property
    @abstractmethod
    def error(self) -> float:
        """No token at a recorded layer is further than this from the truth; nan where nothing is promised."""

    @property
    @abstractmethod
    def decided_by_integers(self) -> int:
        """How many clouds integers had to decide."""

    def here(self) -> "Runs":
        """The same runs off a device, to be written."""
        return self
