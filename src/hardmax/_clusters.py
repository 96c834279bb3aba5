"""Clusters, kinds of limits, cycles and distances to the limit.

What a limit is: a vertex of the leaders' polytope, or the projection of the origin onto one of its faces.

Tokens with equal limits, and the kind of the limit that they share.

Runs that never settle: attended sets that come round again, and tokens that chase one another.

With a symmetric positive definite metric there are none: a token attends to tokens at least as long as itself.

How far tokens are from their limits and from one another, at any scale; exactly where the run is exact, to 50 digits
where its numbers are long.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice, takewhile
from operator import itemgetter
from typing import Any, TypeAlias, overload

import numpy as np

from hardmax._exact.argmax import by_all_scores
from hardmax._exact.events import Curve, layers_negative
from hardmax._exact.positions import ExactPhase, Phase
from hardmax._exact.vectors import Vector, between, dot, fractions_table, minus, power
from hardmax._float.phase import FloatPhase
from hardmax._format import pluralize
from hardmax._tokens.rationals import IntegerCloud, above, lengths, longest_above, unit_of
from hardmax._validation import normalize_index, normalize_slice
from hardmax.geometry.projection import project_exact
from hardmax.trajectory import Trajectory


@dataclass(frozen=True)
class Vertex:
    """The limit is where a leader sits."""

    leader: int

    def __str__(self) -> str:
        return f"vertex {self.leader}"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"kind": "vertex", "leader": self.leader}


@dataclass(frozen=True)
class FaceProjection:
    """The limit is the point of a face nearest to the origin, in the norm of the metric.

    The face is the hull of the leaders `vertices`; the limit is their mean with the `weights`.
    """

    vertices: tuple[int, ...]
    weights: tuple[Fraction, ...]

    def __str__(self) -> str:
        return f"face {', '.join(map(str, self.vertices))}"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data; weights are exact."""
        return {"kind": "face", "vertices": list(self.vertices), "weights": [str(weight) for weight in self.weights]}


@dataclass(frozen=True)
class OtherLimit:
    """Neither: the theorem's assumptions do not hold, or the run has not settled."""

    def __str__(self) -> str:
        return "elsewhere"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"kind": "elsewhere"}


Kind: TypeAlias = Vertex | FaceProjection | OtherLimit


MOST_SHOWN, LONGEST_SHOWN = 6, 24  # in one line, of which a face may have many vertices


@dataclass(frozen=True, eq=False, repr=False)
class Clusters:
    """Clusters in the order of their first tokens."""

    labels: np.ndarray  # (n,) the cluster of each token
    points: np.ndarray  # (c, d) where it ends
    kinds: tuple[Kind, ...]

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def sizes(self) -> np.ndarray:
        """How many tokens end there."""
        return np.bincount(self.labels, minlength=len(self))

    def __repr__(self) -> str:
        pairs = zip(self.kinds, self.sizes.tolist(), strict=True)
        shown = "".join(f"; {_cut(kind)}: {size:,}" for kind, size in islice(pairs, MOST_SHOWN))
        found = f"{pluralize(len(self), 'cluster')} of {pluralize(len(self.labels), 'token')}"
        return f"Clusters({found}{shown}{'; …' if len(self) > MOST_SHOWN else ''})"


class KindOfToken(Sequence[Kind]):
    """`kind[i]`: what the limit of token i is."""

    def __init__(self, clusters: Clusters) -> None:
        self._clusters = clusters

    def __len__(self) -> int:
        return len(self._clusters.labels)

    @overload
    def __getitem__(self, index: int) -> Kind: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Kind]: ...
    def __getitem__(self, index: int | slice) -> Kind | Sequence[Kind]:
        if isinstance(index, slice):
            return [self[i] for i in normalize_slice(index, len(self), "`index`")]
        return self._clusters.kinds[self._clusters.labels[normalize_index(index, len(self), "`index`")]]

    def __repr__(self) -> str:
        shown = [_cut(self[token]) for token in range(min(len(self), MOST_SHOWN))]
        return f"KindOfToken({'; '.join(shown)}{'; …' if len(self) > MOST_SHOWN else ''})"


def _cut(kind: Kind) -> str:
    text = str(kind)
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def find_clusters(run: Trajectory) -> Clusters:
    """The clusters of a run: by equal targets once it has settled, by equal places before."""
    leader_of = run.leader_of()
    if leader_of is not None:
        labels, first = _numbered(leader_of)
        return Clusters(labels, run.float_ends()[first], tuple(map(Vertex, leader_of[first].tolist())))
    of_token = run.points.of_token
    labels, first = _numbered((np.arange(run.points.count) if run.settled_at is None else _ends(run))[of_token])
    if run.settled_at is None:
        return Clusters(labels, run.floats_at(run.layers)[first], (OtherLimit(),) * len(first))
    return Clusters(labels, run.float_ends()[first], tuple(_exact_kinds(run, of_token[first].tolist())))


def _numbered(where: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels for tokens with equal numbers, in the order of their first tokens; and these first tokens."""
    _, first, labels = np.unique(where, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[labels], first[order]


def _ends(run: Trajectory) -> np.ndarray:
    """A number for each point, the same for points with equal limits: that of a point which ends there.

    Whoever follows a leader ends where it is; the others are compared exactly, among themselves and with the leaders.
    """
    phase = run.phases[-1]
    choices = phase.choices
    where = choices.indices[choices.offsets[:-1]].copy()
    others = np.flatnonzero(~choices.follows_leader).tolist()
    if not others:
        return where
    exactly, leaders = run.exactly(phase), np.flatnonzero(choices.is_leader).tolist()
    first_at = dict(zip(reversed(exactly.positions(leaders)), reversed(leaders), strict=True))
    for point, target in zip(others, exactly.targets(others), strict=True):
        where[point] = first_at.setdefault(target, point)
    return where


def _exact_kinds(run: Trajectory, examples: list[int]) -> list[Kind]:
    """The kind of the limit of each of the points `examples`."""
    token = np.unique(run.points.of_token, return_index=True)[1].tolist()  # the first at each point
    leaders = np.flatnonzero(run.leader_since >= 0).tolist()
    exactly = run.exactly(run.phases[-1])
    # Of leaders that have met the first one counts.
    leader_at = dict(zip(reversed(exactly.positions(leaders)), reversed(leaders), strict=True))
    kinds: list[Kind] = []
    for target in exactly.targets(examples):
        if target in leader_at:
            kinds.append(Vertex(token[leader_at[target]]))
        elif leader_at and run.dynamics.is_definite:
            kinds.append(_on_face(target, sorted(leader_at.items(), key=itemgetter(1)), run, token))
        else:
            kinds.append(OtherLimit())
    return kinds


def _on_face(limit: Vector, leading: list[tuple[Vector, int]], run: Trajectory, token: list[int]) -> Kind:
    """The face that a limit is the projection of 0 on, if it is that of one."""
    places = np.array([place for place, _ in leading], dtype=object)
    # The face that the limit lies on is the one that looks its way: the leaders furthest along A w.
    limits = IntegerCloud.of_fractions(fractions_table([limit]))
    (furthest,) = by_all_scores(limits, IntegerCloud.of_fractions(places), run.dynamics).lists
    nearest, weights = project_exact(places[furthest], run.dynamics.metric)
    if nearest != limit:
        return OtherLimit()
    return FaceProjection(tuple(token[leading[i][1]] for i in furthest), tuple(weights))


LONGEST_PERIOD = 64


@dataclass(frozen=True)
class Cycle:
    """What was seen, not proved to go on: the attended sets of the last layers repeat."""

    period: int
    since: int
    """The first layer from which on the sets repeated, up to the end of the run."""
    exact: bool
    """Whether the tokens themselves came back to the same places."""
    chase: tuple[int, ...]
    """Tokens each of which attends to the next, and the last to the first; empty if there are none."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self) | {"chase": list(self.chase)}


def find_cycle(run: Trajectory) -> Cycle | None:
    """The shortest period with which the attended sets repeat at the end of a run that kept all its layers.

    It must be seen three times, and be no longer than LONGEST_PERIOD phases.
    """
    for period in range(1, min(LONGEST_PERIOD, len(run.phases) // 3) + 1):
        repeated = _repeated(run, period)
        if repeated >= 2 * period:
            first, last = run.phases[-repeated - period], run.phases[-1]
            layers = last.layer - run.phases[-1 - period].layer
            return Cycle(layers, first.layer, _came_back(run, period), _chase(run))
    return None


def _repeated(run: Trajectory, period: int) -> int:
    """How many phases at the end have the sets of the one a period before, and follow it after as many layers."""
    later, before = run.phases[period:], run.phases[:-period]
    apart = later[-1].layer - before[-1].layer

    def same(pair: tuple[Phase, Phase]) -> bool:
        now, then = (phase.choices for phase in pair)
        if pair[0].layer - pair[1].layer != apart:
            return False
        return np.array_equal(now.offsets, then.offsets) and np.array_equal(now.indices, then.indices)

    return sum(1 for _ in takewhile(same, zip(reversed(later), reversed(before), strict=True)))


def _came_back(run: Trajectory, period: int) -> bool:
    now, before = run.phases[-1], run.phases[-1 - period]
    if not run.certified:
        return False
    points = range(run.points.count)
    return run.exactly(now).positions(points) == run.exactly(before).positions(points)


def _chase(run: Trajectory) -> tuple[int, ...]:
    """Follow the first attended token of each from token to token until one comes again."""
    choices = run.phases[-1].choices
    first_attended = choices.indices[choices.offsets[:-1]]
    for start in range(len(first_attended)):
        way = [start]
        while first_attended[way[-1]] not in way:
            way.append(int(first_attended[way[-1]]))
        ring = way[way.index(int(first_attended[way[-1]])) :]
        if len(ring) > 1:
            return tuple(int(np.flatnonzero(run.points.of_token == point)[0]) for point in ring)
    return ()


@dataclass(frozen=True, eq=False)
class ToLimit:
    """How far the tokens of a settled run are from their limits, at the layers up to settling."""

    run: Trajectory

    def square_at(self, layer: int) -> Fraction:
        """The square of the largest distance at a layer."""
        return self._square(self.run.stretch_at(layer), layer)

    def first_within(self, goal: Fraction) -> int:
        """The layer from which on, up to settling, no square is larger than the goal: found in one walk."""
        first, settled = 0, self.run.settled_at or 0
        for phase in self.run.walk_again():
            if phase.layer >= settled:
                break
            last = (settled if phase.until is None else min(phase.until, settled)) - 1
            if self._square(phase, last) > goal:
                first = last + 1
            elif last > phase.layer:
                first = max(first, self._first_in(phase, last, goal))
        return first

    def _first_in(self, phase: FloatPhase | ExactPhase, last: int, goal: Fraction) -> int:
        """The layer from which on no square is larger than the goal, in a phase at whose `last` layer none is.

        On its way w + t u the square of the distance of a point from its limit l is |w - l|^2 + 2 t <u, w - l> +
        t^2 |u|^2, convex in t = g^m: once it is within the goal, it stays so up to the last layer.
        """
        layer = phase.layer
        while True:
            square, point = self._furthest(phase, layer)
            if square <= goal:
                return layer
            exactly = self.run.exactly(phase).rounded()
            (here,), (target,), (end,) = exactly.positions([point]), exactly.targets([point]), self._exact_ends([point])
            off, way = minus(target, end), minus(here, target)
            coefficients = goal - dot(off, off), -2 * dot(way, off), -dot(way, way)
            common = math.lcm(*(value.denominator for value in coefficients))
            a0, a1, a2 = (int(value * common) for value in coefficients)
            curve = Curve(a0, a1, a2, self.run.dynamics.contraction)
            layer = phase.layer + curve.first_reached(by=last - phase.layer)

    @cached_property
    def _ends(self) -> np.ndarray:
        return self.run.float_ends()

    def _exact_ends(self, points: Sequence[int]) -> list[Vector]:
        return self.run.exactly(self.run.phases[-1]).rounded().targets(points)

    def _square(self, phase: FloatPhase | ExactPhase, layer: int) -> Fraction:
        return self._furthest(phase, layer)[0]

    def _furthest(self, phase: FloatPhase | ExactPhase, layer: int) -> tuple[Fraction, int]:
        """The square of the largest distance at a layer, and a point that is so far away. Floats say who may be it; of
        those it is computed exactly, or to 50 digits where numbers are long, if places are known exactly."""
        run, of_token = self.run, self.run.points.of_token
        floats = phase.floats_at(layer)[of_token], self._ends
        unit = max(map(unit_of, floats))
        # In units of the largest coordinate: differences then do not overflow.
        here, ends = (np.ldexp(table, -unit) for table in floats)
        apart = lengths(here - ends)
        if not run.certified:
            furthest = int(np.argmax(apart))
            return Fraction(float(apart[furthest])) ** 2 * Fraction(4) ** unit, int(of_token[furthest])
        # Either end of a distance is off by the error of the run, and so are those of its rivals.
        doubt = above(4 * float(np.ldexp(run.error, -unit)) + 2.0**-40)
        near = np.unique(of_token[apart >= apart.max() - doubt]).tolist()
        exactly, share = run.exactly(phase).rounded(), power(run.dynamics.contraction, layer - phase.layer)
        ways = zip(exactly.targets(near), exactly.positions(near), self._exact_ends(near), strict=True)
        squares = [dot(way, way) for way in (minus(between(w, z, share), end) for w, z, end in ways)]
        return max(zip(squares, near, strict=True))


def spread_above(table: np.ndarray) -> float:
    """No row (n, d) is further than this from one place among them; so no two are further apart than twice this."""
    unit = unit_of(table)
    scaled = np.ldexp(table, -unit)
    with np.errstate(over="ignore"):
        return above(float(np.ldexp(longest_above(scaled - scaled.mean(axis=0)), unit)))


def shrinkings(square: Fraction, goal: Fraction, keep: Fraction) -> int:
    """The least m with keep^(2 m) square <= goal < square.

    >>> shrinkings(Fraction(4), Fraction(1, 4), Fraction(1, 2)), shrinkings(Fraction(4), Fraction(1, 5), Fraction(1, 2))
    (2, 3)
    """
    common = square.denominator * goal.denominator
    found = layers_negative(int(goal * common), 0, -int(square * common), keep)
    assert found is not None, "the goal is positive, and powers tend to 0"
    return found
