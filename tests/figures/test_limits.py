"""`draw_limit` and `lim.plot`: what is drawn of a limit is where tokens start and end."""

# pyright: reportArgumentType=false
from typing import Any

import numpy as np
import pytest
from figures.test_layers import CLOUDS, axes_for, each_cloud, offsets, rows
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from refusals import refuses

import hardmax as hm
from hardmax.figures import plane
from hardmax.figures.layers import draw_layer
from hardmax.figures.limits import MOST_CLUSTERS_IN_LEGEND, draw_limit
from hardmax.figures.palette import look_of_class, look_of_leader
from hardmax.figures.style import save_figure

HALF = hm.Dynamics("1/2")
ROUND = hm.Dynamics("1/2", [[0, -1], [1, 0]])


def limit_of(name: str) -> hm.Limit:
    return hm.limit(CLOUDS[name], HALF)


def corners(line: Any) -> np.ndarray:
    data = line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data()
    return np.array(data, dtype=float).T


@each_cloud
def test_paths_lead_to_the_limits_stars_are_leaders_and_diamonds_projections(name):
    lim = limit_of(name)
    picture = draw_limit(lim, axes_for(lim.run))
    view = plane.view_of(lim.run.at(0), axes_for(lim.run))
    starts, ends = view.path(np.stack([lim.run.at(0), lim.limit_points]))
    found = []
    for line, marks in zip(picture["paths"], picture["starts"], strict=True):
        assert to_hex(np.asarray(marks.get_facecolor())[0]) == line.get_color().lower()
        gaps = np.flatnonzero(np.isnan(corners(line)[:, 0]))
        found += [
            np.concatenate([way[0], way[-2]]) for way in np.split(corners(line), gaps + 1)[:-1]
        ]
    moving = (starts != ends).any(axis=1)
    wanted = np.concatenate([starts, ends], axis=1)[moving]
    assert rows(np.array(found).reshape(wanted.shape)) == rows(wanted)
    assert len(picture["paths"]) == len(set(lim.clusters.labels[moving].tolist()))
    projected = [
        label for label, kind in enumerate(lim.clusters.kinds) if str(kind).startswith("face")
    ]
    assert rows(offsets(picture["leaders"])) == rows(
        view.places(lim.limit_points[lim.distinct_leaders])
    )
    assert rows(offsets(picture["projections"])) == rows(
        view.places(lim.clusters.limit_points[projected])
    )
    assert len(picture["faces"]) == len(projected)
    shown = {int(label.get_text()) for label in picture["labels"]}
    assert shown <= {*lim.distinct_leaders.tolist()}


def test_the_edge_of_a_projection_is_marked_from_leader_to_leader():
    lim = limit_of("ties")
    for label, edge in zip((4, 5), draw_limit(lim, axes_for(lim.run))["faces"], strict=True):
        kind: Any = lim.clusters.kind_of(label)
        vertices = list(kind.vertices)
        assert_allclose(corners(edge)[1::3], lim.limit_points[vertices])
        assert_allclose(corners(edge)[0::3], lim.limit_points[[label, label]])


def test_what_does_not_settle_is_shown_where_it_was_last():
    lim = hm.limit([[1, 0], [-0.5, 0.8], [-0.5, -0.8]], ROUND, max_layers=20)
    picture = draw_limit(lim, Figure().subplots())
    assert picture["hull"] == []
    assert len(offsets(picture["leaders"])) == 0
    assert offsets(picture["elsewhere"]).tolist() == lim.limit_points.tolist()
    title = lim.plot().get_title(loc="left")
    assert title.startswith("3 tokens, not settled at layer 20:\nlimits within ")


@pytest.mark.parametrize("name", ["in the plane", "many", "30 leaders"])
def test_a_leader_has_the_same_colour_in_a_run_and_in_its_limit(name):
    lim, run = limit_of(name), hm.simulate(CLOUDS[name], HALF, layers=30)
    stars = [
        draw_limit(lim, Figure().subplots())["leaders"][0],
        draw_layer(run, 30, Figure().subplots())["leaders"][0],
    ]
    seen = [
        dict(zip(map(tuple, offsets([one])), map(to_hex, one.get_facecolor()), strict=True))
        for one in stars
    ]
    assert seen[0] == seen[1]


def test_leaders_and_curves_are_told_apart():
    assert len({look_of_class(number, 42) for number in range(42)}) == 42
    assert len({look_of_leader(number) for number in range(126)}) == 126
    for number in range(126):
        assert all(
            a != b for a, b in zip(look_of_leader(number), look_of_leader(number + 1), strict=True)
        )


def test_the_legend_names_every_cluster_or_the_largest():
    def legend(name):
        (found,) = limit_of(name).plot().figure.legends
        return [text.get_text() for text in found.get_texts()]

    assert legend("ties")[1:] == [
        "projection of the origin onto a face",
        "vertex 0: 1 token",
        "vertex 1: 3 tokens",
        "vertex 2: 3 tokens",
        "vertex 3: 1 token",
        "face 0, 3: 1 token",
        "face 1, 2: 1 token",
    ]
    assert len(legend("30 leaders")) == MOST_CLUSTERS_IN_LEGEND + 2
    assert legend("30 leaders")[-1] == "and 12 smaller clusters"
    named = [int(line.split()[-2]) for line in legend("30 leaders")[1:-1]]
    sizes = sorted(limit_of("30 leaders").clusters.sizes.tolist(), reverse=True)
    assert sizes[0] > sizes[-1]
    assert sorted(named, reverse=True) == sizes[:MOST_CLUSTERS_IN_LEGEND]


def test_a_figure_is_the_same_file_twice(tmp_path):
    kinds = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for number in (1, 2):
        figure = limit_of("ties").plot().figure
        for suffix in kinds:
            save_figure(figure, tmp_path / f"{number}.{suffix}")
    for suffix, start in kinds.items():
        assert (tmp_path / f"1.{suffix}").read_bytes().startswith(start)
        assert (tmp_path / f"1.{suffix}").read_bytes() == (tmp_path / f"2.{suffix}").read_bytes()
    with refuses(r"\.png, \.svg or \.pdf"):
        save_figure(Figure(), tmp_path / "limit.gif")


def test_given_axes_are_drawn_on_and_of_very_many_tokens_some(monkeypatch):
    lim, mine = limit_of("in the plane"), Figure().subplots()
    assert lim.plot(ax=mine) is mine
    with refuses("use two-dimensional axes"):
        lim.plot(ax=Figure().add_subplot(projection="3d"))
    monkeypatch.setattr(plane, "MOST_TOKENS", 3)
    title = lim.plot().get_title(loc="left")
    assert title == "8 tokens (some drawn), settled at layer 1"
    assert sum(len(offsets([starts])) for starts in draw_limit(lim, mine)["starts"]) == 2
