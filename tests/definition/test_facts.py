"""Facts on which limits rest (docs/theory.md), tried on runs of the package over exact fractions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracle import apply, dot
from strategies import alphas, any_metrics, clouds, problems, tokens

import hardmax as hm
from hardmax.geometry import leader_cells

LAYERS = 5


def exact_layers(cloud, alpha, metric):
    run = hm.simulate(cloud, hm.Dynamics(alpha, metric=metric), layers=LAYERS, arithmetic="exact")
    return run, [run.exact_at(layer).tolist() for layer in range(LAYERS + 1)]


@given(clouds(max_d=3, max_n=8), alphas, st.data())
def test_a_leader_never_moves_and_leads_for_ever_whatever_the_metric(cloud, alpha, data):
    metric = data.draw(any_metrics(len(cloud[0])))
    run, layers = exact_layers(cloud, alpha, metric)
    for layer in range(LAYERS):
        for leader in run.leaders[run.leader_layers <= layer].tolist():
            assert layers[layer + 1][leader] == layers[layer][leader]
            attended = run.attended(layer + 1)[leader].tolist()
            assert all(layers[layer + 1][j] == layers[layer + 1][leader] for j in attended)


@given(clouds(max_d=3, max_n=8), alphas, st.data())
def test_the_hull_shrinks_and_what_is_attended_lies_on_its_boundary_whatever_the_metric(cloud, alpha, data):
    metric, y = data.draw(any_metrics(len(cloud[0]))), data.draw(tokens(len(cloud[0])))
    run, layers = exact_layers(cloud, alpha, metric)
    widths = [max(dot(y, token) for token in layer) for layer in layers]
    assert widths == sorted(widths, reverse=True)
    for token, attended in zip(layers[0], run.attended(0), strict=True):
        scores = [dot(apply(metric, token), other) for other in layers[0]]
        assert np.flatnonzero([score == max(scores) for score in scores]).tolist() == attended.tolist()


@given(problems(max_n=8))
def test_norms_grow_and_a_token_attends_to_none_that_is_shorter(problem):
    cloud, metric, alpha = problem
    run, layers = exact_layers(cloud, alpha, metric)
    squares = [[dot(apply(metric, token), token) for token in layer] for layer in layers]
    for layer in range(LAYERS):
        for i, (now, later) in enumerate(zip(squares[layer], squares[layer + 1], strict=True)):
            assert later > now or layers[layer + 1][i] == layers[layer][i]
            assert all(squares[layer][j] >= now for j in run.attended(layer)[i].tolist())


def test_without_ties_every_limit_is_a_vertex():
    limits = hm.limit(np.random.default_rng(0).standard_normal((200, 20, 2)), hm.Dynamics("1/2"))
    assert {type(kind).__name__ for lim in limits for kind in lim.kind} == {"Vertex"}


@given(st.tuples(*[st.integers(-60, 60)] * 2).filter(any))
def test_where_all_corners_lead_a_token_goes_to_the_corner_of_its_cell(place):
    token = np.array(place) / 64
    lim = hm.limit(hm.clouds.square(inside=[token.tolist()]), hm.Dynamics("1/2"))
    heights = lim.points[:4] @ token
    assert lim.points[4] @ token == max(heights)  # of two corners as far out, it goes between them
    cells = leader_cells(lim.points[:4], (-1.0, 1.0, -1.0, 1.0))
    assert sum(len(cell) > 2 for cell in cells) == 4
