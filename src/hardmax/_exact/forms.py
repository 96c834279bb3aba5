"""Closed forms of the positions while no attended set changes.

With B = (I + alpha V)^-1 alpha V a layer is z' = z + B (w - z). While no attended set changes, it is linear in the
tokens. Closed forms, m layers later, are sums of g^(e + r m) C(m, k) v (see `leads`):

* *V = a P, P^2 = P, a > 0* (the identity, if there is no V). B = (1 - g) P with g = 1 / (1 + alpha a). The part
  (I - P) z stands still; let y = P z. If the means of y over all attended sets stand still, y goes straight:
  w + g^m (y - w). If they move, and nobody attends to itself in a roundabout way, they do so in *chains*: with
  y_j = W + sum_k g^m C(m, k) q_k for the mean of those that i attends to, y_i = W + g^m (y_i(0) - W) +
  (1 - g) / g sum_k g^m C(m, k + 1) q_k, as C(m + 1, k + 1) - C(m, k + 1) = C(m, k) shows.
* *V^2 = 0*. Then B = alpha V, V z stands still for ever, and z(m) = z + m B (w - z).
* *Anything else*, such as cycles of attention: one layer at a time, unless nothing moves.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from hardmax._exact.leads import Key
from hardmax._exact.vectors import SHORT
from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics

Table = np.ndarray
"""A row of Fractions for each point."""
Place = dict[int, Table]
"""Positions as sums of g^e times a table, by e."""
Form = dict[Key, Table]
"""Positions as sums of terms g^(e + r m) C(m, k) times a table."""
Sets = Sequence[Sequence[int]]


class Motion(NamedTuple):
    """How tokens move over a layer: by `push` (a matrix or a number) times the way to the mean."""

    push: Any
    keep: Fraction | None
    """g: below 1 if V = a P, 1 if V^2 = 0, None for anything else."""
    projection: np.ndarray | None = None

    @classmethod
    def of(cls, dynamics: Dynamics, alpha: Fraction) -> "Motion":
        value = dynamics.value
        if value is None:
            return cls(alpha / (1 + alpha), 1 / (1 + alpha))
        push = np.array(dynamics.rescaling(alpha) @ value * alpha)
        square, where = value @ value, np.argwhere(value)
        if not square.any():
            return cls(push, Fraction(1))
        scale: Any = square[tuple(where[0])] / value[tuple(where[0])]
        if scale > 0 and (square == scale * value).all():
            return cls(push, 1 / (1 + alpha * scale), value / scale)
        return cls(push, None)

    def pushed(self, table: Table) -> Table:
        return table @ self.push.T if isinstance(self.push, np.ndarray) else self.push * table

    def driven(self, table: Table) -> Table:
        """The part of the positions that can move."""
        return table if self.projection is None else table @ self.projection.T


class Means:
    """Means over the attended sets, counted with multiplicity."""

    def __init__(self, chosen: Sets, counts: np.ndarray) -> None:
        self.sets = {tuple(several): np.array(several) for several in chosen}
        self.keys = [tuple(several) for several in chosen]
        self.counts = counts.astype(object)

    def __call__(self, table: Table) -> Table:
        weights = self.counts
        means = {key: weights[c] @ table[c] / weights[c].sum() for key, c in self.sets.items()}
        return np.array([means[key] for key in self.keys])


def one_layer(place: Place, means: Callable[[Table], Table], motion: Motion) -> Form:
    """Where the points are now and a layer later, whatever happens then."""
    steps = {(e, 0, 1): motion.pushed(means(z) - z) for e, z in place.items()}
    return {(e, 0, 0): z for e, z in place.items()} | {key: table for key, table in steps.items() if table.any()}


def closed_form(place: Place, chosen: Sets, counts: np.ndarray, motion: Motion) -> tuple[Form, bool]:
    """Where the points are m layers later, and whether that holds as long as the sets stay (else for one layer)."""
    means = Means(chosen, counts)
    linear = one_layer(place, means, motion)
    if motion.keep == 1 or not any(k for _, _, k in linear):
        return linear, True
    if motion.keep is None:
        return linear, False
    driven = {e: motion.driven(z) for e, z in place.items()}
    ways = {e: y - means(y) for e, y in driven.items()}
    if not any(means(way).any() for way in ways.values()):
        straight = {(e, 0, 0): place[e] - way for e, way in ways.items()}
        return straight | {(e, 1, 0): way for e, way in ways.items() if way.any()}, True
    chains = _chains(driven, chosen, counts, motion.keep)
    if chains is None:
        return linear, False
    nothing = 0 * next(iter(place.values()))
    form = {key: nothing.copy() for key in dict.fromkeys(key for row in chains for key in row)}
    for i, row in enumerate(chains):
        for key, vector in row.items():
            form[key][i] = vector
    for e, z in place.items():
        form[e, 0, 0] = form[e, 0, 0] + z - driven[e]
    return {key: table for key, table in form.items() if key[1:] == (0, 0) or table.any()}, True


def _chains(driven: Place, chosen: Sets, counts: np.ndarray, keep: Fraction) -> list[Form] | None:
    """The closed form of each point, those that it attends to first; None if attention goes round in a circle."""
    found: list[Form | None] = [None] * len(chosen)
    # Copies that a mask keeps apart, or tokens that have met, attend to one another and stand still.
    still = {i for i, c in enumerate(chosen) if all((y[j] == y[i]).all() for y in driven.values() for j in c)}
    while moving := {i for i in still if not still.issuperset(chosen[i])}:
        still -= moving
    for i in still:
        found[i] = {(e, 0, 0): y[i] for e, y in driven.items()}
    open_points, stack = set(), list(range(len(chosen)))
    while stack:
        i = stack[-1]
        if found[i] is not None:
            stack.pop()
            continue
        others = [j for j in chosen[i] if j != i]
        missing = [j for j in others if found[j] is None]
        if missing:
            if i in open_points:
                return None
            open_points.add(i)
            stack += missing
            continue
        open_points.discard(i)
        here: Form = {(e, 0, 0): y[i] for e, y in driven.items()}
        if others:
            mean: Form = {}
            for j in others:
                for key, vector in (found[j] or {}).items():
                    mean[key] = mean.get(key, 0) + int(counts[j]) * vector
            total = int(counts[others].sum())
            mean = {key: vector / total for key, vector in mean.items()}
            stands = {key: vector for key, vector in mean.items() if key[1] == 0 or vector.any()}
            if len(others) < len(chosen[i]):
                if any(key not in here or (vector != here[key]).any() for key, vector in stands.items()):
                    return None
            else:
                ahead = {(e, 1, k + 1): (1 - keep) / keep * v for (e, r, k), v in stands.items() if r == 1}
                start = {(e, 1, 0): here[e, 0, 0] - mean[e, 0, 0] for e in driven}
                here = {(e, 0, 0): mean[e, 0, 0] for e in driven} | start | ahead
        found[i] = here
    return [form or {} for form in found]


def placed(form: Form, m: int, keep: Fraction) -> Place:
    """The positions m layers later, by powers of g; powers that are close are put together."""
    parts: Place = {}
    for (e, r, k), table in form.items():
        if (scaled := math.comb(m, k) * table).any():
            parts[e + r * m] = parts.get(e + r * m, 0) + scaled
    place: Place = {}
    for e in sorted(parts):
        base = max(place, default=e)
        is_close = (e - base) * keep.denominator.bit_length() <= SHORT
        if base in place and is_close and longest(place[base]) <= 2 * SHORT:
            place[base] = place[base] + parts[e] * keep ** (e - base)
        else:
            place[e] = parts[e]
    return place or {0: 0 * next(iter(form.values()))}


def longest(table: Table) -> int:
    return max(value.denominator.bit_length() for value in table.flat)


def integers(tables: Iterable[Table]) -> list[list[list[int]]]:
    """The tables times their common denominator."""
    tables = list(tables)
    rows = IntegerCloud.of(np.concatenate(tables)).numerators
    n = len(tables[0])
    return [rows[start : start + n] for start in range(0, len(rows), n)]
