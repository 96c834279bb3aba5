"""`find_metric`: what it finds fulfils the wishes, and what it proves impossible adds up to 0."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from refusals import listed_refusals
from strategies import subtracted

import hardmax as hm
from hardmax._layer.metric import not_a_metric

THIN = [
    [-1.243094383582372, 1.0263853347122083, 0.1381102556358027],
    [-1.1883441872405858, 0.027809436212354276, -1.2637083440500256],
    [-3.2684241649619628, 1.2463808025021532, 1.2092349502055852],
    [-1.4486209974577906, -0.6885876783131618, 0.2390872682054244],
    [-0.35289754064268364, -0.8268987604066403, -0.4838292141309663],
]


def assert_fulfilled(found, cloud, wanted):
    """Whoever was wished for leads or follows, alone, at layer 0 and later."""
    run = hm.simulate(cloud, hm.Dynamics(1, found.metric), layers=4)
    start = run.at(0, exact=True)
    for token, leader in wanted:
        for layer in range(4):
            attended = run.attended(layer)[token]
            assert (start[attended] == cloud[leader]).all()


def assert_proved(found, cloud, wanted, kind):
    """Weighed leads that were wished for add up to 0, in fractions."""
    cloud = [[Fraction(x) for x in row] for row in cloud.tolist()]
    allowed = [(cloud[token], cloud[leader]) for token, leader in wanted]
    d = len(cloud[0])
    total = [[Fraction(0)] * d for _ in range(d)]
    for weight, token, attended, other in found.proof:
        assert weight > 0
        assert cloud[attended] != cloud[other]
        assert (cloud[token], cloud[attended]) in allowed
        lead = subtracted(cloud[attended], cloud[other])
        for r, c in product(range(d), repeat=2):
            total[r][c] += weight * lead[r] * cloud[token][c]
    for weight, vector in found.squares:
        assert weight > 0
        assert kind == "definite"
        for r, c in product(range(d), repeat=2):
            total[r][c] += weight * vector[r] * vector[c]
    turned = kind != "any"
    assert found.proof
    for r, c in product(range(d), repeat=2):
        assert total[r][c] + turned * total[c][r] == 0


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


def wish(rng, kind):
    """A cloud, and what some of its tokens follow with a metric of this kind, or at random."""
    n, d = int(rng.integers(3, 13)), int(rng.integers(1, 6))
    cloud = rng.standard_normal((n, d))
    if rng.random() < 0.5:
        cloud = rng.integers(-9, 10, (n, d))
    if rng.random() < 0.5:
        leaders = rng.choice(n, 2, replace=False).tolist()
        others = [i for i in range(n) if i not in leaders]
        (token,) = rng.choice(others, 1).tolist()
        followers = {token: leaders[int(rng.integers(2))]}
        return cloud, followers, leaders
    root = rng.integers(-3, 4, (d, d))
    planted = {"any": root, "symmetric": root + root.T}
    planted["definite"] = root.T @ root + np.eye(d, dtype=int)
    attended = hm.attended(cloud, hm.Dynamics(1, planted[kind]))
    alone = {i: int(one[0]) for i, one in enumerate(attended) if len(one) == 1}
    led = {i: leader for i, leader in alone.items() if alone.get(leader) == leader}
    return cloud, led, []


def test_every_wish_is_fulfilled_or_proved_impossible():
    """Planted and random wishes; of definite metrics few may be left undecided."""
    rng, outcomes = np.random.default_rng(5), Counter()
    while (number := outcomes.total()) < 60:
        kind = ("any", "symmetric", "definite")[number % 3]
        cloud, followers, leaders = wish(rng, kind)
        if not followers:  # nobody leads with that metric
            continue
        found = hm.find_metric(cloud, leaders=leaders, followers=followers, kind=kind)
        pairs = {leader: leader for leader in (*leaders, *followers.values())}
        wanted = [*pairs.items(), *followers.items()]
        assert_true(found, cloud, wanted, kind)
        assert found or leaders  # what was planted can be
        impossible = "proved" if found.decided else "left"
        outcomes[kind, "found" if found else impossible] += 1
    of_definite = [outcomes["definite", outcome] for outcome in ("found", "proved", "left")]
    assert outcomes["definite", "left"] <= 0.05 * sum(of_definite)
    assert outcomes["any", "found"] > outcomes["any", "proved"] > 0


FAR = [[2**50, 1], [2**50, 0], [2**50, -1]]
SIX = [[-4, 2, 1], [2, 1, 2], [2, 3, -1], [-2, 0, 1], [-1, 3, 2], [3, 1, 4]]
# Only thin metrics do for the first three: their smallest eigenvalue is about 1e-2. Then tokens
# that are far away, and close to one another. The last proof is about a token, of many digits, and
# no other direction will do.
HARD = [
    ([[2, 0], [1, 2], [2, 3], [1, 0]], [0, 1], True),
    ([[-1, 1, 0], [3, -3, -3], [-2, 4, -1], [-4, 0, -2]], [0, 1], True),
    (SIX, [0, 1], True),
    (FAR, [0, 2], True),
    (FAR, [1], False),
    (THIN, [0, 2], False),
]


@pytest.mark.parametrize(("cloud", "leaders", "possible"), HARD)
def test_definite_metrics_are_decided_where_it_is_hard(cloud, leaders, possible):
    followers = {4: 0} if cloud is THIN else {}
    found = hm.find_metric(cloud, leaders=leaders, followers=followers, kind="definite")
    wanted = [*zip(leaders, leaders, strict=True), *followers.items()]
    assert found.decided
    assert bool(found) == possible
    assert_true(found, np.array(cloud), wanted, "definite")


def test_the_largest_margin_of_a_small_case():
    found = hm.find_metric([[2, 0], [0, 1], [1, 1]], leaders=[1], kind="symmetric")
    # <A z_1, z_1 - z_0> = c - 2 b and <A z_1, z_1 - z_2> = -b, with |b|, |c| <= 1.
    assert found.margin == 1
    assert np.asarray(found.metric)[0, 1] == -1


def test_what_it_prints():
    decimals = [[1 / 3, 0.1], [0.7, 0.2]]
    for cloud, said in (
        (decimals, "found, each lead at least about 0.2022222"),
        ([[0], [1]], "impossible: proved by 1 lead"),
        ([[1], [2], [3]], "found, each lead at least 1"),
        ([[5]], "found, each lead at least 0"),
    ):
        assert repr(hm.find_metric(cloud, leaders=[0])) == f"MetricSearch({said})"


def test_few_vectors_leave_it_undecided_and_progress_counts_them(told):
    wished = {"tokens": SIX, "leaders": [0, 1], "kind": "definite"}
    assert hm.find_metric(**wished)
    assert told == sorted(told)
    assert {(task, total) for task, _, total in told} == {("vectors", 200)}
    most = told[-1][1]
    assert hm.find_metric(**wished, max_cuts=most)
    few = hm.find_metric(**wished, max_cuts=1)
    assert repr(few) == "MetricSearch(undecided)"


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())


def find_metric(**options):
    return hm.find_metric([[1, 0], [0, 1]], **options)
