"""Families of random clouds and layers in small rational numbers."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from hardmax._common.validation import (
    InputError,
    check_bool,
    check_choice,
    check_int,
    check_real,
    shorten,
)
from hardmax._layer.attention import Softmax, read_attention
from hardmax._layer.metric import is_positive_definite
from hardmax._layer.parts import Steps, read_steps
from hardmax._questions.cases import Batch, Case, Row
from hardmax._questions.simplex import to_fraction
from hardmax._tokens.rationals import to_fractions
from hardmax.dynamics import Dynamics

Table = list[list[Fraction]]

_ENTRIES = 3  # of matrices, at most
_LARGEST_GROUP = 512  # clouds that go through one kernel
_MOST = 1000  # tokens, and dimensions
_PATIENCE = 100  # draws of a token that is none of those before, or of a layer that there is


def _vector(random: Random, d: int) -> list[int]:
    return [random.randint(-_ENTRIES, _ENTRIES) for _ in range(d)]


def _identity(d: int) -> list[list[int]]:
    return np.eye(d, dtype=int).tolist()


def _any(random: Random, d: int) -> Table:
    return [[Fraction(x) for x in _vector(random, d)] for _ in range(d)]


def _symmetric(random: Random, d: int) -> Table:
    table = _any(random, d)
    return [[table[min(i, j)][max(i, j)] for j in range(d)] for i in range(d)]


def _gram(random: Random, d: int) -> Any:
    root = np.array([_vector(random, d) for _ in range(d)])
    return to_fractions(root @ root.T, "`metric`")


def _rank_one(random: Random, d: int) -> Table:
    u, v = _vector(random, d), _vector(random, d)
    return [[Fraction(x * y) for y in v] for x in u]


def coefficients(table: Any) -> list[Fraction]:
    """Those of the characteristic polynomial, from the constant one up. If the matrix is symmetric,
    its eigenvalues are real; then none is positive if no coefficient is negative, and all are
    negative if all coefficients are positive."""
    return [*map(to_fraction, _of_flint(table).charpoly().coeffs())]


def _of_flint(table: Any) -> fmpq_mat:
    return fmpq_mat([[fmpq(*x.as_integer_ratio()) for x in row] for row in table])


def _is_symmetric(table: Table) -> bool:
    return [*map(tuple, table)] == [*zip(*table, strict=True)]


def is_negative(table: Table) -> bool:
    """Whether a matrix is symmetric negative semidefinite."""
    return _is_symmetric(table) and min(coefficients(table)) >= 0


def _is_definite(table: Table) -> bool:
    return _is_symmetric(table) and is_positive_definite(np.array(table, dtype=object))


def _has_rank_one(table: Table) -> bool:
    return _of_flint(table).rank() <= 1


Kind = tuple[Callable[[Random, int], Any], Callable[[Any], bool]]
"""How a matrix of a kind is drawn, and whether one is of it."""
_IDENTITY: Kind = (lambda random, d: None, lambda table: table == _identity(len(table)))
_ANY: Kind = (_any, lambda table: True)
METRICS: dict[str, Kind] = {
    "identity": _IDENTITY,
    "definite": (lambda random, d: (_gram(random, d) + _identity(d)).tolist(), _is_definite),
    "symmetric": (_symmetric, _is_symmetric),
    "negative": (lambda random, d: (-_gram(random, d)).tolist(), is_negative),
    "any": _ANY,
}
VALUES: dict[str, Kind] = {
    "none": _IDENTITY,
    "rank one": (_rank_one, _has_rank_one),
    "any": _ANY,
}
MASKS = "none", "causal", "random"


@dataclass(frozen=True, kw_only=True)
class Family:
    """What clouds and layers `falsify` draws, all in rational numbers.

    Parameters
    ----------
    tokens : tuple of int, default (2, 6)
        The smallest and the largest number of tokens, or one number that is both.
    dimensions : tuple of int, default (1, 3)
        Likewise.
    size : int, default 5
        The largest numerator of a coordinate.
    denominators : sequence of int, default (1, 1, 2)
        Those of coordinates.
    alphas : sequence, default ("1/2", "1", "2")
        Steps: each is what `Dynamics` takes as alpha, also a list of the first steps.
    metrics : sequence of str, default ("identity", "definite")
        Kinds of metrics: "identity", "definite" (symmetric positive definite), "symmetric",
        "negative" (symmetric negative semidefinite), "any".
    values : sequence of str, default ("none",)
        Kinds of value matrices: "none", "rank one", "any".
    masks : sequence of str, default ("none",)
        Kinds of masks: "none", "causal", "random" (everybody may attend to itself).
    attentions : sequence of str, default ("hardmax",)
        Kinds of attention: "hardmax", or as `Dynamics` takes them, such as "topk:2".
    ties : float, default 0.25
        The share of tokens that mirror another one in an axis, which makes ties.
    distinct : bool, default True
        Whether tokens are distinct and nonzero; there are fewer, if so many cannot be.

    Examples
    --------
    >>> Family(tokens=(2, 3), metrics=["identity", "definite"], alphas=["1/2"]).alphas
    (Fraction(1, 2),)
    """

    tokens: tuple[int, int] = (2, 6)
    dimensions: tuple[int, int] = (1, 3)
    size: int = 5
    denominators: Sequence[int] = (1, 1, 2)
    alphas: Sequence[Any] = ("1/2", "1", "2")
    metrics: Sequence[str] = ("identity", "definite")
    values: Sequence[str] = ("none",)
    masks: Sequence[str] = ("none",)
    attentions: Sequence[str] = ("hardmax",)
    ties: float = 0.25
    distinct: bool = True

    def __post_init__(self) -> None:
        read = {
            "tokens": _read_range(self.tokens, "`tokens`"),
            "dimensions": _read_range(self.dimensions, "`dimensions`"),
            "size": check_int(self.size, "`size`", at_least=1),
            "denominators": _listed(self.denominators, "`denominators`"),
            "alphas": tuple(map(_read_steps, _listed(self.alphas, "`alphas`"))),
            "metrics": _words(self.metrics, METRICS, "`metrics`"),
            "values": _words(self.values, VALUES, "`values`"),
            "masks": _words(self.masks, MASKS, "`masks`"),
            "attentions": _listed(self.attentions, "`attentions`"),
            "ties": check_real(self.ties, "`ties`", at_least=0, at_most=1),
            "distinct": check_bool(self.distinct, "`distinct`"),
        }
        for denominator in read["denominators"]:
            check_int(denominator, "`denominators`", at_least=1)
        for attention in read["attentions"]:
            known = read_attention(_unless(attention, "hardmax"))
            if isinstance(known, Softmax):
                wish = "`attentions`: layers of softmax are irrational, nothing is known of them"
                raise InputError(f"{wish} for ever.", argument="attentions")
        vars(self).update(read)

    def _draw(self, seed: int, max_layers: int) -> Iterator[Case]:
        """Cases without end, the same for the same seed. Clouds that share a layer come in groups,
        small ones first."""
        random, most, failed = Random(seed), 1, 0
        while True:
            d = random.randint(*self.dimensions)
            clouds = [self._cloud(random, d)]
            parts = self._parts(random, d, len(clouds[0]))
            try:
                dynamics = Dynamics(**parts)
            except InputError as error:  # I + alpha V has no inverse
                failed += 1
                if failed == _PATIENCE:
                    raise InputError(f"`family` has no such layer: {error}") from None
                continue
            count = most if dynamics.is_plain else 1
            clouds += [self._cloud(random, d) for _ in range(count - 1)]
            batch = Batch(clouds, dynamics, max_layers)
            yield from (Case._of_batch(batch, number, parts) for number in range(count))
            most, failed = min(2 * most, _LARGEST_GROUP), 0

    def _parts(self, random: Random, d: int, n: int) -> dict[str, Any]:
        """Of a layer for n tokens."""
        metric, value = random.choice(self.metrics), random.choice(self.values)
        mask: Any = random.choice(self.masks)
        attention = random.choice(self.attentions)
        if mask == "random":
            mask = [[i == j or random.random() < 0.5 for j in range(n)] for i in range(n)]
        return {
            "alpha": random.choice(self.alphas),
            "metric": METRICS[metric][0](random, d),
            "value": VALUES[value][0](random, d),
            "mask": _unless(mask, "none"),
            "attention": _unless(attention, "hardmax"),
        }

    def _cloud(self, random: Random, d: int) -> tuple[Row, ...]:
        rows: list[Row] = []
        for _ in range(random.randint(*self.tokens)):
            drawn = (self._token(random, d, rows) for _ in range(_PATIENCE))
            new = (row for row in drawn if not self.distinct or (any(row) and row not in rows))
            rows += islice(new, 1)
        return tuple(rows)

    def _token(self, random: Random, d: int, rows: Sequence[Row]) -> Row:
        if rows and random.random() < self.ties:
            mirrored, axis = random.choice(rows), random.randrange(d)
            return (*mirrored[:axis], -mirrored[axis], *mirrored[axis + 1 :])
        denominator = random.choice(self.denominators)
        return tuple(Fraction(random.randint(-self.size, self.size), denominator) for _ in range(d))

    def _allows(self, case: Case) -> bool:
        """Whether a case could be one of its own, whatever the size of its numbers."""
        tokens, parts = case.tokens, case.parts
        if self.distinct and (len({*tokens}) < case.n or not all(map(any, tokens))):
            return False
        counts = (case.n, self.tokens), (case.d, self.dimensions)
        return (
            all(least <= count <= most for count, (least, most) in counts)
            and any(_begins_with(alpha, case.dynamics.steps) for alpha in self.alphas)
            and _is_one_of(parts["metric"], case.d, self.metrics, METRICS)
            and _is_one_of(parts["value"], case.d, self.values, VALUES)
            and (parts["attention"] or "hardmax") in self.attentions
            and not _masks_like(parts["mask"]).isdisjoint(self.masks)
        )


def _unless(part: Any, usual: str) -> Any:
    """A part of a layer; None if it is the usual one."""
    return None if isinstance(part, str) and part == usual else part


def _begins_with(alpha: Any, steps: Any) -> bool:
    """Whether steps are those drawn, or the first of them."""
    are_listed = isinstance(alpha, tuple) and isinstance(steps, tuple)
    return alpha[: len(steps)] == steps if are_listed else alpha == steps


def _is_one_of(table: Any, d: int, names: Sequence[str], kinds: dict[str, Kind]) -> bool:
    """Whether a matrix is of one of the kinds; None is the identity."""
    table = _identity(d) if table is None else table
    return any(kinds[name][1](table) for name in names)


def _masks_like(mask: Any) -> set[str]:
    """The kinds of masks that a mask is one of."""
    if mask is None:
        return {"none", "random"}
    return {"causal", "random"} if isinstance(mask, str) else {"random"}


def _listed(given: Any, name: str) -> tuple[Any, ...]:
    if isinstance(given, list | tuple) and given:
        return tuple(given)
    wish = f"{name} must be a list of at least one"
    raise InputError(f"{wish}, not {shorten(given)}.", argument=name)


def _words(given: Any, known: Collection[str], name: str) -> tuple[str, ...]:
    return tuple(check_choice(word, known, f"{name} (each)") for word in _listed(given, name))


def _read_steps(alpha: Any) -> Any:
    if isinstance(alpha, Steps):
        wish = "`alphas` must be numbers and lists of them"
        raise InputError(f"{wish}, which can be written down, not a rule.", argument="alphas")
    return read_steps(alpha)


def _read_range(given: Any, name: str) -> tuple[int, int]:
    """The smallest and the largest, or one number that is both."""
    ends = given if isinstance(given, list | tuple) else (given, given)
    if len(ends) != 2:
        wish = f"{name} must be the smallest and the largest number"
        raise InputError(f"{wish}, not {shorten(given)}.", argument=name)
    least = check_int(ends[0], f"{name} (the smallest)", at_least=1, at_most=_MOST)
    return least, check_int(ends[1], f"{name} (the largest)", at_least=least, at_most=_MOST)
