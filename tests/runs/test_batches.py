"""One cloud and many clouds are the same call, and results come back in the form in which the tokens came."""

from fractions import Fraction

import numpy as np
import pytest

import hardmax as hm
from hardmax._tokens.batches import read_batch

DYNAMICS = hm.Dynamics("1/2")
SMALL = np.array([[1.0, 0.0], [0.5, 0.5]])
LARGE = np.array([[2.0, 1.0], [-1.0, 1.0], [0.0, 3.0]])


def test_one_cloud_gives_one_table():
    assert hm.step(SMALL, DYNAMICS).shape == (2, 2)
    assert hm.simulate(SMALL, DYNAMICS, layers=3).tokens.shape == (4, 2, 2)


def test_a_list_of_clouds_gives_a_list():
    together = hm.step([SMALL, LARGE], DYNAMICS)
    assert isinstance(together, list)
    assert [cloud.tolist() for cloud in together] == [hm.step(cloud, DYNAMICS).tolist() for cloud in (SMALL, LARGE)]
    assert [len(sets) for sets in hm.attended([SMALL, LARGE], DYNAMICS)] == [2, 3]


def test_a_stack_of_clouds_gives_a_stack():
    stack = np.stack([LARGE, -LARGE, LARGE / 2])
    assert hm.step(stack, DYNAMICS).shape == stack.shape
    assert hm.simulate(stack, DYNAMICS, layers=2).at(2).shape == stack.shape


def test_tokens_with_offsets_give_tokens_with_offsets():
    ragged = hm.Ragged(np.concatenate([SMALL, LARGE]), offsets=[0, 2, 5])
    after = hm.step(ragged, DYNAMICS)
    assert isinstance(after, hm.Ragged)
    assert after.offsets.tolist() == [0, 2, 5]
    assert after[1].tolist() == hm.step(LARGE, DYNAMICS).tolist()
    runs = hm.simulate(ragged, DYNAMICS, layers=1)
    assert np.allclose(runs.at(1).tokens, after.tokens, rtol=1e-15)
    assert len(runs) == 2


@pytest.mark.parametrize("arithmetic", ["certified", "exact"])
def test_tokens_that_came_counted_stay_counted(arithmetic):
    # Two vertices tie for the inner token, and one of them counts twice.
    square = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0]]
    ragged = hm.Ragged(square, [0, 5], [2, 1, 1, 1, 1])
    runs = hm.simulate(ragged, DYNAMICS, layers=2, arithmetic=arithmetic)
    twice = hm.step(hm.step(ragged, DYNAMICS), DYNAMICS)
    assert np.allclose(twice.tokens, runs.at(2).tokens, rtol=1e-15)
    for after in (twice, runs.at(1), hm.limit(ragged, DYNAMICS, arithmetic=arithmetic).points):
        assert after.multiplicities.tolist() == [2, 1, 1, 1, 1]


def test_the_run_of_a_cloud_does_not_depend_on_its_batch():
    rng = np.random.default_rng(0)
    batch = [rng.standard_normal((int(n), 3)) for n in rng.integers(1, 40, size=20)]
    runs = hm.simulate(batch, DYNAMICS, layers=10)
    for cloud, run in zip(batch, runs, strict=True):
        assert np.array_equal(hm.simulate(cloud, DYNAMICS, layers=10).tokens, run.tokens)


def test_rationals_come_back_as_rationals():
    after = hm.step([["1/3", 0], ["-1/7", "0.1"]], DYNAMICS)
    assert all(isinstance(value, Fraction) for value in after.flat)


def test_float32_and_whole_numbers_are_the_numbers_they_are():
    thirds = np.array([[1 / 3, 1.0]], dtype=np.float32)
    assert hm.step(thirds, DYNAMICS).tolist() == thirds.astype(float).tolist()
    assert hm.step(np.array([[3, 1], [1, 1]]), DYNAMICS).dtype == np.float64
    huge = 2**60 + 1
    assert hm.step([[huge, 0]], DYNAMICS)[0, 0] == huge


def test_minus_zero_is_zero():
    assert hm.simulate([[0.0, 1.0], [-0.0, 1.0]], DYNAMICS, layers=0).leaders.tolist() == [0, 1]


def test_numbers_as_they_are_written():
    assert hm.parse_decimals([[1.4, 0.1]]).tolist() == [[Fraction(7, 5), Fraction(1, 10)]]
    for dtype in (np.float32, np.float16, np.longdouble):
        assert hm.parse_decimals(np.array(["1.4", "0.1"], dtype=dtype)).tolist() == [Fraction(7, 5), Fraction(1, 10)]
    assert hm.parse_decimals([[2**60 + 1, "0.1"]]).tolist() == [[2**60 + 1, Fraction(1, 10)]]


LAYOUTS = {
    "stack": lambda stack: stack,
    "list": list,
    "lists": lambda stack: stack.tolist(),
    "texts": lambda stack: stack.astype(str),
    "ragged": lambda stack: hm.Ragged(np.concatenate(stack), np.arange(len(stack) + 1) * stack.shape[1]),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_wrong_in_a_batch_is_told_with_its_place(layout, bad):
    stack = np.random.default_rng(0).standard_normal((5, 4, 2))
    stack[3, 2, 1] = bad
    places = {"texts": r"\(cloud 3\) \(row 2, column 1\)", "ragged": "`tokens` must be finite: token 14 is"}
    with pytest.raises(
        hm.InputError, match=places.get(layout, r"`tokens` \(cloud 3\) must be finite: token 2 is \[-?\d")
    ):
        read_batch(LAYOUTS[layout](stack))


@pytest.mark.parametrize("layout", ["stack", "list", "ragged"])
def test_a_batch_is_looked_through_once(layout, monkeypatch):
    tokens = LAYOUTS[layout](np.random.default_rng(0).standard_normal((50, 4, 2)))
    looks = []
    monkeypatch.setattr("numpy.isfinite", lambda array, look=np.isfinite: looks.append(len(array)) or look(array))
    clouds, _ = read_batch(tokens)
    assert len(clouds) == 50
    assert looks == ([] if layout == "ragged" else [200])  # Ragged was checked when it was made


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_run_does_not_follow_the_array_it_came_from(layout):
    stack = np.random.default_rng(0).standard_normal((5, 4, 2))
    tokens, before = LAYOUTS[layout](stack), stack.copy()
    runs = hm.simulate(tokens, DYNAMICS, layers=2)
    stack[:] = 0.0
    if layout == "ragged":
        tokens.tokens[:] = 0.0
    assert np.array_equal(np.concatenate(list(map(np.asarray, runs.at(0)))).reshape(5, 4, 2), before)
    assert np.array_equal([run.at(0) for run in runs], before)


def test_the_clouds_of_a_table_are_a_sequence():
    ragged = hm.Ragged([[1.0], [2.0], [3.0]], [0, 1, 3], [1, 2, 3])
    clouds, _ = read_batch(ragged)
    assert (
        [cloud.tolist() for cloud in ragged] == [cloud.tokens.tolist() for cloud in clouds] == [[[1.0]], [[2.0], [3.0]]]
    )
    assert ragged[-1].tolist() == clouds[-1].tokens.tolist() == [[2.0], [3.0]]
    assert [np.asarray(cloud.multiplicities).tolist() for cloud in clouds] == [[1], [2, 3]]
    for beyond in (2, -3):
        with pytest.raises(IndexError):
            ragged[beyond]
        with pytest.raises(IndexError):
            clouds[beyond]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "empty"),
        (np.zeros((0, 2)), "empty"),
        (np.zeros((2, 0)), "d must be at least 1"),
        ([1.0, 2.0], r"shape \(n, d\).*\(n, 1\)"),
        ([[1.0, 2.0], [3.0]], "rows of different lengths"),
        ([[1.0], 2.0], "rows of different lengths"),
        ([[0.0, 1.0], [np.nan, 1.0]], "token 1 is"),
        (np.array([[0.0], [0.0], [np.inf]]), "token 2 is"),
        ([["1", "two"]], r"row 0, column 1.*'two'"),
        ([["1/0"]], "finite number"),
        ([[1j]], "finite number"),
        (np.zeros((2, 2), dtype=complex), "real numbers"),
        ([[[1.0]], [[1.0, 2.0]]], "cloud 0 has 1, cloud 1 has 2"),
        ([[[1.0]], [[np.nan]]], "cloud 1"),
        ([[Fraction(10) ** 400]], "largest float"),
        (np.zeros((0, 3, 2)), "`tokens` is empty: a batch needs at least one cloud"),
        (np.zeros((3, 0, 2)), r"`tokens` \(cloud 0\) is empty"),
        (np.zeros((3, 2, 0)), r"`tokens` \(cloud 0\) has tokens without coordinates"),
        (np.zeros((1, 1, 1, 1)), r"shape \(1, 1, 1, 1\)"),
        (np.zeros((2, 2, 2), dtype=complex), "real numbers, not complex128"),
        ("points.csv", "shape"),
        (None, "shape"),
    ],
)
def test_bad_tokens_get_one_clear_line(tokens, message):
    with pytest.raises(hm.InputError, match=message) as caught:
        hm.simulate(tokens, DYNAMICS, layers=1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("offsets", "multiplicities", "message"),
    [
        ([0, 1], None, "`offsets` must run from 0 to the number of tokens"),
        ([1, 5], None, "`offsets` must run from 0 to the number of tokens"),
        ([0, 2, 2, 5], None, "without empty clouds"),
        ([0, 7, 5], None, "without empty clouds"),
        ([0, 2**63 - 1, -(2**63) + 1, 5], None, "without empty clouds"),
        ([0.0, 5.0], None, "`offsets` must be whole numbers"),
        ([False, 5], None, "`offsets` must be whole numbers"),
        (np.array([0.0, 5.0]), None, "`offsets` must be whole numbers"),
        (np.array([True, False]), None, "`offsets` must be whole numbers"),
        (np.array([0, 5], dtype="m8[ns]"), None, "`offsets` must be whole numbers"),
        ([0, "5"], None, "`offsets` must be whole numbers"),
        ([[0], [5]], None, "`offsets` must run"),
        ([[0, 5], [5]], None, "`offsets` must be whole numbers"),
        (np.array([[0], [5]]), None, "`offsets` must run"),
        (5, None, "`offsets` must run"),
        (None, None, "`offsets` must be whole numbers"),
        ([], None, "`offsets` must run"),
        (np.array([0, 2**64 - 1, 5], dtype=np.uint64), None, "`offsets` must be whole numbers below 2\\^63"),
        ([0, 2**64, 5], None, "`offsets` must be whole numbers below 2\\^63"),
        ([0, 5], [1, 2], "`multiplicities` must be 5 whole numbers"),
        ([0, 5], [[1], [1], [1], [1], [1]], "`multiplicities` must be 5 whole numbers"),
        ([0, 5], [1, 1, 0, 1, 1], "from 1 up"),
        ([0, 5], [1, 1, -3, 1, 1], "from 1 up"),
        ([0, 5], [1, 1, 1.0, 1, 1], "`multiplicities` must be whole numbers"),
        ([0, 5], [1, True, 1, 1, 1], "`multiplicities` must be whole numbers"),
        ([0, 5], np.ones(5, dtype=bool), "`multiplicities` must be whole numbers"),
        ([0, 5], np.array([1, 1, 2**64 - 1, 1, 1], dtype=np.uint64), "`multiplicities` must be .* below 2\\^63"),
        ([0, 5], [1, 1, 2**70, 1, 1], "`multiplicities` must be whole numbers below 2\\^63"),
        ([0, 2, 5], [1, 1, 2**62, 2**62, 1], "`multiplicities` of a cloud must add up"),
        ([0, 2, 5], [1, 1, 2**53, 1, 1], "`multiplicities` of a cloud .* a common factor"),
        ([0, 5], [2**63 - 1] * 5, "`multiplicities` of a cloud must add up"),
    ],
)
def test_bad_offsets_get_one_clear_line(offsets, multiplicities, message):
    with pytest.raises(hm.InputError, match=message) as caught:
        hm.Ragged(np.concatenate([SMALL, LARGE]), offsets=offsets, multiplicities=multiplicities)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, list, tuple])
def test_whole_numbers_of_any_kind_are_offsets_and_multiplicities(kind):
    make = kind if kind in (list, tuple) else lambda numbers: np.array(numbers, dtype=kind)
    ragged = hm.Ragged(np.concatenate([SMALL, LARGE]), make([0, 2, 5]), make([1, 2, 3, 4, 5]))
    assert ragged.offsets.tolist() == [0, 2, 5]
    assert ragged.multiplicities is not None
    assert ragged.multiplicities.tolist() == [1, 2, 3, 4, 5]
    assert ragged.offsets.dtype == ragged.multiplicities.dtype == np.int64


def test_multiplicities_are_counted_to_the_last_one():
    # Two tokens in one place, as many as floats can count; each cloud for itself.
    most = [2**52 + 1, 1, 2**52 - 2]
    ragged = hm.Ragged([[1.0], [-1.0], [1.0]] * 2, offsets=[0, 3, 6], multiplicities=most * 2)
    for run in hm.simulate(ragged, DYNAMICS, layers=0):
        assert run.points.multiplicities.tolist() == [2**53 - 1, 1]
    # The zero token sees all, and so shows the mean: 2^53 - 2 against 1.
    ragged = hm.Ragged([[1.0], [-1.0], [0.0]], offsets=[0, 3], multiplicities=[2**53 - 2, 1, 1])
    zero = hm.simulate(ragged, hm.Dynamics(1), layers=1, arithmetic="exact")[0].exact_at(1)[2, 0]
    assert zero == Fraction(2**53 - 3, 2**53) / 2
