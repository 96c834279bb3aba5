"""The dynamics once more, in plain loops over fractions: slow, obvious, independent of the package it checks.

A cloud is a list of tokens, a token a list of `Fraction`s, a matrix a list of rows.

    C_i  = { j : <A z_i, z_j> = max_l <A z_i, z_l> }               attended_sets
    z_i' = (z_i + alpha * mean of z_j over C_i) / (1 + alpha)      step
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction

Token = list[Fraction]
Cloud = list[Token]
Matrix = list[list[Fraction]]
Layer = tuple[Cloud, list[set[int]]]


def dot(a: Token, b: Token) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def apply(matrix: Matrix | None, token: Token) -> Token:
    """The matrix times the token; `None` is the identity."""
    if matrix is None:
        return token
    return [dot(row, token) for row in matrix]


def attended_sets(tokens: Cloud, metric: Matrix | None = None) -> list[set[int]]:
    """For each token the indices it attends to. Repeated tokens are separate indices."""
    sets = []
    for token in tokens:
        direction = apply(metric, token)
        scores = [dot(direction, other) for other in tokens]
        best = max(scores)
        sets.append({j for j, score in enumerate(scores) if score == best})
    return sets


def step(tokens: Cloud, alpha: Fraction, metric: Matrix | None = None) -> Cloud:
    """The cloud one layer later."""
    return moved(tokens, attended_sets(tokens, metric), alpha)


def moved(tokens: Cloud, sets: list[set[int]], alpha: Fraction) -> Cloud:
    """Every token a step towards the mean of those it attends to."""
    return [
        [
            (x + alpha * sum(tokens[j][axis] for j in attended) / len(attended)) / (1 + alpha)
            for axis, x in enumerate(token)
        ]
        for token, attended in zip(tokens, sets, strict=True)
    ]


def walk(tokens: Cloud, alpha: Fraction, metric: Matrix | None = None, layers: int = 0) -> Iterator[Layer]:
    """The cloud and its attended sets at layers 0, 1, ..., `layers`."""
    for layer in range(layers + 1):
        sets = attended_sets(tokens, metric)
        yield tokens, sets
        if layer < layers:
            tokens = moved(tokens, sets, alpha)


def run(tokens: Cloud, alpha: Fraction, metric: Matrix | None = None, layers: int = 0) -> list[Cloud]:
    """The clouds at layers 0, 1, ..., `layers`."""
    return [cloud for cloud, _ in walk(tokens, alpha, metric, layers)]


def leaders(tokens: Cloud, alpha: Fraction, metric: Matrix | None = None, layers: int = 0) -> dict[int, int]:
    """The tokens that attend only to their own position at a layer up to `layers`: index -> first layer."""
    return leaders_of(walk(tokens, alpha, metric, layers))


def leaders_of(history: Iterable[Layer]) -> dict[int, int]:
    """The same, of a walk that has been made."""
    first: dict[int, int] = {}
    for layer, (cloud, sets) in enumerate(history):
        for i, attended in enumerate(sets):
            if all(cloud[j] == cloud[i] for j in attended):
                first.setdefault(i, layer)
    return dict(sorted(first.items()))


def is_layer(
    before: Cloud,
    sets: list[set[int]],
    after: Cloud,
    alpha: Fraction,
    metric: Matrix | None = None,
    value: Matrix | None = None,
    mask: list[list[bool]] | None = None,
) -> bool:
    """Whether these are the attended sets, and (I + alpha V) z' = z + alpha V w: nothing has to be inverted."""
    for i, (token, later, said) in enumerate(zip(before, after, sets, strict=True)):
        scores = {j: dot(apply(metric, token), other) for j, other in enumerate(before) if mask is None or mask[i][j]}
        best = max(scores.values())
        if said != {j for j, score in scores.items() if score == best}:
            return False
        mean = [sum((before[j][axis] for j in said), Fraction(0)) / len(said) for axis in range(len(token))]
        for axis, (own, there) in enumerate(zip(apply(value, later), apply(value, mean), strict=True)):
            if later[axis] + alpha * own != token[axis] + alpha * there:
                return False
    return True
