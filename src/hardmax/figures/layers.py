"""`run.plot()` and `run.animate()`: one layer of a run, with its leaders, who follows whom, and the paths so far."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hardmax._format import pluralize
from hardmax._tokens.batches import whole_numbers
from hardmax._validation import InputError, check_bool, check_instance, check_int, check_path, shorten
from hardmax.figures import plane, style
from hardmax.figures.palette import FAINT, GREY, INK, LEADER, look_of_leader, mark_scale
from hardmax.trajectory import Trajectory

MOST_SLICES = 6
"""A circle cut into more slices cannot be read: it is left grey."""
MOST_PANELS, MOST_FRAMES, DEFAULT_FRAMES = 100, 300, 60
_CIRCLE, _RIM = 54.0, 1.9
_SIDE, _SIDE_IN_ROW = 4.4, 3.0  # of a panel, in inches


@dataclass(frozen=True)
class DrawnLayer:
    """What `draw_layer` drew."""

    stars: style.PathCollection
    """Tokens that attend to themselves alone."""
    circles: style.PathCollection
    """Tokens that attend to one other, or to so many that they are grey."""
    slices: list[style.PathCollection]
    """Of the tokens that attend to several, a slice for each of these."""
    rims: style.PathCollection
    """Around circles that are attended to themselves."""
    paths: list[style.Line2D]
    """From the first layer to this one, a line for each group."""
    starts: list[style.PathCollection]
    """Where they begin."""
    attention: list[style.Line2D]
    """From circles to whom they attend."""
    hull: list[style.Artist]
    """The hull of the leaders."""


def draw_layer(
    run: Trajectory, layer: int, ax: style.Axes, *, hull: bool = True, most: int = plane.MOST_TOKENS
) -> DrawnLayer:
    """Draw the tokens at one layer; repeated tokens are drawn once.

    Stars attend to themselves alone, and are numbered. The others are circles in the colours of those whom they
    attend to, along dotted lines, with a rim in a colour of their own if they are attended to as well. Paths begin in
    small plane.marks. Tokens on a line come down with the layers; more than three dimensions are shown by principal
    coordinates.

    Parameters
    ----------
    run : Trajectory
        The run of one cloud.
    layer : int
        A layer of the run, or any later one if it settled.
    ax : matplotlib Axes
        Where to draw; three-dimensional axes for tokens in space, if you like.
    hull : bool, default True
        Shade the hull of the leaders.
    most : int, default 5000
        Of more tokens than this only some are drawn.

    Returns
    -------
    DrawnLayer
        The artists.

    Examples
    --------
    >>> from matplotlib.figure import style.Figure
    >>> import hardmax as hm
    >>> run = hm.simulate(hm.clouds.square(), hm.Dynamics("1/2"), layers=3)
    >>> len(draw_layer(run, 3, style.Figure().subplots()).stars.get_offsets())
    4
    """
    view = _prepare(run, layer, ax)
    hull = check_bool(hull, "`hull`")
    choices = run.attended(layer).choices
    shown = _shown(choices.is_leader, check_int(most, "`most`", at_least=1))
    follows = {point: tuple(choices[point].tolist()) for point in shown.tolist()}
    number = _numbers(run, np.unique(choices.indices))
    color = [look_of_leader(group)[0] for group in number.tolist()]
    first = np.empty(run.points.count, dtype=int)  # the first token on each point
    first[run.points.of_token[::-1]] = np.arange(run.n)[::-1]
    places = view.places(run.floats_at(layer)[first])
    stars, circles = shown[choices.is_leader[shown]], shown[~choices.is_leader[shown]]
    followed = {goal for point in circles.tolist() for goal in follows[point]}
    rims = [point for point in circles.tolist() if point in followed]
    groups = np.where(choices.sizes[shown] == 1, number[choices.firsts(shown)], GREY)
    paths, starts = plane.draw_flow(view.path(_bends(run, layer, first[shown])), groups, ax)
    small, several = mark_scale(len(shown)), _several(circles.tolist(), follows)
    plain = np.setdiff1d(circles, [point for points in several.values() for point in points])
    faces = [color[follows[point][0]] if len(follows[point]) == 1 else FAINT for point in plain.tolist()]
    edges = [color[point] for point in rims]
    return DrawnLayer(
        stars=plane.draw_leaders(places[stars], number[stars].tolist(), [str(first[point]) for point in stars], ax),
        circles=plane.marks(
            places[plain], ax, s=_CIRCLE * small, c=faces, edgecolors="white", lw=0.5 * small, zorder=4
        ),
        slices=_draw_slices(places, several, color, _CIRCLE * small, ax),
        rims=plane.marks(places[rims], ax, s=_CIRCLE * small, fc="none", ec=edges, lw=_RIM * small**0.5, zorder=5),
        paths=paths,
        starts=starts,
        attention=_draw_attention(places, circles.tolist(), follows, number, 0.8 * small, ax),
        hull=plane.draw_polytope(places[run.points.of_token[run.leaders]], ax) if hull and len(run.leaders) else [],
    )


def _prepare(run: Trajectory, layer: int, ax: style.Axes) -> plane.View:
    check_instance(run, Trajectory, "`run`", "a Trajectory, as `simulate` gives for one cloud")
    starts = run.floats_at(0)
    view = plane.view_of(starts, style.check_axes(ax))
    plane.prepare(ax, view, view.path(starts[None])[0], f"layer {layer:,}" if isinstance(layer, int) else "end")
    return view


def _shown(is_leader: np.ndarray, most: int) -> np.ndarray:
    """The points that are drawn: all, or, where these are too many, some of those that lead and some of all."""
    if len(is_leader) <= most:
        return np.arange(len(is_leader))
    leading = np.flatnonzero(is_leader)
    return np.union1d(leading[:: len(leading) // most + 1], np.arange(0, len(is_leader), len(is_leader) // most + 1))


def _numbers(run: Trajectory, followed: np.ndarray) -> np.ndarray:
    """A number for the look of each point, the same at all layers: leaders first, then whoever else is followed."""
    ranked = dict.fromkeys(np.flatnonzero(run.leader_since >= 0).tolist())
    for phase in run.phases:
        ranked |= dict.fromkeys(np.unique(phase.choices.indices).tolist())
    ranked |= dict.fromkeys(followed.tolist())
    numbers = np.full(run.points.count, GREY)
    numbers[list(ranked)] = np.arange(len(ranked))
    return numbers


def _bends(run: Trajectory, layer: int, tokens: np.ndarray) -> np.ndarray:
    """The tokens (k, n, d) wherever their paths bend: paths are straight as long as no attended set changes."""
    between = [bend for bend in run.decided_at if 0 < bend < layer]
    # Of large clouds only the ends: each layer between has to be computed again.
    some = between[:: len(between) // plane.MOST_BENDS + 1] if len(tokens) == run.points.count else []
    return np.stack([run.floats_at(bend)[tokens] for bend in (0, *some, layer)])


def _several(circles: list[int], follows: dict[int, tuple[int, ...]]) -> dict[tuple[int, ...], list[int]]:
    """The points that attend to several, by whom they attend to."""
    alike: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for point in circles:
        if 1 < len(follows[point]) <= MOST_SLICES:
            alike[follows[point]].append(point)
    return alike


def _draw_slices(
    places: np.ndarray, several: dict[tuple[int, ...], list[int]], color: list[str], size: float, ax: style.Axes
) -> list[style.PathCollection]:
    drawn = []
    for goals, points in several.items():
        for number, goal in enumerate(goals):
            slice_ = style.MarkerPath.wedge(90 + 360 * number / len(goals), 90 + 360 * (number + 1) / len(goals))
            # A marker is blown up until it fills its box; a slice of the pie must not be.
            area = size * float(np.abs(np.asarray(slice_.vertices)).max()) ** 2
            drawn.append(plane.marks(places[points], ax, s=area, marker=slice_, color=color[goal], lw=0, zorder=4))
    return drawn


def _draw_attention(
    places: np.ndarray, circles: list[int], follows: dict[int, tuple[int, ...]], number: np.ndarray, width: float,
    ax: style.Axes,
) -> list[style.Line2D]:  # fmt: skip
    ends = defaultdict(list)
    for point in circles:
        for goal in follows[point]:
            ends[look_of_leader(int(number[goal]))[0]].append((point, goal))
    return [
        plane.draw_lines(places[np.array(pairs).T], ax, color=color, lw=width, ls=":", zorder=2)
        for color, pairs in ends.items()
    ]


# ---------------------------------------------------------------- run.plot() and run.animate()


def plot_run(run: Trajectory, layers: Any = None, *, ax: Any = None, figsize: Any = None) -> Any:
    """`draw_layer` of one layer, the last if none is named, or of a row of them: the axes, or an array of them."""
    if not isinstance(layers, Sequence | np.ndarray):
        shown = run.layers if layers is None else check_int(layers, "`layers`", at_least=0)
        if ax is None:
            return _new_panels(run, [shown], figsize)[0]
        return _titled(run, shown, style.check_axes(ax))
    several = check_layers(layers, MOST_PANELS)
    if ax is None:
        return _new_panels(run, several, figsize)
    given = ax.ravel().tolist() if isinstance(ax, np.ndarray) else ax if isinstance(ax, list | tuple) else [ax]
    panels = [style.check_axes(each, "`ax` (each)") for each in given]
    if len(panels) != len(several):
        raise InputError(f"`ax` must be as many axes as there are layers, {len(several)}, not {len(panels)}.")
    return np.array([_titled(run, layer, panel) for layer, panel in zip(several, panels, strict=True)], dtype=object)


def animate_run(run: Trajectory, path: Any, *, layers: Any = None, fps: Any = 4) -> None:
    """Write the layers of a run, the recorded ones if none are named, as frames of a `.gif` or `.mp4`."""
    usual = sorted({*run.recorded[:: -(-len(run.recorded) // DEFAULT_FRAMES)], run.layers})
    frames = usual if layers is None else check_layers(layers, MOST_FRAMES)
    path, fps = check_path(path), style.check_fps(fps)
    style.film_writer(path, fps)  # what cannot be written, and a layer that is not there, are refused before the work
    run.floats_at(max(frames))
    # An even number of pixels each way, as video demands.
    figure = style.Figure(figsize=(4.0, 2.0 if run.d == 1 else 4.0), dpi=120, layout="constrained")
    ax = figure.add_subplot(projection=plane.projection_for(run.d))

    def frame(layer: int) -> None:
        ax.clear()
        _titled(run, layer, ax)

    style.write_film(figure, path, frames, frame, fps=fps)


def check_layers(value: Any, at_most: int) -> list[int]:
    """Layers that are drawn one by one, at least one and not too many."""
    numbers = whole_numbers(value, "`layers`")
    if numbers.ndim != 1 or (numbers.size and numbers.min() < 0):
        raise InputError(f"`layers` must be a list of whole numbers from 0 up, not {shorten(value)}.")
    check_int(len(numbers), "the number of `layers`", at_least=1, at_most=at_most)
    return numbers.tolist()


def _new_panels(run: Trajectory, layers: list[int], figsize: Any) -> np.ndarray:
    side = _SIDE if len(layers) == 1 else _SIDE_IN_ROW
    size = style.check_figsize(figsize, (side * len(layers), (0.6 * side if run.d == 1 else side) + 0.8))
    run.floats_at(max(layers))  # a layer that is not there is refused before there is a figure
    figure = style.new_figure(size)
    with style.our_look():
        panels = figure.subplots(1, len(layers), squeeze=False, subplot_kw={"projection": plane.projection_for(run.d)})[
            0
        ]
        for panel, layer in zip(panels, layers, strict=True):
            _prepare(run, layer, panel)
            panel.set_title(_title(run, layer))
        figure.legend(handles=_legend(run), loc="outside lower left", ncols=2, frameon=False, fontsize=8)
        # Labels find room on axes that are where they will be.
        figure.get_layout_engine().execute(figure)
        for panel, layer in zip(panels, layers, strict=True):
            draw_layer(run, layer, panel)
    return panels


def _titled(run: Trajectory, layer: int, ax: style.Axes) -> style.Axes:
    with style.our_look():
        draw_layer(run, layer, ax)
        ax.set_title(_title(run, layer), loc="left")
    return ax


def _title(run: Trajectory, layer: int) -> str:
    some = ", some drawn" if run.points.count > plane.MOST_TOKENS else ""
    return f"layer {layer:,}: {pluralize(run.n, 'token')}{some}, {pluralize(len(run.leaders), 'leader')}"


def _legend(run: Trajectory) -> list[Any]:
    signs = [
        style.sign(LEADER, INK, "leader, with its token number", 11),
        style.sign("o", FAINT, "token, in the colour of whom it attends to", 7),
        style.sign("o", FAINT, "its start and its path", 3.5, line="-"),
        style.sign("", FAINT, "attends to", 0, line=":"),
    ]
    return (
        [*signs, style.Patch(fc=(INK, 0.07), ec=FAINT, label="hull of the leaders")] if len(run.leaders) else signs[1:]
    )
