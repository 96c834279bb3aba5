"""Layers that combine every part there is: what the package says of them is true, for as long as it
says."""

from collections import Counter

import pytest
from effort import THOROUGH
from layer_problems import draw, draw_ties, judge

# 5,000 problems where there is time.
GROUPS, SIZE = (100, 50) if THOROUGH else (2, 20)


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
@pytest.mark.parametrize("make", [draw, draw_ties])
@pytest.mark.parametrize("group", range(GROUPS))
def test_whatever_is_said_of_any_layer_is_so(group, make):
    claims = Counter()
    for number in range(group * SIZE, (group + 1) * SIZE):
        wrong, said = judge(make(number))
        assert not wrong, f"problem {number}: {wrong}"
        claims.update(said)
    assert claims["settled"] >= SIZE // (5 if make is draw else 10)
    assert claims["leaders"] >= SIZE // 3
