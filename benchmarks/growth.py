"""Processor time and memory against the number of tokens, for every kind of layer, and against the
number of texts for training: rows in results/growth.csv, the picture docs/growth.png, and the table
of docs/growth.md.

Run: python benchmarks/growth.py [KIND …] (names from KINDS; all by default), then
python benchmarks/growth.py draw, and python benchmarks/table.py. Each kind has a process of its own; memory is by how much the most
that it ever held grew."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from harness import RESULTS, add_rows, read_rows
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import hardmax as hm
from hardmax.figures.palette import CYCLE, FAINT, SHAPES
from hardmax.figures.style import save_figure, style_context

DOCS = Path(__file__).parents[1] / "docs"
COLUMNS = ("kind", "n", "seconds", "megabytes")
HALF, HEADS = hm.Dynamics("1/2"), [hm.Head(), hm.Head([[2, 1], [1, 1]])]
TOKENS = (1000, 3000, 10_000, 30_000, 100_000)
FEWER, FEWEST = TOKENS[:4], (100, 300, 1000, 3000)
LIMIT, TEN = None, 10
# A layer, the dimension, how many layers of it (None: the limit), and numbers of tokens.
KINDS: dict[str, tuple[hm.Dynamics, int, int | None, tuple[int, ...]]] = {
    "the paper's layer, d 2": (HALF, 2, LIMIT, TOKENS),
    "the paper's layer, d 3": (HALF, 3, LIMIT, TOKENS),
    "the paper's layer, d 16": (HALF, 16, LIMIT, FEWER),
    "causal mask": (hm.Dynamics("1/2", mask="causal"), 2, LIMIT, FEWER),
    "two heads": (hm.Dynamics("1/2", heads=HEADS), 2, TEN, FEWER),
    "top-k 3": (hm.Dynamics("1/2", attention="topk:3"), 2, TEN, FEWER),
    "localmax 1/10": (hm.Dynamics("1/2", attention="localmax:1/10"), 2, TEN, FEWER),
    "V a projection": (hm.Dynamics("1/2", value=[[1, 0], [0, 0]]), 2, LIMIT, FEWEST),
    "softmax, beta 10": (hm.Dynamics("1/2", attention="softmax:10"), 2, TEN, FEWEST),
}
MACHINE, SQUARE = "a matrix product, float32", (2000,)


def grid(n: int) -> np.ndarray:
    """Tokens with many ties."""
    return np.random.default_rng(0).choice([-1, 0, 1], size=(n, 8))


def nearly_a_point(n: int) -> np.ndarray:
    """Tokens that differ by up to 1e-12."""
    return np.c_[np.ones(n), np.random.default_rng(0).random(n) * 1e-12]


def nearly_equal(n: int) -> np.ndarray:
    """Tokens 1e-14 wide in all."""
    return np.c_[np.ones(n), np.linspace(0, 1e-14, n)]


def plane(n: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, 2))


def previous(n: int, reach: int) -> hm.Dynamics:
    """Each token sees the last `reach` tokens, itself included; if `reach` is 1, the one before it."""
    i, j = np.indices((n, n))
    seen = (i - j == 1) | (i + j == 0) if reach == 1 else (i >= j) & (i - j < reach)
    return hm.Dynamics("1/2", mask=seen)


METRIC = [[-2, 0], [3, -3]]
# Limits of clouds that ask for much at a single size: tokens and a layer of so many.
CLIFFS: dict[str, tuple[int, int, Callable[[int], tuple[np.ndarray, hm.Dynamics]]]] = {
    "an integer grid, d 8": (2000, 8, lambda n: (grid(n), HALF)),
    "a cloud 1e-12 wide": (3000, 2, lambda n: (nearly_a_point(n), HALF)),
    "a cloud 1e-14 wide": (3000, 2, lambda n: (nearly_equal(n), HALF)),
    "mask: the previous token": (80, 2, lambda n: (plane(n), previous(n, 1))),
    "mask: a window of 4": (200, 2, lambda n: (plane(n), previous(n, 4))),
    "alpha 1e9, an indefinite metric": (10, 2, lambda n: (plane(n), hm.Dynamics(1e9, METRIC))),
}
TRAINING, TEXTS = "training, by texts", (1000, 3000, 10_000)
# Seconds: larger sizes are left out once one took as long, and what takes less is done twice.
SPELL, AGAIN = 10.0, 3.0
_FEW = 100


def texts(n: int) -> tuple[list[str], list[str]]:
    """So many made-up texts of two classes, of words as frequent as words are."""
    rng = np.random.default_rng(0)
    ranks = np.minimum(rng.zipf(1.3, (n, 20)), 20_000)
    labels = np.where(rng.random(n) < 0.5, "good", "bad")
    words = [
        " ".join(f"{label}{rank}" if rank % 7 == 3 else f"word{rank}" for rank in row)
        for row, label in zip(ranks.tolist(), labels.tolist(), strict=True)
    ]
    return words, labels.tolist()


def job(kind: str, n: int) -> Callable[[], Any]:
    if kind == TRAINING:
        from hardmax.train.fitting import fit

        given, labels = texts(n)
        return lambda: fit(given, labels)
    if kind == MACHINE:
        table = np.ones((n, n), np.float32)
        return lambda: table @ table
    if kind in CLIFFS:
        *_, cliff = CLIFFS[kind]
        points, dynamics = cliff(n)
        return lambda: hm.limit(points, dynamics).limit_points
    dynamics, d, layers, _ = KINDS[kind]
    points = np.random.default_rng(0).standard_normal((n, d))
    if layers is None:
        return lambda: hm.limit(points, dynamics).limit_points
    return lambda: hm.simulate(points, dynamics, layers=layers).at(layers)


def measure(kind: str) -> None:
    """The rows of a kind, in this process."""
    sizes = sizes_of(kind)
    job(kind, sizes[0] if kind in CLIFFS else _FEW)()
    held = _held()
    for n in sizes:
        work = job(kind, n)
        seconds = _seconds(work)
        if seconds < AGAIN:  # kernels may have been compiled or loaded
            seconds = min(seconds, _seconds(work))
        row = (kind, n, f"{seconds:.4f}", f"{max(_held() - held, 0.0):.1f}")
        print(*row, sep="  ", flush=True)
        add_rows("growth", COLUMNS, [row])
        if seconds > SPELL:
            break


def sizes_of(kind: str) -> tuple[int, ...]:
    if kind in CLIFFS:
        return CLIFFS[kind][:1]
    return {TRAINING: TEXTS, MACHINE: SQUARE}.get(kind) or KINDS[kind][3]


def _seconds(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _held() -> float:
    """The most memory that this process ever held, in megabytes."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


Found = dict[str, dict[int, tuple[float, float]]]  # by kind and size: seconds and megabytes


def latest(rows: list[dict[str, str]]) -> Found:
    found: Found = {}
    for row in rows:
        measured = float(row["seconds"]), float(row["megabytes"])
        found.setdefault(row["kind"], {})[int(row["n"])] = measured
    return found


def slope(sizes: dict[int, tuple[float, float]], column: int) -> float | None:
    """By what power of n a column grows, from the last three sizes; None where it hardly shows.

    >>> slope({10: (1.0, 0.0), 100: (100.0, 0.0)}, 0)
    2.0
    """
    known = [(n, values[column]) for n, values in sorted(sizes.items())[-3:] if values[column] > 0]
    if len(known) < 2:
        return None
    n, values = np.log(known).T
    return round(float(np.polyfit(n, values, 1)[0]), 6)


def draw(found: Found) -> Figure:
    with style_context():
        figure = Figure(figsize=(6, 8))
        left, right = figure.subplots(2, 1)
        kinds = [kind for kind in found if kind != MACHINE and kind not in CLIFFS]
        for number, kind in enumerate(kinds):
            sizes = found[kind]
            look = {
                "color": CYCLE[number % len(CYCLE)],
                "marker": SHAPES[number % len(SHAPES)],
                "ls": "-" if number < len(CYCLE) else "--",
                "ms": 4.5,
                "lw": 1.3,
            }
            ns, values = list(sizes), list(zip(*sizes.values(), strict=True))
            left.loglog(ns, values[0], label=kind, **look)
            shown = [value or np.nan for value in values[1]]  # no logarithm of 0
            right.loglog(ns, shown, **look)
        _label(left, "processor time, seconds")
        _label(right, "memory, megabytes")
        figure.legend(loc="lower center", ncols=2, frameon=False, bbox_to_anchor=(0.5, -0.12))
        figure.subplots_adjust(hspace=0.25)
    return figure


def _label(ax: Axes, what: str) -> None:
    ax.set_xlabel("tokens n, or texts")
    ax.set_ylabel(what)
    ax.grid(visible=True, color=FAINT, alpha=0.25, lw=0.5)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def growth_table() -> str:
    """The largest size of each kind, the slopes, and the machine's limits beside them."""
    rows, machine = read_rows(RESULTS / "growth.csv"), _rate()
    head = "| kind | n | processor time | slope | all scores once | memory | slope | the tokens |"
    lines = [head, "|---|---|---|---|---|---|---|---|"]
    for kind, sizes in latest(rows).items():
        if kind == MACHINE:
            continue
        n = max(sizes)
        seconds, megabytes = sizes[n]
        slopes = [slope(sizes, column) for column in (0, 1)]
        shown = ["–" if value is None else f"{value:.2f}" for value in slopes]
        least, held = "–", "–"
        if kind in KINDS or kind in CLIFFS:
            d = KINDS[kind][1] if kind in KINDS else CLIFFS[kind][1]
            least = f"{n**2 * d / machine:.2g} s"
            held = f"{n * d * 8 / 1e6:.1f} MB"
        cells = [kind, f"{n:,}", f"{seconds:.2g} s", shown[0], least]
        lines.append(f"| {' | '.join([*cells, f'{megabytes:,.0f} MB', shown[1], held])} |")
    stamps = sorted({(row["date"], row["commit"], row["machine"]) for row in rows})
    named = ", ".join(f"{date} ({commit}, {machine})" for date, commit, machine in stamps)
    return "\n".join([*lines, "", f"Rows of {named}."])


def _rate() -> float:
    """Products of float32 that a core of the machine makes in a second."""
    [(n, (seconds, _))] = latest(read_rows(RESULTS / "growth.csv"))[MACHINE].items()
    return n**3 / seconds


def main(*asked: str) -> None:
    if asked == ("draw",):
        save_figure(draw(latest(read_rows(RESULTS / "growth.csv"))), DOCS / "growth.png")
        return
    for kind in asked or (MACHINE, *KINDS, *CLIFFS, TRAINING):
        if len(asked) == 1:
            measure(kind)
        else:
            subprocess.run([sys.executable, __file__, kind], check=True, env=os.environ)


if __name__ == "__main__":
    main(*sys.argv[1:])
