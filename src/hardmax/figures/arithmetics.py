"""One cloud, several arithmetics: where each of them sends the same tokens."""

from collections.abc import Mapping, Sequence

import numpy as np

from hardmax._validation import InputError, normalize_index
from hardmax.figures import inputs
from hardmax.figures.asked import RunLike
from hardmax.figures.inputs import validate_params
from hardmax.figures.mpl import Axes, Figure
from hardmax.figures.palette import BLUE, FAINT, VERMILION
from hardmax.figures.plane import draw_leader_polygon, draw_paths, draw_tokens
from hardmax.figures.style import our_look, plain_axes


@validate_params(runs=inputs.runs_by_name, watched=inputs.numbers_of_tokens, goals=inputs.in_plane)
def arithmetics_figure(runs: Mapping[str, RunLike], watched: Sequence[int], goals: np.ndarray) -> Figure:
    """A panel for each run, with the `watched` tokens and the points where they belong, `goals`."""
    with our_look():
        figure = Figure(figsize=(3.6 * len(runs), 4.1))
        panels = figure.subplots(1, len(runs), squeeze=False)[0]
        for ax, (title, run) in zip(panels, runs.items(), strict=True):
            draw_run(run, ax, watched=watched, goals=goals)
            ax.set_title(title)
        figure.supxlabel("star: leader    ring: where a watched token belongs    cross: it ends elsewhere", fontsize=8)
        figure.tight_layout()
    return figure


@validate_params(run=inputs.a_run, ax=inputs.an_axes, watched=inputs.numbers_of_tokens, goals=inputs.in_plane)
def draw_run(run: RunLike, ax: Axes, *, watched: Sequence[int], goals: np.ndarray) -> None:
    """The ways of all tokens; the watched ones blue with a dot if they end where they belong, else red with a cross."""
    if run.d != 2 or len(watched) != len(goals):
        came = f"{len(watched)} tokens and {len(goals)} goals in dimension {run.d}"
        raise InputError(f"`draw_run` draws clouds in the plane, with a goal for each watched token, not {came}.")
    watched = [normalize_index(token, run.n, "`watched`") for token in watched]
    plain_axes(ax)
    path = np.asarray(run)
    draw_leader_polygon(path[-1][run.leaders], ax)
    draw_paths(path, ax)
    draw_tokens(path[0], ax, leaders=run.leaders)
    ax.scatter(*goals.T, s=120, facecolors="none", edgecolors=FAINT, linewidths=1.4, zorder=2)
    for token, goal in zip(watched, goals, strict=True):
        there = bool(np.allclose(path[-1, token], goal, atol=1e-9))
        color = BLUE if there else VERMILION
        draw_paths(path[:, [token]], ax, color=color, width=1.8)
        ax.scatter(*path[0, token], s=34, c=color, edgecolors="white", linewidths=0.6, zorder=5)
        ax.scatter(*path[-1, token], s=70, c=color, marker="o" if there else "X", edgecolors="white", zorder=6)
        ax.annotate(
            f"token {token}", path[0, token], textcoords="offset points", xytext=(6, -9), fontsize=8, color=color
        )
