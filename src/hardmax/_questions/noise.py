"""How likely it is that moving all tokens a little changes no attended set.

Each coordinate of each token is moved by up to e, uniformly. As long as attended sets are the same,
tokens at a layer are means of the first ones, so every lead is a quadratic in the moves s:
l + <g, s> + <s, M s>. Attended sets change if and only if one of the leads that `radius` asks for
is not positive.

In a box of moves around its middle, <s, M s> is bounded, and <g, s> is a sum of independent uniform
numbers, whose distribution function is a Fourier series: with weights w_k, P = 2 sum w_k,
v = 2 pi m / P and S(x) = sin x / x,

    F(t) = 1/2 + t / P + sum over m = 1, 2, … of sin(v t) / (pi m) prod over k of S(v w_k),

and from m = N on the terms are less than those of a series that is known, since |S(x)| <=
min(1, 1 / |x|). So the probability that a lead is lost is enclosed; that any is lost is at least
the largest of these, and at most their sum. Boxes in which these differ most are halved."""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from hardmax._common.validation import Progress
from hardmax._questions.laws import Enclosure
from hardmax._runs.trajectory import Trajectory

_TERMS = 24  # of the series
_AT_ONCE = 64  # boxes
_PAIRS = 256  # of a lead and a box, at once
_PARTS = 4
_ROUNDING = 1e-10  # of sums of some hundred floats up to 1; far more than is needed


@dataclass(frozen=True, eq=False)
class Leads:
    """Leads as quadratics l + <g, s> + <s, M s> of moves s in the cube from -1 to 1, each in its
    own unit."""

    constants: np.ndarray
    """l, (k,)."""
    slopes: np.ndarray
    """g, (k, n d)."""
    curvatures: np.ndarray
    """M, symmetric, (k, n d, n d)."""


class Tie(NamedTuple):
    """A token that attends to several; moves almost surely break that, unless scores are the same
    whatever tokens are."""

    breaks: bool


def leads_of(run: Trajectory, noise: Fraction) -> Leads | Tie:
    """The leads of a run that has settled, at all layers, of which one could be lost."""
    n, d = run.n, run.d
    tokens, alpha = run.at(0, exact=True), run.dynamics.alpha
    metric = run.dynamics.matrix
    if metric is None:
        metric = np.array([[Fraction(int(r == c)) for c in range(d)] for r in range(d)])
    shares = np.array([[Fraction(int(i == j)) for j in range(n)] for i in range(n)], dtype=object)
    pending, found = list(range(n)), []
    while pending:
        sets = run.attended(len(found))
        leads = []
        for i in pending:
            chosen, *tied = sets[i]
            for j in tied or [j for j in range(n) if j != chosen]:
                over = shares[chosen] - shares[j]
                leads.append(_lead(shares[i], over, tokens, metric, noise))
            if tied:
                return Tie(any(slopes.any() or bends.any() for _, slopes, bends in leads))
        found.append(leads)
        chosen = [int(attended[0]) for attended in sets]
        pending = [i for i in pending if chosen[chosen[i]] != chosen[i]]
        shares = (shares + alpha * shares[chosen]) / (1 + alpha)
    kept = []
    for constant, slopes, bends in itertools.chain(*found):
        slopes, bends = (table.astype(np.float64) for table in (slopes, bends))
        unit = float(np.abs(slopes).sum() + np.abs(bends).sum())
        if float(constant) <= unit * (1 + 1e-9):
            kept.append((float(constant / Fraction(unit)), slopes / unit, bends / unit))
    constants, slopes, bends = zip(*kept, strict=True) if kept else ([], [], [])
    size = n * d
    return Leads(
        np.array(constants, dtype=np.float64),
        np.array(slopes, dtype=np.float64).reshape(-1, size),
        np.array(bends, dtype=np.float64).reshape(-1, size, size),
    )


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

    def rows(self, chosen: np.ndarray) -> "Boxes":
        """Some of the boxes."""
        return Boxes(*(column[chosen] for column in self))

    def halves(self, leads: Leads) -> "Boxes":
        """All boxes in two."""
        rows, reaches = np.arange(len(self.axes)), self.reaches.copy()
        reaches[rows, self.axes] /= 2
        steps = np.zeros_like(reaches)
        steps[rows, self.axes] = reaches[rows, self.axes]
        middles = np.concatenate([self.middles - steps, self.middles + steps])
        return examined(leads, middles, np.concatenate([reaches, reaches]))

    def and_more(self, others: "Boxes") -> "Boxes":
        """These and others."""
        return Boxes(*map(np.concatenate, zip(self, others, strict=True)))


def examined(leads: Leads, middles: np.ndarray, reaches: np.ndarray) -> Boxes:
    """Boxes of moves with what is known of them."""
    shape = len(middles), len(leads.constants)
    boxes, which = (place.ravel() for place in np.indices(shape))
    here = _Expansion(leads, which, middles[boxes], reaches[boxes])
    low, high = here.surely.astype(np.float64), here.possibly.astype(np.float64)
    (open_,) = np.nonzero(here.possibly & ~here.surely)
    for start in range(0, len(open_), _PAIRS):
        some = open_[start : start + _PAIRS]
        low[some], high[some] = _lost(leads, which[some], *here.parts(some))
    low, high = low.reshape(shape), high.reshape(shape)
    doubt = (high * (1.01 - low)).ravel()[:, None]
    influence = (doubt * (here.weights + 2 * here.bends)).reshape(*shape, -1).sum(axis=1)
    worst = low.max(axis=1, initial=0), np.minimum(high.sum(axis=1), 1)
    return Boxes(middles, reaches, *worst, influence.argmax(axis=1))


class _Expansion:
    """Some leads around the middles of some boxes."""

    def __init__(
        self, leads: Leads, which: np.ndarray, middles: np.ndarray, reaches: np.ndarray
    ) -> None:
        self.middles, self.reaches = middles, reaches
        curvatures = leads.curvatures[which]
        bent = np.einsum("pab,pb->pa", curvatures, middles)
        slopes = leads.slopes[which]
        self.height = leads.constants[which] + ((slopes + bent) * middles).sum(axis=1)
        self.weights = np.abs(slopes + 2 * bent) * reaches
        self.bends = np.einsum("pab,pb->pa", np.abs(curvatures), reaches) * reaches
        squares = np.einsum("paa->pa", curvatures) * reaches**2
        others = self.bends.sum(axis=1) - np.abs(squares).sum(axis=1) + _ROUNDING
        self.below = self.height - others + np.minimum(squares, 0).sum(axis=1)
        self.above = self.height + others + np.maximum(squares, 0).sum(axis=1)
        reach = self.weights.sum(axis=1)
        self.possibly, self.surely = self.below <= reach, self.above <= -reach

    def parts(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Boxes cut along the two coordinates in which their leads are bent most."""
        axes = np.argsort(-self.bends[rows], axis=1)[:, :2]
        order, reaches = np.arange(len(rows)), self.reaches[rows].copy()
        middles = [self.middles[rows]]
        for axis in axes.T:
            reaches[order, axis] /= _PARTS
            steps = np.zeros_like(reaches)
            steps[order, axis] = reaches[order, axis]
            ends = range(1 - _PARTS, _PARTS, 2)
            middles = [middle + end * steps for middle in middles for end in ends]
        return np.stack(middles, axis=1), reaches


def _lost(
    leads: Leads, which: np.ndarray, middles: np.ndarray, reaches: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The share of some boxes, in parts of one size, in which a lead is lost: bounds."""
    pairs, parts, size = middles.shape
    every = np.repeat(np.arange(pairs), parts)
    here = _Expansion(leads, which[every], middles.reshape(-1, size), reaches[every])
    bounds = []
    for heights, sign in ((here.above, -1), (here.below, 1)):
        reach = here.weights.sum(axis=1)
        bound = (heights <= -reach).astype(np.float64)
        rows = np.abs(heights) < reach
        value, error = distribution(here.weights[rows], -heights[rows])
        bound[rows] = np.clip(value + sign * error, 0, 1)
        bounds.append(bound.reshape(pairs, parts).mean(axis=1))
    return bounds[0], bounds[1]


def distribution(weights: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The probability that a sum of independent numbers, uniform from -w to w for each weight w of
    a row, is at most t; and a bound of its error."""
    period = 2 * weights.sum(axis=1)
    m = np.arange(1, _TERMS + 1)
    v = 2 * np.pi * m / period[:, None]
    shares = np.prod(np.sinc(v[:, None] * weights[:, :, None] / np.pi), axis=1)
    value = 0.5 + t / period + (np.sin(v * t[:, None]) * shares / (np.pi * m)).sum(axis=1)
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
    if isinstance(leads, Tie):
        return Enclosure(0.0, 0.0 if leads.breaks else 1.0)
    if not len(leads.constants):  # none can be lost
        return Enclosure(1.0, 1.0)
    size = run.n * run.d
    boxes = examined(leads, np.zeros((1, size)), np.ones((1, size)))
    looked = 1
    while looked < effort and boxes.gaps.sum() > tolerance:
        if progress is not None:
            progress(looked, effort)
        order = np.argsort(-boxes.gaps)
        worst, rest = order[:_AT_ONCE], order[_AT_ONCE:]
        boxes = boxes.rows(rest).and_more(boxes.rows(worst).halves(leads))
        looked += 2 * len(worst)
    shares = boxes.reaches.prod(axis=1)
    low, high = 1 - shares @ boxes.high, 1 - shares @ boxes.low
    return Enclosure(max(0.0, float(low) - _ROUNDING), min(1.0, float(high) + _ROUNDING))
