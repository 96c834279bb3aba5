"""The nearest point of a convex hull, exactly.

    minimise |sum_j w_j v_j - target|_A   over weights w_j >= 0 that add to 1,   |x|_A = sqrt(<A x,
    x>)

The point x is nearest if and only if <A (x - target), v_j - x> >= 0 for every vertex v_j, with
equality where w_j > 0. By Theorem 1.1, limits that are no vertices are such projections of the
origin on a face."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat

from hardmax._common.validation import InputError
from hardmax._layer.rules import check_definite
from hardmax._tokens.batches import read_table
from hardmax._tokens.rationals import IntegerCloud, fractions_of, to_fractions
from hardmax.geometry._hull import read_metric


def project_exact(
    vertices: Any, metric: Any = None, target: Any = None
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Nearest point of a convex hull, exactly.

    Parameters
    ----------
    vertices : array_like of shape (m, d)
        Points that span the hull; they may repeat or lie flat. Floats are the binary fractions that
        they store.
    metric : array_like of shape (d, d), optional
        Symmetric positive definite matrix A of the norm sqrt(<A x, x>); Euclidean if None.
    target : array_like of shape (d,), optional
        Point to project; the origin if None.

    Returns
    -------
    point : tuple of Fraction
        Nearest point.
    weights : tuple of Fraction
        Weight of each vertex: adding to 1, positive on affinely independent vertices only.

    Notes
    -----
    Wolfe's algorithm in integers: the distance falls strictly from one set of vertices to the next,
    and there are finitely many.

    Examples
    --------
    >>> point, weights = project_exact([[1, 1], [1, -1]], metric=[[2, 1], [1, 1]])
    >>> [str(x) for x in point], [str(w) for w in weights]
    (['1', '-1'], ['0', '1'])
    """
    rows = to_fractions(read_table(vertices, "`vertices`"), "`vertices`")
    d = rows.shape[1]
    aims = to_fractions(read_table([[0] * d if target is None else target], "`target`"), "`target`")
    if aims.shape[1] != d:
        raise InputError(
            f"`target` must have {d} coordinates, as the vertices do, not {aims.shape[1]}."
        )
    # Positive factors change neither the weights nor which point is nearest, so integers will do.
    corners = np.array(IntegerCloud.of(rows - aims).numerators, dtype=object)
    directions = corners  # A v_j for each vertex v_j
    if metric is not None:
        matrix = check_definite(read_metric(metric, d)).metric_integers
        directions = corners @ np.array(matrix, dtype=object)
    shares = _wolfe(corners, directions)
    weights = tuple(shares.get(j, Fraction(0)) for j in range(len(rows)))
    return tuple(np.array(weights) @ rows), weights


def _wolfe(corners: np.ndarray, directions: np.ndarray) -> dict[int, Fraction]:
    """The weights of the point of least A-norm, by vertex."""
    shares = {int((directions * corners).sum(axis=1).argmin()): Fraction(1)}
    while True:
        # The way A x up to a positive factor, and the score <A x, x> on the same scale: all
        # vertices in use have it.
        common = math.lcm(*(share.denominator for share in shares.values()))
        weights = np.array([int(share * common) for share in shares.values()], dtype=object)
        scores = corners @ (weights @ directions[list(shares)])
        newcomer = int(scores.argmin())
        if scores[newcomer] >= scores[next(iter(shares))]:
            return shares
        shares[newcomer] = Fraction(0)
        shares = _moved(shares, corners, directions)


def _moved(
    shares: dict[int, Fraction], corners: np.ndarray, directions: np.ndarray
) -> dict[int, Fraction]:
    """The weights after a newcomer: on to the nearest point of the affine hull, dropping vertices
    of weight 0."""
    while True:
        members = list(shares)
        gram = directions[members] @ corners[members].T
        goals = dict(zip(members, _affine_weights(gram), strict=True))
        falling = [j for j in members if goals[j] <= 0]
        until = [shares[j] / (shares[j] - goals[j]) for j in falling]
        part = min(until, default=Fraction(1))
        shares = {j: share + part * (goals[j] - share) for j, share in shares.items()}
        shares = {j: share for j, share in shares.items() if share}
        if not falling:
            return shares


def _affine_weights(gram: np.ndarray) -> tuple[Fraction, ...]:
    """Weights, adding to 1, of the shortest vector of the affine hull of independent points with
    Gram matrix G.

    G w is the same in every entry; so w is u / sum(u), where (G + 1 1^T) u = 1 has a positive
    definite matrix."""
    ones = fmpz_mat([[1]] * len(gram))
    solution = fmpz_mat((gram + 1).tolist()).solve(ones).entries()
    return fractions_of(value / sum(solution) for value in solution)
