"""Equal tokens are one point, with their multiplicities added; different ones never are."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import _key, merge

rows = st.lists(st.tuples(st.sampled_from([-1.0, -0.0, 0.0, 2.0]), st.sampled_from([-0.0, 0.0, 1.0])), min_size=1)


@pytest.mark.parametrize("exact", [False, True], ids=["floats", "fractions"])
@given(tokens=rows, data=st.data())
def test_points_are_the_distinct_tokens_in_order_with_their_multiplicities_added(exact, tokens, data):
    counts = data.draw(st.none() | st.lists(st.integers(1, 9), min_size=len(tokens), max_size=len(tokens)))
    weights: dict[tuple[float, float], int] = {}
    for token, count in zip(tokens, counts or [1] * len(tokens), strict=True):
        weights[token] = weights.get(token, 0) + count  # a dictionary takes 0.0 and -0.0 for the same
    table = np.array(tokens)
    if exact:
        table = np.array([[Fraction(x) for x in token] for token in tokens], dtype=object)
    points = merge(Cloud(table, None if counts is None else np.array(counts)))
    assert list(map(tuple, points.coordinates)) == list(weights)
    assert points.multiplicities.tolist() == list(weights.values())
    assert [tuple(points.coordinates[point]) for point in points.of_token] == tokens


def test_tokens_whose_keys_meet_by_chance_stay_two():
    one = np.array([0.5, 3.0])
    for other in rivals(one):
        points = merge(Cloud(np.array([one, other, one])))
        assert points.of_token.tolist() == [0, 1, 0]
        assert points.multiplicities.tolist() == [2, 1]


def rivals(row: np.ndarray) -> list[np.ndarray]:
    """Other rows with the key that tokens are told apart by at first: the last coordinate makes up for the first.

    A coordinate joins the key by "exclusive or", so that one may undo what those before it did.
    """

    def key(*numbers: float) -> int:
        return int(_key(np.array([numbers]).view(np.int64), 0))

    found = []
    for other in np.arange(1.0, 200.0):
        bits = key(row[0]) ^ key(other) ^ int(row[1].view(np.uint64))
        needed = np.uint64(bits).view(np.float64)
        if np.isfinite(needed) and needed:
            assert key(other, needed) == key(*row)
            found.append(np.array([other, needed]))
    assert len(found) > 100
    return found
