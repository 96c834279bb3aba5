"""One irrational layer in balls of python-flint's `arb`, each of which has the true value.

Points that are proved to be equal share a *place*, a row of balls: those that are equal at the
start, and from then on those at one place that take the same means. So a choice between equal
points is no tie. What a point attends to is proved if balls of scores are apart; at layer 0, where
tokens are rational, fractions decide what balls cannot. Softmax decides nothing:

    w_i = sum_j m_j e_ij z_j / sum_j m_j e_ij,    e_ij = exp(beta (<A z_i, z_j> - c_i))

over all j that i may attend to, with multiplicities m_j, and any c_i: the largest score, so that
nothing overflows."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from flint import arb, arb_mat, fmpq

from hardmax._layer.attended import AttendedIndices
from hardmax._layer.attention import HARDMAX, Softmax
from hardmax._layer.rules import (
    allowed_pairs,
    check_known,
    rescaling,
)
from hardmax._tokens.points import Points
from hardmax._tokens.rationals import to_fractions
from hardmax.dynamics import Dynamics, attended_by_head

Row = list[Any]
"""Balls, a number for each coordinate or place."""
Counts = dict[int, int]
"""How many tokens there are at each of some places."""


class Unclear(Exception):
    """What balls of this precision do not decide."""


class State(NamedTuple):
    """All points at a layer."""

    layer: int
    places: list[Row]
    labels: np.ndarray
    """The place of each point."""


class Asker(NamedTuple):
    """Points at one place, with the tokens that they may attend to."""

    place: int
    among: Counts
    points: list[int]


class Choices(NamedTuple):
    """What all points attend to at a layer."""

    askers: list[Asker]
    heads: list[list[list[int]]]
    """For each head and asker the places that it attends to."""
    sets: list[AttendedIndices]
    """For each head and point the points that it attends to."""


def ball(number: Any) -> Any:
    number = Fraction(number)
    return arb(fmpq(number.numerator, number.denominator))


def matrix_of(table: Any) -> Any:
    return arb_mat([[ball(x) for x in row] for row in table])


class BallLayer:
    """A layer in balls of the precision that is set."""

    def __init__(self, points: Points, dynamics: Dynamics) -> None:
        check_known(dynamics, "enclosures")
        self.points, self.dynamics = points, dynamics
        self.mask = allowed_pairs(dynamics, points.count)
        self.counts = points.multiplicities
        metrics = [head.metric for head in dynamics.all_heads]
        self.metrics = [None if one is None else matrix_of(one).transpose() for one in metrics]

    def start(self) -> State:
        """The points as they are given."""
        rows = to_fractions(self.points.coordinates, "`tokens`").tolist()
        places = {key: number for number, key in enumerate(dict.fromkeys(map(tuple, rows)))}
        labels = np.array([places[tuple(row)] for row in rows])
        return State(0, [[ball(x) for x in row] for row in places], labels)

    # ------------------------------------------------------------ what points attend to

    def choose(self, state: State) -> Choices:
        """What all points attend to; Unclear if that is not proved."""
        askers = self._askers(state)
        if isinstance(self.dynamics.attention, Softmax):
            heads = [[[*asker.among] for asker in askers]] * len(self.metrics)
        else:
            heads = self._chosen(state, askers)
        return Choices(askers, heads, [self._sets(state, askers, chosen) for chosen in heads])

    def _askers(self, state: State) -> list[Asker]:
        labels = state.labels
        if self.mask is None:
            among = self._count(labels, np.arange(len(labels)))
            members = [np.flatnonzero(labels == place).tolist() for place in among]
            pairs = zip(among, members, strict=True)
            return [Asker(place, among, points) for place, points in pairs]
        rows = enumerate(self.mask)
        among = [self._count(labels, np.flatnonzero(row)) for _, row in rows]
        return [Asker(int(labels[i]), allowed, [i]) for i, allowed in enumerate(among)]

    def _count(self, labels: np.ndarray, points: np.ndarray) -> Counts:
        among: Counts = {}
        for point, label in zip(points.tolist(), labels[points].tolist(), strict=True):
            among[label] = among.get(label, 0) + int(self.counts[point])
        return among

    def _chosen(self, state: State, askers: list[Asker]) -> list[list[list[int]]]:
        try:
            heads = []
            for scores in self.scores(state):
                heads.append([self._furthest(scores[one.place], one) for one in askers])
            return heads
        except Unclear:
            if state.layer:
                raise
        exact = attended_by_head(self.points, self.dynamics)
        labels = state.labels
        return [
            [sorted({*labels[head[asker.points[0]]].tolist()}) for asker in askers]
            for head in exact
        ]

    def scores(self, state: State) -> list[list[Row]]:
        """For each head the scores of all places, in rows for those that look."""
        places, found = arb_mat(state.places), []
        for metric in self.metrics:
            directions = places if metric is None else places * metric
            found.append((directions * places.transpose()).tolist())
        return found

    def _furthest(self, scores: Row, asker: Asker) -> list[int]:
        """The places that an asker attends to."""
        rule: Any = self.dynamics.attention or HARDMAX
        among, slack = asker.among, ball(rule.slack)
        ranked = sorted(among, key=lambda j: scores[j].mid(), reverse=True)
        enough, top = np.cumsum([among[j] for j in ranked]) >= rule.k, ranked[0]
        chosen = ranked[: 1 + int(enough.argmax())] if enough[-1] else ranked
        if rule.slack:
            chosen = [j for j in ranked if scores[top].mid() - scores[j].mid() <= slack]
        left = ranked[len(chosen) :]
        # Every place that counts is above the others, or within the slack of all others.
        if rule.slack:
            within = (scores[i] - scores[j] for i in among for j in chosen if i != j)
            is_sure = all(scores[top] - scores[j] > slack for j in left)
            is_sure = is_sure and all(lead <= slack for lead in within)
        else:
            is_sure = all(scores[j] < scores[i] for i in chosen for j in left)
        if not is_sure:
            token = int(np.flatnonzero(self.points.of_token == asker.points[0])[0])
            raise Unclear(f"scores of tokens are too close, or equal, for token {token}")
        return chosen

    def _sets(self, state: State, askers: list[Asker], chosen: list[list[int]]) -> AttendedIndices:
        sets: list[Any] = [None] * len(state.labels)
        for asker, places in zip(askers, chosen, strict=True):
            members = np.isin(state.labels, places)
            if self.mask is not None:
                members &= self.mask[asker.points[0]]
            indices = np.flatnonzero(members)
            for point in asker.points:
                sets[point] = indices
        return AttendedIndices.of_sets(sets)

    # ------------------------------------------------------------ how they move

    def move(self, state: State, choices: Choices) -> State:
        """The points a layer later; Unclear if one may be 0 and is to be normalised."""
        groups, number = self._groups(choices)
        labels = np.empty_like(state.labels)
        for asker, group in zip(choices.askers, number, strict=True):
            labels[asker.points] = group
        firsts = [choices.askers[k] for k in groups]
        means, places = [], arb_mat(state.places)
        all_scores = self.scores(state) if self._is_soft else [[]] * len(self.metrics)
        for scores, chosen in zip(all_scores, choices.heads, strict=True):
            weights = [
                self._weights(scores, choices.askers[k], chosen[k], len(state.places))
                for k in groups
            ]
            means.append(arb_mat(weights) * places)
        own = arb_mat([state.places[one.place] for one in firsts])
        rows = self._after(own, means, state.layer)
        return self._merged(State(state.layer + 1, rows, labels))

    @property
    def _is_soft(self) -> bool:
        return isinstance(self.dynamics.attention, Softmax)

    def _groups(self, choices: Choices) -> tuple[list[int], list[int]]:
        """Askers that move alike are one group: the first of each, and the group of each asker."""
        groups: dict[Any, int] = {}
        firsts, number = [], []
        for k, asker in enumerate(choices.askers):
            shares = []
            for chosen in choices.heads:
                counts = {place: asker.among[place] for place in chosen[k]}
                shares.append(frozenset(counts.items()) if len(counts) > 1 else chosen[k][0])
            key = asker.place, *shares
            if key not in groups:
                groups[key] = len(groups)
                firsts.append(k)
            number.append(groups[key])
        return firsts, number

    def _weights(self, scores: list[Row], asker: Asker, chosen: list[int], size: int) -> Row:
        """What all places weigh in a mean."""
        if not self._is_soft:
            powers: dict[int, Any] = {place: asker.among[place] for place in chosen}
            total = sum(powers.values())
            return [ball(Fraction(powers.get(place, 0), total)) for place in range(size)]
        beta, own = ball(self.dynamics.attention.beta), scores[asker.place]  # pyright: ignore
        top = max(chosen, key=lambda j: own[j].mid())
        powers = {}
        for j in chosen:
            # exp(0) without an error: the ball of a token that attends to one alone does not grow
            # with beta.
            factor = 1 if j == top else (beta * (own[j] - own[top])).exp()
            powers[j] = asker.among[j] * factor
        total = sum(powers.values())
        return [powers[j] / total if j in powers else arb(0) for j in range(size)]

    def _after(self, own: Any, means: list[Any], layer: int) -> list[Row]:
        dynamics, alpha = self.dynamics, self.dynamics.alpha_at(layer)
        scale = 1 if dynamics.normalises else rescaling(dynamics, alpha)
        total = _turned(own, scale)
        for head, mean in zip(dynamics.all_heads, means, strict=True):
            push = alpha * head.weight * scale
            if head.value is not None:
                push = push @ head.value if isinstance(push, np.ndarray) else push * head.value
            total = total + _turned(mean, push)
        rows = self.normalised(total.tolist())
        if dynamics.feed_forward is None:
            return rows
        return self.normalised(self.fed(rows))

    def normalised(self, rows: list[Row]) -> list[Row]:
        """Rows as normalisation leaves them."""
        if not self.dynamics.normalises:
            return rows
        normal = on_sphere if self.dynamics.normalise == "sphere" else layer_normal
        return [normal(row) for row in rows]

    def fed(self, rows: list[Row]) -> list[Row]:
        """Rows after the feed-forward block."""
        inner, inner_bias, outer, outer_bias = self.dynamics.feed_forward.parts  # pyright: ignore
        biases, shifts = [*map(ball, inner_bias)], [*map(ball, outer_bias)]
        hidden = arb_mat(rows) * matrix_of(inner.T)
        units = [
            [(x + b).max(arb(0)) for x, b in zip(row, biases, strict=True)]
            for row in hidden.tolist()
        ]
        pushes = (arb_mat(units) * matrix_of(outer.T)).tolist()
        triples = (
            zip(row, push, shifts, strict=True) for row, push in zip(rows, pushes, strict=True)
        )
        return [[x + y + b for x, y, b in triple] for triple in triples]

    @staticmethod
    def _merged(state: State) -> State:
        """Places that are the same without any error are one."""
        keys: dict[Any, int] = {}
        merged, number = [], []
        for place, row in enumerate(state.places):
            is_exact = all(x.is_exact() for x in row)
            key = tuple(str(x.fmpq()) for x in row) if is_exact else place
            if key not in keys:
                keys[key] = len(keys)
                merged.append(row)
            number.append(keys[key])
        return State(state.layer, merged, np.array(number)[state.labels])


def _turned(rows: Any, factor: Any) -> Any:
    """Rows times a number, or a matrix times each of them."""
    return rows * (matrix_of(factor.T) if isinstance(factor, np.ndarray) else ball(factor))


def on_sphere(row: Sequence[Any]) -> Row:
    """A vector divided by its length; without an error if all coordinates but one are 0."""
    if sum(not x.is_zero() for x in row) == 1:
        return [arb(0) if x.is_zero() else _sign(x) for x in row]
    length = root_of_squares(row)
    if not length > 0:
        raise Unclear("a vector that is to be normalised may be 0")
    return [x / length for x in row]


def root_of_squares(row: Sequence[Any]) -> Any:
    """The length of a vector; not a number if that may be 0."""
    return sum((x * x for x in row), arb(0)).sqrt()


def layer_normal(row: Sequence[Any]) -> Row:
    """A vector less the mean of its coordinates, divided by their standard deviation."""
    if len(row) == 2:
        sign = _sign(row[0] - row[1])
        return [sign, -sign]
    mean = sum(row) / len(row)
    centred = [x - mean for x in row]
    size = arb(len(row)).sqrt()
    return [size * x for x in on_sphere(centred)]


def _sign(x: Any) -> Any:
    if not (x > 0 or x < 0):
        raise Unclear("a vector that is to be normalised may be 0")
    return arb(1 if x > 0 else -1)
