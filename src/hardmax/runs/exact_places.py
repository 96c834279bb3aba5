"""Where points are and where they go, as Fractions: the one place that knows which stretches can tell."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias, TypeGuard

import numpy as np

from hardmax.engines.stretch import ExactStretch, FloatStretch

AnyStretch: TypeAlias = FloatStretch | ExactStretch


def known_exactly(stretch: AnyStretch) -> TypeGuard[ExactStretch]:
    """Whether a stretch can tell where its points are without rounding."""
    return isinstance(stretch, ExactStretch)


def exact_targets(stretch: ExactStretch, points: Sequence[int]) -> np.ndarray:
    """Where some of the points go, Fractions (k, d)."""
    return stretch.targets.rows(points).fractions()


def exact_positions(stretch: ExactStretch, layer: int, points: Sequence[int]) -> np.ndarray:
    """Where some of the points are at a layer that the stretch covers, Fractions (k, d).

    Refused where that would be numbers of too many digits, unless the points stand still.
    """
    some = replace(stretch, positions=stretch.positions.rows(points), targets=stretch.targets.rows(points))
    return some.integers_at(layer).fractions()
