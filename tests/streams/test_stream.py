"""A cloud that is read chunk by chunk has the limit of the same tokens in one array."""

import numpy as np
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import hard_floats
from streams.same import assert_same, chunked

import hardmax as hm
from hardmax._streams import passes
from hardmax._streams.chunks import LocalChunks
from hardmax._streams.streamed import limit_of


def found_in(
    tokens: np.ndarray, dynamics: hm.Dynamics, cuts: list[int]
) -> hm.results.StreamedLimit:
    parts = np.split(tokens, cuts)
    chunks = LocalChunks(tokens.shape[1], lambda: iter(parts), len(tokens))
    return limit_of(chunks, dynamics)


# Rounding puts some of them outside beside their own part and inside beside the whole cloud.
ALMOST_OUTSIDE = np.array(
    [
        [1, -2, 1, 1],
        [-1, 2, -1, -2],
        [-0.75, 0.25, -0.75, -1.25],
        [-1, 0, -1, -1],
        [0, 0, 1, 0.75],
        [-2, 1, -2, -1],
        [2, -1, -1, 1],
        [0, 0, -2, 2],
        [0, 0, -0.5, -0.5],
        [2, -1, -2, -2],
        [0, -1, -2, -1],
        [-0.8, 0.4, 0, 1],
    ]
)


@example((ALMOST_OUTSIDE, hm.Dynamics("1/1000"), [7]))
@settings(max_examples=examples(2000))
@given(chunked())
def test_chunks_have_the_limit_of_one_array(problem):
    tokens, dynamics, cuts = problem
    assert_same(found_in(tokens, dynamics, cuts), hm.limit(tokens, dynamics))


NEIGHBOURS = np.array([[-1.5493334823604545], [-1.5493334823604543]])


@example(NEIGHBOURS, "1/2", 0)
@example(np.array([[1e200], [-1e200], [1.0]]), "1/2", 0)
@settings(max_examples=examples(100))
@given(hard_floats(max_d=4, max_n=60), st.sampled_from(["1/2", "1/10", 3]), st.integers(0, 7))
def test_so_do_floats_that_are_hard_to_prove(tokens, alpha, pieces):
    dynamics, step = hm.Dynamics(alpha), 1 + len(tokens) // (1 + pieces)
    cuts = list(range(0, len(tokens), step))
    assert_same(found_in(tokens, dynamics, cuts), hm.limit(tokens, dynamics))


def clouds_of(n: int, d: int) -> dict[str, np.ndarray]:
    gaussian = np.random.default_rng(5).normal(size=(n, d))
    grid = (4 * gaussian).round()
    return {"gaussian": gaussian, "grid": grid, "repeated": np.concatenate([gaussian, gaussian])}


@pytest.mark.parametrize(("d", "alpha"), [(1, 10), (2, "1/2"), (4, 10)])
def test_of_larger_clouds_few_tokens_are_in_memory(d, alpha):
    dynamics, small = hm.Dynamics(alpha), 0
    for tokens in clouds_of(800, d).values():
        found = found_in(tokens, dynamics, [100, 100, 700])
        assert_same(found, hm.limit(tokens, dynamics))
        small += found.n_in_memory < len(np.unique(tokens, axis=0)) // 2
    assert small >= 2  # a grid may have to be held


def test_steps_so_small_that_many_layers_pass(monkeypatch):
    monkeypatch.setattr(passes, "MOST_LAYERS", 20)
    tokens, dynamics = clouds_of(300, 2)["gaussian"], hm.Dynamics("1/100")
    lim = hm.limit(tokens, dynamics)
    assert lim.settled_at is not None
    assert lim.settled_at > passes.MOST_LAYERS
    assert_same(found_in(tokens, dynamics, [90, 200]), lim)


@pytest.mark.parametrize("size", [1e8, 1e20])
def test_a_token_far_out_changes_nothing(size):
    tokens, dynamics = clouds_of(500, 2)["gaussian"], hm.Dynamics("1/2")
    tokens[7, 0] = size
    assert_same(found_in(tokens, dynamics, [200, 300]), hm.limit(tokens, dynamics))
