"""Statements of docs/theory.md, tried on runs of the package over exact fractions."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import oracle
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from known import SQUARE, rational
from oracle import apply, dot
from strategies import (
    Problem,
    added,
    alphas,
    any_metric_problems,
    any_metrics,
    clouds,
    problems,
    scaled,
    subtracted,
    tokens,
)

import hardmax as hm

LAYERS = 5
any_problems = st.one_of(problems(max_n=8), any_metric_problems(max_n=8))
TIES: Problem = (SQUARE + rational("1/2 0, 3/10 1/10"), None, Fraction(1, 2))


def exact_layers(cloud, alpha, metric):
    dynamics = hm.Dynamics(alpha, metric=metric)
    run = hm.simulate(cloud, dynamics, layers=LAYERS, arithmetic="exact")
    return run, [run.at(layer, exact=True).tolist() for layer in range(LAYERS + 1)]


@given(any_problems)
def test_attended_sets_and_one_layer_are_those_of_the_definition(problem):
    cloud, metric, alpha = problem
    dynamics = hm.Dynamics(alpha, metric)
    sets = [set(chosen.tolist()) for chosen in hm.attended(cloud, dynamics)]
    assert sets == oracle.attended_sets(cloud, metric)
    assert hm.step(cloud, dynamics).tolist() == oracle.step(cloud, alpha, metric)


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
@given(any_problems)
def test_leaders_are_the_tokens_that_once_attend_to_themselves_alone(arithmetic, problem):
    cloud, metric, alpha = problem
    dynamics = hm.Dynamics(alpha, metric)
    run = hm.simulate(cloud, dynamics, layers=LAYERS, arithmetic=arithmetic)
    since = dict(zip(run.leaders.tolist(), run.leader_layers.tolist(), strict=True))
    assert since == oracle.leaders(cloud, alpha, metric, layers=LAYERS)


@given(problems())
def test_the_longest_tokens_lead_at_once(problem):
    # Their score with every other token is less than with themselves (Cauchy-Schwarz).
    cloud, metric, alpha = problem
    run = hm.simulate(cloud, hm.Dynamics(alpha, metric), layers=0)
    squares = [dot(apply(metric, token), token) for token in cloud]
    longest = {i for i, square in enumerate(squares) if square == max(squares)}
    assert longest <= set(run.leaders[run.leader_layers == 0].tolist())


@given(any_problems)
def test_a_leader_is_at_its_limit_from_the_layer_on_that_is_given(problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), max_layers=40)
    settled = lim.settled_at
    assume(settled is not None)
    path = oracle.run(cloud, alpha, metric, layers=settled + 2)
    limits = lim.exact_limit_points()
    for leader, since in zip(lim.leaders.tolist(), lim.run.leader_layers.tolist(), strict=True):
        places = {tuple(layer[leader]) for layer in path[since:]}
        assert places == {tuple(limits[leader])}


@given(problems(max_n=6), alphas)
def test_distinct_tokens_never_meet(problem, alpha):
    # Let z, y move towards w, v. Since w is best for z and v for y, <A(z - y), w - v> >= 0. If they
    # met, z - y would be -alpha (w - v), so |w - v|_A² <= 0: then w = v, and z = y.
    cloud, metric, _ = problem
    _, layers = exact_layers(cloud, alpha, metric)
    first, last = layers[0], layers[-1]
    for i, j in combinations(range(len(cloud)), 2):
        assert (first[i] == first[j]) == (last[i] == last[j])


@given(any_problems)
def test_once_every_token_follows_one_leader_all_go_straight_to_them_for_ever(problem):
    # The settling lemma. Equal tokens are one.
    cloud, metric, alpha = problem
    cloud = [list(token) for token in dict.fromkeys(map(tuple, cloud))]
    walk = list(oracle.walk(cloud, alpha, metric, LAYERS + 3))
    follow = [all(len(c) == 1 and sets[min(c)] == c for c in sets) for _, sets in walk]
    assume(any(follow[:LAYERS]))
    first, keep = follow.index(True), 1 / (1 + alpha)
    here, sets = walk[first]
    goals = [here[min(c)] for c in sets]
    ways = [subtracted(z, goal) for z, goal in zip(here, goals, strict=True)]
    for more, layer in enumerate(walk[first:]):
        pairs = zip(goals, ways, strict=True)
        moved = [added(goal, scaled(keep**more, way)) for goal, way in pairs]
        assert layer == (moved, sets)
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric))
    assert lim.settled_at in range(first + 1)
    assert lim.exact_limit_points().tolist() == goals


some_clouds = clouds(max_d=3, max_n=8)


@given(some_clouds, alphas, st.data())
def test_a_leader_never_moves_and_leads_for_ever_whatever_the_metric(cloud, alpha, data):
    metric = data.draw(any_metrics(len(cloud[0])))
    run, layers = exact_layers(cloud, alpha, metric)
    for layer in range(LAYERS):
        now, later = layers[layer], layers[layer + 1]
        for leader in run.leaders[run.leader_layers <= layer].tolist():
            assert later[leader] == now[leader]
            attended = run.attended(layer + 1)[leader].tolist()
            assert all(later[j] == later[leader] for j in attended)


@given(some_clouds, alphas, st.data())
def test_the_hull_shrinks_and_what_is_attended_lies_on_its_boundary_whatever_the_metric(
    cloud, alpha, data
):
    d = len(cloud[0])
    metric, y = data.draw(any_metrics(d)), data.draw(tokens(d))
    run, layers = exact_layers(cloud, alpha, metric)
    widths = [max(dot(y, token) for token in layer) for layer in layers]
    assert widths == sorted(widths, reverse=True)
    for token, attended in zip(layers[0], run.attended(0), strict=True):
        scores = [dot(apply(metric, token), other) for other in layers[0]]
        furthest = [j for j, score in enumerate(scores) if score == max(scores)]
        assert furthest == attended.tolist()


@given(problems(max_n=8))
def test_norms_grow_and_a_token_attends_to_none_that_is_shorter(problem):
    cloud, metric, alpha = problem
    run, layers = exact_layers(cloud, alpha, metric)
    squares = []
    for layer in layers:
        squares.append([dot(apply(metric, token), token) for token in layer])
    for layer in range(LAYERS):
        for i, now in enumerate(squares[layer]):
            moved = layers[layer + 1][i] != layers[layer][i]
            assert squares[layer + 1][i] > now or not moved
            attended = run.attended(layer)[i].tolist()
            assert all(squares[layer][j] >= now for j in attended)


def test_clouds_in_general_position_end_in_vertices():
    clouds: list[np.ndarray] = list(np.random.default_rng(0).standard_normal((200, 20, 2)))
    for lim in hm.limits(clouds, hm.Dynamics("1/2")):
        assert {type(kind).__name__ for kind in lim.clusters.kinds} == {"Vertex"}


@example(TIES)
@given(any_problems)
def test_a_limit_off_the_vertices_needs_a_tie(problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric), max_layers=40)
    settled = lim.settled_at
    assume(settled is not None)
    limits = [tuple(point) for point in lim.exact_limit_points().tolist()]
    if set(limits) != {limits[leader] for leader in lim.leaders.tolist()}:
        places = []
        for layer, sets in oracle.walk(cloud, alpha, metric, settled):
            places += [{tuple(layer[j]) for j in chosen} for chosen in sets]
        assert max(map(len, places)) > 1


@given(problems(min_d=2, max_d=3, max_n=8), st.data())
def test_where_all_vertices_lead_a_token_goes_to_the_leader_of_its_cell(problem, data):
    cloud, metric, alpha = problem
    places = {tuple(cloud[leader]) for leader in oracle.leaders(cloud, alpha, metric)}
    leaders = sorted(map(list, places))
    count = len(leaders)
    shares = st.lists(st.integers(0, 3), min_size=count, max_size=count).filter(any)
    inside = []
    for weights in data.draw(st.lists(shares, min_size=1, max_size=4)):
        parts = zip(weights, leaders, strict=True)
        rows = [scaled(Fraction(w, sum(weights)), z) for w, z in parts]
        inside.append([sum(column) for column in zip(*rows, strict=True)])
    lim = hm.limit(leaders + inside, hm.Dynamics(alpha, metric))
    limits = lim.exact_limit_points()[count:].tolist()
    for token, limit in zip(inside, limits, strict=True):
        scores = [dot(apply(metric, token), leader) for leader in leaders]
        furthest = [i for i, score in enumerate(scores) if score == max(scores)]
        # On the border of cells it may go elsewhere.
        assert len(furthest) > 1 or limit == leaders[furthest[0]]


def test_on_the_border_of_two_cells_a_token_may_go_to_neither_leader():
    square = hm.clouds.square(inside=[(0.5, 0.0)])
    lim = hm.limit(square, hm.Dynamics("1/2"))
    assert lim.limit_points[4].tolist() == [1.0, 0.0]


def test_softmax_loses_a_tie_the_later_the_colder_it_is():
    cloud, betas = hm.clouds.nonleader_clusters(), [10**2, 10**4, 10**6, 10**8]
    hard = np.asarray(hm.simulate(cloud, hm.Dynamics("1/2"), layers=60))
    lost = []
    for beta in betas:
        dynamics = hm.Dynamics("1/2", attention=hm.Softmax(beta))
        soft = np.asarray(hm.simulate(cloud, dynamics, layers=60))
        apart = np.abs(soft - hard).max(axis=(1, 2))
        assert apart.max() > 0.99
        lost.append(int((apart > 0.5).argmax()))
    # A follower counts in the tie once it is within 1 / beta of its leader.
    expected = np.log(betas) / np.log(1.5)
    assert np.allclose(np.diff(lost), np.diff(expected), atol=3)
    assert (lost <= expected).all()
