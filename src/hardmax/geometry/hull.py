"""Convex hulls that do not fail: vertices, facets, faces.

Extreme points, in any dimension: those that are not in the convex hull of the others.

No linear programs: whoever is furthest along some direction is extreme, and that settles most points at once. Every
other point is projected on the hull of the extreme points known so far; if it lies outside, the way there is a
direction along which somebody new is furthest (Clarkson 1994).

The faces of a polytope, from its facets: every face is where some facets meet.

Convex hulls that do not fail: flat, collinear, single and repeated points first find their flat, then their hull.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._parallel import interruptible
from hardmax._validation import InputError, check_int
from hardmax.geometry._affine import Frame, affine_frame, first_of_equals, read_points, resolution, unit_scaled
from hardmax.geometry.projection import CHUNK, nearest

if TYPE_CHECKING:
    from scipy.spatial import ConvexHull

MOST_DIRECTIONS = 20_000


def extreme_points(points: Any, directions: Any = None) -> np.ndarray:
    """Indices, increasing, of the extreme points; of equal points the first.

    A point is extreme if it lies further than `resolution(points)` from the hull of the others. `directions` (k, d) are
    tried first (the points seen from their mean, if None): leaders, for one, are furthest along their own `A z`.

    >>> extreme_points([[0, 0], [2, 0], [1, 0], [0, 2], [0, 0], [1, 1]]).tolist()
    [0, 1, 3]
    """
    table = read_points(points, "`points`")
    d = table.shape[1]
    directions = None if directions is None else read_points(directions, "`directions`", d)
    places = first_of_equals(table)
    scaled, _ = unit_scaled(table[places])
    frame = affine_frame(scaled)
    if frame.rank == 0:
        return places[:1]
    coordinates = frame.coordinates(scaled)
    if directions is None:
        directions = coordinates - coordinates.mean(axis=0)
        directions = directions[:: 1 + len(directions) // MOST_DIRECTIONS]
    else:
        directions = unit_scaled(directions)[0] @ frame.axes.T
    return places[_extreme(coordinates, directions, resolution(scaled))]


def is_extreme(points: Any, index: int) -> bool:
    """Whether the point at `index` lies outside the convex hull of the points that differ from it.

    >>> corners = [[1, 1], [1, -1], [-1, -1], [-1, 1], [1, 0]]
    >>> is_extreme(corners, 0), is_extreme(corners, 4)
    (True, False)
    """
    table = read_points(points, "`points`")
    index = check_int(index, "`index`", at_least=0, at_most=len(table) - 1)
    scaled, _ = unit_scaled(table)
    others = scaled[(scaled != scaled[index]).any(axis=1)]
    if not len(others):
        return True
    found = nearest(others - scaled[index], np.zeros((1, scaled.shape[1])))
    return bool(found.distances[0] > resolution(scaled))


def _extreme(points: np.ndarray, directions: np.ndarray, tolerance: float) -> np.ndarray:
    """Indices of the extreme ones among distinct points (n, r)."""
    distances = np.linalg.norm(points - points.mean(axis=0), axis=1)
    known = np.zeros(len(points), dtype=bool)
    known[_furthest(points, distances, directions, tolerance)] = True
    # The furthest from the centre is extreme whatever the directions were: the hull to project on is not empty.
    known[np.argmax(distances)] = True
    open_rows = np.flatnonzero(~known)
    while open_rows.size:
        ways = -nearest(points[known], points[open_rows]).ways
        outside = np.linalg.norm(ways, axis=1) > tolerance
        open_rows, ways = open_rows[outside], ways[outside]
        # Those outside see somebody unknown furthest out: at least themselves.
        unknown = np.flatnonzero(~known)
        known[unknown[_furthest(points[unknown], distances[unknown], ways, tolerance / 2)]] = True
        open_rows = open_rows[~known[open_rows]]
    return np.flatnonzero(known)


def _furthest(points: np.ndarray, distances: np.ndarray, directions: np.ndarray, tolerance: float) -> np.ndarray:
    """Indices of the points that are furthest along one of the `directions` (k, r)."""
    winners = []
    size = max(1, CHUNK // len(points))
    slack = tolerance * np.linalg.norm(directions, axis=1, keepdims=True)
    for start in range(0, len(directions), size):
        rows = slice(start, start + size)
        scores = directions[rows] @ points.T
        tied = scores >= scores.max(axis=1, keepdims=True) - slack[rows]
        # Among the tied, the furthest from any fixed place is extreme: balls are strictly convex.
        winners.append(np.argmax(np.where(tied, distances, -1.0), axis=1))
    return np.unique(np.concatenate(winners)) if winners else np.zeros(0, dtype=np.intp)


Face = tuple[int, ...]


def faces_below(faces: Iterable[Face], dimension: int, facets: Iterable[Face]) -> tuple[Face, ...]:
    """All facets of the given `faces` of one `dimension` (at least 1): the faces one dimension lower, sorted.

    The facets of a face F are the largest of the sets F ∩ G that are not F, over the facets G of the polytope.

    >>> square = [(0, 1), (1, 2), (2, 3), (0, 3)]
    >>> faces_below(square, 1, square)
    ((0,), (1,), (2,), (3,))
    """
    sets = [frozenset(facet) for facet in facets]
    through: dict[int, list[int]] = {}
    for number, facet in enumerate(sets):
        for vertex in facet:
            through.setdefault(vertex, []).append(number)
    below: set[Face] = set()
    for face in faces:
        if len(face) == dimension + 1:  # a simplex: any of its vertices may be left out
            below.update(combinations(face, dimension))
        else:
            below.update(tuple(sorted(part)) for part in _largest_parts(frozenset(face), dimension, sets, through))
    return tuple(sorted(below))


def _largest_parts(
    face: frozenset[int], dimension: int, facets: list[frozenset[int]], through: dict[int, list[int]]
) -> list[frozenset[int]]:
    near = {number for vertex in face for number in through.get(vertex, ())}
    parts = {face & facets[number] for number in near}
    # A face of dimension k has more than k vertices.
    proper = sorted((part for part in parts if dimension <= len(part) < len(face)), key=len, reverse=True)
    largest: list[frozenset[int]] = []
    for part in proper:
        if not any(part < other for other in largest):
            largest.append(part)
    return largest


# The number of facets grows like n^(r/2): beyond six dimensions a few dozen points have millions.
LARGEST_DIMENSION = 6
# Fewer points have a hull within a moment.
_MANY = 500


@dataclass(frozen=True, eq=False)
class Boundary:
    """The facets: tuples of point indices, with `normals @ x <= offsets` for all x of the hull; and its volume."""

    facets: tuple[Face, ...]
    normals: np.ndarray
    offsets: np.ndarray
    volume: float


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points: its `vertices` (indices of points, increasing), the `frame` of its flat, its boundary.

    Outward `normals` (f, d) have length 1 and lie in the flat; `normals @ x <= offsets` holds on the hull, with
    equality on the facet. A point has no facets; a segment has its two ends.
    """

    vertices: Face
    frame: Frame
    boundary: Boundary | None

    @property
    def dimension(self) -> int:
        return self.frame.rank

    @property
    def facets(self) -> tuple[Face, ...]:
        return self._boundary("facets").facets

    @property
    def normals(self) -> np.ndarray:
        return self._boundary("normals").normals

    @property
    def offsets(self) -> np.ndarray:
        return self._boundary("offsets").offsets

    @property
    def volume(self) -> float:
        """The volume within the flat: a length for segments, an area for polygons, 1 for a point."""
        return self._boundary("volume").volume

    def renumbered(self) -> "Hull":
        """The same hull with its vertices called 0, 1, 2, …"""
        named = {vertex: k for k, vertex in enumerate(self.vertices)}
        facets = tuple(tuple(named[v] for v in facet) for facet in self.facets)
        boundary = Boundary(facets, self.normals, self.offsets, self.volume)
        return Hull(tuple(range(len(named))), self.frame, boundary)

    def _boundary(self, wanted: str) -> Boundary:
        if self.boundary is None:
            raise InputError(
                f"`{wanted}` needs points that span at most {LARGEST_DIMENSION} dimensions, but these span "
                f"{self.dimension}. Vertices, membership and distance work in any dimension."
            )
        return self.boundary


def hull(points: Any) -> Hull:
    """The convex hull of `points` (n, d), whatever they span. Coplanar simplices are merged: a cube has six facets.

    What lies within `resolution(points)` of a plane lies in it. Where points are spread more than 1e7 times wider one
    way than another, which of them are vertices is decided by rounding; they do not fail even then.

    >>> square = hull([[0, 0, 1], [2, 0, 1], [2, 2, 1], [0, 2, 1], [1, 0, 1], [2, 2, 1]])
    >>> square.dimension, square.vertices, sorted(square.facets), round(square.volume, 9)
    (2, (0, 1, 2, 3), [(0, 1), (0, 3), (1, 2), (2, 3)], 4.0)
    """
    table, exponent = unit_scaled(read_points(points, "`points`"))
    tolerance = resolution(table)
    kept, most = first_of_equals(table), table.shape[1]
    while True:
        frame = affine_frame(table[kept], most)
        if frame.rank > LARGEST_DIMENSION:
            found = tuple(extreme_points(table).tolist())
            return Hull(found, Frame(np.ldexp(frame.origin, exponent), frame.axes), None)
        coordinates = frame.coordinates(table[kept])
        if frame.rank < 2:
            return _embedded(_segment(coordinates), kept, frame, exponent)
        qhull = _qhull(coordinates)
        corners = np.arange(len(kept)) if qhull is None else np.sort(qhull.vertices)
        apart = _apart(coordinates[corners], tolerance)
        if not apart.all():
            kept = kept[corners[apart]]
            continue
        flat = None if qhull is None else _solid(qhull, tolerance)
        if flat is not None:
            return _embedded(flat, kept, frame, exponent)
        most = frame.rank - 1


def _qhull(coordinates: np.ndarray) -> "ConvexHull | None":
    """Qhull's own hull, or None where it finds the points too flat for one."""
    from scipy.spatial import ConvexHull, QhullError  # half a second to import: not before a hull is asked for

    try:
        # Thousands of points have millions of facets in six dimensions, and Qhull hears no Ctrl-C.
        few = len(coordinates) < _MANY
        return ConvexHull(coordinates) if few else interruptible(lambda: ConvexHull(coordinates))
    except QhullError:
        return None


def _embedded(flat: Boundary, kept: np.ndarray, frame: Frame, exponent: int) -> Hull:
    """The hull in space, of which `flat` is the boundary in coordinates of the frame, over 2^exponent."""
    named = kept.tolist()
    facets = tuple(tuple(named[v] for v in facet) for facet in flat.facets)
    normals = flat.normals @ frame.axes
    offsets = np.ldexp(flat.offsets + normals @ frame.origin, exponent)
    with np.errstate(over="ignore", under="ignore"):  # volumes end at 1.8e308, as all floats
        volume = float(np.ldexp(flat.volume, exponent * frame.rank))
    vertices = tuple(sorted(set().union(*facets))) if facets else (named[0],)
    return Hull(
        vertices, Frame(np.ldexp(frame.origin, exponent), frame.axes), Boundary(facets, normals, offsets, volume)
    )


def _segment(coordinates: np.ndarray) -> Boundary:
    """The boundary of points (n, 1) of a line, or of a place (n, 0)."""
    if coordinates.shape[1] == 0:
        return Boundary((), np.zeros((0, 0)), np.zeros(0), 1.0)
    low, high = int(np.argmin(coordinates)), int(np.argmax(coordinates))
    ends = coordinates[[low, high], 0]
    return Boundary(((low,), (high,)), np.array([[-1.0], [1.0]]), ends * [-1, 1], float(ends[1] - ends[0]))


def _apart(points: np.ndarray, tolerance: float) -> np.ndarray:
    """Whether each point is no twin of one before it: facets between points equal up to rounding point anywhere."""
    from scipy.spatial import KDTree

    apart = np.ones(len(points), dtype=bool)
    pairs = KDTree(points).query_pairs(tolerance, output_type="ndarray")
    for first, second in sorted(map(tuple, np.sort(pairs, axis=1).tolist())):
        if apart[first]:
            apart[second] = False
    return apart


def _solid(qhull: "ConvexHull", tolerance: float) -> Boundary | None:
    """The boundary of points that span their space; None where facing sides are too close to be told apart."""
    simplices, planes = qhull.simplices, qhull.equations
    lonely = ~_has_coplanar_neighbour(qhull, tolerance)
    alone = simplices[lonely]
    merged, seeds = _merged(qhull, np.flatnonzero(~lonely), tolerance)
    large = _without_inner(merged, set(alone.ravel().tolist()))
    facets = (*map(tuple, np.sort(alone, axis=1).tolist()), *large)
    if len(facets) <= qhull.points.shape[1]:
        return None
    normals = np.concatenate([planes[lonely, :-1], planes[seeds, :-1]])
    heights = np.einsum("skr,sr->sk", qhull.points[alone], planes[lonely, :-1]).max(axis=1)
    tops = [(qhull.points[list(facet)] @ planes[seed, :-1]).max() for facet, seed in zip(large, seeds, strict=True)]
    return Boundary(facets, normals, np.concatenate([heights, tops]), float(qhull.volume))


def _has_coplanar_neighbour(qhull: "ConvexHull", tolerance: float) -> np.ndarray:
    """For each simplex: whether it and some neighbour lie in a plane, be it the one's or the other's."""
    found = np.zeros(len(qhull.simplices), dtype=bool)
    for others in qhull.neighbors.T:
        corners = qhull.points[qhull.simplices[others]]
        heights = np.einsum("skr,sr->sk", corners, qhull.equations[:, :-1]) + qhull.equations[:, -1:]
        coplanar = np.abs(heights).max(axis=1) <= tolerance
        found |= coplanar
        found[others[coplanar]] = True
    return found


def _merged(qhull: "ConvexHull", crowd: np.ndarray, tolerance: float) -> tuple[list[set[int]], list[int]]:
    """The facets made of several simplices, as sets of points, and for each the simplex whose plane it has."""
    simplices, equations, neighbors = qhull.simplices, qhull.equations, qhull.neighbors.tolist()
    # Small simplices have uncertain planes. Seen from the largest of its facet, a simplex is in the facet or it is not.
    order = crowd[np.argsort(-_sizes(qhull.points[simplices[crowd]]), kind="stable")].tolist()
    taken: set[int] = set()
    facets: list[set[int]] = []
    seeds: list[int] = []
    for seed in order:
        if seed in taken:
            continue
        queue, seen = [seed], {seed}
        while queue:
            near = [simplex for simplex in neighbors[queue.pop()] if simplex not in seen]
            heights = qhull.points[simplices[near]] @ equations[seed, :-1] + equations[seed, -1]
            joining = [
                simplex for simplex, off in zip(near, np.abs(heights).max(axis=1), strict=True) if off <= tolerance
            ]
            seen.update(joining)
            queue.extend(joining)
        taken |= seen
        facets.append(set(simplices[list(seen)].ravel().tolist()))
        seeds.append(seed)
    return facets, seeds


def _sizes(corners: np.ndarray) -> np.ndarray:
    """The volumes of simplices with corners (s, r, r), up to a common factor."""
    spans = corners[:, 1:] - corners[:, :1]
    gram = spans @ np.swapaxes(spans, 1, 2)
    return np.sqrt(np.abs(np.linalg.det(gram)))


def _without_inner(members: list[set[int]], sure: set[int]) -> list[Face]:
    """The facets, each without the points that are no vertices: those whose facets share yet another point.

    The facets through a point meet in the smallest face that holds it, and for a vertex that is the vertex. Corners of
    facets that are simplices are `sure` to be vertices.
    """
    through: dict[int, list[int]] = {}
    for f, facet in enumerate(members):
        for v in facet - sure:
            through.setdefault(v, []).append(f)
    for v, facets in through.items():
        if len(reduce(set.intersection, (members[f] for f in facets))) > 1:
            for f in facets:
                members[f] = members[f] - {v}
    return [tuple(sorted(facet)) for facet in members]


def outline(points: Any) -> Sequence[int]:
    """The vertices of points that span a plane, in the order in which one meets them going round.

    Counterclockwise where the points are in the plane themselves.

    >>> outline([[0, 0], [1, 1], [0, 1], [1, 0], [0.5, 0.5]])
    [0, 3, 1, 2]
    """
    corners = hull(points)
    if corners.dimension > 2:
        raise InputError(
            f"`points` must span a plane, a line or a place to go round them, not {corners.dimension} dimensions."
        )
    table = read_points(points, "`points`")[list(corners.vertices)]
    if corners.dimension < 2:
        return list(corners.vertices)
    flat = corners.frame.coordinates(table)
    ways = flat - flat.mean(axis=0)
    order = np.argsort(np.arctan2(ways[:, 1], ways[:, 0]))
    start = int(np.argmin(order))
    return [corners.vertices[i] for i in np.roll(order, -start)]
