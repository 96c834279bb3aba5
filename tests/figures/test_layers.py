"""`draw_layer`, `run.plot` and films: what is drawn is where tokens are at a layer, and who
follows whom."""

# pyright: reportCallIssue=false, reportArgumentType=false
from itertools import product
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.axes3d import Axes3D
from numpy.testing import assert_allclose
from refusals import refuses

import hardmax as hm
from hardmax import clouds
from hardmax.figures import plane
from hardmax.figures.layers import MOST_FRAMES, draw_layer
from hardmax.figures.palette import FAINT
from hardmax.figures.plane import draw_hull, principal_axes, view_of

HALF = hm.Dynamics("1/2")
CLOUDS: dict[str, Any] = {
    "one token": [[3.0, 4.0]],
    "repeated": [[1, 1], [1, 1], [-1, -1], [0.5, 0.5]],
    "on a line": [[3], [1], ["1/7"], ["-1/4"], [-2]],
    "in the plane": clouds.emerging_leader(),
    "ties": clouds.nonleader_clusters(),
    "30 leaders": np.vstack([clouds.polygon(30), clouds.gaussian(50, 2) / 5]),
    "in space": [*product((-1, 1), repeat=3), (0.25, 0, 0), (0.25, 0.25, 0), (0.25, 0.25, 0.125)],
    "flat in space": [[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [1, -1, 1], [0.5, 0, 1]],
    "in five dimensions": clouds.gaussian(20, 5),
    "many": clouds.gaussian(1000, 2),
    "huge": clouds.gaussian(20, 2) * 1e300,
    "far away": clouds.gaussian(20, 2) + 1e6,
}
each_cloud = pytest.mark.parametrize("name", CLOUDS)


def run_of(name: str = "in the plane", layers: int = 6) -> hm.Trajectory:
    return hm.simulate(CLOUDS[name], HALF, layers=layers)


def axes_for(run: hm.Trajectory) -> Axes:
    return Figure().add_subplot(projection="3d" if run.d == 3 else None)


def drawn(run: hm.Trajectory, layer: int = 0, **options: Any) -> plane.Artists:
    return draw_layer(run, layer, axes_for(run), **options)


def offsets(marks: list[Any]) -> np.ndarray:
    """Where collections have their marks, in the plane or in space."""
    parts = [
        np.ma.stack(one._offsets3d).T if hasattr(one, "_offsets3d") else one.get_offsets()
        for one in marks
    ]
    return np.concatenate([np.ma.filled(part, np.nan) for part in parts]).astype(float)


def rows(places: np.ndarray) -> set[tuple[float, ...]]:
    scale = np.abs(places).max(initial=0.0) or 1.0
    return {tuple(row) for row in (np.round(places / scale, 9) + 0.0).tolist()}


def color_at(marks: Any, place: np.ndarray) -> str:
    (number,) = np.flatnonzero((offsets([marks]) == place).all(axis=1))
    colors = np.asarray(marks.get_facecolor())
    return to_hex(colors[number % len(colors)])


@pytest.mark.parametrize("layer", [0, 4])
@each_cloud
def test_marks_are_where_the_tokens_are_and_stars_attend_to_themselves_alone(name, layer):
    run = run_of(name)
    view, picture = view_of(run.at(0), axes_for(run)), drawn(run, layer)
    alone = run.attended(layer).choices.is_leader[run.details.points.of_token]
    assert rows(offsets(picture["leaders"])) == rows(view.places(run.at(layer)[alone]))
    everybody = [*picture["leaders"], *picture["circles"]]
    assert rows(offsets(everybody)) == rows(view.places(run.at(layer)))


@pytest.mark.parametrize(
    "name", ["on a line", "30 leaders", "in space", "in five dimensions", "huge"]
)
def test_a_new_figure_has_the_last_layer_numbered_axes_and_a_legend(name):
    ax = run_of(name).plot()
    assert pyplot.gcf() is ax.figure
    assert isinstance(ax, Axes3D) == name.endswith("in space")
    assert ax.get_title(loc="left").startswith("layer 6: ")
    assert len(ax.get_xticks()) > 1
    assert ("principal" in ax.get_xlabel()) == (name == "in five dimensions")
    (legend,) = ax.figure.legends
    assert len(legend.get_texts()) >= 2
    ax.figure.canvas.draw()


def test_a_follower_has_the_colour_of_its_leader_and_one_of_two_is_grey():
    run = run_of("ties")
    picture = drawn(run, 1)
    tokens, attended = run.at(1), run.attended(1).tolist()
    sizes = set()
    for token in set(range(len(tokens))) - set(run.leaders.tolist()):
        color = color_at(picture["circles"][0], tokens[token])
        sizes.add(len(attended[token]))
        if len(attended[token]) == 1:
            (leader,) = attended[token]
            assert color == color_at(picture["leaders"][0], tokens[leader])
        else:
            assert color == FAINT.lower()
    assert sizes == {1, 2}


def test_who_follows_and_is_followed_has_a_rim():
    assert offsets(drawn(run_of())["rims"]).tolist() == [[0, 0.25]]
    assert len(offsets(drawn(run_of(), 6)["rims"])) == 0


@pytest.mark.parametrize("count", [30, 300])
def test_numbers_of_leaders_do_not_lie_over_each_other(count):
    ax = hm.simulate(clouds.polygon(count), HALF, layers=0).plot()
    ax.figure.canvas.draw()
    labels = [text for text in ax.texts if text.get_text()]
    boxes = [label.get_window_extent() for label in labels]
    assert 20 <= len(boxes) <= 40
    assert not any(a.overlaps(b) for number, a in enumerate(boxes) for b in boxes[:number])


def test_dotted_lines_lead_to_everyone_who_is_attended_to():
    run = run_of("ties")
    segments = [line.get_xydata().reshape(-1, 3, 2)[:, :2] for line in drawn(run)["attention"]]
    found = {(tuple(start), tuple(end)) for start, end in np.concatenate(segments).tolist()}
    tokens = list(map(tuple, run.at(0).tolist()))
    sets = list(enumerate(run.attended(0)))
    assert found == {
        (tokens[i], tokens[j]) for i, chosen in sets for j in chosen if [i] != chosen.tolist()
    }


def test_paths_lead_from_the_start_to_the_layer_and_bend_where_tokens_do():
    run = run_of(layers=20)
    corners = {tuple(row) for line in drawn(run, 20)["paths"] for row in line.get_xydata().tolist()}
    moving = (run.at(0) != run.at(20)).any(axis=1)
    for layer in (*run.details.decisions.layers, 20):
        assert {tuple(row) for row in run.at(layer)[moving].tolist()} <= corners


def test_looks_and_window_stay_the_same_and_the_hull_is_that_of_the_leaders():
    run = run_of()
    first, later = Figure().subplots(), Figure().subplots()
    before, after = draw_layer(run, 0, first), draw_layer(run, 5, later)
    assert first.axis() == later.axis()
    (hull,) = after["hull"]
    assert rows(hull.get_xy()) == rows(run.at(5)[run.leaders])
    star = run.at(0)[2]
    assert color_at(before["leaders"][0], star) == color_at(after["leaders"][0], star)


def test_of_very_many_tokens_some_are_drawn_and_all_leaders(monkeypatch):
    run = run_of("many")
    picture = drawn(run, 2, most=50)
    assert len(offsets(picture["leaders"])) == len(run.leaders)
    assert 40 <= len(offsets(picture["circles"])) <= 60
    for most in (600, 999):
        assert len(offsets(drawn(run, 2, most=most)["circles"])) <= most
    monkeypatch.setattr(plane, "MOST_TOKENS", 50)
    assert "1,000 tokens, some drawn" in run.plot().get_title(loc="left")


def test_given_axes_are_drawn_on_and_given_back():
    run, mine = run_of(), Figure().add_subplot()
    assert run.plot(2, ax=mine) is mine
    assert not pyplot.get_fignums()
    (one,) = run.plot(layers=[2], ax=mine)
    assert one is mine
    row = run.plot([0, 3], figsize=(5, 2))
    assert [ax.get_title(loc="left")[:8] for ax in row] == ["layer 0:", "layer 3:"]
    assert row[0].figure.get_size_inches().tolist() == [5, 2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"layers": [0, 3], "ax": Figure().add_subplot()}, "`ax` is for one layer"),
        ({"layers": []}, "the number of `layers` must be"),
        ({"layers": -1}, "`layers` must be a whole number from 0 up"),
        ({"figsize": (5, -1)}, "`figsize` must be"),
        ({"figsize": 5}, "`figsize` must be a width and a height"),
        ({"ax": Figure().add_subplot(projection="3d")}, "three dimensions, but the tokens have 2"),
    ],
)
def test_what_cannot_be_plotted_is_refused_and_leaves_no_figure(given, message):
    with refuses(message):
        run_of().plot(**given)
    assert not pyplot.get_fignums()


def test_principal_axes_are_those_of_the_whole_decomposition():
    tokens = clouds.gaussian(60, 6) @ np.diag([5, 1, 1, 3, 1, 1])
    _, _, directions = np.linalg.svd(tokens - tokens.mean(axis=0))
    axes = principal_axes(tokens)
    assert_allclose(np.abs(np.sum(axes * directions[:2].T, axis=0)), 1)
    # Far from the origin their sum would be too large for a float.
    assert_allclose(principal_axes((tokens + 30) * 2e306), axes, atol=1e-12)


def test_a_flat_polytope_is_what_is_left_of_it():
    kinds = {
        1: ("PathCollection", "Path3DCollection"),
        2: ("Line2D", "Line3D"),
        3: ("Polygon", "Poly3DCollection"),
    }
    for many, (flat, deep) in kinds.items():
        corners = np.array([[0, 0, 1], [1, 0, 1], [0, 1, 1]])[:many]
        (polygon,) = draw_hull(corners[:, :2], Figure().subplots())
        (facet,) = draw_hull(corners, Figure().add_subplot(projection="3d"))
        assert (type(polygon).__name__, type(facet).__name__) == (flat, deep)


# ---------------------------------------------------------------- films


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("x.avi", {}, "`path` must end in .html or .gif, not '.avi'"),
        ("x.gif", {"layers": []}, "the number of `layers` must be"),
        ("x.gif", {"layers": range(MOST_FRAMES + 1)}, "the number of `layers` must be"),
        ("x.gif", {"layers": [-1]}, "`layers` must be a list of whole numbers from 0 up"),
        ("x.gif", {"fps": 0}, "`fps` must be a finite number above 0"),
        ("x.gif", {"fps": 1000}, "`fps` must be a finite number above 0, at most 50"),
        ("no/x.gif", {"layers": [0]}, "cannot be written"),
    ],
)
def test_what_cannot_be_animated_is_refused_and_leaves_no_file(name, given, message, tmp_path):
    with refuses(message):
        run_of().save(tmp_path / name, **given)
    assert list(tmp_path.iterdir()) == []


def test_the_title_counts_the_leaders_that_are_drawn():
    run = run_of()
    for layer, said in ((0, "2 leaders, 1 to come"), (1, "3 leaders"), (6, "3 leaders")):
        assert len(offsets(drawn(run, layer)["leaders"])) == int(said[0])
        title = run.plot(layers=[layer])[0].get_title(loc="left")
        assert title == f"layer {layer}: 8 tokens, {said}"
