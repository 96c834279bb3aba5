"""`lim.radius()`: inside it nothing changes, and not far outside something does."""

import math
from fractions import Fraction

import numpy as np
import pytest
from effort import THOROUGH
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import problems

import hardmax as hm
from hardmax._limits.certify import digest

CLOUDS, PERTURBED = (500, 200) if THOROUGH else (40, 12)


def history(cloud, dynamics, layers):
    run = hm.simulate(cloud, dynamics, layers=layers)
    return [run.attended(layer).tolist() for layer in range(layers + 1)]


def worst_direction(cloud, lim, metric):
    """Which way to move tokens, each by as much, so that a lead is lost first, and when; to first
    order.

    Tokens are M Z at layer k, Z at the start, so the lead <A z_i, z_c - z_j> has the gradient v_w
    in token w."""
    n = len(cloud)
    keep = float(lim.run.dynamics.contraction)
    mix = np.eye(len(cloud))
    best = (math.inf, cloud)
    for layer in range(lim.settled_at + 1):
        chosen = [c[0] for c in lim.run.attended(layer).tolist()]
        z = mix @ cloud
        for i, c in enumerate(chosen):
            for j in set(range(n)) - {c}:
                along, between = metric @ z[i], metric.T @ (z[c] - z[j])
                gradient = np.outer(mix[i], between) + np.outer(mix[c] - mix[j], along)
                norms = np.linalg.norm(gradient, axis=1)
                reach = along @ (z[c] - z[j]) / norms.sum()
                if reach < best[0]:
                    best = reach, -gradient / np.where(norms, norms, 1)[:, None]
        mix = keep * mix + (1 - keep) * mix[chosen]
    return best


def test_nothing_changes_inside_the_radius_and_something_does_close_to_it():
    random, ratios = np.random.default_rng(0), []
    for case in range(CLOUDS):
        n, d = int(random.integers(3, 13)), int(random.integers(1, 4))
        cloud = random.standard_normal((n, d))
        root = random.integers(-2, 3, (d, d))
        identity = np.eye(d, dtype=int)
        metric = root @ root.T + identity if case % 2 else identity
        alpha = str(random.choice(["1/10", "1/2", "1", "3"]))
        dynamics = hm.Dynamics(alpha, metric.tolist() if case % 2 else None)
        lim = hm.limit(cloud, dynamics)
        before = history(cloud, dynamics, lim.settled_at)
        for _ in range(PERTURBED):
            way = random.standard_normal((n, d))
            way /= np.linalg.norm(way, axis=1, keepdims=True)
            way *= lim.radius() * (1 - 1e-12)
            assert history(cloud + way, dynamics, lim.settled_at) == before
        reach, way = worst_direction(cloud, lim, metric)
        while history(cloud + reach * way, dynamics, lim.settled_at) == before:
            reach *= 1.05
        ratios.append(reach / lim.radius())
    assert min(ratios) > 1
    assert np.median(ratios) < 1.5
    assert max(ratios) < 10


@given(problems(max_n=6, max_d=3))
def test_it_is_zero_if_and_only_if_a_token_attends_to_several(problem):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric))
    sizes = []
    for layer in range(min(lim.settled_at, 200) + 1):
        sizes += [len(chosen) for chosen in lim.run.attended(layer).tolist()]
    assert (lim.radius() == 0) == (max(sizes) > 1)


small_problems = problems(max_n=6, max_d=3)


@settings(max_examples=60)
@given(small_problems, st.integers(1, 40))
def test_the_checker_accepts_the_radius_and_what_is_less_and_nothing_more(problem, digits):
    cloud, metric, alpha = problem
    lim = hm.limit(cloud, hm.Dynamics(alpha, metric))
    assume(lim.radius() < math.inf and lim.settled_at < 20)
    assert hm.verify(lim.prove(radius=True))
    assert {*lim.prove(radius=True)} - {*lim.prove()} == {"radius"}

    def said(radius):
        document = dict(lim.prove(radius=True)) | {"radius": str(radius)}
        del document["sha256"]
        return hm.verify(document | {"sha256": digest(document)})

    assert said(Fraction(lim.radius()) * Fraction(digits, 41))
    # What is a little more than the root of a quadratic is refused; at a tie, whatever is more than
    # 0.
    hair = Fraction(1, 10**9)
    more = Fraction(lim.radius()) * (1 + hair) or Fraction(1, 10**digits)
    assert said(more).reason.startswith("radius: ")


def test_what_has_no_radius_says_why():
    masked = hm.limit([[1, 2], [3, 4]], hm.Dynamics(1, mask="causal"))
    assert hasattr(masked, "radius")
    with pytest.raises(hm.InputError, match="`radius` knows the paper's layer only"):
        masked.radius()
    skew = hm.limit([[3, 1], [-1, 0], [0, 2]], hm.Dynamics(1, [[1, 1], [0, 1]]))
    assert skew.radius() > 0
    with pytest.raises(hm.InputError, match="not symmetric"):
        skew.prove(radius=True)
    x = 2 - Fraction(1, 2**14)
    late = [[x, 2], [x, -2], [2, 1], [2, -1], ["1/2", 0]]
    with pytest.raises(hm.InputError, match="settled at layer 49,153"):
        hm.limit(late, hm.Dynamics("1/2")).radius()
