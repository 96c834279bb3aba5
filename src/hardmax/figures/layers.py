"""`run.plot()` and films: one layer of a run, with its leaders, who follows whom, and the
paths so far."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.format import pluralize
from hardmax._common.validation import (
    InputError,
    check_bool,
    check_int,
    check_real,
    shorten,
)
from hardmax._tokens.batches import whole_numbers
from hardmax.figures import plane, style
from hardmax.figures.palette import FAINT, GREY, LEADER, SHADE, look_of_leader, mark_scale
from hardmax.figures.style import Axes, Figure, Patch

if TYPE_CHECKING:
    from hardmax._runs.trajectory import Trajectory

MOST_PANELS, MOST_FRAMES, DEFAULT_FRAMES = 100, 300, 60
_CIRCLE, _RIM = 54.0, 1.9
_SIDE, _SIDE_IN_ROW = 4.4, 3.0  # of a panel, in inches
_BELOW: Any = {"loc": "outside lower left", "ncols": 2, "frameon": False, "fontsize": 7}


def draw_layer(
    run: "Trajectory", layer: int, ax: Axes, *, hull: bool = True, most: int = plane.MOST_TOKENS
) -> plane.Artists:
    """Draw the tokens at one layer; repeated tokens are drawn once.

    Stars attend to themselves alone, and are numbered. The others are circles in the colours of
    those whom they attend to, grey if these are several, along dotted lines, with a rim in a colour
    of their own if they are attended to as well. Paths begin in small marks. Tokens on a line come
    down with the layers; more than three dimensions are shown by principal coordinates.

    Parameters
    ----------
    run : Trajectory
        The run of one cloud.
    layer : int
        A layer of the run, or any later one if it settled.
    ax : matplotlib Axes
        Where to draw; may be three-dimensional if the tokens are.
    hull : bool, default True
        Shade the hull of the leaders.
    most : int, default 5000
        Of more tokens than this only some are drawn.

    Returns
    -------
    dict of lists of matplotlib Artist
        "leaders", "labels", "circles", "rims", "paths", "starts", "attention" (the dotted lines)
        and "hull".

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import hardmax as hm
    >>> run = hm.simulate(hm.clouds.square(), hm.Dynamics("1/2"), layers=3)
    >>> len(draw_layer(run, 3, Figure().subplots())["leaders"][0].get_offsets())
    4
    """
    view, hull = _prepare(run, layer, ax), check_bool(hull, "`hull`")
    choices = run.attended(layer).choices
    shown = _shown(choices.is_leader, check_int(most, "`most`", at_least=1))
    number = _numbers(run, np.unique(choices.indices))
    first = np.empty(run.details.points.count, dtype=int)  # the first token on each point
    first[run.details.points.of_token[::-1]] = np.arange(run.n)[::-1]
    tokens = run._floats_at(layer)[first]
    places = view.places(tokens)
    leads = choices.is_leader[shown]
    stars, circles = shown[leads], shown[~leads]
    sets = {point: tuple(choices[point].tolist()) for point in circles.tolist()}
    groups = np.where(choices.sizes[shown] == 1, number[choices.firsts(shown)], GREY)
    corners = places[run.details.points.of_token[run.leaders]]
    drawn: plane.Artists = {"hull": []}
    if hull and len(corners):
        drawn["hull"] = plane.draw_hull(corners, ax)
    path = np.stack([*plane.bends(run, layer, first[shown]), tokens[shown]])
    drawn |= plane.draw_flow(view.path(path), groups, ax)
    drawn |= _draw_followers(places, sets, number, ax)
    names = first[stars].tolist()
    return drawn | plane.draw_leaders(places[stars], number[stars].tolist(), names, ax)


def _prepare(run: "Trajectory", layer: int, ax: Axes) -> plane.View:
    if not hasattr(run, "details"):
        wish = "a Trajectory, as `simulate` gives for one cloud"
        raise InputError(f"`run` must be {wish}, not {shorten(run)}.")
    run._floats_at(layer)  # a layer that is not there is refused before anything is drawn
    return plane.prepare(ax, plane.extent(run), f"layer {layer:,}")


def _shown(is_leader: np.ndarray, most: int) -> np.ndarray:
    """The points that are drawn: all, or, where these are too many, some of those that lead and
    some of all."""
    if len(is_leader) <= most:
        return np.arange(len(is_leader))
    leading, every = np.flatnonzero(is_leader), len(is_leader) // most + 1
    some_leaders = leading[:: len(leading) // most + 1]
    return np.union1d(some_leaders, np.arange(0, len(is_leader), every))


def _numbers(run: "Trajectory", attended: np.ndarray) -> np.ndarray:
    """A number for the look of each point, the same at all layers: leaders first, then others that
    are attended to."""
    ranked = dict.fromkeys(np.flatnonzero(run.details.leader_since >= 0).tolist())
    for phase in run.details.phases:
        ranked |= dict.fromkeys(np.unique(phase.choices.indices).tolist())
    ranked |= dict.fromkeys(attended.tolist())
    numbers = np.full(run.details.points.count, GREY)
    numbers[list(ranked)] = np.arange(len(ranked))
    return numbers


def _draw_followers(
    places: np.ndarray, sets: Mapping[int, tuple[int, ...]], number: np.ndarray, ax: Axes
) -> plane.Artists:
    """Circles, with lines to whom they attend."""
    small = mark_scale(len(sets))
    attended = {goal for goals in sets.values() for goal in goals}
    color = {point: look_of_leader(int(number[point]))[0] for point in attended | sets.keys()}
    pairs = defaultdict(list)
    for point, goals in sets.items():
        for goal in goals:
            pairs[color[goal]].append((point, goal))
    look = {"s": _CIRCLE * small, "zorder": 4}
    faces = [color[goals[0]] if len(goals) == 1 else FAINT for goals in sets.values()]
    edge = {"edgecolors": style.ground(), "lw": 0.5 * small}
    circles = plane.marks(places[list(sets)], ax, c=faces, **edge, **look)
    both = sorted(attended & sets.keys())
    rim = {"fc": "none", "ec": [color[point] for point in both], "lw": _RIM * small**0.5}
    rims = plane.marks(places[both], ax, **rim, **look)
    dotted = {"lw": 0.8 * small, "ls": ":", "zorder": 2}
    lines = []
    for shade, ends in pairs.items():
        lines.append(plane.draw_lines(places[np.array(ends).T], ax, color=shade, **dotted))
    return {"circles": [circles], "rims": [rims], "attention": lines}


# ---------------------------------------------------------------- run.plot() and films


def plot_run(run: "Trajectory", layers: Any, ax: Any, figsize: Any) -> Any:
    """`draw_layer` of one layer, the last if none is named, or of a row of them: the axes, or an
    array of them."""
    is_one = not isinstance(layers, Sequence | np.ndarray)
    if is_one:
        layers = [run.layers if layers is None else check_int(layers, "`layers`", at_least=0)]
    shown = _check_layers(layers, MOST_PANELS)
    if ax is None:
        panels = _new_panels(run, shown, figsize)
    elif len(shown) == 1:
        panels = np.array([_titled(run, shown[0], style.check_axes(ax))])
    else:
        problem = "`ax` is for one layer"
        raise InputError(f"{problem}: plot several without it, or each on axes of its own.")
    return panels[0] if is_one else panels


def animate_run(run: "Trajectory", path: Path, layers: Any, fps: Any) -> None:
    """Write the layers of a run, the recorded ones if none are named, as frames of a `.gif`."""
    if layers is None:
        every = -(-len(run.recorded) // DEFAULT_FRAMES)
        frames = sorted({*run.recorded[::every], run.layers})
    else:
        frames = _check_layers(layers, MOST_FRAMES)
    fps = check_real(fps, "`fps`", above=0, at_most=style.FASTEST)
    run._floats_at(max(frames))  # a layer that is not there is refused before the work
    size = 4.0, 2.0 if run.d == 1 else 4.0
    figure = Figure(figsize=size, dpi=120, layout="constrained")
    ax = figure.add_subplot(projection="3d" if run.d == 3 else None)

    def frame(layer: int) -> None:
        ax.clear()
        _titled(run, layer, ax)

    style.write_gif(figure, path, frames, frame, fps=fps)


def _check_layers(value: Any, at_most: int) -> list[int]:
    """Layers that are drawn one by one, at least one and not too many."""
    numbers = whole_numbers(value, "`layers`")
    if numbers.ndim != 1 or (numbers.size and numbers.min() < 0):
        raise InputError(
            f"`layers` must be a list of whole numbers from 0 up, not {shorten(value)}."
        )
    check_int(len(numbers), "the number of `layers`", at_least=1, at_most=at_most)
    return numbers.tolist()


def _new_panels(run: "Trajectory", layers: list[int], figsize: Any) -> np.ndarray:
    side = _SIDE if len(layers) == 1 else _SIDE_IN_ROW
    height = 0.6 * side if run.d == 1 else side
    size = style.check_figsize(figsize, (side * len(layers), height + 0.8))
    run._floats_at(max(layers))  # a layer that is not there is refused before there is a figure
    figure, kind = style.new_figure(size), {"projection": "3d" if run.d == 3 else None}
    with style.style_context():
        panels = figure.subplots(1, len(layers), squeeze=False, subplot_kw=kind)[0]
        figure.legend(handles=_legend(run), **_BELOW)
    for panel, layer in zip(panels, layers, strict=True):
        _titled(run, layer, panel)
    return panels


def _titled(run: "Trajectory", layer: int, ax: Axes) -> Axes:
    with style.style_context():
        draw_layer(run, layer, ax)
        ax.set_title(_title(run, layer), loc="left")
    return ax


def _title(run: "Trajectory", layer: int) -> str:
    some = ", some drawn" if run.details.points.count > plane.MOST_TOKENS else ""
    now = int((run.leader_layers <= layer).sum())
    later = len(run.leaders) - now
    leaders = pluralize(now, "leader") + (f", {later:,} to come" if later else "")
    return f"layer {layer:,}: {pluralize(run.n, 'token')}{some}, {leaders}"


def _legend(run: "Trajectory") -> list[Any]:
    leader = style.sign(LEADER, style.ink(), "leader, with its token number", 11)
    hull = Patch(fc=SHADE, ec=FAINT, label="hull of the leaders")
    followers = [
        style.sign("o", FAINT, "token, in the colour of whom it attends to", 7),
        style.sign("o", FAINT, "its start and its path", 3.5, line="-"),
        style.sign("", FAINT, "attends to", 0, line=":"),
    ]
    if not len(run.leaders):
        return followers
    if len(run.leaders) == run.n:
        return [leader, hull]
    return [leader, *followers, hull]
