"""A model in the arrays that kernels read."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hardmax._batch import Rules
from hardmax._exact.vectors import float_powers
from hardmax._float.bounds import float_metric, kernel_factors
from hardmax.dynamics import Dynamics
from hardmax.text.model.kernels.walking import ROWS_AT_MOST, Depth, Vectors
from hardmax.text.tokens.encoding import Encoded

if TYPE_CHECKING:
    from hardmax.text.model.analysis import Analysis

_LEVELS_PER_OCTAVE, _LEVELS = 8, 128


class Decoding(NamedTuple):
    """From the mean of a text to its logits: (decoder mean + bias) / temperature."""

    decoder: np.ndarray  # (rows, d)
    bias: np.ndarray  # (rows,)
    temperature: float

    def says(self, points: np.ndarray) -> np.ndarray:
        """What a text would add to the logits all of whose words lie at a point, (points, rows)."""
        return _dots(points, self.decoder.astype(np.float64)) / self.temperature


class Words(NamedTuple):
    """The vectors that a text can have, and whether a word said twice counts once; gate and weight as in `Model`."""

    words: np.ndarray  # (tokens, d)
    extra: np.ndarray | None  # (d,) in every text
    binary: bool
    gate: float | None = None
    neutral_weight: int = 1


@dataclass(frozen=True, eq=False)
class Prepared:
    """Vectors and what follows from them; the extra token, if there is one, comes after all words.

    With a gate there is one more, where silent tokens start: halfway to the extra token, whom alone they attend to.
    """

    vectors: Vectors
    rules: Rules
    depth: Depth
    decoding: Decoding
    scores: np.ndarray  # (tokens, rows) <decoder, vector> / temperature
    bias: np.ndarray  # (rows,) / temperature
    binary: bool  # a word said twice counts once
    extra: int  # the number of the extra token; -1: there is none
    neutral_weight: int  # how many words the extra token weighs
    gate: float | None
    strengths: np.ndarray  # of each row the largest |coordinate|, if there is a gate

    @classmethod
    def of(cls, vectors: Words, decoding: Decoding, dynamics: Dynamics, layers: float) -> "Prepared":
        """The arrays for the vectors of words, and how their mean is decoded."""
        silent = [] if vectors.gate is None or vectors.extra is None else [vectors.extra / 2]
        table = vectors.words if vectors.extra is None else np.vstack([vectors.words, vectors.extra, *silent])
        table = table.astype(np.float64) + 0.0  # -0.0 becomes 0.0: the same number must have the same bits
        metric = float_metric(dynamics)
        matrix = np.empty((0, 0)) if metric.matrix is None else metric.matrix
        factors = np.array(kernel_factors(table.shape[1], metric))
        endless = math.isinf(layers)
        walked = ROWS_AT_MOST - 1 if endless else int(layers)
        powers = np.zeros(walked + 1) if endless else float_powers(dynamics.contraction, 0, walked + 1)
        return cls(
            Vectors(table, *_levels(table)),
            Rules(matrix, float(dynamics.contraction), walked, factors),
            Depth(powers, endless),
            decoding,
            decoding.says(table),
            decoding.bias.astype(np.float64) / decoding.temperature,
            vectors.binary,
            -1 if vectors.extra is None else len(vectors.words),
            vectors.neutral_weight,
            vectors.gate,
            np.append(np.abs(vectors.words).max(axis=1, initial=0.0).astype(np.float64), [0.0] * (1 + len(silent))),
        )

    @property
    def table(self) -> np.ndarray:
        """The vectors of words, (tokens, d) float64."""
        return self.vectors.table

    @cached_property
    def has_neutral(self) -> bool:
        """Whether the extra token says the same of every class, so that it makes no difference who follows it."""
        if self.extra < 0:
            return False
        says = self.scores[self.extra]
        return bool((says == (says[0] if len(says) > 1 else 0.0)).all())

    def voices(self, found: "Encoded | Analysis") -> np.ndarray:
        """How much each word counts, given how often it is said, and the extra token."""
        counts = np.minimum(found.counts, 1) if self.binary else found.counts
        return counts if self.neutral_weight == 1 else np.where(found.ids == self.extra, self.neutral_weight, counts)

    def rows(self, found: Encoded) -> np.ndarray:
        """The row of the table at which each token starts: its own, or, where the gate is closed, that of the silent.

        A token is active if its strength is more than the share `gate` of the largest of its text.
        """
        if self.gate is None or not len(found.ids):
            return found.ids
        strengths = self.strengths[found.ids]
        largest = np.maximum.reduceat(strengths, found.offsets[:-1])  # every text has the extra token
        is_silent = strengths <= self.gate * np.repeat(largest, np.diff(found.offsets))
        return np.where(is_silent & (found.ids != self.extra), self.extra + 1, found.ids).astype(found.ids.dtype)


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
