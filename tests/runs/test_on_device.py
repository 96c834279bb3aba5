"""Tensors through the public calls on a GPU: the processor's answers, given back where the tokens are.

On a GPU where there is one, else its kernels interpreted.
"""

# pyright: reportMissingImports=false, reportIndexIssue=false
# ruff: noqa: E402
import sys

import numpy as np
import pytest
from effort import interpreted, some
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Problem, clouds, problems

torch = pytest.importorskip("torch", reason="the GPU engine needs torch (extra `gpu`)")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
pytest.importorskip("triton", reason="the GPU engine needs triton (extra `gpu`)")

import hardmax as hm
from hardmax import engines as machines
from hardmax._batch_runs import OneByOne, Together
from hardmax._gpu import batch as gpu_batch
from hardmax._gpu import tensors as gpu_points
from hardmax._gpu.simulation import DeviceTrajectory, TogetherThere
from hardmax._gpu.tensors import merge_there
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge
from hardmax.engines import Gpu

GPU = Gpu(DEVICE)
HALF = hm.Dynamics("1/2")
SLOW = hm.Dynamics("1/10")
SQUARE = [[1.0, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]


def there(values, dtype=torch.float64):
    return torch.tensor(np.asarray(values, dtype=np.float64)).to(dtype).to(DEVICE)


def gauss(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def here(tensor) -> np.ndarray:
    assert tensor.device.type == DEVICE
    return tensor.cpu().double().numpy()


@pytest.fixture(autouse=True)
def _tensors_count_as_on_a_gpu(monkeypatch):
    """`step` takes no engine: where there is no GPU, one is put in its place."""
    if DEVICE == "cpu":
        processor = machines.machine_for

        def machine_for(tokens, asked):
            return GPU if asked is None and machines.kind_of(tokens) is not None else processor(tokens, asked)

        monkeypatch.setattr("hardmax.simulation.machine_for", machine_for)


# One cloud


@settings(max_examples=interpreted(25), deadline=None)
@given(problems())
def test_a_cloud_full_of_ties_is_walked_as_by_the_processor(problem: Problem):
    cloud, metric, alpha = problem
    tokens, dynamics = np.array(cloud, dtype=np.float64), hm.Dynamics(alpha, metric)
    ours, truth = hm.simulate(there(tokens), dynamics, layers=3, engine=GPU), hm.simulate(tokens, dynamics, layers=3)
    assert (ours.settled_at, ours.leaders.tolist()) == (truth.settled_at, truth.leaders.tolist())
    for layer in range(4):
        assert ours.attended(layer).tolist() == truth.attended(layer).tolist()
        assert np.linalg.norm(here(ours.at(layer)) - truth.at(layer), axis=1).max() <= ours.error + truth.error
    assert np.array_equal(here(ours.tokens), np.stack([here(ours.at(layer)) for layer in range(4)]))


def repeated(n: int, d: int) -> np.ndarray:
    return gauss(n, n, d)[np.r_[0:n, np.random.default_rng(d).integers(0, n, n)]]


@pytest.mark.parametrize("record", some([hm.Every(1), hm.Every(3), hm.LastOnly()]))
def test_what_a_run_tells_is_what_the_processor_tells(record):
    tokens = repeated(20, 2)
    ours, truth = (
        hm.simulate(each, SLOW, layers=8, record=record, engine=engine)
        for each, engine in ((there(tokens), GPU), (tokens, None))
    )
    assert isinstance(ours, DeviceTrajectory)
    assert set(ours.decided_by.values()) == {"gpu"}
    assert repr(ours) == repr(truth)
    assert (ours.recorded, ours.stopped, ours.decided_at) == (truth.recorded, truth.stopped, truth.decided_at)
    assert ours.leader_layers.tolist() == truth.leader_layers.tolist()
    assert ours.points.multiplicities.tolist() == truth.points.multiplicities.tolist()
    assert (ours.margins <= truth.margins * (1 + 1e-9)).all()
    assert ours.error == pytest.approx(truth.error, rel=1e-9)
    for layer in (0, 2, 8):
        assert np.array_equal(here(ours.at(layer)), truth.at(layer))
        assert np.array_equal(ours.floats_at(layer), truth.at(layer))
        assert ours.attended(layer).tolist() == truth.attended(layer).tolist()


def test_any_layer_and_the_limit_are_closed_forms():
    tokens = repeated(30, 2)
    ours, truth = (hm.limit(each, HALF, engine=engine) for each, engine in ((there(tokens), GPU), (tokens, None)))
    assert ours.settled_at == truth.settled_at
    assert np.array_equal(here(ours.points), truth.points)
    for layer in (0, ours.settled_at, ours.settled_at + 1, 40, 10**12):
        assert np.array_equal(here(ours.run.at(layer)), truth.run.at(layer))
    assert ours.clusters.labels.tolist() == truth.clusters.labels.tolist()
    assert np.array_equal(ours.polytope.vertices, truth.polytope.vertices)
    assert ours.certificate == truth.certificate
    assert hm.verify(ours.certificate)
    assert ours.theorem_reason == truth.theorem_reason == "tokens are repeated: they were merged, with multiplicities"


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int32], ids=str)
def test_tokens_are_given_back_in_their_dtype_on_their_device(dtype):
    tokens = there(gauss(1, 20, 3) * 50, dtype)
    back = torch.float64 if dtype == torch.int32 else dtype
    run, lim = hm.simulate(tokens, HALF, layers=3, engine=GPU), hm.limit(tokens, HALF, engine=GPU)
    truth = hm.simulate(tokens.cpu().double().numpy(), HALF, layers=3)
    results = (run.at(0), run.at(3), run.tokens, run.at(900), lim.points, lim.run.ends(), hm.step(tokens, HALF))
    for tensor in results:
        assert (tensor.dtype, tensor.device) == (back, tokens.device)
    assert torch.equal(run.at(3), torch.from_numpy(truth.at(3)).to(tokens.device, back))


def test_a_tie_goes_to_the_processor_and_comes_back_as_a_tensor():
    run, lim = (
        hm.simulate(there(SQUARE, torch.float32), HALF, layers=9, engine=GPU),
        hm.limit(there(SQUARE), HALF, engine=GPU),
    )
    assert run.arithmetic == "exact"
    assert "gpu" not in run.decided_by.values()
    assert run.at(10_000)[4].tolist() == [1.0, 0.0]
    assert (run.at(2).dtype, run.at(2).device.type) == (torch.float32, DEVICE)
    assert lim.points[4].tolist() == [1.0, 0.0]
    assert (lim.points.dtype, lim.points.device.type) == (torch.float64, DEVICE)


def test_a_run_that_has_not_settled_says_what_the_processor_says():
    turning = hm.Dynamics(1, metric=[[0, -1], [1, 0]])
    tokens = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]  # a chase
    said = []
    for each, engine in ((tokens, None), (there(tokens), GPU)):
        run = hm.simulate(each, turning, layers=4, engine=engine)
        for ask in (run.ends, lambda run=run: run.at(9)):
            with pytest.raises(hm.InputError) as caught:
                ask()
            said.append(str(caught.value))
    assert said[:2] == said[2:]
    mine, its = (hm.limit(each, turning, at_most=9, engine=e) for each, e in ((there(tokens), GPU), (tokens, None)))
    assert (mine.settled_at, mine.cycle, mine.arithmetic) == (None, its.cycle, "certified")
    assert mine.cycle is not None
    assert mine.cycle.chase == (0, 1, 2, 3)
    assert mine.bound == pytest.approx(its.bound, rel=1e-12)


def test_runs_on_a_device_are_saved_like_any_other(tmp_path):
    tokens = gauss(2, 20, 2)
    run = hm.simulate(there(tokens), SLOW, layers=5, engine=GPU)
    run.save(tmp_path / "run.npz")
    assert np.array_equal(hm.Trajectory.load(tmp_path / "run.npz").tokens, hm.simulate(tokens, SLOW, layers=5).tokens)
    assert run.to_pandas().equals(hm.simulate(tokens, SLOW, layers=5).to_pandas())


def test_tokens_changed_afterwards_change_no_run_and_results_belong_to_whoever_asked():
    for tokens in (there(gauss(3, 12, 2)), there(gauss(4, 2, 6, 2))):
        run = hm.simulate(tokens, HALF, layers=1, engine=GPU)
        before = [run.at(layer).clone() for layer in (0, 1, 50)]
        tokens.zero_()
        for layer in (0, 1, 50):
            run.at(layer).zero_()
        run.ends().zero_()
        assert all(torch.equal(run.at(layer), was) for layer, was in zip((0, 1, 50), before, strict=True))


# Merging


@settings(max_examples=interpreted(30), deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 4), st.booleans())
def test_equal_tokens_are_merged_as_by_the_processor(seed, n, d, weighted):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(-1, 2, (n, d)) * 0.1
    counts = rng.integers(1, 9, n) if weighted else None
    assert_same_points(merge_there(there(tokens) + 0.0, counts), merge(Cloud(tokens, counts)))


def assert_same_points(ours, truth):
    assert (ours.tokens, ours.count, ours.dimension) == (truth.tokens, truth.count, truth.dimension)
    assert np.array_equal(ours.coordinates, truth.coordinates)
    assert ours.multiplicities.tolist() == truth.multiplicities.tolist()
    assert ours.of_token.tolist() == truth.of_token.tolist()
    assert np.array_equal(here(ours.spread(ours.there)), truth.coordinates[truth.of_token])


def test_a_zero_with_a_sign_is_zero():
    tokens = [[0.0, 1.0], [-0.0, 1.0], [4.0, 4.0], [-4.0, -5.0]]
    run = hm.simulate(there(tokens), HALF, layers=1, engine=GPU)
    assert (run.points.count, run.arithmetic) == (3, "certified")
    assert torch.signbit(run.at(0)).sum() == 2


def test_tokens_that_share_a_key_are_not_taken_for_equal(monkeypatch):
    tokens = repeated(20, 3)
    monkeypatch.setattr(
        gpu_points, "keys_of", lambda tokens: torch.zeros(len(tokens), dtype=torch.int64, device=DEVICE)
    )
    assert_same_points(merge_there(there(tokens)), merge(Cloud(tokens)))


def test_keys_of_numbers_that_look_alike_differ():
    whole = np.stack(np.meshgrid(np.arange(-20, 21), np.arange(-20, 21)), axis=-1).reshape(-1, 2)
    for tokens in (whole, whole * 2.0**-40, whole + 2.0**40, whole[:, ::-1] * [1, 2**30]):
        assert len(torch.unique(gpu_points.keys_of(there(tokens) + 0.0))) == len(whole)


# The door


@pytest.mark.parametrize(
    "values",
    [
        torch.ones(3),
        torch.ones(0, 2),
        torch.ones(2, 0),
        torch.ones(1, 2, 3, 4),
        torch.ones(2, 2, dtype=torch.complex64),
        torch.tensor([[0.0, 1.0], [torch.nan, 2.0]]),
        torch.tensor([[[0.0, 1.0]], [[-torch.inf, 2.0]]]),
        [torch.ones(2, 2), torch.ones(2, 3)],
        [torch.ones(2, 2), torch.ones(0, 2)],
        [torch.ones(2, 2), torch.full((1, 2), torch.inf)],
        torch.ones(2, 3),
    ],
)
def test_what_is_no_cloud_is_told_in_the_words_of_the_processor(values):
    dynamics = hm.Dynamics(1, metric=[[2, 1], [1, 2]])
    on_device = [each.to(DEVICE) for each in values] if isinstance(values, list) else values.to(DEVICE)
    said = []
    for given_tokens, engine in ((values, hm.engines.Cpu()), (on_device, GPU)):
        with pytest.raises(hm.InputError) as caught:
            hm.simulate(given_tokens, dynamics, layers=1, engine=engine)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_what_is_not_dense_is_refused():
    with pytest.raises(hm.InputError, match="must be a dense tensor of real numbers"):
        hm.simulate(torch.eye(3, device=DEVICE).to_sparse(), HALF, layers=1, engine=GPU)


def test_whole_numbers_beyond_floats_stay_what_they_are():
    tokens = torch.tensor([[2**53 + 1, 5], [2**53, 5], [3, 1]], device=DEVICE)
    run = hm.simulate(tokens, HALF, layers=1, engine=GPU)
    assert run.points.count == 3
    assert (run.at(1).dtype, run.at(1).device) == (torch.float64, tokens.device)


def test_there_is_no_other_arithmetic_and_no_eleventh_gpu():
    with pytest.raises(hm.InputError, match="has no GPU engine"):
        hm.simulate(there(SQUARE), HALF, layers=1, arithmetic="float", engine=GPU)
    with pytest.raises(hm.InputError, match="torch finds no device 'cuda:11'"):
        hm.simulate(there(SQUARE), HALF, layers=1, engine=Gpu("cuda:11"))


# Batches

BATCH = [*gauss(5, 2, 6, 2), np.array([*SQUARE, [1, 1]]), repeated(3, 2)]


def batches(dtype=torch.float64) -> dict:
    tables = [there(table, dtype) for table in BATCH]
    counts = 1 + np.arange(6 * len(tables)) % 3
    return {
        "list": [*tables, tables[0][:3]],
        "stack": torch.stack(tables),
        "ragged": hm.Ragged(torch.cat(tables), np.arange(len(tables) + 1) * 6, counts),
    }


def off_device(batch):
    if isinstance(batch, hm.Ragged):
        return hm.Ragged(here(batch.tokens), batch.offsets, batch.multiplicities)
    return list(map(here, batch)) if isinstance(batch, list) else here(batch)


def tables_of(batch) -> list:
    return [batch[cloud] for cloud in range(len(batch))]


@pytest.mark.parametrize(
    ("form", "stop"), [("list", hm.Settled()), ("stack", hm.AfterLayers(6)), ("ragged", hm.Settled())]
)
def test_a_batch_is_walked_as_by_the_processor(form, stop):
    given_tokens = batches()[form]
    ours, truth = (
        hm.simulate(each, HALF, stop=stop, engine=engine)
        for each, engine in ((given_tokens, GPU), (off_device(given_tokens), None))
    )
    assert isinstance(ours.runs, TogetherThere)
    assert isinstance(truth.runs, Together)
    assert (len(ours), ours.decided_by_integers, ours.certified) == (len(truth), truth.decided_by_integers, True)
    assert ours.decided_by_integers > 0
    assert ours.settled_at == truth.settled_at
    assert [led.tolist() for led in ours.leaders] == [led.tolist() for led in truth.leaders]
    assert ours.error == truth.error
    for ask in (lambda runs: runs.at(0), lambda runs: runs.at(6), lambda runs: runs.at(77)):
        mine = ask(ours)
        assert type(mine) is type(given_tokens)
        for table, its in zip(tables_of(mine), tables_of(ask(truth)), strict=True):
            assert np.array_equal(here(table), its)
    for table, its in zip(tables_of(ours.ends()), tables_of(truth.ends()), strict=True):
        assert np.array_equal(here(table), its)


@pytest.mark.parametrize("form", some(["stack", "list", "ragged"]))
def test_limits_and_steps_of_a_batch(form):
    given_tokens = batches(torch.float32)[form]
    plain = off_device(given_tokens)
    for mine, its in (
        (hm.limit(given_tokens, HALF, engine=GPU).points, hm.limit(plain, HALF).points),
        (hm.step(given_tokens, HALF), hm.step(plain, HALF)),
    ):
        assert type(mine) is type(given_tokens)
        for table, truth in zip(tables_of(mine), tables_of(its), strict=True):
            assert table.dtype == torch.float32
            assert np.abs(here(table) - truth).max() <= 1e-6


def test_one_run_of_a_batch_is_that_of_its_cloud(tmp_path):
    stack = batches(torch.float16)["stack"]
    runs = hm.simulate(stack, HALF, layers=4, engine=GPU)
    alone = [hm.simulate(table, HALF, layers=4, engine=GPU) for table in stack]
    assert len(runs[1:3]) == 2
    for one, other in zip(runs, alone, strict=True):
        assert (one.arithmetic, one.leaders.tolist()) == (other.arithmetic, other.leaders.tolist())
        assert torch.equal(one.tokens, other.tokens)
    runs.save(tmp_path / "runs.npz")
    back = hm.Trajectories.load(tmp_path / "runs.npz")
    assert np.array_equal(back.at(4), hm.simulate(here(stack), HALF, layers=4).at(4))


def test_a_batch_that_has_not_settled_says_what_the_processor_says():
    stack = gauss(0, 2, 12, 2)
    said = []
    for each, engine in ((stack, None), (there(stack), GPU)):
        runs = hm.simulate(each, SLOW, layers=0, engine=engine)
        for ask in (runs.ends, lambda runs=runs: runs.at(1)):
            with pytest.raises(hm.InputError) as caught:
                ask()
            said.append(str(caught.value))
    assert said[:2] == said[2:]


def test_layers_beyond_settling_are_those_that_are_walked():
    runs = hm.simulate(there(gauss(7, 3, 9, 2)), SLOW, stop=hm.Settled(), engine=GPU)
    assert len(set(runs.settled_at)) > 1
    last = max(runs.settled_at)
    walked = hm.simulate(runs.at(0), SLOW, layers=last + 3, engine=GPU)
    assert torch.equal(runs.at(last + 3), walked.runs.outcome.tokens.reshape(3, 9, 2))
    assert torch.equal(runs.at(10**9), runs.ends())


def test_clouds_too_large_for_a_program_are_walked_one_by_one(monkeypatch):
    monkeypatch.setattr(gpu_batch, "LARGEST_CLOUD", 5)
    given_tokens = batches()["stack"]
    calls = []
    ours = hm.simulate(given_tokens, HALF, layers=4, engine=GPU, progress=lambda *done: calls.append(done))
    truth = hm.simulate(here(given_tokens), HALF, layers=4)
    assert isinstance(ours.runs, OneByOne)
    assert np.abs(here(ours.at(4)) - truth.at(4)).max() <= ours.error + truth.error
    assert ours.at(4).shape == given_tokens.shape
    assert calls[-1] == (4, 4)
    assert np.abs(here(hm.step(given_tokens, HALF)) - hm.step(here(given_tokens), HALF)).max() <= 1e-15 * 10


def test_progress_is_told_when_the_kernel_is_done():
    calls = []
    hm.simulate(batches()["stack"], HALF, layers=1, engine=GPU, progress=lambda *done: calls.append(done))
    assert calls == [(4, 4)]


@settings(max_examples=12, deadline=None)
@given(st.lists(clouds(min_d=2, max_d=2, max_n=6), min_size=1, max_size=2), st.sampled_from(["1/2", 1, "1/10"]))
def test_a_step_is_that_of_the_definition_up_to_ten_roundings(batch, alpha):
    dynamics = hm.Dynamics(alpha)
    tables = [np.array(cloud, dtype=np.float64) for cloud in batch]
    for tokens, plain in (([there(table) for table in tables], tables), (there(tables[0]), tables[0])):
        moved, truth = hm.step(tokens, dynamics), hm.step(plain, dynamics)
        for mine, its, start in zip(parts(moved), parts(truth), parts(plain), strict=True):
            reach = np.linalg.norm(start, axis=1).max()
            assert np.linalg.norm(here(mine) - its, axis=1).max() <= 10 * 2.0**-53 * reach


def parts(result) -> list:
    return result if isinstance(result, list) else [result]


# What leaves the device


@pytest.fixture
def nothing_fetched(monkeypatch):
    """Only a few numbers may be taken off a tensor by this package. The interpreter of kernels takes what it needs."""
    for name in ("cpu", "numpy", "tolist", "__array__"):
        original = getattr(torch.Tensor, name)

        def counted(tensor, *args, name=name, original=original, **options):
            asked_by = sys._getframe(1).f_globals["__name__"]
            assert tensor.numel() <= 8 or not asked_by.startswith("hardmax"), f"{asked_by} fetches {tensor.shape}"
            return original(tensor, *args, **options)

        monkeypatch.setattr(torch.Tensor, name, counted)


@pytest.mark.parametrize("form", some(["cloud", "list", "stack", "ragged"]))
def test_tokens_are_taken_nowhere_else(nothing_fetched, form):
    tokens = there(gauss(8, 20, 3), torch.float32)
    given_tokens = {
        "cloud": tokens,
        "list": [tokens[:8], tokens[8:]],
        "stack": tokens.reshape(2, 10, 3),
        "ragged": hm.Ragged(tokens, [0, 8, 20]),
    }[form]
    runs = hm.simulate(given_tokens, HALF, layers=3, engine=GPU)
    results = [runs.at(0), runs.at(2), runs.at(3), hm.limit(given_tokens, HALF, engine=GPU).points]
    settled = hm.simulate(given_tokens, HALF, stop=hm.Settled(), engine=GPU)
    results += [settled.at(500), settled.ends(), hm.step(given_tokens, HALF)]
    results += [runs.tokens] if form == "cloud" else [runs[1].tokens]
    assert len(results) == 8
    with pytest.raises(AssertionError, match="fetches"):
        _ = runs.leaders if form == "cloud" else runs.settled_at and runs.leaders
