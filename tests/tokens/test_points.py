"""Equal tokens are one point, with their multiplicities added; different ones never are."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import _key, merge

first = st.sampled_from([-1.0, -0.0, 0.0, 2.0])
rows = st.lists(st.tuples(first, st.sampled_from([-0.0, 0.0, 1.0])), min_size=1)


KINDS = ["few floats", "many floats", "fractions"]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=100)
@given(tokens=rows, data=st.data())
def test_points_are_the_distinct_tokens_in_order_with_their_multiplicities_added(
    kind, tokens, data
):
    tokens = tokens * (65 if kind == "many floats" else 1)
    n = len(tokens)
    some_counts = st.lists(st.integers(1, 9), min_size=n, max_size=n)
    counts = data.draw(st.none() | some_counts)
    weights: dict[tuple[float, float], int] = {}
    # A dictionary takes 0.0 and -0.0 for the same.
    for token, count in zip(tokens, counts or [1] * n, strict=True):
        weights[token] = weights.get(token, 0) + count
    table = np.array(tokens)
    if kind == "fractions":
        table = np.array([[Fraction(x) for x in token] for token in tokens], dtype=object)
    points = merge(Cloud(table, None if counts is None else np.array(counts)))
    assert list(map(tuple, points.coordinates)) == list(weights)
    assert points.multiplicities.tolist() == list(weights.values())
    assert [tuple(points.coordinates[point]) for point in points.of_token] == tokens


@pytest.mark.parametrize("count", [1, 9, 1000, 60_000])  # the last by the kernel
@pytest.mark.parametrize("values", [1, 40, 10**6])
def test_many_tokens_are_merged_as_by_sorting(count, values):
    rng = np.random.default_rng(count + values)
    table = rng.integers(0, values, (count, 2)).astype(float)
    _, first, label = np.unique(table, axis=0, return_index=True, return_inverse=True)
    points = merge(Cloud(table))
    assert np.array_equal(points.coordinates, table[np.sort(first)])
    assert np.array_equal(points.coordinates[points.of_token], table)
    copies = np.bincount(label.ravel())
    assert np.array_equal(points.multiplicities, copies[np.argsort(first)])


def test_a_single_pair_among_many_tokens_is_found():
    table, counts = np.random.default_rng(0).standard_normal((20_000, 3)), np.arange(1, 20_001)
    points = merge(Cloud(table, counts))
    assert np.array_equal(points.coordinates, table)
    assert np.array_equal(points.multiplicities, counts)
    assert merge(Cloud(table)).multiplicities.tolist() == [1] * 20_000
    table[[7, 19_999]] = [[0.0, 1.0, 2.0], [-0.0, 1.0, 2.0]]
    points = merge(Cloud(table, counts))
    assert np.array_equal(points.of_token, np.append(np.arange(19_999), 7))
    assert points.multiplicities[7] == 8 + 20_000


def test_tokens_whose_keys_meet_by_chance_stay_two(monkeypatch):
    monkeypatch.setattr("hardmax._tokens.points._FEW", 0)  # so all go through the kernel

    # A coordinate joins the key by "exclusive or", so the last can make up for the first.
    def key(*numbers):
        return int(_key(np.array([numbers]).view(np.int64), 0))

    one, collisions = np.array([0.5, 3.0]), 0
    for first in np.arange(1.0, 200.0):
        bits = key(one[0]) ^ key(first) ^ int(one[1].view(np.uint64))
        last = np.uint64(bits).view(np.float64)
        if np.isfinite(last) and last:
            assert key(first, last) == key(*one)
            tokens = np.array([one, [first, last], one])
            assert merge(Cloud(tokens)).of_token.tolist() == [0, 1, 0]
            collisions += 1
    assert collisions > 100
