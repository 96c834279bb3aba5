"""Shared by the scripts of this folder: kept numbers, colours, and the attracting set in the
plane."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

# Okabe and Ito's colours, which most colour-blind readers can tell apart.
ORANGE, SKY, GREEN, BLUE, RED, PURPLE = (
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
INK, GREY, SHADE = "#222222", "#9A9A9A", "#EDEDED"
DIMENSIONS = {"2": BLUE, "4": GREEN, "8": RED, "16": ORANGE}

# Five leaders, then tokens that follow them; the sixth is equally attracted by the first two and
# ends between them.
PENTAGON = np.array(
    [
        (2, 1),
        (2, -1),
        (-0.5, 2.25),
        (-2.25, 0.5),
        (-1, -2),
        (1, 0),
        (0.75, 1.25),
        (1.25, -0.75),
        (-0.5, 1),
        (-1, 0.75),
        (-0.25, -1),
        (-1.5, -0.5),
        (0.5, 0.25),
        (0.25, 0.75),
    ]
)


def load(name: str) -> Any:
    """The numbers in `data/NAME.json`, or in the folder that the variable HARDMAX_PAPER names."""
    folder = Path(os.environ.get("HARDMAX_PAPER", Path(__file__).parent / "data"))
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def attracting_set(leaders: np.ndarray) -> np.ndarray:
    """Points of the polygon K of the leaders that tokens can converge to, for A = I: its vertices,
    and on every edge the point closest to the origin, if it is not an end of the edge."""
    polygon = leaders[ConvexHull(leaders).vertices]
    edges = np.roll(polygon, -1, axis=0) - polygon
    along = -(polygon * edges).sum(axis=1) / (edges**2).sum(axis=1)
    inside = (along > 0) & (along < 1)
    return np.vstack([leaders, (polygon + along[:, None] * edges)[inside]])


def bare(ax: Any) -> None:
    """Equal scales, no ticks, a faint frame, and a plus at the origin."""
    ax.set(aspect="equal", xticks=[], yticks=[])
    for side in ax.spines.values():
        side.set_color(SHADE)
    ax.plot(0, 0, "+", color=GREY, ms=8)
