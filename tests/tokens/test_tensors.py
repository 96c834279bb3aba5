"""Tensors are the numbers they hold, whatever their type, and come back as they came."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from refusals import listed_refusals

import hardmax as hm
from hardmax._tokens.batches import read_batch, read_table
from hardmax._tokens.tensors import TensorKind

torch = pytest.importorskip("torch")

ONE = hm.Dynamics(1)
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn]
WHOLE = [torch.int64, torch.int32, torch.int16, torch.int8]
WHOLE += [torch.uint8, torch.uint16, torch.uint32, torch.uint64]
# Three leaders and one that moves, in numbers that every type can hold.
TRIANGLE = [[12, 0], [0, 12], [0, 0], [3, 2]]


@pytest.mark.parametrize("dtype", [*FLOATS, *WHOLE], ids=str)
def test_a_tensor_is_the_numbers_it_holds_and_comes_back(dtype):
    tensor = torch.tensor(TRIANGLE).to(dtype)
    for table in (tensor, list(tensor)):
        assert read_table(table, "`tokens`").tolist() == TRIANGLE
    tenth = torch.tensor([[0.1]]).to(dtype)  # narrow floats are not taken for decimals
    assert read_table(tenth, "`tokens`").tolist() == [[tenth.item()]]
    for tokens in (tensor, list(tensor), tensor[None], [tensor]):
        found: Any = hm.simulate(tokens, ONE, layers=1).at(1)
        back = found if len(found) == 4 else found[0]
        assert back.dtype == (dtype if dtype in FLOATS else torch.float64)
        # Leaders do not move, not by a bit.
        assert torch.equal(back[:2].double(), tensor[:2].double())
        assert back[3].tolist() == [7.5, 1.0]


LARGE = [(torch.int64, 2**53 + 1), (torch.int64, -(2**63))]
LARGE += [(torch.int64, 2**63 - 1), (torch.uint64, 2**64 - 1)]


@pytest.mark.parametrize(("dtype", "large"), LARGE)
def test_integers_that_float64_would_round_stay_integers(dtype, large):
    cloud = torch.tensor([[large, 1], [large - large % 2, 1]], dtype=dtype)
    rows = [[cloud[0]], [cloud[1]]]
    ragged = hm.Clouds(cloud, [0, 2])
    for tokens in (cloud, cloud[None], [cloud], list(cloud), rows, ragged):
        clouds, _ = read_batch(tokens)
        found = [row for cloud in clouds for row in cloud.tokens.tolist()]
        assert found == cloud.tolist()
    run = hm.simulate(cloud, ONE, layers=0)
    assert run.points.count == 1 + large % 2
    assert run.points.coordinates[0, 0] == large
    assert hm.Dynamics(1, cloud[:1, :1]).metric.tolist() == [[large]]
    third = np.array([[Fraction(1, 3)]])
    assert TensorKind.of(cloud).tensor(third).tolist() == [[1 / 3]]  # type: ignore[union-attr]


@pytest.mark.parametrize("shape", [(2, 3, 2), (3,), (0, 2)])
def test_only_tables_go_a_layer_on_their_device_at_once(shape):
    pytest.importorskip("triton")
    from hardmax._runs.tensors import step_table

    assert step_table(torch.ones(shape), hm.Dynamics(1)) is None


test_a_wrong_call_is_refused_in_one_line = listed_refusals(globals())
