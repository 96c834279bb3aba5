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
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
DTYPES = {dtype: dtype for dtype in FLOATS}
DTYPES |= {torch.int64: torch.float64, torch.uint8: torch.float64}


def limit_of(tokens: Any) -> Any:
    one = getattr(tokens, "ndim", 0) == 2
    return hm.limit(tokens, HALF) if one else hm.limits(tokens, HALF)


ASKED: dict[str, Callable[[Any], Any]] = {
    "at": lambda tokens: hm.simulate(tokens, HALF, layers=4).at(4),
    "at, beyond": lambda tokens: hm.simulate(tokens, HALF).at(30),
}
ASKED["ends"] = lambda tokens: hm.simulate(tokens, HALF).at("limit")
ASKED["points"] = lambda tokens: limit_of(tokens).limit_points
ASKED["step"] = lambda tokens: hm.step(tokens, HALF)


def parts(result: Any) -> list[Any]:
    """The tables of one cloud or many."""
    if isinstance(result, hm.Clouds):
        return [result[cloud] for cloud in range(len(result))]
    return result if isinstance(result, list) else [result]


def forms(tokens: Any) -> dict[str, Any]:
    found = {"cloud": tokens, "stack": tokens.reshape(5, 12, 3)}
    found["list"] = [tokens[:10], tokens[10:35], tokens[35:]]
    found["ragged"] = hm.Clouds(tokens, [0, 10, 35, 60])
    return found


FORMS = ["cloud", "list", "stack", "ragged"]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("asked", ASKED)
def test_what_came_as_tensors_is_given_back_as_tensors(dtype, form, asked):
    tokens = torch.tensor(TABLE * 20).abs().to(dtype)
    given = forms(tokens)[form]
    plain = forms(tokens.double().numpy())[form]
    ours, truth = ASKED[asked](given), ASKED[asked](plain)
    assert type(ours) is type(given)
    for mine, its in zip(parts(ours), parts(truth), strict=True):
        assert mine.dtype == DTYPES[dtype]
        assert mine.device.type == "cpu"
        assert torch.equal(mine, torch.from_numpy(its).to(mine.dtype))


def test_the_path_of_a_tensor_is_a_tensor():
    run = hm.simulate(torch.tensor(TABLE).float(), HALF, layers=3)
    truth = hm.simulate(TABLE.astype("f4"), HALF, layers=3)
    expected = torch.from_numpy(np.asarray(truth))
    assert torch.equal(torch.stack([*run]), expected.float())


def test_what_is_given_back_belongs_to_whoever_asked():
    for form in FORMS:
        tokens = forms(torch.tensor(TABLE))[form]
        runs = hm.simulate(tokens, HALF, layers=2)
        first, again = runs.at(2), runs.at(2)
        for table in parts(first):
            table.zero_()
        for table in parts(again) + parts(runs.at(2)):
            assert not table.eq(0).any()


def test_tokens_that_require_gradients_are_refused_unless_nobody_asks_for_any():
    tokens = torch.tensor(TABLE, requires_grad=True)
    several = [tokens, tokens]
    for call in (hm.step, lambda *asked: hm.simulate(*asked, layers=1)):
        for given in (tokens, several, torch.stack(several)):
            with refuses(r"pass tokens.detach\(\), or use hardmax.torch.HardmaxAttention"):
                call(given, HALF)
        call(tokens.detach(), HALF)
    with torch.no_grad():
        hm.step(tokens, HALF)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16], ids=str)
def test_whatever_else_a_run_tells_does_not_depend_on_how_its_tokens_came(dtype):
    tokens = torch.tensor(TABLE[36:48]).to(dtype)
    mine = hm.limit(tokens, SLOW)
    its = hm.limit(tokens.double().numpy(), SLOW)
    assert its.settled_at > 0
    assert mine.clusters.labels.tolist() == its.clusters.labels.tolist()
    assert np.array_equal(mine.clusters.limit_points, its.clusters.limit_points)
    assert np.array_equal(mine.polytope().vertices, its.polytope().vertices)
    assert mine.limit_error == its.limit_error
    assert mine.layers_to("1e-3") == its.layers_to("1e-3")
    assert mine.prove() == its.prove()
    assert mine.run.to_pandas().equals(its.run.to_pandas())
    expected = torch.from_numpy(its.run.at(5))
    assert torch.equal(mine.run.at(5), expected.to(dtype))
