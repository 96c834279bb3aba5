"""Named starting clouds, each a table `(n, d)` of tokens.

A cloud whose coordinates are all exact in float64 is a float64 array, any other an object array of
`Fraction`s. Clouds that are drawn at random take `seed`, a whole number or a numpy `Generator`.

>>> named("square", inside=[(0.5, 0.0)]).tolist()
[[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [0.5, 0.0]]
"""

import inspect
import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from hardmax._tokens.batches import read_table
from hardmax._tokens.rationals import fits_float64, to_fractions
from hardmax._validation import InputError, check_bool, check_int, shorten

Seed: TypeAlias = int | np.random.Generator

LARGEST_GRID = 10**6
LARGEST_CLOUD = 2**59  # numbers in a cloud: numpy counts the bytes of no more

# The inner tokens of the paper's Figure 2 are not published. These were drawn once at random, rounded to sixteenths
# and kept off the axes, where they would tie. They are written out so that the figure never changes.
_SQUARE = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)], dtype=np.float64)
_IN_TRIANGLE = np.array([(14, 11), (10, 1), (-5, -11), (5, 2), (-11, -14), (10, 7)]) / 16
_IN_SQUARE = np.array([(8, -6), (8, 12), (-6, -7), (-11, 5), (3, 5), (-15, -4)]) / 16
_IN_QUADRANTS = np.array([(-9, 9), (10, -8), (-6, -11), (8, 13)]) / 16


def triangle() -> np.ndarray:
    """A triangle of three leaders and six inner tokens (the paper's Figure 2, first row).

    >>> triangle()[:3].tolist()
    [[1.0, 1.0], [0.5, -0.5], [-1.0, -1.0]]
    """
    return np.vstack([[(1, 1), (0.5, -0.5), (-1, -1)], _IN_TRIANGLE])


def emerging_leader() -> np.ndarray:
    """Eight tokens, of which the second becomes a leader at layer 1 only (Figure 2, second row; alpha = 1/2).

    It first follows (0, 1/4), which leaves for (1, 1/3); from then on nobody lies further out its way.
    The tokens are Fractions, since 1/3 and 1/12 are no floats.

    >>> emerging_leader()[1].tolist()
    [Fraction(-1, 12), Fraction(1, 12)]
    """
    leaders = [("1", "1/3"), ("-1/12", "1/12"), ("-1", "-1")]
    followers = [("0", "1/4"), ("-0.3", "-0.7"), ("-0.6", "-0.9"), ("0.8", "0.1"), ("0.6", "0.15")]
    return to_fractions(leaders + followers, "the emerging leader")


def square(inside: Any = None) -> np.ndarray:
    """The square (±1, ±1) and the tokens `inside`; without them, six of our choice (Figure 2, third row).

    A token of an axis, such as (1/2, 0), ties the two vertices it looks at.

    >>> square(inside=[]).tolist()
    [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]
    >>> square(inside=[("3/10", "1/10")])[4].tolist()
    [Fraction(3, 10), Fraction(1, 10)]
    """
    if inside is None:
        inside = _IN_SQUARE
    if (isinstance(inside, list | tuple) and not inside) or getattr(inside, "shape", (1,))[:1] == (0,):
        return _SQUARE.copy()
    inner = read_table(inside, "`inside`")
    if inner.shape[1] != 2:
        raise InputError(
            f"`inside` must hold tokens (x, y) of the plane, not of dimension {inner.shape[1]}.", argument="inside"
        )
    cloud = np.concatenate([_SQUARE, inner])
    if cloud.dtype == np.float64:
        return cloud
    exact = to_fractions(cloud, "`inside`")
    return exact.astype(np.float64) if fits_float64(exact) else exact


def nonleader_clusters() -> np.ndarray:
    """The square (±1, ±1), the tokens (±1/2, 0) and four inner ones (Figure 2, fourth row).

    (±1/2, 0) tie two vertices each and tend to (±1, 0), the projections of the origin onto two edges, where
    no leader sits.

    >>> nonleader_clusters()[4:6].tolist()
    [[0.5, 0.0], [-0.5, 0.0]]
    """
    return square(inside=np.vstack([[(0.5, 0), (-0.5, 0)], _IN_QUADRANTS]))


def polygon(sides: int, midpoints: bool = False) -> np.ndarray:
    """The regular polygon (cos 2πk/sides, sin 2πk/sides), k = 0, 1, ...; then, if asked, its edges' middles.

    The vertices are rounded to float64, so they are no longer equally far from the origin and most middles do
    not tie. Those of an edge that crosses an axis at a right angle do: mirror images agree to the last bit.

    >>> polygon(4).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    >>> polygon(6, midpoints=True).shape
    (12, 2)
    """
    sides = check_int(sides, "`sides`", at_least=3, at_most=LARGEST_CLOUD)
    vertices = _unit_circle(sides)
    if not check_bool(midpoints, "`midpoints`"):
        return vertices
    return np.concatenate([vertices, (vertices + np.roll(vertices, -1, axis=0)) / 2])


def gaussian(n: int, d: int, seed: Seed = 0) -> np.ndarray:
    """`n` tokens whose coordinates are independent standard normal numbers.

    >>> gaussian(100, 3).shape
    (100, 3)
    """
    return _generator(seed).standard_normal(_shape(n, d))


def sphere(n: int, d: int, seed: Seed = 0) -> np.ndarray:
    """`n` tokens drawn uniformly from the unit sphere: all leaders, up to rounding.

    >>> bool(np.allclose(np.linalg.norm(sphere(100, 3), axis=1), 1))
    True
    """
    directions = gaussian(n, d, seed)
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def grid(side: int, d: int = 2) -> np.ndarray:
    """The side^d points of a grid of spacing 1 around the origin, whose tokens on the axes tie whole faces.

    >>> grid(2).tolist()
    [[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]]
    """
    side, d = check_int(side, "`side`", at_least=1), check_int(d, "`d`", at_least=1)
    # side^d itself may have more digits than memory holds.
    if max(side, d) > LARGEST_GRID or d * math.log2(side) > math.log2(LARGEST_GRID) + 1e-9:
        came = f"{shorten(side)}^{shorten(d)}"
        raise InputError(
            f"`side`^`d` must be at most {LARGEST_GRID}, not {came} tokens. Make one smaller.",
            argument="side",
            also=("`d`",),
        )
    return np.array(list(product(np.arange(side) - (side - 1) / 2, repeat=d)))


def lattice(n: int, d: int, span: int = 2, seed: Seed = 0) -> np.ndarray:
    """`n` tokens with random whole coordinates from -span to span: full of ties, repeats, now and then zero.

    >>> bool(np.all(np.abs(lattice(100, 3)) <= 2))
    True
    """
    span = check_int(span, "`span`", at_least=1, at_most=2**53)
    return _generator(seed).integers(-span, span, _shape(n, d), endpoint=True).astype(np.float64)


def rotated(cloud: Any) -> np.ndarray:
    """The cloud, exactly, after the rotation ((3/5, -4/5), (4/5, 3/5)) of its first two coordinates.

    Ties stay ties, but no float holds fifths: this is where comparing floats goes wrong.

    >>> turned([(1.0, 0.0)]).tolist()
    [[Fraction(3, 5), Fraction(4, 5)]]
    """
    table = read_table(cloud, "`cloud`")
    if table.shape[1] < 2:
        raise InputError("`cloud` must have tokens of dimension 2 or more to be turned, not 1.")
    result = to_fractions(table, "`cloud`")
    x, y = result[:, 0].copy(), result[:, 1].copy()
    cos, sin = Fraction(3, 5), Fraction(4, 5)
    result[:, 0], result[:, 1] = cos * x - sin * y, sin * x + cos * y
    return result


MAKERS: dict[str, Callable[..., np.ndarray]] = {
    maker.__name__: maker
    for maker in (
        triangle,
        emerging_leader,
        square,
        nonleader_clusters,
        polygon,
        gaussian,
        sphere,
        grid,
        lattice,
    )
}
NAMES = tuple(MAKERS)


def named(name: str, **options: Any) -> np.ndarray:
    """The cloud called `name` (one of `NAMES`; "-" is as good as "_"), made with `options`.

    >>> named("emerging-leader").shape, named("gaussian", n=10, d=2, seed=1).shape
    ((8, 2), (10, 2))
    """
    maker = MAKERS.get(name.replace("-", "_")) if isinstance(name, str) else None
    if maker is None:
        names = ", ".join(NAMES).replace("_", "-")
        raise InputError(f"`name` must be one of {names}, not {shorten(name)}.")
    taken = inspect.signature(maker).parameters
    missing = [option for option, about in taken.items() if about.default is about.empty and option not in options]
    wrong = [option for option in options if option not in taken]
    if wrong or missing:
        all_of_them = tuple(f"`{option}`" for option in taken)
        problem = f"`{wrong[0]}` is none of them" if wrong else f"`{missing[0]}` is missing"
        message = f"The cloud {name!r} takes {', '.join(all_of_them) or 'no options'}: {problem}."
        raise InputError(message, argument=(wrong or missing)[0], also=all_of_them)
    return maker(**options)


def _unit_circle(parts: int) -> np.ndarray:
    # Sine and cosine are taken in the first eighth of a turn only and carried on by exact symmetries, so that
    # points which mirror each other do so to the last bit.
    quarters, rest = np.divmod(4 * np.arange(parts), parts)
    nearest = np.minimum(rest, parts - rest)
    angle = np.pi / 2 * (nearest / parts)
    along = np.cos(angle)
    across = np.where(2 * nearest == parts, along, np.sin(angle))
    in_first_quarter = np.where(2 * rest > parts, across + 1j * along, along + 1j * across)
    points = in_first_quarter * np.array([1, 1j, -1, -1j])[quarters]
    # Adding 0.0 turns -0.0 into 0.0.
    return np.stack([np.real(points), np.imag(points)], axis=1) + 0.0


def _shape(n: int, d: int) -> tuple[int, int]:
    n, d = check_int(n, "`n`", at_least=1), check_int(d, "`d`", at_least=1)
    if n * d > LARGEST_CLOUD:
        raise InputError(
            f"`n` * `d` must be at most {LARGEST_CLOUD:,}, not {shorten(n)} * {shorten(d)}. Make one smaller.",
            argument="n",
            also=("`d`",),
        )
    return n, d


def _generator(seed: Seed) -> np.random.Generator:
    return (
        seed if isinstance(seed, np.random.Generator) else np.random.default_rng(check_int(seed, "`seed`", at_least=0))
    )
