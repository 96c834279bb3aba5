"""Layers that combine every part there is: what the package says of them is true, for as long as it
says."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from effort import THOROUGH
from layer_problems import PARTS, draw, judge

# 5,000 problems where there is time.
GROUPS, SIZE = (100, 50) if THOROUGH else (2, 20)
NEVER_TOGETHER = {("metric", "heads"), ("steps", "heads"), ("attention", "heads")}


@pytest.mark.filterwarnings("ignore:the theorem does not apply")
@pytest.mark.parametrize("group", range(GROUPS))
def test_whatever_is_said_of_any_layer_is_so(group):
    claims = Counter()
    for number in range(group * SIZE, (group + 1) * SIZE):
        wrong, said = judge(draw(number))
        assert not wrong, f"problem {number}: {wrong}"
        claims.update(said)
    assert claims["settled"] >= SIZE // 5
    assert claims["leaders"] >= SIZE // 3


def test_problems_have_all_parts_and_pairs_of_them():
    problems = [draw(number) for number in range(300)]
    counts = Counter(part for problem in problems for part in problem.names)
    assert min(counts[part] for part in PARTS) >= 0.3 * len(problems)
    pairs = Counter(
        pair for problem in problems for pair in combinations(PARTS, 2) if {*pair} <= problem.names
    )
    assert min(pairs[pair] for pair in combinations(PARTS, 2) if pair not in NEVER_TOGETHER) >= 6
    diagonals = [
        np.diag(np.array(problem.parts.mask)).all() for problem in problems if problem.parts.mask
    ]
    assert min(Counter(diagonals).values()) >= 0.3 * len(diagonals)
    sizes = {(len(problem.cloud), len(problem.cloud[0])) for problem in problems}
    assert sizes == {(n, d) for n in range(3, 11) for d in range(1, 4)}
