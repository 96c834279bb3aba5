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
    return np.tri(n, dtype=bool).tolist() if isinstance(mask, str) else mask.tolist()


@given(problems(max_n=8, max_d=3), st.sampled_from(["value", "multiple", "mask"]))
def test_parts_that_are_the_papers_change_nothing(problem, part):
    cloud, metric, alpha = problem
    d, n = len(cloud[0]), len(cloud)
    if part == "multiple":
        other = hm.Dynamics(1, metric, value=[scaled(alpha, row) for row in identity(d)])
    else:
        given_parts = {
            "value": {"value": identity(d)},
            "mask": {"mask": np.ones((n, n), dtype=bool)},
        }
        other = hm.Dynamics(alpha, metric, **given_parts[part])
    assert not other.traits.plain
    paper, run = (
        hm.simulate(cloud, each, layers=LAYERS) for each in (hm.Dynamics(alpha, metric), other)
    )
    for layer in range(LAYERS + 1):
        assert (paper.at(layer, exact=True) == run.at(layer, exact=True)).all()
        assert paper.attended(layer).tolist() == run.attended(layer).tolist()
    ends, same = hm.limit(cloud, hm.Dynamics(alpha, metric)), hm.limit(cloud, other)
    if part == "steps" and same.settled_at is None:
        return  # whether chains last is known for constant steps only
    assert (ends.exact_limit_points() == same.exact_limit_points()).all()
    assert ends.leaders.tolist() == same.leaders.tolist()
    assert ends.run.leader_layers.tolist() == same.run.leader_layers.tolist()


@given(problems(max_n=8, max_d=3), st.lists(alphas, min_size=1, max_size=3))
def test_steps_that_come_to_rest_go_on_as_the_paper_from_there(problem, first):
    cloud, metric, alpha = problem
    run = hm.limit(cloud, hm.Dynamics([*first, alpha], metric))
    for layer, step in enumerate(first):
        assert hm.Dynamics([*first, alpha]).alpha_at(layer) == step
        cloud = hm.step(np.array(cloud, dtype=object), hm.Dynamics(step, metric))
    assert (
        run.exact_limit_points() == hm.limit(cloud, hm.Dynamics(alpha, metric)).exact_limit_points()
    ).all()


def test_a_mask_keeps_equal_tokens_apart():
    cloud = [[2], [1], [3], [1]]
    run = hm.simulate(cloud, hm.Dynamics(1, mask="causal"), layers=1)
    assert run.attended(0).tolist() == [[0], [0], [2], [2]]
    assert run.at(1).ravel().tolist() == [2, 1.5, 3, 2]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"value": [[1, 2]]}, "`value` must be square, not 1 by 2"),
        ({"value": [[-1]]}, "I \\+ alpha V has no inverse with alpha 1"),
        ({"mask": "future"}, "`mask` must be 'causal' or a square table of booleans"),
        ({"mask": [[1, 0], [0, 1]]}, "`mask` must be 'causal' or a square table of booleans"),
        ({"mask": np.eye(3, k=2, dtype=bool)}, "`mask` leaves token 1 nobody to attend to"),
        ({"alpha": []}, "`alpha` must have at least one step"),
        ({"alpha": [1, -1]}, "`alpha` \\(layer 1\\) must be positive"),
    ],
)
def test_parts_that_are_none_are_refused(parts, message):
    with pytest.raises(hm.InputError, match=message):
        hm.Dynamics(**{"alpha": 1} | parts)


def test_what_does_not_fit_or_has_no_engine_is_refused():
    cloud = [[1, 2], [3, 4]]
    with pytest.raises(hm.InputError, match="`value` is 1 by 1, but the tokens have 2 coordinates"):
        hm.simulate(cloud, hm.Dynamics(1, value=[[1]]), layers=1)
    with pytest.raises(hm.InputError, match="`mask` is 1 by 1, but there are 2 tokens"):
        hm.limit(cloud, hm.Dynamics(1, mask=[[True]]))
    with pytest.raises(hm.InputError, match="The page shows layers without `heads`"):
        hm.simulate(cloud, hm.Dynamics(1, heads=[hm.Head()]), layers=1).save("page.html")
