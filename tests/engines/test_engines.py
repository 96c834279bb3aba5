"""What works must not change what comes out; which machine works, and how tensors come and go."""

import sys

import numpy as np
import pytest
from agreement import forced
from refusals import refuses

import hardmax as hm
from hardmax._float import rounded
from hardmax.engines import Cpu, Gpu

HALF = hm.Dynamics("1/2")
CLOUD = np.random.default_rng(0).standard_normal((3000, 12))


@pytest.mark.parametrize("search", ["dense", "shells", "rounded"])
@pytest.mark.parametrize("threads", [1, None])
def test_neither_search_nor_threads_change_a_bit(search, threads):
    usual = hm.simulate(CLOUD, HALF)
    assert usual.decided_by[0] == "rounded"
    with forced(search):
        run = hm.simulate(CLOUD, HALF, engine=Cpu(threads))
    assert np.array_equal(np.asarray(usual), np.asarray(run))
    assert run.margins == pytest.approx(usual.margins, rel=1e-12)
    names = {search, "tree", f"{search} and tree", f"{search} and dense"}
    assert set(run.decided_by) <= names


def test_where_the_search_in_bytes_fails_its_test_all_scores_are_made(monkeypatch):
    monkeypatch.setattr(rounded, "works", lambda: False)
    assert hm.simulate(CLOUD, HALF, layers=0).decided_by == ("dense",)


def test_a_number_of_threads_that_cannot_be_is_refused():
    with refuses("`threads` must be a whole number from 1 to"):
        Cpu(threads=0)


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_a_gpu_is_refused_on_systems_without_triton(system, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    with refuses() as caught:
        hm.limit(CLOUD, HALF, engine=Gpu())
    told = "`engine` cannot be used: there is triton for Linux only. Leave `engine` out to use the"
    assert str(caught.value).startswith(told)


@pytest.fixture
def gpu():
    """A GPU where there is one, else its kernels interpreted."""
    torch = pytest.importorskip("torch", reason="needs torch")
    pytest.importorskip("triton", reason="needs triton")
    return Gpu("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.check
def test_a_gpu_has_no_other_arithmetic(gpu):
    with refuses("has no GPU engine"):
        hm.simulate(CLOUD, HALF, layers=1, arithmetic="exact", engine=gpu)
