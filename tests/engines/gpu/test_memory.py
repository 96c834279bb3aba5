"""Kernels stay inside their tensors: these lie between fences, and what nobody has written yet is
no number."""

# pyright: reportMissingImports=false, reportIndexIssue=false, reportAttributeAccessIssue=false
# ruff: noqa: E402
import math
import os

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the GPU engine needs torch (extra `gpu`)")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
pytest.importorskip("triton", reason="the GPU engine needs triton (extra `gpu`)")

from hardmax._float.bounds import SlackFactors
from hardmax._gpu import argmax
from hardmax._gpu.argmax import Search, find_furthest

pytestmark = pytest.mark.check

FENCE = 2**10  # numbers before a tensor, and behind it
EMPTY, ARANGE = torch.empty, torch.arange


class Fenced:
    """Tensors between fences of what is no number: nan, or the smallest integer."""

    def __init__(self) -> None:
        self.fences, self.has_read_fences = [], False

    def watch_reads(self, load):
        """What the interpreter loads, noting whether it lies in a fence."""

        def watched(builder, pointers, mask, *how):
            addresses = pointers.data[mask.data].reshape(-1, 1).astype(np.int64)
            starts = np.array([part.data_ptr() for part, _ in self.fences])
            sizes = np.array([part.numel() * part.element_size() for part, _ in self.fences])
            is_fence = (addresses >= starts) & (addresses < starts + sizes)
            self.has_read_fences |= bool(is_fence.any())
            return load(builder, pointers, mask, *how)

        return watched

    def empty(self, *shape, dtype, device):
        sizes = shape[0] if isinstance(shape[0], tuple) else shape
        count = math.prod(sizes)
        mark = math.nan if dtype.is_floating_point else torch.iinfo(dtype).min
        whole = EMPTY(count + 2 * FENCE, dtype=dtype, device=device).fill_(mark)
        self.fences += [(part, mark) for part in (whole[:FENCE], whole[FENCE + count :])]
        return whole[FENCE : FENCE + count].view(sizes)

    def arange(self, count, *, device):
        places = ARANGE(count)
        return self.empty(count, dtype=places.dtype, device=device).copy_(places)

    def copied(self, table: np.ndarray):
        """A table between fences."""
        tensor = torch.from_numpy(table)
        return self.empty(tuple(tensor.shape), dtype=tensor.dtype, device=DEVICE).copy_(tensor)

    def assert_whole(self) -> None:
        assert len(self.fences) > 10
        for part, mark in self.fences:
            assert bool((part.isnan() if math.isnan(mark) else part == mark).all())
        assert not self.has_read_fences


@pytest.fixture
def fenced(monkeypatch) -> Fenced:
    fenced = Fenced()
    monkeypatch.setattr(torch, "empty", fenced.empty)
    monkeypatch.setattr(torch, "zeros", lambda *shape, **of: fenced.empty(*shape, **of).zero_())
    monkeypatch.setattr(
        torch,
        "empty_like",
        lambda table: fenced.empty(tuple(table.shape), dtype=table.dtype, device=table.device),
    )
    monkeypatch.setattr(torch, "arange", fenced.arange)
    if os.environ.get("TRITON_INTERPRET"):  # a GPU does not tell what its kernels read
        from triton.runtime.interpreter import InterpreterBuilder

        load = InterpreterBuilder.create_masked_load
        monkeypatch.setattr(InterpreterBuilder, "create_masked_load", fenced.watch_reads(load))
    return fenced


@pytest.mark.parametrize(("n", "d"), [(1, 1), (127, 2), (128, 16), (129, 17), (140, 3), (300, 40)])
def test_a_search_reads_and_writes_nothing_but_its_tensors(n, d, fenced, monkeypatch):
    monkeypatch.setattr(argmax, "_MAXIMA", 1)  # 128 rows at a time
    points = np.random.default_rng(n).standard_normal((n, d))
    on_device, directions = fenced.copied(points), fenced.copied(points)
    search = Search(SlackFactors(1e-13, 0.0), contraction=0.5)
    found = find_furthest(on_device, search, directions=directions)
    fenced.assert_whole()
    winners = (points @ points.T).argmax(axis=1)
    assert found.winners.tolist() == winners.tolist()
    assert found.moved is not None
    assert np.allclose(
        found.moved.cpu().numpy(), (points + points[winners]) / 2, rtol=0, atol=1e-12
    )
