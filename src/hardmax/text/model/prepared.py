"""A model in the arrays that kernels read."""

from dataclasses import dataclass

import numpy as np

from hardmax.dynamics import Dynamics
from hardmax.engines.exact.powers import float_powers
from hardmax.engines.floats.bounds import kernel_factors
from hardmax.engines.floats.metric import float_metric

_LEVELS_PER_OCTAVE, _LEVELS = 8, 128


@dataclass(frozen=True, eq=False)
class Prepared:
    """Vectors and what follows from them; the extra token, if there is one, is the last row."""

    table: np.ndarray  # (tokens, d) float64
    level_of: np.ndarray  # (tokens,) the longest words are on level 0
    reach_of_level: np.ndarray  # no word on a level, or on a later one, is longer
    scores: np.ndarray  # (tokens, rows) <decoder, vector> / temperature
    bias: np.ndarray  # (rows,) / temperature
    metric: np.ndarray  # () for the identity
    keep: float
    powers: np.ndarray  # of keep, 0 … layers
    factors: np.ndarray  # of the error bounds, see `hardmax.engines.floats.bounds`
    presence: bool  # a word said twice counts once

    @classmethod
    def of(
        cls,
        table: np.ndarray,
        decoder: np.ndarray,
        bias: np.ndarray,
        temperature: float,
        dynamics: Dynamics,
        layers: int,
        presence: bool,
    ) -> "Prepared":
        table = table.astype(np.float64) + 0.0  # -0.0 becomes 0.0: the same number must have the same bits
        metric = float_metric(dynamics)
        return cls(
            table,
            *_levels(table),
            _dots(table, decoder.astype(np.float64)) / temperature,
            bias.astype(np.float64) / temperature,
            np.empty((0, 0)) if metric.matrix is None else metric.matrix,
            float(dynamics.keep),
            float_powers(dynamics.keep, 0, layers + 1),
            np.array(kernel_factors(table.shape[1], metric)),
            presence,
        )

    def voices(self, counts: np.ndarray) -> np.ndarray:
        """How much each word counts, given how often it is said."""
        return np.minimum(counts, 1) if self.presence else counts


def _dots(table: np.ndarray, decoder: np.ndarray) -> np.ndarray:
    """Dot products added axis by axis: the same bits whatever library multiplies matrices."""
    total = np.zeros((len(table), len(decoder)))
    for axis in range(table.shape[1]):
        total += table[:, axis : axis + 1] * decoder[:, axis]
    return total


def _levels(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    norms = np.sqrt((table**2).sum(axis=1))
    with np.errstate(divide="ignore"):
        octaves = np.log2(norms.max(initial=0.0) or 1.0) - np.log2(norms)
    levels = np.clip(octaves * _LEVELS_PER_OCTAVE, 0, _LEVELS - 1).astype(np.uint8)
    reach = np.zeros(_LEVELS)
    np.maximum.at(reach, levels, norms)
    return levels, np.ascontiguousarray(np.maximum.accumulate(reach[::-1])[::-1])
