"""Clouds and layers at random, full of ties, and smaller ones beside them."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from hardmax._common.validation import InputError
from hardmax.dynamics import Dynamics

Case = tuple[np.ndarray, dict[str, Any]]
"""Tokens, (n, d), as Fractions, and the arguments of their layer."""

MATRICES: dict[str, Callable[[np.ndarray], Any]] = {
    "identity": lambda root: None,
    "definite": lambda root: root @ root.T + np.eye(len(root), dtype=int),
    "symmetric": lambda root: np.tril(root) + np.tril(root, -1).T,
    "any": lambda root: root,
}
MASKS = "none", "causal", "random"


def draw_case(
    rng: np.random.Generator,
    *,
    tokens: tuple[int, int],
    dimensions: tuple[int, int],
    alphas: Sequence[Any],
    metrics: Sequence[str],
    values: Sequence[str],
    masks: Sequence[str],
) -> Case:
    """A cloud of distinct tokens other than 0, and its layer."""

    def pick(options: Sequence[Any]) -> Any:
        return options[int(rng.integers(len(options)))]

    while True:
        n, d = (int(rng.integers(*ends, endpoint=True)) for ends in (tokens, dimensions))
        most, half = pick([1, 2, 2, 3, 10]), Fraction(1, pick([1, 2]))
        cloud = np.array(rng.integers(-most, most, (n, d), endpoint=True).tolist(), object) * half
        parts: dict[str, Any] = {"alpha": pick(alphas)}
        for name, kinds in (("metric", metrics), ("value", values)):
            parts[name] = MATRICES[pick(kinds)](rng.integers(-3, 3, (d, d), endpoint=True))
        mask = pick(masks)
        if mask != "none":
            parts["mask"] = mask
        if mask == "random":
            parts["mask"] = np.eye(n, dtype=bool) | (rng.random((n, n)) < 0.5)
        if _is_case(cloud, parts):
            return cloud, parts


def _is_case(cloud: np.ndarray, parts: dict[str, Any]) -> bool:
    """Whether tokens are distinct, none is 0, and there is such a layer: I + alpha V may have no
    inverse."""
    rows = {*map(tuple, cloud.tolist())}
    if not len(rows) == len(cloud) > 0 or not all(map(any, rows)):
        return False
    try:
        Dynamics(**parts)
    except InputError:
        return False
    return True


def smaller(case: Case) -> Iterator[Case]:
    """Cases that are simpler: without a token, a coordinate or a matrix, or with a simpler number.
    Step size and mask stay."""
    return (simpler for simpler in _simpler(*case) if _is_case(*simpler))


def _simpler(cloud: np.ndarray, parts: dict[str, Any]) -> Iterator[Case]:
    """The same, some of them no cases."""
    n, d = cloud.shape
    mask = parts.get("mask")
    for i in range(n):
        rest = dict(parts)
        if isinstance(mask, np.ndarray):
            rest["mask"] = np.delete(np.delete(mask, i, 0), i, 1)
        yield np.delete(cloud, i, 0), rest
    for c in range(d if d > 1 else 0):
        rest = dict(parts)
        for name in ("metric", "value"):
            if parts.get(name) is not None:
                rest[name] = np.delete(np.delete(parts[name], c, 0), c, 1)
        yield np.delete(cloud, c, 1), rest
    for name in ("metric", "value"):
        if parts.get(name) is not None:
            yield cloud, parts | {name: None}
    unit = Fraction(
        lcm(*(x.denominator for x in cloud.flat)), gcd(*(x.numerator for x in cloud.flat))
    )
    if unit != 1:
        yield cloud * unit, parts
    for place, x in np.ndenumerate(cloud):
        sign = (x > 0) - (x < 0)
        for y in (0 * x, Fraction(sign), Fraction(int(x)), x - sign, abs(x)):
            if (y.denominator, abs(y), y < 0) < (x.denominator, abs(x), x < 0):
                other = cloud.copy()
                other[place] = y
                yield other, parts
