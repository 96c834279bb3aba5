"""One layer of a run in the look of the paper's Figure 2: who follows whom, and the ways so far."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hardmax.checking import takes, truth_value
from hardmax.errors import InputError
from hardmax.figures import inputs
from hardmax.figures.asked import RunLike
from hardmax.figures.mpl import Axes, LineCollection, Path, PathCollection, Polygon
from hardmax.figures.palette import CYCLE, FAINT, INK, LEADER, room
from hardmax.figures.plane import draw_leader_polygon, draw_origin, window
from hardmax.figures.style import plain_axes

# A circle cut into more slices cannot be read; it is left grey, and the thin lines tell.
MOST_SLICES = 6
MOST_BENDS = 100
CIRCLE, STAR, RIM, WAY, GAZE = 54.0, 130.0, 1.9, 1.1, 0.6

Follows = Sequence[tuple[int, ...]]


@dataclass(frozen=True)
class DrawnLayer:
    """What `draw_layer` drew. A circle has a slice for each point that it follows."""

    stars: PathCollection
    slices: list[PathCollection]
    rims: PathCollection
    ways: LineCollection
    gazes: LineCollection
    hull: Polygon | None


@takes(run=inputs.a_run, ax=inputs.an_axes, hull=truth_value)
def draw_layer(run: RunLike, layer: int, ax: Axes, *, hull: bool = False) -> DrawnLayer:
    """The tokens of a plane at one layer; repeated tokens are drawn once.

    Stars attend to themselves alone. The others are circles in the colours of those whom they follow, with a rim in
    their own colour if they are followed themselves. Thin lines lead to whom a token follows, strong ones show its way
    so far; `hull` shades the hull of the leaders.
    """
    if run.d != 2:
        raise InputError(f"`draw_layer` draws clouds in the plane, not in dimension {run.d}: see `limit_figure`.")
    plain_axes(ax, frame=True)
    draw_origin(ax)
    ax.axis(window(_places(run, 0)))  # the same at all layers: nobody ever leaves the hull of the first
    places = _places(run, layer)
    choices = run.attended(layer).choices
    follows = [tuple(choices[point].tolist()) for point in range(len(choices))]
    color = _colors(run, np.unique(choices.indices).tolist())
    stars, circles = np.flatnonzero(choices.alone), np.flatnonzero(~choices.alone)
    followed = {goal for point in circles for goal in follows[point]}
    rims = [point for point in circles if point in followed]
    return DrawnLayer(
        stars=ax.scatter(
            *places[stars].T, s=STAR, c=[color[i] for i in stars], marker=LEADER, edgecolors=INK, lw=0.5, zorder=6
        ),
        slices=_draw_slices(places, circles.tolist(), follows, color, ax),
        rims=ax.scatter(
            *places[rims].T,
            s=CIRCLE * room(run.n),
            facecolors="none",
            edgecolors=[color[i] for i in rims],
            lw=RIM * room(run.n) ** 0.5,
            zorder=5,
        ),
        ways=_draw_ways(run, layer, ax),
        gazes=_draw_gazes(places, circles.tolist(), follows, color, ax),
        hull=draw_leader_polygon(run.floats_at(layer)[run.leaders], ax) if hull and len(run.leaders) else None,
    )


def _places(run: RunLike, layer: int) -> np.ndarray:
    """Where the points are, each once."""
    return run.floats_at(layer)[[members[0] for members in run.points.members]]


def _colors(run: RunLike, followed_now: list[int]) -> list[str]:
    """A colour for each point, the same at all layers: leaders first, then whoever else is followed; others grey."""
    ranked = dict.fromkeys(np.flatnonzero(run.leader_since >= 0).tolist())
    for stretch in run.stretches:
        ranked |= dict.fromkeys(np.unique(stretch.choices.indices).tolist())
    ranked |= dict.fromkeys(followed_now)
    colors = [FAINT] * run.points.count
    for rank, point in enumerate(ranked):
        colors[point] = CYCLE[rank % len(CYCLE)]
    return colors


def _draw_slices(
    places: np.ndarray, circles: list[int], follows: Follows, color: list[str], ax: Axes
) -> list[PathCollection]:
    """Circles as pies, all those that follow the same points together."""
    alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for point in circles:
        alike[follows[point]].append(point)
    drawn = []
    for goals, points in alike.items():
        faces = [color[goal] for goal in goals] if len(goals) <= MOST_SLICES else [FAINT]
        for number, face in enumerate(faces):
            slice_, size = _slice(number, len(faces))
            drawn.append(
                ax.scatter(
                    *places[points].T, s=CIRCLE * room(len(places)) * size, marker=slice_, color=face, lw=0, zorder=4
                )
            )
    return drawn


def _slice(number: int, of: int) -> tuple[Path, float]:
    """A slice of a round pie as a marker, and by what its size must be multiplied."""
    if of == 1:
        return Path.unit_circle(), 1.0
    slice_ = Path.wedge(90 + 360 * number / of, 90 + 360 * (number + 1) / of)
    # A marker is blown up until it fills its box; a slice of the pie must not be.
    return slice_, float(np.abs(np.asarray(slice_.vertices)).max()) ** 2


def _draw_ways(run: RunLike, layer: int, ax: Axes) -> LineCollection:
    before = [recorded for recorded in run.recorded if recorded < layer]
    bends = [*before[:: len(before) // MOST_BENDS + 1], layer]
    path = np.stack([_places(run, bend) for bend in bends], axis=1)
    ways = LineCollection(list(path), colors=FAINT, linewidths=WAY * room(run.n), zorder=3)
    ax.add_collection(ways)
    return ways


def _draw_gazes(places: np.ndarray, circles: list[int], follows: Follows, color: list[str], ax: Axes) -> LineCollection:
    pairs = [(point, goal) for point in circles for goal in follows[point]]
    ends = places[np.array(pairs, dtype=int).reshape(-1, 2)]
    colors, width = [color[goal] for _, goal in pairs], GAZE * room(len(places))
    gazes = LineCollection(list(ends), colors=colors, linewidths=width, alpha=0.55, zorder=2)
    ax.add_collection(gazes)
    return gazes
