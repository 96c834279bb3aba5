"""What floats do to the authors' own Figure 2: ties that are none, and followers that vote."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from hardmax import clouds
from hardmax.dynamics import Dynamics
from hardmax.figures.palette import BLUE, FAINT, VERMILION
from hardmax.figures.plane import draw_origin, draw_polytope, window
from hardmax.figures.style import Axes, Figure, our_look
from hardmax.limits import limit
from hardmax.paper.beyond.charts import open_axes, series
from hardmax.paper.beyond.walks import naive_walk
from hardmax.paper.drawing import draw_paths, draw_tokens, plain_axes
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import rounded

WATCHED = (4, 5)  # (1/2, 0) and (-1/2, 0), which tie two vertices each
LAYERS, SHOWN = 80, 30
ALPHA, LARGER_ALPHA = "1/2", "2"
DEEPEST = 400  # by then followers are as near to their leader as floats allow, for all alphas tried
STEPS, STEPS_IN_FULL = 10, 50  # alphas up to 4, in steps of one by so many
TURNS, TURNS_IN_FULL = 60, 600


def compute(setting: Setting) -> Numbers:
    """The fourth cloud of Figure 2 in floats, with ties by ==: as it is, for many alphas, and turned by many angles."""
    cloud = clouds.nonleader_clusters()
    turns, steps = (TURNS_IN_FULL, STEPS_IN_FULL) if setting.full else (TURNS, STEPS)
    turned = clouds.rotated(cloud)
    exact = limit(turned, Dynamics(ALPHA))
    setting.progress("floats: alphas and angles")
    return {
        "watched": list(WATCHED),
        "turned": {
            "leaders": exact.leaders.tolist(),
            "goals": rounded(exact.float_points[list(WATCHED)]),
            "exact": rounded(np.stack([exact.run.floats_at(layer) for layer in range(SHOWN + 1)])),
            "naive": rounded(_naive(turned, ALPHA, SHOWN)),
        },
        "distances": [
            {"name": f"turned, alpha = {ALPHA}", "distances": _distances(turned, ALPHA)},
            {"name": f"upright, alpha = {ALPHA}", "distances": _distances(cloud, ALPHA)},
            {"name": f"upright, alpha = {LARGER_ALPHA}", "distances": _distances(cloud, LARGER_ALPHA)},
        ],
        "alphas": [_by_alpha(cloud, str(Fraction(k, steps))) for k in range(1, 4 * steps + 1)],
        "angles": [_by_angle(cloud, Fraction(k, turns)) for k in range(1, turns)],
    }


def _by_alpha(cloud: np.ndarray, alpha: str) -> dict[str, Any]:
    """When a watched token leaves its axis, and how many followers have the floats of a vertex in the end."""
    path = _naive(cloud, alpha, DEEPEST)
    off = np.flatnonzero((np.abs(path[:, list(WATCHED), 1]) > 0.01).any(axis=1))
    others = np.arange(max(WATCHED) + 1, len(cloud))
    arrived = (path[-1, others, None] == cloud[:4]).all(axis=2).any(axis=1)
    return {"alpha": alpha, "astray": int(off[0]) if len(off) else None, "arrived": int(arrived.sum())}


def _naive(cloud: np.ndarray, alpha: str, layers: int) -> np.ndarray:
    return np.stack(list(islice(naive_walk(cloud.astype(np.float64), float(Fraction(alpha))), layers + 1)))


def _distances(cloud: np.ndarray, alpha: str) -> list[float]:
    """How far the first watched token is from where it truly is, at each layer."""
    exact = limit(cloud, Dynamics(alpha)).run
    naive = _naive(cloud, alpha, LAYERS)
    true = np.stack([exact.floats_at(layer)[WATCHED[0]] for layer in range(LAYERS + 1)])
    return [float(f"{gap:.3g}") for gap in np.linalg.norm(naive[:, WATCHED[0]] - true, axis=1)]


def _by_angle(cloud: np.ndarray, slope: Fraction) -> dict[str, Any]:
    """Whether the watched tokens end where they belong after a rotation by twice the angle of a slope, exactly made."""
    across, up = (1 - slope**2) / (1 + slope**2), 2 * slope / (1 + slope**2)
    rotation = np.array([[across, up], [-up, across]], dtype=object)
    exact = np.array([[Fraction(number) for number in token] for token in cloud.tolist()], dtype=object) @ rotation
    goals = np.array([[1, 0], [-1, 0]], dtype=object) @ rotation
    ends = _naive(exact, "1/2", SHOWN)[-1, list(WATCHED)]
    missed = np.linalg.norm(ends - goals.astype(np.float64), axis=1) > 0.01
    return {"degrees": rounded(np.degrees(np.arctan2(float(up), float(across))), 3), "missed": int(missed.sum())}


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """The turned cloud in floats; distances from the truth by layer; and when tokens go astray, by alpha."""
    with our_look():
        figure = Figure(figsize=(10.4, 3.8), layout="constrained")
        first, second, third = figure.subplots(1, 3, width_ratios=(1, 1.15, 1.15))
        _draw_turned(numbers, first)
        _draw_distances(numbers["distances"], second)
        _draw_alphas(numbers["alphas"], third)
    return {"": figure}


def _draw_turned(numbers: Numbers, ax: Axes) -> None:
    turned, watched = numbers["turned"], numbers["watched"]
    exact, naive = np.array(turned["exact"]), np.array(turned["naive"])
    plain_axes(ax, frame=True)
    ax.axis(window(exact[0]))
    draw_polytope(exact[-1, turned["leaders"]], ax)
    draw_origin(ax)
    draw_paths(exact, ax)
    draw_tokens(exact[0], ax, leaders=turned["leaders"])
    for token, goal in zip(watched, turned["goals"], strict=True):
        draw_paths(naive[:, [token]], ax, color=VERMILION, width=1.8)
        ax.scatter(*goal, s=90, facecolors="none", ec=BLUE, lw=1.6, zorder=6)
        ax.scatter(*naive[-1, token], s=60, color=VERMILION, marker="X", ec="white", lw=0.6, zorder=7)
    ax.set_title("the fourth cloud of Figure 2, turned")
    ax.set_xlabel(f"ring: true limit    red: floats, {len(naive) - 1} layers", fontsize=8)


def _draw_distances(runs: list[dict[str, Any]], ax: Axes) -> None:
    for number, run in enumerate(runs):
        # Zero has no place on a logarithmic scale: it is drawn at the bottom.
        heights = [max(gap, 1e-18) for gap in run["distances"]]
        series(range(len(heights)), heights, number, "", ax, label=run["name"], markevery=(3 * number, 10))
    ax.set_yscale("log")
    ax.set(xlabel="layer", ylim=(3e-19, 30), yticks=[1e-18, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1])
    ax.set_yticklabels(["0", *(f"$10^{{{power}}}$" for power in (-15, -12, -9, -6, -3)), "1"])
    ax.set_title("distance of token 4 from where it truly is")
    ax.legend(frameon=False, fontsize=8, loc="center right")
    open_axes(ax)


def _draw_alphas(alphas: list[dict[str, Any]], ax: Axes) -> None:
    def spots(rows: list[dict[str, Any]]) -> tuple[list[float], list[int]]:
        return [float(Fraction(row["alpha"])) for row in rows], [row["astray"] or 0 for row in rows]

    stray, balanced, short = _sorted_out(alphas)
    for rows, color, marker, name in (
        (stray, VERMILION, "X", "a token leaves its edge at this layer"),
        (balanced, BLUE, "o", "never: no followers outvote others"),
        (short, FAINT, "s", "never: followers stop just before their leader"),
    ):
        ax.scatter(*spots(rows), s=30, color=color, marker=marker, lw=0, label=name, zorder=3)
    most = max((row["astray"] for row in stray), default=1)
    ax.set(xlabel="alpha", ylabel="layer", ylim=(-0.06 * most, 1.5 * most))
    ax.set_title("the upright cloud, by alpha")
    ax.legend(frameon=False, fontsize=8, loc="upper right")
    open_axes(ax)


def _sorted_out(alphas: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], ...]:
    """The alphas with which a token goes astray, those where followers arrive and it does not, and the rest."""
    stray = [row for row in alphas if row["astray"] is not None]
    balanced = [row for row in alphas if row["astray"] is None and row["arrived"]]
    return stray, balanced, [row for row in alphas if row["astray"] is None and not row["arrived"]]


def table(numbers: Numbers) -> list[list[Any]]:
    """For each alpha the layer at which a token of the upright cloud goes astray."""
    rows = [
        [row["alpha"], "never" if row["astray"] is None else row["astray"], row["arrived"]] for row in numbers["alphas"]
    ]
    return [["alpha", "astray from layer", "followers with the floats of a vertex"], *rows]


def remark(numbers: Numbers) -> str:
    """Both traps, and by what luck the authors' figure escapes them."""
    stray, balanced, short = _sorted_out(numbers["alphas"])
    first, last = (pick(row["astray"] for row in stray) for pick in (min, max))
    angles = numbers["angles"]
    wrong = sum(row["missed"] > 0 for row in angles)
    authors = next(row for row in numbers["alphas"] if row["alpha"] == ALPHA)
    return (
        "The authors compare scores in floats with ==. In the fourth row of their Figure 2 this gives the right "
        "picture, by the luck of its coordinates. Turned exactly by the angle of the triangle 3, 4, 5 the cloud is "
        "the same, but fifths are no floats, the ties are lost, and both tokens leave for vertices with the first "
        f"layer; so they do, one or both, in {wrong} of {len(angles)} rotations tried. That is the first "
        "trap. The second needs no rotation: after some layers a follower has the same floats as its leader, counts "
        f"as one more voter, and drags a token off its edge. On the upright cloud this happens with {len(stray)} of "
        f"{len(numbers['alphas'])} values of alpha, between layers {first} and {last}; with {len(short)} rounding "
        f"happens to stop followers just before their leader, and with {len(balanced)} they arrive without outvoting "
        f"each other. The authors' alpha = 1/2 is one of those where {_fate(authors)}. More layers are not more "
        "accurate. In exact arithmetic, and with certified floats, none of this happens."
    )


def _fate(row: dict[str, Any]) -> str:
    if row["astray"] is not None:
        return f"a token goes astray, at layer {row['astray']}"
    return "followers arrive without doing harm" if row["arrived"] else "followers stop short"


PIECE = Piece(
    name="floats",
    title="What floats do to the authors' Figure 2",
    caption=(
        "The fourth cloud of Figure 2, whose tokens 4 and 5 tie two vertices each and end on edges, in floats where "
        "equal scores are found by ==. Left: turned by the angle of the triangle 3, 4, 5, with alpha = 1/2; grey "
        "ways and rings are the truth, red ways with crosses what floats do to these two tokens. Middle: how far "
        "token 4 is from where it truly is, by layer, for the turned cloud and for the upright one with two alphas. "
        "Right: for many alphas, the layer at which one of the two tokens of the upright cloud leaves its edge "
        "(crosses), because a follower has come to have the floats of its leader; along the bottom those alphas "
        "with which none ever does."
    ),
    compute=compute,
    draw=draw,
    table=table,
    remark=remark,
)
