"""Limits of single tokens: their kinds and clusters, how often attended sets repeat, and distances
to the limit."""

import math
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hardmax._common.cached import cached_property
from hardmax._common.format import pluralize
from hardmax._common.validation import normalize_index
from hardmax._exact.argmax import directions_of, products
from hardmax._exact.general import GeneralPhase, last_outside
from hardmax._exact.leads import Lead, Term
from hardmax._exact.vectors import TooLong, Vector, power
from hardmax._runs.run import Run
from hardmax._tokens.rationals import (
    IntegerCloud,
    above,
    lengths,
    longest_above,
    rounding_of,
    unit_of,
)
from hardmax.dynamics import Dynamics
from hardmax.geometry.projection import project_exact


@dataclass(frozen=True)
class Vertex:
    """The limit is the position of a leader."""

    leader: int
    """The first token at that position."""

    def __str__(self) -> str:
        return f"vertex {self.leader}"


@dataclass(frozen=True)
class FaceProjection:
    """The limit is the point of a face of the leaders' hull that is nearest to the origin, in the
    metric's norm."""

    vertices: tuple[int, ...]
    """The leaders whose hull is the face."""
    weights: tuple[Fraction, ...]
    """The limit is the mean of the `vertices` with these weights."""

    def __str__(self) -> str:
        return f"face {', '.join(map(str, self.vertices))}"


@dataclass(frozen=True)
class OtherLimit:
    """Neither of the two, or not known: the theorem does not apply, the run has not settled, or
    exact positions are too long to be compared."""

    def __str__(self) -> str:
        return "elsewhere"


Kind = Vertex | FaceProjection | OtherLimit


@dataclass(frozen=True, eq=False, repr=False)
class Clusters:
    """Tokens with equal limits; clusters are in the order of their first tokens."""

    labels: np.ndarray
    """The cluster of each token, (n,)."""
    limit_points: np.ndarray
    """The limit of each cluster, (c, d)."""
    kinds: tuple[Kind, ...]
    """The kind of each cluster's limit."""

    def __len__(self) -> int:
        return len(self.limit_points)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of tokens in each cluster."""
        return np.bincount(self.labels, minlength=len(self))

    def kind_of(self, token: int) -> Kind:
        """The kind of a token's limit: `Vertex`, `FaceProjection` or `OtherLimit`.

        Parameters
        ----------
        token : int
            Its number; -1 is the last one.
        """
        return self.kinds[self.labels[normalize_index(token, len(self.labels), "`token`")]]

    def __repr__(self) -> str:
        tokens = int(self.sizes.sum())
        return f"Clusters({pluralize(len(self), 'cluster')} of {pluralize(tokens, 'token')})"


def float_limits(run: Run) -> np.ndarray:
    """The limit of every token in float64, (n, d); where it is at the last layer, if the run did
    not settle."""
    return run.floats_at(run.layers) if run.settled_at is None else run.floats_at("limit")


def limit_error(run: Run) -> float:
    """No limit is further than this from that of `float_limits`."""
    if run.settled_at is not None and run.dynamics.traits.convex:
        return run.error
    if run.settled_at is not None:
        # With a value matrix, limits may lie further out than any token has been.
        ends = np.delete(float_limits(run), run.moving, axis=0)
        return rounding_of(ends) if len(ends) else 0.0
    if not run.dynamics.traits.convex:
        return math.inf
    # All tokens stay in the hull that is left, and no two points of a hull are further apart than
    # twice the largest distance of its vertices from any one place; the true tokens are within the
    # error of those in floats.
    tokens = float_limits(run)
    middle = tokens.min(axis=0) / 2 + tokens.max(axis=0) / 2
    return above(2 * longest_above(tokens - middle) + 3 * run.error)


def find_clusters(run: Run) -> Clusters:
    """The clusters of a run: by equal limits if it has settled, else by equal positions."""
    kinds: tuple[Kind, ...]
    leader_of = run.leader_of
    if leader_of[0] >= 0:
        labels, first = number(leader_of)
        kinds = tuple(map(Vertex, leader_of[first].tolist()))
        return Clusters(labels, run.floats_at("limit")[first], kinds)
    ends_are_known = run.settled_at is not None and not len(run.moving)
    if ends_are_known:
        with suppress(TooLong):
            return _clusters_by_exact_ends(run)
    labels, first = number(run.points.of_token)
    kinds = (OtherLimit(),) * len(first)
    layer = "limit" if ends_are_known else run.layers
    return Clusters(labels, run.floats_at(layer)[first], kinds)


def _clusters_by_exact_ends(run: Run) -> Clusters:
    """The clusters of a run that settled, in which some tokens follow no single leader."""
    points, last = run.points, run.phases[-1]
    choices, exactly = last.choices, run.exactly(last)
    leaders = np.flatnonzero(run.leader_since >= 0).tolist()
    place_of = dict(zip(leaders, exactly.later(leaders, 0), strict=True))
    # Followers of a leader end where it is; where others end is computed.
    ends: list[Any] = list(map(place_of.get, choices.firsts.tolist()))
    others = range(len(choices))
    if run.dynamics.traits.convex:
        others = np.flatnonzero(~choices.follows_leader).tolist()
    for point, end in zip(others, exactly.targets(others), strict=True):
        ends[point] = end
    number_of = {end: label for label, end in enumerate(dict.fromkeys(ends))}
    labels = np.array([number_of[end] for end in ends])[points.of_token]
    first = np.unique(labels, return_index=True)[1]
    # Leaders may be in one place if a mask kept equal tokens apart, or the metric is not positive
    # definite: then the first counts.
    leader_at = {place_of[leader]: int(points.first_tokens[leader]) for leader in reversed(leaders)}
    kinds = [
        Vertex(leader_at[end]) if end in leader_at else _face(end, leader_at, run.dynamics)
        for end in number_of
    ]
    return Clusters(labels, run.floats_at("limit")[first], tuple(kinds))


def number(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels of tokens with equal values, integers below their number, by first appearance; and
    these first tokens."""
    first_with, tokens = np.empty_like(values), np.arange(len(values))
    first_with[values[::-1]] = tokens[::-1]  # the last one that is written counts
    first = first_with[values]
    is_first = first == tokens
    return (np.cumsum(is_first) - 1)[first], np.flatnonzero(is_first)


def _face(end: Vector, leader_at: dict[Vector, int], dynamics: Dynamics) -> Kind:
    """The face onto which a limit is the projection of the origin, if there is one."""
    has_faces = dynamics.is_definite and dynamics.traits.convex and not dynamics.heads
    if not leader_at or not has_faces:
        return OtherLimit()
    places = sorted(leader_at, key=leader_at.__getitem__)
    table = IntegerCloud.of(np.array([end, *places], dtype=object)).numerators
    # The only face that the limit can lie on is that of the leaders furthest along A w.
    (scores,) = products(directions_of(table[:1], dynamics), table[1:])
    highest = max(scores)
    face = [place for place, score in zip(places, scores, strict=True) if score == highest]
    nearest, weights = project_exact(np.array(face, dtype=object), dynamics.metric)
    if nearest != end:
        return OtherLimit()
    return FaceProjection(tuple(map(leader_at.__getitem__, face)), weights)


def squared_distance(run: Run, phase: Any, layer: int) -> Fraction:
    """The largest squared distance of a token from its limit, at a layer of a settled run.

    Floats find the candidates; their distances are computed exactly where positions are known
    exactly, or to 50 digits where exact numbers would be long."""
    of_token = run.points.of_token
    floats = phase.floats_at(layer)[of_token], run.floats_at("limit")
    unit = max(map(unit_of, floats))
    # In units of the largest coordinate, so that differences do not overflow.
    here, ends = (np.ldexp(table, -unit) for table in floats)
    distances = lengths(here - ends)
    # Both ends of a distance are off by the run's error, and so are those of the distances it is
    # compared with.
    slack = above(4 * float(np.ldexp(run.error, -unit)) + 2.0**-40)
    candidates = np.unique(of_token[distances >= distances.max() - slack]).tolist()
    exactly = run.exactly(phase).rounded()
    share = power(run.dynamics.contraction, layer - phase.layer)
    limits = run.exactly(run.phases[-1]).rounded().targets(candidates)
    targets, positions = exactly.targets(candidates), exactly.later(candidates, 0)
    largest = Fraction(0)
    for w, z, x in zip(targets, positions, limits, strict=True):
        gaps = (a + share * (b - a) - c for a, b, c in zip(w, z, x, strict=True))
        largest = max(largest, sum((gap**2 for gap in gaps), Fraction(0)))
    return largest


def first_within(run: Run, goal: Fraction) -> int:
    """The first layer of a settled run from which on no squared distance is larger than the goal.

    In a phase a point is at w + t u with t = g^m, so its squared distance from its limit is convex
    in t. If that is within the goal at the last layer of the phase, it is so from some layer on,
    which bisection finds."""
    if isinstance(run.phases[-1], GeneralPhase):
        phases = [phase for phase in run.exact_phases() if isinstance(phase, GeneralPhase)]
        return 1 + last_outside(phases, goal)
    first, settled = 0, run.settled_at or 0
    square = squared_distance(run, run.phases[-1], settled)
    if square > goal:
        common = square.denominator * goal.denominator
        terms = {Term(0): -int(goal * common), Term(0, 2): int(square * common)}
        return settled + 1 + Lead(terms, run.dynamics.contraction).last_positive(-1, None)
    for phase in run.exact_phases():
        if phase.layer >= settled:
            break
        end = settled if phase.until is None else min(phase.until, settled)
        layers = range(phase.layer, end)

        def is_within(layer: int, phase: Any = phase) -> bool:
            return squared_distance(run, phase, layer) <= goal

        if not is_within(layers[-1]):
            first = layers.stop
        elif outside := bisect_left(layers, True, key=is_within):
            first = phase.layer + outside
    return first
