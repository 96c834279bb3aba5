"""Tensors through the public calls: the true answers, given back on their GPU, or where its kernels
are interpreted."""

# pyright: reportMissingImports=false, reportIndexIssue=false, reportArgumentType=false
# ruff: noqa: E402
import numpy as np
import pytest
from agreement import assert_same_as_oracle
from effort import HAS_GPU, on_gpu
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Problem, problems

torch = pytest.importorskip("torch", reason="the GPU engine needs torch (extra `gpu`)")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
pytest.importorskip("triton", reason="the GPU engine needs triton (extra `gpu`)")

import hardmax as hm
from hardmax._gpu import argmax as gpu_argmax
from hardmax._runs import tensors as gpu_simulation
from hardmax._runs.tensors import step_table
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge
from hardmax.theorem import theorem_reason

pytestmark = pytest.mark.check

GPU = hm.Gpu(DEVICE)
HALF, SLOW = hm.Dynamics("1/2"), hm.Dynamics("1/10")
SQUARE = [[1.0, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]


def there(values, dtype=torch.float64):
    table = torch.tensor(np.asarray(values, dtype=np.float64))
    return table.to(dtype).to(DEVICE)


def gauss(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def repeated(n: int, d: int) -> np.ndarray:
    again = np.random.default_rng(d).integers(0, n, n)
    return gauss(n, n, d)[np.r_[0:n, again]]


def here(tensor) -> np.ndarray:
    assert tensor.device.type == DEVICE
    return tensor.cpu().double().numpy()


@settings(max_examples=on_gpu(100))
@given(problems(max_d=3, max_n=5))
def test_runs_and_steps_on_a_device_are_the_true_ones(problem: Problem):
    cloud, metric, alpha = problem
    tokens, dynamics = np.array(cloud, dtype=np.float64), hm.Dynamics(alpha, metric)
    run = hm.simulate(there(tokens), dynamics, layers=2, engine=GPU)
    (one,) = hm.simulate([there(tokens)], dynamics, layers=2, engine=GPU)
    kind = type(cloud[0][0])
    stored = [[kind(x) for x in row] for row in tokens.tolist()]
    assert_same_as_oracle([run, one], stored, metric, alpha, 2)
    # Where the first layer is proved there, a step is too; but equal tokens are merged by runs
    # alone.
    if len(np.unique(tokens, axis=0)) == len(tokens):
        moved = step_table(there(tokens), dynamics)
        assert (moved is not None) == (run.decided_by[0] == "gpu")


shapes = st.tuples(st.integers(1, 9), st.integers(1, 3))
masks = st.sampled_from([None, "causal"])


@settings(max_examples=on_gpu(200))
@given(st.integers(0, 2**32), shapes, st.sampled_from([1, 3]), st.booleans(), masks)
def test_a_step_is_the_definition_with_ties_repeats_zeros_and_a_causal_mask(
    seed, shape, size, tilted, mask
):
    n, d = shape
    rng = np.random.default_rng(seed)
    tokens = rng.integers(-size, size + 1, (n, d)).astype(float)
    if seed % 2:
        tokens = tokens[rng.integers(0, n, n)]
    metric = np.eye(d) + 0.25 if tilted else None
    dynamics = hm.Dynamics("1/3", metric, mask=mask)
    moved = step_table(there(tokens), dynamics)
    with_ties = hm.attended(tokens, dynamics)
    places = [{tuple(tokens[j]) for j in chosen} for chosen in with_ties]
    alone = all(len(place) == 1 for place in places)
    # All that attend to equal tokens alone are proved, others never; a cloud of zeros has no scale.
    assert (moved is not None) == (alone and bool(tokens.any()))
    if moved is not None:
        truth = hm.dynamics.step(tokens, dynamics)
        off = np.abs(here(moved) - truth).max()
        assert off <= 1e-15 * np.abs(tokens).max()


SIZES = [(129, 17), (300, 3)]
SIZES += [(127, 2), (513, 40)] if HAS_GPU else []


@pytest.mark.parametrize("mask", [None, "causal"])
@pytest.mark.parametrize(("n", "d"), SIZES)
def test_a_step_of_many_tokens_in_any_order_is_the_true_one(n, d, mask, monkeypatch):
    monkeypatch.setattr(gpu_argmax, "_UNSORTED", 1)
    monkeypatch.setattr(gpu_argmax, "_RECORDED", 0)
    lengths = np.random.default_rng(n).uniform(0.1, 1, (n, 1))
    tokens = gauss(n, n, d) * lengths + 3.0
    tokens[n // 2 :: 7] = tokens[n // 3]
    scores = tokens @ tokens.T
    if mask:
        scores[np.triu_indices(n, 1)] = -np.inf
    moved = step_table(there(tokens), hm.Dynamics("1/2", mask=mask))
    truth = (2 * tokens + tokens[scores.argmax(axis=1)]) / 3
    assert np.abs(here(moved) - truth).max() <= 1e-14


def test_what_a_run_says_is_what_the_processor_says():
    tokens, how = repeated(20, 2), {"layers": 8}
    ours = hm.simulate(there(tokens), SLOW, **how, engine=GPU)
    truth = hm.simulate(tokens, SLOW, **how)
    assert set(ours.decided_by) == {"gpu"}
    assert repr(ours) == repr(truth)
    assert ours.layers == truth.layers
    assert ours.stop_reason == truth.stop_reason
    assert ours.decided_at == truth.decided_at
    assert ours.leader_layers.tolist() == truth.leader_layers.tolist()
    assert (ours.margins <= truth.margins * (1 + 1e-9)).all()
    assert ours.error == pytest.approx(truth.error, rel=1e-9)
    for layer in (0, 2, 8):
        assert np.array_equal(here(ours.at(layer)), truth.at(layer))
        assert ours.attended(layer).tolist() == truth.attended(layer).tolist()


@pytest.mark.parametrize("given_as", [there, np.asarray])
def test_any_layer_and_the_limit_are_closed_forms(given_as):
    tokens = repeated(20, 2)
    ours, truth = hm.limit(given_as(tokens), HALF, engine=GPU), hm.limit(tokens, HALF)
    assert ours.settled_at == truth.settled_at
    assert theorem_reason(ours) == theorem_reason(truth)
    assert np.array_equal(ours.run.floats_at("limit"), truth.limit_points)
    for layer in (0, ours.settled_at, ours.settled_at + 1, 10**12):
        mine = np.asarray(ours.run.at(layer).tolist())
        assert np.array_equal(mine, truth.run.at(layer))
    assert ours.clusters.labels.tolist() == truth.clusters.labels.tolist()
    assert ours.prove() == truth.prove()
    assert hm.verify(ours.prove())


TYPES = [torch.float64, torch.float16, torch.bfloat16, torch.int32]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_tokens_are_given_back_in_their_dtype_on_their_device(dtype):
    tokens = there(gauss(1, 12, 3) * 50, dtype)
    back = torch.float64 if dtype == torch.int32 else dtype
    run = hm.simulate(tokens, HALF, layers=3, engine=GPU)
    lim = hm.limit(tokens, HALF, engine=GPU)
    truth = hm.simulate(tokens.cpu().double().numpy(), HALF, layers=3)
    layers = run.at(0), run.at(3), run.at(900)
    for tensor in (*layers, lim.limit_points, lim.run.at("limit")):
        assert tensor.dtype == back
        assert tensor.device == tokens.device
    expected = torch.from_numpy(truth.at(3))
    assert torch.equal(run.at(3), expected.to(tokens.device, back))


def test_a_tie_goes_to_the_processor_and_comes_back_as_a_tensor():
    tokens = there(SQUARE, torch.float32)
    run = hm.simulate(tokens, HALF, layers=9, engine=GPU)
    assert run.arithmetic == "exact"
    assert "gpu" not in run.decided_by
    lim = hm.limit(tokens, HALF, engine=GPU)
    for tensor in (run.at(10_000), lim.limit_points):
        assert here(tensor)[4].tolist() == [1.0, 0.0]
        assert tensor.dtype == torch.float32


tokens_of = st.integers(1, 60), st.integers(1, 4)


@settings(max_examples=on_gpu(200))
@given(st.integers(0, 2**32), *tokens_of, st.booleans())
def test_equal_tokens_are_merged_as_by_the_processor(seed, n, d, weighted):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(-1, 2, (n, d)) * 0.1 + 0.0
    counts = rng.integers(1, 9, n) if weighted else None
    ours = gpu_simulation.merge_on_device(Cloud(there(tokens), counts))
    truth = merge(Cloud(tokens, counts))
    for part in ("coordinates", "multiplicities", "of_token"):
        assert getattr(ours, part).tolist() == getattr(truth, part).tolist()


def test_a_batch_goes_to_the_processor_and_comes_back_in_its_form_on_its_device():
    six = [*SQUARE, [1, 1]]
    tables = [there(table) for table in (*gauss(5, 2, 6, 2), six)]
    ragged = hm.Clouds(torch.cat(tables), [0, 6, 12, 18])
    truth = hm.limits([here(table) for table in tables], HALF)
    for batch in (tables, torch.stack(tables), ragged):
        ours = hm.limits(batch, HALF, engine=GPU)
        assert type(ours.limit_points) is type(batch)
        for mine, its in zip(ours.limit_points, truth.limit_points, strict=True):
            assert np.array_equal(here(mine), its)
        assert ours.settled_at == truth.settled_at


SEVERAL = [(5, 3), (300, 20_000)] if HAS_GPU else [(5, 3)]


@pytest.mark.parametrize("sizes", SEVERAL)
def test_a_search_that_is_made_again_leaves_earlier_answers_as_they_are(sizes):
    # From the third on a GPU replays what it has recorded, in memory that all recordings share.
    clouds = [there(gauss(seed, sizes[seed % 2], 3)) for seed in range(8)]
    moved = [hm.step(cloud, HALF) for cloud in clouds]
    for cloud, after in zip(clouds, moved, strict=True):
        target = cloud[(cloud @ cloud.T).argmax(dim=1)]
        expected = (2 * cloud + target) / 3
        np.testing.assert_allclose(after.cpu(), expected.cpu(), rtol=0, atol=1e-14)
