"""Training on a GPU beside training on the processor: the same walk, the same derivatives. Needs a GPU."""

# pyright: reportMissingImports=false, reportOptionalMemberAccess=false
# ruff: noqa: E402
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch (extra `train`)")
if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)

from small_training import LEARNS_ALPHA, TOKENS, examples

from hardmax.train.attended import find_attended
from hardmax.train.clouds import Clouds
from hardmax.train.layer import Hardmax, Softmax
from hardmax.train.loop import Folder, decide, train
from hardmax.train.network import Network, make_network
from hardmax.train.recipe import Recipe
from hardmax.train.starting import Start

TILTED = np.array([[2.0, 1.0], [1.0, 1.0]])
LAYERS = {
    "hardmax": Hardmax(),
    "tilted": Hardmax(TILTED),
    "softmax": Softmax(0.3),
    "softmax, tilted": Softmax(0.3, TILTED),
}


def on_both(job):
    """What a job says on the processor and on the GPU, off the device."""
    return [[part.detach().cpu() for part in job(device)] for device in ("cpu", "cuda")]


def assert_close(said, **how):
    for here, there in zip(*said, strict=True):
        assert here.dtype == there.dtype
        torch.testing.assert_close(here, there, **how)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@pytest.mark.parametrize("layers", [1, 8])
def test_a_gpu_walks_and_learns_as_the_processor_does(draw_clouds, layer, dtype, layers):
    clouds = draw_clouds(9, clouds=50, most=40)
    tokens = np.random.default_rng(10).normal(size=(len(clouds.ids), 2))
    weights = np.random.default_rng(11).normal(size=tokens.shape)

    def job(device):
        z = torch.tensor(tokens, dtype=dtype, device=device, requires_grad=True)
        alpha = torch.tensor(0.7, dtype=dtype, device=device, requires_grad=True)
        walked = LAYERS[layer].walk(z, clouds, alpha, layers)
        (walked.tokens * torch.tensor(weights, dtype=dtype, device=device)).sum().backward()
        return walked.tokens, walked.leads, z.grad, alpha.grad

    # A softmax that is nearly hard multiplies the roundings of float32 from layer to layer.
    single = {"rtol": 1e-3, "atol": 1e-2 if "softmax" in layer else 1e-5}
    assert_close(on_both(job), **({} if dtype == torch.float64 else single))


@pytest.mark.parametrize("metric", [None, TILTED], ids=["identity", "tilted"])
def test_ties_and_multiplicities_are_the_same_sets_and_shares(draw_clouds, metric):
    clouds = draw_clouds(12, clouds=60, most=12)
    tokens = np.random.default_rng(13).integers(-2, 3, (len(clouds.ids), 2)).astype(np.float64)

    def job(device):
        nobody = torch.zeros(len(tokens), dtype=torch.bool, device=device)
        found = find_attended(torch.tensor(tokens, device=device), clouds, metric, None, nobody)
        return found.starts, found.members, found.shares, found.only, found.is_leader

    said = on_both(job)
    assert int((said[0][3] < 0).sum()) > 50  # there are ties
    assert_close(said, rtol=0, atol=1e-15)


def test_clouds_of_one_token_and_no_clouds_at_all():
    for sizes in ([1], [1, 3, 1], [2, 0, 1], [0, 0], []):
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        clouds = Clouds(np.arange(offsets[-1]), np.ones(offsets[-1]), offsets)
        tokens = np.random.default_rng(14).normal(size=(int(offsets[-1]), 3))

        def job(device, clouds=clouds, tokens=tokens):
            walked = Hardmax().walk(torch.tensor(tokens, device=device), clouds, torch.tensor(1.0, device=device), 3)
            return walked.tokens, walked.leads

        assert_close(on_both(job))


def test_a_network_on_a_gpu_has_the_logits_and_gradients_of_one_on_the_processor(draw_clouds):
    clouds = draw_clouds(15, clouds=40, most=30)
    rng = np.random.default_rng(16)
    embeddings, decoder = rng.normal(size=(len(clouds.ids), 2)), rng.normal(size=(3, 2))

    def job(device):
        network = Network(
            Start(embeddings, decoder, np.zeros(len(decoder))), Recipe(layers=4, alpha=0.8), Hardmax()
        ).to(device)
        network.growth.requires_grad_(True)
        decided = network(clouds, network.alpha)
        torch.nn.functional.cross_entropy(decided.logits, torch.arange(len(clouds), device=device) % 3).backward()
        grads = [parameter.grad for parameter in (network.embeddings, network.decoder, network.bias, network.growth)]
        return decided.logits, decided.leads, *grads

    assert_close(on_both(job), rtol=1e-3, atol=1e-5)


def test_a_network_trained_on_a_gpu_decides_as_one_trained_on_the_processor(tmp_path):
    data, logits = examples(), []
    for device in ("cpu", "cuda"):
        network = make_network(TOKENS, 2, LEARNS_ALPHA, Hardmax()).to(device)
        (tmp_path / device).mkdir()
        reports = train(network, data, LEARNS_ALPHA, folder=Folder(tmp_path / device, "small"))
        assert len(reports) == LEARNS_ALPHA.epochs
        logits.append(np.asarray(decide(network, data.clouds, network.alpha)[0])[:, 0])
    assert np.mean((logits[0] > 0) == (logits[1] > 0)) > 0.95
    assert np.corrcoef(logits)[0, 1] > 0.99
