"""A limit of one cloud, of a batch and of a stream have the same attributes."""

from typing import Any

import numpy as np
import pytest

import hardmax as hm

SHARED = {
    "n",
    "d",
    "settled_at",
    "stop_reason",
    "certified",
    "leaders",
    "distinct_leaders",
    "limit_points",
    "limit_error",
    "clusters",
}
# Leaders are repeated, and two tokens end on a face.
CLOUD = np.array([[1, 1], [1, -1], [-1, -1], [1, 1], [-1, 1], [0.5, 0], [0.25, 0], [0.1, 0.2]])


@pytest.fixture
def limits(tmp_path):
    np.save(tmp_path / "points.npy", CLOUD)
    half, chunked = hm.Dynamics("1/2"), np.load(tmp_path / "points.npy", mmap_mode="r")
    return hm.limit(CLOUD, half), hm.limits([CLOUD, CLOUD[:4]], half), hm.limit(chunked, half)


def test_they_share_attributes(limits):
    for lim in limits:
        assert {name for name in dir(lim) if not name.startswith("_")} >= SHARED


def values(lim: Any, name: str) -> Any:
    """An attribute as something that can be compared."""
    value = getattr(lim, name)
    if name == "clusters":
        names = "labels", "limit_points", "sizes"
        return value.kinds, [getattr(value, part).tolist() for part in names]
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("name", sorted(SHARED))
def test_they_agree_on_them(name, limits):
    alone, batch, streamed = limits
    if name != "limit_error":  # chunks round in an order of their own
        assert values(streamed, name) == values(alone, name)
    of_batch = getattr(batch, name)
    if name == "d":
        assert of_batch == alone.d
        return
    assert len(of_batch) == len(batch)
    first = {name: of_batch[0]}
    assert values(type("First", (), first), name) == values(alone, name)
