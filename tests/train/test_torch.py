"""The layer of networks beside the definition and the exact engines, and its derivative beside
differences."""

# pyright: reportMissingImports=false
# ruff: noqa: E402
import numpy as np
import pytest
from refusals import listed_refusals

torch = pytest.importorskip("torch", reason="the layer needs torch")
import hardmax as hm
from hardmax.torch import HardmaxAttention

TILTED = [[2, 1], [1, 1]]
needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
on_devices = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
with_metrics = pytest.mark.parametrize("metric", [None, TILTED], ids=["identity", "tilted"])


def random_clouds(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape)


def tied_clouds(*shape: int) -> np.ndarray:
    """Small integers: repeated tokens, the origin, and ties; their scores are exact in floats."""
    return np.random.default_rng(1).integers(-2, 3, size=shape).astype(float)


@on_devices
@with_metrics
@pytest.mark.parametrize("draw", [random_clouds, tied_clouds])
def test_a_layer_is_a_step(device, metric, draw):
    for cloud in draw(2, 30, 2):
        layer = HardmaxAttention("1/2", metric).to(device)
        moved = layer(torch.tensor(cloud, device=device))
        expected = hm.step(cloud, hm.Dynamics("1/2", metric))
        np.testing.assert_allclose(moved.cpu(), expected, rtol=0, atol=1e-15)


@on_devices
@with_metrics
@pytest.mark.parametrize("draw", [random_clouds, tied_clouds])
def test_several_layers_are_a_simulation(device, metric, draw):
    cloud = draw(40, 2)
    layer = HardmaxAttention(1, metric, layers=4).to(device)
    moved = layer(torch.tensor(cloud, device=device)).cpu()
    expected = hm.simulate(cloud, layer.dynamics, layers=4).at(4)
    np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-14)


@on_devices
@pytest.mark.parametrize("draw", [random_clouds, tied_clouds])
def test_a_cloud_in_a_batch_moves_as_it_does_alone(device, draw):
    layer = HardmaxAttention(1, layers=3).to(device)
    batch = torch.tensor(draw(5, 12, 3), device=device, requires_grad=True)
    sizes = torch.tensor([12, 7, 1, 0, 4], device=device)
    mask = torch.arange(12, device=device) < sizes[:, None]
    moved = layer(batch.where(mask[..., None], torch.nan), mask)
    loss = (moved[mask] ** 2).sum()
    together = torch.autograd.grad(loss, batch)[0]
    assert moved[~mask].isnan().all()
    for cloud, size, after, grad in zip(batch, sizes.tolist(), moved, together, strict=True):
        if size:
            alone = layer(cloud[:size])
            torch.testing.assert_close(after[:size], alone)
            [gradient] = torch.autograd.grad((alone**2).sum(), cloud)
            torch.testing.assert_close(grad, gradient)
        assert not grad[size:].any()


@on_devices
def test_the_derivative_is_that_of_differences(device):
    layer = HardmaxAttention(0.7, TILTED, layers=3, learn_alpha=True)
    layer = layer.double().to(device)
    tokens = torch.tensor(random_clouds(2, 4, 2), device=device, requires_grad=True)
    assert layer.raw_alpha is not None
    raw = layer.raw_alpha.detach().clone().requires_grad_()

    def run(tokens, raw):
        return torch.func.functional_call(layer, {"raw_alpha": raw}, (tokens,))

    assert torch.autograd.gradcheck(run, (tokens, raw), nondet_tol=1e-12)
    assert torch.autograd.gradgradcheck(run, (tokens, raw), nondet_tol=1e-12)


@on_devices
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_shorter_floats_choose_as_exact_numbers_do(device, dtype):
    clouds = torch.tensor(random_clouds(2, 300, 4))
    tokens = clouds.to(device, dtype).requires_grad_()
    layer = HardmaxAttention(0.5, learn_alpha=True).to(device, dtype)
    with torch.autocast(device, dtype=torch.bfloat16):
        moved = layer(tokens)
    exact = tokens.detach().double().cpu()
    expected = hm.step(exact, hm.Dynamics(0.5)).to(dtype)
    slack = 20 * torch.finfo(dtype).eps
    torch.testing.assert_close(moved.cpu(), expected, rtol=0, atol=slack)
    moved.sum().backward()  # all in all the gradients add up to one per number
    total = tokens.grad.double().sum().item()
    assert total == pytest.approx(tokens.numel(), rel=0.01)


@pytest.mark.check
def test_compiled_it_is_the_same():
    layer = HardmaxAttention(1, TILTED, layers=2, learn_alpha=True)
    tokens = torch.tensor(tied_clouds(3, 9, 2), dtype=torch.float32, requires_grad=True)
    runs = (layer, torch.compile(layer, fullgraph=True, backend="aot_eager"))
    gradients = []
    for run in runs:
        loss = run(tokens).pow(2).sum()
        gradients.append(torch.autograd.grad(loss, (tokens, layer.raw_alpha)))
    plain, compiled = gradients
    torch.testing.assert_close(plain, compiled)


def test_a_network_learns_from_another():
    def network(alpha):
        linear = torch.nn.Linear(3, 2, bias=False)
        attention = HardmaxAttention(alpha, learn_alpha=True, layers=2)
        return torch.nn.Sequential(linear, attention)

    torch.manual_seed(0)
    clouds = torch.randn(64, 10, 3)
    teacher, student = network(2.0), network(0.5)
    target, losses = teacher(clouds).mean(1).detach(), []
    optimizer = torch.optim.Adam(student.parameters(), lr=0.05)
    for _ in range(100):
        found = student(clouds).mean(1)
        losses.append(torch.nn.functional.mse_loss(found, target))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < 0.05 * losses[0]


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
