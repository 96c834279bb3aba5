"""Timing on a GPU: contestants in turn, round after round, and rows that say what stands beside
what."""

# pyright: reportMissingImports=false
import platform
import statistics
from collections.abc import Callable, Mapping

import torch
import triton

COLUMNS = ("work", "contestant", "milliseconds", "peer", "ratio", "checked", "disagreements")
MACHINE = f"{torch.cuda.get_device_name()} {platform.machine()}"


def versions(heads: torch.Tensor) -> str:
    """Those of torch and triton, and which kernel torch chooses for SDPA on such tensors."""
    backend = torch.nn.attention.SDPBackend(torch._fused_sdp_choice(heads, heads, heads))
    return f"torch={torch.__version__} triton={triton.__version__} sdpa={backend.name.lower()}"


def milliseconds(job: Callable[[], object]) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    job()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


def compare(
    work: str, contestants: Mapping[str, Callable[[], object]], peers: list[str], rounds: int, check
) -> list:
    """All contestants in turn, round after round; a row for ours beside each peer, and one for each
    peer."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for job in contestants.values():
        for _ in range(3):
            job()
    torch.cuda.synchronize()
    for _ in range(rounds):
        for name, job in contestants.items():
            times[name].append(milliseconds(job))
    rows = []
    for name, own in times.items():
        for peer in peers:
            ratio = statistics.median(
                its / mine for mine, its in zip(own, times[peer], strict=True)
            )
            checked = check if name.startswith("hardmax") else ("", "")
            if name != peer:
                rows.append(row(work, name, statistics.median(own), peer, ratio, *checked))
    return rows


def row(work: str, name: str, time: float, peer: str, ratio: float, checked="", wrong="") -> list:
    line = [work, name, f"{time:.4f}", peer, f"{ratio:.3f}", checked, wrong]
    print(",".join(map(str, line)), flush=True)
    return line


def time_of(rows: list[list], contestant: str) -> float:
    return next(float(line[2]) for line in rows if line[1].startswith(contestant))


def matrix_rate() -> float:
    """Operations a millisecond of a large fp16 product: what the machine can do."""
    square = torch.randn((8192, 8192), dtype=torch.float16, device="cuda")
    return 2 * 8192**3 / statistics.median(milliseconds(lambda: square @ square) for _ in range(20))
