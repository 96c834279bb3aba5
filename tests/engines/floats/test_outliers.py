"""Tokens far out, or next to nothing, among others: the truth, and hardly more work than without
them."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from agreement import assert_same_sets
from effort import examples, some
from hypothesis import given, settings
from hypothesis import strategies as st

import hardmax as hm
from hardmax._exact.positions import ExactPositions
from hardmax._float import active_set, bands
from hardmax._float.active_set import shell_of
from hardmax._float.bounds import Frame
from hardmax._float.search import Cpu
from hardmax._tokens.batches import Cloud
from hardmax._tokens.points import merge

SIZES = [1e20, 1e50, 1e100, 1e154, 1e200, 1e300]


class Work:
    """How many candidates searches list, and how many exact positions are asked for."""

    candidates = positions = 0


@contextmanager
def counted() -> Iterator[Work]:
    work, search, place = Work(), Cpu._argmax, ExactPositions.place

    def count_candidates(self, *arguments):
        result = search(self, *arguments)
        work.candidates += len(result.candidates.indices)
        return result

    def count_positions(self, *arguments):
        work.positions += 1
        return place(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cpu, "_argmax", count_candidates)
        patch.setattr(ExactPositions, "place", count_positions)
        yield work


def metric_of(d: int) -> np.ndarray:
    mixed = np.random.default_rng(d).standard_normal((d, d))
    return mixed @ mixed.T + np.eye(d)


def cloud_of(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((n, d))


def in_one_coordinate(tokens: np.ndarray, size: float) -> None:
    tokens[7, 0] = size


def negative(tokens: np.ndarray, size: float) -> None:
    tokens[7, -1] = -size


def in_all_coordinates(tokens: np.ndarray, size: float) -> None:
    tokens[7] *= size / np.abs(tokens[7]).max()


def along_an_axis(tokens: np.ndarray, size: float) -> None:
    tokens[7] = 0
    tokens[7, tokens.shape[1] // 2] = size


def three_along_axes(tokens: np.ndarray, size: float) -> None:
    d = tokens.shape[1]
    tokens[[3, 70, 700], [0, d // 2, d - 1]] = size * np.array([1.0, -0.5, 0.3])


def five_anywhere(tokens: np.ndarray, size: float) -> None:
    there = np.random.default_rng(5).standard_normal((5, tokens.shape[1]))
    tokens[[1, 50, 500, 800, 900]] = there / np.abs(there).max(axis=1, keepdims=True) * size


PLACES = [
    in_one_coordinate,
    negative,
    in_all_coordinates,
    along_an_axis,
    three_along_axes,
    five_anywhere,
]
FAR = [(d, size, place) for d in (1, 2, 3, 5, 16) for size in SIZES for place in PLACES]


@pytest.mark.parametrize("has_metric", [False, True])
@pytest.mark.parametrize(("d", "size", "place"), some(FAR))
def test_tokens_far_out_need_no_exact_positions_and_hardly_any_candidates(
    d, size, place, has_metric
):
    tokens = cloud_of(2500, d)
    place(tokens, size)
    with counted() as work:
        lim = hm.limit(tokens, hm.Dynamics("1/2", metric_of(d) if has_metric else None))
    assert lim.settled_at is not None
    # Each direction may have one token or another that comes close; it was once every second token.
    assert work.candidates <= 100
    assert work.positions <= 100


@pytest.mark.parametrize("d", [1, 2, 3, 16])
@pytest.mark.parametrize("place", [in_all_coordinates, along_an_axis, five_anywhere])
def test_nor_do_tokens_next_to_nothing(d, place):
    tokens = cloud_of(2500, d)
    place(tokens, 1e-300)
    with counted() as work:
        hm.limit(tokens, hm.Dynamics("1/2"))
    assert (work.candidates, work.positions) == (0, 0)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_a_token_far_out_takes_hardly_more_memory(d):
    tokens, peaks = cloud_of(6000, d), []
    for size in (1.0, 1e20):
        in_one_coordinate(tokens, size)
        hm.limit(tokens, hm.Dynamics("1/2"))
        tracemalloc.start()
        hm.limit(tokens, hm.Dynamics("1/2"))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] <= 3 * peaks[0]


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("size", [1e8, 1e20, 1e300])
def test_whoever_is_between_a_leader_far_out_and_the_others_is_soon_left_out(d, size):
    tokens = cloud_of(4000, d)
    in_one_coordinate(tokens, size)
    run = hm.simulate(tokens, hm.Dynamics("1/2"), layers=2)
    assert len(run.details.phases[1].source) < 2000  # pyright: ignore[reportAttributeAccessIssue]


garbled = st.integers(0, 2**64 - 1).map(lambda bits: float(np.uint64(bits).view(np.float64)))
exponents = st.sampled_from([5, 8, 12, 16, 20, 50, 100, 154, 200, 300, 308, -20, -100, -300, -320])
far_numbers = st.one_of(
    st.builds(lambda exponent, sign: sign * 10.0**exponent, exponents, st.sampled_from([-1, 1])),
    garbled.filter(np.isfinite),
)


@st.composite
def clouds_with_outliers(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray | None]:
    n, d = draw(st.integers(6, 14)), draw(st.sampled_from([1, 2, 3, 5]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    is_grid = draw(st.booleans())
    tokens = rng.integers(-3, 4, (n, d)).astype(float) if is_grid else rng.standard_normal((n, d))
    for number in draw(st.lists(far_numbers, max_size=5)):
        row, axis = draw(st.integers(0, n - 1)), draw(st.integers(0, d - 1))
        place = draw(st.sampled_from(["coordinate", "axis", "all"]))
        if place == "all":
            tokens[row] = number * rng.choice([-1.0, 0.5, 1.0], d)
        else:
            tokens[row] *= place == "coordinate"
            tokens[row, axis] = number
    metrics = [
        None,
        np.diag(np.arange(1.0, d + 1)),
        metric_of(d).round(2),
        np.diag(np.arange(d) % 2 + 0.0),
    ]
    return tokens, metrics[draw(st.integers(0, 3))]


@settings(max_examples=examples(1500))
@given(clouds_with_outliers(), st.sampled_from(["1/2", "10", "1/1000", "1000"]), st.data())
def test_whatever_sizes_tokens_have_all_attend_as_in_truth(drawn, alpha, data):
    tokens, metric = drawn
    layers = 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bands, "_FEW", data.draw(st.sampled_from([0, 2, 5])))
        patch.setattr(bands, "_WIDTH", data.draw(st.sampled_from([3, 20])))
        patch.setattr(bands, "_NARROW", data.draw(st.sampled_from([2.0**-40, 2.0**-10])))
        patch.setattr(active_set, "_FEWEST_POINTS", data.draw(st.sampled_from([0, np.inf])))
        run = hm.simulate(tokens, hm.Dynamics(alpha, metric), layers=layers)
    cloud = [[Fraction(x) for x in row] for row in tokens.tolist()]
    matrix = None if metric is None else [[Fraction(x) for x in row] for row in metric.tolist()]
    history = list(oracle.walk(cloud, Fraction(alpha), matrix, layers))
    assert_same_sets(run, history)
    assert dict(
        zip(run.leaders.tolist(), run.leader_layers.tolist(), strict=True)
    ) == oracle.leaders_of(history)
    off = [
        Fraction(x) - y
        for row, wish in zip(run.at(layers).tolist(), history[-1][0], strict=True)
        for x, y in zip(row, wish, strict=True)
    ]
    assert max(map(abs, off)) <= Fraction(run.error) * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("seed", range(12))
def test_garbled_bytes_in_a_file_do_not_keep_its_limit_waiting(seed, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(seed)
    tokens = rng.standard_normal((2500, int(rng.integers(1, 6))))
    bits = rng.integers(0, 2**64, 5, dtype=np.uint64).view(np.float64)
    row, axis = rng.integers(2000), rng.integers(tokens.shape[1])
    tokens[row : row + 5, axis] = np.where(np.isfinite(bits), bits, 1e300)
    path = tmp_path / "tokens.parquet"
    pq.write_table(pa.table({f"z{axis}": column for axis, column in enumerate(tokens.T)}), path)
    with counted() as work:
        found = hm.limit(path, hm.Dynamics("1/2"))
    lim = hm.limit(tokens, hm.Dynamics("1/2"))
    assert (found.settled_at, found.leaders.tolist()) == (lim.settled_at, lim.leaders.tolist())
    assert work.candidates <= 20 * len(tokens)
    assert work.positions <= 20 * len(tokens)


def test_decimals_far_out_are_told_from_the_others_by_floats():
    tokens = [[f"{x:.7f}" for x in row] for row in cloud_of(400, 2).tolist()]
    for size in ("1e20", "1e300"):
        tokens[7][0] = size
        with counted() as work:
            run = hm.simulate(tokens, hm.Dynamics("1/2"), layers=2)
        assert (work.candidates, work.positions) == (0, 0)
        truth = hm.simulate(tokens, hm.Dynamics("1/2"), layers=2, arithmetic="exact")
        sets = [[each.attended(layer).tolist() for layer in range(3)] for each in (run, truth)]
        assert sets[0] == sets[1]


@pytest.mark.parametrize("seed", range(20))
def test_points_go_together_that_have_attended_to_the_same_in_every_phase(seed):
    rng = np.random.default_rng(seed)
    tokens = rng.standard_normal((60, 2)) * 10.0 ** rng.choice([0, 20], (60, 1), p=[0.9, 0.1])
    run = hm.simulate(tokens, hm.Dynamics("1/2"), layers=3)
    exact: Any = run.details.phases[-1].exactly
    assert isinstance(exact.source, ExactPositions)
    sets = [run.attended(layer).tolist() for layer in range(len(exact.source._records))]
    followed = 0
    for i, j in rng.integers(0, 60, (200, 2)).tolist():
        same = all(layer[i] == layer[j] and len(layer[i]) == 1 for layer in sets)
        assert exact.source.went_together(np.array([i, j])) == (same or (i == j and same))
        followed += same and i != j
    assert followed > 0


@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("exponent", [-497, -170, 300, 500])
def test_a_shell_is_found_at_any_size(d, exponent):
    points = np.random.default_rng(d).standard_normal((30, d))
    usual, found = shell_of(points), shell_of(np.ldexp(points, exponent))
    assert usual is not None
    assert found is not None
    assert found.radius == pytest.approx(np.ldexp(usual.radius, exponent))


@pytest.mark.parametrize("largest", [1e154, 1e200, 1e300, 1.7e308])
def test_beside_the_largest_floats_others_keep_all_their_digits(largest):
    tokens = np.append(cloud_of(50, 2), [[largest, 0.1]], axis=0)
    frame = Frame.of(merge(Cloud(tokens)))
    assert frame.error == 0
    assert np.isfinite(frame.numbers**2).all()
    assert frame.in_units(frame.numbers).tolist() == tokens.tolist()
