"""Closed forms of the positions while no attended set changes.

With B = (I + alpha V)^-1 alpha V a layer is z' = z + B (w - z). While no attended set changes, it
is linear in the tokens. Closed forms, m layers later, are sums of g^(e + r m) C(m, k) v (see
`leads`):

* *V = a P, P^2 = P, a > 0* (the identity, if there is no V). B = (1 - g) P with g = 1 / (1 + alpha
  a). The part (I - P) z stands still; let y = P z. With M for the mean over the attended set, a
  layer is g y + (1 - g) M y, so m of them are the sum over k of C(m, k) g^(m-k) (1 - g)^k M^k y. If
  M w = w for w = M^L y, this is w + g^m sum over k < L of C(m, k) ((1 - g) / g)^k (M^k y - w).
  Points go straight if L is 1, and in *chains*, after points that move themselves, if it is larger.
  If attention goes round in circles there is no such L.
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
from hardmax._layer.rules import rescaling
from hardmax._tokens.rationals import IntegerCloud
from hardmax.dynamics import Dynamics

Table = np.ndarray
"""A row of Fractions for each point."""
Place = dict[int, Table]
"""Positions as sums of g^e times a table, by e."""
Form = dict[Key, Table]
"""Positions as sums of terms g^(e + r m) C(m, k) times a table."""
Sets = Sequence[Sequence[int]]

_PRIME = 2**31 - 1  # products of two residues fit into 64 bits


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
        push = np.array(rescaling(dynamics, alpha) @ value * alpha)
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
    """Means over the attended sets, counted with multiplicity: M, a matrix of rationals."""

    def __init__(self, chosen: Sets, counts: np.ndarray) -> None:
        self.sets = {tuple(several): np.array(several) for several in chosen}
        self.keys = [tuple(several) for several in chosen]
        self.counts = counts.astype(object)

    def __call__(self, table: Table) -> Table:
        weights = self.counts
        means = {key: weights[c] @ table[c] / weights[c].sum() for key, c in self.sets.items()}
        return np.array([means[key] for key in self.keys])

    def may_vanish(self, tables: Iterable[Table]) -> bool:
        """Whether M^n times some tables can be 0; if it is not, no power of M ever makes them 0
        (Fitting's lemma).

        Computed modulo a prime: what is 0 is 0 there, too.
        """
        indices = np.concatenate([self.sets[key] for key in self.keys])
        starts = np.cumsum([0, *map(len, self.keys)])[:-1]
        sums = {key: int(self.counts[c].sum()) for key, c in self.sets.items()}
        if any(total % _PRIME == 0 for total in sums.values()):
            return True
        shares = [
            int(self.counts[j]) * pow(sums[key], -1, _PRIME) % _PRIME
            for key in self.keys
            for j in key
        ]
        weights = np.array(shares, dtype=np.int64)[:, None]
        rest = np.concatenate(
            [np.array(rows, dtype=object) % _PRIME for rows in integers(tables)], axis=1
        )
        rest = rest.astype(np.int64)
        for _ in self.keys:
            if not rest.any():
                return True
            rest = np.add.reduceat(weights * rest[indices] % _PRIME, starts) % _PRIME
        return not rest.any()


def at_first(place: Place) -> Form:
    """Where the points are now, as if they stood still."""
    return {(e, 0, 0): z for e, z in place.items()}


def one_layer(place: Place, means: Callable[[Table], Table], motion: Motion) -> Form:
    """Where the points are now and a layer later, whatever happens then."""
    steps = {(e, 0, 1): motion.pushed(means(z) - z) for e, z in place.items()}
    return at_first(place) | {key: table for key, table in steps.items() if table.any()}


def closed_form(place: Place, linear: Form, means: Means, motion: Motion) -> Form | None:
    """Where the points are m layers later as long as the sets stay, if that is known; `linear`
    holds for a layer."""
    if motion.keep == 1 or not any(k for _, _, k in linear):
        return linear
    if motion.keep is None:
        return None
    driven = {e: motion.driven(z) for e, z in place.items()}
    steps = _steps_to_rest(driven, means)
    if steps is None:
        return None
    *steps, ends = steps
    form = {(e, 0, 0): place[e] - driven[e] + end for e, end in ends.items()}
    for k, step in enumerate(steps):
        ways = {
            e: ((1 - motion.keep) / motion.keep) ** k * (step[e] - end) for e, end in ends.items()
        }
        form |= {(e, 1, k): way for e, way in ways.items() if way.any()}
    return form


def _steps_to_rest(start: Place, means: Means) -> list[Place] | None:
    """y, M y, M^2 y, … up to the first that M leaves as it is; None if there is none."""
    after = {e: means(y) for e, y in start.items()}
    if not means.may_vanish(after[e] - y for e, y in start.items()):
        return None
    steps = [start]
    for _ in means.keys:
        if all((after[e] == y).all() for e, y in steps[-1].items()):
            return steps
        steps.append(after)
        after = {e: means(y) for e, y in after.items()}
    return None


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
