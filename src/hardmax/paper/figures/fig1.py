"""The paper's Figure 1: the half-space in which a token finds whom it attends to, for two metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hardmax._validation import InputError, normalize_index
from hardmax.dynamics import Dynamics
from hardmax.figures.palette import BLUE, FAINT, INK, SKY, VERMILION
from hardmax.figures.plane import draw_origin, window
from hardmax.figures.style import Annotation, Axes, Figure, LineCollection, PathCollection, Polygon, our_look
from hardmax.geometry.halfspaces import half_plane
from hardmax.paper.drawing import plain_axes
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import listed, written
from hardmax.simulation import simulate
from hardmax.trajectory import Trajectory

# With A = I token 0 ties 1 and 2; with A = ((2, 1), (1, 1)) it looks further up and attends to 3 alone.
FIGURE_1 = [(1, -0.5), (1.5, -1.5), (2, -0.5), (1.5, 1.75)]
METRICS = {"A = I": None, "A = ((2, 1), (1, 1))": [[2, 1], [1, 1]]}
TOKEN = 0
KEY = "dot: the token    square: whom it attends to    arrow: where it looks    shaded: its half-space"


def figure1_runs() -> dict[str, Trajectory]:
    """The two metrics of Figure 1, on four tokens of our choice."""
    return {name: simulate(FIGURE_1, Dynamics("1/2", metric), layers=0) for name, metric in METRICS.items()}


def compute(setting: Setting) -> Numbers:
    """Whom the token attends to in each metric, and what every token scores with it, exactly."""
    panels = []
    for name, run in figure1_runs().items():
        tokens, metric = run.exact_at(0), METRICS[name] or [[1, 0], [0, 1]]
        direction = [sum(a * z for a, z in zip(row, tokens[TOKEN], strict=True)) for row in metric]
        scores = [sum(a * z for a, z in zip(direction, token, strict=True)) for token in tokens]
        panels.append(
            {
                "name": name,
                "metric": metric,
                "tokens": written(tokens),
                "token": TOKEN,
                "direction": [str(number) for number in direction],
                "scores": [str(score) for score in scores],
                "attended": run.attended(0)[TOKEN].tolist(),
                "in_half_space": [token for token, score in enumerate(scores) if score >= scores[TOKEN]],
            }
        )
    return {"panels": panels}


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """A panel for each metric."""
    runs = {
        panel["name"]: simulate(panel["tokens"], Dynamics("1/2", panel["metric"]), layers=0)
        for panel in numbers["panels"]
    }
    return {"": halfspace_figure(runs, numbers["panels"][0]["token"])}


@dataclass(frozen=True)
class DrawnHalfspace:
    """What `draw_halfspace` drew."""

    shade: Polygon
    gaze: Annotation
    falls: LineCollection
    token: PathCollection
    attended: PathCollection
    others: PathCollection


def halfspace_figure(runs: Mapping[str, Trajectory], token: int = 0) -> Figure:
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


def draw_halfspace(run: Trajectory, token: int, ax: Axes, *, layer: int = 0) -> DrawnHalfspace:
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


def remark(numbers: Numbers) -> str:
    """Who is attended to, with the scores that decide it."""
    told = []
    for panel in numbers["panels"]:
        best = max(map(Fraction, panel["scores"]))
        chosen = [str(token) for token in panel["attended"]]
        told.append(
            f"With {panel['name']} token {panel['token']} looks along ({', '.join(panel['direction'])}); "
            f"the largest score is {best}, of token{'s' * (len(chosen) > 1)} {listed(chosen)}."
        )
    return (
        " ".join(told)
        + " As the authors draw it, the metric alone turns a tie of two tokens into the choice of a third, and whoever "
        "is attended to lies in the shaded half-space. Scores are rational numbers here, so that the tie is a tie."
    )


PIECE = Piece(
    name="fig1",
    title="Attended sets and half-spaces",
    caption=(
        "One token (blue dot, z₀) among four, and whom it attends to (red squares), for A = I and for A = ((2, 1), "
        "(1, 1)). The arrow is the direction A z₀, from the origin (+); dotted lines fall from every token onto it, "
        "and those whose foot lies furthest out are attended to: z₁ and z₂ on the left, z₃ on the right. They can "
        "only lie in the half-space of all z with ⟨A z₀, z − z₀⟩ ≥ 0, which is shaded."
    ),
    compute=compute,
    draw=draw,
    remark=remark,
)
