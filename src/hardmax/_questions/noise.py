"""How likely it is that moving all tokens a little changes no attended set.

Each coordinate of each token is moved by up to e, uniformly. As long as attended sets are the same,
tokens at a layer are means of the first ones, so every lead is a quadratic in the moves s:
l + <g, s> + <s, M s>. Attended sets change if and only if one of the leads that `radius` asks for
is not positive.

In a part of a box of moves, around its middle, <s, M s> is bounded, and <g, s> is a sum of
independent uniform numbers, whose distribution function is a Fourier series: with weights w_k,
P = 2 sum w_k, v = 2 pi m / P and S(x) = sin x / x,

    F(t) = 1/2 + t / P + sum over m = 1, 2, … of sin(v t) / (pi m) prod over k of S(v w_k),

and from m = N on the terms are less than those of a series that is known, since |S(x)| <=
min(1, 1 / |x|). So the probability that a lead is lost is enclosed; that any is lost is at least
the largest of these in a box, and at most their sum. Boxes in which these differ most are halved;
each lead is looked at in parts, across the coordinates in which it is bent most."""

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from hardmax._common.validation import Progress
from hardmax._questions.laws import Enclosure
from hardmax._runs.trajectory import Trajectory

_TERMS = 12  # of the series
_AT_ONCE = 256  # boxes
_CUTS = 3  # through a box, for each lead
_ROUNDING = 1e-10  # of sums of some hundred floats up to 1; far more than is needed


class Lead(NamedTuple):
    """A lead as a quadratic l + <g, s> + <s, M s> of moves s in the cube from -1 to 1, in its own
    unit."""

    axes: np.ndarray
    """Which moves matter."""
    constant: float
    """l."""
    slopes: np.ndarray
    """g, of these moves."""
    curvatures: np.ndarray
    """M, symmetric."""


def leads_of(run: Trajectory, noise: Fraction) -> list[Lead] | Enclosure:
    """The leads of a run that has settled, at all layers, of which one could be lost; or the
    probability that nothing changes, if there is a tie: moves almost surely break it, unless scores
    are the same whatever tokens are, as those of tokens that have met."""
    n, d = run.n, run.d
    tokens, alpha = run.at(0, exact=True), run.dynamics.alpha
    metric = run.dynamics.matrix
    metric = np.eye(d, dtype=object) if metric is None else metric
    shares: Any = np.eye(n, dtype=object)
    pending, found = list(range(n)), []
    while pending:
        sets = run.attended(len(found))
        leads = []
        for i in pending:
            chosen, *tied = sets[i]
            others = tied or [j for j in range(n) if j != chosen]
            ways = [shares[chosen] - shares[j] for j in others]
            asked = [_lead(shares[i], way, tokens, metric, noise) for way in ways]
            if tied:
                breaks = any(slopes.any() or bends.any() for _, slopes, bends in asked)
                return Enclosure(0.0, 0.0 if breaks else 1.0)
            leads += asked
        found.append(leads)
        chosen = [int(attended[0]) for attended in sets]
        pending = [i for i in pending if chosen[chosen[i]] != chosen[i]]
        shares = (shares + alpha * shares[chosen]) / (1 + alpha)
    kept = []
    for constant, slopes, bends in itertools.chain(*found):
        slopes, bends = (table.astype(np.float64) for table in (slopes, bends))
        unit = float(np.abs(slopes).sum() + np.abs(bends).sum())
        if float(constant) <= unit * (1 + 1e-9):
            (axes,) = np.nonzero((slopes != 0) | bends.any(axis=0))
            slopes, bends = slopes[axes] / unit, bends[np.ix_(axes, axes)] / unit
            kept.append(Lead(axes, float(constant / Fraction(unit)), slopes, bends))
    return kept


def _lead(
    look: np.ndarray, over: np.ndarray, tokens: np.ndarray, metric: np.ndarray, noise: Any
) -> tuple[Any, Any, Any]:
    """<A z, w> for the sums z and w of tokens with these weights: l, g and M, exactly."""
    z, w = look @ tokens, over @ tokens
    slopes = np.outer(look, w @ metric) + np.outer(over, metric @ z)
    both = np.kron(np.outer(look, over), metric.T)
    return (metric @ z) @ w, (noise * slopes).ravel(), noise**2 / 2 * (both + both.T)


class Boxes(NamedTuple):
    """Boxes of moves, and enclosures of the share of each that changes an attended set."""

    middles: np.ndarray
    """(m, n d)."""
    reaches: np.ndarray
    """How far moves are from the middle, at most, (m, n d)."""
    low: np.ndarray
    high: np.ndarray
    axes: np.ndarray
    """Along which it is best to halve them."""

    @property
    def gaps(self) -> np.ndarray:
        """What is not known, times the share of the box among all moves."""
        return self.reaches.prod(axis=1) * (self.high - self.low)

    def halved(self, leads: Sequence[Lead], most: int) -> "Boxes":
        """The same with so many boxes in two, of which most is not known."""
        worst, rest = np.split(np.argsort(-self.gaps), [most])
        parts, reaches = _halves([self.middles[worst]], self.reaches[worst], self.axes[worst])
        halves = examined(leads, np.concatenate(parts), np.concatenate([reaches, reaches]))
        pairs = zip(self, halves, strict=True)
        return Boxes(*(np.concatenate([old[rest], new]) for old, new in pairs))


def examined(leads: Sequence[Lead], middles: np.ndarray, reaches: np.ndarray) -> Boxes:
    """Boxes of moves with what is known of them."""
    largest, total = np.zeros(len(middles)), np.zeros(len(middles))
    influence = np.zeros_like(reaches)
    for lead in leads:
        low, high, matters = _lost(lead, middles[:, lead.axes], reaches[:, lead.axes])
        largest, total = np.maximum(largest, low), total + high
        influence[:, lead.axes] += matters
    return Boxes(middles, reaches, largest, np.minimum(total, 1), influence.argmax(axis=1))


class _Expansion:
    """A lead around the middles of some boxes."""

    def __init__(self, lead: Lead, middles: np.ndarray, reaches: np.ndarray) -> None:
        bent = middles @ lead.curvatures
        height = lead.constant + ((lead.slopes + bent) * middles).sum(axis=-1)
        self.weights = np.abs(lead.slopes + 2 * bent) * reaches
        self.bends = reaches @ np.abs(lead.curvatures) * reaches
        squares = np.diag(lead.curvatures) * reaches**2
        others = self.bends.sum(axis=-1) - np.abs(squares).sum(axis=-1) + _ROUNDING
        below = height - others + np.minimum(squares, 0).sum(axis=-1)
        above = height + others + np.maximum(squares, 0).sum(axis=-1)
        reach = self.weights.sum(axis=-1)
        # Lost if the linear part is at most the first, and not if it is above the second.
        self.thresholds = np.clip([-above, -below], -reach, reach)
        self.low = (above <= -reach).astype(np.float64)
        self.high = (below <= reach).astype(np.float64)

    @property
    def unknown(self) -> np.ndarray:
        """Which boxes are neither lost nor safe."""
        return self.low < self.high


def _lost(
    lead: Lead, middles: np.ndarray, reaches: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The share of some boxes in which a lead is lost, bounds; and how much each move matters."""
    whole = _Expansion(lead, middles, reaches)
    low, high, rows = whole.low, whole.high, whole.unknown
    here = _Expansion(lead, *_parts(middles[rows], reaches[rows], whole.bends[rows]))
    some = here.unknown
    value, error = distribution(here.weights[some], here.thresholds[:, some])
    here.low[some], here.high[some] = np.clip([value[0] - error, value[1] + error], 0, 1)
    low[rows], high[rows] = here.low.mean(axis=1), here.high.mean(axis=1)
    return low, high, (high * (1.01 - low))[:, None] * (whole.weights + 2 * whole.bends)


def _parts(
    middles: np.ndarray, reaches: np.ndarray, bends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Boxes halved along the coordinates in which a lead is bent most: (m, parts, size)."""
    parts = [middles]
    for axes in np.argsort(-bends, axis=1)[:, :_CUTS].T:
        parts, reaches = _halves(parts, reaches, axes)
    return np.stack(parts, axis=1), np.repeat(reaches[:, None], len(parts), axis=1)


def _halves(
    middles: list[np.ndarray], reaches: np.ndarray, axes: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """Boxes halved, each along its axis: their middles, and how far they reach."""
    halved = np.arange(reaches.shape[1]) == axes[:, None]
    reaches = np.where(halved, reaches / 2, reaches)
    return [some + way * halved * reaches for some in middles for way in (-1, 1)], reaches


def distribution(weights: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The probability that a sum of independent numbers, uniform from -w to w for each weight w of
    a row, is at most t, or each row of t; and a bound of its error."""
    period = 2 * weights.sum(axis=1)
    m = np.arange(1, _TERMS + 1)
    v = 2 * np.pi * m / period[:, None]
    x = np.maximum(v[:, None] * weights[:, :, None], 1e-9)  # S is 1 there, to all digits
    shares = np.prod(np.sin(x) / x, axis=1)
    value = 0.5 + t / period + (np.sin(v * t[..., None]) * shares / (np.pi * m)).sum(axis=-1)
    largest = -np.sort(-weights, axis=1)
    with np.errstate(divide="ignore"):
        ratios = period[:, None] / (2 * np.pi * _TERMS * largest)
        powers = np.arange(1, weights.shape[1] + 1)
        error = np.exp(np.cumsum(np.log(ratios), axis=1)) / (np.pi * powers)
    return value, error.min(axis=1) * (1 + 1e-9) + _ROUNDING


def unchanged(
    run: Trajectory, noise: Fraction, tolerance: float, effort: int, progress: Progress | None
) -> Enclosure:
    """The probability that no attended set changes, enclosed within the tolerance, or as far as so
    many boxes say."""
    leads = leads_of(run, noise)
    if isinstance(leads, Enclosure):
        return leads
    if not leads:  # none can be lost
        return Enclosure(1.0, 1.0)
    size = run.n * run.d
    boxes = examined(leads, np.zeros((1, size)), np.ones((1, size)))
    looked = 1
    while looked < effort and boxes.gaps.sum() > tolerance:
        if progress is not None:
            progress(looked, effort)
        most = min(_AT_ONCE, (effort - looked + 1) // 2, len(boxes.axes))
        boxes = boxes.halved(leads, most)
        looked += 2 * most
    shares = boxes.reaches.prod(axis=1)
    low, high = 1 - shares @ boxes.high, 1 - shares @ boxes.low
    return Enclosure(max(0.0, float(low) - _ROUNDING), min(1.0, float(high) + _ROUNDING))
