"""Layers with a value matrix, a mask or steps: each is that of the definition, and the paper's is
one of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import alphas, identity, problems, scaled

import hardmax as hm

LAYERS = 6


def table_of(mask, n):
    if mask is None:
        return None
    if isinstance(mask, str):
        return np.tri(n, dtype=bool).tolist()
    return mask.tolist()


@given(problems(max_n=8, max_d=3), st.sampled_from(["value", "multiple", "mask"]))
def test_parts_that_are_the_papers_change_nothing(problem, part):
    cloud, metric, alpha = problem
    d, n = len(cloud[0]), len(cloud)
    paper = hm.Dynamics(alpha, metric)
    if part == "multiple":
        multiple = [scaled(alpha, row) for row in identity(d)]
        other = hm.Dynamics(1, metric, value=multiple)
    elif part == "value":
        other = hm.Dynamics(alpha, metric, value=identity(d))
    else:
        everybody = np.ones((n, n), dtype=bool)
        other = hm.Dynamics(alpha, metric, mask=everybody)
    assert not other.traits.plain
    one, two = (hm.simulate(cloud, each, layers=LAYERS) for each in (paper, other))
    for layer in range(LAYERS + 1):
        assert (one.at(layer, exact=True) == two.at(layer, exact=True)).all()
        assert one.attended(layer).tolist() == two.attended(layer).tolist()
    ends, same = hm.limit(cloud, paper), hm.limit(cloud, other)
    assert (ends.exact_limit_points() == same.exact_limit_points()).all()
    assert ends.leaders.tolist() == same.leaders.tolist()
    assert ends.run.leader_layers.tolist() == same.run.leader_layers.tolist()


some_steps = st.lists(alphas, min_size=1, max_size=3)


@given(problems(max_n=8, max_d=3), some_steps)
def test_steps_that_come_to_rest_go_on_as_the_paper_from_there(problem, first):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics([*first, alpha], metric))
    for layer, step in enumerate(first):
        assert hm.Dynamics([*first, alpha]).alpha_at(layer) == step
        cloud = hm.step(np.array(cloud, dtype=object), hm.Dynamics(step, metric))
    rest = hm.limit(cloud, hm.Dynamics(alpha, metric))
    assert (lim.exact_limit_points() == rest.exact_limit_points()).all()


def test_a_mask_keeps_equal_tokens_apart():
    cloud = [[2], [1], [3], [1]]
    run = hm.simulate(cloud, hm.Dynamics(1, mask="causal"), layers=1)
    assert run.attended(0).tolist() == [[0], [0], [2], [2]]
    assert run.at(1).ravel().tolist() == [2, 1.5, 3, 2]


NO_MASK = "`mask` must be 'causal', 'strict' or a square table of booleans"
NO_PARTS = [
    ({"value": [[1, 2]]}, "`value` must be square, not 1 by 2"),
    ({"value": [[-1]]}, "I \\+ alpha V has no inverse with alpha 1"),
    ({"mask": "future"}, NO_MASK),
    ({"mask": [[1, 0], [0, 1]]}, NO_MASK),
    ({"mask": np.eye(3, k=2, dtype=bool)}, "`mask` leaves token 1 nothing to attend to"),
    ({"alpha": []}, "`alpha` must have at least one step"),
    ({"alpha": [1, -1]}, "`alpha` \\(layer 1\\) must be positive"),
]


@pytest.mark.parametrize(("parts", "message"), NO_PARTS)
def test_parts_that_are_none_are_refused(parts, message):
    with pytest.raises(hm.InputError, match=message):
        hm.Dynamics(**{"alpha": 1} | parts)


def test_what_does_not_fit_or_has_no_engine_is_refused():
    cloud = [[1, 2], [3, 4]]
    with pytest.raises(hm.InputError, match="`value` is 1 by 1, but the tokens have 2 coordinates"):
        hm.simulate(cloud, hm.Dynamics(1, value=[[1]]), layers=1)
    with pytest.raises(hm.InputError, match="`mask` is 1 by 1, but there are 2 tokens"):
        hm.limit(cloud, hm.Dynamics(1, mask=[[True]]))
    run = hm.simulate(cloud, hm.Dynamics(1, heads=[hm.Head()]), layers=1)
    with pytest.raises(hm.InputError, match="The page shows layers without `heads`"):
        run.save("page.html")
