"""The paper's Figure 5: the line through a token near a vertex parts that vertex from all other limit points."""

from collections.abc import Mapping
from fractions import Fraction
from math import tau

import numpy as np
from matplotlib.patches import Circle

from hardmax.dynamics import Dynamics
from hardmax.figures.palette import BLUE, FAINT, GREEN, INK, LEADER, PROJECTION, SKY
from hardmax.figures.plane import draw_origin, draw_polytope, window
from hardmax.figures.style import Axes, Figure, Polygon, our_look
from hardmax.geometry.halfspaces import half_plane
from hardmax.limits import limit
from hardmax.paper.drawing import draw_paths, plain_axes
from hardmax.paper.figures.attracting import PENTAGON, attracting_set, distances_to
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import rounded

ALPHA, VERTEX, TOKEN = "1/2", 0, 6
DIRECTIONS, HALVINGS = 3600, 30


def compute(setting: Setting) -> Numbers:
    """The largest radius for which lines through tokens near the vertex separate, and a token that came that near."""
    lim = limit(PENTAGON, Dynamics(ALPHA))
    attractors = attracting_set(lim)
    points = np.array([attractor.point for attractor in attractors], dtype=np.float64)
    here, others = points[VERTEX], np.delete(points, VERTEX, axis=0)
    largest = largest_radius(here, others)
    radius = float(Fraction(int(largest * 10), 10))  # rounded down, to a number that can be read
    layer = 0
    while distances_to(attractors, lim.run.floats_at(layer)).max() >= radius:
        layer += 1
    path = np.stack([lim.run.floats_at(step) for step in range(layer + 1)])
    token = path[-1, TOKEN]
    parting = token / np.linalg.norm(token)
    return {
        "alpha": ALPHA,
        "tokens": [list(token) for token in PENTAGON],
        "leaders": lim.leaders.tolist(),
        "points": rounded(points),
        "vertex": VERTEX,
        "largest_delta": rounded(largest),
        "delta": radius,
        "token": TOKEN,
        "layer": layer,
        "path": rounded(path),
        "vertex_beyond_line": rounded(parting @ (here - token)),
        "neighbourhoods_before_line": rounded(parting @ token - (others @ parting).max() - radius),
    }


def largest_radius(vertex: np.ndarray, others: np.ndarray) -> float:
    """The largest delta with <x, y - x> < 0 for all x within delta of the vertex and all y within delta of another.

    By halving, over many directions: near enough to be drawn.
    """
    turns = np.linspace(0, tau, DIRECTIONS, endpoint=False)
    rim = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    low, high = 0.0, float(np.linalg.norm(others - vertex, axis=1).min())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        # The worst x lies on the rim, or nearer in the same direction: both are looked at.
        tried = np.concatenate([vertex + share * middle * rim for share in (0.5, 1.0)])
        lengths = np.linalg.norm(tried, axis=1)
        furthest = (tried @ others.T).max(axis=1) + middle * lengths
        low, high = (middle, high) if (furthest < lengths**2).all() else (low, middle)
    return low


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """K, the neighbourhoods and the line through the token; beside it the same near the vertex."""
    points, delta = np.array(numbers["points"]), numbers["delta"]
    x, y = points[numbers["vertex"]].tolist()
    with our_look():
        figure = Figure(figsize=(9.0, 4.7), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.axis(window(points))
        right.axis((x - 3 * delta, x + 2 * delta, y - 2.5 * delta, y + 2.5 * delta))
        for ax in (left, right):
            _draw_separation(numbers, ax)
        _draw_names(numbers, left, right)
        left.set_title(f"all tokens at layer {numbers['layer']}, $\\delta$ = {delta:g}")
        right.set_title(f"near the vertex $s_0$: x is token {numbers['token']}")
    return {"": figure}


def _draw_separation(numbers: Numbers, ax: Axes) -> None:
    points, path, delta = np.array(numbers["points"]), np.array(numbers["path"]), numbers["delta"]
    token, vertex, leaders = path[-1, numbers["token"]], numbers["vertex"], numbers["leaders"]
    shown = ax.axis()
    plain_axes(ax, frame=True)
    draw_polytope(points[: len(leaders)], ax)
    draw_origin(ax)
    ax.add_patch(Polygon(half_plane(token, shown), closed=True, facecolor=GREEN, alpha=0.1, lw=0, zorder=1))
    ax.axline(token, token + np.array([-token[1], token[0]]), color=GREEN, lw=1.6, zorder=4)
    for number, (x, y) in enumerate(points.tolist()):
        fill, line = (GREEN, GREEN) if number == vertex else (SKY, BLUE)
        ax.add_patch(Circle((x, y), delta, fc=fill, ec=line, alpha=0.3, lw=1.0, zorder=2))
        size, marker = (120, LEADER) if number < len(leaders) else (40, PROJECTION)
        ax.scatter(x, y, s=size, marker=marker, c=INK, ec="white", lw=0.5, zorder=5)
    followers = np.setdiff1d(np.arange(path.shape[1]), [*leaders, numbers["token"]])
    ax.scatter(*path[-1, followers].T, s=20, c=FAINT, ec="white", lw=0.5, zorder=5)
    draw_paths(path[:, [numbers["token"]]], ax, color=INK)
    ax.scatter(*path[:-1, numbers["token"]].T, s=12, c=INK, zorder=5)
    ax.scatter(*token, s=50, c=GREEN, ec="white", lw=0.8, zorder=6)
    ax.axis(shown)


def _draw_names(numbers: Numbers, whole: Axes, near: Axes) -> None:
    """The names of the caption, and the direction in which the token looks."""
    points, token = np.array(numbers["points"]), np.array(numbers["path"])[-1, numbers["token"]]
    vertex = numbers["vertex"]
    first, second = np.argsort(np.linalg.norm(points - points[vertex], axis=1))[1:3]
    for name, number in ((r"$s_0$", vertex), (r"$s_1$", first), (r"$s_2$", second)):
        whole.annotate(name, points[number].tolist(), textcoords="offset points", xytext=(9, 5), fontsize=12, zorder=7)
    near.annotate(r"$s_0$", points[vertex].tolist(), textcoords="offset points", xytext=(9, 5), fontsize=12, zorder=7)
    near.annotate("$x$", token.tolist(), textcoords="offset points", xytext=(-13, -12), fontsize=12, zorder=7)
    end = token + 0.8 * numbers["delta"] * token / np.linalg.norm(token)
    look = {"arrowstyle": "-|>", "color": GREEN, "lw": 1.4, "shrinkA": 4, "shrinkB": 0}
    near.annotate("", end.tolist(), token.tolist(), arrowprops=look, zorder=5)


def remark(numbers: Numbers) -> str:
    """How small delta has to be, and by how much the line parts."""
    return (
        "The authors say that delta has to be small enough; for the cloud of Figure 4 and its leader "
        f"{numbers['vertex']} any delta below {numbers['largest_delta']:.3f} will do. With {numbers['delta']:g} all "
        f"tokens are within delta of S from layer {numbers['layer']} on. The line through token {numbers['token']}, "
        "at a right angle to the direction in which it looks, then has the leader on its far side, by "
        f"{numbers['vertex_beyond_line']:.3f}, and the neighbourhoods of all {len(numbers['points']) - 1} other "
        f"points of S on the near side, by at least {numbers['neighbourhoods_before_line']:.3f}: it can attend to "
        "nobody who is not within delta of its leader."
    )


PIECE = Piece(
    name="fig5",
    title="A vertex is parted from the other limit points",
    caption=(
        "The polytope K of Figure 4 (grey) with the δ-neighbourhoods of all points of S: leaders are stars, "
        "projections of the origin onto edges diamonds; on the right the same near the vertex s₀. Small dots are "
        "tokens, at a layer at which all are within δ of S; black dots are the earlier layers of the token x "
        "(green), which has come near s₀. The green line through x is at a right angle to the direction of x "
        "(arrow). It has s₀ on its far side, shaded, where everybody is whom x can attend to, and the "
        "neighbourhoods of s₁, s₂ and all others on the side of the origin (+)."
    ),
    compute=compute,
    draw=draw,
    remark=remark,
)
