"""Polytopes in the plane and in space: polygons, facets, and what is left of them when they are flat."""

from collections.abc import Sequence

import numpy as np

from hardmax._validation import InputError
from hardmax.figures import inputs
from hardmax.figures.inputs import validate_params
from hardmax.figures.mpl import Artist, Axes, Axes3D, Poly3DCollection, Polygon
from hardmax.figures.palette import FAINT, INK
from hardmax.geometry._hull import going_round
from hardmax.geometry.polytope import Polytope

SEE_THROUGH = (INK, 0.07)  # grey on white, and cells or facets behind it still show


@validate_params(polytope=inputs.a_polytope, ax=inputs.an_axes)
def draw_polytope(polytope: Polytope, ax: Axes) -> list[Artist]:
    """A polytope in the plane, shaded, or in space, its facets translucent; a segment or a point if it is flat."""
    corners = polytope.vertices
    space = 3 if isinstance(ax, Axes3D) else 2
    if corners.shape[1] != space:
        raise InputError(
            f"`polytope` lies in {corners.shape[1]} dimensions, these axes have {space}: draw a projection of it."
        )
    if polytope.dimension == 0:
        return [ax.scatter(*corners.T, s=20, color=FAINT, zorder=1)]
    if polytope.dimension == 1:
        return list(ax.plot(*corners.T, color=FAINT, lw=1.2, zorder=1))
    if isinstance(ax, Axes3D):
        polygons = [corners[list(face)] for face in polytope.faces(2)]
        return [_draw_facets([polygon[going_round(polygon)] for polygon in polygons], ax)]
    polygon = Polygon(
        corners[going_round(corners)], closed=True, facecolor=SEE_THROUGH, edgecolor=FAINT, lw=0.8, zorder=1
    )
    ax.add_patch(polygon)
    return [polygon]


def _draw_facets(facets: Sequence[np.ndarray], ax: Axes3D) -> Poly3DCollection:
    collection = Poly3DCollection(facets, facecolor=SEE_THROUGH, edgecolor=FAINT, linewidths=0.7, zorder=1)
    ax.add_collection3d(collection)
    # Collections do not widen the axes by themselves.
    ax.auto_scale_xyz(*np.concatenate(facets).T)
    return collection
