"""Cells cover the rectangle without overlap, and in each of them the leader named wins."""

import numpy as np
import pytest
from geometry.shapes import float_metric, floats
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_metrics, clouds, spd_metrics

import hardmax as hm
from hardmax._validation import InputError
from hardmax.geometry.halfspaces import cell_of, leader_cells

RECTANGLE = (-2.0, 3.0, -1.0, 2.0)
leaders_and_metrics = st.tuples(clouds(min_d=2, max_d=2), st.one_of(spd_metrics(2), any_metrics(2)))


def area(polygon: np.ndarray) -> float:
    """The shoelace formula; positive where one goes round counterclockwise."""
    x, y = polygon.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


@given(leaders_and_metrics)
def test_cells_cover_the_rectangle_without_overlap(drawn):
    leaders, metric = drawn
    points, matrix = floats(leaders), float_metric(metric, 2)
    cells = leader_cells(points, RECTANGLE, metric)
    assert len(cells) == len(points)
    assert sum(map(area, cells)) == pytest.approx(15)
    # Areas that add up leave no room for overlaps if each cell lies where its leader wins.
    for leader, cell in zip(points, cells, strict=True):
        assert area(cell) >= 0
        scores = cell @ matrix.T @ points.T
        assert (cell @ matrix.T @ leader >= scores.max(axis=1, initial=-np.inf) - 1e-9).all()


@given(leaders_and_metrics)
def test_the_middle_of_a_cell_is_labelled_with_its_leader(drawn):
    leaders, metric = drawn
    points, matrix = floats(leaders), float_metric(metric, 2)
    for number, cell in enumerate(leader_cells(points, RECTANGLE, metric)):
        if area(cell) > 1e-6:
            label = cell_of(cell.mean(axis=0), points, metric)
            # Of leaders that tie along the whole cell, either may be named.
            np.testing.assert_allclose(points[label] @ matrix, points[number] @ matrix, atol=1e-9)


@given(clouds(min_d=2))
def test_labels_are_leaders_whose_score_is_largest(cloud):
    points = floats(cloud)
    labels = cell_of(points * 3, points)
    scores = points * 3 @ points.T
    np.testing.assert_allclose(scores[np.arange(len(points)), labels], scores.max(axis=1), atol=1e-9)


def test_settled_tokens_go_to_the_leader_of_their_cell():
    metric = [[3, 1, 0], [1, 2, 0], [0, 0, 1]]
    run = hm.simulate(hm.clouds.gaussian(200, 3, seed=1), hm.Dynamics(1, metric), layers=300)
    assert run.settled_at is not None
    tokens = run.at(run.settled_at)
    labels = cell_of(tokens, tokens[run.leaders], metric)
    assert [[leader] for leader in run.leaders[labels]] == [list(chosen) for chosen in run.attended(run.settled_at)]


def test_two_leaders_share_the_plane_by_the_line_between_their_directions():
    right, left = leader_cells([[1, 1], [-1, 1]], (-1, 1, -1, 1))
    assert right.tolist() == [[0, -1], [1, -1], [1, 1], [0, 1]]
    assert left.tolist() == [[-1, -1], [0, -1], [0, 1], [-1, 1]]


def test_one_leader_and_equal_leaders_have_the_whole_rectangle_once():
    whole, *others = leader_cells([[2, 1]] * 3, RECTANGLE)
    assert area(whole) == 15
    assert [len(cell) for cell in others] == [0, 0]


def test_a_leader_between_others_has_no_cell():
    cells = leader_cells([[1, 1], [1, -1], [1, 0], [-1, 0]], RECTANGLE)
    assert [len(cell) > 0 for cell in cells] == [True, True, False, True]


def test_a_rectangle_away_from_the_origin_may_lie_in_one_cell():
    cells = leader_cells([[1, 0], [-1, 1], [-1, -1]], (5, 6, -1, 1))
    assert [area(cell) if len(cell) else 0 for cell in cells] == [2, 0, 0]


def test_many_points_are_labelled_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    points, leaders = rng.normal(size=(100, 5)), rng.normal(size=(7, 5))
    whole = cell_of(points, leaders)
    monkeypatch.setattr("hardmax.geometry.halfspaces.CHUNK", 50)
    assert cell_of(points, leaders).tolist() == whole.tolist()
    assert cell_of(points[3], leaders) == whole[3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: leader_cells([[1, 2, 3]], RECTANGLE),
            "`leaders` must have 2 coordinates each to be drawn, not 3. `cell_of` labels points in any dimension.",
        ),
        (lambda: leader_cells([[1, 2]], (1, 0, 0, 1)), "`rectangle` must be (left, right, bottom, top)"),
        (lambda: leader_cells([[1, 2]], RECTANGLE, [[1]]), "`metric` must be 2 by 2"),
        (lambda: leader_cells([], RECTANGLE), "`leaders` is empty"),
        (lambda: cell_of([[1, 2]], [[1, 2, 3]]), "`points` must have 3 coordinates each, not 2."),
        (lambda: cell_of([[1, 2]], [[1, 2]], [[1]]), "`metric` must be 2 by 2"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError) as refusal:
        call()
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)
