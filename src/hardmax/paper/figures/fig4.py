"""The paper's Figure 4: the neighbourhood of the attracting set that all tokens enter."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.patches import Circle

from hardmax.dynamics import Dynamics
from hardmax.figures.palette import BLUE, FAINT, GREEN, INK, LEADER, PROJECTION, SKY, VERMILION
from hardmax.figures.plane import draw_origin, draw_polytope, window
from hardmax.figures.style import Axes, Figure, Line2D, MaxNLocator, our_look, sign
from hardmax.limits import limit
from hardmax.paper.drawing import draw_paths, plain_axes
from hardmax.paper.figures.attracting import PENTAGON, attracting_set, distances_to
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import rounded

ALPHA, DELTA, SHOWN, LAST = "1/2", "0.3", 3, 20


def compute(setting: Setting) -> Numbers:
    """S, who ends at each of its points, and how far from S the tokens are at each layer."""
    lim = limit(PENTAGON, Dynamics(ALPHA))
    attractors = attracting_set(lim)
    ends = [tuple(place) for place in lim.exact_points.tolist()]
    path = np.stack([lim.run.floats_at(layer) for layer in range(LAST + 1)])
    away = np.stack([distances_to(attractors, places) for places in path])
    inside = (away < float(DELTA)).all(axis=1)
    return {
        "alpha": ALPHA,
        "tokens": [list(token) for token in PENTAGON],
        "leaders": lim.leaders.tolist(),
        "delta": DELTA,
        "shown_layer": SHOWN,
        "attractors": [
            {
                "point": [str(number) for number in attractor.point],
                "leaders": list(attractor.leaders),
                "tokens": [token for token, end in enumerate(ends) if end == attractor.point],
            }
            for attractor in attractors
        ],
        "path": rounded(path),
        "distances": rounded(away, 9),
        "all_inside_from": int(np.flatnonzero(~inside)[-1]) + 1,
    }


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """K with S and its neighbourhood; beside it, how far from S the furthest token is."""
    with our_look():
        figure = Figure(figsize=(8.4, 4.5), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.35, 1))
        _draw_neighbourhood(numbers, left)
        _draw_distances(numbers, right)
    return {"": figure}


def _draw_neighbourhood(numbers: Numbers, ax: Axes) -> None:
    path, shown, delta = np.array(numbers["path"]), numbers["shown_layer"], float(numbers["delta"])
    plain_axes(ax)
    ax.axis(window(path[0]))
    draw_polytope(path[0, numbers["leaders"]], ax)
    draw_origin(ax)
    for attractor in numbers["attractors"]:
        x, y = (float(Fraction(number)) for number in attractor["point"])
        ax.add_patch(Circle((x, y), delta, facecolor=SKY, edgecolor=BLUE, alpha=0.35, lw=1.0, zorder=1))
        ax.scatter(x, y, **_look(attractor), zorder=5)
    followers = np.setdiff1d(np.arange(path.shape[1]), numbers["leaders"])
    draw_paths(path[: shown + 1, followers], ax)
    inside = np.array(numbers["distances"])[shown, followers] < delta
    for there, color, marker in ((True, GREEN, "o"), (False, VERMILION, "s")):
        ax.scatter(
            *path[shown, followers[inside == there]].T, s=34, c=color, marker=marker, ec="white", lw=0.6, zorder=6
        )
    # A vertex where there is room for the sign of its radius.
    x, y = (float(Fraction(number)) for number in numbers["attractors"][1]["point"])
    ax.annotate(
        "",
        (x + delta * 0.71, y - delta * 0.71),
        (x, y),
        arrowprops={"arrowstyle": "-", "color": INK, "lw": 1.0, "shrinkA": 0, "shrinkB": 0},
        zorder=6,
    )
    ax.text(x + 0.8 * delta, y - 1.05 * delta, r"$\delta$", fontsize=12)
    ax.set_title(rf"$\delta$ = {delta:g}, tokens at layer {shown}")
    ax.legend(handles=_key(), loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=2, frameon=False, fontsize=8)


def _look(attractor: Mapping[str, Any]) -> dict[str, Any]:
    """A star for a vertex, a diamond for a projection, filled if somebody ends there."""
    if len(attractor["leaders"]) == 1:
        return {"s": 130, "marker": LEADER, "c": INK, "ec": "white", "lw": 0.6}
    return {"s": 44, "marker": PROJECTION, "fc": INK if attractor["tokens"] else "white", "ec": INK, "lw": 1.0}


def _key() -> list[Line2D]:
    return [
        sign(LEADER, INK, "vertex of K: a leader", 11),
        sign(PROJECTION, INK, "0 projected onto an edge, somebody's limit", 6),
        sign(PROJECTION, INK, "the same, nobody's limit", 6, face="white"),
        sign("o", GREEN, "token within δ of S", 6),
        sign("s", VERMILION, "token still outside", 6),
    ]


def _draw_distances(numbers: Numbers, ax: Axes) -> None:
    furthest = np.array(numbers["distances"]).max(axis=1)
    layers, delta, inside = np.arange(len(furthest)), float(numbers["delta"]), numbers["all_inside_from"]
    ax.semilogy(layers, furthest, color=BLUE, marker="o", ms=4, lw=1.4)
    ax.axhline(delta, color=INK, ls="--", lw=1.0)
    ax.text(layers[-1], delta * 1.12, r"$\delta$", ha="right", fontsize=11)
    ax.axvline(inside, color=FAINT, ls=":", lw=1.2)
    ax.annotate(
        f"all inside from layer {inside}", (inside, furthest[-1]), textcoords="offset points", xytext=(5, 2), fontsize=8
    )
    ax.set_title("distance of the furthest token from S")
    ax.set_xlabel("layer")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def remark(numbers: Numbers) -> str:
    """What S is here, and when everybody has come near it."""
    attractors = numbers["attractors"]
    vertices = [attractor for attractor in attractors if len(attractor["leaders"]) == 1]
    edges = [attractor for attractor in attractors if len(attractor["leaders"]) > 1]
    reached = [attractor for attractor in edges if attractor["tokens"]]
    return (
        f"The authors sketch this set; here it is that of a cloud of {len(numbers['tokens'])} tokens, computed "
        f"exactly. S has {len(attractors)} points: the {len(vertices)} leaders and, on {len(edges)} edges, the "
        "projection of the origin. Every edge has one in its inner part, since of two leaders neither reaches as "
        f"far as the other in the direction of the other; but tokens tend to only {len(reached)} of these "
        f"{len(edges)}, because it takes a tie to get there. With delta = {numbers['delta']} the tokens are all in "
        f"the neighbourhood of S from layer {numbers['all_inside_from']} on, and their distance from their limits "
        f"shrinks by the factor 1/(1 + alpha) = {Dynamics(numbers['alpha']).contraction} in every layer."
    )


PIECE = Piece(
    name="fig4",
    title="The neighbourhood of the attracting set",
    caption=(
        "Left: the polytope K (grey) of five leaders, and the attracting set S on its boundary: the leaders (stars) "
        "and the point of each edge that is nearest to the origin (diamonds; filled if it is the limit of a token). "
        "The discs of radius δ around the points of S are its δ-neighbourhood. Tokens are shown with their ways at "
        "layer 3: green dots within it, red squares still outside. Right: the distance of the furthest token from S "
        "at every layer, on a logarithmic scale, and the layer from which on all are inside."
    ),
    compute=compute,
    draw=draw,
    remark=remark,
)
