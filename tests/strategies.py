"""Hypothesis generators of clouds full of ties, metrics and turns. Everything drawn is made of
`Fraction`s.

Ties are where the dynamics is decided by equality, and random reals never tie. So clouds are drawn
from families in which scores collide: small numbers, repeated tokens, flat clouds, polytopes. And
some tokens of a problem are moved to where its metric makes a tie."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import cycle, islice, product

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from oracle import Cloud, Matrix, Token, apply, dot
from soak.clouds import KINDS, make

STEPS = "1 1/2 2 1/3 3/2 1/10 7/3 10 1/1000"
alphas: SearchStrategy[Fraction] = st.sampled_from([*map(Fraction, STEPS.split())])

# How far out a token lies on the way from the origin to a place where scores tie.
SHARES = [Fraction(1), Fraction(1, 2), Fraction(1, 7)]

# Each family lists its simplest member first: that is what Hypothesis shrinks to.
whole = st.integers(-2, 2).map(Fraction)
ratios = st.builds(Fraction, st.integers(-6, 6), st.sampled_from([1, 2, 3, 5, 7]))
powers = st.integers(0, 8).map(lambda e: 2**e)
dyadics = st.builds(Fraction, st.integers(-9, 9), powers)


def tokens(d: int, coordinates: SearchStrategy[Fraction] = whole) -> SearchStrategy[Token]:
    """One token of dimension d."""
    return st.lists(coordinates, min_size=d, max_size=d)


def scaled(share: Fraction, token: Token) -> Token:
    return [share * x for x in token]


def added(a: Token, b: Token) -> Token:
    return [x + y for x, y in zip(a, b, strict=True)]


def subtracted(a: Token, b: Token) -> Token:
    return [x - y for x, y in zip(a, b, strict=True)]


def identity(d: int) -> Matrix:
    return [[Fraction(i == j) for j in range(d)] for i in range(d)]


# Families of clouds: each is a function of the dimension d and the sizes min_n, max_n and gives a
# strategy. A family with a size of its own is cut by `clouds`, or repeated where more tokens are
# needed.


def small_numbers(d: int, min_n: int, max_n: int) -> SearchStrategy[Cloud]:
    """Tokens whose coordinates all come from one family of small numbers."""

    def of(family: SearchStrategy[Fraction]) -> SearchStrategy[Cloud]:
        return st.lists(tokens(d, family), min_size=min_n, max_size=max_n)

    return st.sampled_from([whole, ratios, dyadics]).flatmap(of)


@st.composite
def repeated(draw: DrawFn, d: int, min_n: int, max_n: int) -> Cloud:
    """Few places, many tokens."""
    places = draw(st.lists(tokens(d), min_size=min(3, min_n), max_size=4))
    return draw(st.lists(st.sampled_from(places), min_size=min_n, max_size=max_n))


@st.composite
def around_zero(draw: DrawFn, d: int, min_n: int, max_n: int) -> Cloud:
    """Zero among other tokens, which may be in balance around it."""
    half = draw(st.lists(tokens(d), min_size=min_n // 2, max_size=max_n))
    minus = Fraction(-draw(st.integers(0, 1)))
    opposite = [scaled(minus, token) for token in half] if minus else []
    return [[Fraction(0)] * d, *half, *opposite]


@st.composite
def flat(draw: DrawFn, d: int, min_n: int, max_n: int) -> Cloud:
    """Tokens of a line or a plane, through the origin or beside it."""
    base = draw(tokens(d))
    spans = draw(st.lists(tokens(d), min_size=1, max_size=2))

    def combined(shares: list[Fraction]) -> Token:
        token = base
        for share, span in zip(shares, spans, strict=True):
            token = added(token, scaled(share, span))
        return token

    shares = st.lists(whole, min_size=len(spans), max_size=len(spans))
    return draw(st.lists(shares.map(combined), min_size=min_n, max_size=max_n))


@st.composite
def orbits(draw: DrawFn, d: int, min_n: int, max_n: int) -> Cloud:
    """Images of a few tokens under the powers of one signed permutation: squares,
    cross-polytopes."""
    turn = draw(signed_permutations(d))
    cloud: Cloud = []
    seeds = st.lists(tokens(d, ratios), min_size=1 + min_n // 5, max_size=1 + max_n // 4)
    for seed in draw(seeds):
        cloud.append(seed)
        image = apply(turn, seed)
        while image != seed:
            cloud.append(image)
            image = apply(turn, image)
    return cloud


@st.composite
def polytopes(draw: DrawFn, d: int, min_n: int, max_n: int) -> Cloud:
    """A cube or a cross-polytope, and tokens on the way to the middles of pairs of vertices."""
    cross = [scaled(Fraction(sign), axis) for axis in identity(d) for sign in (1, -1)]
    cube = [[Fraction(x) for x in corner] for corner in product((1, -1), repeat=d)]
    vertices = draw(st.sampled_from([cross, cube]))[:max_n]
    pairs = st.tuples(st.sampled_from(vertices), st.sampled_from(vertices))
    inner = []
    places = st.lists(st.tuples(pairs, st.sampled_from(SHARES)), max_size=4)
    for (a, b), share in draw(places):
        inner.append(scaled(share / 2, added(a, b)))
    # Inner tokens come first, so that a cube too large for the cloud loses vertices and not them.
    return inner + vertices


@st.composite
def emerging(draw: DrawFn, d: int, min_n: int, max_n: int) -> Cloud:
    """Clouds like the paper's with an emerging leader (-q, q), which leads once (0, r) has left for
    (1, p)."""
    # Chance makes a late leader in one cloud out of a hundred.
    bounds = (2, 4), (9, 15), (3, 5)
    p, q, r = (Fraction(1, draw(st.integers(*each))) for each in bounds)
    one, zero = Fraction(1), Fraction(0)
    plane = [[one, p], [-q, q], [-one, -one], [zero, r]]
    for token in draw(st.lists(tokens(2), max_size=max_n)):
        plane.append(scaled(Fraction(1, 64), token))
    further = [zero] * (d - 2)
    return [[*token[:d], *further] for token in plane]


Family = Callable[[int, int, int], SearchStrategy[Cloud]]
FAMILIES: list[Family] = [small_numbers, repeated, around_zero, flat, orbits, polytopes, emerging]


@st.composite
def clouds(draw: DrawFn, min_d: int = 1, max_d: int = 5, min_n: int = 1, max_n: int = 12) -> Cloud:
    """Clouds of min_n to max_n tokens of dimension min_d to max_d, full of ties, in any order."""
    d = draw(st.integers(min_d, max_d))
    # Lists drawn by Hypothesis are short: a lower bound drawn first makes large clouds as common as
    # small ones.
    at_least = draw(st.integers(min_n, max_n))
    family = draw(st.sampled_from(FAMILIES))
    cloud = draw(family(d, at_least, max_n))
    size = min(max(len(cloud), min_n), max_n)
    repeats = islice(cycle(cloud), size)
    return draw(st.permutations(list(repeats)))


def gram(rows: Matrix) -> Matrix:
    """B^T B + I for the matrix B with these columns: symmetric positive definite whatever B."""
    products = [[dot(a, b) for b in rows] for a in rows]
    return [added(*pair) for pair in zip(products, identity(len(rows)), strict=True)]


def diagonal(entries: Token) -> Matrix:
    axes = identity(len(entries))
    return [scaled(entry, axis) for entry, axis in zip(entries, axes, strict=True)]


def tridiagonal(d: int) -> Matrix:
    """2 on the diagonal and -1 beside it: small eigenvalues, hence long thin unit balls."""
    entries = [2, -1, *[0] * d]
    return [[Fraction(entries[abs(i - j)]) for j in range(d)] for i in range(d)]


def matrices(d: int, entries: SearchStrategy[Fraction] = whole) -> SearchStrategy[Matrix]:
    return st.lists(tokens(d, entries), min_size=d, max_size=d)


def spd_metrics(d: int) -> SearchStrategy[Matrix | None]:
    """Symmetric positive definite matrices; `None` is the identity."""
    phases = st.sampled_from([Fraction(text) for text in ["1", "2", "1/2", "3", "1/10"]])
    simple = st.none() | tokens(d, phases).map(diagonal) | st.just(tridiagonal(d))
    return simple | matrices(d).map(gram) | matrices(d, ratios).map(gram)


def any_metrics(d: int) -> SearchStrategy[Matrix]:
    """Square matrices of any kind: indefinite, not symmetric, singular, zero."""
    signs = st.sampled_from([Fraction(-1), Fraction(0), Fraction(1)])
    pairs = st.tuples(tokens(d), tokens(d))
    rank_one = pairs.map(lambda pair: [scaled(x, pair[1]) for x in pair[0]])
    special = tokens(d, signs).map(diagonal) | signed_permutations(d) | rank_one
    return special | matrices(d) | matrices(d, ratios)


Problem = tuple[Cloud, Matrix | None, Fraction]
Metrics = Callable[[int], SearchStrategy[Matrix | None]]


def tied(token: Token, cloud: Cloud, metric: Matrix | None) -> Token:
    """The token moved until the two places furthest out its way score alike: z = u - <A u, g> / <A
    g, g> g."""
    look = apply(metric, token)
    furthest = max(cloud, key=lambda other: dot(look, other))
    others = [other for other in cloud if other != furthest]
    if not others:
        return token
    gap = subtracted(furthest, max(others, key=lambda other: dot(look, other)))
    length = dot(apply(metric, gap), gap)
    if not length:
        return token
    return subtracted(token, scaled(dot(look, gap) / length, gap))


@st.composite
def with_metric(
    draw: DrawFn, metrics: Metrics, min_d: int, max_d: int, min_n: int, max_n: int
) -> Problem:
    """A cloud, a metric, and further tokens put where this metric makes a tie, which it rarely
    leaves to chance."""
    room = draw(st.integers(0, min(3, max_n - min_n)))
    cloud = draw(clouds(min_d, max_d, min_n, max_n - room))
    metric = draw(metrics(len(cloud[0])))
    for token in draw(st.lists(st.sampled_from(cloud), min_size=room, max_size=room)):
        share = draw(st.sampled_from(SHARES))
        cloud = [*cloud, scaled(share, tied(token, cloud, metric))]
    return draw(st.permutations(cloud)), metric, draw(alphas)


def problems(
    min_d: int = 1, max_d: int = 5, min_n: int = 1, max_n: int = 12
) -> SearchStrategy[Problem]:
    """(cloud, metric, alpha) with a symmetric positive definite metric, or `None` for the
    identity."""
    return with_metric(spd_metrics, min_d, max_d, min_n, max_n)


def any_metric_problems(
    min_d: int = 1, max_d: int = 5, min_n: int = 1, max_n: int = 12
) -> SearchStrategy[Problem]:
    """(cloud, metric, alpha) with a metric the theorem does not cover: leaders need not exist."""
    return with_metric(any_metrics, min_d, max_d, min_n, max_n)


@st.composite
def signed_permutations(draw: DrawFn, d: int) -> Matrix:
    """Matrices that permute the coordinates and change some signs: exact symmetries even in
    floats."""
    signs = draw(st.lists(st.sampled_from([1, -1]), min_size=d, max_size=d))
    rows = draw(st.permutations(identity(d)))
    pairs = zip(signs, rows, strict=True)
    return [scaled(Fraction(sign), row) for sign, row in pairs]


@st.composite
def rational_rotations(draw: DrawFn, d: int) -> Matrix:
    """Products of plane rotations by the angles of the 3-4-5 and 5-12-13 triangles (d = 1: the
    identity)."""
    rotation = identity(d)
    if d == 1:
        return rotation
    small, large = (Fraction(3, 5), Fraction(4, 5)), (Fraction(5, 13), Fraction(12, 13))
    angles = st.sampled_from([small, large])
    planes = st.lists(st.integers(0, d - 1), min_size=2, max_size=2, unique=True)
    turns = st.lists(st.tuples(planes, angles), min_size=1, max_size=d)
    for (i, j), (cos, sin) in draw(turns):
        first, second = rotation[i], rotation[j]
        rotation[i] = added(scaled(cos, first), scaled(-sin, second))
        rotation[j] = added(scaled(sin, first), scaled(cos, second))
    return rotation


@st.composite
def hard_floats(
    draw: DrawFn,
    kinds: Sequence[str] = tuple(KINDS),
    min_d: int = 1,
    max_d: int = 5,
    min_n: int = 1,
    max_n: int = 12,
) -> np.ndarray:
    """float64 clouds that are hard on proofs: nearly flat, nearly round, clustered, far out, of
    every scale.

    The kinds are those of the soak, which has them at every size.
    """
    kind = draw(st.sampled_from(kinds))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return make(kind, rng, draw(st.integers(min_n, max_n)), draw(st.integers(min_d, max_d)))
