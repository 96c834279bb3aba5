"""From where in the plane a further token would go to which leader, and whether the leaders' cells tell it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.colors import to_rgba
from scipy.spatial import Delaunay

from hardmax import clouds as named_clouds
from hardmax.dynamics import Dynamics
from hardmax.figures.palette import INK, LEADER, look_of
from hardmax.figures.plane import draw_origin, window
from hardmax.figures.style import Axes, Figure, Line2D, our_look, sign
from hardmax.geometry.halfspaces import leader_cells
from hardmax.limits import Limits, limit
from hardmax.paper.drawing import plain_axes
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import rounded

ALPHA = "1/2"
SIDE, SIDE_IN_FULL = 80, 200
OUTSIDE, ITSELF, FACE = ".", "*", "-"
"""What stands in a row of the map where no token is tried, where it leads itself, and where it ends at no leader."""
LEADERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""A letter stands for each leader, a small one where its cell does not tell that a token goes there."""
TINT = 0.45


def _clouds(seed: int) -> dict[str, np.ndarray]:
    return {
        # Times 60/64, all coordinates are floats: a cloud and its multiple go the same ways.
        "emerging leader": (60 * named_clouds.emerging_leader()).astype(np.float64) / 64,
        "square": named_clouds.square(),
        "twenty Gaussian tokens": np.round(np.random.default_rng(seed).standard_normal((20, 2)) * 64) / 64,
    }


def compute(setting: Setting) -> Numbers:
    """For tokens on a grid over the hull of each cloud, added one at a time: where they end."""
    side = SIDE_IN_FULL if setting.full else SIDE
    maps = []
    for name, cloud in _clouds(setting.seed).items():
        setting.progress(f"basins: {name}")
        maps.append({"name": name, "tokens": cloud.tolist()} | _map(cloud, side))
    return {"alpha": ALPHA, "side": side, "maps": maps}


def _map(cloud: np.ndarray, side: int) -> dict[str, Any]:
    base = limit(cloud, Dynamics(ALPHA))
    leaders = base.distinct_leaders
    left, right, bottom, top = window(cloud)
    # The middles of the squares of a grid: none of them on an axis of symmetry.
    across, up = ((np.arange(side) + 0.5) / side * (high - low) + low for low, high in ((left, right), (bottom, top)))
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    inside = np.flatnonzero(Delaunay(cloud).find_simplex(grid) >= 0)
    probed = np.concatenate([np.broadcast_to(cloud, (len(inside), *cloud.shape)), grid[inside][:, None]], axis=1)
    ends = _ends(limit(probed, Dynamics(ALPHA)), leaders.tolist())
    cells = [LEADERS[cell] for cell in np.argmax(grid[inside] @ base.float_points[leaders].T, axis=1)]
    told = [end if end in (cell, ITSELF, FACE) else end.lower() for end, cell in zip(ends, cells, strict=True)]
    by_place = np.full(len(grid), OUTSIDE)
    by_place[inside] = told
    return {
        "leaders": leaders.tolist(),
        "places": rounded(base.float_points[leaders]),
        "window": [left, right, bottom, top],
        "rows": ["".join(row) for row in by_place.reshape(side, side).tolist()],
        "tried": len(inside),
        "lead_themselves": told.count(ITSELF),
        "to_another_leader": sum(letter.islower() for letter in told),
    }


def _ends(limits: Limits, leaders: list[int]) -> list[str]:
    """What becomes of the last token of each cloud."""
    points, letters = limits.points, []
    for cloud, leading in enumerate(limits.leaders):
        at = leading[np.all(points[cloud][leading] == points[cloud][-1], axis=1)]
        if not len(at):
            letters.append(FACE)
        elif at[0] in leaders:
            letters.append(LEADERS[leaders.index(at[0])])
        else:
            letters.append(ITSELF)
    return letters


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """A map for each cloud."""
    with our_look():
        figure = Figure(figsize=(3.5 * len(numbers["maps"]), 4.0))
        panels = figure.subplots(1, len(numbers["maps"]))
        for ax, shown in zip(panels, numbers["maps"], strict=True):
            _draw_map(shown, ax)
        figure.legend(handles=_key(), loc="lower center", ncols=5, frameon=False, fontsize=8)
        figure.tight_layout(rect=(0, 0.06, 1, 1))
    return {"": figure}


def _draw_map(shown: Mapping[str, Any], ax: Axes) -> None:
    places, (left, right, bottom, top) = np.array(shown["places"]), shown["window"]
    plain_axes(ax, frame=True)
    ax.axis((left, right, bottom, top))
    colors = [look_of(number)[0] for number in range(len(places))]
    letters = np.array([list(row) for row in shown["rows"]])
    image = np.ones((*letters.shape, 4))
    for letter, color in zip(LEADERS, colors, strict=False):
        image[np.char.upper(letters) == letter] = to_rgba(color, TINT)
    ax.imshow(image, extent=(left, right, bottom, top), origin="lower", interpolation="nearest", zorder=1)
    step, small = (right - left) / len(letters), 10 * (80 / len(letters)) ** 2
    for marked, marker, width in ((np.char.islower(letters), "x", 0.8), (letters == ITSELF, ".", 0.0)):
        up, across = np.nonzero(marked)
        spots = (left + (across + 0.5) * step, bottom + (up + 0.5) * step)
        ax.scatter(*spots, s=small, marker=marker, color=INK, lw=width, zorder=4)
    for cell in leader_cells(places, (left, right, bottom, top)):
        ax.plot(*np.vstack([cell, cell[:1]]).T, color=INK, lw=0.7, alpha=0.6, zorder=3)
    draw_origin(ax)
    ax.scatter(*np.array(shown["tokens"]).T, s=16, color="white", ec=INK, lw=0.8, zorder=5)
    ax.scatter(*places.T, s=140, c=colors, marker=LEADER, ec=INK, lw=0.7, zorder=6)
    ax.set_title(shown["name"])


def _key() -> list[Line2D]:
    return [
        sign(LEADER, INK, "leader, in the colour of its basin", 10, face="white"),
        sign("o", INK, "a token of the cloud", 5, face="white"),
        sign(".", INK, "a token here would lead itself", 5),
        sign("x", INK, "one here goes to another leader than the cell says", 5, face=INK),
        Line2D([], [], color=INK, lw=0.7, alpha=0.6, label="cells of the leaders"),
    ]


def table(numbers: Numbers) -> list[list[Any]]:
    """A row for each cloud."""
    columns = ["name", "tried", "lead_themselves", "to_another_leader"]
    return [columns, *([shown[column] for column in columns] for shown in numbers["maps"])]


def remark(numbers: Numbers) -> str:
    """How well cells tell where a token goes."""
    told = [
        f"{shown['name']}: {shown['tried']:,} tried, {shown['lead_themselves']:,} of them lead, and "
        f"{shown['to_another_leader']:,} go to another leader than that of their cell"
        for shown in numbers["maps"]
    ]
    return (
        "Once only leaders are attended to, the plane is cut into cones, the cells of the leaders, and a token goes "
        "to the leader in whose cell it is. Does this tell where a further token would go from the start? Tokens "
        "were added to each cloud, one at a time, on a grid over its hull, and their limits computed: "
        f"{'; '.join(told)}. Where all vertices of the hull lead from the start, as in the square, cells are exactly "
        "the basins. Else a token can first follow somebody who is himself on the way to a leader, and be carried "
        "into a neighbour's cell, or lie so far out that it leads itself."
    )


PIECE = Piece(
    name="basins",
    title="Which region of the plane goes to which leader",
    caption=(
        "For three clouds (white dots, leaders as stars), where a further token would end, if it were added at a "
        "place of the hull: in the colour of the leader to which it would go; a dot is where it would lead itself. "
        "Lines bound the cells of the leaders, cones from the origin (+) in which a leader lies furthest out; "
        "crosses are places from where a token goes to another leader than that of its cell. alpha = 1/2, A = I."
    ),
    compute=compute,
    draw=draw,
    table=table,
    remark=remark,
)
