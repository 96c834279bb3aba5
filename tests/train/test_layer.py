"""The layer that learns: it is the definition, and its derivative is exact."""

# pyright: reportMissingImports=false
# ruff: noqa: E402
import numpy as np
import pytest
from effort import examples
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="training needs torch (extra `train`)")

import hardmax as hm
from hardmax._tokens.batches import Ragged
from hardmax.dynamics import step
from hardmax.train.attended import _find_on_device, find_attended
from hardmax.train.clouds import Clouds
from hardmax.train.layer import Hardmax, Softmax
from hardmax.train.network import pool

METRICS = [None, np.array([[2.0, 1.0], [1.0, 1.0]])]
integers = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=8, unique=True)


def walk(tokens, clouds, alpha=0.5, layers=1, metric=None):
    return Hardmax(metric).walk(torch.as_tensor(tokens), clouds, torch.tensor(alpha, dtype=torch.float64), layers)


def one_cloud(tokens, counts=None):
    counts = np.ones(len(tokens)) if counts is None else np.array(counts, dtype=np.float64)
    return Clouds(np.arange(len(tokens)), counts, np.array([0, len(tokens)]))


@given(integers, st.sampled_from(METRICS), st.data())
@settings(max_examples=examples(200), deadline=None)
def test_a_layer_is_the_definition_ties_and_multiplicities_included(rows, metric, data):
    counts = data.draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    tokens = np.array(rows, dtype=np.float64)
    moved = step(Ragged(tokens, [0, len(rows)], counts), hm.Dynamics("1/2", metric))
    found = walk(tokens, one_cloud(tokens, counts), metric=metric).tokens.numpy()
    np.testing.assert_allclose(found, np.asarray(moved.tokens, dtype=np.float64), atol=1e-12)


def test_a_vertex_given_twice_pulls_twice_as_hard():
    square = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], [0.5, 0.0]]
    assert walk(square, one_cloud(square)).tokens[4].tolist() == pytest.approx([2 / 3, 0.0])
    assert walk(square, one_cloud(square, [2, 1, 1, 1, 1])).tokens[4].tolist() == pytest.approx([2 / 3, 1 / 9])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("layers", [1, 3, 8])
def test_a_walk_is_that_of_simulate_with_the_same_leaders(draw_clouds, layers, metric):
    clouds = draw_clouds(3, clouds=20, counts=False)
    tokens = np.random.default_rng(4).normal(size=(len(clouds.ids), 2))
    found = walk(tokens, clouds, layers=layers, metric=metric)
    runs = hm.simulate(Ragged(tokens, clouds.offsets), hm.Dynamics("1/2", metric), layers=layers)
    for b, run in enumerate(runs):
        here = slice(clouds.offsets[b], clouds.offsets[b + 1])
        np.testing.assert_allclose(found.tokens[here].numpy(), run.at(layers), atol=1e-12)
        early = [(0 <= since < layers) for since in run.leader_since]
        assert found.leads[here].tolist() == early


@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("layers", [1, 4])
def test_the_derivative_is_exact_away_from_ties(draw_clouds, dimension, layers):
    clouds = draw_clouds(dimension)
    tokens = torch.tensor(np.random.default_rng(layers).normal(size=(len(clouds.ids), dimension)), requires_grad=True)
    alpha = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda z, a: pool(Hardmax().walk(z, clouds, a, layers).tokens, clouds), (tokens, alpha)
    )


def test_what_a_tied_token_is_given_goes_to_all_it_attends_to():
    tokens = torch.tensor([[1.0, 1.0], [1.0, -1.0], [0.5, 0.0]], dtype=torch.float64, requires_grad=True)
    Hardmax().walk(tokens, one_cloud(tokens, [3, 1, 1]), torch.tensor(1.0), 1).tokens[2].sum().backward()
    assert tokens.grad.tolist() == [[0.375, 0.375], [0.125, 0.125], [0.5, 0.5]]


def test_a_zero_token_attends_to_everybody():
    tokens = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
    assert walk(tokens, one_cloud(tokens), alpha=1.0).tokens[0].tolist() == pytest.approx([1 / 3, 1 / 3])


def test_softmax_tends_to_hardmax_as_it_gets_colder(draw_clouds):
    clouds = draw_clouds(5)
    tokens = torch.tensor(np.random.default_rng(6).normal(size=(len(clouds.ids), 2)))
    hard, alpha = walk(tokens, clouds, layers=3).tokens, torch.tensor(0.5, dtype=torch.float64)
    gaps = [float((Softmax(t).walk(tokens, clouds, alpha, 3).tokens - hard).abs().max()) for t in (0.1, 1e-6)]
    assert gaps[0] > 1e-3
    assert gaps[1] < 1e-9


def test_softmax_has_a_derivative_too(draw_clouds):
    clouds = draw_clouds(7)
    tokens = torch.tensor(np.random.default_rng(8).normal(size=(len(clouds.ids), 2)), requires_grad=True)
    alpha = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z, a: Softmax(0.5).walk(z, clouds, a, 2).tokens, (tokens, alpha))


@pytest.mark.parametrize("sizes", [[1], [3, 1, 5], [2, 0, 3], [0, 0], [], [40, 7, 12, 1, 30]])
@pytest.mark.parametrize("metric", METRICS)
def test_padded_products_find_the_sets_that_the_kernel_finds(sizes, metric):
    # What a GPU does, done here: ties, multiplicities and texts without a word included.
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rng = np.random.default_rng(len(sizes))
    tokens = torch.tensor(rng.integers(-2, 3, (offsets[-1], 2)).astype(np.float64))
    clouds = Clouds(np.arange(offsets[-1]), rng.integers(1, 4, offsets[-1]).astype(np.float64), offsets)
    here = find_attended(tokens, clouds, metric, None, torch.zeros(len(tokens), dtype=torch.bool))
    there = _find_on_device(tokens, clouds, metric)
    assert (there.starts.tolist(), there.members.tolist()) == (here.starts.tolist(), here.members.tolist())
    assert torch.equal(there.shares, here.shares)
    assert torch.equal(there.is_leader, here.is_leader)


def test_a_softmax_over_an_empty_cloud_does_no_harm_to_the_others():
    tokens = torch.tensor([[1.0, 1.0], [1.0, -1.0], [0.5, 0.0]], dtype=torch.float64, requires_grad=True)
    alpha = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    moved = []
    for offsets in ([0, 3], [0, 0, 3, 3]):
        clouds = Clouds(np.arange(3), np.ones(3), np.array(offsets))
        found = Softmax(0.5).walk(tokens, clouds, alpha, 2).tokens
        moved.append([found, *torch.autograd.grad((found**2).sum(), (tokens, alpha))])
    assert all(torch.equal(alone, among) for alone, among in zip(*moved, strict=True))
