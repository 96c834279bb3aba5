"""A cloud that is read chunk by chunk has the limit of the same tokens in one array, to the bit."""

import weakref
from fractions import Fraction

import numpy as np
import pytest
from effort import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import hard_floats
from streams.same import assert_same, chunked, room_for

import hardmax as hm
from hardmax._streams import chunks, observers


class Parts(chunks.LocalChunks):
    """Tokens cut into chunks at given places."""

    def __init__(self, tokens: np.ndarray, cuts: list[int]) -> None:
        super().__init__(tokens.shape[1], lambda: iter(np.split(tokens, cuts)), len(tokens))


def found_in(
    tokens: np.ndarray, dynamics: hm.Dynamics, cuts: list[int]
) -> hm.results.StreamedLimit:
    chunks = Parts(tokens, cuts)
    return hm.results.StreamedLimit(chunks, observers.gather(chunks, dynamics, hm.Settled()))


@settings(max_examples=examples(2000))
@given(chunked(), st.sampled_from([0, 6, 2**20]))
def test_chunks_have_the_limit_of_one_array(problem, room):
    tokens, dynamics, cuts = problem
    with room_for(room):
        assert_same(found_in(tokens, dynamics, cuts), hm.limit(tokens, dynamics))


@example(
    np.array([[-1.5493334823604545], [-1.5493334823604543]]), "1/2", 0
)  # neighbours, on one side of 0
@example(np.array([[1e200], [-1e200], [1.0]]), "1/2", 0)
@settings(max_examples=100)
@given(hard_floats(max_d=4, max_n=60), st.sampled_from(["1/2", "1/10", 3]), st.integers(0, 7))
def test_so_do_floats_that_are_hard_to_prove(tokens, alpha, pieces):
    dynamics, cuts = (
        hm.Dynamics(alpha),
        list(range(0, len(tokens), 1 + len(tokens) // (1 + pieces))),
    )
    with room_for(0):
        assert_same(found_in(tokens, dynamics, cuts), hm.limit(tokens, dynamics))


def clouds_of(n: int, d: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    gaussian = rng.normal(size=(n, d))
    return {
        "gaussian": gaussian,
        "uniform": rng.uniform(-1, 1, size=(n, d)),
        "positive": rng.uniform(0, 1, size=(n, d)),
        "long": gaussian * [10.0] + 0.0
        if d == 1
        else gaussian * np.array([10.0] + [1.0] * (d - 1)),
        "ball": gaussian
        / np.linalg.norm(gaussian, axis=1, keepdims=True)
        * rng.random((n, 1)) ** (1 / d),
        "grid": rng.integers(-9, 10, size=(n, d)).astype(float),
    }


@pytest.mark.parametrize(("d", "alpha"), [(1, 10), (2, "1/2"), (3, 10), (4, "1/2")])
def test_larger_clouds_are_walked_chunk_by_chunk(d, alpha):
    dynamics, walked = hm.Dynamics(alpha), 0
    for tokens in clouds_of(2000 if d < 4 else 1000, d).values():
        with room_for(0):
            found = found_in(tokens, dynamics, [100, 100, 700])
        assert_same(found, hm.limit(tokens, dynamics))
        walked += found.n_in_memory < len(np.unique(tokens, axis=0)) // 2
    assert walked >= 5  # a grid may have to be held


@pytest.mark.parametrize("d", [1, 2, 3])
def test_whoever_is_finished_is_never_attended_to_again(d):
    dynamics = hm.Dynamics("1/3")
    for tokens in clouds_of(400, d).values():
        with room_for(0):
            snapshots = found_in(tokens, dynamics, [150])._gathered.snapshots
        outcomes, run = (
            observers.observe(tokens, snapshots, dynamics),
            hm.simulate(tokens, dynamics, layers=8),
        )
        for layer in range(8):
            attended = np.unique(np.concatenate(list(run.attended(layer))))
            assert not (
                (outcomes.finished[attended] >= 0) & (outcomes.finished[attended] <= layer)
            ).any()


@pytest.mark.parametrize("distinct", [True, False])
def test_of_many_chunks_no_more_tokens_are_held_than_two_runs_need(distinct):
    most, size, seen = 10, 6, []

    def chunks():
        for first in range(0, 30 * size, size):
            tokens = np.stack([np.cos(np.arange(size) + first * distinct), np.ones(size)], axis=1)
            examined = observers.examine(tokens, first, [], hm.Dynamics(1), most)
            assert examined.unfinished is not None
            seen.append(weakref.ref(examined.unfinished))
            yield examined
            held = [held for ref in seen if (held := ref()) is not None]
            assert sum(map(len, held)) <= 2 * most + size

    whole, together, _ = observers.merge_examined(chunks(), most)
    assert whole.n == 30 * size
    assert (together is None) == distinct
    assert together is None or len(together) == size


def test_observers_are_where_they_say_they_are():
    tokens, dynamics = clouds_of(400, 2)["gaussian"], hm.Dynamics("1/3")
    with room_for(0):
        snapshots = found_in(tokens, dynamics, [150])._gathered.snapshots[:2]
    outcomes = observers.observe(tokens, snapshots, dynamics)
    (going,) = np.nonzero((outcomes.finished < 0) & ~outcomes.unsure)
    exact = hm.simulate(tokens, dynamics, layers=2).at(2, exact=True)[going]
    ways = np.vectorize(Fraction)(outcomes.positions[going]) - exact
    furthest = max((ways**2).sum(axis=1))
    assert len(going) > 20
    assert 0 < furthest <= Fraction(outcomes.error) ** 2 < Fraction(1e-14) ** 2


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("size", [1e8, 1e14, 1e20, 1e28])
def test_with_a_token_far_out_all_are_brought_into_memory(d, size):
    # Measured by it, floats would tell nobody else apart: candidates once took more memory than
    # there is.
    tokens, dynamics = clouds_of(1000, d)["gaussian"], hm.Dynamics("1/2")
    tokens[7, 0] = size
    with room_for(0):
        found = found_in(tokens, dynamics, [300, 700])
    assert found.n_in_memory == len(tokens)
    assert_same(found, hm.limit(tokens, dynamics))
