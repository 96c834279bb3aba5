"""Several ties at once: the closed form holds up to the first change of any of them."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm


def overtaken(place: str) -> list[list[str]]:
    """Token 2 ties tokens 0 and 1 on its way to their middle (1, 0, 0); token 3, further along that, catches up.

    It is at (place, 0, -1), and level at the t with place (1 - t/2) - 3 t/10 = 1 - t/2.
    """
    return [["1", "1", "0"], ["1", "-1", "0"], ["1/2", "0", "3/10"], [place, "0", "-1"]]


def beside(first: list[list[str]], second: list[list[str]]) -> oracle.Cloud:
    """Two clouds in spaces at right angles: neither sees the other, since its own scores are positive."""
    nothing = ["0"] * 3
    rows = [row + nothing for row in first] + [nothing + row for row in second]
    return [[Fraction(text) for text in row] for row in rows]


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
@pytest.mark.parametrize("places", [("11/10", "6/5"), ("6/5", "11/10"), ("6/5", "6/5"), ("9/10", "6/5"), ("6/5", "1")])
def test_of_two_ties_that_end_the_earlier_ends_first(places, arithmetic):
    cloud, alpha = beside(*map(overtaken, places)), Fraction(1, 10)
    run = hm.simulate(cloud, hm.Dynamics(alpha), layers=20, arithmetic=arithmetic)
    walked = list(oracle.walk(cloud, alpha, None, 20))
    for layer, (_, sets) in enumerate(walked):
        assert [set(several.tolist()) for several in run.attended(layer)] == sets
    truth = np.array(walked[20][0], dtype=np.float64)
    assert np.abs(run.at(20) - truth).max() <= 1e-12
    # 6/5 is level at t = 1/2, 11/10 at t = 2/7, the others never.
    level = {8 if place == "6/5" else 14 for place in places if Fraction(place) > 1}
    assert set(run.decided_at) == {0} | level


tenths = st.integers(1, 14).map(lambda k: Fraction(k, 10))
rivals = st.tuples(tenths, st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(-1, 5)]), tenths.map(lambda x: -x))


@settings(max_examples=examples(1200))
@given(
    st.lists(st.tuples(tenths, tenths), min_size=1, max_size=2),
    st.lists(rivals, min_size=1, max_size=3),
    st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(1)]),
    st.sampled_from([None, [[2, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 0, 1], [0, 1, 0], [1, 0, 2]]]),
)
def test_ties_on_their_way_and_rivals_beside_it_are_walked_as_fractions_are(moving, beside_them, alpha, metric):
    # All who move look at the middle of an edge; rivals may join them, overtake them, or stay behind.
    cloud = [[1, 1, 0], [1, -1, 0], *([x / 2, 0, z / 2] for x, z in moving), *map(list, beside_them)]
    exact = [[Fraction(x) for x in token] for token in cloud]
    dynamics = hm.Dynamics(alpha, metric)
    run, truth = (hm.simulate(exact, dynamics, layers=12, arithmetic=how) for how in ("certified", "exact"))
    assert run.decided_at == truth.decided_at
    assert run.settled_at == truth.settled_at
    for layer, (tokens, sets) in enumerate(oracle.walk(exact, alpha, metric, 12)):
        for each in (run, truth):
            assert [set(several.tolist()) for several in each.attended(layer)] == sets
            off = np.abs(each.at(layer) - np.array(tokens, dtype=np.float64)).max()
            assert off <= max(each.error, 1e-15)
