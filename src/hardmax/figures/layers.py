"""`run.plot()` and films: one layer of a run, with its leaders, who follows whom, and the
paths so far."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from hardmax._common.files import write_whole
from hardmax._common.format import pluralize
from hardmax._common.validation import InputError, check_int, check_list, shorten
from hardmax.figures import plane, style
from hardmax.figures.palette import FAINT, GREY, LEADER, SHADE, look_of_leader, mark_scale
from hardmax.figures.style import Axes, Figure, Patch

if TYPE_CHECKING:
    from hardmax._runs.run import Run

MOST_FRAMES, _FRAMES_PER_SECOND = 60, 4
_CIRCLE = 54.0
_SIDE, _PANEL = 4.4, 2.6  # inches, alone and beside others


def draw_layer(run: "Run", layer: int, ax: Axes) -> plane.Artists:
    """Draw the tokens at one layer; repeated tokens are drawn once, of very many only some.

    Stars attend to themselves alone, and are numbered. The others are circles in the colours of
    what they attend to, grey if these are several, along dotted lines. Paths begin in small
    marks. Tokens on a line come down with the layers; more than three dimensions are shown by
    principal coordinates.

    Parameters
    ----------
    run : Run
        The run of one cloud.
    layer : int
        A layer of the run, or any later one if it settled.
    ax : matplotlib Axes
        Where to draw; may be three-dimensional if the tokens are.

    Returns
    -------
    dict of lists of matplotlib Artist
        "leaders", "labels", "circles", "paths", "starts", "attention" (the dotted lines)
        and "hull".

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import hardmax as hm
    >>> run = hm.simulate(hm.clouds.square(), hm.Dynamics("1/2"), layers=3)
    >>> len(draw_layer(run, 3, Figure().subplots())["leaders"][0].get_offsets())
    4
    """
    if not hasattr(run, "phases"):
        wish = "a Run, as `simulate` gives for one cloud"
        raise InputError(f"`run` must be {wish}, not {shorten(run)}.")
    points = run.points
    tokens = run.floats_at(layer)  # a layer that is not there is refused before anything is drawn
    view = plane.prepare(ax, run, f"layer {layer:,}")
    choices = run.attended(layer).choices
    shown = _shown(choices.is_leader)
    number = _numbers(run, np.unique(choices.indices))
    first = points.first_tokens
    tokens = tokens[first]
    places = view.places(tokens)
    leads = choices.is_leader[shown]
    stars, circles = shown[leads], shown[~leads]
    sets = {point: tuple(choices[point].tolist()) for point in circles.tolist()}
    groups = np.where(choices.sizes[shown] == 1, number[choices.firsts[shown]], GREY)
    drawn = {"hull": plane.draw_hull(places[points.of_token[run.leaders]], ax)}
    path = np.stack([*plane.bends(run, layer, first[shown]), tokens[shown]])
    drawn |= plane.draw_flow(view.path(path), groups, ax)
    drawn |= _draw_followers(places, sets, number, ax)
    names = first[stars].tolist()
    return drawn | plane.draw_leaders(places[stars], number[stars].tolist(), names, ax)


def _shown(is_leader: np.ndarray) -> np.ndarray:
    """The points that are drawn: all, or, where these are too many, some of those that lead and
    some of all."""
    everybody = np.arange(len(is_leader))
    return np.union1d(plane.thin(everybody), plane.thin(everybody[is_leader]))


def _numbers(run: "Run", attended: np.ndarray) -> np.ndarray:
    """A number for the look of each point, the same at all layers: leaders first, then others that
    are attended to."""
    ranked = [np.flatnonzero(run.leader_since >= 0)]
    ranked += [np.unique(phase.choices.indices) for phase in run.phases]
    order = list(dict.fromkeys(np.concatenate([*ranked, attended]).tolist()))
    numbers = np.full(run.points.count, GREY)
    numbers[order] = np.arange(len(order))
    return numbers


def _draw_followers(
    places: np.ndarray, sets: Mapping[int, tuple[int, ...]], number: np.ndarray, ax: Axes
) -> plane.Artists:
    """Circles, with lines to what they attend to."""
    small = mark_scale(len(sets))
    attended = {goal for goals in sets.values() for goal in goals}
    color = {goal: look_of_leader(int(number[goal]))[0] for goal in attended}
    pairs = defaultdict(list)
    for point, goals in sets.items():
        for goal in goals:
            pairs[color[goal]].append((point, goal))
    faces = [color[goals[0]] if len(goals) == 1 else FAINT for goals in sets.values()]
    look = {"s": _CIRCLE * small, "zorder": 4, "edgecolors": style.ground(), "lw": 0.5 * small}
    circles = plane.marks(places[list(sets)], ax, c=faces, **look)
    dotted = {"lw": 0.8 * small, "ls": ":", "zorder": 2}
    lines = []
    for shade, ends in pairs.items():
        lines.append(plane.draw_lines(places[np.array(ends).T], ax, color=shade, **dotted))
    return {"circles": [circles], "attention": lines}


# ---------------------------------------------------------------- run.plot() and films


def plot_run(run: "Run", layers: Any, ax: Any) -> Any:
    """`draw_layer` of layers, the last by default, side by side and with titles; on new axes with a
    legend."""
    given = run.layers if layers is None else layers
    several = hasattr(given, "__len__")
    shown = check_list(given, "`layers`", "a layer or a list of them") if several else [given]
    for layer in shown:  # one that is not there is refused before there is a figure
        run.floats_at(check_int(layer, "`layers`", at_least=0))
    side, is_new = _SIDE if len(shown) == 1 else _PANEL, ax is None
    if is_new:
        ax = style.new_axes((side * len(shown), _height(run, side) + 0.8), run.d, len(shown))
    # A title of the user's own replaces ours: it stands in the same place.
    place = "left" if is_new else style.rcParams["axes.titlelocation"]
    ax = ax.ravel() if isinstance(ax, np.ndarray) else ax
    panels = [*ax] if hasattr(ax, "__len__") else [ax]
    if len(panels) != len(shown):
        raise InputError(f"`ax` must be one for each layer: {len(shown)}, not {len(panels)}.")
    with style.style_context():
        if is_new:
            below: Any = {"loc": "outside lower left", "ncols": 2, "frameon": False, "fontsize": 7}
            panels[0].figure.legend(handles=_legend(run), **below)
        for layer, panel in zip(shown, panels, strict=True):
            draw_layer(run, layer, panel)
            is_alone = is_new and side == _SIDE
            title = _title(run, layer) if is_alone else f"layer {layer:,}"
            panel.set_title(title, loc=place)
    return panels if several else panels[0]


def animate_run(run: "Run", path: Path) -> None:
    """Write the layers of a run, of many some, as frames of a film, completely or not at all."""
    from matplotlib.animation import FFMpegWriter, PillowWriter

    is_gif = path.suffix.lower() == ".gif"
    if not is_gif and not FFMpegWriter.isAvailable():
        raise InputError("`path`: .mp4 needs the program ffmpeg; install it, or write a .gif.")
    writer = (PillowWriter if is_gif else FFMpegWriter)(fps=_FRAMES_PER_SECOND)
    every = -(-len(run) // MOST_FRAMES)
    frames = sorted({*range(0, len(run), every), run.layers})
    figure = Figure(figsize=(_SIDE, _height(run)), dpi=110, layout="constrained")
    ax = figure.add_subplot(projection="3d" if run.d == 3 else None)
    with TemporaryDirectory() as folder, style.style_context():
        film = Path(folder, path.name.lower())
        with writer.saving(figure, film, figure.dpi):
            for layer in frames:
                ax.clear()
                draw_layer(run, layer, ax)
                ax.set_title(_title(run, layer), loc="left")
                writer.grab_frame()
        write_whole(path, film.read_bytes())


def _height(run: "Run", side: float = _SIDE) -> float:
    return 0.6 * side if run.d == 1 else side


def _title(run: "Run", layer: int) -> str:
    some = ", some drawn" if run.points.count > plane.MOST_TOKENS else ""
    now = int((run.leader_layers <= layer).sum())
    later = len(run.leaders) - now
    leaders = pluralize(now, "leader") + (f", {later:,} to come" if later else "")
    return f"layer {layer:,}: {pluralize(run.n, 'token')}{some}, {leaders}"


def _legend(run: "Run") -> list[Any]:
    leaders = [
        style.sign(LEADER, style.ink(), "leader, with its token number", 11),
        Patch(fc=SHADE, ec=FAINT, label="hull of the leaders"),
    ]
    followers = [
        style.sign("o", FAINT, "token, in the colour of what it attends to", 7),
        style.sign("o", FAINT, "its start and its path", 3.5, line="-"),
        style.sign("", FAINT, "attends to", 0, line=":"),
    ]
    return leaders * bool(len(run.leaders)) + followers * (len(run.leaders) < run.n)
