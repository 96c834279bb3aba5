"""When two answers agree: runs with the oracle, and one search with another."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import oracle
import pytest

from hardmax._float import search, tree
from hardmax._float.argmax import ArgmaxResult
from hardmax._runs.run import Run


def assert_same_sets(run: Run, history: Iterable[oracle.Layer]) -> None:
    for layer, (_, sets) in enumerate(history):
        assert [set(several.tolist()) for several in run.attended(layer)] == sets, (
            f"attended sets, layer {layer}"
        )


def assert_same_as_oracle(runs: list[Run], cloud, metric, alpha, layers: int) -> None:
    history = list(oracle.walk(cloud, alpha, metric, layers))
    leaders = oracle.leaders_of(history)
    for run in runs:
        assert run.certified
        assert_same_sets(run, history)
        for layer, (expected, _) in enumerate(history):
            if run.arithmetic == "exact":
                assert run.at(layer, exact=True).tolist() == expected, f"tokens, layer {layer}"
            assert distance(run.at(layer), expected) <= run.error * (1 + 1e-9), (
                f"rounded tokens, layer {layer}"
            )
        assert dict(zip(run.leaders.tolist(), run.leader_layers.tolist(), strict=True)) == leaders


def distance(tokens: np.ndarray, expected: oracle.Cloud) -> float:
    """The largest Euclidean distance, with the subtraction made exactly."""
    squares = (
        sum((Fraction(x) - y) ** 2 for x, y in zip(row, wish, strict=True))
        for row, wish in zip(tokens.tolist(), expected, strict=True)
    )
    return float(max(squares)) ** 0.5


def assert_same(one: ArgmaxResult, other: ArgmaxResult) -> None:
    assert np.array_equal(one.contested, other.contested)
    assert all(np.array_equal(a, b) for a, b in zip(one.candidates, other.candidates, strict=True))
    clear = np.setdiff1d(np.arange(len(one.winners)), one.contested)
    assert np.array_equal(one.winners[clear], other.winners[clear])
    assert one.gap == pytest.approx(other.gap, rel=1e-9, abs=1e-300)


@contextmanager
def forced(name: str | None) -> Iterator[None]:
    """In this block, clouds of all sizes are searched in one way."""
    with pytest.MonkeyPatch.context() as patch:
        if name is not None:
            patch.setattr(search, "suited", lambda *_: name)
            patch.setattr(tree, "_FEWEST_ROWS", 0)
        yield
