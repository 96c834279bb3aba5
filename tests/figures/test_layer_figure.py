"""Figure 2: what is drawn is who follows whom."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from hardmax import Dynamics, InputError, Trajectory, clouds, simulate
from hardmax.figures.layers import MOST_SLICES, DrawnLayer, draw_layer
from hardmax.figures.palette import FAINT
from hardmax.paper.figures.fig2 import LAYERS, figure2, figure2_runs

HALF = Dynamics("1/2")


def run_of(cloud: object, layers: int = 30) -> Trajectory:
    return simulate(cloud, HALF, layers=layers)


def drawn(run: Trajectory, layer: int = 0, *, hull: bool = False) -> DrawnLayer:
    return draw_layer(run, layer, Figure().subplots(), hull=hull)


def places(marks: PathCollection) -> np.ndarray:
    return np.asarray(marks.get_offsets())


def colors(rgba: object) -> list[str]:
    return [to_hex(color) for color in np.asarray(rgba)]


def faces_at(layer: DrawnLayer, place: np.ndarray) -> list[str]:
    """The colours of the slices of the circle at a place."""
    here = [one for one in layer.slices if (places(one) == place).all(axis=1).any()]
    return [colors(one.get_facecolor())[0] for one in here]


def color_of_star(layer: DrawnLayer, place: np.ndarray) -> str:
    (number,) = np.flatnonzero((places(layer.stars) == place).all(axis=1))
    return colors(layer.stars.get_facecolor())[number]


@pytest.mark.parametrize("layer", LAYERS)
def test_stars_attend_to_themselves_alone_at_that_layer(layer: int):
    run = run_of(clouds.emerging_leader())
    alone = [token for token, chosen in enumerate(run.attended(layer)) if chosen.tolist() == [token]]
    assert places(drawn(run, layer).stars).tolist() == run.at(layer)[alone].tolist()


def test_a_follower_has_the_colour_of_its_leader():
    run = run_of(clouds.square())
    layer = drawn(run, 1)
    for token, chosen in enumerate(run.attended(1)):
        if token not in run.leaders:
            assert faces_at(layer, run.at(1)[token]) == [color_of_star(layer, run.at(1)[chosen[0]])]


def test_a_token_that_follows_two_is_painted_in_two_halves():
    run = run_of(clouds.nonleader_clusters())
    layer = drawn(run)
    ends = [color_of_star(layer, run.at(0)[end]) for end in (0, 3)]
    assert faces_at(layer, run.at(0)[4]) == ends
    assert len(set(ends)) == 2


def test_a_token_that_is_followed_and_follows_has_a_rim_of_its_own_colour():
    run = run_of(clouds.emerging_leader())
    layer = drawn(run)
    assert places(layer.rims).tolist() == [[0, 0.25]]
    (follower,) = faces_at(layer, run.at(0)[1])
    assert colors(layer.rims.get_edgecolor()) == [follower]
    assert faces_at(layer, run.at(0)[3]) != [follower]


def test_a_line_leads_to_everyone_who_is_followed():
    run = run_of(clouds.nonleader_clusters())
    lines = [segment.tolist() for segment in drawn(run).gazes.get_segments()]
    tokens = run.at(0).tolist()
    sets = run.attended(0)
    wanted = [
        [tokens[i], tokens[j]] for i, chosen in enumerate(sets) for j in chosen.tolist() if [i] != chosen.tolist()
    ]
    assert lines == wanted


def test_ways_lead_from_the_start_to_the_layer():
    run = run_of(clouds.triangle())
    for token, way in enumerate(drawn(run, 5).ways.get_segments()):
        assert way[0].tolist() == run.at(0)[token].tolist()
        assert way[-1].tolist() == run.at(5)[token].tolist()


def test_the_hull_that_is_shaded_is_that_of_the_leaders():
    run = run_of(clouds.triangle())
    (hull,) = drawn(run, 30, hull=True).hull
    assert isinstance(hull, Polygon)
    assert {tuple(corner) for corner in hull.get_xy()} == {tuple(place) for place in run.at(30)[run.leaders]}


def test_colours_and_window_stay_the_same_from_layer_to_layer():
    run = run_of(clouds.emerging_leader())
    first, later = Figure().subplots(), Figure().subplots()
    before, after = draw_layer(run, 0, first), draw_layer(run, 5, later)
    assert first.axis() == later.axis()
    assert color_of_star(before, run.at(0)[2]) == color_of_star(after, run.at(5)[2])


def test_who_follows_too_many_to_tell_is_grey():
    around = clouds.polygon(MOST_SLICES)
    run = run_of(np.vstack([[(0.0, 0.0)], around]), layers=0)
    assert faces_at(drawn(run), np.zeros(2)) == [FAINT.lower()]


def test_repeated_tokens_are_drawn_once():
    run = run_of([[1, 1], [1, 1], [-1, -1], [0.5, 0.5]])
    layer = drawn(run)
    assert len(places(layer.stars)) == 2
    assert faces_at(layer, np.array([0.5, 0.5])) == [color_of_star(layer, np.array([1, 1]))]


@pytest.mark.parametrize("cloud", [[[3.0, 4.0]], [[0.0, 0.0]], clouds.gaussian(1000, 2)], ids=["one", "zero", "many"])
def test_few_and_many_tokens_are_drawn(cloud: object):
    run = run_of(cloud, layers=2)
    layer = drawn(run, 1, hull=True)
    assert len(places(layer.stars)) + sum(len(places(one)) for one in layer.slices) == run.n


def test_axes_in_space_are_for_tokens_in_space():
    with pytest.raises(InputError, match="three dimensions, but the tokens have 2"):
        draw_layer(run_of(clouds.triangle()), 1, Figure().add_subplot(projection="3d"))


def test_figure_2_has_a_row_for_each_cloud_and_a_column_for_each_layer():
    panels = figure2(figure2_runs()).axes
    assert [ax.get_title(loc="left") for ax in panels[:5]] == ["layer 0", "layer 1", "layer 2", "layer 5", "layer 30"]
    assert [ax.get_ylabel() for ax in panels[::5]] == [
        "triangle",
        "emerging leader",
        "square",
        "non-leader clusters",
    ]
    shaded = [len(ax.patches) for ax in panels]
    assert shaded == [0, 0, 0, 0, 1] * 4
