"""Clouds in chunks, and how their limits are compared with those of one array."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import strategies as st
from strategies import problems

import hardmax as hm
from hardmax._streams import observers


@contextmanager
def room_for(coordinates: int) -> Iterator[None]:
    """So few coordinates are welcome in memory together: more are walked chunk by chunk, if that
    can be."""
    with mock.patch.object(observers, "WELCOME", coordinates):
        yield


def assert_same(found: hm.results.StreamedLimit, lim: hm.Limit) -> None:
    assert found.settled_at == lim.settled_at
    assert (found.n, found.d, found.certified) == (lim.n, lim.d, lim.certified)
    assert found.leaders.tolist() == lim.leaders.tolist()
    assert found.distinct_leaders.tolist() == lim.distinct_leaders.tolist()
    assert found.leader_layers.tolist() == lim.run.leader_layers.tolist()
    assert found.stop_reason == lim.stop_reason
    if lim.settled_at is None:
        return
    chunks = list(found.chunks())
    points, leader, cluster = (
        np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]
    )
    assert np.array_equal(points, lim.limit_points)
    assert np.array_equal(cluster, lim.clusters.labels)
    assert np.array_equal(found.clusters.limit_points, lim.clusters.limit_points)
    assert np.array_equal(found.clusters.sizes, lim.clusters.sizes)
    assert found.clusters.kinds == lim.clusters.kinds
    assert found.limit_error == lim.limit_error
    kinds = lim.clusters.kinds
    assert leader.tolist() == [getattr(kinds[label], "leader", -1) for label in cluster.tolist()]


def floats(cloud: Any) -> np.ndarray:
    return np.array(cloud, dtype=object).astype(np.float64)


@st.composite
def chunked(draw: st.DrawFn) -> tuple[np.ndarray, hm.Dynamics, list[int]]:
    """A problem full of ties, with smaller copies of its tokens inside, cut at random."""
    cloud, metric, alpha = draw(problems(max_n=16))
    tokens = floats(cloud)
    shares = draw(st.lists(st.sampled_from([0.5, 0.25, 0.125, -0.375]), max_size=3))
    tokens = np.concatenate([tokens, *(share * tokens for share in shares)])
    tokens = tokens[draw(st.permutations(range(len(tokens))))]
    cuts = sorted(draw(st.lists(st.integers(0, len(tokens)), max_size=5)))
    return tokens, hm.Dynamics(alpha, metric=metric), cuts
