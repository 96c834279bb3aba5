"""`plot` and `animate`: what is drawn is where the tokens are at that layer, in every dimension."""

# pyright: reportCallIssue=false, reportArgumentType=false
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.animation import FFMpegWriter
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.axes3d import Axes3D
from numpy.testing import assert_allclose
from PIL import Image

import hardmax as hm
from hardmax import clouds
from hardmax.figures import animation, plotting
from hardmax.figures import layers as drawing
from hardmax.figures.animation import MOST_FRAMES
from hardmax.figures.flat import plane_axes, principal_axes
from hardmax.figures.layers import draw_layer

HALF = hm.Dynamics("1/2")
CLOUDS: dict[int, Any] = {
    1: [[3], [1], ["1/7"], [-2]],
    2: clouds.emerging_leader(),
    3: clouds.gaussian(20, 3),
    5: clouds.gaussian(20, 5),
}


@pytest.fixture(autouse=True)
def _figures_are_closed():
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def run_of(d: int = 2, layers: int = 6) -> hm.Trajectory:
    return hm.simulate(CLOUDS[d], HALF, layers=layers)


def offsets(collection: Any) -> np.ndarray:
    if hasattr(collection, "_offsets3d"):
        return np.ma.filled(np.ma.stack(collection._offsets3d), np.nan).T.astype(float)
    return np.asarray(collection.get_offsets(), dtype=float)


def in_order(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort(np.round(rows, 9).T[::-1])]


@pytest.mark.parametrize("d", CLOUDS)
def test_marks_are_where_the_tokens_are(d: int):
    run = run_of(d)
    ax = Figure().add_subplot(projection="3d" if d == 3 else None)
    picture = draw_layer(run, 4, ax, hull=True)
    axes = np.eye(3) if d == 3 else plane_axes(run.at(0))
    alone = run.attended(4).choices.is_leader
    assert_allclose(offsets(picture.stars), run.at(4)[alone] @ axes)
    drawn = np.concatenate([offsets(picture.stars), *map(offsets, picture.slices)])
    wanted = run.at(4) @ axes
    assert_allclose(in_order(np.unique(np.round(drawn, 9), axis=0)), in_order(np.unique(np.round(wanted, 9), axis=0)))
    assert picture.hull


@pytest.mark.parametrize("d", CLOUDS)
def test_without_axes_a_new_figure_has_the_last_layer(d: int):
    ax = run_of(d).plot()
    assert pyplot.gcf() is ax.figure
    assert isinstance(ax, Axes3D) == (d == 3)
    title = ax.get_title(loc="left")
    assert title.startswith("layer 6")
    assert ("principal coordinates of 5" in title) == (d == 5)
    ax.figure.canvas.draw()


def test_given_axes_are_drawn_on_and_given_back():
    run, mine = run_of(), Figure().add_subplot()
    assert run.plot(2, ax=mine) is mine
    assert mine.get_title(loc="left") == "layer 2"
    panels = Figure().subplots(2, 2)
    several = run.plot([0, 1, 2, 5], ax=panels)
    assert [ax.get_title(loc="left") for ax in several] == ["layer 0", "layer 1", "layer 2", "layer 5"]
    assert several.tolist() == panels.ravel().tolist()
    assert not pyplot.get_fignums()


def test_a_row_of_layers_has_axes_each():
    row = run_of().plot([0, 3], figsize=(5, 2))
    assert [type(ax) for ax in row] == [Axes, Axes]
    assert row[0].figure.get_size_inches().tolist() == [5, 2]
    with pytest.raises(hm.InputError, match="`ax` must be as many axes as there are layers, 2, not 1"):
        run_of().plot([0, 3], ax=row[0])


def test_a_limit_is_plotted_with_its_key_or_on_axes_that_are_given():
    lim = hm.limit(clouds.square(), HALF)
    new = lim.plot(figsize=(4, 4))
    assert new.get_legend() is not None
    assert new.get_title(loc="left") == f"{lim.run.n} tokens, settled at layer {lim.settled_at}"
    mine = Figure().add_subplot()
    assert lim.plot(ax=mine) is mine
    assert mine.get_legend() is None
    assert mine.collections


def test_of_very_many_points_some_are_drawn_and_all_that_lead(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(drawing, "MOST_POINTS", 50)
    monkeypatch.setattr(plotting, "MOST_POINTS", 50)
    run = hm.simulate(clouds.gaussian(1000, 2), HALF, layers=2)
    picture = draw_layer(run, 2, Figure().add_subplot())
    assert len(offsets(picture.stars)) == len(run.leaders)
    assert 50 <= sum(len(offsets(one)) for one in picture.slices) + len(run.leaders) <= 50 + len(run.leaders)
    assert "some of 1,000 tokens drawn" in run.plot().get_title(loc="left")


def test_principal_axes_are_those_of_the_whole_decomposition():
    tokens = clouds.gaussian(60, 6) @ np.diag([5, 1, 1, 3, 1, 1])
    _, _, directions = np.linalg.svd(tokens - tokens.mean(axis=0))
    axes = principal_axes(tokens)
    assert_allclose(np.abs(np.sum(axes * directions[:2].T, axis=0)), 1)
    assert_allclose(axes.T @ axes, np.eye(2), atol=1e-12)
    # Far from the origin their sum would be too large for a float.
    assert_allclose(principal_axes((tokens + 30) * 2e306), axes, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_every_frame_is_a_layer(d: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    drawn = []
    monkeypatch.setattr(plotting, "draw_layer", lambda run, layer, ax, hull: drawn.append(layer))
    run_of(d).animate(tmp_path / "moving.gif", layers=[0, 1, 4], fps=2)
    assert drawn == [0, 1, 4]


def test_frames_are_shown_in_turn(tmp_path: Path):
    run_of(layers=3).animate(tmp_path / "moving.gif", fps=2)
    with Image.open(tmp_path / "moving.gif") as moving:
        assert (getattr(moving, "n_frames", 1), moving.info["duration"]) == (4, 500)
        moving.seek(0)
        first = np.array(moving.convert("RGB"))
        moving.seek(3)
        assert (np.array(moving.convert("RGB")) != first).any()


def test_of_many_recorded_layers_some_are_animated_and_the_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    drawn = []
    monkeypatch.setattr(plotting, "draw_layer", lambda run, layer, ax, hull: drawn.append(layer))
    monkeypatch.setattr(animation, "USUAL_FRAMES", 5)
    run_of(layers=31).animate(tmp_path / "moving.gif")
    assert drawn[0] == 0
    assert drawn[-1] == 31
    assert 3 <= len(drawn) <= 6


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("x.avi", {}, "`path` must end in .gif or .mp4, not '.avi'"),
        ("x.gif", {"layers": []}, "the number of `layers` must be"),
        ("x.gif", {"layers": range(MOST_FRAMES + 1)}, "the number of `layers` must be"),
        ("x.gif", {"layers": [-1]}, "`layers` must be a list of whole numbers from 0 up"),
        ("x.gif", {"fps": 0}, "`fps` must be a finite number above 0"),
        ("x.gif", {"fps": 1000}, "`fps` must be at most 50"),
        ("no/x.gif", {"layers": [0]}, "cannot be written"),
    ],
)
def test_what_cannot_be_animated_is_refused_and_leaves_no_file(name: str, given: dict, told: str, tmp_path: Path):
    with pytest.raises(hm.InputError, match=told):
        run_of().animate(tmp_path / name, **given)
    assert list(tmp_path.iterdir()) == []


def test_a_video_names_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(hm.InputError, match="ffmpeg must be installed: name a"):
        run_of().animate(tmp_path / "x.mp4")


def test_a_drawing_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("in the middle")

    (tmp_path / "moving.gif").write_bytes(b"old")
    monkeypatch.setattr(plotting, "draw_layer", fails)
    with pytest.raises(RuntimeError, match="in the middle"):
        run_of().animate(tmp_path / "moving.gif")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]
