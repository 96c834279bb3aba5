"""Starting clouds: tables `(n, d)` of float64 where it stores every coordinate exactly, else of
Fractions."""

from typing import Any

import numpy as np

from hardmax._common.validation import InputError, check_int
from hardmax._tokens.batches import read_table
from hardmax._tokens.rationals import to_fractions

# The tokens of the paper's Figure 2 (arXiv 2407.01602): six decimals, read from the vector graphic
# in the authors' repository (DCN-FAU-AvH/clustering-hardmax-transformers, CC0), and thirds and
# twelfths where these are meant. Leaders come first here.
_SQUARE = np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)], dtype=float)
_IN_SQUARE = [
    ("0.068907", "-0.089914"),
    ("-0.017795", "-0.038629"),
    ("0.327852", "-0.037617"),
    ("-0.05164", "-0.473912"),
    ("-0.002479", "0.486572"),
    ("0.418464", "-0.192676"),
]


def triangle() -> np.ndarray:
    """Three leaders and six inner tokens (the paper's Figure 2, first row).

    The last token first follows one that does not lead: the cloud settles at layer 1 (alpha = 1/2).

    Returns
    -------
    ndarray of Fraction, of shape (9, 2)

    Examples
    --------
    >>> triangle()[1].tolist()
    [Fraction(1, 2), Fraction(-1, 2)]
    """
    leaders = [("1", "1"), ("0.5", "-0.5"), ("-1", "-1")]
    followers = [
        ("0.87763", "0.97845"),
        ("0.09886", "0.493489"),
        ("-0.203029", "-0.959099"),
        ("-0.382364", "-0.924231"),
        ("0.3", "-0.2"),
        ("0.1", "-0.2"),
    ]
    return to_fractions(leaders + followers, "the triangle")


def emerging_leader() -> np.ndarray:
    """Eight tokens; the second leads from layer 1 on (Figure 2, second row; alpha = 1/2).

    It first follows (0, 1/4), which leaves for (1, 1/3); from then on no token lies further out in
    its direction.

    Returns
    -------
    ndarray of Fraction, of shape (8, 2)

    Examples
    --------
    >>> emerging_leader()[1].tolist()
    [Fraction(-1, 12), Fraction(1, 12)]
    """
    leaders = [("1", "1/3"), ("-1/12", "1/12"), ("-1", "-1")]
    followers = [("0", "1/4"), ("-0.3", "-0.7"), ("-0.6", "-0.9"), ("0.8", "0.1"), ("0.6", "0.15")]
    return to_fractions(leaders + followers, "the emerging leader")


def square(inside: Any = None) -> np.ndarray:
    """The square (±1, ±1) and tokens inside it (Figure 2, third row).

    Parameters
    ----------
    inside : array_like of shape (n, 2), optional
        The inner tokens; the paper's six, if not given. One on an axis, such as (1/2, 0), ties two
        vertices.

    Returns
    -------
    ndarray of shape (4 + n, 2)

    Examples
    --------
    >>> square(inside=[("3/10", "1/10")])[4].tolist()
    [Fraction(3, 10), Fraction(1, 10)]
    """
    inside = _IN_SQUARE if inside is None else inside
    is_empty = isinstance(inside, list | tuple) and not inside
    if is_empty or getattr(inside, "shape", (1,))[:1] == (0,):
        return _SQUARE.copy()
    inner = read_table(inside, "`inside`")
    if inner.shape[1] != 2:
        raise InputError(f"`inside` must have 2 coordinates per token, not {inner.shape[1]}.")
    cloud = np.concatenate([_SQUARE, inner])
    return cloud if cloud.dtype == np.float64 else to_fractions(cloud, "`inside`")


def nonleader_clusters() -> np.ndarray:
    """The square (±1, ±1), the tokens (±1/2, 0) and four inner ones (Figure 2, fourth row).

    (±1/2, 0) tie two vertices each and tend to (±1, 0), the projections of the origin onto two
    edges, where there is no leader.

    Returns
    -------
    ndarray of Fraction, of shape (10, 2)

    Examples
    --------
    >>> nonleader_clusters()[4].tolist()
    [Fraction(1, 2), Fraction(0, 1)]
    """
    tied = [("1/2", "0"), ("-1/2", "0")]
    followers = [
        ("-0.382129", "0.315192"),
        ("-0.40129", "0.111869"),
        ("-0.01119", "-0.206427"),
        ("-0.415533", "-0.235861"),
    ]
    return square(inside=tied + followers)


def polygon(sides: int) -> np.ndarray:
    """The vertices of a regular polygon on the unit circle, counterclockwise from (1, 0).

    Parameters
    ----------
    sides : int
        Number of vertices.

    Returns
    -------
    ndarray of shape (sides, 2)

    Examples
    --------
    >>> polygon(4).tolist()
    [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    """
    sides = check_int(sides, "`sides`", at_least=3, at_most=2**31)
    vertex = np.arange(sides)
    # Sine is odd and cosine even, so mirror images in both axes agree to the last bit; rounding
    # makes cos(π/2) zero.
    turn = np.pi / 2 * ((sides - 4 * np.minimum(vertex, sides - vertex)) / sides)
    upper = np.where(2 * vertex > sides, -1, 1)
    return np.stack([np.sin(turn), upper * np.cos(turn)], axis=1).round(15) + 0.0  # without -0.0


def gaussian(n: int, d: int, seed: int | np.random.Generator = 0) -> np.ndarray:
    """Tokens whose coordinates are independent standard normal numbers.

    Parameters
    ----------
    n, d : int
        Number of tokens and dimension.
    seed : int or numpy.random.Generator, default 0
        Source of the random numbers.

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> gaussian(100, 3).shape
    (100, 3)
    """
    d = check_int(d, "`d`", at_least=1, at_most=2**59)
    n = check_int(n, "`n`", at_least=1, at_most=2**59 // d)  # numpy counts the bytes of no more
    return _generator(seed).standard_normal((n, d))


def integers(n: int, d: int = 2, seed: int | np.random.Generator = 0) -> np.ndarray:
    """Tokens with small whole coordinates; at layer 0, each attends to one token.

    Parameters
    ----------
    n : int
        Number of tokens, up to 1,000.
    d : int, default 2
        Dimension.
    seed : int or numpy.random.Generator, default 0
        Source of the random numbers.

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> integers(4).shape
    (4, 2)
    """
    n = check_int(n, "`n`", at_least=1, at_most=1000)
    d = check_int(d, "`d`", at_least=1, at_most=1000)
    draw = _generator(seed)
    reach = max(5, n)
    while True:
        tokens = draw.integers(-reach, reach, (n, d), endpoint=True)
        scores = tokens @ tokens.T
        furthest = scores == scores.max(axis=1, keepdims=True)
        if furthest.sum() == n:
            return tokens.astype(float)
        reach += 1


def _generator(seed: int | np.random.Generator) -> np.random.Generator:
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(check_int(seed, "`seed`", at_least=0))


def rotated(cloud: Any) -> np.ndarray:
    """The cloud after the rotation ((3/5, -4/5), (4/5, 3/5)) of its first two coordinates, exactly.

    Ties stay ties, but float64 stores no fifths: this is where comparing floats goes wrong.

    Parameters
    ----------
    cloud : array_like of shape (n, d)
        The tokens, with d at least 2.

    Returns
    -------
    ndarray of Fraction, of shape (n, d)

    Examples
    --------
    >>> rotated([(1.0, 0.0)]).tolist()
    [[Fraction(3, 5), Fraction(4, 5)]]
    """
    result = to_fractions(read_table(cloud, "`cloud`"), "`cloud`")
    if result.shape[1] < 2:
        raise InputError("`cloud` must have tokens of dimension 2 or more to be rotated, not 1.")
    result[:, :2] = result[:, :2] @ np.array([[3, 4], [-4, 3]], dtype=object) / 5
    return result


MAKERS = {
    make.__name__: make
    for make in (triangle, emerging_leader, square, nonleader_clusters, polygon, gaussian, integers)
}
"""What makes a cloud, by name."""
