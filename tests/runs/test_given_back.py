"""Tokens that came as torch tensors are given back as such: of their dtype, on their device, in
their form."""

# pyright: reportMissingImports=false, reportIndexIssue=false
# ruff: noqa: E402
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from refusals import refuses

torch = pytest.importorskip("torch", reason="needs torch")

import hardmax as hm

HALF = hm.Dynamics("1/2")
SLOW = hm.Dynamics("1/10")
TABLE = np.random.default_rng(0).standard_normal((60, 3))
DTYPES = {
    torch.float64: torch.float64,
    torch.float32: torch.float32,
    torch.float16: torch.float16,
    torch.bfloat16: torch.bfloat16,
    torch.int64: torch.float64,
    torch.uint8: torch.float64,
}


def limit_of(tokens: Any) -> Any:
    one = getattr(tokens, "ndim", 0) == 2
    return hm.limit(tokens, HALF) if one else hm.limits(tokens, HALF)


ASKED: dict[str, Callable[[Any], Any]] = {
    "at": lambda tokens: hm.simulate(tokens, HALF, layers=4).at(4),
    "at, beyond": lambda tokens: hm.simulate(tokens, HALF).at(30),
    "ends": lambda tokens: hm.simulate(tokens, HALF).at("limit"),
    "points": lambda tokens: limit_of(tokens).limit_points,
    "step": lambda tokens: hm.step(tokens, HALF),
}


def parts(result: Any) -> list[Any]:
    """The tables of one cloud or many."""
    if isinstance(result, hm.Clouds):
        return [result[cloud] for cloud in range(len(result))]
    return result if isinstance(result, list) else [result]


def forms(tokens: Any) -> dict[str, Any]:
    return {
        "cloud": tokens,
        "list": [tokens[:10], tokens[10:35], tokens[35:]],
        "stack": tokens.reshape(5, 12, 3),
        "ragged": hm.Clouds(tokens, [0, 10, 35, 60]),
    }


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("form", ["cloud", "list", "stack", "ragged"])
@pytest.mark.parametrize("asked", ASKED)
def test_what_came_as_tensors_is_given_back_as_tensors(dtype, form, asked):
    tokens = torch.tensor(TABLE * 20).abs().to(dtype)
    given, plain = forms(tokens)[form], forms(tokens.double().numpy())[form]
    ours, truth = ASKED[asked](given), ASKED[asked](plain)
    assert type(ours) is type(given)
    for mine, its in zip(parts(ours), parts(truth), strict=True):
        assert (mine.dtype, mine.device.type) == (DTYPES[dtype], "cpu")
        assert torch.equal(mine, torch.from_numpy(its).to(DTYPES[dtype]))


def test_the_path_of_a_tensor_is_a_tensor():
    run, truth = (
        hm.simulate(tokens, HALF, layers=3)
        for tokens in (torch.tensor(TABLE).float(), TABLE.astype("f4"))
    )
    assert torch.equal(torch.stack([*run]), torch.from_numpy(np.asarray(truth)).float())


def test_what_is_given_back_belongs_to_whoever_asked():
    for form in ("cloud", "list", "stack", "ragged"):
        runs = hm.simulate(forms(torch.tensor(TABLE))[form], HALF, layers=2)
        first, again = runs.at(2), runs.at(2)
        for table in parts(first):
            table.zero_()
        assert all(not table.eq(0).any() for table in parts(again) + parts(runs.at(2)))


def test_tokens_that_require_gradients_are_refused_unless_nobody_asks_for_any():
    tokens = torch.tensor(TABLE, requires_grad=True)
    for call in (hm.step, lambda *asked: hm.simulate(*asked, layers=1)):
        for given in (tokens, [tokens, tokens], torch.stack([tokens, tokens])):
            with refuses(r"pass tokens.detach\(\), or use hardmax.torch.HardmaxAttention"):
                call(given, HALF)
        call(tokens.detach(), HALF)
    with torch.no_grad():
        hm.step(tokens, HALF)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16], ids=str)
def test_whatever_else_a_run_tells_does_not_depend_on_how_its_tokens_came(dtype):
    tokens = torch.tensor(TABLE[36:48]).to(dtype)
    mine, its = hm.limit(tokens, SLOW), hm.limit(tokens.double().numpy(), SLOW)
    assert its.settled_at > 0
    assert mine.clusters.labels.tolist() == its.clusters.labels.tolist()
    assert np.array_equal(mine.clusters.limit_points, its.clusters.limit_points)
    assert np.array_equal(mine.polytope().vertices, its.polytope().vertices)
    assert (mine.limit_error, mine.layers_to("1e-3")) == (its.limit_error, its.layers_to("1e-3"))
    assert mine.prove() == its.prove()
    assert mine.run.to_pandas().equals(its.run.to_pandas())
    assert torch.equal(mine.run.at(5), torch.from_numpy(its.run.at(5)).to(dtype))
