"""What is drawn of a limit is where the tokens are, go, and end."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from effort import some
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from numpy.testing import assert_allclose

from hardmax import Dynamics, InputError, Limit, clouds, limit
from hardmax.figures.limit_figure import MOST_CLUSTERS_IN_KEY, limit_figure
from hardmax.figures.limits import MOST_LABELS, MOST_TOKENS, DrawnLimit, draw_limit
from hardmax.figures.palette import CYCLE, SHAPES, look_of
from hardmax.figures.style import save_figure
from hardmax.figures.views import view_of

HALF = Dynamics("1/2")
ROUND = Dynamics("1/2", [[0, -1], [1, 0]])
CUBE = [*product((-1, 1), repeat=3), (0.25, 0, 0), (0.25, 0.25, 0), (0.25, 0.25, 0.125)]

CLOUDS = {
    "one token": [[3.0, 4.0]],
    "zero": [[0.0, 0.0]],
    "on a line": [[0, 1], [0, 2], [0, -1], [0, 0.5]],
    "all in one place": [[1, 2], [1, 2]],
    "non-leader clusters": clouds.rotated(clouds.nonleader_clusters()),
    "emerging leader": clouds.emerging_leader(),
    "grid with zero": clouds.grid(5),
    "1,000 tokens": clouds.gaussian(1000, 2),
    "30 clusters": np.vstack([clouds.polygon(30), clouds.gaussian(50, 2) / 5]),
    "in one dimension": [[3], [1], ["1/7"], ["-1/4"], [-2]],
    "in space": CUBE,
    "flat in space": [[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [1, -1, 1], [0.5, 0, 1]],
    "in eight dimensions": clouds.gaussian(40, 8),
}
each_cloud = pytest.mark.parametrize("name", CLOUDS)


def limit_of(name: str) -> Limit:
    return limit(CLOUDS[name], HALF)


def axes_for(lim: Limit):
    return Figure().add_subplot(projection="3d" if lim.run.d == 3 else None)


def drawn(lim: Limit) -> DrawnLimit:
    return draw_limit(lim, axes_for(lim))


def places(lim: Limit, points: np.ndarray) -> np.ndarray:
    return view_of(lim.run.at(0), axes_for(lim)).places(points)


def points_of(line: Line2D) -> np.ndarray:
    """The corners of a line, in the plane or in space."""
    data = line.get_data_3d() if hasattr(line, "get_data_3d") else line.get_data()  # type: ignore[attr-defined]
    return np.array(data, dtype=float).T


def offsets(collection) -> np.ndarray:
    """Where a collection has its marks, in the plane or in space."""
    if hasattr(collection, "_offsets3d"):
        return np.ma.filled(np.ma.stack(collection._offsets3d), np.nan).T.astype(float)
    return np.asarray(collection.get_offsets(), dtype=float)


def ways(line: Line2D) -> list[np.ndarray]:
    """The ways of the tokens that one line with gaps holds."""
    corners = points_of(line)
    gaps = np.flatnonzero(np.isnan(corners[:, 0]))
    return [way[~np.isnan(way[:, 0])] for way in np.split(corners, gaps + 1)[:-1]]


@each_cloud
def test_the_way_of_every_token_leads_from_its_start_to_its_limit(name: str):
    lim = limit_of(name)
    starts, ends = places(lim, lim.run.at(0)), places(lim, lim.points)
    for label, line in enumerate(drawn(lim).ways):
        tokens = np.flatnonzero(lim.clusters.labels == label)
        drawn_ways = ways(line)
        assert_allclose([way[-1] for way in drawn_ways], ends[tokens], atol=1e-12)
        if lim.run.d > 1:
            assert_allclose([way[0] for way in drawn_ways], starts[tokens], atol=1e-12)


@each_cloud
def test_every_token_starts_in_the_colour_and_shape_of_its_cluster(name: str):
    picture, lim = drawn(limit_of(name)), limit_of(name)
    assert [len(offsets(starts)) for starts in picture.starts] == lim.clusters.sizes.tolist()
    for label, starts in enumerate(picture.starts):
        color, _ = look_of(label)
        assert to_hex(np.asarray(starts.get_facecolor())[0]) == color.lower()
        assert picture.ways[label].get_color() == color


@each_cloud
def test_stars_sit_where_leaders_end_and_projections_where_faces_are_nearest(name: str):
    lim = limit_of(name)
    picture = drawn(lim)
    projected = [label for label, kind in enumerate(lim.clusters.kinds) if str(kind).startswith("face")]

    def sorted_rows(rows: np.ndarray) -> list[list[float]]:
        return sorted(np.round(rows, 9).tolist())

    # In space marks are sorted by depth.
    assert sorted_rows(offsets(picture.leaders)) == sorted_rows(places(lim, lim.points[lim.leaders]))
    assert sorted_rows(offsets(picture.projections)) == sorted_rows(places(lim, lim.clusters.points[projected]))
    assert len(picture.faces) == len(projected)


def test_leaders_have_their_numbers():
    lim = limit_of("30 clusters")
    assert [label.get_text() for label in drawn(lim).labels] == [str(leader) for leader in lim.leaders]


def test_too_many_leaders_have_none():
    lim = limit(clouds.polygon(MOST_LABELS + 1), HALF)
    assert len(lim.leaders) == MOST_LABELS + 1
    assert drawn(lim).labels == []


def test_the_edge_of_a_projection_is_marked_from_leader_to_leader():
    lim = limit_of("non-leader clusters")
    for label, edge in zip((4, 5), drawn(lim).faces, strict=True):
        vertices = list(lim.kind[label].vertices)  # type: ignore[union-attr]
        assert_allclose(points_of(edge)[1::2], lim.points[vertices])
        assert_allclose(points_of(edge)[0::2], lim.points[[label, label]])


def test_zero_stays_in_the_middle_of_all_faces():
    lim = limit(clouds.square(inside=[(0, 0)]), HALF)
    assert offsets(drawn(lim).projections).tolist() == [[0, 0]]


def test_what_does_not_settle_is_shown_where_it_was_last():
    lim = limit([[1, 0], [-0.5, 0.8], [-0.5, -0.8]], ROUND, max_layers=20)
    picture = drawn(lim)
    assert picture.hull == []
    assert len(offsets(picture.leaders)) == 0
    assert offsets(picture.elsewhere).tolist() == lim.points.tolist()
    assert all(len(way) == 22 for line in picture.ways for way in ways(line))


@pytest.mark.parametrize("name", ["emerging leader", "1,000 tokens", "30 clusters"])
def test_the_hull_that_is_shaded_is_the_polytope_of_the_leaders(name: str):
    lim = limit_of(name)
    (hull,) = drawn(lim).hull
    assert isinstance(hull, Polygon)
    assert {tuple(corner) for corner in hull.get_xy()} == {tuple(place) for place in lim.polytope.vertices}


def test_of_very_many_tokens_some_are_drawn_and_the_title_says_how_many():
    lim = limit(clouds.gaussian(2 * MOST_TOKENS + 1, 2), HALF)
    (ax,) = limit_figure(lim).axes
    assert ax.get_title(loc="left").startswith("10,001 tokens (one in 3 drawn), settled")
    assert sum(len(offsets(starts)) for starts in drawn(lim).starts) == 3334


def test_forty_two_clusters_are_told_apart():
    assert len({look_of(number) for number in range(len(CYCLE) * len(SHAPES))}) == 42
    for number in range(100):
        (color, shape), (next_color, next_shape) = look_of(number), look_of(number + 1)
        assert color != next_color
        assert shape != next_shape


def test_tokens_on_a_line_fall_to_their_limits():
    picture = drawn(limit_of("in one dimension"))
    for line in picture.ways:
        for way in ways(line):
            assert (way[0, 1], way[-1, 1]) == (1, 0)


def test_of_many_dimensions_two_are_shown_and_the_title_says_so():
    lim = limit_of("in eight dimensions")
    (ax,) = limit_figure(lim).axes
    assert "first two principal coordinates of 8" in ax.get_title(loc="left")
    # The two coordinates spread the tokens more than any two of their own.
    shown = places(lim, lim.run.at(0)).var(axis=0)
    assert shown.sum() >= np.sort(lim.run.at(0).var(axis=0))[-2:].sum()


def test_the_title_says_when_it_settled():
    (ax,) = limit_figure(limit_of("emerging leader")).axes
    assert ax.get_title(loc="left") == "8 tokens, settled at layer 1"


def test_the_title_says_that_it_did_not_settle_and_how_far_off_the_limits_may_be():
    lim = limit([[1, 0], [-0.5, 0.8], [-0.5, -0.8]], ROUND, max_layers=3)
    (ax,) = limit_figure(lim).axes
    assert ax.get_title(loc="left").startswith("3 tokens, not settled at layer 3: limits within ")


def test_the_key_names_every_cluster_unless_there_are_too_many():
    def key(name: str) -> list[str]:
        legend = limit_figure(limit_of(name)).axes[0].get_legend()
        assert legend is not None
        return [text.get_text() for text in legend.get_texts()]

    assert key("non-leader clusters") == [
        "leader",
        "0 projected onto a face",
        *(f"vertex {vertex}: 2 tokens" for vertex in range(4)),
        "face 0, 3: 1 token",
        "face 1, 2: 1 token",
    ]
    assert len(limit_of("30 clusters").clusters) > MOST_CLUSTERS_IN_KEY
    assert key("30 clusters") == ["leader"]


@each_cloud
def test_a_file_is_written_for_every_cloud(name: str, tmp_path: Path):
    save_figure(limit_figure(limit_of(name)), tmp_path / "limit.png")
    assert (tmp_path / "limit.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
@pytest.mark.parametrize("name", some(["non-leader clusters", "in space"]))
def test_a_figure_is_the_same_file_twice(name: str, suffix: str, tmp_path: Path):
    for number in (1, 2):
        save_figure(limit_figure(limit_of(name)), tmp_path / f"{number}.{suffix}")
    assert (tmp_path / f"1.{suffix}").read_bytes() == (tmp_path / f"2.{suffix}").read_bytes()


def test_a_figure_of_unknown_suffix_is_not_written(tmp_path: Path):
    with pytest.raises(InputError, match=r"\.png, \.svg or \.pdf"):
        save_figure(limit_figure(limit_of("one token")), tmp_path / "limit.gif")
    assert list(tmp_path.iterdir()) == []


def test_axes_in_space_are_for_tokens_in_space():
    with pytest.raises(InputError, match="take plane axes"):
        draw_limit(limit_of("one token"), Figure().add_subplot(projection="3d"))
