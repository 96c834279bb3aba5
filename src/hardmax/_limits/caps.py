"""Tokens that are proved to meet, in a block that is irrational.

A *cap* is a ball with centre c and radius r; on the sphere it is the part of the sphere in it. Say
that at some layer the tokens of each cluster are in a cap of theirs, that steps stay as they are,
and that the following holds for all tokens in these caps. Then, by induction, they stay in their
caps for ever, and the largest distance in a cap shrinks by a factor q < 1 with every layer.

**A layer** maps a token to G(y), y = z + alpha sum_h a_h V_h w^h, where G is normalisation, then
the feed-forward block and normalisation again. Let g bound |G'| and g_h bound |G' V_h| over all y
that can be; ReLU has a derivative from 0 to 1 where it bends. All bounds are of balls of `arb`.
Normalisation N has N'(y) = (s / |Py|) (P - u u^T), u = Py / |Py|: on the sphere P = I and s = 1;
of layers P takes the mean from the coordinates, and s is the root of d. The paper's division is
linear.

**Means.** Let a token of the cap weigh those outside of it with p in all; hardmax has p = 0 if
every score in the cap is above those of other caps. Softmax has p <= sum of m' / m exp(-beta gap),
where m counts the tokens in the cap, m' those of another cap, and gap bounds <A z, z_j - z_l> from
below, j in the cap and l in the other. With R for the distance from c to other caps, their far
side, |w - c| <= rho = r + p R. How far are the means of two tokens apart, if these are at most D
apart?

* At most D, as both are in the hull of the cap, if p = 0.
* If p = 0 and softmax weighs scores that differ by at most s, a token that all may attend to, of
  multiplicity m, has at least the weight m exp(-s) / n, n the number of those that can be attended
  to. Weights have the sum e of these in common, so that means are at most (1 - e) D apart.
* If all may attend to the same, w is a function of z with the derivative beta Cov A, Cov the
  covariance of the attended tokens, which is at most (1 - p) r^2 + p R^2: means are at most
  beta |A| (r^2 + p R^2) D apart.

Let k_h be the best of these factors. **Distances** are then
multiplied by at most q = g + alpha sum_h a_h g_h k_h, and **the cap is kept** if g r + alpha sum_h
a_h g_h rho_h + |G(y_c) - c| <= r, where y_c is y for z = w = c.

**An open hemisphere.** If there is no feed-forward block, each V_h is a positive multiple v_h I and
p = 0, tokens move to means in their hull, and the cap {<c, z> >= t > 0} of the sphere is a convex
cone, which is kept. In the plane <c, u> = 1 the tokens are u_i = z_i / <c, z_i>, and u_i' is a mean
of the u_j with weights proportional to (1 [i = j] + alpha sum_h a_h v_h p_ij^h) <c, z_j>. All these
products are from t to T, so that weights have at least alpha v e t / ((1 + alpha v) T) in common, v
e being sum_h a_h v_h e_h and v the mean of the v_h: distances in the plane are multiplied by at
most 1 less that, and tokens are no further apart than they are in the plane, in which |u| >= s.
The same holds without normalisation, where t / T is 1. So softmax gathers tokens of an open
hemisphere, whatever beta is.

**Hardmax with leaders.** On the sphere, with one head, V = v I, v > 0, and no feed-forward block,
say token i attends to l alone, l to itself alone. While that lasts l stands still, and
z_i is a positive multiple of x_i + b x_l, with b >= 0 that grows. So scores
need to be compared on arcs from x_j to x_m only, m being whom j attends to, and along x_i and x_l
only, since a score is linear in the direction. Along a direction y let P, Q and R be the scores of
x_l, x_j and x_m, and c the cosine of x_j and x_m. On the arc the largest score is the larger of Q
and R, unless both Q - c R and R - c Q are positive: then it is the root of
(Q^2 - 2 c Q R + R^2) / (1 - c^2). If it is below P, j never overtakes. If m is l itself, R = P, and
it is enough that Q < P and Q - c P < 0. Then all sets stay for ever, and who follows l goes to it:
its distance from l shrinks by at least 1 / (1 + alpha v c), once c > 0.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat

from hardmax._layer.attention import Softmax
from hardmax._layer.rules import head_values, head_weights, rescaling
from hardmax._runs.balls import (
    BallLayer,
    Choices,
    Row,
    State,
    Unclear,
    ball,
    matrix_of,
    root_of_squares,
)
from hardmax._runs.enclosures import Cap, Meeting
from hardmax._tokens.rationals import above

_SQUARINGS = 10
_LINKS = (0.5, 0.1, 0.02)
"""Tokens that are nearer than one of these are tried as a cluster."""
_RADII = [2.0**-k for k in range(20, 0, -2)]


class _Group(NamedTuple):
    """Places that may be a cluster, in a ball."""

    places: list[int]
    points: np.ndarray
    centre: Any
    """A row."""
    radius: Any
    slope: Any
    """t / T, if it is a cap of the sphere that is less than half of it; 1 if all of the ball is
    meant; else 0."""

    @property
    def row(self) -> Row:
        return self.centre.tolist()[0]


class _Means(NamedTuple):
    """What is known of the means of one head."""

    reach: Any
    """How far they are from the centre at most."""
    apart: Any
    """How far they are apart, if tokens have the distance 1."""
    shared: Any
    """The weight that all have in common."""


class CapProof:
    """What can be proved of one layer of a run."""

    def __init__(self, layer: BallLayer, state: State, choices: Choices) -> None:
        self.layer, self.state, self.choices = layer, state, choices
        self.dynamics = dynamics = layer.dynamics
        self.alpha = dynamics.alpha_at(state.layer)
        d = len(state.places[0])
        self.identity = arb_mat([[int(i == j) for j in range(d)] for i in range(d)])
        self.projection, self.scale = self.identity, arb(1)
        if dynamics.normalise == "layer":
            self.projection = self.identity - arb_mat(d, d, [1] * d**2) * (arb(1) / d)
            self.scale = arb(d).sqrt()
        self.metrics = [self.identity if one is None else one for one in layer.metrics]
        tables = head_values(dynamics)
        self.values = [self.identity if one is None else matrix_of(one) for one in tables]
        self.weights = head_weights(dynamics)
        self.is_soft = isinstance(dynamics.attention, Softmax)
        is_multiple = all(value is None or _multiple(value) > 0 for value in tables)
        self.is_radial = is_multiple and dynamics.feed_forward is None

    def find(self) -> Meeting | None:
        """Clusters, if they are proved."""
        number = self.state.layer
        is_constant = number >= len(self.dynamics.steps) - 1
        is_ready = number > 0 or self.dynamics.normalise is None
        if not (is_constant and is_ready):
            return None
        return self._by_leaders() or self._by_caps()

    # ------------------------------------------------------------ caps

    def _by_caps(self) -> Meeting | None:
        for groups in self._partitions():
            for least in [0.0] if self.is_radial else [0.0, *_RADII]:
                with suppress(Unclear):  # a centre that may be 0
                    caps = self._caps([self._group(places, least) for places in groups])
                    if caps is not None:
                        return caps
        return None

    def _partitions(self) -> Iterator[list[list[int]]]:
        """Ways to part the places into clusters."""
        places = np.array([[float(x.mid()) for x in row] for row in self.state.places])
        yield [list(range(len(places)))]
        apart = np.linalg.norm(places[:, None] - places, axis=2)
        seen = {1, len(places)}
        for link in _LINKS:
            labels = np.arange(len(places))
            for row in apart < link:
                near = np.unique(labels[row])
                labels[np.isin(labels, near)] = near[0]
            groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
            if len(groups) not in seen and len(groups) <= len(places) // 2:
                seen.add(len(groups))
                yield groups

    def _group(self, places: list[int], least: float) -> _Group:
        rows = [self.state.places[place] for place in places]
        tokens = np.array([[float(x.mid()) for x in row] for row in rows])
        middle = [arb(x) for x in _middle(tokens, rounds=300 if self.is_radial else 0)]
        centre = arb_mat([[x.mid() for x in self._normalised(middle)]])
        points = np.flatnonzero(np.isin(self.state.labels, places))
        gaps = [_length(arb_mat([row]) - centre) for row in rows]
        radius, slope = _most([*gaps, arb(least)]), arb(1)
        if self.dynamics.normalise is not None:
            # The cap is where <c, z> is at least that of its tokens.
            products = [(arb_mat([row]) * centre.transpose())[0, 0] for row in rows]
            lowest, slope = _below(products), arb(0)
            if self.is_radial and lowest > 0:
                square = self.scale * self.scale + _square(centre) - 2 * lowest
                radius = square.upper().max(arb(0)).sqrt().upper()
                slope = (lowest / (self.scale * _length(centre))).lower()
        return _Group(places, points, centre, radius, slope)

    def _normalised(self, row: Row) -> Row:
        return self.layer.normalised([row])[0]

    def _caps(self, groups: list[_Group]) -> Meeting | None:
        pairs = ((one, other) for one in groups for other in groups if one is not other)
        for one, other in pairs:
            if not _length_below(one.centre - other.centre) > one.radius + other.radius:
                return None
        caps, labels = [], np.empty_like(self.state.labels)
        for number, group in enumerate(groups):
            contraction = self._contraction(group, [one for one in groups if one is not group])
            if contraction is None:
                return None
            caps.append(Cap(_float_above(group.radius), contraction, self.state.layer))
            labels[group.points] = number
        return Meeting(labels, np.array([[float(x) for x in one.row] for one in groups]), caps)

    def _contraction(self, group: _Group, others: list[_Group]) -> float | None:
        """By what the distances in a cap are multiplied at most, if it is kept."""
        means = []
        for metric in self.metrics:
            found = self._means(group, others, metric)
            if found is None:
                return None
            means.append(found)
        if self.is_radial and group.slope > 0 and all(one.reach <= group.radius for one in means):
            return self._in_plane(group, means)
        centre, radius = group.centre, group.radius
        start, reach = centre, radius
        for weight, value, found in zip(self.weights, self.values, means, strict=True):
            push = ball(self.alpha * weight)
            start = start + push * (centre * value.transpose())
            reach = reach + push * _norm(value) * found.reach
        moved = self._derivative(start, reach)
        if moved is None:
            return None
        end, derivative, bound = moved
        bound = _least([bound, _norm(derivative)])
        contraction, kept = bound, bound * radius + _length(end - centre)
        for weight, value, found in zip(self.weights, self.values, means, strict=True):
            push = ball(self.alpha * weight)
            through = _least([bound * _norm(value), _norm(derivative * value)])
            contraction = contraction + push * through * found.apart
            kept = kept + push * through * found.reach
        if not (kept <= radius and contraction < 1):
            return None
        return _float_above(contraction)

    def _in_plane(self, group: _Group, means: list[_Means]) -> float | None:
        """The same for tokens that move to means of tokens, all of them less than 90 degrees from
        the centre."""
        factors = [1 if one is None else _multiple(one) for one in head_values(self.dynamics)]
        pushes = [
            ball(self.alpha * weight * factor)
            for weight, factor in zip(self.weights, factors, strict=True)
        ]
        shared = sum(push * one.shared for push, one in zip(pushes, means, strict=True))
        contraction = 1 - shared * group.slope / (1 + sum(pushes))
        return _float_above(contraction) if contraction < 1 else None

    def _means(self, group: _Group, others: list[_Group], metric: Any) -> _Means | None:
        """Bounds of the means of one head; None if tokens may attend to others."""
        mask, counts = self.layer.mask, self.layer.counts
        able = np.ones((len(group.points), len(counts)), dtype=bool)
        if mask is not None:
            able = mask[group.points]
        inside = able[:, group.points] @ counts[group.points]
        leaving = [one for one in others if able[:, one.points].any()]
        if not inside.all():
            return None
        radius, one, nothing = group.radius, arb(1), arb(0)
        # Of tokens in rows, A z is a row times the transpose of A.
        look, norm = (group.centre * metric).tolist()[0], _norm(metric)
        if not self.is_soft:
            is_hardmax = self.dynamics.attention is None
            gaps = [self._gap(group, other, look, norm) for other in leaving]
            is_closed = is_hardmax and all(gap > 0 for gap in gaps)
            return _Means(radius, one, nothing) if is_closed or not leaving else None
        attention: Any = self.dynamics.attention
        beta, is_alike = ball(attention.beta), (able == able[0]).all()
        outside, far, shared = nothing, nothing, nothing
        for other in leaving:
            ratio = (able[:, other.points] @ counts[other.points] / inside).max()
            gap = self._gap(group, other, look, norm)
            outside = outside + above(float(ratio)) * (-beta * gap).exp()
            far = _most([far, _length(group.centre - other.centre) + other.radius])
        outside = _least([outside, one])
        if not leaving:
            common = counts[group.points][able[:, group.points].all(axis=0)].sum()
            longest = _length(arb_mat([look])) + norm * radius
            if self.dynamics.normalise is not None:
                longest = _least([longest, norm * self.scale])
            share = ball(Fraction(int(common), int(inside.max())))
            shared = (share * (-beta * 2 * radius * longest).exp()).lower()
        elif not is_alike:
            return None
        apart = one - shared
        if is_alike:
            covariance = radius * radius + outside * far * far
            apart = _least([apart, beta * norm * covariance])
        reach = radius if not leaving else radius + outside * far
        return _Means(reach, apart, shared)

    @staticmethod
    def _gap(group: _Group, other: _Group, look: Row, norm: Any) -> Any:
        """The least lead of a token of the cap over one of another, for any of the cap."""
        way = group.centre - other.centre
        lead = sum(x * y for x, y in zip(look, way.tolist()[0], strict=True))
        both, towards = group.radius + other.radius, _length(arb_mat([look]))
        return lead - towards * both - norm * group.radius * (_length(way) + both)

    def _derivative(self, start: Any, reach: Any) -> tuple[Any, Any, Any] | None:
        """Of a ball of all y: where its centre goes, the derivative, and a bound of it."""
        block = self.dynamics.feed_forward
        moved = self._normalisation(start, reach)
        if moved is None or block is None:
            return moved
        end, first, bound = moved
        (row,), reach = end.tolist(), reach * bound
        inner, outer = matrix_of(block.inner), matrix_of(block.outer)
        hidden = (end * inner.transpose()).tolist()[0]
        bent = []
        for x, weights, bias in zip(hidden, inner.tolist(), block.inner_bias, strict=True):
            off = _length(arb_mat([weights])) * reach
            bent.append([_slope(x + ball(bias), off) * weight for weight in weights])
        second = self.identity + outer * arb_mat(bent)
        reach, bound = reach * _norm(second), bound * _norm(second)
        end = arb_mat(self.layer.fed([row]))
        if self.dynamics.normalise is None:
            return end, second * first, bound
        last = self._normalisation(end, reach)
        if last is None:
            return None
        end, third, more = last
        return end, third * second * first, bound * more

    def _normalisation(self, start: Any, reach: Any) -> tuple[Any, Any, Any] | None:
        """The same for normalisation alone."""
        if self.dynamics.normalise is None:
            scale = rescaling(self.dynamics, self.alpha)
            if isinstance(scale, np.ndarray):
                linear = matrix_of(scale)
            else:
                linear = self.identity * ball(scale)
            return start * linear.transpose(), linear, _norm(linear)
        shortest = _length_below(start * self.projection) - reach
        if not shortest > 0:
            return None
        (row,) = start.tolist()
        off = arb(0, reach.upper())
        box = arb_mat([[x + off for x in row]]) * self.projection
        (wide,) = box.tolist()
        length = root_of_squares(wide)
        bound = (self.scale / shortest).upper()
        end = arb_mat([self._normalised(row)])
        if not length > 0:
            return end, bound * self._anything(), bound
        unit = [[x / length for x in wide]]
        outer = arb_mat(unit).transpose() * arb_mat(unit)
        return end, (self.projection - outer) * (self.scale / length), bound

    def _anything(self) -> Any:
        d = self.identity.nrows()
        return arb_mat(d, d, [arb(0, 1)] * d**2)

    # ------------------------------------------------------------ leaders

    def _by_leaders(self) -> Meeting | None:
        dynamics, choices = self.dynamics, self.choices
        is_alone = dynamics.attention is None and len(self.metrics) == 1
        if not (is_alone and self.is_radial and dynamics.normalise):
            return None
        askers, (chosen,) = choices.askers, choices.heads
        if any(len(places) > 1 for places in chosen):
            return None
        pairs = list(zip(askers, (place for (place,) in chosen), strict=True))
        flow = {(asker.place, target) for asker, target in pairs}
        moving = {place for place, target in flow if place != target}
        leaders = sorted({target for _, target in flow})
        if moving & {*leaders} or not self._are_apart(leaders):
            return None
        (scores,) = self.layer.scores(self.state)
        products = self._cosines()
        goals: dict[int, list[int]] = {}
        for place, target in flow:
            goals.setdefault(place, []).append(target)
        for asker, leader in pairs:
            for look in {asker.place, leader}:
                for j in asker.among:
                    for goal in goals[j] if j != leader else []:
                        if not _stays_below(scores[look], products[j][goal], leader, j, goal):
                            return None
        return self._caps_of_leaders(leaders, flow, products)

    def _are_apart(self, leaders: list[int]) -> bool:
        rows = [self.state.places[leader] for leader in leaders]
        pairs = ((x, y) for k, x in enumerate(rows) for y in rows[:k])
        return all(any(a - b != 0 for a, b in zip(x, y, strict=True)) for x, y in pairs)

    def _cosines(self) -> list[Row]:
        places = arb_mat(self.state.places)
        return (places * places.transpose() * (1 / (self.scale * self.scale))).tolist()

    def _caps_of_leaders(
        self, leaders: list[int], flow: set[tuple[int, int]], cosines: list[Row]
    ) -> Meeting | None:
        value = self.dynamics.value
        push = ball(self.alpha * (1 if value is None else _multiple(value)))
        caps, centres = [], []
        for leader in leaders:
            row = self.state.places[leader]
            centre = arb_mat([[ball(float(x.mid())) for x in row]])
            followers = [place for place, target in flow if target == leader]
            gaps = [_length(arb_mat([self.state.places[i]]) - centre) for i in followers]
            narrowest = [cosines[i][leader] for i in followers if i != leader]
            least = _below([arb(1), *narrowest])
            if not least > 0:
                return None
            shrinks = _float_above(1 / (1 + push * least))
            caps.append(Cap(_float_above(_most(gaps)), shrinks, self.state.layer))
            centres.append([float(x) for x in centre.tolist()[0]])
        labels = np.empty_like(self.state.labels)
        for asker, (target,) in zip(self.choices.askers, self.choices.heads[0], strict=True):
            labels[asker.points] = leaders.index(target)
        return Meeting(labels, np.array(centres), caps)


def _stays_below(scores: Row, cosine: Any, leader: int, j: int, goal: int) -> bool:
    """Whether the score of j stays below that of the leader on its way to its goal."""
    top, here, there = scores[leader], scores[j], scores[goal]
    if not here < top:
        return False
    if goal == j:
        return True
    if not cosine > -1:
        return False
    if goal == leader:
        return bool(top < 0 or here - cosine * top < 0)
    if not there < top:
        return False
    if here - cosine * there < 0 or there - cosine * here < 0:
        return True
    left = 1 - cosine * cosine
    square = here * here - 2 * cosine * here * there + there * there
    return bool(top > 0 and left > 0 and square < top * top * left)


def _middle(tokens: np.ndarray, rounds: int) -> list[float]:
    """Near the middle of the smallest ball that has all tokens, after so many rounds; their mean
    after none."""
    middle = tokens.mean(axis=0)
    for number in range(rounds):
        furthest = tokens[((tokens - middle) ** 2).sum(axis=1).argmax()]
        middle = middle + (furthest - middle) / (number + 2)
    return middle.tolist()


def _slope(x: Any, off: Any) -> Any:
    """The derivative of ReLU at all numbers that are not further than this from another."""
    if x - off > 0:
        return arb(1)
    return arb(0) if x + off < 0 else arb(0.5, 0.5)


def _multiple(value: np.ndarray) -> Fraction:
    """The number that a matrix is a multiple of the identity by; 0 for any other matrix."""
    number = value[0, 0]
    is_multiple = (value == number * np.eye(len(value), dtype=int)).all()
    return number if is_multiple else Fraction(0)


def _square(table: Any) -> Any:
    return sum(x * x for row in table.tolist() for x in row)


def _length(table: Any) -> Any:
    """The root of the sum of all squares, at most."""
    return root_of_squares([x.abs_upper() for row in table.tolist() for x in row]).upper()


def _length_below(table: Any) -> Any:
    """The same, at least."""
    return root_of_squares([x.abs_lower() for row in table.tolist() for x in row]).lower()


def _norm(table: Any) -> Any:
    """The spectral norm, at most: a high power of the middle has about its trace."""
    middle = table.mid()
    power = middle.transpose() * middle
    for _ in range(_SQUARINGS):
        power = power * power
    trace, root = power.trace().upper(), arb(0)
    if trace > 0:
        root = (trace.log() / 2 ** (_SQUARINGS + 1)).exp()
    return (root + _length(table - middle)).upper()


def _most(numbers: Sequence[Any]) -> Any:
    """An upper bound of all these numbers."""
    return reduce(arb.max, [x.upper() for x in numbers])


def _least(numbers: Sequence[Any]) -> Any:
    """An upper bound of the smallest of these numbers."""
    return reduce(arb.min, [x.upper() for x in numbers])


def _below(numbers: Sequence[Any]) -> Any:
    """A lower bound of all these numbers."""
    return reduce(arb.min, [x.lower() for x in numbers])


def _float_above(number: Any) -> float:
    """A float that is no smaller: 1 for what is below it, but nearer to it than any float."""
    above_it = float(np.nextafter(float(number.upper()), np.inf))
    return min(above_it, 1.0) if number < 1 else above_it


SMALL = 2.0**-10
"""Caps of this radius end a run."""
_MORE_LAYERS = 40


class CapWatch:
    """Looks for caps in layers as they come, and some layers more for smaller ones."""

    def __init__(self) -> None:
        self.meeting: Meeting | None = None
        self.seen, self.until = -1, math.inf

    def __call__(self, layer: BallLayer, state: State, choices: Choices) -> bool:
        if state.layer > self.seen and (state.layer < 10 or not state.layer % 5):
            self.seen = state.layer
            found = CapProof(layer, state, choices).find()
            if found is not None:
                self.until = min(self.until, state.layer + _MORE_LAYERS)
                self.meeting = found
        is_small = self.meeting is not None and self.meeting.radius <= SMALL
        return is_small or state.layer >= self.until
