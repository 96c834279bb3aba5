"""One layer of a run in the look of the paper's Figure 2: who follows whom, and the ways so far."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hardmax._validation import check_bool
from hardmax.figures import inputs
from hardmax.figures.asked import RunLike
from hardmax.figures.inputs import validate_params
from hardmax.figures.marks import draw_lines, marks
from hardmax.figures.mpl import Artist, Axes, LineCollection, Path, PathCollection
from hardmax.figures.palette import CYCLE, FAINT, INK, LEADER, room
from hardmax.figures.polytopes import draw_polytope
from hardmax.figures.views import View, prepare, view_of
from hardmax.geometry.polytope import Polytope

# A circle cut into more slices cannot be read; it is left grey, and the thin lines tell.
MOST_SLICES = 6
MOST_BENDS, MOST_POINTS = 100, 5000
CIRCLE, STAR, RIM, WAY, GAZE = 54.0, 130.0, 1.9, 1.1, 0.6

Follows = Mapping[int, tuple[int, ...]]


@dataclass(frozen=True)
class DrawnLayer:
    """What `draw_layer` drew. A circle has a slice for each point that it follows."""

    stars: PathCollection
    slices: list[PathCollection]
    rims: PathCollection
    ways: LineCollection
    gazes: LineCollection
    hull: list[Artist]


@validate_params(run=inputs.a_run, ax=inputs.an_axes, hull=check_bool)
def draw_layer(run: RunLike, layer: int, ax: Axes, *, hull: bool = False) -> DrawnLayer:
    """The tokens at one layer; repeated tokens are drawn once, and of very many points only some.

    Stars attend to themselves alone. The others are circles in the colours of those whom they follow, with a rim in
    their own colour if they are followed themselves. Thin lines lead to whom a token follows, strong ones show its way
    so far; `hull` shades the hull of the leaders. Tokens of the plane, and of space on axes in space, are shown where
    they are, those of more dimensions by principal coordinates; on a line time runs downwards.
    """
    view = _prepare(run, layer, ax)
    places, firsts = view.places(run.floats_at(layer)), _firsts(run)
    choices = run.attended(layer).choices
    shown = _shown(choices.is_leader)
    follows = {point: tuple(choices[point].tolist()) for point in shown.tolist()}
    color = _colors(run, np.unique(choices.indices).tolist())
    stars, circles = shown[choices.is_leader[shown]], shown[~choices.is_leader[shown]]
    followed = {goal for point in circles.tolist() for goal in follows[point]}
    rims = [point for point in circles.tolist() if point in followed]
    small = room(len(shown))
    at = places[firsts]
    return DrawnLayer(
        stars=marks(
            at[stars], ax, s=STAR, c=[color[i] for i in stars], marker=LEADER, edgecolors=INK, lw=0.5, zorder=6
        ),
        slices=_draw_slices(at, circles.tolist(), follows, color, ax),
        rims=marks(
            at[rims],
            ax,
            s=CIRCLE * small,
            facecolors="none",
            edgecolors=[color[i] for i in rims],
            lw=RIM * small**0.5,
            zorder=5,
        ),
        ways=_draw_ways(run, layer, firsts[shown], view, ax),
        gazes=_draw_gazes(at, circles.tolist(), follows, color, ax),
        hull=draw_polytope(Polytope(places[run.leaders]), ax) if hull and len(run.leaders) else [],
    )


def _prepare(run: RunLike, layer: int, ax: Axes) -> View:
    """Axes that are the same at all layers: nobody ever leaves the hull of the first."""
    starts = run.floats_at(0)
    view = view_of(starts, ax)
    prepare(ax, view, view.path(starts[None])[0])
    if view.falling:
        ax.set_yticks([1, 0], ["start", f"layer {layer:,}"])
    return view


def _firsts(run: RunLike) -> np.ndarray:
    """The first token on each point."""
    firsts = np.empty(run.points.count, dtype=int)
    firsts[run.points.of_token[::-1]] = np.arange(run.n)[::-1]
    return firsts


def _shown(is_leader: np.ndarray) -> np.ndarray:
    """The points that are drawn: all, or, where these are too many, some of those that lead and some of all."""
    if len(is_leader) <= MOST_POINTS:
        return np.arange(len(is_leader))
    leading = np.flatnonzero(is_leader)
    every = len(is_leader) // MOST_POINTS + 1
    return np.union1d(leading[:: len(leading) // MOST_POINTS + 1], np.arange(0, len(is_leader), every))


def _colors(run: RunLike, followed_now: list[int]) -> list[str]:
    """A colour for each point, the same at all layers: leaders first, then whoever else is followed; others grey."""
    ranked = dict.fromkeys(np.flatnonzero(run.leader_since >= 0).tolist())
    for phase in run.phases:
        ranked |= dict.fromkeys(np.unique(phase.choices.indices).tolist())
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
                marks(
                    places[points],
                    ax,
                    s=CIRCLE * room(len(follows)) * size,
                    marker=slice_,
                    color=face,
                    lw=0,
                    zorder=4,
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


def _draw_ways(run: RunLike, layer: int, tokens: np.ndarray, view: View, ax: Axes) -> LineCollection:
    before = [recorded for recorded in run.recorded if recorded < layer]
    bends = [*before[:: len(before) // MOST_BENDS + 1], layer]
    path = view.path(np.stack([run.floats_at(bend)[tokens] for bend in bends]))
    return draw_lines(list(path.swapaxes(0, 1)), ax, colors=FAINT, linewidths=WAY * room(len(tokens)), zorder=3)


def _draw_gazes(places: np.ndarray, circles: list[int], follows: Follows, color: list[str], ax: Axes) -> LineCollection:
    pairs = [(point, goal) for point in circles for goal in follows[point]]
    ends = places[np.array(pairs, dtype=int).reshape(-1, 2)]
    colors, width = [color[goal] for _, goal in pairs], GAZE * room(len(follows))
    return draw_lines(list(ends), ax, colors=colors, linewidths=width, alpha=0.55, zorder=2)
