"""Tokens that are proved to meet, in a layer that is irrational.

A *cap* is a ball with centre c and radius r; on the sphere it is the part of the sphere in it. Let
each V_h be a positive multiple v_h I, and let there be no feed-forward block. All bounds are of
balls of `arb`.

**Softmax.** Say all tokens are in the cap {<c, z> >= t > 0} of the sphere, or there is no
normalisation. A layer moves tokens to means in their hull, and the cap is a convex cone, which is
kept. A token that all may attend to, of multiplicity m, has at least the weight e_h = m exp(-s) / n
in the means of head h, n being the number of those that can be attended to, and s the most by which
scores differ: 2 r times the length of A z. In the plane <c, u> = 1 the tokens are u_i = z_i / <c,
z_i>, and u_i' is a mean of the u_j with weights proportional to (1 [i = j] + alpha sum_h a_h v_h
p_ij^h) <c, z_j>. All these products are from t to T, so that weights have in common at least alpha
v e t / ((1 + alpha v) T), v e being sum_h a_h v_h e_h and v the mean of the v_h: the largest
distance in the plane is multiplied by at most 1 less that, and tokens are no further apart than
they are in the plane, in which |u| is at least the radius of the sphere. The same holds without
normalisation, where t / T is 1. So softmax gathers tokens of an open hemisphere in one cluster,
whatever beta is.

**Hardmax with leaders.** On the sphere, with one head, say token i attends to l alone, l to itself
alone. While that lasts l stands still, and z_i is a positive multiple of x_i + b x_l, with b >= 0
that grows. So scores need to be compared on arcs from x_j to x_m only, m being whom j attends to,
and along x_i and x_l only, since a score is linear in the direction. Along a direction y let P, Q
and R be the scores of x_l, x_j and x_m, and c the cosine of x_j and x_m. On the arc the largest
score is the larger of Q and R, unless both Q - c R and R - c Q are positive: then it is the root of
(Q^2 - 2 c Q R + R^2) / (1 - c^2). If it is below P, j never overtakes. If m is l itself, R = P, and
it is enough that Q < P and Q - c P < 0. Then all sets stay for ever, and who follows l goes to it:
its distance from l shrinks by at least 1 / (1 + alpha v c), once c > 0."""

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from flint import arb, arb_mat

from hardmax._layer.attention import Softmax
from hardmax._layer.rules import head_values, head_weights
from hardmax._runs.balls import (
    BallLayer,
    Choices,
    Row,
    State,
    Unclear,
    ball,
    root_of_squares,
)
from hardmax._runs.enclosures import Cap, Meeting

_SQUARINGS = 10
_ROUNDS = 300


def find_meeting(layer: BallLayer, state: State, choices: Choices) -> Meeting | None:
    """Clusters of tokens that meet, if they are proved."""
    dynamics = layer.dynamics
    values = [1 if one is None else _multiple(one) for one in head_values(dynamics)]
    is_radial = dynamics.feed_forward is None and min(values) > 0
    is_constant = state.layer >= len(dynamics.steps) - 1
    is_on_sphere = dynamics.normalise is not None
    if not (is_radial and is_constant and (state.layer or not is_on_sphere)):
        return None
    alpha = dynamics.alpha_at(state.layer)
    weights = zip(head_weights(dynamics), values, strict=True)
    pushes = [ball(alpha * weight * value) for weight, value in weights]
    if isinstance(dynamics.attention, Softmax):
        with suppress(Unclear):  # a centre that may be 0
            return _gathered_by_softmax(layer, state, pushes)
    if dynamics.attention is None and len(pushes) == 1 and is_on_sphere:
        return _at_leaders(layer, state, choices, pushes[0])
    return None


# ---------------------------------------------------------------- softmax


def _gathered_by_softmax(layer: BallLayer, state: State, pushes: list[Any]) -> Meeting | None:
    """The cap of all tokens, if they are in an open hemisphere or not normalised."""
    centre = arb_mat([[x.mid() for x in layer.normalised([_middle(state)])[0]]])
    radius = _most([_length(arb_mat([row]) - centre) for row in state.places])
    slope, reach = arb(1), None
    if layer.dynamics.normalise is not None:
        # The cap is where <c, z> is at least that of its tokens.
        reach = _radius_of_sphere(layer)
        lowest = _below([(arb_mat([row]) * centre.transpose())[0, 0] for row in state.places])
        if not lowest > 0:
            return None
        length = _length(centre)
        square = reach * reach + length * length - 2 * lowest
        radius = square.upper().max(arb(0)).sqrt().upper()
        slope = (lowest / (reach * length)).lower()
    shared = arb(0)
    for push, metric in zip(pushes, layer.metrics, strict=True):
        shared += push * _shared_weight(layer, metric, centre, radius, reach)
    contraction = 1 - shared * slope / (1 + sum(pushes))
    if not contraction < 1:
        return None
    cap = Cap(_float_above(radius), _float_above(contraction), state.layer)
    middle = np.array([[float(x) for x in centre.tolist()[0]]])
    return Meeting(np.zeros_like(state.labels), middle, [cap])


def _shared_weight(layer: BallLayer, metric: Any, centre: Any, radius: Any, reach: Any) -> Any:
    """The weight that all means of a head have in common, at least, if all tokens are in a cap."""
    attention: Any = layer.dynamics.attention
    # Of tokens in rows, A z is a row times the transpose of A, which the layer holds.
    look, norm = (centre, arb(1)) if metric is None else (centre * metric, _norm(metric))
    longest = _length(look) + norm * radius
    if reach is not None:
        longest = _least([longest, norm * reach])
    counts, mask = layer.counts, layer.mask
    common, most = counts.sum(), counts.sum()
    if mask is not None:
        common, most = counts[mask.all(axis=0)].sum(), (mask @ counts).max()
    share = ball(Fraction(int(common), int(most)))
    return (share * (-ball(attention.beta) * 2 * radius * longest).exp()).lower()


def _radius_of_sphere(layer: BallLayer) -> Any:
    """How long tokens are once they are normalised."""
    if layer.dynamics.normalise == "sphere":
        return arb(1)
    return arb(layer.points.dimension).sqrt()


def _middle(state: State) -> Row:
    """Near the middle of the smallest ball that has all tokens."""
    tokens = np.array([[float(x.mid()) for x in row] for row in state.places])
    middle = tokens.mean(axis=0)
    for number in range(_ROUNDS):
        furthest = tokens[((tokens - middle) ** 2).sum(axis=1).argmax()]
        middle = middle + (furthest - middle) / (number + 2)
    return [arb(x) for x in middle.tolist()]


# ---------------------------------------------------------------- hardmax


def _at_leaders(layer: BallLayer, state: State, choices: Choices, push: Any) -> Meeting | None:
    """A cap around each leader, if all follow leaders for ever."""
    askers, (chosen,) = choices.askers, choices.heads
    if any(len(places) > 1 for places in chosen):
        return None
    pairs = list(zip(askers, (place for (place,) in chosen), strict=True))
    flow = {(asker.place, target) for asker, target in pairs}
    moving = {place for place, target in flow if place != target}
    leaders = sorted({target for _, target in flow})
    if moving & {*leaders} or not _are_apart([state.places[leader] for leader in leaders]):
        return None
    (scores,) = layer.scores(state)
    places, reach = arb_mat(state.places), _radius_of_sphere(layer)
    cosines = (places * places.transpose() * (1 / (reach * reach))).tolist()
    goals: dict[int, list[int]] = {}
    for place, target in flow:
        goals.setdefault(place, []).append(target)
    for asker, leader in pairs:
        rivals = [(j, goal) for j in asker.among if j != leader for goal in goals[j]]
        for look in {asker.place, leader}:
            for j, goal in rivals:
                if not _stays_below(scores[look], cosines[j][goal], leader, j, goal):
                    return None
    caps, centres = [], []
    for leader in leaders:
        followers = [place for place, target in flow if target == leader]
        narrowest = [cosines[i][leader] for i in followers if i != leader]
        least = _below([arb(1), *narrowest])
        if not least > 0:
            return None
        centre = [float(x.mid()) for x in state.places[leader]]
        middle = arb_mat([[ball(x) for x in centre]])
        gaps = [_length(arb_mat([state.places[i]]) - middle) for i in followers]
        shrinks = _float_above(1 / (1 + push * least))
        caps.append(Cap(_float_above(_most(gaps)), shrinks, state.layer))
        centres.append(centre)
    labels = np.empty_like(state.labels)
    for asker, target in pairs:
        labels[asker.points] = leaders.index(target)
    return Meeting(labels, np.array(centres), caps)


def _are_apart(rows: list[Row]) -> bool:
    pairs = ((x, y) for k, x in enumerate(rows) for y in rows[:k])
    return all(any(a - b != 0 for a, b in zip(x, y, strict=True)) for x, y in pairs)


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


# ---------------------------------------------------------------- bounds


def _multiple(value: np.ndarray) -> Fraction:
    """The number that a matrix is a multiple of the identity by; 0 for any other matrix."""
    number = value[0, 0]
    is_multiple = (value == number * np.eye(len(value), dtype=int)).all()
    return number if is_multiple else Fraction(0)


def _length(table: Any) -> Any:
    """The root of the sum of all squares, at most."""
    return root_of_squares([x.abs_upper() for row in table.tolist() for x in row]).upper()


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
            found = find_meeting(layer, state, choices)
            if found is not None:
                self.until = min(self.until, state.layer + _MORE_LAYERS)
                self.meeting = found
        is_small = self.meeting is not None and self.meeting.radius <= SMALL
        return is_small or state.layer >= self.until
