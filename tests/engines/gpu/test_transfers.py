"""What is copied between a GPU and the host, counted by the profiler in bytes: never the tokens. Needs a GPU."""

# pyright: reportMissingImports=false, reportIndexIssue=false
# ruff: noqa: E402
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the GPU engine needs torch (extra `gpu`)")
pytest.importorskip("triton", reason="the GPU engine needs triton (extra `gpu`)")
if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)

import hardmax as hm

HALF = hm.Dynamics("1/2", metric=[[2, 0, 0], [0, 1, 0], [0, 0, 1]])
N, D = 50_000, 3
FEW = 16 * 1024  # bytes: numbers, a metric, offsets and powers; a bit for each token would be 6 kB, a byte 50 kB


def given_as() -> dict[str, Any]:
    torch.manual_seed(0)
    tokens = torch.randn((N, D), device="cuda", dtype=torch.float32)
    return {
        "cloud": tokens,
        "list": list(tokens.split(N // 100)),
        "stack": tokens.reshape(100, N // 100, D),
        "ragged": hm.Ragged(tokens, torch.arange(101).numpy() * (N // 100)),
    }


def bytes_copied(job: Callable[[], object], folder: Path) -> dict[str, int]:
    """The bytes that went each way while a job ran, by the name that the profiler gives the way."""
    job()  # compiles kernels, and fills caches
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA], acc_events=True) as profile:
        job()
        torch.cuda.synchronize()
    profile.export_chrome_trace(str(folder / "trace.json"))
    ways: dict[str, int] = {"kernels": 0}
    for event in json.loads((folder / "trace.json").read_text())["traceEvents"]:
        if event.get("cat") == "kernel":
            ways["kernels"] += 1
        if event.get("cat") == "gpu_memcpy":
            way = "to the host" if "DtoH" in event["name"] else "to the GPU" if "HtoD" in event["name"] else "on it"
            ways[way] = ways.get(way, 0) + int(event["args"]["bytes"])
    return ways


def run_and_ask(tokens: Any) -> list[Any]:
    runs = hm.simulate(tokens, HALF, layers=4)
    lim = hm.limit(tokens, HALF)
    results = [runs.at(0), runs.at(2), runs.at(4), lim.points, hm.step(tokens, HALF)]
    settled = hm.simulate(tokens, HALF, stop=hm.Settled())
    return [*results, settled.ends(), settled.at(1000), *([runs.tokens] if isinstance(runs, hm.Trajectory) else [])]


@pytest.mark.parametrize("form", ["cloud", "list", "stack", "ragged"])
def test_tokens_on_a_gpu_stay_there(form, tmp_path):
    tokens = given_as()[form]
    copied = bytes_copied(lambda: run_and_ask(tokens), tmp_path)
    assert copied["kernels"] > 10  # the profiler saw the GPU at work
    assert copied.get("to the host", 0) <= FEW
    assert copied.get("to the GPU", 0) <= FEW
    flat = [table for result in run_and_ask(tokens) for table in _tables(result)]
    assert {(table.dtype, table.device.type) for table in flat} == {(torch.float32, "cuda")}


def test_the_profiler_sees_tokens_that_leave(tmp_path):
    tokens = given_as()["cloud"]
    assert bytes_copied(lambda: hm.simulate(tokens, HALF, layers=1).at(1).cpu(), tmp_path)["to the host"] > 4 * N * D


def _tables(result: Any) -> list[Any]:
    return [result.tokens] if isinstance(result, hm.Ragged) else result if isinstance(result, list) else [result]
