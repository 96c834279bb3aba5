"""Whether probabilities are honest: of the texts that get 80 %, are 80 % right?"""

from dataclasses import dataclass

import numpy as np

from hardmax.figures import inputs
from hardmax.figures.inputs import validate_params
from hardmax.figures.mpl import Axes, Figure, Line2D, LineCollection
from hardmax.figures.palette import BLUE, FAINT, VERMILION
from hardmax.figures.style import our_look

Curve = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class DrawnReliability:
    """What `draw_reliability` drew."""

    diagonal: Line2D
    points: Line2D
    gaps: LineCollection


@validate_params(curve=inputs.a_curve, ax=inputs.an_axes)
def draw_reliability(curve: Curve, ax: Axes) -> DrawnReliability:
    """The curve of `calibration_curve`: mean probability against the share that is right, a point for each bin.

    Honest probabilities lie on the diagonal; a bar shows how far a bin is from it.
    """
    confidence, right, _ = curve
    low = max(0.0, min(confidence.min(), right.min()) - 0.05)
    (diagonal,) = ax.plot([low, 1], [low, 1], color=FAINT, lw=0.9, ls="--", zorder=1, label="honest")
    gaps = LineCollection(
        [[(c, c), (c, r)] for c, r in zip(confidence.tolist(), right.tolist(), strict=True)],
        colors=VERMILION, linewidths=1.6, alpha=0.7, zorder=2, label="gap",
    )  # fmt: skip
    ax.add_collection(gaps)
    (points,) = ax.plot(confidence, right, color=BLUE, marker="o", ms=4, lw=1.1, zorder=3, label="model")
    ax.set_aspect("equal")
    ax.set_xlim(low, 1.02)
    ax.set_ylim(low, 1.02)
    ax.set_xlabel("probability that the model gives its answer")
    ax.set_ylabel("share of answers that are right")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return DrawnReliability(diagonal, points, gaps)


@validate_params(curve=inputs.a_curve)
def reliability_figure(curve: Curve) -> Figure:
    """`draw_reliability` as a figure of its own, with the expected calibration error, the mean gap, in its title."""
    confidence, right, texts = curve
    with our_look():
        figure = Figure(figsize=(4.4, 4.4))
        ax = figure.add_subplot()
        draw_reliability(curve, ax)
        error = float((np.abs(confidence - right) * texts).sum() / texts.sum())
        ax.set_title(f"{int(texts.sum()):,} texts, calibration error {error:.4f}", loc="left")
        ax.legend(loc="upper left", frameon=False, fontsize=8)
    return figure
