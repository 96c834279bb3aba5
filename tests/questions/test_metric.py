"""`find_metric`: what it finds fulfils the wishes, and what it proves impossible adds up to 0."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardmax as hm
from hardmax._questions.simplex import best_margin

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


@given(wishes(), KINDS)
def test_a_metric_fulfils_the_wishes_or_the_weighed_leads_add_up_to_zero(wished, kind):
    cloud, leaders, followers = wished
    found = hm.find_metric(cloud, leaders=leaders, followers=followers, kind=kind)
    if found:
        run = hm.limit(cloud, hm.Dynamics(1, found.metric)).run
        pairs = {leader: leader for leader in (*leaders, *followers.values())} | followers
        for token, leader in pairs.items():
            assert (cloud[run.attended(0)[token]] == cloud[leader]).all()
            assert run.details.leader_since[run.details.points.of_token[leader]] == 0
        metric = np.asarray(found.metric)
        assert kind == "any" or (metric == metric.T).all()
    elif found.decided:
        total = np.zeros((cloud.shape[1],) * 2, dtype=object)
        for weight, token, attended, other in found.proof:
            total = total + weight * np.outer(cloud[attended] - cloud[other], cloud[token])
        for weight, vector in found.squares:
            total = total + weight * np.outer(vector, vector).astype(object)
        assert min(weight for weight, *_ in found.proof) > 0
        assert not (total if kind == "any" else total + total.T).any()
    else:
        assert kind == "definite"


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
    a, t, weights = best_margin(rows)
    table = np.array(rows, dtype=object)
    assert max(map(abs, a)) <= 1
    assert min(table @ np.array(a)) == t >= 0
    assert sum(weights.values()) == 1
    assert min(weights.values()) > 0
    total = np.array([*weights.values()]) @ table[[*weights]]
    assert np.abs(total).sum() == t


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
    shown = [repr(hm.find_metric(cloud, leaders=[0])) for cloud in cases]
    assert shown == [
        "MetricSearch(impossible: proved by 1 lead)",
        "MetricSearch(found, each lead at least 1)",
        "MetricSearch(found, each lead at least 0)",
    ]
