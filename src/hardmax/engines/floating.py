"""Walking in float64. A judge says how close two scores must be to count as tied, and what that is worth."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from hardmax.attended_sets import Choices
from hardmax.dynamics import Dynamics
from hardmax.engines.arena import Arena
from hardmax.engines.bounds import LARGEST, SMALLEST, UNIT, norms_above, rounding_error, score_slack, step_error
from hardmax.engines.contest import Contest
from hardmax.engines.cpu import CPU, Cpu
from hardmax.engines.stretch import FloatStretch
from hardmax.errors import InputError
from hardmax.tokens.points import Points
from hardmax.tokens.rationals import fits_float64


class Undecided(Exception):
    """Floats cannot prove who attends to whom."""


@dataclass(frozen=True, eq=False)
class FloatMetric:
    """The metric in floats, scaled by a power of two to a largest entry near 1: no attended set changes."""

    matrix: np.ndarray | None  # None: the identity
    norm: float  # at least the spectral norm: 1 for the identity, else Frobenius
    error: float

    def directions(self, points: np.ndarray) -> np.ndarray:
        return points if self.matrix is None else points @ self.matrix.T


@lru_cache(maxsize=64)
def float_metric(dynamics: Dynamics) -> FloatMetric:
    """The metric of the dynamics in floats."""
    if dynamics.metric is None:
        return FloatMetric(None, 1.0, 0.0)
    largest = max(abs(value) for row in dynamics.metric for value in row) or Fraction(1)
    scale = Fraction(2) ** (largest.denominator.bit_length() - largest.numerator.bit_length())
    scaled = [[value * scale for value in row] for row in dynamics.metric]
    matrix = np.array(scaled, dtype=np.float64)
    norm = float(np.linalg.norm(matrix))
    return FloatMetric(matrix, norm, 0.0 if fits_float64(np.array(scaled, dtype=object)) else 2 * UNIT * norm)


@dataclass(frozen=True, eq=False)
class Layer:
    """What a judge is shown: the sizes of the points of one layer."""

    norms: np.ndarray  # of the points whose choice is pending
    largest: float
    dimension: int
    metric: FloatMetric
    error: float


class Judge(Protocol):
    """Says what counts as a tie, and keeps account of the error."""

    def slack(self, layer: Layer) -> np.ndarray:
        """Scores that differ by no more than this are tied, for each point."""
        ...

    def first_error(self, points: Points) -> float: ...

    def next_error(self, layer: Layer) -> float: ...

    def rule_on(self, contest: Contest) -> None:
        """Raise `Undecided` if a contest proves nothing."""
        ...


@dataclass(frozen=True)
class TieSlack:
    """Ties are scores within a fixed fraction of |A z_i| |z_j|. Nothing is proved.

    With `relative=0` scores are compared with `==`, which rounding makes wrong as soon as there are ties.
    """

    relative: float = 1e-12

    def slack(self, layer: Layer) -> np.ndarray:
        return self.relative * layer.metric.norm * layer.norms * layer.largest

    def first_error(self, points: Points) -> float:
        reach = largest_coordinate(points.floats)
        if reach and not SMALLEST**4 <= reach <= LARGEST**4:
            raise InputError(
                f"`tokens` reach {reach:.1e}, where float scores overflow or vanish. "
                "Use arithmetic='certified', or scale the cloud."
            )
        return np.nan

    def next_error(self, layer: Layer) -> float:
        return np.nan

    def rule_on(self, contest: Contest) -> None:
        pass


@dataclass(frozen=True)
class Proof:
    """Every choice must lead by more than floats can be wrong (see `bounds`)."""

    def slack(self, layer: Layer) -> np.ndarray:
        metric = layer.metric
        return score_slack(layer.norms, layer.largest, layer.dimension, metric.norm, metric.error, layer.error)

    def first_error(self, points: Points) -> float:
        if not SMALLEST <= largest_coordinate(points.floats) <= LARGEST:
            raise Undecided
        return 0.0 if points.floats_are_exact else rounding_error(float(norms_above(points.floats).max()))

    def next_error(self, layer: Layer) -> float:
        return layer.error + step_error(layer.largest)

    def rule_on(self, contest: Contest) -> None:
        # A tie is an equality of real numbers: floats can never prove one.
        if len(contest.contested):
            raise Undecided


@dataclass(frozen=True)
class FloatEngine:
    """Floats walk; the judge says what their choices are worth."""

    arithmetic: str
    judge: Judge
    cpu: Cpu = CPU

    def walk(self, points: Points, dynamics: Dynamics) -> Iterator[FloatStretch]:
        metric = float_metric(dynamics)
        error = self.judge.first_error(points)
        arena = Arena(layer=0, keep=dynamics.keep, multiplicities=points.multiplicities, places=points.floats)
        pending = np.arange(points.count)
        choices = Choices.of_single(pending)
        while True:
            # The hull of all is that of the members, so they have the largest norm.
            norms = norms_above(arena.places)
            asks = slice(None) if len(pending) == len(arena) else arena.rows_of(pending)
            layer = Layer(norms[asks], float(norms.max()), points.dimension, metric, error)
            looks, slack = metric.directions(arena.places[asks]), self.judge.slack(layer)
            if not arena.suffices(looks, slack):
                arena = arena.reopened()
            # At the first layer many attend to themselves, later most go on as they were.
            contest = arena.hold(self.cpu, looks, slack, choices.firsts(pending) if arena.layer else pending)
            self.judge.rule_on(contest)
            choices = choices.with_rows(pending, contest.choices())
            decided_by = self.cpu.search_for(len(pending), len(arena), points.dimension)
            pending = np.flatnonzero(~choices.follows_leader)
            error = self.judge.next_error(layer)
            yield FloatStretch(
                layer=arena.layer,
                until=arena.layer + 1 if len(pending) else None,
                choices=choices,
                alone=choices.alone,
                margin=relative_margin(contest.gap, metric.norm, layer.largest),
                keep=dynamics.keep,
                places=arena,
                error=error,
                decided_by=decided_by,
            )
            if not len(pending):
                return
            arena = arena.after_layer(choices)


def largest_coordinate(points: np.ndarray) -> float:
    """The largest absolute value, without a table of absolute values."""
    return max(float(points.max()), -float(points.min()))


def relative_margin(gap: float, metric_norm: float, largest: float) -> float:
    """The smallest lead of an attended point over one that is not, as a share of |A| R^2; inf where there is none."""
    return gap if np.isinf(gap) else gap / (metric_norm * largest**2)
