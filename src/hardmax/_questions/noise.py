"""How likely it is that moving all tokens a little changes no attended set.

Each coordinate of each token is moved by up to e, uniformly. As long as attended sets are the same,
tokens at a layer are means of the first ones, so every lead is a quadratic in the moves s:
l + <g, s> + <s, M s>. Attended sets change if and only if one of the leads that `radius` asks for
is not positive.

In a box of moves around its middle, <s, M s> is bounded, and <g, s> is a sum of independent uniform
numbers, whose distribution function is a Fourier series: with weights w_k, P = 2 sum w_k, and
v = 2 pi m / P,

    F(t) = 1/2 + t / P + sum over m = 1, 2, … of sin(v t) / (pi m) prod over k of sin(v w_k) / (v w_k),

and from m = N on the terms are less than those of a series that is known, since |sin x / x| <=
min(1, 1 / |x|). So the probability that a lead is lost is enclosed; that any is lost is at least
the largest of these, and at most their sum. Boxes in which these differ most are halved."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hardmax._common.validation import InputError, Progress
from hardmax._layer.rules import check_plain
from hardmax._limits.radius import MOST_LAYERS
from hardmax._questions.laws import Enclosure
from hardmax._runs.trajectory import Trajectory

_TERMS = 24  # of the series
_AT_ONCE = 64  # boxes
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


def leads_of(run: Trajectory, noise: Fraction) -> Leads | None:
    """The leads of a run that has settled, at all layers, of which one could be lost; None if some
    token attends to several, so that almost every move changes that."""
    n, d = run.n, run.d
    tokens = run.at(0, exact=True)
    metric = run.dynamics.metric
    metric = np.array(
        metric if metric is not None else [[Fraction(int(r == c)) for c in range(d)] for r in range(d)],
        dtype=object,
    )
    shares = np.array([[Fraction(int(i == j)) for j in range(n)] for i in range(n)], dtype=object)
    alpha = run.dynamics.alpha
    pending, found = list(range(n)), []
    for layer in range((run.settled_at or 0) + 1):
        sets = run.attended(layer)
        if any(len(attended) > 1 for attended in sets):
            return None
        chosen = [int(attended[0]) for attended in sets]
        for i in pending:
            for j in range(n):
                if j != chosen[i]:
                    over = shares[chosen[i]] - shares[j]
                    found.append(_lead(shares[i], over, tokens, metric, noise))
        pending = [i for i in pending if chosen[chosen[i]] != chosen[i]]
        if not pending:
            break
        shares = (shares + alpha * shares[chosen]) / (1 + alpha)
    kept = [lead for lead in found if lead is not None]
    size = n * d
    constants, slopes, curvatures = zip(*kept, strict=True) if kept else ([], [], [])
    return Leads(
        np.array(constants),
        np.array(slopes).reshape(-1, size),
        np.array(curvatures).reshape(-1, size, size),
    )


def _lead(look, over, tokens, metric, noise):
    """<A z, w> for the means z and w of tokens with these weights."""
    z, w = look @ tokens, over @ tokens
    constant = (metric @ z) @ w
    slopes = np.outer(look, w @ metric) + np.outer(over, metric @ z)
    slopes = (noise * slopes).ravel().astype(np.float64)
    both = np.kron(np.outer(look, over), metric.T)
    both = (noise**2 / 2 * (both + both.T)).astype(np.float64)
    unit = float(np.abs(slopes).sum() + np.abs(both).sum())
    if not unit or float(constant) > unit * (1 + 1e-9):
        return None
    return float(constant / Fraction(unit)), slopes / unit, both / unit


class Boxes:
    """Boxes of moves, their probabilities, and enclosures of the part of each that changes a
    set."""

    def __init__(self, leads: Leads, middles: np.ndarray, reaches: np.ndarray, masses: np.ndarray) -> None:
        self.leads, self.middles, self.reaches, self.masses = leads, middles, reaches, masses
        bent = np.einsum("kab,ma->mkb", leads.curvatures, middles)
        here = leads.constants + middles @ leads.slopes.T + np.einsum("mkb,mb->mk", bent, middles)
        slopes = leads.slopes + 2 * bent
        weights = np.abs(slopes) * reaches[:, None]
        sizes = np.abs(leads.curvatures)
        ways = np.einsum("kab,mb->mka", sizes, reaches) * reaches[:, None]
        diagonal = np.einsum("kaa->ka", leads.curvatures)
        own = np.einsum("ka,ma->mk", np.abs(diagonal), reaches**2)
        others = ways.sum(axis=2) - own
        low = others + np.einsum("ka,ma->mk", np.maximum(-diagonal, 0), reaches**2) + _ROUNDING
        high = others + np.einsum("ka,ma->mk", np.maximum(diagonal, 0), reaches**2) + _ROUNDING
        reach = weights.sum(axis=2)
        likely = np.where(here - low <= -reach, 1.0, 0.0)  # that the lead is lost, at most
        surely = np.where(here + high <= -reach, 1.0, 0.0)
        for bound, heights, sign in ((likely, here - low, 1), (surely, here + high, -1)):
            rows = np.nonzero(np.abs(heights) < reach)
            value, error = distribution(weights[rows], -heights[rows])
            bound[rows] = np.clip(value + sign * error, 0, 1)
        self.low, self.high = surely.max(axis=1, initial=0), np.minimum(likely.sum(axis=1), 1)
        doubt = likely * (1.01 - likely)
        self.influence = np.einsum("mk,mka->ma", doubt, weights + 2 * ways)

    @property
    def gaps(self) -> np.ndarray:
        return self.masses * (self.high - self.low)

    def take(self, rows: np.ndarray) -> "Boxes":
        taken = object.__new__(Boxes)
        taken.__dict__ = {k: v if k == "leads" else v[rows] for k, v in self.__dict__.items()}
        return taken

    def with_more(self, other: "Boxes") -> "Boxes":
        taken = object.__new__(Boxes)
        taken.__dict__ = {
            k: v if k == "leads" else np.concatenate([v, other.__dict__[k]])
            for k, v in self.__dict__.items()
        }
        return taken

    def halves(self) -> "Boxes":
        rows = np.arange(len(self.masses))
        axes = self.influence.argmax(axis=1)
        reaches = self.reaches.copy()
        reaches[rows, axes] /= 2
        middles = []
        for sign in (-1, 1):
            moved = self.middles.copy()
            moved[rows, axes] += sign * reaches[rows, axes]
            middles.append(moved)
        twice = np.concatenate([reaches, reaches]), np.concatenate([self.masses, self.masses]) / 2
        return Boxes(self.leads, np.concatenate(middles), *twice)


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


def unchanged(run, noise, tolerance, effort, progress=None):
    leads = leads_of(run, noise)
    size = run.n * run.d
    boxes = Boxes(leads, np.zeros((1, size)), np.ones((1, size)), np.ones(1))
    looked = 1
    while looked < effort and boxes.gaps.sum() > tolerance:
        gaps = boxes.gaps
        worst = np.argsort(-gaps)[:_AT_ONCE]
        worst = worst[gaps[worst] > 0]
        rest = np.setdiff1d(np.arange(len(gaps)), worst)
        boxes = boxes.take(rest).with_more(boxes.take(worst).halves())
        looked += 2 * len(worst)
    low, high = boxes.masses @ boxes.low, boxes.masses @ boxes.high
    return Enclosure(1 - high, 1 - low), looked
