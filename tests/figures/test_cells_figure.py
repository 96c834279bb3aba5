"""Cells: from where a token looks towards each leader."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from hardmax import Dynamics, InputError, clouds, limit
from hardmax.figures.cells import draw_cells
from hardmax.figures.palette import look_of

HALF = Dynamics("1/2")


@pytest.mark.parametrize("metric", [None, [[2, 1], [1, 1]], [[2, 1], [0, 1]]], ids=["identity", "other", "skew"])
def test_a_token_in_a_cell_looks_towards_its_leader(metric: list | None):
    lim = limit(clouds.square(), Dynamics("1/2", metric))
    cells = draw_cells(lim, Figure().subplots())
    matrix = np.eye(2) if metric is None else np.array(metric, dtype=float)
    owners = [lim.points[lim.clusters.labels == label][0] for label in range(len(lim.clusters))]
    by_color = {look_of(label)[0].lower(): place for label, place in enumerate(owners)}
    leading = lim.points[lim.distinct_leaders]
    assert len(cells) == len(leading) > 1
    for cell in cells:
        inside = cell.get_xy()[:-1].mean(axis=0)
        scores = leading @ (matrix @ inside)
        assert by_color[to_hex(cell.get_facecolor())] == pytest.approx(leading[np.argmax(scores)])


def test_cells_cover_the_window():
    lim, ax = limit(clouds.gaussian(1000, 2), HALF), Figure().subplots()
    cells = draw_cells(lim, ax)
    left, right, bottom, top = ax.axis()

    def area(corners: np.ndarray) -> float:
        x, y = corners.T
        return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2

    assert sum(area(cell.get_xy()[:-1]) for cell in cells) == pytest.approx((right - left) * (top - bottom))


def test_cells_of_a_line_are_its_two_sides():
    lim, ax = limit([[3], [1], [-2]], HALF), Figure().subplots()
    above, below = draw_cells(lim, ax)
    assert above.get_xy()[:, 0].min() == 0
    assert below.get_xy()[:, 0].max() == 0


def test_where_nobody_leads_there_are_no_cells():
    lim = limit([[1, 0], [-0.5, 0.8], [-0.5, -0.8]], Dynamics("1/2", [[0, -1], [1, 0]]), max_layers=3)
    assert draw_cells(lim, Figure().subplots()) == []


def test_cells_in_space_are_not_drawn():
    with pytest.raises(InputError, match="dimension 3"):
        draw_cells(limit(clouds.gaussian(5, 3), HALF), Figure().subplots())
