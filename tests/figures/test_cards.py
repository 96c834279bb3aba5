"""What objects show of themselves in a notebook is what they are: places, leaders, numbers, and nothing unescaped."""

import re
import time
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.testing import assert_allclose

import hardmax as hm
from hardmax import clouds
from hardmax.figures.asked import LimitLike, RunLike, has
from hardmax.figures.cards import MOST_CLOUDS, runs_card
from hardmax.figures.flat import plane_axes
from hardmax.figures.markup import LONGEST_CELL, html_card, html_table
from hardmax.figures.sketches import sketch_limit, sketch_run
from hardmax.figures.svg import MARGIN, sketch_svg

HALF = hm.Dynamics("1/2")
ROUND = hm.Dynamics("1/2", [[0, -1], [1, 0]])
LARGEST = 30_000  # letters
CLOUDS: dict[str, Any] = {
    "one token": [[3.0, 4.0]],
    "zero": [[0.0, 0.0]],
    "repeated": [[1.0, 2.0], [1.0, 2.0], [-1.0, 0.0]],
    "on a line": [[3], [1], ["1/7"], ["-1/4"], [-2]],
    "one on a line": [[5.0]],
    "emerging leader": clouds.emerging_leader(),
    "square": clouds.square(),
    "in space": clouds.gaussian(50, 3),
    "in five dimensions": clouds.gaussian(100, 5),
    "two in five dimensions": clouds.gaussian(2, 5),
    "huge": clouds.gaussian(20, 2) * 1e300,
    "tiny": clouds.gaussian(20, 3) * 1e-300,
    "far away": clouds.gaussian(20, 2) + 1e6,
    "all lead": clouds.polygon(300),
    "many": clouds.gaussian(3000, 2),
}
each_cloud = pytest.mark.parametrize("name", CLOUDS)


def run_of(name: str) -> hm.Trajectory:
    return hm.simulate(CLOUDS[name], HALF, layers=6)


def parsed(html: str) -> ElementTree.Element:
    """The card as a tree: a notebook that is given half an element shows the rest of its page inside it."""
    return ElementTree.fromstring(html)


def starts_of_paths(html: str, name: str) -> np.ndarray:
    """Where the pen is set down in the paths of a class, (m, 2)."""
    paths = [path.get("d", "") for path in parsed(html).iter() if path.get("class") == name]
    pairs = [re.match(r"(-?[\d.]+) (-?[\d.]+)", part) for path in paths for part in path.split("M")[1:]]
    return np.array([[float(x) for x in pair.groups()] for pair in pairs if pair]).reshape(-1, 2)


def sorted_rows(rows: np.ndarray) -> np.ndarray:
    return rows[np.lexsort(rows.T[::-1])]


@each_cloud
def test_cards_are_small_whole_and_full_of_numbers(name: str):
    for thing in (run_of(name), hm.limit(CLOUDS[name], HALF)):
        html = thing._repr_html_()
        assert len(html) < LARGEST
        assert parsed(html).tag == "div"
        assert not re.search(r"\b(nan|inf|None)\b", html)
        assert repr(thing).partition("(")[0] in html


@pytest.mark.parametrize("name", ["emerging leader", "square", "repeated", "far away", "in five dimensions"])
def test_dots_and_stars_are_where_the_tokens_are(name: str):
    run = run_of(name)
    html = run._repr_html_()
    drawn = np.concatenate([starts_of_paths(html, "ends"), starts_of_paths(html, "leaders")])
    followers = np.setdiff1d(np.arange(run.n), run.leaders)
    places = run.at(run.layers)[np.concatenate([followers, run.leaders])] @ plane_axes(run.at(0))
    starts = run.at(0) @ plane_axes(run.at(0))
    # A picture may be moved and scaled, and y points down: what is left are the proportions.
    scale = np.ptp(starts_of_paths(html, "starts"), axis=0).max() / np.ptp(starts, axis=0).max()
    moved = places * [scale, -scale]
    drawn, moved = sorted_rows(drawn), sorted_rows(np.round(moved + drawn.min(axis=0) - moved.min(axis=0), 1))
    assert_allclose(drawn, moved, atol=0.25)
    assert len(starts_of_paths(html, "leaders")) == len(run.leaders)


def test_a_limit_ends_in_its_points_and_its_polytope_is_shaded():
    lim = hm.limit(4 * np.array(clouds.square(), dtype=float), HALF)
    sketch = sketch_limit(lim, 100).sketch
    assert_allclose(4 * sketch.path[-1], lim.points)
    assert_allclose(4 * sorted_rows(sketch.hull), sorted_rows(lim.polytope.vertices))
    assert len(starts_of_paths(lim._repr_html_(), "hull")) == 1
    assert sketch.groups.tolist() == lim.clusters.labels.tolist()


def test_ways_bend_where_tokens_do():
    run = hm.simulate(clouds.emerging_leader(), HALF, layers=20)
    path = sketch_run(run, 100).sketch.path * np.abs(run.at(0)).max()
    assert_allclose(path, np.stack([run.at(layer) for layer in (*run.decided_at, 20)]))


def test_tokens_of_one_colour_follow_one_leader():
    run = run_of("in five dimensions")
    groups = sketch_run(run, 100).sketch.groups
    goals = [chosen.tolist() for chosen in run.attended(run.layers)]
    same = {(goals[a] == goals[b], groups[a] == groups[b]) for a in range(run.n) for b in range(run.n)}
    assert same == {(True, True), (False, False)}


def test_on_a_line_time_runs_downwards():
    svg = sketch_svg(sketch_run(run_of("on a line"), 100).sketch, "", width=260, height=90)
    assert set(starts_of_paths(svg, "starts")[:, 1]) == {MARGIN}
    assert set(starts_of_paths(svg, "leaders")[:, 1]) == {90 - MARGIN}


def test_a_million_tokens_are_sampled_soon_and_it_is_told():
    run = hm.simulate(clouds.gaussian(1_000_000, 2), HALF, layers=2)
    begun = time.perf_counter()
    html = run._repr_html_()
    assert time.perf_counter() - begun < 5  # a tenth of a second where nothing else runs
    assert len(html) < LARGEST
    assert re.search(r"\b1\d\d of 1,000,000 tokens drawn", html)
    assert len(starts_of_paths(html, "leaders")) == len(run.leaders)


def test_a_batch_shows_its_first_clouds_and_how_many_settled():
    many = [clouds.gaussian(5 + n, 2, seed=n) for n in range(MOST_CLOUDS + 2)]
    for batch in (hm.simulate(many, HALF, layers=9), hm.limit(many, HALF)):
        html = batch._repr_html_()
        assert html.count("<svg") == MOST_CLOUDS
        assert f"the first {MOST_CLOUDS} of {len(many)} clouds" in html
        assert f"{len(many)} clouds, {len(many)} settled" in html
        assert len(html) < 2 * LARGEST
    assert "cloud 1" not in hm.limit(many[:1], HALF)._repr_html_()


def test_an_empty_batch_has_a_card():
    assert parsed(runs_card([])).tag == "div"
    assert "<svg" not in runs_card([])


def test_where_nobody_leads_nothing_is_shaded():
    html = hm.limit([[1, 0], [-0.5, 0.8], [-0.5, -0.8]], ROUND, max_layers=3)._repr_html_()
    assert "not settled" in html
    assert 'class="hull"' not in html
    assert 'class="leaders"' not in html


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x>', "&amp;\x1b[31m\u202e", "</div>"])
def test_nothing_is_left_unescaped(hostile: str):
    sketch = sketch_run(run_of("square"), 100).sketch
    for html in (html_card(f"{hostile}({hostile})"), html_table([[hostile]]), sketch_svg(sketch, hostile)):
        assert not re.search(r"<(script|img)|[\x1b\u202e]", html)
        parsed(html)
    (told,) = parsed(f"<div>{sketch_svg(sketch, hostile)}</div>")
    assert (told.get("aria-label") or "").isprintable()


def test_long_cells_are_cut():
    (cell,) = parsed(html_table([["9" * 500]])).iter("td")
    assert len(cell.text or "") == LONGEST_CELL


def test_whoever_has_what_is_asked_can_be_drawn_and_nothing_is_computed_to_see_it():
    class Lazy:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} was asked for")

    asked = [name for name in vars(RunLike) if not name.startswith("_")]
    fails = property(lambda self: pytest.fail("it was computed"))
    foreign = type("Foreign", (), dict.fromkeys(asked, fails))
    assert has(foreign(), RunLike)
    assert not has(foreign, RunLike)
    assert not has(Lazy(), RunLike)
    run, lim = run_of("square"), hm.limit(CLOUDS["square"], HALF)
    assert has(run, RunLike)
    assert has(lim, LimitLike)
    assert not has(lim, RunLike)
    assert not has(run, LimitLike)
    assert has(replace(run, settled_at=None), RunLike)
