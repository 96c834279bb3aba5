"""Evidence is large for tokens that many texts, of one class, have."""

import numpy as np

from hardmax.text.tokens.encoding import Encoded
from hardmax.train.evidence import weigh_evidence


def encode(rows: list[list[int]]) -> Encoded:
    ids = np.concatenate(rows).astype(np.int64)
    return Encoded(ids, np.ones(len(ids), dtype=np.int32), np.cumsum([0, *map(len, rows)]))


# 200 texts of either class. 0: in half of the second class; 1: in three texts of it; 2: in all texts but a few;
# 3: the first, the other way round.
LABELS = np.repeat([0, 1], 200)
ROWS = [
    [2] * (n % 20 > 0) + [0] * (c == 1 and n % 2) + [1] * (c == 1 and n < 3) + [3] * (c == 0 and n % 2) + [4]
    for c in (0, 1)
    for n in range(200)
]


def test_who_is_sure_has_more_than_who_is_rare_and_who_says_nothing_has_none():
    (found,) = weigh_evidence(encode(ROWS), LABELS, 5)
    assert found[0] > 4 * found[1] > 0
    np.testing.assert_allclose(found[[2, 4]], 0, atol=0.05)
    np.testing.assert_allclose(found[3], -found[0], rtol=0.01)  # the second class says a little more


def test_of_several_classes_each_has_a_row():
    found = weigh_evidence(encode([[c, 3] for c in (0, 1, 2) for _ in range(30)]), np.repeat([0, 1, 2], 30), 4)
    assert found.shape == (3, 4)
    assert (np.sign(found[:, :3]) == 2 * np.eye(3) - 1).all()
    np.testing.assert_allclose(found[:, 3], 0, atol=1e-9)
