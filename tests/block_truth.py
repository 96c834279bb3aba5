"""Blocks once more, in plain loops over numbers of mpmath: slow, obvious, independent of the
package."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from block_problems import draw_block
from layer_problems import choose, draw_mask, draw_metric, draw_value, rationals

import hardmax as hm

TINY = mpmath.mpf(10) ** -100
"""Scores that are nearer than this are taken for equal."""
Vector = list[Any]


@dataclass(frozen=True, kw_only=True)
class Block:
    """All that a layer has; heads are (metric, value, weight), None for the identity."""

    alpha: Fraction
    heads: Sequence[tuple[Any, Any, Fraction]]
    mask: list[list[bool]]
    attention: tuple[str, Fraction] | None = None
    normalise: str | None = None
    feed_forward: Any = None
    kinds: frozenset[str] = field(default_factory=frozenset)


def number(x: Any) -> Any:
    return mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator


def apply(table: Any, z: Vector) -> Vector:
    if table is None:
        return z
    found = []
    for row in table:
        terms = [number(x) * y for x, y in zip(row, z, strict=True)]
        found.append(sum(terms, mpmath.mpf(0)))
    return found


def dot(x: Vector, y: Vector) -> Any:
    return sum(a * b for a, b in zip(x, y, strict=True))


def normalised(z: Vector, kind: str | None) -> Vector:
    if kind is None:
        return z
    size = mpmath.mpf(1)
    if kind == "layer":
        mean = sum(z) / len(z)
        z, size = [x - mean for x in z], mpmath.sqrt(len(z))
    length = mpmath.sqrt(dot(z, z))
    if length < TINY:
        raise ZeroDivisionError
    return [size * x / length for x in z]


def weights(scores: Vector, able: list[int], block: Block) -> tuple[Vector, set[int]]:
    """What each token counts for one that has these scores, and those that it attends to."""
    kind, parameter = block.attention or ("topk", Fraction(1))
    top = max(scores[j] for j in able)
    if kind == "softmax":
        powers = {j: mpmath.exp(number(parameter) * (scores[j] - top)) for j in able}
        total = sum(powers.values())
        return [powers.get(j, 0) / total for j in range(len(scores))], {*able}
    if kind == "topk":
        ranked = sorted((scores[j] for j in able), reverse=True)
        least = ranked[min(int(parameter), len(able)) - 1]
    else:
        least = top - number(parameter)
    chosen = {j for j in able if scores[j] >= least - TINY}
    return [mpmath.mpf(j in chosen) / len(chosen) for j in range(len(scores))], chosen


def walk(cloud: list[Vector], block: Block) -> Iterator[tuple[list[Vector], list[set[int]]]]:
    """Tokens and attended sets at the layers 0, 1, …; it ends at a token that cannot be
    normalised."""
    z = [[number(x) for x in token] for token in cloud]
    n, d = len(z), len(z[0])
    total, alpha = sum(weight for *_, weight in block.heads), number(block.alpha)
    identity = [[Fraction(i == j) for j in range(d)] for i in range(d)]
    while True:
        after, sets = [list(token) for token in z], [set() for _ in z]
        for metric, value, weight in block.heads:
            for i, token in enumerate(z):
                look = apply(metric, token)
                able = [j for j in range(n) if block.mask[i][j]]
                shares, chosen = weights([dot(look, other) for other in z], able, block)
                columns = zip(*z, strict=True)
                mean = [dot(shares, list(column)) for column in columns]
                step = alpha * number(weight) / number(total)
                moves = zip(after[i], apply(value, mean), strict=True)
                after[i] = [x + step * y for x, y in moves]
                sets[i] |= chosen
        yield z, sets
        if block.normalise is None:
            scale = mpmath.eye(d)
            for _, value, weight in block.heads:
                step = alpha * number(weight) / number(total)
                rows = [[number(x) for x in row] for row in (identity if value is None else value)]
                scale += step * mpmath.matrix(rows)
            after = [list(mpmath.lu_solve(scale, mpmath.matrix(y))) for y in after]
        try:
            z = [normalised(y, block.normalise) for y in after]
            if block.feed_forward is not None:
                z = [normalised(fed(x, *block.feed_forward), block.normalise) for x in z]
        except ZeroDivisionError:
            return


def fed(x: Vector, inner: Any, b: Any, outer: Any, c: Any) -> Vector:
    hidden = []
    for u, bias in zip(apply(inner, x), b, strict=True):
        hidden.append(max(u + number(bias), mpmath.mpf(0)))
    pushes = zip(x, apply(outer, hidden), c, strict=True)
    return [a + push + number(bias) for a, push, bias in pushes]


Problem = tuple[list[list[Fraction]], Block, hm.Dynamics]


def draw_tied(random: np.random.Generator) -> Problem:
    """A cloud and a metric that stay as they are if two coordinates are exchanged. Tokens repel
    each other, so that those for whom both are equal may attend to two mirror images for ever."""
    pairs = rationals(random.integers(-5, 6, (2, 3)), 3)
    n = int(random.integers(1, 3))
    cloud = [*pairs, *([x, z, y] for x, y, z in pairs)]
    level = rationals(random.integers(-5, 6, (n, 2)), 3)
    cloud += [[x, y, y] for x, y in level]
    size = int(random.integers(1, 3))
    metric = rationals(-size * np.eye(3, dtype=int) - random.integers(0, 2))
    normalise, alpha = choose(random, ["sphere", "layer"]), Fraction(1, 2)
    everybody = [[True] * len(cloud)] * len(cloud)
    heads = [(metric, None, Fraction(1))]
    block = Block(alpha=alpha, heads=heads, mask=everybody, normalise=normalise)
    return cloud, block, hm.Dynamics(alpha, metric, normalise=normalise)


def draw(seed: int) -> Problem:
    """A cloud and a block in two forms; one in ten is made for ties."""
    random = np.random.default_rng([474747, seed])
    if seed % 10 == 0:
        return draw_tied(random)
    n, d = int(random.integers(1, 7)), int(random.integers(1, 5))
    named = ("metric", "value", "mask", "heads", "feed_forward", "ties")
    kinds = {kind for kind in named if random.random() < 0.5}
    normalise = choose(random, [None, "sphere", "sphere", "layer" if d > 1 else "sphere"])
    attention = choose(random, [None, None, "softmax", "softmax", "topk", "localmax"])
    if normalise is None or ("heads" in kinds and attention is not None):
        attention = "softmax"
    parameter = choose(random, [Fraction(1, 2), Fraction(1), Fraction(2), Fraction(30)])
    if attention == "topk":
        parameter = Fraction(int(random.integers(1, n + 1)))
    cloud = rationals(random.integers(-3, 4, (n, d)))
    if "ties" not in kinds:
        cloud = rationals((random.standard_normal((n, d)) * 1000).astype(int), 1000)
    elif random.random() < 0.5:
        cloud = [cloud[j] for j in random.integers(0, n, n)]
    alpha = choose(random, [Fraction(1, 2), Fraction(1), Fraction(3)])
    mask = draw_mask(random, n) if "mask" in kinds else [[True] * n] * n
    block = draw_block(random, d) if "feed_forward" in kinds else None
    while True:
        layer_value = draw_value(random, d) if "value" in kinds else None
        if "heads" in kinds:
            heads = []
            for _ in range(random.integers(1, 4)):
                own = draw_value(random, d) if random.random() < 0.7 else layer_value
                metric = draw_metric(random, d) if random.random() < 0.7 else None
                heads.append((metric, own, Fraction(int(random.integers(1, 4)))))
            metric, several = None, [hm.Head(a, weight, value) for a, value, weight in heads]
        else:
            metric = draw_metric(random, d) if "metric" in kinds else None
            heads, several = [(metric, layer_value, Fraction(1))], None
        make = {"softmax": hm.Softmax, "topk": lambda k: hm.TopK(int(k)), "localmax": hm.Localmax}
        try:
            dynamics = hm.Dynamics(
                alpha,
                metric,
                value=layer_value,
                mask=np.array(mask) if "mask" in kinds else None,
                attention=attention and make[attention](parameter),
                heads=several,
                normalise=normalise,
                feed_forward=block and hm.FeedForward(*block),
            )
        except hm.InputError as error:
            if "no inverse" not in str(error):
                raise
            continue
        kinds |= {kind for kind in (normalise, attention) if kind}
        named = Block(
            alpha=alpha,
            heads=heads,
            mask=mask,
            attention=attention and (attention, parameter),
            normalise=normalise,
            feed_forward=block,
            kinds=frozenset(kinds),
        )
        return cloud, named, dynamics
