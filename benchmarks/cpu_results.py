"""What was measured last, and how it stands to what was aimed at."""

from collections.abc import Callable
from dataclasses import dataclass

from harness import QUIET, RESULTS, read_rows

DISTURBED = "†"
FOOTNOTE = f"{DISTURBED} Other processes took more than a tenth of the cores meanwhile, or this was not checked."
Run = dict[str, dict[str, str]]  # the rows of one run of a work, by contestant


def newest_runs(rows: list[dict[str, str]]) -> dict[str, Run]:
    """The last run of each work; a run is the rows of a work that follow one another, each
    contestant once."""
    runs: dict[str, Run] = {}
    last = None
    for row in rows:
        work, contestant = row["work"], row["contestant"]
        if work != last or contestant in runs[work]:
            runs[work] = {}
        runs[work][contestant] = row
        last = work
    return runs


def times_faster(run: Run, peer: str, contestant: str = "hardmax") -> float:
    """How many times sooner than the peer it was done, in the same rounds."""
    return float(run[peer]["ratio"]) / float(run[contestant]["ratio"])


def undisturbed(run: Run) -> bool:
    """Whether other processes left the cores to all contestants of a run, as far as its rows
    tell."""
    shares = [row["disturbed"] for row in run.values()]
    return all(shares) and max(map(float, shares)) <= QUIET


CPU = newest_runs(read_rows(RESULTS / "cpu.csv"))
SCALING = newest_runs(read_rows(RESULTS / "scaling.csv"))
GPU = {(row["work"], row["contestant"], row["peer"]): row for row in read_rows(RESULTS / "gpu.csv")}


@dataclass(frozen=True)
class Target:
    """What was aimed at, what came out, and whether that is enough. `measure` raises KeyError where
    there is no row."""

    work: str
    aim: str
    measure: Callable[[], tuple[str, bool]]


def faster(
    work: str, peers: list[str], least: float, contestant: str = "hardmax"
) -> Callable[[], tuple[str, bool]]:
    """The times by which even the best of the peers is passed."""

    def measure() -> tuple[str, bool]:
        times = min(times_faster(CPU[work], peer, contestant) for peer in peers)
        return f"{number(times)}×{mark(CPU[work])}", times >= least

    return measure


def mark(run: Run) -> str:
    return "" if undisturbed(run) else DISTURBED


def within(work: str, contestant: str, most: float) -> Callable[[], tuple[str, bool]]:
    def measure() -> tuple[str, bool]:
        seconds = float(CPU[work][contestant]["seconds"])
        return duration(seconds) + mark(CPU[work]), seconds <= most

    return measure


def deeper(n: str, d: int) -> Target:
    def measure() -> tuple[str, bool]:
        run = CPU[f"n {n}, d {d}: a thousand layers beside the limit"]
        ratio = float(run["1,000 layers"]["ratio"])
        return f"{ratio:.2f}×{mark(run)}", ratio <= 1.2

    return Target(f"1,000 layers, n {n}, d {d}", "≤ 1.2× its limit", measure)


def growth() -> tuple[str, bool]:
    from scaling import slope, times

    found = slope(times(read_rows(RESULTS / "scaling.csv"))[2, "hardmax"])
    return f"{found:.2f}", found <= 1.15


def on_gpu(work: str, peer: str, least: float) -> Callable[[], tuple[str, bool]]:
    def measure() -> tuple[str, bool]:
        times = float(GPU[work, "hardmax", peer]["ratio"])
        return f"{number(times)}×", times >= least

    return measure


def number(value: float) -> str:
    """Two or three figures, as people write them.

    >>> number(0.1234), number(3.21), number(9.97), number(4321.0)
    ('0.12', '3.2', '10', '4,300')
    """
    if value >= 1000:
        return f"{round(value, -2):,.0f}"
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}" if value < 1 else f"{value:.1f}"


def duration(seconds: float) -> str:
    """A time in ms, s or minutes.

    >>> duration(0.00123), duration(0.5), duration(23.7)
    ('1.2 ms', '0.50 s', '24 s')
    """
    if seconds < 0.0995:
        return f"{number(seconds * 1e3)} ms"
    return f"{seconds:.2f} s" if seconds < 1 else f"{number(seconds)} s"


MILLION, SIXTEEN = "n 1,000,000, d 2: one layer", "n 100,000, d 16: one layer"
BRUTE = ["faiss", "torch in blocks"]
SDPA, BLOCKS = "SDPA bf16", "torch float32 in blocks"
ON_GPU = [
    ("layer", 1024, 64, SDPA, 0.6),
    ("layer", 16_384, 64, SDPA, 1.2),
    ("layer", 65_536, 16, SDPA, 2.5),
    ("layer", 65_536, 64, SDPA, 2),
    ("layer", 65_536, 128, SDPA, 1.6),
    *(("layer", 65_536, d, BLOCKS, 8) for d in (16, 64, 128)),
    ("causal layer", 65_536, 64, SDPA, 1),
]
TARGETS = [
    Target(
        "4,096 reviews of 132 tokens, d 2, 8 layers",
        "≥ 25× vectorised torch",
        faster("4,096 reviews of 132 tokens, d 2, 8 layers", ["torch, vectorised"], 25),
    ),
    Target(
        "16 of them",
        "≥ 1,000× the loop",
        faster("16 of the reviews, d 2, 8 layers", ["loop"], 1000),
    ),
    Target(
        "4,096 reviews of 132 tokens, d 16, 8 layers",
        "≥ 10× vectorised torch",
        faster("4,096 reviews of 132 tokens, d 16, 8 layers", ["torch, vectorised"], 10),
    ),
    Target(
        "one layer, n 1,000,000, d 2",
        "≥ 3× hull and angles in numpy",
        faster(MILLION, ["numpy, hull and angles"], 3),
    ),
    Target("the limit, n 1,000,000, d 2", "≤ 2 s", within(MILLION, "hardmax, the limit", 2)),
    Target("one layer, d 2: slope in n", "≤ 1.15", growth),
    *(
        Target(
            f"the limit, n 100,000, d {d}",
            f"≥ {least}× one FAISS flat pass",
            faster(
                f"n 100,000, d {d}: the limit beside one flat pass",
                ["faiss, one layer"],
                least,
                "hardmax, the limit",
            ),
        )
        for d, least in ((3, 200), (8, 10))
    ),
    *(
        Target(
            f"one layer, n 100,000, d {d}",
            f"≥ {least}× the better of FAISS flat and torch in blocks",
            faster(f"n 100,000, d {d}: one layer", BRUTE, least),
        )
        for d, least in ((16, 3), (64, 1.5))
    ),
    *(deeper(n, d) for n, d in (("1,000,000", 2), ("100,000", 3), ("100,000", 8), ("100,000", 16))),
    *(
        Target(
            f"one {kind}, n {n:,}, d {d}, H200",
            f"≥ {least}× {peer}",
            on_gpu(f"one {kind} n {n} d {d}", peer, least),
        )
        for kind, n, d, peer, least in ON_GPU
    ),
    Target(
        "65,536 reviews of 132 tokens, d 2, 8 layers, H200",
        "≥ 20× torch bmm",
        on_gpu("65536 reviews of 132 tokens (distinct) d 2 8 layers", "torch bmm float32", 20),
    ),
]
