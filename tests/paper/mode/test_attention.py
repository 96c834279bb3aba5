import pytest

torch = pytest.importorskip("torch")

from hardmax.dynamics import Dynamics, step  # noqa: E402
from hardmax.paper.mode.attention import hardmax_means, softmax_means  # noqa: E402


def tokens(seed: int = 0, *, repeated: bool = False):
    drawn = torch.randn(3, 12, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    if repeated:
        drawn[:, 6:] = drawn[:, :1]  # as padding is
    return drawn


def test_hardmax_is_the_layer_of_the_definition():
    cloud, alpha = tokens(), 0.5
    ours = (cloud + alpha * hardmax_means(cloud)) / (1 + alpha)
    for one, found in zip(cloud, ours, strict=True):
        torch.testing.assert_close(found, torch.from_numpy(step(one.numpy(), Dynamics(alpha))))


def test_a_cold_softmax_is_hardmax_also_where_words_repeat():
    cloud = tokens(repeated=True)
    torch.testing.assert_close(softmax_means(cloud, 1e-6), hardmax_means(cloud))


def test_the_derivative_of_hardmax_goes_to_the_tokens_chosen():
    cloud = tokens(1).requires_grad_()
    assert torch.autograd.gradcheck(hardmax_means, (cloud,), eps=1e-7, atol=1e-6)
    weights = torch.linspace(-1, 1, cloud.numel(), dtype=torch.float64).view_as(cloud)
    (ours,) = torch.autograd.grad((hardmax_means(cloud) * weights).sum(), cloud)
    chosen = (cloud @ cloud.transpose(1, 2)).argmax(2)
    theirs = torch.zeros_like(cloud).scatter_add_(1, chosen[:, :, None].expand_as(cloud), weights)
    torch.testing.assert_close(ours, theirs)
