"""Figure 1: a token finds whom it attends to in its half-space."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from hardmax import Dynamics, InputError, Trajectory, clouds, simulate
from hardmax.figures.halfspaces import DrawnHalfspace, draw_halfspace, halfspace_figure
from hardmax.paper.figures.fig1 import figure1_runs


def drawn(run: Trajectory, token: int = 0, layer: int = 0) -> DrawnHalfspace:
    return draw_halfspace(run, token, Figure().subplots(), layer=layer)


def test_the_metric_decides_who_is_attended_to_in_figure_1():
    plain, turned = (drawn(run) for run in figure1_runs().values())
    assert np.asarray(plain.attended.get_offsets()).tolist() == [[1.5, -1.5], [2, -0.5]]
    assert np.asarray(turned.attended.get_offsets()).tolist() == [[1.5, 1.75]]


@pytest.mark.parametrize("layer", [0, 2])
def test_whoever_is_attended_to_lies_in_the_shade(layer: int):
    run = simulate(clouds.gaussian(30, 2), Dynamics("1/2", [[2, 1], [1, 1]]), layers=3)
    for token in range(run.n):
        panel = drawn(run, token, layer)
        normal = np.array([[2, 1], [1, 1]]) @ run.at(layer)[token]
        offset = normal @ run.at(layer)[token] - 1e-9
        corners, attended = panel.shade.get_xy(), np.asarray(panel.attended.get_offsets())
        assert (corners @ normal >= offset).all()
        assert (attended @ normal >= offset).all()
        assert attended.tolist() == run.at(layer)[run.attended(layer)[token]].tolist()


def test_lines_fall_at_a_right_angle_on_the_direction_of_the_look():
    run = next(iter(figure1_runs().values()))
    for start, foot in drawn(run).falls.get_segments():
        assert np.dot(foot - start, run.at(0)[0]) == pytest.approx(0)
        assert np.linalg.det([foot, run.at(0)[0]]) == pytest.approx(0)


def test_everyone_is_drawn_once():
    panel = drawn(next(iter(figure1_runs().values())))
    assert [len(np.asarray(part.get_offsets())) for part in (panel.token, panel.attended, panel.others)] == [1, 2, 1]


def test_a_token_that_attends_to_itself_is_shown_under_the_square():
    panel = drawn(simulate(clouds.square(inside=[]), Dynamics(1), layers=0))
    assert np.asarray(panel.attended.get_offsets()).tolist() == [[1, 1]]


def test_zero_looks_nowhere_and_has_everything_for_its_half_space():
    run = simulate([[0.0, 0.0], [1.0, 0.0]], Dynamics(1), layers=0)
    ax = Figure().subplots()
    panel = draw_halfspace(run, 0, ax)
    left, right, bottom, top = ax.axis()
    assert {tuple(corner) for corner in panel.shade.get_xy()} == {(x, y) for x in (left, right) for y in (bottom, top)}


def test_half_spaces_are_drawn_in_the_plane():
    with pytest.raises(InputError, match="dimension 3"):
        drawn(simulate(clouds.gaussian(5, 3), Dynamics(1), layers=0))


def test_figure_1_has_a_panel_for_each_metric():
    titles = [ax.get_title(loc="left") for ax in halfspace_figure(figure1_runs()).axes]
    assert titles == ["A = I", "A = ((2, 1), (1, 1))"]
