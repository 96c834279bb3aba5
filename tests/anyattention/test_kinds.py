"""Localmax and top-k: hardmax is one of them, layers are those of the words, and no limit is
claimed too early."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import problems

import hardmax as hm
from hardmax.theorem import theorem_reason

LAYERS = 4
kinds = st.one_of(
    st.integers(1, 4).map(hm.TopK),
    st.sampled_from(["0", "1/3", "1", "4"]).map(Fraction).map(hm.Localmax),
)


def counted(scores, attention):
    """Who counts, by the words of the docstrings."""
    if isinstance(attention, hm.Localmax):
        return {j for j, score in enumerate(scores) if max(scores) - score <= attention.slack}
    ranked = sorted(scores, reverse=True)
    return {
        j for j, score in enumerate(scores) if score >= ranked[min(attention.k, len(ranked)) - 1]
    }


@settings(max_examples=60)
@given(problems(max_n=5, max_d=2), st.sampled_from([hm.TopK(1), hm.Localmax(0)]))
def test_the_smallest_of_each_kind_is_hardmax(problem, attention):
    cloud, metric, alpha = problem
    paper = hm.Dynamics(alpha, metric)
    other = hm.Dynamics(alpha, metric, attention=attention)
    assert not other.traits.plain
    one, two = (hm.simulate(cloud, each, layers=LAYERS) for each in (paper, other))
    for layer in range(LAYERS + 1):
        assert (one.at(layer, exact=True) == two.at(layer, exact=True)).all()
        assert one.attended(layer).tolist() == two.attended(layer).tolist()
    ends, same = hm.limit(cloud, paper), hm.limit(cloud, other, max_layers=15)
    if same.settled_at is not None:
        assert (ends.exact_limit_points() == same.exact_limit_points()).all()
        assert ends.leaders.tolist() == same.leaders.tolist()
    elif ends.settled_at <= 15:
        # What is left open are chains that last: there both must say the same of every layer looked
        # at.
        assert ends.run.attended(15).tolist() == same.run.attended(15).tolist()


def test_limits_are_claimed_where_nothing_turns_and_nowhere_else():
    # Two copies that attend to one another stand still, and the others go straight to them.
    lim = hm.limit([[3], [3], [1], [-2], [-2]], hm.Dynamics(1, attention=hm.TopK(2)))
    assert lim.settled_at == 0
    assert lim.limit_points.ravel().tolist() == [3, 3, 3, -2, -2]
    alone = hm.limit([[4], [-4]], hm.Dynamics(1, attention=hm.Localmax(2)))
    assert (alone.settled_at, alone.leaders.tolist()) == (0, [0, 1])
    # 1 goes to 4 until it is within the slack of it: then 4 attends to it, too, leads no longer,
    # and both meet.
    pair = hm.limit([[4], [-4], [1]], hm.Dynamics(1, attention=hm.Localmax(2)))
    assert (pair.settled_at, pair.leaders.tolist()) == (3, [1])
    assert [pair.run.attended(layer)[0].tolist() for layer in (2, 3)] == [[0], [0, 2]]
    assert pair.limit_points.ravel().tolist() == [(4 + 4 - 3 / 8) / 2, -4, (4 + 4 - 3 / 8) / 2]
    assert (
        hm.limit([[4], [-3], [2]], hm.Dynamics(1, attention=hm.TopK(3))).limit_points.tolist()
        == [[1]] * 3
    )
    # In a circle that is not closed at once there is no closed form.
    turning = hm.limit(
        [[4, 1], [1, 4], [3, 3], [-3, -3]], hm.Dynamics(1, attention=hm.TopK(2)), max_layers=9
    )
    assert turning.settled_at is None
    assert theorem_reason(turning)


def test_copies_count_one_by_one_and_plain_data_keep_the_kind():
    dynamics = hm.Dynamics(1, attention=hm.TopK(2))
    assert list(map(list, hm.attended([[3], [3], [2], [1]], dynamics))) == [[0, 1]] * 4
    assert hm.Dynamics(**dynamics.to_dict()) == dynamics != hm.Dynamics(1)
