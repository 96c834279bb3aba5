"""How many layers it takes to know all of them: 10,000 random clouds, 2,500 for each of four step
sizes.

Run: python benchmarks/layers_walked.py

Writes results/layers_walked.csv (one row for each alpha and number of layers) and the histogram
docs/layers_walked.png."""

from collections import Counter
from pathlib import Path

import numpy as np
from harness import add_rows
from matplotlib.figure import Figure

import hardmax as hm
from hardmax.figures.palette import CYCLE
from hardmax.figures.style import save_figure, style_context

ALPHAS = ("1/10", "1/2", "1", "10")
CLOUDS = 10_000
PICTURE = Path(__file__).parents[1] / "docs" / "layers_walked.png"


def count_layers() -> dict[str, Counter[int]]:
    """For each alpha, how many clouds settled at which layer: Gaussian clouds, n 10 to 1,000, d 2
    to 16."""
    rng = np.random.default_rng(0)
    counts: dict[str, Counter[int]] = {alpha: Counter() for alpha in ALPHAS}
    for number in range(CLOUDS):
        alpha = ALPHAS[number % len(ALPHAS)]
        n, d = int(10 ** rng.uniform(1, 3)), int(rng.integers(2, 17))
        run = hm.simulate(rng.standard_normal((n, d)), hm.Dynamics(alpha))
        assert run.certified
        assert run.settled_at is not None
        counts[alpha][run.settled_at] += 1
    return counts


def draw(counts: dict[str, Counter[int]]) -> Figure:
    with style_context():
        figure = Figure(figsize=(7, 3.2))
        ax = figure.subplots()
        most = max(max(counter) for counter in counts.values())
        for row, (alpha, counter) in enumerate(counts.items()):
            places = np.arange(most + 1) + (row - 1.5) * 0.2
            share = np.array([counter[layer] for layer in range(most + 1)]) / counter.total()
            look = {
                "color": CYCLE[row],
                "hatch": ("", "//", "..", "xx")[row],
                "edgecolor": "white",
                "lw": 0.3,
            }
            ax.bar(places, share, width=0.2, label=f"alpha = {alpha}", **look)
        ax.set_yscale("log")
        ax.set_xlabel("layers walked until the limit was proved")
        ax.set_ylabel("share of the clouds")
        number = CLOUDS // len(ALPHAS)
        ax.set_title(f"{number:,} Gaussian clouds for each alpha, n 10 to 1,000, d 2 to 16")
        ax.legend(frameon=False)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return figure


if __name__ == "__main__":
    counts = count_layers()
    rows = [
        (alpha, layer, clouds)
        for alpha, counter in counts.items()
        for layer, clouds in sorted(counter.items())
    ]
    add_rows("layers_walked", ("alpha", "layers", "clouds"), rows, keep=False)
    for alpha, counter in counts.items():
        mean = sum(layer * clouds for layer, clouds in counter.items()) / counter.total()
        print(f"alpha {alpha}: mean {mean:.2f}, at most {max(counter)}")
    save_figure(draw(counts), PICTURE)
