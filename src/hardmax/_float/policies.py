"""What counts as a tie in floats: `TieSlack` takes close scores for ties, `Proof` proves every choice."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from hardmax._attended import Choices
from hardmax._exact.positions import ExactPositions, ExactView
from hardmax._exact.vectors import IntegerVector
from hardmax._float.active_set import ActiveSet
from hardmax._float.argmax import ArgmaxResult, exact_argmax, exact_products, first_or_second, nearest, nearest_rows
from hardmax._float.bands import are_spread, search_in_bands
from hardmax._float.bounds import LARGEST, SMALLEST, SlackFactors, float_metric
from hardmax._float.events import Layer
from hardmax._float.frame import Frame
from hardmax._float.search import Cpu
from hardmax._tokens.points import Points
from hardmax._validation import InputError, check_real
from hardmax.dynamics import Dynamics

# So few candidates are compared as integers at once; as many scores are made at a time.
_FEW, _BLOCK = 4, 2**20


@dataclass(frozen=True)
class TieSlack:
    """Tie policy: scores within a fixed share of ``|A z_i| |z_j|`` are ties. Nothing is proved.

    Parameters
    ----------
    relative : float, default 1e-12
        The share. With 0 scores are compared with ``==``, which rounding makes wrong as soon as there are ties.

    Examples
    --------
    >>> import hardmax as hm
    >>> run = hm.simulate([[1, 1], [1, -1], [0.5, 0]], hm.Dynamics(1), layers=3, arithmetic=hm.TieSlack(1e-9))
    >>> run.attended(0).tolist(), run.certified
    ([[0], [1], [0, 1]], False)
    """

    relative: float = 1e-12

    def __post_init__(self) -> None:
        object.__setattr__(self, "relative", check_real(self.relative, "`relative`", at_least=0))


class CloseTies:
    """`TieSlack` at work on one run, in the scale of `frame`, whose numbers are `error` off (nan: not promised)."""

    def __init__(self, points: Points, dynamics: Dynamics, relative: float) -> None:
        reach = float(np.abs(points.floats).max())
        if reach and not SMALLEST**4 <= reach <= LARGEST**4:
            raise InputError(
                f"`tokens` reach {reach:.1e}, where float scores overflow or vanish. "
                "Use arithmetic='certified', or scale the cloud.",
                argument="tokens",
                also=("arithmetic='certified'",),
            )
        self.frame, self.error = Frame.of(points), np.nan
        self.metric = float_metric(dynamics)
        self._relative = relative

    def decide(self, active: ActiveSet, pending: np.ndarray, guesses: np.ndarray, cpu: Cpu) -> ArgmaxResult:
        """Whom the pending points attend to: all who are candidates. Guesses may save time."""
        rows = rows_of(active, pending)
        slack = self._relative * self.metric.norm * active.norms[rows] * active.longest
        return active.search(cpu, self.metric.directions(active.positions[rows]), slack, guesses)

    def lasting(self, active: ActiveSet, choices: Choices, decided: np.ndarray, pending: np.ndarray) -> int | None:
        """For how many layers these choices last; None: for ever. `decided` are the points that have just chosen,
        `pending` those who do not follow a leader."""
        return 1 if len(pending) else None

    def is_leader(self, choices: Choices) -> np.ndarray:
        """Which points attend to their own position alone."""
        return choices.is_leader

    def exactly(self) -> ExactView | None:
        """Exact positions in the phase that was decided last, where every choice is proved."""
        return None


class ProvedTies:
    """Every choice must lead by more than floats can be wrong (`bounds`); where one does not, exact positions decide."""

    def __init__(self, points: Points, dynamics: Dynamics) -> None:
        self.frame = Frame.of(points).balanced(float_metric(dynamics))
        self.error = self.frame.error
        self.metric = self.frame.metric(float_metric(dynamics))
        self._dynamics = dynamics
        self._factors = SlackFactors.of(points.dimension, self.metric)
        self._exact = ExactPositions(points, dynamics)

    def decide(self, active: ActiveSet, pending: np.ndarray, guesses: np.ndarray, cpu: Cpu) -> ArgmaxResult:
        self._exact.begin(active.layer)
        found = self._search(active, pending, guesses, cpu)
        if not len(found.contested):
            return found
        # Tokens are floats, of which some metrics give directions without rounding.
        directions = exact_products(self.frame.numbers, self.metric) if active.layer == 0 and not self.error else None
        if directions is None:
            candidates, lead = self._decide_exactly(pending[found.contested].tolist(), found.candidates)
        else:
            candidates, lead = exact_argmax(directions[found.contested], self.frame.numbers, found.candidates)
        return replace(found, candidates=candidates, gap=min(found.gap, lead), by=(*found.by, "integers"))

    def _search(self, active: ActiveSet, pending: np.ndarray, guesses: np.ndarray, cpu: Cpu) -> ArgmaxResult:
        if are_spread(active.norms):
            every = active.reopened()
            own = every.positions[pending], every.errors[pending]
            return search_in_bands(cpu.hold, own, every.positions, every.errors, self.metric, self._factors)
        rows = rows_of(active, pending)
        directions, error = self.metric.directions(active.positions[rows]), float(active.errors.max())
        slack = self._factors.slack(active.norms[rows], active.errors[rows], active.longest, error)
        return active.search(cpu, directions, slack, guesses)

    def _decide_exactly(self, points: list[int], candidates: Choices) -> tuple[Choices, float]:
        """Who is furthest for each of some points among its candidates, and their smallest lead over the others."""
        exact = self._exact
        # Exact leads are measured by tokens as they came and the metric's integers, those of floats by the frame's.
        unit = self.metric.scale / (self.frame.unit**2 * self._dynamics.metric_denominator)
        directions = [exact.along(exact.place(point)) for point in points]
        sets, leads = [np.empty(0, dtype=np.int64)] * len(points), [np.inf]
        # Rows in groups, by the first candidate: more candidates than a row has do no harm to it.
        firsts = candidates.firsts(np.arange(len(points)))
        order = np.argsort(firsts, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(firsts[order])) + 1):
            together = np.unique(candidates.of_rows(rows).indices)
            close = self._close_ones([directions[row] for row in rows], together)
            for row, some in zip(rows.tolist(), close, strict=True):
                sets[row], lead = exact.furthest(directions[row], some)
                if lead is None and len(some) < len(together):  # they tie: who comes next is not among them
                    _, lead = exact.furthest(directions[row], together)
                leads.append(np.inf if lead is None else float(lead * unit))
        return Choices.of_arrays(sets), min(leads)

    def _close_ones(self, directions: list[IntegerVector], points: np.ndarray) -> Iterator[np.ndarray]:
        """For each direction those of the points that can be furthest along it, or next to that.

        Where neighbours compete, they are not far from one another. So exact differences, rounded once, tell most of
        them apart, where positions in floats do not.
        """
        if len(points) <= _FEW:
            yield from [points] * len(directions)
            return
        offsets, block = nearest(self._exact.offsets(points)), max(1, _BLOCK // len(points))
        for start in range(0, len(directions), block):
            some = nearest_rows([direction.numerators for direction in directions[start : start + block]])
            for close in first_or_second(some, offsets):
                yield points[close]

    def lasting(self, active: ActiveSet, choices: Choices, decided: np.ndarray, pending: np.ndarray) -> int | None:
        self._exact.note(decided, choices.of_rows(decided), choices.follows_leader[decided])
        if not len(pending):
            return None
        if choices.all_single and self._dynamics.is_definite:
            # Somebody attends to a point that is no leader, and so moves towards another one: the target moves.
            return 1
        return Layer(active, choices, self._dynamics, self.metric, self._exact).layers_unchanged(pending)

    def is_leader(self, choices: Choices) -> np.ndarray:
        if self._dynamics.is_definite or choices.all_single:
            return choices.is_leader
        # With a metric that is not positive definite distinct points can meet; those that have met are one.
        leading = choices.is_leader.copy()
        for point in np.flatnonzero(choices.sizes > 1).tolist():
            # One by one: the first that is elsewhere decides, and a point without a direction attends to everybody.
            here = self._exact.place(point)
            leading[point] = all(self._exact.place(j) == here for j in choices[point].tolist())
        return leading

    def exactly(self) -> ExactView | None:
        return self._exact.view()


def rows_of(active: ActiveSet, pending: np.ndarray) -> slice | np.ndarray:
    """The rows of the pending points among the members."""
    return slice(None) if len(pending) == len(active) else active.rows_of(pending)
