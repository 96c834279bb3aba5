"""How a training went, epoch by epoch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

COLUMNS = ("train_loss", "train_accuracy", "judged_loss", "judged_accuracy", "alpha")
HARD_COLUMNS = ("train_loss_hard", "judged_loss_hard", "judged_accuracy_hard")
ALL_COLUMNS = COLUMNS + HARD_COLUMNS
ACCURACY = COLUMNS.index("judged_accuracy")


def as_lists(rows: Sequence[Sequence[float]], compare_every: int) -> dict[str, Any]:
    """The columns as JSON holds them, with six digits; those of hardmax with the epochs in which it was measured.

    >>> as_lists([[0.7, 0.5, 0.7, 0.5, 0.3, 0.7, 0.71, 0.5]], compare_every=10)["hard"]["judged_loss_hard"]
    [0.71]
    """
    columns = {name: [_rounded(row[place]) for row in rows] for place, name in enumerate(ALL_COLUMNS)}
    hard = {name: columns.pop(name) for name in HARD_COLUMNS}
    epochs = [epoch for epoch in range(len(rows)) if compare_every and epoch % compare_every == 0]
    measured = {"epochs": epochs} | {name: [values[epoch] for epoch in epochs] for name, values in hard.items()}
    return columns | ({"hard": measured} if epochs else {})


def _rounded(value: float) -> float | None:
    """JSON has no nan: a training that lost itself has nothing to tell."""
    return round(value, 6) if math.isfinite(value) else None
