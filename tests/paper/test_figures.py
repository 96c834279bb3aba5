"""The paper's Figures 1 to 5: what they show is so."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from PIL import Image
from strategies import clouds as tie_clouds

from hardmax import Dynamics, limit
from hardmax._clusters import OtherLimit
from hardmax.clouds import emerging_leader, nonleader_clusters
from hardmax.paper.figures import fig1, fig2, fig3, fig4, fig5
from hardmax.paper.figures.attracting import PENTAGON, attracting_set, distances_to
from hardmax.paper.piece import Setting

SETTING = Setting()


def test_figure_1_is_as_the_paper_says():
    plain, turned = fig1.compute(SETTING)["panels"]
    assert (plain["attended"], turned["attended"]) == ([1, 2], [3])
    for panel in (plain, turned):
        assert set(panel["attended"]) <= set(panel["in_half_space"])


def test_rows_2_and_4_of_figure_2_have_the_coordinates_of_the_paper():
    rows = {row["name"]: row["tokens"] for row in fig2.compute(SETTING)["rows"]}
    paper = "1 1/3  -1/12 1/12  -1 -1  0 1/4  -3/10 -7/10  -3/5 -9/10  4/5 1/10  3/5 3/20"
    assert rows["emerging leader"] == [token.split() for token in paper.split("  ")]
    assert {tuple(map(Fraction, token)) for token in rows["non-leader clusters"]} >= {
        *((x, y) for x in (1, -1) for y in (1, -1)),
        (Fraction(1, 2), 0),
        (Fraction(-1, 2), 0),
    }
    assert len(rows["non-leader clusters"]) == len(nonleader_clusters()) == 10
    assert len(rows["emerging leader"]) == len(emerging_leader()) == 8


def test_the_second_row_has_a_leader_that_emerges_and_the_fourth_two_clusters_without():
    rows = {row["name"]: row for row in fig2.compute(SETTING)["rows"]}
    assert dict(zip(rows["emerging leader"]["leaders"], rows["emerging leader"]["leader_since"], strict=True))[1] == 1
    assert rows["non-leader clusters"]["limits_that_are_no_vertex"] == [[1.0, 0.0], [-1.0, 0.0]]


def test_the_film_shows_layers_and_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fig2, "FRAMES", (0, 1, 30))
    path = tmp_path / "fig2.gif"
    fig2.animate(json.loads(json.dumps(fig2.compute(SETTING))), path)
    with Image.open(path) as film:
        assert getattr(film, "n_frames", 1) == 3
        width, height = film.size
    assert width > 3 * height  # four clouds side by side
    assert path.stat().st_size < 3_000_000


def test_the_networks_of_figure_3_differ_by_what_the_paper_says():
    deep, full, pure = ({part["block"] for part in network["layer"]} for network in fig3.compute(SETTING)["networks"])
    assert deep == {fig3.FEED_FORWARD, fig3.NORMALISATION}
    assert pure == {fig3.ATTENTION, fig3.NORMALISATION}
    assert full == deep | pure


@settings(deadline=None, max_examples=40)
@given(tie_clouds(max_d=3))
def test_every_limit_lies_in_the_attracting_set(cloud: list):
    lim = limit(cloud, Dynamics("1/2"), max_layers=60)
    if lim.settled_at is None or not lim.theorem_applies:
        return
    assert not any(isinstance(kind, OtherLimit) for kind in lim.clusters.kinds)
    points = {attractor.point for attractor in attracting_set(lim)}
    assert {tuple(place) for place in lim.exact_points.tolist()} <= points


@pytest.mark.parametrize("metric", [None, [[2, 1], [1, 1]]], ids=["identity", "other"])
def test_whoever_sits_in_the_attracting_set_attends_to_nobody_further_out(metric: list | None):
    lim = limit(PENTAGON, Dynamics("1/2", metric))
    matrix = np.eye(2) if metric is None else np.array(metric)
    leaders = lim.float_points[lim.leaders]
    for attractor in attracting_set(lim):
        here = np.array(attractor.point, dtype=float)
        assert ((leaders - here) @ (matrix @ here) <= 1e-12).all()


def test_in_the_plane_every_edge_of_the_pentagon_has_one_point_of_the_attracting_set():
    found = attracting_set(limit(PENTAGON, Dynamics("1/2")))
    assert [len(attractor.leaders) for attractor in found] == [1] * 5 + [2] * 5


def test_from_the_layer_of_figure_4_on_all_tokens_are_in_the_neighbourhood():
    numbers = fig4.compute(SETTING)
    lim = limit(PENTAGON, Dynamics(numbers["alpha"]))
    attractors, delta, since = attracting_set(lim), float(numbers["delta"]), numbers["all_inside_from"]
    away = [distances_to(attractors, lim.run.floats_at(layer)).max() for layer in range(40)]
    assert away[since - 1] >= delta
    assert max(away[since:]) < delta


def test_the_line_of_figure_5_parts_the_vertex_from_all_other_neighbourhoods():
    numbers = fig5.compute(SETTING)
    points, token = np.array(numbers["points"]), np.array(numbers["path"])[-1, numbers["token"]]
    vertex, delta = points[numbers["vertex"]], numbers["delta"]
    turns = np.linspace(0, 2 * np.pi, 200)
    rim = delta * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    others = np.delete(points, numbers["vertex"], axis=0)
    assert np.linalg.norm(token - vertex) < delta
    assert token @ (vertex - token) > 0
    assert ((others[:, None] + rim - token) @ token < 0).all()


def test_no_larger_radius_parts_in_figure_5():
    vertex, others = np.array([2.0, 1.0]), np.array([[2.0, 0.0], [-1.0, 1.0]])
    radius = fig5.largest_radius(vertex, others)
    rng = np.random.default_rng(0)

    def parts(delta: float) -> bool:
        away = rng.standard_normal((4000, 2))
        x = vertex + delta * away / np.linalg.norm(away, axis=1, keepdims=True)
        return bool(((x @ others.T).max(axis=1) + delta * np.linalg.norm(x, axis=1) < (x**2).sum(axis=1)).all())

    assert parts(0.999 * radius)
    assert not parts(1.01 * radius)
