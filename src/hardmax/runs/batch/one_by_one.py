"""The runs of a batch whose clouds were walked one by one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hardmax.runs.batch.runs import Runs
from hardmax.runs.run import Run
from hardmax.tokens.batches import Form, restore


class OneByOne(Runs):
    """Runs, each as it was made."""

    def __init__(self, runs: Sequence[Run], form: Form, multiplicities: np.ndarray | None = None) -> None:
        self.runs = tuple(runs)
        self.form = form
        self.multiplicities = multiplicities

    def __len__(self) -> int:
        return len(self.runs)

    def run(self, cloud: int) -> Run:
        return self.runs[cloud]

    def at(self, layer: int) -> Any:
        return restore(self.form, [run.at(layer) for run in self.runs], self.multiplicities)

    def ends(self) -> Any:
        return restore(self.form, [run.ends() for run in self.runs], self.multiplicities)

    @property
    def leaders(self) -> list[np.ndarray]:
        return [run.leaders for run in self.runs]

    @property
    def settled_at(self) -> list[int | None]:
        return [run.settled_at for run in self.runs]

    @property
    def certified(self) -> bool:
        return all(run.certified for run in self.runs)

    @property
    def error(self) -> float:
        return float(np.max([run.error for run in self.runs]))

    @property
    def decided_by_integers(self) -> int:
        return sum(run.arithmetic == "exact" for run in self.runs)
