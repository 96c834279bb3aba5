"""
Basins of the leaders
=====================

Where would one more token end, if it were added to a cloud? Each place on a grid over the hull of a
cloud is tried by itself: the token is added there, and its exact limit computed.

Once only leaders are attended to, the plane is divided into *cells*, cones in which one leader lies
furthest out, and a token inside a cell goes to its leader. On the border of two cells, where
leaders tie, it may go to neither. If all vertices of the hull lead from the start, as in the
square, the cells are the basins. Otherwise a token may first follow one that is itself on its way
to a leader, and be carried into a neighbouring cell, or lie so far out that it becomes a leader
itself."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgba
from scipy.spatial import Delaunay

import hardmax as hm
from hardmax.figures.palette import CYCLE

SIDE = 80
ITSELF, FACE = -1, -2
clouds = {
    # Times 60/64 all coordinates are floats; a cloud and a multiple of it behave alike.
    "emerging leader": (60 * hm.clouds.emerging_leader()).astype(float) / 64,
    "square": np.asarray(hm.clouds.square(), dtype=float),
    "20 Gaussian tokens": np.round(np.random.default_rng(0).standard_normal((20, 2)) * 64) / 64,
}


def ends_of_added(cloud, places, leaders):
    """For a token added at each place: the number of the leader at which it ends, ITSELF or
    FACE."""
    added = np.concatenate(
        [np.broadcast_to(cloud, (len(places), *cloud.shape)), places[:, None]], axis=1
    )
    limits, ends = hm.limit(added, hm.Dynamics("1/2")), []
    for points, leading in zip(limits.limit_points, limits.leaders, strict=True):
        here = [int(token) for token in leading if (points[token] == points[-1]).all()]
        ends.append(FACE if not here else leaders.index(here[0]) if here[0] in leaders else ITSELF)
    return np.array(ends)


# %%
# Colours show the leader at which an added token would end, dots the places where it would lead itself, and crosses
# those from which it goes to another leader than that of its cell. Lines bound the cells.
figure, panels = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for ax, (name, cloud) in zip(panels, clouds.items(), strict=True):
    base = hm.limit(cloud, hm.Dynamics("1/2"))
    leaders, points = base.leaders.tolist(), base.limit_points[base.leaders]
    middle, reach = (cloud.min(axis=0) + cloud.max(axis=0)) / 2, 0.6 * np.ptp(cloud, axis=0).max()
    left, bottom, right, top = *(middle - reach), *(middle + reach)
    x, y = (low + (np.arange(SIDE) + 0.5) / SIDE * 2 * reach for low in (left, bottom))
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    inside = Delaunay(cloud).find_simplex(grid) >= 0
    places = grid[inside]
    ends = ends_of_added(cloud, places, leaders)
    heights = places @ points.T
    on_border = (heights == heights.max(axis=1, keepdims=True)).sum(axis=1) > 1
    strays = (ends >= 0) & (ends != heights.argmax(axis=1)) & ~on_border
    print(
        f"{name}: {len(places):,} places, {(ends == ITSELF).sum()} lead, {strays.sum()} leave their cell"
    )

    colors = [CYCLE[number % len(CYCLE)] for number in range(len(leaders))]
    image = np.zeros((SIDE * SIDE, 4))
    image[inside] = [to_rgba(colors[end], 0.4) if end >= 0 else (0, 0, 0, 0) for end in ends]
    ax.imshow(
        image.reshape(SIDE, SIDE, 4),
        extent=(left, right, bottom, top),
        origin="lower",
        interpolation="nearest",
    )
    ax.scatter(*places[strays].T, s=9, marker="x", color="black", lw=0.8, label="leaves its cell")
    ax.scatter(*places[ends == ITSELF].T, s=4, color="black", lw=0, label="leads itself")
    for cell in hm.geometry.leader_cells(points, (left, right, bottom, top)):
        ax.plot(*np.vstack([cell, cell[:1]]).T, color="black", lw=0.7, alpha=0.6)
    ax.scatter(
        *cloud.T,
        s=18,
        color="white",
        edgecolors="black",
        lw=0.8,
        zorder=3,
        label="token of the cloud",
    )
    ax.scatter(
        *points.T,
        s=150,
        c=colors,
        marker="*",
        edgecolors="black",
        lw=0.7,
        zorder=4,
        label="leader, in its colour",
    )
    ax.set(title=name, aspect="equal", xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[])
figure.legend(
    *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False
)
plt.show()
