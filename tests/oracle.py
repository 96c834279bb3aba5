"""The dynamics once more, in plain loops over fractions: slow, obvious, independent of the package
it checks.

A cloud is a list of tokens, a token a list of `Fraction`s, a matrix a list of rows.

    C_i  = { j : <A z_i, z_j> = max_l <A z_i, z_l> }               attended_sets
    z_i' = (z_i + alpha * mean of z_j over C_i) / (1 + alpha)      step
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

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


def walk(
    tokens: Cloud, alpha: Fraction, metric: Matrix | None = None, layers: int = 0
) -> Iterator[Layer]:
    """The cloud and its attended sets at layers 0, 1, ..., `layers`."""
    for layer in range(layers + 1):
        sets = attended_sets(tokens, metric)
        yield tokens, sets
        if layer < layers:
            tokens = moved(tokens, sets, alpha)


def run(
    tokens: Cloud, alpha: Fraction, metric: Matrix | None = None, layers: int = 0
) -> list[Cloud]:
    """The clouds at layers 0, 1, ..., `layers`."""
    return [cloud for cloud, _ in walk(tokens, alpha, metric, layers)]


def leaders(
    tokens: Cloud, alpha: Fraction, metric: Matrix | None = None, layers: int = 0
) -> dict[int, int]:
    """The tokens that attend only to their own position at a layer up to `layers`: index -> first
    layer."""
    return leaders_of(walk(tokens, alpha, metric, layers))


def leaders_of(history: Iterable[Layer]) -> dict[int, int]:
    """The same, of a walk that has been made."""
    first: dict[int, int] = {}
    for layer, (cloud, sets) in enumerate(history):
        for i, attended in enumerate(sets):
            if all(cloud[j] == cloud[i] for j in attended):
                first.setdefault(i, layer)
    return dict(sorted(first.items()))


# Every layer that `Dynamics` describes, once more, in rational matrices of flint.


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a layer is made of; None stands for the paper's part."""

    step: Callable[[int], Fraction]
    metric: Matrix | None = None
    value: Matrix | None = None
    mask: list[list[bool]] | None = None
    attention: tuple[str, Fraction] | None = None
    """("topk", k), ("localmax", slack), or ("leftmost", 0) or ("rightmost", 0): one that ties."""
    heads: Sequence[tuple[Matrix | None, Fraction]] | None = None
    """Metrics and weights."""
    values: Sequence[Matrix | None] | None = None
    """Value matrices of the heads; None: each has `value`."""
    masks: Sequence[list[list[bool]]] | None = None
    """Masks of the heads; None: each has `mask`."""
    ties: Sequence[tuple[str, Fraction] | None] | None = None
    """Kinds of attention of the heads; None: each has `attention`."""
    is_divided: bool = True
    """Whether tokens are divided by I + alpha V."""
    block: tuple[Matrix, Token, Matrix, Token] | None = None
    """W1, b1, W2 and b2 of a feed-forward block."""


def table_of(rows: Sequence[Sequence[Fraction | int]]) -> fmpq_mat:
    entries = [fmpq(Fraction(x).numerator, Fraction(x).denominator) for row in rows for x in row]
    return fmpq_mat(len(rows), len(rows[0]), entries)


def attended_among(
    scores: list[fmpq], allowed: list[bool], attention: tuple[str, Fraction] | None
) -> set[int]:
    """Of the scores along one direction those that count."""
    able = [j for j, may in enumerate(allowed) if may]
    if not able:
        return set()
    kind, number = attention or ("topk", Fraction(1))
    if kind in ("leftmost", "rightmost"):
        tied = [j for j in able if all(scores[j] >= scores[k] for k in able)]
        return {tied[0] if kind == "leftmost" else tied[-1]}
    ranked = sorted((scores[j] for j in able), reverse=True)
    if kind == "topk":
        least = ranked[min(int(number), len(ranked)) - 1]
    else:
        least = ranked[0] - fmpq(number.numerator, number.denominator)
    return {j for j in able if scores[j] >= least}


def any_walk(tokens: Cloud, parts: Parts) -> Iterator[tuple[fmpq_mat, list[list[set[int]]]]]:
    """Tokens at the layers 0, 1, … for ever, and for each head the attended sets."""
    n, d = len(tokens), len(tokens[0])
    identity = table_of([[Fraction(i == j) for j in range(d)] for i in range(d)])
    heads = parts.heads or [(parts.metric, Fraction(1))]
    masks = parts.masks or [parts.mask or [[True] * n] * n] * len(heads)
    kinds = parts.ties or [parts.attention] * len(heads)
    tables = [identity if v is None else table_of(v) for v in parts.values or [parts.value]]
    tables = tables if parts.values else tables * len(heads)
    z, layer = table_of(tokens), 0
    while True:
        alpha = fmpq(parts.step(layer).numerator, parts.step(layer).denominator)
        left, right, sets = identity, z, []
        pairs = zip(heads, tables, masks, kinds, strict=True)
        for (metric, weight), value, allowed, kind in pairs:
            a = identity if metric is None else table_of(metric)
            scores = (z * a.transpose() * z.transpose()).table()
            here = [attended_among(scores[i], allowed[i], kind) for i in range(n)]
            share, mean = weight / sum(w for _, w in heads), fmpq_mat(n, n)
            for i, several in enumerate(here):
                for j in several:
                    mean[i, j] = fmpq(share.numerator, share.denominator * len(several))
            if parts.is_divided:
                left = left + alpha * fmpq(share.numerator, share.denominator) * value
            right = right + alpha * (mean * z * value.transpose())
            sets.append(here)
        yield z, sets
        # (I + alpha V) z' = z + alpha V w, tokens are rows.
        z = left.solve(right.transpose()).transpose()
        if parts.block is not None:
            z = fed_forward(z, *parts.block)
        layer += 1


def fed_forward(z: fmpq_mat, inner: Matrix, b: Token, outer: Matrix, c: Token) -> fmpq_mat:
    """Rows z + W2 relu(W1 z + b1) + b2."""
    rows = []
    for row in z.table():
        token = [Fraction(int(x.p), int(x.q)) for x in row]
        hidden = [dot(w, token) + bias for w, bias in zip(inner, b, strict=True)]
        active = [max(unit, Fraction(0)) for unit in hidden]
        pushes = zip(token, outer, c, strict=True)
        rows.append([x + dot(w, active) + bias for x, w, bias in pushes])
    return table_of(rows)
