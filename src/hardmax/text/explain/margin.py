"""How near an explanation is to another one: the smallest lead by which a word attends to whom it attends."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from hardmax._attended import Choices
from hardmax.dynamics import Dynamics

if TYPE_CHECKING:
    from hardmax.trajectory import Trajectory

_AT_ONCE = 4_000_000  # scores


@dataclass(frozen=True)
class Margin:
    """The choice of a word that is nearest to another: `word` attends to `attended`, and would next to `rival`.

    `lead` is <A z, a - r>, with z, a and r where these three are at the `layer`, as a share of |A| R²: R is the length
    of the longest vector of the text, |A| the Frobenius norm of the metric, 1 for the identity. So it has no unit, and
    changes with no change of scale. 0 is a tie.
    """

    lead: float
    word: str
    attended: str
    rival: str
    layer: int


def nearest_change(run: "Trajectory", words: Sequence[str], layers: float) -> Margin | None:
    """The smallest lead of all words in so many layers; None where nobody has a choice: no layers, or all in one place.

    Who follows a leader does so for ever, and counts no more. The exact run tells who attends to whom; floats find the
    smallest lead, and it is then worked out in fractions.
    """
    found: list[tuple[float, int, int, int, int]] = []
    has_chosen = np.zeros(run.points.count, dtype=bool)
    for layer in run.decided_at:
        if layer >= layers:
            break
        choices = run.attended(layer).choices
        places = run.phase_at(layer).floats_at(layer)
        if len(places) > 1:
            found += [(lead, layer, *who) for lead, *who in _leads(places, choices, ~has_chosen, run.dynamics)]
        has_chosen = choices.follows_leader
    if not found:
        return None
    _, layer, *points = min(found)
    tokens = [int(run.points.members[point][0]) for point in points]
    word, attended, rival = (words[token] for token in tokens)
    return Margin(_exact_lead(run, layer, points), word, attended, rival, layer)


def _leads(places: np.ndarray, choices: Choices, asked: np.ndarray, dynamics: Dynamics) -> list:
    """The smallest lead of the points that are asked, and of whom over whom, some points at a time."""
    metric = np.eye(places.shape[1]) if dynamics.metric is None else np.array(dynamics.metric, dtype=np.float64)
    rows = np.flatnonzero(asked)
    found = []
    for some in np.array_split(rows, -(-len(rows) * len(places) // _AT_ONCE)) if len(rows) else []:
        scores = places[some] @ metric.T @ places.T
        first = choices.firsts(some)
        best = scores[np.arange(len(some)), first].copy()
        scores[np.arange(len(some)), first] = -np.inf
        second = scores.argmax(axis=1)
        for n in np.flatnonzero(choices.sizes[some] > 1).tolist():  # the second of those who share it is level
            second[n] = choices[int(some[n])][1]
        leads = np.where(choices.sizes[some] > 1, 0.0, best - scores[np.arange(len(some)), second])
        n = int(leads.argmin())
        found.append((float(leads[n]), int(some[n]), int(first[n]), int(second[n])))
    return found


def _exact_lead(run: "Trajectory", layer: int, points: list[int]) -> float:
    phase = run.phase_at(layer)
    word, attended, rival = run._exactly(phase).later(points, layer - phase.layer)
    metric = run.dynamics.metric or [[Fraction(i == j) for j in range(len(word))] for i in range(len(word))]
    towards = [sum(a * z for a, z in zip(row, word, strict=True)) for row in metric]
    lead = sum(t * (a - r) for t, a, r in zip(towards, attended, rival, strict=True))
    size = 1.0 if run.dynamics.metric is None else float(np.linalg.norm(np.array(metric, dtype=np.float64)))
    return float(lead) / (size * float((run.points.floats**2).sum(axis=1).max()))
