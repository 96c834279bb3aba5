"""Tensors are the numbers they hold, whatever their kind, and come back as they came."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hardmax as hm
from hardmax._tokens.batches import read_batch, read_table
from hardmax._tokens.tensors import TensorKind

torch = pytest.importorskip("torch")

ONE = hm.Dynamics(1)
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn]
WHOLE = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.uint16, torch.uint32, torch.uint64]
# Three leaders and one that moves, in numbers that every kind can hold.
TRIANGLE = [[12, 0], [0, 12], [0, 0], [3, 2]]


@pytest.mark.parametrize("dtype", [*FLOATS, *WHOLE], ids=str)
def test_a_tensor_is_the_numbers_it_holds(dtype: Any):
    tensor = torch.tensor(TRIANGLE).to(dtype)
    assert read_table(tensor, "`tokens`").tolist() == TRIANGLE
    assert read_table(list(tensor), "`tokens`").tolist() == TRIANGLE


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_narrow_floats_are_not_taken_for_decimals(dtype: Any):
    tenth = torch.tensor([[0.1]]).to(dtype)
    assert read_table(tenth, "`tokens`").tolist() == [[tenth.item()]]


def test_true_is_one():
    assert read_table(torch.tensor([[True, False]]), "`tokens`").tolist() == [[1.0, 0.0]]


LARGE = [(torch.int64, 2**53 + 1), (torch.int64, -(2**63)), (torch.int64, 2**63 - 1), (torch.uint64, 2**64 - 1)]


@pytest.mark.parametrize(("dtype", "large"), LARGE)
def test_whole_numbers_that_no_float_holds_stay_whole(dtype: Any, large: int):
    cloud = torch.tensor([[large, 1], [large - large % 2, 1]], dtype=dtype)
    for tokens in (cloud, cloud[None], [cloud], list(cloud), [[cloud[0]], [cloud[1]]], hm.Ragged(cloud, [0, 2])):
        clouds, _ = read_batch(tokens)
        assert [row for cloud in clouds for row in cloud.tokens.tolist()] == cloud.tolist()
    run = hm.simulate(cloud, ONE, layers=0)
    assert run.points.count == 1 + large % 2
    assert run.points.coordinates[0, 0] == large
    assert hm.Dynamics(1, cloud[:1, :1]).metric == ((large,),)


def test_a_row_of_floats_beside_a_row_of_whole_numbers_rounds_neither():
    rows = [torch.tensor([2**53 + 1, 0]), torch.tensor([0.1, 1.0], dtype=torch.float32)]
    tenth = Fraction(*np.float32(0.1).as_integer_ratio())
    assert read_table(rows, "`tokens`").tolist() == [[2**53 + 1, 0], [tenth, 1]]


# ---------------------------------------------------------------- giving back


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floats_come_back_as_floats_of_their_kind(dtype: Any):
    tensor = torch.tensor(TRIANGLE).to(dtype)
    run = hm.simulate(tensor, ONE, layers=1)
    back = run.at(1)
    assert back.dtype == dtype
    # Leaders do not move, not by a bit.
    assert torch.equal(back[:2].double(), tensor[:2].double())
    assert back[3].tolist() == [7.5, 1.0]


@pytest.mark.parametrize("dtype", [*WHOLE, torch.bool], ids=str)
def test_tokens_that_came_as_whole_numbers_come_back_where_they_are(dtype: Any):
    tensor = (
        torch.tensor([[True, False], [False, True], [True, True]]) if dtype == torch.bool else torch.tensor(TRIANGLE)
    )
    tensor = tensor.to(dtype)
    run, stacked = hm.simulate(tensor, ONE, layers=1), hm.simulate(tensor[None], ONE, layers=1)
    for back in (run.at(1), stacked.at(1)[0]):
        assert back.dtype == torch.float64
        assert back.tolist() == run.floats_at(1).tolist()
    assert (run.at(1) % 1 != 0).any()


def test_whole_numbers_that_no_float_holds_come_back_as_the_nearest():
    cloud = torch.tensor([[2**53 + 3, 0], [0, 2**53 + 1]])
    run = hm.simulate(cloud, ONE, layers=1)
    assert run.at(1).tolist() == [[float(2**53 + 4), 0.0], [0.0, float(2**53)]]
    assert TensorKind.of(cloud).tensor(np.array([[Fraction(1, 3)]])).tolist() == [[1 / 3]]  # type: ignore[union-attr]


def test_a_list_of_tensors_of_different_kinds_is_refused():
    double, half = torch.tensor([[0.1]], dtype=torch.float64), torch.tensor([[0.1]], dtype=torch.float16)
    assert TensorKind.of([double, double]) == TensorKind(torch.float64, torch.device("cpu"))
    assert TensorKind.of([]) is None
    for mixed in ([half, double], [double, double.numpy()], [double, double.tolist()]):
        with pytest.raises(hm.InputError, match="tensors of one dtype on one device"):
            hm.simulate(mixed, ONE, layers=0)


# ---------------------------------------------------------------- what has no numbers to read


def test_gradients_stay_behind():
    assert read_table(torch.ones(1, 1, requires_grad=True), "`tokens`").tolist() == [[1.0]]


def test_a_view_with_its_sign_turned_is_read():
    assert read_table(torch.tensor([[1 + 2j]], dtype=torch.complex128).conj().imag, "`tokens`").tolist() == [[-2.0]]


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (torch.ones(2, 2).to_sparse(), "dense tensor of real numbers, not torch.float32, torch.sparse_coo, on cpu"),
        (torch.ones(2, 2, device="meta"), "dense tensor of real numbers.*on meta"),
        (torch.ones(2, 2, dtype=torch.complex64), "real numbers, not complex64"),
        (torch.ones(2, 2, dtype=torch.complex64).conj(), "real numbers"),
        (torch.tensor([[1.0], [float("nan")]], dtype=torch.bfloat16), "token 1 is"),
        (torch.ones(2), r"shape \(n, d\)"),
        ([[torch.tensor(1.0), 2.0]], "finite number"),
    ],
)
def test_what_holds_no_real_numbers_is_refused(tensor: Any, message: str):
    with pytest.raises(hm.InputError, match=message) as refusal:
        hm.simulate(tensor, ONE, layers=1)
    assert "\n" not in str(refusal.value)
