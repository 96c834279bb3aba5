"""Floats before integers in layers other than the paper's: what they say is what integers say, also
in clouds so small that floats would not be asked."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from effort import THOROUGH
from hypothesis import given
from hypothesis import strategies as st
from layer_problems import draw, judge

import hardmax as hm
from hardmax._exact.general import AttentionHead
from hardmax._exact.power_sums import Course, PowerSum, Term
from hardmax._exact.vectors import exact_table
from hardmax._float import general
from hardmax._float.bounds import norms_above
from hardmax._float.general import FloatHead
from hardmax._float.tree import Askers, collect, rank, tree_of
from hardmax._layer.attended import AttendedIndices

G = Fraction(2, 3)


@pytest.fixture(autouse=True)
def small_clouds_are_for_floats(monkeypatch):
    monkeypatch.setattr(general, "FEW_SCORES", 0)


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
@pytest.mark.parametrize("number", range(1000, 2000 if THOROUGH else 1004))
def test_whatever_floats_say_of_any_layer_is_so(number):
    wrong, _ = judge(draw(number))
    assert not wrong


def layer(random, n, d):
    """One of every kind of layer that floats treat in another way."""
    some = (random.random((n, n)) < 0.5) | np.eye(n, dtype=bool)
    two_heads = [hm.Head(), hm.Head(np.eye(d) + 1, 2)]
    first_axis = np.diag([1.0] + [0.0] * (d - 1))
    kinds = {"causal": {"mask": "causal"}, "mask": {"mask": some}}
    kinds["heads"] = {"heads": two_heads, "mask": "causal"}
    kinds["topk"] = {"attention": hm.TopK(3)}
    kinds["causal localmax"] = {"attention": hm.Localmax("1/2"), "mask": "causal"}
    kinds["projection"] = {"value": first_axis}
    kinds["steps"] = {"alpha": ["1", "1/3", "1/2"]}
    return {name: hm.Dynamics(**{"alpha": "1/2"} | parts) for name, parts in kinds.items()}


def certified_and_exact(cloud, dynamics, layers):
    """A run with floats and one without, whose sets are the same."""
    run = hm.simulate(cloud, dynamics, layers=layers)
    exact = hm.simulate(cloud, dynamics, layers=layers, arithmetic="exact")
    for layer in range(layers + 1):
        assert run.attended(layer).tolist() == exact.attended(layer).tolist()
    return run, exact


@pytest.mark.parametrize("spread", ["normal", "lattice", "far", "large", "tiny"])
def test_runs_are_those_of_integers(spread):
    random = np.random.default_rng(0)
    n, d = 70, 2
    cloud = random.normal(size=(n, d))
    if spread == "lattice":
        cloud = random.integers(-3, 4, (n, d)).astype(float)
    elif spread == "far":
        cloud += 100
    elif spread != "normal":
        cloud *= {"large": 1e200, "tiny": 1e-200}[spread]
    for name, dynamics in layer(random, n, d).items():
        if spread in ("large", "tiny") and "localmax" in name:
            continue  # a slack of 1/2 means nothing there
        run, exact = certified_and_exact(cloud, dynamics, 4)
        assert run.settled_at == exact.settled_at, name
        assert (run.at(4, exact=True) == exact.at(4, exact=True)).all()
        assert run.leader_layers.tolist() == exact.leader_layers.tolist()
        margins = [it.margins.min() for it in (run, exact)]
        assert 0 <= margins[0] <= margins[1] * (1 + 1e-9), name


def test_who_follows_a_leader_may_leave_it_with_a_mask():
    cloud = [[1, 0], [5, -20], ["1/2", "1/4"]]
    lim = hm.limit(cloud, hm.Dynamics("1/2", mask="causal"))
    assert lim.run.attended(0).tolist() == [[0], [1], [0]]
    assert lim.settled_at
    assert lim.run.attended(lim.settled_at).tolist() == [[0], [1], [1]]


def test_ties_that_floats_would_break_are_kept():
    """A lattice turned by a rational rotation, and divided by 7: ties everywhere, all rounded."""
    side = range(-3, 4)
    cloud = []
    for x, y in product(side, side):
        cloud.append([Fraction(3 * x - 4 * y, 35), Fraction(4 * x + 3 * y, 35)])
    for dynamics in layer(np.random.default_rng(1), len(cloud), 2).values():
        certified_and_exact(cloud, dynamics, 2)


def test_blocks_on_a_sphere_are_small_and_all_of_a_size():
    points = np.random.default_rng(0).standard_normal((8000, 3))
    points /= norms_above(points)[:, None]
    blocks = tree_of(points).blocks
    is_smallest = blocks.skip == np.arange(1, len(blocks.skip) + 1)
    # A cap that is a thousandth of the sphere has a radius of 0.063.
    assert np.count_nonzero(is_smallest) == 1000
    assert blocks.reach[is_smallest].max() < 3 * 0.063


numbers = st.integers(-3, 3)


@given(st.data(), st.integers(1, 40), st.integers(1, 3), st.integers(1, 4))
def test_candidates_are_all_who_count_and_certain_ones_are_those_alone(data, n, d, k):
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    size = data.draw(st.sampled_from([1, 3, 1000]))
    points = random.integers(-size, size + 1, (n, d)).astype(float)
    counts, rows = random.integers(1, 3, n), np.arange(n)
    since = random.permutation(n) * data.draw(st.integers(0, 1))
    table = random.random((n, n)) < 0.7 if data.draw(st.booleans()) else None
    slack = data.draw(st.sampled_from([0.0, 0.0, 2.0]))
    k = 1 if slack else k
    allowed = since[None, :] <= rows[:, None]
    if table is not None:
        allowed &= table
    norms = norms_above(points)
    askers = Askers(rows, points, norms, 1e-15 * norms)
    tree = tree_of(points, counts, since, table)
    least = np.maximum(rank(askers, tree, k).least, -1e9) - slack  # -inf where there are too few
    choices, found = collect(askers, tree, least, k, slack)
    scores, leads = points @ points.T, [np.inf]  # whole numbers: nothing is rounded
    for i in range(n):
        able = np.flatnonzero(allowed[i])
        ranked = sorted((-scores[i, j], counts[j]) for j in able)
        totals = np.cumsum([count for _, count in ranked])
        if len(able) == 0 or (not slack and totals[-1] < k):
            truth = able.tolist()
        else:
            place = int(np.searchsorted(totals, k))
            last = -ranked[place][0] - slack
            truth = [j for j in able.tolist() if scores[i, j] >= last]
        said = {*choices[i].tolist()}
        assert {*truth} <= said <= {*able.tolist()}
        if len(able) and found.certain[i]:
            assert choices[i].tolist() == truth
        left = [scores[i, j] for j in able if j not in choices[i]]
        leads.append(least[i] - max(left, default=-np.inf))
    # Of the leads over those who are no candidates the smallest is known.
    assert (least - found.beyond).min() <= min(leads)


@given(st.data(), st.integers(2, 5), st.integers(1, 3), st.booleans())
def test_leads_that_are_said_to_stay_negative_do(data, n, d, is_causal):
    """All leads of straight ways, one by one."""

    def cloud():
        rows = st.lists(numbers, min_size=d, max_size=d)
        table = data.draw(st.lists(rows, min_size=n, max_size=n))
        return np.array(table, dtype=float)

    here, ends = cloud(), cloud()
    ends[data.draw(st.integers(0, n - 1))] = ends[0]
    course = Course([PowerSum({Term(0): exact_table(x)}) for x in (here, ends)], G)
    points = hm.simulate(here, hm.Dynamics("1/2", mask="causal"), layers=0).points
    mask = "causal" if is_causal else np.ones((n, n), dtype=bool)
    dynamics = hm.Dynamics("1/2", mask=mask)
    head, exact = FloatHead(points, dynamics, G), AttentionHead(points, dynamics, G)
    sets = AttendedIndices.of_sets(exact.attended(course.corners[0], range(n)).sets)
    change = head.first_change(course, sets, range(n))
    assert change == exact.first_change(course, sets, range(n))
