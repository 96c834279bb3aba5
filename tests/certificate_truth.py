"""Whether what a certificate says is true: the oracle walks the layers, and its sets, leaders and
positions are compared."""

from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any

import oracle
from layer_problems import fraction
from oracle import Parts, apply, dot

FURTHER, MUCH_FURTHER = 30, 900
"""Layers on which is tried what is said to hold for ever. Tokens that follow others by small steps
may at first go away from where they end."""


def is_true(document: dict[str, Any]) -> bool:
    """Whether all that a certificate of few layers says comes true."""
    return any(_comes_true(document, further) for further in (FURTHER, MUCH_FURTHER))


def _comes_true(document: dict[str, Any], further: int) -> bool:
    layer, cloud = document["layer"], document["cloud"]
    unit, counts = Fraction(cloud["denominator"]), cloud["multiplicities"]
    rows = [tuple(Fraction(x) / unit for x in row) for row in cloud["points"]]
    points = [*range(len(rows))]
    if layer["mask"] is None:
        first = list(dict.fromkeys(rows))
        points = [first.index(row) for row in rows]
    copies = [i for i, count in enumerate(counts or [1] * len(rows)) for _ in range(count)]
    point_of, tokens = [points[i] for i in copies], [list(rows[i]) for i in copies]
    walk = oracle.any_walk(tokens, _parts(layer, copies))
    proved = document["jumps"][-1][0]
    layers = list(islice(walk, proved + further))
    token_of = [point_of.index(i) for i in range(max(point_of) + 1)]
    places = [[z.table()[t] for t in token_of] for z, _ in layers]
    places = [[[fraction(x) for x in row] for row in place] for place in places]
    leaders: dict[int, int] = {}
    listed = _listed(document, len(layers))
    for k, ((_, heads), said) in enumerate(zip(layers, listed, strict=True)):
        found = [[{point_of[j] for j in sets[t]} for t in token_of] for sets in heads]
        if found != said:
            return False
        for i, row in enumerate(places[k]):
            if all(places[k][j] == row for sets in found for j in sets[i]):
                leaders.setdefault(i, k)
            else:
                leaders.pop(i, None)
    if [[i, k] for i, k in sorted(leaders.items())] != document["leaders"]:
        return False
    limits = [document["limits"][number] for number in document["limit_of"]]
    return all(_ends(i, limit, places, layer, leaders) for i, limit in enumerate(limits))


def withstands(document: dict[str, Any], random: Random) -> bool:
    """Whether no attended set changes if every token is moved by the radius, each along an axis."""
    cloud, counts = document["cloud"], document["cloud"]["multiplicities"]
    unit, eps = Fraction(cloud["denominator"]), Fraction(document["radius"])
    rows = [[Fraction(x) / unit for x in row] for row in cloud["points"]]
    copies = [i for i, count in enumerate(counts or [1] * len(rows)) for _ in range(count)]
    tokens = []
    for i in copies:
        k = random.randrange(len(rows[i]))
        move = random.choice([-eps, eps])
        tokens.append([x + move * (axis == k) for axis, x in enumerate(rows[i])])
    walk = oracle.any_walk(tokens, _parts(document["layer"], copies))
    listed = _listed(document, document["jumps"][-1][0] + 5)
    for (_, (sets,)), (said,) in zip(walk, listed, strict=False):
        if [{copies[j] for j in found} for found in sets] != [said[i] for i in copies]:
            return False
    return True


def _parts(layer: dict[str, Any], copies: list[int]) -> Parts:
    steps = [Fraction(alpha) for alpha in layer["alpha"]]
    mask, attention = layer["mask"], layer["attention"]
    allowed = None
    if mask is not None:
        n = max(copies) + 1
        rows = [[j <= i for j in range(n)] for i in range(n)]
        if mask != "causal":
            rows = [[mark == "1" for mark in row] for row in mask]
        allowed = [[rows[i][j] for j in copies] for i in copies]
    kind = None
    if attention:
        ((name, parameter),) = attention.items()
        kind = name, Fraction(parameter)
    heads = layer["heads"]
    if heads:
        heads = [(_matrix(head["metric"]), Fraction(head["weight"])) for head in heads]
    matrices = {name: _matrix(layer[name]) for name in ("metric", "value")}
    last = len(steps) - 1
    return Parts(
        step=lambda k: steps[min(k, last)], mask=allowed, attention=kind, heads=heads, **matrices
    )


def _matrix(rows: Any) -> Any:
    return rows and [[Fraction(x) for x in row] for row in rows]


def _listed(document: dict[str, Any], layers: int) -> list[list[list[set[int]]]]:
    """The sets of each head that a certificate lists, layer by layer."""
    now: dict[int, list[set[int]]] = {}
    listed = []
    for k in range(layers):
        for entry in document["attended"]:
            if entry["from"] != k:
                continue
            to = [{*one} if isinstance(one, list) else {one} for one in entry["to"]]
            sets = [*now.get(entry["head"], to)]
            for i, chosen in zip(entry.get("points", range(len(to))), to, strict=True):
                sets[i] = chosen
            now[entry["head"]] = sets
        listed.append([now[head] for head in sorted(now)])
    return listed


def _ends(i: int, limit: Any, places: list[Any], layer: Any, leaders: dict[int, int]) -> bool:
    """Whether a point comes ever nearer to what is said to be its limit."""
    if "moves" in limit:
        before, after = places[-2][i], places[-1][i]
        step = [y - x for x, y in zip(before, after, strict=True)]
        return any(step) and [*map(str, step)] == limit["moves"]
    if "vertex" in limit:
        if limit["vertex"] not in leaders:
            return False
        end = places[-1][limit["vertex"]]
    else:
        end = [Fraction(x) for x in limit["point"]]
    left = []
    for place in (places[-FURTHER // 2], places[-1]):
        left.append(sum((x - y) ** 2 for x, y in zip(place[i], end, strict=True)))
    middle, last = left
    # Steps of 1/4 or more come nearer fast.
    pace = 2 if Fraction(layer["alpha"][-1]) >= Fraction(1, 4) else 1
    if last and pace * last >= middle:
        return False
    if "face" not in limit:
        return True
    look = apply(_matrix(layer["metric"]), end)
    heights = {v: dot(look, places[-1][v]) for v in leaders}
    face = sorted(v for v in leaders if heights[v] == max(heights.values()))
    weights = [Fraction(weight) for weight in limit["weights"]]
    columns = zip(*(places[-1][v] for v in face), strict=True)
    if face != limit["face"] or sum(weights) != 1 or min(weights) < 0:
        return False
    return [dot(weights, [*column]) for column in columns] == end
