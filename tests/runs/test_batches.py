"""One cloud and many clouds are the same call, and results come back in the form in which the
tokens came."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from refusals import listed_refusals, refuses

import hardmax as hm
from hardmax._tokens.batches import read_batch

DYNAMICS = hm.Dynamics("1/2")
SMALL = np.array([[1.0, 0.0], [0.5, 0.5]])
LARGE = np.array([[2.0, 1.0], [-1.0, 1.0], [0.0, 3.0]])
TIED = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]


def test_tokens_with_offsets_give_tokens_with_offsets():
    tokens = np.concatenate([SMALL, LARGE])
    ragged = hm.Clouds(tokens, offsets=[0, 2, 5])
    after = hm.step(ragged, DYNAMICS)
    assert isinstance(after, hm.Clouds)
    assert after.offsets.tolist() == [0, 2, 5]
    alone = hm.step(LARGE, DYNAMICS)
    assert after[1].tolist() == alone.tolist()
    runs = hm.simulate(ragged, DYNAMICS, layers=1)
    assert np.allclose(runs.at(1).tokens, after.tokens, rtol=1e-15)
    assert len(runs) == 2


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_tokens_that_came_counted_stay_counted(arithmetic):
    # Two vertices tie for the inner token, and one of them counts twice.
    ragged = hm.Clouds(TIED, [0, 5], [2, 1, 1, 1, 1])
    runs = hm.simulate(ragged, DYNAMICS, layers=2, arithmetic=arithmetic)
    twice = hm.step(hm.step(ragged, DYNAMICS), DYNAMICS)
    assert np.allclose(twice.tokens, runs.at(2).tokens, rtol=1e-15)
    limits = hm.limits(ragged, DYNAMICS, arithmetic=arithmetic)
    for after in (twice, runs.at(1), limits.limit_points):
        assert after.multiplicities.tolist() == [2, 1, 1, 1, 1]


def ragged(stack: np.ndarray) -> hm.Clouds:
    offsets = np.arange(len(stack) + 1) * stack.shape[1]
    return hm.Clouds(np.concatenate(stack), offsets)


LAYOUTS = {
    "stack": np.asarray,
    "list": list,
    "lists": np.ndarray.tolist,
    "texts": lambda stack: stack.astype(str),
    "ragged": ragged,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_wrong_in_a_batch_is_told_with_its_place(layout, bad):
    stack = np.random.default_rng(0).standard_normal((5, 4, 2))
    stack[3, 2, 1] = bad
    places = {
        "texts": r"\(cloud 3\) \(row 2, column 1\)",
        "ragged": "`tokens` must be finite: token 14 is",
    }
    anywhere = r"`tokens` \(cloud 3\) must be finite: token 2 is \[-?\d"
    with refuses(places.get(layout, anywhere)):
        read_batch(LAYOUTS[layout](stack))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_run_does_not_follow_the_array_it_came_from(layout):
    stack = np.random.default_rng(0).standard_normal((5, 4, 2))
    tokens, before = LAYOUTS[layout](stack), stack.copy()
    runs = hm.simulate(tokens, DYNAMICS, layers=2)
    stack[:] = 0.0
    if layout == "ragged":
        tokens.tokens[:] = 0.0
    for now, run, was in zip(runs.at(0), runs, before, strict=True):
        assert np.array_equal(now, was)
        assert np.array_equal(run.at(0), was)


def test_multiplicities_are_counted_to_the_last_one():
    # Two tokens in one place, as many as floats can count; each cloud for itself.
    most = [2**52 + 1, 1, 2**52 - 2]
    clouds = [[1.0], [-1.0], [1.0]] * 2
    ragged = hm.Clouds(clouds, offsets=[0, 3, 6], multiplicities=most * 2)
    for run in hm.simulate(ragged, DYNAMICS, layers=0):
        assert run.points.multiplicities.tolist() == [2**53 - 1, 1]
    # The zero token sees all, and so shows the mean: 2^53 - 2 against 1.
    counts = [2**53 - 2, 1, 1]
    ragged = hm.Clouds([[1.0], [-1.0], [0.0]], offsets=[0, 3], multiplicities=counts)
    (run,) = hm.simulate(ragged, hm.Dynamics(1), layers=1, arithmetic="exact")
    zero = run.at(1, exact=True)[2, 0]
    assert zero == Fraction(2**53 - 3, 2**53) / 2


def some_clouds() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    clouds = [rng.standard_normal((n, 2)) for n in (1, 3, 8, 20, 60)]
    return [*clouds, np.array(TIED)]


@pytest.mark.parametrize("alpha", ["1/2", "1/50", "1/1000", "7"])
@pytest.mark.parametrize("layers", [None, 3000])
def test_a_batch_at_any_layer_is_its_clouds_at_that_layer_to_the_last_bit(alpha, layers):
    dynamics = hm.Dynamics(alpha)
    together = hm.simulate(some_clouds(), dynamics, layers)
    alone = [hm.simulate(cloud, dynamics, layers) for cloud in some_clouds()]
    settled: list[Any] = [run.settled_at for run in alone]
    assert together.settled_at == settled
    assert None not in settled
    # Layers before the clouds settle, at which they do, and long after.
    looked_at: list[Any] = [0, 1, *settled, max(settled) + 1, 16, 17, 256]
    for layer in ["limit", *looked_at, 3000, 3001, 10**12]:
        for tokens, run in zip(together.at(layer), alone, strict=True):
            assert np.array_equal(tokens, run.at(layer))


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
