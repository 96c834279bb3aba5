"""Convex hulls that do not fail on flat, thin, repeated or tiny input: vertices, facets, faces.

By Qhull where facets are few; in higher dimensions vertices are found without facets (Clarkson 1994).
"""

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hardmax._parallel import interruptible
from hardmax.geometry._affine import affine_frame, resolution, unit_scaled

if TYPE_CHECKING:
    from scipy.spatial import ConvexHull

Face = tuple[int, ...]
# Rounding of one scalar product, with room: progress smaller than this is none.
FINE = 4e-15


class Hull(NamedTuple):
    """Which points are vertices, and the facets as numbers of vertices: none of a point, the two ends of a segment.

    Facets that are no simplices come as several in `simplices` (t, r), numbers of vertices again, whose outer `normals`
    (t, r) are in the coordinates of the affine space.
    """

    dimension: int
    vertices: np.ndarray
    facets: tuple[Face, ...]
    volume: float
    simplices: np.ndarray
    normals: np.ndarray


def hull(points: np.ndarray) -> Hull:
    """The convex hull of points (n, d) that span at most six dimensions.

    Whatever lies within about `resolution(points)` of a plane lies in it, so that a cube has six facets.
    """
    table, exponent = unit_scaled(points)
    distinct = first_of_equals(table)
    table = table[distinct]
    frame = affine_frame(table)
    while (found := _hull_of(frame.coordinates(table), resolution(table))) is None:
        frame = affine_frame(table, frame.rank - 1)
    with np.errstate(over="ignore", under="ignore"):  # volumes end at 1.8e308, as all floats
        volume = float(np.ldexp(found.volume, exponent * frame.rank))
    return found._replace(vertices=distinct[found.vertices], volume=volume)


def first_of_equals(table: np.ndarray) -> np.ndarray:
    """Indices, increasing, of the rows that equal no row before them."""
    # Adding zero turns -0.0 into 0.0: they are equal, but sorting may separate them.
    return np.sort(np.unique(table + 0.0, axis=0, return_index=True)[1])


def _hull_of(points: np.ndarray, tolerance: float) -> Hull | None:
    """The hull of distinct points (n, r) that span their space; None where they are too flat for one."""
    r = points.shape[1]
    if r == 0:
        return Hull(0, np.zeros(1, dtype=int), (), 1.0, np.zeros((0, 0), dtype=int), points)
    if r == 1:
        ends = np.sort([np.argmin(points), np.argmax(points)])
        normals = np.sign(points[ends] - points[ends].mean())
        return Hull(1, ends, ((0,), (1,)), float(np.ptp(points)), np.array([[0], [1]]), normals)
    found = _qhull(points, tolerance)
    if found is None:
        return None
    # Simplices of one facet have one plane, the same in every digit.
    facet_of = np.unique(found.equations, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(facet_of, kind="stable")
    vertices, numbers = np.unique(found.simplices[order], return_inverse=True)
    simplices = numbers.reshape(-1, r)
    groups = np.split(simplices, np.cumsum(np.bincount(facet_of))[:-1])
    facets = tuple(tuple(sorted(set(group.ravel().tolist()))) for group in groups)
    normals = found.equations[order, :-1]
    return Hull(r, vertices, facets, float(found.volume), simplices, normals) if len(facets) > r else None


def _qhull(points: np.ndarray, tolerance: float) -> "ConvexHull | None":
    from scipy.spatial import ConvexHull, QhullError  # half a second to import: not before it is needed

    # Qt: a facet that is no simplex comes as several. E: what distances are off by; a few times that is in the plane.
    # Where that leads Qhull to a topology error, it has to do without, and rounding decides.
    usual = "Qt Qx" if points.shape[1] > 4 else "Qt"
    for options in (f"{usual} E{tolerance / 4!r}", usual):
        try:
            # Thousands of points have millions of facets in six dimensions, and Qhull hears no Ctrl-C.
            return interruptible(lambda options=options: ConvexHull(points, qhull_options=options))
        except QhullError as error:
            if "simplex is flat" in str(error):
                break
    return None


def extreme_points(points: np.ndarray) -> np.ndarray:
    """Indices, increasing, of the points (n, d) further than `resolution(points)` from the hull of the others.

    A point outside the hull of those known so far shows a direction along which a new one is furthest.
    """
    table, _ = unit_scaled(points)
    distinct = first_of_equals(table)
    table, tolerance = table[distinct], resolution(table)
    radii = np.linalg.norm(table - table.mean(axis=0), axis=1)
    known = np.arange(len(table)) == np.argmax(radii)
    for i, point in enumerate(table):
        while not known[i]:
            way = nearest(table[known], point)
            length = np.linalg.norm(way)
            if length <= tolerance:
                break
            scores = np.where(known, -np.inf, table @ -way)
            tied = scores >= scores.max() - tolerance / 2 * length
            # Among tied points the furthest from any fixed place is extreme: balls are strictly convex.
            known[np.argmax(np.where(tied, radii, -1.0))] = True
    return distinct[known]


def nearest(vertices: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The way (r,) from a `target` (r,) to the hull of `vertices` (m, r), all of a size of about 1, in floats.

    Wolfe's algorithm: the vertex that lies furthest towards the target joins a few others, and of these the nearest
    point is found by non-negative least squares.
    """
    from scipy.optimize import nnls

    ways = vertices - target
    extent = float(np.abs(ways).max())
    chosen = np.array([np.argmin(np.einsum("mr,mr->m", ways, ways))])
    way, shortest = ways[chosen[0]], np.inf
    while True:
        length = float(np.linalg.norm(way))
        scores = ways @ way
        newcomer = int(np.argmin(scores))
        # All chosen vertices score alike, up to rounding; a vertex with a lower score is a way to come nearer.
        done = length <= FINE * extent or scores[newcomer] >= length**2 - FINE * extent * length
        if done or length >= shortest or newcomer in chosen:
            return way
        shortest = length
        chosen = np.append(chosen, newcomer)
        # With u = s w, |sum_j u_j v_j|^2 + (s - 1)^2 is least for the nearest point's w, whatever the best s is.
        try:
            shares, _ = nnls(np.vstack([ways[chosen].T, np.ones(len(chosen))]), np.eye(ways.shape[1] + 1)[-1])
        except RuntimeError:  # it does not converge where rounding decides
            return way
        chosen = chosen[shares > 0]
        # Orthogonal to the affine hull of the chosen; twice, since the way may be much shorter than the coordinates.
        axes = np.linalg.qr((ways[chosen[1:]] - ways[chosen[0]]).T)[0]
        way = ways[chosen[0]] - axes @ (axes.T @ ways[chosen[0]])
        way = way - axes @ (axes.T @ way)


def nearest_of_simplices(corners: np.ndarray, simplices: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The ways (n, r) from `targets` outside a hull to the nearest points of its boundary, the `simplices` (t, r).

    Each nearest point is the projection on the affine hull of a face of a simplex, inside which it falls.
    """
    ways, shortest = np.zeros_like(targets), np.full(len(targets), np.inf)
    for size in range(1, simplices.shape[1] + 1):
        parts = [simplices[:, chosen] for chosen in combinations(range(simplices.shape[1]), size)]
        faces = np.unique(np.sort(np.vstack(parts), axis=1), axis=0)
        sides = corners[faces[:, 1:]] - corners[faces[:, :1]]
        # Of one face after the other: few of a polytope, and no table of all pairs is needed.
        for start, axes, inverse in zip(corners[faces[:, 0]], sides, np.linalg.pinv(sides), strict=True):
            away = start - targets
            shares = -away @ inverse
            away += shares @ axes
            lengths = np.einsum("nr,nr->n", away, away)
            better = (lengths < shortest) & (shares >= 0).all(axis=1) & (shares.sum(axis=1) <= 1)
            ways[better], shortest[better] = away[better], lengths[better]
    return ways


def faces_below(faces: Iterable[Face], dimension: int, facets: Iterable[Face]) -> tuple[Face, ...]:
    """The facets of the given `faces` of one `dimension` (at least 1), sorted.

    The facets of a face F are the largest of the sets F ∩ G that are not F, over the facets G of the polytope.
    """
    through: dict[int, list[frozenset[int]]] = {}
    for facet in map(frozenset, facets):
        for vertex in facet:
            through.setdefault(vertex, []).append(facet)
    below: set[Face] = set()
    for face in faces:
        if len(face) == dimension + 1:  # a simplex: any of its vertices may be left out
            below.update(combinations(face, dimension))
            continue
        parts = {facet & frozenset(face) for vertex in face for facet in through[vertex]} - {frozenset(face)}
        below.update(tuple(sorted(part)) for part in parts if not any(part < other for other in parts))
    return tuple(sorted(below))


def polygon(points: np.ndarray) -> np.ndarray:
    """The vertices of the convex hull of points (n, 2), counterclockwise."""
    vertices = hull(points).vertices
    return vertices[going_round(points[vertices])]


def going_round(vertices: np.ndarray) -> np.ndarray:
    """The order of the vertices (k, d) of a polygon along its boundary, from the first; counterclockwise if d = 2."""
    flat = affine_frame(vertices, 2).coordinates(vertices)
    if flat.shape[1] < 2:
        return np.arange(len(vertices))
    ways = flat - flat.mean(axis=0)
    order = np.argsort(np.arctan2(ways[:, 1], ways[:, 0]))
    return np.roll(order, -int(np.argmin(order)))
