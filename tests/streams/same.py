"""Clouds in chunks, and how their limits are compared with those of one array."""

import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from strategies import problems

import hardmax as hm


def assert_same(found: hm.results.StreamedLimit, lim: hm.Limit) -> None:
    for name in ("n", "d", "certified", "settled_at"):
        assert getattr(found, name) == getattr(lim, name)
    assert found.distinct_leaders.tolist() == lim.distinct_leaders.tolist()
    if lim.settled_at is None:
        return
    clusters, kinds = found.clusters(), lim.clusters.kinds
    assert list(map(str, clusters.kinds)) == list(map(str, kinds))
    assert clusters.sizes.tolist() == lim.clusters.sizes.tolist()
    chunks = list(found.chunks())
    points, leader, cluster = (
        np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]
    )
    error = 2 * (found.limit_error + lim.limit_error)
    assert_allclose(points, lim.limit_points, rtol=0, atol=error)
    assert_allclose(clusters.limit_points, lim.clusters.limit_points, rtol=0, atol=error)
    assert cluster.tolist() == lim.clusters.labels.tolist()
    assert leader.tolist() == [getattr(kinds[label], "leader", -1) for label in cluster.tolist()]


@st.composite
def chunked(draw: st.DrawFn) -> tuple[np.ndarray, hm.Dynamics, list[int]]:
    """A problem full of ties, with smaller copies of its tokens inside, cut at random."""
    cloud, metric, alpha = draw(problems(max_n=16))
    tokens = np.array(cloud, dtype=object).astype(np.float64)
    shares = draw(st.lists(st.sampled_from([0.5, 0.25, 0.125, -0.375]), max_size=3))
    tokens = np.concatenate([tokens, *(share * tokens for share in shares)])
    tokens = tokens[draw(st.permutations(range(len(tokens))))]
    cuts = sorted(draw(st.lists(st.integers(0, len(tokens)), max_size=5)))
    return tokens, hm.Dynamics(alpha, metric=metric), cuts
