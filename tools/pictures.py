"""Pictures of README.md and docs, large enough to be read on a phone.

    PYTHONPATH=tests python tools/pictures.py [NAME …]

Writes those that are named, or all, to docs/."""

import sys
import tempfile
from pathlib import Path
from runpy import run_path
from unittest.mock import patch

import matplotlib.pyplot as plt
import numpy as np
from browser import started_browser
from PIL import Image

import hardmax as hm
from hardmax.figures.palette import BLUE, FAINT, INK, SHADE, VERMILION

DOCS = Path(__file__).parents[1] / "docs"
REVIEW = "An awful script, and it never gets funny. But the cast is wonderful."
WIDTH, SHARPNESS = 480, 1.5
# Of what a page shows before it is scrolled.
HEIGHTS = {"explanation": 506, "page": 676}
WATCHED = (4, 5)
# Of examples: which of their figures.
EXAMPLES = {
    "basins": ("plot_basins", 0),
    "blocks": ("plot_blocks", 0),
    "gathering": ("plot_blocks", 1),
    "falsify": ("plot_falsify", 0),
    "inverse": ("plot_find_metric", 0),
}


def draw_arithmetics(path: Path) -> None:
    """Where two tokens go in floats, and where they end: the rotated cloud of the tutorial."""
    cloud, dynamics = hm.clouds.rotated(hm.clouds.nonleader_clusters()), hm.Dynamics("1/2")
    exact = hm.limit(cloud, dynamics)
    floats = hm.simulate(cloud, dynamics, layers=200, arithmetic="float")
    layers = [*range(40), 60, 120, 200]
    ways = np.stack([floats.at(layer)[list(WATCHED)] for layer in layers], axis=1)
    corners = exact.limit_points[exact.leaders]
    plt.rcParams.update({"font.size": 15, "font.family": "sans-serif"})
    figure, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
    ax.fill(*corners.T, color=SHADE[0], alpha=SHADE[1], lw=0)
    ax.plot(*corners.T, "*", color=INK, ms=17)
    for way, token in zip(ways, WATCHED, strict=True):
        ax.plot(*way.T, color=VERMILION, lw=2.5)
        ax.plot(*way[0], "o", color=FAINT, ms=9)
        ax.plot(*way[-1], "X", color=VERMILION, ms=15, mec="white")
        ax.plot(*exact.limit_points[token], "o", mfc="none", color=BLUE, ms=17, mew=3)
    notes = (
        (exact.limit_points[WATCHED[0]], "exact limit", (14, 10), BLUE, "left"),
        (ways[0][-1], "floats", (4, -28), VERMILION, "center"),
        (ways[0][0], "start", (-10, -5), INK, "right"),
    )
    for place, words, shift, color, side in notes:
        ax.annotate(words, place, shift, textcoords="offset points", color=color, ha=side)
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    ax.margins(0.12)
    figure.savefig(path, dpi=WIDTH * SHARPNESS / 5)
    make_small(path)


def take(name: str, path: Path) -> None:
    """A picture of a page as it is on a wide phone."""
    with tempfile.TemporaryDirectory() as folder, started_browser() as browser:
        file = Path(folder) / "page.html"
        if name == "page":
            run = hm.simulate(hm.clouds.rotated(hm.clouds.nonleader_clusters()), hm.Dynamics("1/2"))
            run.save(file)
        else:
            hm.load_model("sentiment-en").explain(REVIEW).save(file)
        context = browser.new_context(
            viewport={"width": WIDTH, "height": HEIGHTS[name]},
            device_scale_factor=SHARPNESS,
            reduced_motion="reduce",
        )
        page = context.new_page()
        page.goto(file.as_uri())
        page.wait_for_timeout(1500)
        page.screenshot(path=path)
    make_small(path)


def draw_example(name: str, path: Path) -> None:
    """One of the figures that an example shows."""
    example, number = EXAMPLES[name]
    plt.close("all")
    plt.rcdefaults()
    with patch.object(plt, "show"):
        run_path(str(DOCS.parent / "examples" / "beyond" / f"{example}.py"))
    figure = plt.figure(plt.get_fignums()[number])
    figure.savefig(path, dpi=110)
    make_small(path)


def make_small(path: Path) -> None:
    """The same picture in 256 colours."""
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def main(names: list[str]) -> None:
    """Write these pictures, or all of them."""
    plt.switch_backend("agg")
    for name in names or ["arithmetics", *HEIGHTS, *EXAMPLES]:
        path = DOCS / f"{name}.png"
        if name == "arithmetics":
            draw_arithmetics(path)
        elif name in EXAMPLES:
            draw_example(name, path)
        else:
            take(name, path)
        print(f"{path}: {path.stat().st_size / 1e3:.0f} KB")


if __name__ == "__main__":
    main(sys.argv[1:])
