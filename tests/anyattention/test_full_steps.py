"""Full steps: with alpha "inf" a token jumps onto its target, and points may meet."""

from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import alphas, any_metrics, clouds, spd_metrics

import hardmax as hm


def layers_of(cloud: Any, steps, metric, mask, layers):
    """Tokens and attended sets, in plain loops."""
    for layer in range(layers):
        if mask:
            sets = []
            for i in range(len(cloud)):
                chosen = oracle.attended_sets([*cloud[: i + 1], cloud[i]], metric)[i]
                sets.append({min(j, i) for j in chosen})
        else:
            sets = oracle.attended_sets(cloud, metric)
        yield cloud, sets
        step = steps[min(layer, len(steps) - 1)]
        if step == "inf":
            cloud = [
                [sum(c) / len(s) for c in zip(*(cloud[j] for j in s), strict=True)] for s in sets
            ]
        else:
            cloud = oracle.moved(cloud, sets, step)


@st.composite
def problems(draw):
    cloud = draw(clouds(max_d=3, max_n=6))
    d = len(cloud[0])
    metric = draw(st.none() | spd_metrics(d) | any_metrics(d))
    first = draw(st.lists(st.just("inf") | alphas, min_size=1, max_size=4))
    return cloud, [*first, draw(alphas)], metric, draw(st.booleans())


@given(problems())
@settings(max_examples=examples(1000))
def test_full_steps_are_those_of_plain_loops(problem):
    cloud, steps, metric, mask = problem
    dynamics = hm.Dynamics(steps, metric, mask="causal" if mask else None)
    run = hm.simulate(cloud, dynamics, layers=7)
    moved = np.array(cloud, dtype=object)
    for layer, (tokens, sets) in enumerate(layers_of(cloud, steps, metric, mask, 8)):
        assert run.at(layer, exact=True).tolist() == moved.tolist() == tokens
        assert [{*chosen.tolist()} for chosen in run.attended(layer)] == sets
        moved = hm.step(moved, dynamics, layer=layer)


def test_a_follower_that_jumped_onto_its_leader_is_attended_to_like_it():
    """The third token of four jumps onto the first; the last one is tied on the axis, and goes to
    the mean of all four."""
    cloud = [[4, 3], [4, -3], [3, 3], [1, 0]]
    run = hm.simulate(cloud, hm.Dynamics(["inf", 1]), layers=2)
    assert run.at(1).tolist() == [[4, 3], [4, -3], [4, 3], [4, 0]]
    assert run.attended(1).tolist() == [[0, 2], [1], [0, 2], [0, 1, 2, 3]]
    assert run.at(2, exact=True)[3].tolist() == [4, Fraction(3, 8)]


def oracle_cloud(rows):
    return [[Fraction(x) for x in row] for row in rows]


def test_the_limit_after_full_steps_is_proved_and_has_no_certificate():
    dynamics = hm.Dynamics("inf,2,1", [[-1]])
    assert dynamics.alpha_at(0) == float("inf")
    assert hm.Dynamics(**dynamics.to_dict()) == dynamics
    lim = hm.limit([[3], [-1]], dynamics)
    walked = [
        *layers_of(oracle_cloud([[3], [-1]]), ["inf", Fraction(2), Fraction(1)], [[-1]], False, 80)
    ]
    far = np.array(walked[-1][0], dtype=float)
    assert lim.certified
    assert np.allclose(lim.limit_points, far, atol=1e-15)
    with pytest.raises(hm.InputError, match="full steps"):
        lim.prove()


@pytest.mark.parametrize(
    ("alpha", "parts", "words"),
    [
        ("inf", {}, "finite"),
        (["inf"], {}, "layer 0.* finite"),
        ([1, "inf"], {}, "layer 1.* finite"),
        (["-inf", 1], {}, "finite"),
        ("inf,1", {"value": [[2]]}, "neither `value`"),
        ("inf,1", {"attention": "softmax:2"}, "nor softmax"),
        ("inf,1", {"normalise": "sphere"}, "neither `value`, `normalise`"),
    ],
)
def test_full_steps_that_cannot_be_are_refused(alpha, parts, words):
    with pytest.raises(hm.InputError, match=words):
        hm.Dynamics(alpha, **parts)
