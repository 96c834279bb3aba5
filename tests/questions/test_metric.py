"""`find_metric`: what it finds fulfils the wishes, and what it proves impossible adds up to 0."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax._layer.metric import not_a_metric
from hardmax._questions import simplex
from hardmax._questions.simplex import LinearProgram

THIN = [
    [-1.243094383582372, 1.0263853347122083, 0.1381102556358027],
    [-1.1883441872405858, 0.027809436212354276, -1.2637083440500256],
    [-3.2684241649619628, 1.2463808025021532, 1.2092349502055852],
    [-1.4486209974577906, -0.6885876783131618, 0.2390872682054244],
    [-0.35289754064268364, -0.8268987604066403, -0.4838292141309663],
]
KINDS = st.sampled_from(["any", "symmetric", "definite"])


@st.composite
def wishes(draw):
    """A cloud, leaders and followers: any, so some cannot be."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    numbers = st.builds(Fraction, st.integers(-4, 4), st.sampled_from([1, 1, 3]))
    rows = st.lists(numbers, min_size=d, max_size=d)
    cloud = draw(st.lists(rows, min_size=n, max_size=n))
    index = st.integers(0, n - 1)
    leaders = draw(st.lists(index, max_size=3))
    followers = draw(st.dictionaries(index, index, min_size=not leaders, max_size=2))
    return np.array(cloud, dtype=object), leaders, followers


def assert_fulfilled(found, cloud, wanted):
    """Whoever was wished for leads or follows, alone, at layer 0 and later."""
    run = hm.simulate(cloud, hm.Dynamics(1, found.metric), layers=4)
    for token, leader in wanted:
        for layer in range(4):
            assert (run.at(0, exact=True)[run.attended(layer)[token]] == cloud[leader]).all()


def assert_proved(found, cloud, wanted, kind):
    """Weighed leads that were wished for add up to 0, in fractions."""
    cloud = [[Fraction(x) for x in row] for row in cloud.tolist()]
    d = len(cloud[0])
    total = [[Fraction(0)] * d for _ in range(d)]
    for weight, token, attended, other in found.proof:
        assert weight > 0
        assert cloud[attended] != cloud[other]
        assert any(
            (cloud[token], cloud[attended]) == (cloud[i], cloud[leader]) for i, leader in wanted
        )
        for r, c in product(range(d), repeat=2):
            total[r][c] += weight * (cloud[attended][r] - cloud[other][r]) * cloud[token][c]
    for weight, vector in found.squares:
        assert weight > 0
        assert kind == "definite"
        for r, c in product(range(d), repeat=2):
            total[r][c] += weight * vector[r] * vector[c]
    turned = kind != "any"
    assert found.proof
    assert not any(total[r][c] + turned * total[c][r] for r, c in product(range(d), repeat=2))


def assert_true(found, cloud, wanted, kind):
    """The metric does what was wished for and is of its kind, or the proof is one."""
    if found:
        metric = np.asarray(found.metric)
        assert kind == "any" or (metric == metric.T).all()
        assert kind != "definite" or not not_a_metric(metric)
        assert abs(metric).max() <= 1
        assert_fulfilled(found, cloud, wanted)
    elif found.decided:
        assert_proved(found, cloud, wanted, kind)
    else:
        assert kind == "definite"


@given(wishes(), KINDS)
def test_a_metric_fulfils_the_wishes_or_the_weighed_leads_add_up_to_zero(wished, kind):
    cloud, leaders, followers = wished
    found = hm.find_metric(cloud, leaders=leaders, followers=followers, kind=kind)
    pairs = {leader: leader for leader in (*leaders, *followers.values())}
    assert_true(found, cloud, [*pairs.items(), *followers.items()], kind)


def wish(rng, kind):
    """A cloud, and whom some of its tokens follow with a metric of this kind, or at random."""
    n, d = int(rng.integers(3, 13)), int(rng.integers(1, 6))
    cloud = rng.integers(-9, 10, (n, d)) if rng.random() < 0.5 else rng.standard_normal((n, d))
    if rng.random() < 0.5:
        leaders = rng.choice(n, 2, replace=False).tolist()
        others = [i for i in range(n) if i not in leaders]
        followers = {int(i): leaders[int(rng.integers(2))] for i in rng.choice(others, 1)}
        return cloud, followers, leaders
    root = rng.integers(-3, 4, (d, d))
    planted = {
        "any": root,
        "symmetric": root + root.T,
        "definite": root.T @ root + np.eye(d, dtype=int),
    }
    attended = hm.attended(cloud, hm.Dynamics(1, planted[kind]))
    alone = {i: int(one[0]) for i, one in enumerate(attended) if len(one) == 1}
    return cloud, {i: leader for i, leader in alone.items() if alone.get(leader) == leader}, []


def test_every_wish_is_fulfilled_or_proved_impossible():
    """Planted and random wishes; of definite metrics few may be left undecided."""
    rng, outcomes = np.random.default_rng(5), Counter()
    while (number := outcomes.total()) < examples(500):
        kind = ("any", "symmetric", "definite")[number % 3]
        cloud, followers, leaders = wish(rng, kind)
        if not followers:  # nobody leads with that metric
            continue
        found = hm.find_metric(cloud, leaders=leaders, followers=followers, kind=kind)
        pairs = {leader: leader for leader in (*leaders, *followers.values())}
        assert_true(found, cloud, [*pairs.items(), *followers.items()], kind)
        assert found or leaders  # what was planted can be
        impossible = "proved" if found.decided else "left"
        outcomes[kind, "found" if found else impossible] += 1
    definite = sum(count for (kind, _), count in outcomes.items() if kind == "definite")
    assert outcomes["definite", "left"] <= 0.05 * definite
    assert outcomes["any", "found"] > outcomes["any", "proved"] > 0


@given(st.data())
def test_what_leads_with_some_metric_can_lead(data):
    """Leaders of a run are wishes that can be fulfilled, by the kind of metric of the run."""
    d = data.draw(st.integers(1, 3))
    entries = st.integers(-9, 9)
    cloud = np.array(data.draw(st.lists(st.tuples(*[entries] * d), min_size=1, max_size=7)))
    root = np.array(data.draw(st.tuples(*[st.tuples(*[entries] * d)] * d)))
    metric = root.T @ root + np.eye(d, dtype=int)
    leaders = hm.limit(cloud, hm.Dynamics(1, metric)).leaders
    alone = [i for i in leaders if cloud[i].any() or not cloud.any()]
    for kind in ("any", "symmetric", "definite"):
        found = hm.find_metric(cloud, leaders=alone, kind=kind) if alone else True
        assert found or (kind == "definite" and not found.decided)


@given(
    st.integers(1, 5).flatmap(
        lambda size: st.lists(st.tuples(*[st.integers(-9, 9)] * size), min_size=1, max_size=12)
    )
)
def test_both_programs_have_the_same_value(rows):
    """So each proves that the other's is best."""
    a, t, weights = LinearProgram(rows).solve()
    table = np.array(rows, dtype=object)
    assert max(map(abs, a)) <= 1
    assert min(table @ np.array(a)) == t >= 0
    assert sum(weights.values()) == 1
    assert min(weights.values()) > 0
    total = np.array([*weights.values()]) @ table[[*weights]]
    assert np.abs(total).sum() == t


def test_fractions_only_prove_what_floats_have_found():
    """Of Gaussian rows, in a step or two: floats alone are fast."""
    rng, steps = np.random.default_rng(1), []

    class Counted(simplex._Fractions):
        def gains(self, a, t):
            steps[-1] += 1
            return super().gains(a, t)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simplex, "_Fractions", Counted)
        for size in range(2, 14):
            steps.append(0)
            LinearProgram((1000 * rng.standard_normal((40, size))).astype(int).tolist()).solve()
    assert max(steps) <= 3


def test_floats_that_are_wrong_change_no_result():
    """They end at a basis that is none, or whose weights are negative."""
    rng = np.random.default_rng(2)
    tables = [rng.integers(-9, 10, (8, 3)).tolist() for _ in range(20)]
    right = [LinearProgram(rows).solve().t for rows in tables]
    with pytest.MonkeyPatch.context() as patch:
        weights = simplex._Floats.weights
        patch.setattr(simplex._Floats, "weights", lambda *of: [-x for x in weights(*of)])
        assert [LinearProgram(rows).solve().t for rows in tables] == right


def test_without_floats_a_definite_metric_is_found_as_well(monkeypatch):
    def fail(self):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(LinearProgram, "estimate", fail)
    for cloud in ([[3, 3], [-2, 1], [-4, 3]], [[2, 0], [1, 2], [2, 3], [1, 0]]):
        found = hm.find_metric(cloud, leaders=[0, 1], kind="definite")
        assert found
        assert_true(found, np.array(cloud), [(0, 0), (1, 1)], "definite")


@pytest.mark.parametrize(
    ("cloud", "leaders", "possible"),
    [
        # Only thin metrics do: their smallest eigenvalue is about 1e-2.
        ([[2, 0], [1, 2], [2, 3], [1, 0]], [0, 1], True),
        ([[-1, 1, 0], [3, -3, -3], [-2, 4, -1], [-4, 0, -2]], [0, 1], True),
        ([[-4, 2, 1], [2, 1, 2], [2, 3, -1], [-2, 0, 1], [-1, 3, 2], [3, 1, 4]], [0, 1], True),
        # Tokens that are far away, and close to one another.
        ([[2**50, 1], [2**50, 0], [2**50, -1]], [0, 2], True),
        ([[2**50, 1], [2**50, 0], [2**50, -1]], [1], False),
        # The proof is about a token, of many digits, and no other direction will do.
        (THIN, [0, 2], False),
    ],
)
def test_definite_metrics_are_decided_where_it_is_hard(cloud, leaders, possible):
    followers = {4: 0} if cloud is THIN else {}
    found = hm.find_metric(cloud, leaders=leaders, followers=followers, kind="definite")
    wanted = [(leader, leader) for leader in leaders] + [*followers.items()]
    assert found.decided
    assert bool(found) == possible
    assert_true(found, np.array(cloud), wanted, "definite")


def test_the_largest_margin_of_a_small_case():
    found = hm.find_metric([[2, 0], [0, 1], [1, 1]], leaders=[1], kind="symmetric")
    # <A z_1, z_1 - z_0> = c - 2 b and <A z_1, z_1 - z_2> = -b, with |b|, |c| <= 1.
    assert found.margin == 1
    assert np.asarray(found.metric)[0, 1] == -1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "name `leaders` or `followers`"),
        ({"leaders": 3}, "`leaders` must be a list of tokens"),
        ({"leaders": {0: 1}}, "`leaders` must be a list of tokens"),
        ({"leaders": [0], "progress": 5}, r"a function of \(done, total\)"),
        ({"leaders": [5]}, "from -2 to 1"),
        ({"followers": [0]}, "`followers` must map tokens"),
        ({"leaders": [0], "kind": "spd"}, "`kind`"),
        ({"leaders": [0], "max_cuts": 0}, "`max_cuts`"),
    ],
)
def test_wishes_that_cannot_be_read_are_refused_in_one_line(options, words):
    with pytest.raises(hm.InputError, match=words) as error:
        hm.find_metric([[1, 0], [0, 1]], **options)
    assert "\n" not in str(error.value)


def test_what_it_prints():
    cases = [[0], [1]], [[1], [2], [3]], [[5]]
    long = repr(hm.find_metric([[1 / 3, 0.1], [0.7, 0.2]], leaders=[0]))
    assert long == "MetricSearch(found, each lead at least about 0.2022222)"
    shown = [repr(hm.find_metric(cloud, leaders=[0])) for cloud in cases]
    assert shown == [
        "MetricSearch(impossible: proved by 1 lead)",
        "MetricSearch(found, each lead at least 1)",
        "MetricSearch(found, each lead at least 0)",
    ]


def test_few_vectors_leave_it_undecided_and_progress_counts_them():
    wished, told = {"tokens": [[3, 3], [-2, 1], [-4, 3]], "leaders": [0, 1], "kind": "definite"}, []
    found = hm.find_metric(**wished, progress=lambda *now: told.append(now))
    assert found
    assert told == [(tried, 200) for tried in range(len(told))]
    most = told[-1][0]
    assert hm.find_metric(**wished, max_cuts=most)
    assert not hm.find_metric(**wished, max_cuts=most - 1).decided
    assert repr(hm.find_metric(**wished, max_cuts=most - 1)) == "MetricSearch(undecided)"


@pytest.mark.parametrize("kind", ["any", "definite"])
def test_a_search_can_be_interrupted(kind):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hm.find_metric([[1, 0], [0, 1]], leaders=[0], kind=kind, progress=interrupt)
