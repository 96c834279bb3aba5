"""Problems that combine every part a layer can have, drawn by number, and what is wrong with the
package's answers."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, islice
from typing import Any

import numpy as np
import oracle
from flint import fmpq, fmpq_mat
from oracle import Parts

import hardmax as hm
from hardmax._layer.rules import rescaling

PARTS = ("metric", "value", "mask", "steps", "attention", "heads")
FURTHER = 300
"""Layers on which is tried what is said to hold for ever."""
SECONDS = 20
"""Of processor time, after which an answer counts as wrong."""
ALPHAS = [Fraction(text) for text in ("1/2", "1", "2", "1/3", "3", "1/20")]


@dataclass(frozen=True, kw_only=True)
class Problem:
    cloud: oracle.Cloud
    dynamics: hm.Dynamics
    parts: Parts
    """The same for the oracle."""
    names: frozenset[str]
    """Of the parts that are not the paper's."""
    max_layers: int | None


def draw(number: int) -> Problem:
    """The problem with this number."""
    random = np.random.default_rng([20261118, number])
    n, d = int(random.integers(3, 11)), int(random.integers(1, 4))
    size, unit = random.choice([2, 5, 20]), random.choice([1, 2, 4])
    cloud = rationals(random.integers(-size, size + 1, (n, d)), unit)
    if random.random() < 0.3:
        cloud = [cloud[j] for j in random.integers(0, n, n)]  # some tokens are repeated
    if random.random() < 0.35:
        names = {
            "heads"
        }  # each with its metric; they take neither other steps nor another attention
    else:
        names = {name for name in ("metric", "steps", "attention") if random.random() < 0.55}
    names |= {name for name in ("value", "mask") if random.random() < 0.5}
    metric = draw_metric(random, d) if "metric" in names else None
    mask = draw_mask(random, n) if "mask" in names else None
    attention = draw_attention(random, n) if "attention" in names else None
    steps = draw_steps(random) if "steps" in names else choose(random, ALPHAS)
    heads = None
    if "heads" in names:
        heads = []
        for _ in range(random.integers(1, 4)):
            own = draw_metric(random, d)
            heads.append((own, Fraction(int(random.integers(1, 4)))))
    max_layers = choose(random, [None, 12, 25, 60])
    while True:
        value = draw_value(random, d) if "value" in names else None
        try:
            dynamics = hm.Dynamics(
                steps,
                metric,
                value=value,
                mask=mask,
                attention=attention
                and {"topk": hm.TopK, "localmax": hm.Localmax}[attention[0]](int(attention[1])),
                heads=heads and [hm.Head(*head) for head in heads],
            )
            step = dynamics.alpha_at
            for alpha in {step(layer) for layer in range(2 * FURTHER)} if value else ():
                rescaling(dynamics, alpha)
        except hm.InputError as error:
            if "no inverse" not in str(error):
                raise
            continue
        parts = Parts(
            step=step, metric=metric, value=value, mask=mask, attention=attention, heads=heads
        )
        return Problem(
            cloud=cloud,
            dynamics=dynamics,
            parts=parts,
            names=frozenset(names),
            max_layers=max_layers,
        )


def draw_ties(number: int) -> Problem:
    """The same with rules for ties and strict masks, of the layer or of its heads, and without
    division."""
    problem, random = draw(number), np.random.default_rng([20261119, number])
    n, parts = len(problem.cloud), problem.parts
    given: dict[str, Any] = {"metric": parts.metric, "value": parts.value, "mask": parts.mask}
    known: dict[str, Any] = {"attention": None}
    rules = [None, "leftmost", "rightmost"]
    kinds = {rule: rule and (rule, Fraction(0)) for rule in rules}
    strict = np.tri(n, k=-1, dtype=bool).tolist()
    if random.random() < 0.3:
        given["mask"], known["mask"] = "strict", strict
    if random.random() < 0.3:
        given["normalise"], known["is_divided"] = "plain", False
    if parts.heads is None:
        given["ties"] = choose(random, rules)
        known["attention"] = kinds[given["ties"]]
    else:
        several = [choose(random, rules) for _ in parts.heads]
        masks = [choose(random, [None, "strict", draw_mask(random, n)]) for _ in parts.heads]
        whole = known.get("mask", parts.mask) or [[True] * n] * n
        tables = {"None": whole, "strict": strict}
        known["masks"] = [tables.get(str(mask), mask) for mask in masks]
        known["ties"] = [kinds[rule] for rule in several]
        pairs = zip(parts.heads, masks, several, strict=True)
        given["heads"] = [hm.Head(*head, mask=m, ties=rule) for head, m, rule in pairs]
    dynamics = hm.Dynamics(problem.dynamics.alpha, **given)
    names = problem.names | known.keys() - {"attention"}
    return replace(problem, dynamics=dynamics, parts=replace(parts, **known), names=names)


def choose(random: np.random.Generator, several: list[Any]) -> Any:
    return several[random.integers(len(several))]


def rationals(integers: np.ndarray, unit: int = 1) -> list[list[Fraction]]:
    return [[Fraction(int(x), int(unit)) for x in row] for row in integers]


def draw_metric(random: np.random.Generator, d: int) -> oracle.Matrix:
    """Any matrix, or one that is symmetric positive definite."""
    root = random.integers(-2, 3, (d, d))
    return rationals(root @ root.T + np.eye(d, dtype=int) if random.random() < 0.5 else root)


def draw_value(random: np.random.Generator, d: int) -> oracle.Matrix:
    """A multiple of the identity, of a projection, a nilpotent matrix, or any."""
    kind = choose(random, ["multiple", "projection", "nilpotent", "any"])
    if kind == "any":
        return rationals(random.integers(-3, 4, (d, d)), choose(random, [1, 2, 10]))
    if kind == "multiple" or d == 1:
        return rationals(int(random.integers(1, 4)) * np.eye(d, dtype=int), 2)
    u, v = (random.integers(-2, 3, d) for _ in range(2))
    if kind == "nilpotent":
        u = u * (v @ v) - v * (u @ v)
    return rationals(np.outer(u, v))


def draw_mask(random: np.random.Generator, n: int) -> list[list[bool]]:
    """With or without the diagonal; nobody is left without anybody."""
    causal, share = random.random() < 0.25, choose(random, [0.2, 0.5, 0.8])
    able = np.tri(n, dtype=bool) if causal else random.random((n, n)) < share
    diagonal = np.eye(n, dtype=bool)
    able = able | diagonal if random.random() < 0.5 else able & ~diagonal
    for row in np.flatnonzero(~able.any(axis=1)):
        able[row, random.integers(n)] = True
    return able.tolist()


def draw_attention(random: np.random.Generator, n: int) -> tuple[str, Fraction]:
    if random.random() < 0.5:
        return "topk", Fraction(int(random.integers(1, n + 1)))
    return "localmax", Fraction(choose(random, [0, 1, 3, 10, 40]))


def draw_steps(random: np.random.Generator) -> Any:
    if random.random() < 0.5:
        return [choose(random, ALPHAS) for _ in range(random.integers(2, 5))]
    return choose(random, ALPHAS)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """A block that may take so much processor time; then a TimeoutError ends it."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"not done after {seconds} s of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def judge(problem: Problem) -> tuple[list[str], set[str]]:
    """What is wrong with the limit of a problem, and what was said for ever."""
    try:
        with limited(SECONDS):
            limit = hm.limit(problem.cloud, problem.dynamics, max_layers=problem.max_layers)
            answer = Answer(problem, limit)
    except TimeoutError as error:
        return [str(error)], set()
    return list(answer.wrong()), answer.claims()


class Answer:
    """What the package says of a problem, beside the oracle's layers."""

    def __init__(self, problem: Problem, lim: hm.Limit) -> None:
        self.problem, self.lim, self.run = problem, lim, lim.run
        self.settled, self.moving = lim.settled_at, lim.run.moving.tolist()
        since = zip(lim.leaders.tolist(), lim.run.leader_layers.tolist(), strict=True)
        self.leaders = dict(since)
        self.last = lim.run.layers
        self.depth = min(self.last, 40) if self.settled is None else self.last + FURTHER

    def claims(self) -> set[str]:
        said = {"settled"} if self.settled is not None else set()
        said |= {"moving"} if self.moving else set()
        return said | {"leaders"} if self.leaders else said

    def wrong(self) -> Iterator[str]:
        walk = oracle.any_walk(self.problem.cloud, self.problem.parts)
        layers = list(islice(walk, self.depth + 1))
        self.places = [place for place, _ in layers]
        self.sets = [sets for _, sets in layers]
        yield from self.wrong_layers()
        if self.depth >= self.last:
            yield from self.wrong_leaders()
        if self.settled is None:
            return
        yield from self.wrong_settling(self.settled)
        if self.moving:
            yield from self.wrong_drift()
        else:
            yield from self.wrong_limits(self.settled)

    def wrong_layers(self) -> Iterator[str]:
        last = self.depth if self.settled is not None else min(self.last, self.depth)
        known = range(last + 1)
        for layer in known:
            union = [set.union(*several) for several in zip(*self.sets[layer], strict=True)]
            if [set(several.tolist()) for several in self.run.attended(layer)] != union:
                yield f"attended sets at layer {layer}"
                return
        for layer in {*known[:4], *known[-2:], min(self.last, known[-1])}:
            places = oracle.table_of(self.run.at(layer, exact=True).tolist())
            if places != self.places[layer]:
                yield f"positions at layer {layer}"

    def wrong_leaders(self) -> Iterator[str]:
        """Those that attend to their own place alone, from some layer on."""
        since: dict[int, int] = {}
        for layer, (place, heads) in enumerate(zip(self.places, self.sets, strict=True)):
            rows = place.table()
            for i, row in enumerate(rows):
                attended = [rows[j] for sets in heads for j in sets[i]]
                if attended and all(place == row for place in attended):
                    since.setdefault(i, layer)
                else:
                    since.pop(i, None)
        if since != self.leaders:
            yield f"leaders {self.leaders}, not {since}"

    def wrong_settling(self, settled: int) -> Iterator[str]:
        if any(sets != self.sets[settled] for sets in self.sets[settled:]):
            yield f"sets change after layer {settled}"
        if settled and self.sets[settled - 1] == self.sets[settled]:
            yield f"sets are those of layer {settled} before it"

    def wrong_limits(self, settled: int) -> Iterator[str]:
        ends = oracle.table_of(self.lim.exact_limit_points().tolist())
        squares = [largest_square(place - ends) for place in self.places]
        yield from self.wrong_ends(ends)
        step = self.problem.parts.step(10**6)
        if squares[-1] > Fraction(1, 10**6) and step > Fraction(1, 4):
            yield f"{float(squares[-1])} from the limits, {FURTHER} layers later"
        yield from self.wrong_distances(squares, settled)
        rows = ends.table()
        labels = self.lim.clusters.labels.tolist()
        if [rows.index(row) for row in rows] != [labels.index(label) for label in labels]:
            yield "clusters"
        exact = map(fraction, chain(*rows))
        found = map(Fraction, self.lim.limit_points.ravel().tolist())
        gap = max(abs(x - y) for x, y in zip(found, exact, strict=True))
        if gap > Fraction(self.lim.limit_error):
            yield f"limits are off by {float(gap)}, not {self.lim.limit_error}"

    def wrong_ends(self, ends: fmpq_mat) -> Iterator[str]:
        """Limits stand still under the last sets, whoever is furthest."""
        everybody = range(len(self.problem.cloud))
        only = [[[j in several for j in everybody] for several in sets] for sets in self.sets[-1]]
        if len(only) > 1:
            return
        all_of_them = ("topk", Fraction(len(everybody)))
        parts = replace(self.problem.parts, mask=only[0], attention=all_of_them)
        walk = oracle.any_walk(to_lists(ends), parts)
        now, later = (place for place, _ in islice(walk, 2))
        if now != later:
            yield "limits do not stand still"

    def wrong_distances(self, squares: list[Fraction], settled: int) -> Iterator[str]:
        for layer in {0, settled, settled + 3}:
            eps = Fraction(float(squares[layer]) ** 0.5)
            if eps**2 <= squares[-1]:
                continue
            outside = [k for k, square in enumerate(squares) if square > eps**2]
            first = max(outside, default=-1) + 1
            if (said := self.lim.layers_to(eps)) != first:
                yield f"layers_to({eps}) is {said}, not {first}"

    def wrong_drift(self) -> Iterator[str]:
        """Those that move for ever go the same way at every layer, all others come near a limit."""
        last, *_, before, end = self.places[self.last :]
        first = (self.places[self.last + 1] - last).table()
        later = (end - before).table()
        for i, row in enumerate(end.table()):
            if i in self.moving:
                if first[i] != later[i] or not any(first[i]):
                    yield f"token {i} does not go on for ever"
                continue
            limit = [Fraction(x) for x in self.lim.limit_points[i].tolist()]
            off = [abs(fraction(x) - y) for x, y in zip(row, limit, strict=True)]
            if max(off) > Fraction(1, 10**6):
                yield f"token {i} has another limit, or none"


def fraction(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def to_lists(table: fmpq_mat) -> oracle.Cloud:
    return [[fraction(x) for x in row] for row in table.table()]


def largest_square(ways: fmpq_mat) -> Fraction:
    """Of the lengths of the rows."""
    lengths = []
    for way in ways.table():
        lengths.append(sum((fraction(x) ** 2 for x in way), Fraction(0)))
    return max(lengths)
