"""`draw_layer`, `run.plot` and films: what is drawn is where tokens are at a layer, and who
follows whom."""

# pyright: reportCallIssue=false, reportArgumentType=false
import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from known import rational
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.axes3d import Axes3D
from numpy.testing import assert_allclose
from PIL import Image
from refusals import refuses

import hardmax as hm
from hardmax import clouds
from hardmax.figures import layers, plane
from hardmax.figures.layers import draw_layer
from hardmax.figures.palette import FAINT
from hardmax.figures.plane import principal_axes, view_of

HALF = hm.Dynamics("1/2")
CUBE = [*product((-1, 1), repeat=3)]
CLOUDS: dict[str, Any] = {
    "one token": [[3.0, 4.0]],
    "repeated": [[1, 1], [1, 1], [-1, -1], [0.5, 0.5]],
    "on a line": [[3], [1], ["1/7"], ["-1/4"], [-2]],
}
CLOUDS["in the plane"] = clouds.emerging_leader()
CLOUDS["ties"] = clouds.nonleader_clusters()
CLOUDS["30 leaders"] = np.vstack([clouds.polygon(30), clouds.gaussian(50, 2) / 5])
CLOUDS["in space"] = [*CUBE, (0.25, 0, 0), (0.25, 0.25, 0), (0.25, 0.25, 0.125)]
CLOUDS["flat in space"] = rational("1 1 1, -1 1 1, -1 -1 1, 1 -1 1, 1/2 0 1")
CLOUDS["in five dimensions"] = clouds.gaussian(20, 5)
CLOUDS["many"] = clouds.gaussian(1000, 2)
CLOUDS["huge"] = clouds.gaussian(20, 2) * 1e300
CLOUDS["far away"] = clouds.gaussian(20, 2) + 1e6
each_cloud = pytest.mark.parametrize("name", CLOUDS)


def run_of(name: str = "in the plane", layers: int = 6) -> hm.Run:
    return hm.simulate(CLOUDS[name], HALF, layers=layers)


def axes_for(run: hm.Run) -> Axes:
    return Figure().add_subplot(projection="3d" if run.d == 3 else None)


def drawn(run: hm.Run, layer: int = 0) -> plane.Artists:
    return draw_layer(run, layer, axes_for(run))


def offsets(marks: list[Any]) -> np.ndarray:
    """Where collections have their marks, in the plane or in space."""
    parts = []
    for one in marks:
        in_space = hasattr(one, "_offsets3d")
        places = np.ma.stack(one._offsets3d).T if in_space else one.get_offsets()
        parts.append(np.ma.filled(places, np.nan))
    return np.concatenate(parts).astype(float)


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
    alone = run.attended(layer).choices.is_leader[run.points.of_token]
    assert rows(offsets(picture["leaders"])) == rows(view.places(run.at(layer)[alone]))
    everybody = [*picture["leaders"], *picture["circles"]]
    assert rows(offsets(everybody)) == rows(view.places(run.at(layer)))


SHOWN = ["on a line", "30 leaders", "in space", "in five dimensions", "huge"]


@pytest.mark.parametrize("name", SHOWN)
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


def test_dotted_lines_lead_to_everyone_who_is_attended_to():
    run = run_of("ties")
    segments = [line.get_xydata().reshape(-1, 3, 2)[:, :2] for line in drawn(run)["attention"]]
    found = {(tuple(start), tuple(end)) for start, end in np.concatenate(segments).tolist()}
    tokens = list(map(tuple, run.at(0).tolist()))
    expected = set()
    for token, attended in enumerate(run.attended(0).tolist()):
        if attended != [token]:
            expected |= {(tokens[token], tokens[other]) for other in attended}
    assert found == expected


def test_looks_and_window_stay_the_same_and_the_hull_is_that_of_the_leaders():
    run = run_of()
    first, later = Figure().subplots(), Figure().subplots()
    before, after = draw_layer(run, 0, first), draw_layer(run, 5, later)
    assert first.axis() == later.axis()
    (hull,) = after["hull"]
    assert rows(hull.get_xy()) == rows(run.at(5)[run.leaders])
    star = run.at(0)[2]
    assert color_at(before["leaders"][0], star) == color_at(after["leaders"][0], star)


def test_principal_axes_are_those_of_the_whole_decomposition():
    tokens = clouds.gaussian(60, 6) @ np.diag([5, 1, 1, 3, 1, 1])
    _, _, directions = np.linalg.svd(tokens - tokens.mean(axis=0))
    axes = principal_axes(tokens)
    assert_allclose(np.abs(np.sum(axes * directions[:2].T, axis=0)), 1)
    # Far from the origin their sum would be too large for a float.
    assert_allclose(principal_axes((tokens + 30) * 2e306), axes, atol=1e-12)


def test_the_title_counts_the_leaders_that_are_drawn():
    run = run_of()
    for layer, said in ((0, "2 leaders, 1 to come"), (1, "3 leaders"), (6, "3 leaders")):
        assert len(offsets(drawn(run, layer)["leaders"])) == int(said[0])
        title = run.plot(layer).get_title(loc="left")
        assert title == f"layer {layer}: 8 tokens, {said}"


def test_of_very_many_tokens_some_are_drawn(monkeypatch):
    monkeypatch.setattr(plane, "MOST_TOKENS", 50)
    run = run_of("many")
    picture = drawn(run, 2)
    assert len(offsets(picture["leaders"])) == len(run.leaders)
    assert 20 <= len(offsets(picture["circles"])) <= 60
    assert "1,000 tokens, some drawn" in run.plot().get_title(loc="left")


def test_of_very_many_leaders_some_have_numbers():
    ax = hm.simulate(clouds.polygon(300), HALF, layers=0).plot()
    assert 20 <= len([text for text in ax.texts if text.get_text()]) <= 40


def test_given_axes_are_drawn_on_and_what_cannot_be_plotted_leaves_no_figure():
    run, mine = run_of(), Figure().add_subplot()
    assert run.plot(2, ax=mine) is mine
    space = Figure().add_subplot(projection="3d")
    with refuses("`layers` must be a whole number from 0 up"):
        run.plot(layers=[0, -1])
    with refuses("`ax` must be one for each layer: 2, not 1"):
        run.plot([0, 1], ax=mine)
    with refuses("`ax` must be axes"):
        run.plot(ax=3)
    with refuses("three dimensions, but the tokens have 2"):
        run.plot(ax=space)
    assert not pyplot.get_fignums()


def test_layers_are_drawn_side_by_side_with_titles_that_a_panel_may_replace():
    run = run_of()
    panels = run.plot([0, 2, 5])
    assert [ax.get_title(loc="left") for ax in panels] == ["layer 0", "layer 2", "layer 5"]
    (mine,) = run.plot(layers=[2], ax=Figure().add_subplot())
    assert mine.get_title() == "layer 2"
    mine.set_title("of my own")
    assert [mine.get_title(loc=place) for place in ("left", "right")] == ["", ""]


FFMPEG = """#!/bin/sh
for last; do :; done
echo "$@" > {}
cat > "$last"
"""


def test_a_film_is_encoded_by_ffmpeg_if_it_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with refuses("needs the program ffmpeg; install it, or write a .gif"):
        run_of().save(tmp_path / "run.mp4")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    program = tmp_path / "ffmpeg"  # keeps the frames as they come
    program.write_text(FFMPEG.format(tmp_path / "asked"))
    program.chmod(0o755)
    run_of().save(tmp_path / "run.mp4")
    width, height = re.findall(r"-s (\d+)x(\d+) .*rate 4 ", (tmp_path / "asked").read_text())[0]
    assert (tmp_path / "run.mp4").stat().st_size == 7 * 4 * int(width) * int(height)


def test_a_film_has_a_frame_for_each_layer_of_many_some(tmp_path, monkeypatch):
    with refuses(r"`path` must end in .html, .gif or .mp4, not '.avi'; `to_pandas\(\)` gives"):
        run_of().save(tmp_path / "x.avi")
    for most, frames in ((9, 7), (3, 3)):
        monkeypatch.setattr(layers, "MOST_FRAMES", most)
        run_of().save(tmp_path / "run.gif")
        with Image.open(tmp_path / "run.gif") as film:
            assert getattr(film, "n_frames") == frames  # noqa: B009
            assert (film.info["duration"], film.info["loop"]) == (250, 0)
            first = np.array(film.convert("RGB"))
            film.seek(frames - 1)
            assert (np.array(film.convert("RGB")) != first).any()
