"""The half-space in which a token finds whom it attends to: the paper's Figure 1."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hardmax._validation import InputError, normalize_index
from hardmax.figures import inputs
from hardmax.figures.asked import RunLike
from hardmax.figures.inputs import validate_params
from hardmax.figures.mpl import Annotation, Axes, Figure, LineCollection, PathCollection, Polygon
from hardmax.figures.palette import BLUE, FAINT, INK, SKY, VERMILION
from hardmax.figures.plane import draw_origin, window
from hardmax.figures.style import our_look, plain_axes
from hardmax.geometry.halfspaces import half_plane

KEY = "dot: the token    square: whom it attends to    arrow: where it looks    shaded: its half-space"


@dataclass(frozen=True)
class DrawnHalfspace:
    """What `draw_halfspace` drew."""

    shade: Polygon
    gaze: Annotation
    falls: LineCollection
    token: PathCollection
    attended: PathCollection
    others: PathCollection


@validate_params(runs=inputs.runs_by_name)
def halfspace_figure(runs: Mapping[str, RunLike], token: int = 0) -> Figure:
    """A panel for each run: one token, whom it attends to, and its half-space."""
    with our_look():
        figure = Figure(figsize=(3.6 * len(runs), 4.1))
        panels = figure.subplots(1, len(runs), squeeze=False)[0]
        for ax, (name, run) in zip(panels, runs.items(), strict=True):
            draw_halfspace(run, token, ax)
            ax.set_title(name)
        figure.supxlabel(KEY, fontsize=8)
        figure.tight_layout()
    return figure


@validate_params(run=inputs.a_run, ax=inputs.an_axes)
def draw_halfspace(run: RunLike, token: int, ax: Axes, *, layer: int = 0) -> DrawnHalfspace:
    """A token of the plane, where it looks, how far the tokens lie that way, and its half-space, shaded."""
    if run.d != 2:
        raise InputError(f"`draw_halfspace` draws clouds in the plane, not in dimension {run.d}.")
    token = normalize_index(token, run.n, "`token`")
    tokens, metric = run.floats_at(layer), run.dynamics.metric
    matrix = np.eye(2) if metric is None else np.array(metric, dtype=np.float64)
    normal = matrix @ tokens[token]
    attended = run.attended(layer)[token]
    others = np.setdiff1d(np.arange(run.n), [token, *attended])
    # A token's height is how far it lies along the direction A z: those with the largest are attended to.
    heights = tokens @ normal / max(float(normal @ normal), np.finfo(float).tiny)
    feet = heights[:, None] * normal
    plain_axes(ax, frame=True)
    ax.axis(window(np.vstack([tokens, feet, [[0, 0]]])))
    draw_origin(ax)
    corners = half_plane(tokens[token], ax.axis(), matrix)
    shade = Polygon(corners, closed=True, facecolor=SKY, edgecolor=BLUE, alpha=0.25, lw=1.2, zorder=1)
    ax.add_patch(shade)
    falls = LineCollection(list(np.stack([tokens, feet], axis=1)), colors=FAINT, linestyles=":", zorder=2)
    ax.add_collection(falls)
    for number, spot in enumerate(tokens):
        aside = (-17, -11) if number == token else (7, 5)  # away from the arrow
        ax.annotate(f"$z_{{{number}}}$", spot, textcoords="offset points", xytext=aside, fontsize=10, zorder=6)
    return DrawnHalfspace(
        shade=shade,
        gaze=ax.annotate(
            "",
            feet[np.argmax(heights)],
            (0, 0),
            arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.2, "shrinkA": 0, "shrinkB": 0},
            zorder=3,
        ),
        falls=falls,
        token=ax.scatter(*tokens[token], s=60, color=BLUE, edgecolors="white", lw=0.6, zorder=5),
        attended=ax.scatter(
            *tokens[attended].T, s=60, color=VERMILION, marker="s", edgecolors="white", lw=0.6, zorder=4
        ),
        others=ax.scatter(*tokens[others].T, s=46, color=FAINT, edgecolors="white", lw=0.6, zorder=4),
    )
