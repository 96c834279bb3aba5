"""Smaller and simpler cases that still break a statement: fewer tokens, fewer dimensions, fewer
parts, simpler numbers, as long as any of these can be had alone."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from hardmax._layer.parts import FULL
from hardmax._questions.cases import USUAL, Parts

Size = tuple[float, ...]

_DENOMINATOR = 10  # by how much more each unit of a denominator counts than one of a numerator


def simplify(parts: Parts, breaks: Callable[[Parts], bool], most: int) -> Parts:
    """The simplest parts that were found in so many attempts."""
    left, before = most, None
    while before != parts:
        before = parts
        for stage in STAGES:
            candidates = stage(parts)
            while left and (candidate := next(candidates, None)) is not None:
                if size_of(candidate) >= size_of(parts):
                    continue
                left -= 1
                if breaks(candidate):
                    parts, candidates = candidate, stage(candidate)
    return parts


def size_of(parts: Parts) -> Size:
    """Tokens, dimensions, and the parts that are not the usual ones count most; then numbers."""
    steps = parts["alpha"] if isinstance(parts["alpha"], tuple) else ()
    mask = parts["mask"]
    forbidden = 0 if isinstance(mask, str | None) else sum(row.count(False) for row in mask)
    tables = [parts[name] or () for name in ("tokens", "metric", "value")]
    numbers = sum(_cost(x) for table in tables for row in table for x in row)
    unusual = sum(parts[name] is not None for name in USUAL) + bool(forbidden)
    step = 0 if steps else _cost(parts["alpha"])
    tokens = parts["tokens"]
    return len(tokens), len(tokens[0]), unusual, len(steps), forbidden, numbers, step


def _cost(x: Any) -> int:
    return 2 * (abs(x.numerator) + _DENOMINATOR * (x.denominator - 1)) + (x < 0)


def _fewer_tokens(parts: Parts) -> Iterator[Parts]:
    tokens, mask = parts["tokens"], parts["mask"]
    for i in range(len(tokens)):
        fewer = {"tokens": (*tokens[:i], *tokens[i + 1 :])}
        if not isinstance(mask, str | None):
            fewer["mask"] = _without(mask, i)
        if fewer["tokens"]:
            yield parts | fewer


def _fewer_dimensions(parts: Parts) -> Iterator[Parts]:
    tokens = parts["tokens"]
    d = len(tokens[0])
    for axis in range(d if d > 1 else 0):
        fewer = {"tokens": tuple((*row[:axis], *row[axis + 1 :]) for row in tokens)}
        for name in ("metric", "value"):
            if parts[name] is not None:
                fewer[name] = _without(parts[name], axis)
        yield parts | fewer


def _without(table: Any, i: int) -> Any:
    """A square table without a row and the column of the same number."""
    return [[*row[:i], *row[i + 1 :]] for row in (*table[:i], *table[i + 1 :])]


def _usual_parts(parts: Parts) -> Iterator[Parts]:
    for name in USUAL:
        if parts[name] is not None:
            yield parts | {name: None}
    if not isinstance(mask := parts["mask"], str | None):
        yield parts | {"mask": "causal"}
        for i, row in enumerate(mask):
            for j in range(len(row)):
                yield parts | {"mask": _replaced(mask, i, j, True)}


def _steps(parts: Parts) -> Iterator[Parts]:
    alpha = parts["alpha"]
    if isinstance(alpha, tuple):
        finite = [step for step in alpha if step != FULL]
        yield from (parts | {"alpha": step} for step in finite)
        for kept in range(2, len(alpha)):
            if alpha[kept - 1] != FULL:
                yield parts | {"alpha": alpha[:kept]}
        return
    for simpler in _simpler(alpha):
        if simpler > 0:
            yield parts | {"alpha": simpler}


def _everywhere(parts: Parts) -> Iterator[Parts]:
    """Coordinates of one size simpler everywhere, as ties need; tokens mirrored in an axis, and all
    numbers scaled to integers without a common factor."""
    tokens = parts["tokens"]
    for size in {abs(x): None for row in tokens for x in row}:
        for simpler in _simpler(size):
            simply = {size: simpler, -size: -simpler}
            yield parts | {"tokens": tuple(tuple(simply.get(x, x) for x in row) for row in tokens)}
    for axis in range(len(tokens[0])):
        rows = ((*row[:axis], -row[axis], *row[axis + 1 :]) for row in tokens)
        yield parts | {"tokens": tuple(rows)}
    for name in ("tokens", "metric"):
        if parts[name] is not None:
            yield parts | {name: _scaled(parts[name])}


def _scaled(table: Any) -> Any:
    numbers = [x for row in table for x in row]
    common = lcm(*(x.denominator for x in numbers))
    factor = Fraction(common, gcd(*(int(x * common) for x in numbers)) or 1)
    return type(table)(type(row)(x * factor for x in row) for row in table)


def _numbers(parts: Parts) -> Iterator[Parts]:
    for name in ("tokens", "metric", "value"):
        table = parts[name] or ()
        for i, row in enumerate(table):
            for j, x in enumerate(row):
                for simpler in _simpler(x):
                    changed = _replaced(table, i, j, simpler)
                    if name == "metric" and i != j:  # it may have to stay symmetric
                        yield parts | {name: _replaced(changed, j, i, simpler)}
                    yield parts | {name: changed}


def _replaced(table: Any, i: int, j: int, entry: Any) -> Any:
    row = table[i]
    changed = type(row)((*row[:j], entry, *row[j + 1 :]))
    return type(table)((*table[:i], changed, *table[i + 1 :]))


def _simpler(x: Fraction) -> Iterator[Fraction]:
    """Numbers that are simpler than one, the simplest first."""
    sign = -1 if x < 0 else 1
    whole = abs(x.numerator) // x.denominator
    near = [0, 1, whole // 2, whole - 1, whole, whole + 1, abs(x) / 2]
    near += [Fraction(round(abs(x) * q), q) for q in range(2, min(x.denominator, 10))]
    near += [abs(x) - Fraction(1, x.denominator), abs(x)]
    simpler = {sign * Fraction(y): None for y in near} | {Fraction(y): None for y in near}
    yield from sorted((y for y in simpler if _cost(y) < _cost(x)), key=_cost)


STAGES = _fewer_tokens, _fewer_dimensions, _usual_parts, _steps, _everywhere, _numbers
