"""One layer against the number of tokens: rows in results/scaling.csv and the picture
docs/speed.png.

Run: python benchmarks/scaling.py measure draw (or one of the two), where FAISS is installed:
`pip install --group bench`."""

import math
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from harness import RESULTS, Job, Timing, compare, read_rows, record
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import hardmax as hm
from hardmax.figures.palette import CYCLE, FAINT, INK, SHAPES
from hardmax.figures.style import save_figure, style_context

PICTURE = Path(__file__).parents[1] / "docs" / "speed.png"
HALF = hm.Dynamics("1/2")
SIZES = (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LARGEST = {2: 1_000_000, 3: 1_000_000, 8: 100_000, 16: 100_000, 64: 100_000}
LARGEST_FAISS, LARGEST_QUICK = 30_000, 30_000
FITTED_FROM = 10_000
PEER = "faiss"

Times = dict[tuple[int, str], dict[int, float]]  # by dimension and contestant, then by size


def measure(d: int) -> list[Timing]:
    """The times of one layer in d dimensions."""
    from cpu_peers import flat_pass

    timings = []
    for n in (size for size in SIZES if size <= LARGEST[d]):
        points = np.random.default_rng(5).standard_normal((n, d))
        contestants: dict[str, Job] = {"hardmax": one_layer(points)}
        if n <= LARGEST_FAISS:
            contestants[PEER] = flat_pass(points.astype(np.float32))
        peer = PEER if n <= LARGEST_FAISS else "hardmax"
        rounds = 7 if n <= LARGEST_QUICK or d <= 3 else 3
        timings += compare(
            f"scaling, d {d}, n {n}", peer, contestants, rounds, once=[PEER] if n > 10_000 else []
        )
    return timings


def one_layer(points: np.ndarray) -> Job:
    return lambda: hm.simulate(points, HALF, layers=0)


def times(rows: Iterable[dict[str, str]]) -> Times:
    """The newest time of everybody at every size."""
    found: Times = {}
    for row in rows:
        d, n = (int(part.split()[1]) for part in row["work"].split(", ")[1:])
        found.setdefault((d, row["contestant"]), {})[n] = float(row["seconds"])
    return found


def slope(sizes: dict[int, float]) -> float:
    """By what power of n the time grows: least squares of the logarithms, from FITTED_FROM on.

    >>> round(slope({10_000: 1.0, 100_000: 100.0}), 6)
    2.0
    """
    fitted = {n: seconds for n, seconds in sizes.items() if n >= FITTED_FROM}
    return float(np.polyfit(np.log(list(fitted)), np.log(list(fitted.values())), 1)[0])


def draw(found: Times) -> Figure:
    """A panel for each dimension: hardmax and FAISS, with their slopes."""
    with style_context():
        figure = Figure(figsize=(6, 8))
        measured = sorted({d for d, _ in found})
        panels = figure.subplots(-(-len(measured) // 2), 2, sharey=True, sharex=True, squeeze=False)
        for number, (d, ax) in enumerate(zip(measured, panels.flat, strict=False)):
            draw_panel(ax, d, number, found)
        for ax in panels.flat[len(measured) :]:
            ax.axis("off")
        figure.supylabel("one layer, seconds", x=0.02)
        figure.supxlabel("tokens n", y=0.04)
        figure.subplots_adjust(wspace=0.1, hspace=0.2)
    return figure


def draw_panel(ax: Axes, d: int, number: int, found: Times) -> None:
    ours, theirs = found[d, "hardmax"], found[d, PEER]
    colour, shape = CYCLE[number], SHAPES[number]
    ax.loglog(list(theirs), list(theirs.values()), "--", color=INK, marker="x", ms=4.5, lw=1)
    ax.loglog(list(ours), list(ours.values()), "-", color=colour, marker=shape, ms=5, lw=1.6)
    ax.set_title(f"d = {d}")
    # Beside the lines where there is room in every panel: FAISS above to the left, ours below to
    # the right.
    ax.text(
        0.05,
        0.95,
        f"× FAISS flat\n   slope {slope(theirs):.2f}",
        transform=ax.transAxes,
        color=INK,
        va="top",
    )
    label = f"hardmax\nslope {slope(ours):.2f}"
    ax.text(
        0.96,
        0.05,
        label,
        transform=ax.transAxes,
        color=colour,
        va="bottom",
        ha="right",
        fontweight="bold",
    )
    ax.set_xlim(600, 2e6)
    ax.set_xticks([10**3, 10**4, 10**5, 10**6], ["1k", "10k", "100k", "1M"])
    every = [seconds for sizes in found.values() for seconds in sizes.values()]
    # A decade more at either end is the room for the labels.
    ax.set_ylim(
        10 ** (math.floor(math.log10(min(every))) - 1),
        10 ** (math.ceil(math.log10(max(every))) + 1),
    )
    ax.grid(visible=True, color=FAINT, alpha=0.25, lw=0.5)
    ax.minorticks_off()
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


if __name__ == "__main__":
    asked = sys.argv[1:] or ["measure", "draw"]
    for name in asked:
        if name == "draw":
            found = times(read_rows(RESULTS / "scaling.csv"))
            save_figure(draw(found), PICTURE)
            for (d, contestant), sizes in sorted(found.items()):
                print(f"d {d:3} {contestant:8} slope {slope(sizes):.2f}")
        else:
            for d in LARGEST if name == "measure" else [int(name)]:
                record("scaling", measure(d))
