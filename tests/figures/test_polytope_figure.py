"""Polytopes on paper: facets in space, polygons in the plane, and whatever is left of flat ones."""

from itertools import product

import numpy as np
import pytest
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

from hardmax import InputError
from hardmax.figures.polytopes import draw_polytope
from hardmax.geometry.polytope import Polytope

CUBE = list(product((-1, 1), repeat=3))


def test_a_polytope_in_space_has_its_facets_drawn_translucent():
    (facets,) = draw_polytope(Polytope(CUBE), Figure().add_subplot(projection="3d"))
    assert isinstance(facets, Poly3DCollection)
    assert len(facets.get_facecolor()) >= 1
    assert 0 < np.asarray(facets.get_facecolor())[0, 3] < 0.5


def test_the_axes_widen_to_hold_it():
    ax = Figure().add_subplot(projection="3d")
    draw_polytope(Polytope(np.array(CUBE) * 10), ax)
    assert ax.get_xlim()[0] <= -10 < 10 <= ax.get_xlim()[1]


@pytest.mark.parametrize(
    ("corners", "kind"),
    [([[1, 2]], "PathCollection"), ([[0, 0], [1, 1]], "Line2D"), ([[0, 0], [1, 0], [0, 1]], "Polygon")],
)
def test_a_flat_polytope_in_the_plane_is_what_is_left_of_it(corners: list, kind: str):
    (artist,) = draw_polytope(Polytope(corners), Figure().subplots())
    assert type(artist).__name__ == kind


@pytest.mark.parametrize(
    ("corners", "kind"),
    [
        ([[1, 2, 3]], "Path3DCollection"),
        ([[0, 0, 0], [1, 1, 1]], "Line3D"),
        ([[0, 0, 1], [1, 0, 1], [0, 1, 1]], "Poly3DCollection"),
    ],
)
def test_a_flat_polytope_in_space_is_what_is_left_of_it(corners: list, kind: str):
    (artist,) = draw_polytope(Polytope(corners), Figure().add_subplot(projection="3d"))
    assert type(artist).__name__ == kind


def test_a_polytope_needs_axes_of_its_dimension():
    with pytest.raises(InputError, match="lies in 3 dimensions, these axes have 2"):
        draw_polytope(Polytope(CUBE), Figure().subplots())
