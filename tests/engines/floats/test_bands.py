"""Searches in bands of sizes: who attends to whom is the truth, whatever the sizes."""

from fractions import Fraction

import numpy as np
import oracle
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax._float import bands
from hardmax._float.active_set import ActiveSet
from hardmax._float.argmax import score_all
from hardmax._float.bounds import Frame, SlackFactors, float_metric, norms_above


def spread(rng: np.random.Generator, d: int) -> np.ndarray:
    return rng.standard_normal((120, d)) * 10.0 ** rng.uniform(-50, 50, (120, 1))


def one_far_out(rng: np.random.Generator, d: int) -> np.ndarray:
    return (
        rng.standard_normal((120, d)) * np.append(np.ones(119), 10.0 ** rng.uniform(6, 14))[:, None]
    )


def on_one_side(rng: np.random.Generator, d: int) -> np.ndarray:
    return np.concatenate(
        [np.abs(rng.standard_normal((100, d))) * 1e12 + 1e11, rng.standard_normal((100, d))]
    )


def tiny(rng: np.random.Generator, d: int) -> np.ndarray:
    """Next to nothing, where underflow could take a direction; and a token without one."""
    along = np.outer(rng.standard_normal(40), np.eye(d)[-1]) * 1e-200
    return np.concatenate(
        [rng.standard_normal((60, d)), rng.integers(-3, 4, (90, d)) * 5e-324, along]
    )


@pytest.mark.parametrize("make", [spread, one_far_out, on_one_side, tiny])
@pytest.mark.parametrize("d", [2, 3, 8])
@pytest.mark.parametrize("axes", [None, ("0.3", "1.9"), ("1", "1e-310")], ids=str)
def test_points_of_all_sizes_attend_truly(make, d, axes):
    metric = None
    if axes is not None:
        metric = [[axes[i % 2] if i == j else 0 for j in range(d)] for i in range(d)]
    cloud, dynamics = make(np.random.default_rng(d), d), hm.Dynamics("1/2", metric)
    run, truth = (
        hm.simulate(cloud, dynamics, layers=1, arithmetic=each) for each in ("certified", "exact")
    )
    assert "bands" in run.details.decisions.searches[0]
    assert ("integers" not in run.details.decisions.searches[0]) or make is tiny or axes is not None
    assert [run.attended(layer).tolist() for layer in (0, 1)] == [
        truth.attended(layer).tolist() for layer in (0, 1)
    ]


def active_set(positions: np.ndarray, errors: np.ndarray) -> ActiveSet:
    frame = Frame(positions, Fraction(1), 0.0)
    counts = np.ones(len(positions), dtype=np.int64)
    given = {
        "multiplicities": counts,
        "positions": positions,
        "errors": errors,
        "worst": float(errors.max()),
    }
    return ActiveSet(layer=0, contraction=Fraction(1, 2), frame=frame, **given)


@settings(max_examples=examples(800))
@given(st.integers(0, 2**32 - 1))
def test_whoever_may_be_the_furthest_is_found_in_whichever_bands_they_are(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 14)), int(rng.integers(1, 4))
    positions = rng.integers(-4, 5, (n, d)) * 2.0 ** rng.integers(-9, 10, (n, 1)).astype(float)
    metric = float_metric(
        hm.Dynamics(1, np.diag(np.arange(1, d + 1)) if rng.random() < 0.5 else None)
    )
    errors = np.full((n, d), 0.0 if rng.random() < 0.5 else 2.0**-30)
    factors = SlackFactors.of(d, metric)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bands, "_WIDTH", int(rng.integers(1, 8)))
        patch.setattr(bands, "_FEW", int(rng.integers(1, 8)))
        patch.setattr(bands, "_NARROW", 2.0 ** rng.integers(-10, 1))
        found = bands.search_in_bands(
            score_all,
            active_set(positions, errors),
            np.arange(n),
            metric,
            lambda some: positions[some] - positions[some[0]],
        )
    exact = [[Fraction(x) for x in row] for row in positions.tolist()]
    matrix = (
        None
        if metric.matrix is None
        else [[Fraction(x) for x in row] for row in metric.matrix.tolist()]
    )
    norms, off = norms_above(positions), norms_above(errors)
    doubts = 16 * factors.slack(norms, off, float(norms.max()), off[0])
    for row, some in enumerate(found.choices()):
        direction = oracle.apply(matrix, exact[row])
        scores = [oracle.dot(direction, other) for other in exact]
        candidates = set(some.tolist())
        assert {j for j, score in enumerate(scores) if score == max(scores)} <= candidates
        if any(direction):
            # Nobody is a candidate who trails by more than all that can be wrong with either.
            assert all(max(scores) - scores[j] <= Fraction(float(doubts[row])) for j in candidates)
            assert (row in found.contested) == (len(candidates) > 1)
            assert found.winners[row] in candidates
        else:
            assert candidates == set(range(n))
