"""The faces of a polytope, from its facets: every face is where some facets meet."""

from collections.abc import Iterable
from itertools import combinations

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
