"""How many leaders a random cloud has."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hardmax.dynamics import Dynamics
from hardmax.figures.palette import FAINT
from hardmax.figures.style import Figure, our_look
from hardmax.limits import limit
from hardmax.paper.beyond.charts import open_axes, series
from hardmax.paper.beyond.random_clouds import KINDS
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import rounded
from hardmax.simulation import simulate

ALPHA = "1/2"
DIMENSIONS = (2, 3, 4, 8, 16)
SIZES, SIZES_IN_FULL = (10, 30, 100, 300, 1000), (10, 30, 100, 300, 1000, 3000, 10_000)
TRIALS, TRIALS_IN_FULL = 20, 50


def compute(setting: Setting) -> Numbers:
    """The number of leaders of many clouds of each kind, size and dimension."""
    sizes, trials = (SIZES_IN_FULL, TRIALS_IN_FULL) if setting.full else (SIZES, TRIALS)
    rng = np.random.default_rng(setting.seed)
    rows = []
    for kind, make in KINDS.items():
        for d in DIMENSIONS:
            setting.progress(f"leaders: {kind} clouds in {d} dimensions")
            for n in sizes:
                rows.append({"kind": kind, "d": d, "n": n} | _counted(make((trials, n, d), rng)))
    return {"alpha": ALPHA, "trials": trials, "sizes": list(sizes), "dimensions": list(DIMENSIONS), "rows": rows}


def _counted(clouds: np.ndarray) -> dict[str, Any]:
    counts = np.array([len(leaders) for leaders in limit(clouds, Dynamics(ALPHA)).leaders])
    at_once = sum(len(leaders) for leaders in simulate(clouds, Dynamics(ALPHA), layers=0).leaders)
    return {
        "mean": rounded(counts.mean(), 3),
        "deviation": rounded(counts.std(), 3),
        "fewest": int(counts.min()),
        "most": int(counts.max()),
        "share_at_layer_0": rounded(at_once / int(counts.sum()), 4),
    }


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """A panel for each kind, a line for each dimension."""
    kinds = list(dict.fromkeys(row["kind"] for row in numbers["rows"]))
    with our_look():
        figure = Figure(figsize=(3.2 * len(kinds), 3.6), layout="constrained")
        panels = figure.subplots(1, len(kinds), sharey=True)
        for ax, kind in zip(panels, kinds, strict=True):
            sizes = numbers["sizes"]
            ax.loglog(sizes, sizes, color=FAINT, ls=":", lw=1.2)
            for number, d in enumerate(numbers["dimensions"]):
                means = [row["mean"] for row in numbers["rows"] if (row["kind"], row["d"]) == (kind, d)]
                series(sizes, means, number, "" if kind == "sphere" else f"d = {d}", ax)
            if kind == "sphere":
                ax.annotate("in every dimension\nall tokens lead", (sizes[1], sizes[-2]), fontsize=8)
            ax.set_title(kind)
            ax.set_xlabel("tokens n")
            ax.set_xlim(sizes[0] / 1.3, sizes[-1] * 3.6)
            open_axes(ax)
        panels[0].set_ylabel("leaders, mean over clouds")
    return {"": figure}


def table(numbers: Numbers) -> list[list[Any]]:
    """A row for each kind, dimension and size."""
    columns = ["kind", "d", "n", "mean", "deviation", "fewest", "most", "share_at_layer_0"]
    return [columns, *([row[column] for column in columns] for row in numbers["rows"])]


def remark(numbers: Numbers) -> str:
    """How leaders grow in number with n and d."""
    found = {(row["kind"], row["d"], row["n"]): row for row in numbers["rows"]}
    few, many = numbers["sizes"][0], numbers["sizes"][-1]
    low, high = numbers["dimensions"][0], numbers["dimensions"][-1]
    g_low, g_high = found["Gaussian", low, many], found["Gaussian", high, many]
    corners = ", ".join(f"{found['cube', d, many]['mean']:.1f} for 2^{d} = {2**d}" for d in numbers["dimensions"][:3])
    on_sphere = [row for row in numbers["rows"] if row["kind"] == "sphere"]
    share = sum(row["mean"] for row in on_sphere) / sum(row["n"] for row in on_sphere)
    least = min(row["share_at_layer_0"] for row in numbers["rows"])
    return (
        f"The theorem says that there are leaders, not how many. Gaussian clouds of {many:,} tokens have "
        f"{g_low['mean']:.1f} in the plane and {g_high['mean']:.0f} in {high} dimensions (means of "
        f"{numbers['trials']} clouds): in the plane {many // few:,} times as many tokens give but "
        f"{g_low['mean'] / found['Gaussian', low, few]['mean']:.1f} times as many leaders, while in {high} "
        f"dimensions {100 * g_high['mean'] / many:.0f} % of all tokens lead and little clusters. It agrees that "
        "models trained by the authors' recipe have more leaders a review the larger d is. On a sphere "
        f"{'all tokens' if share == 1 else f'{100 * share:.3f} % (all but for rounding)'} lead, since nobody is "
        "further out in the direction of a token than the token itself. In a cube those lead who are nearest to a "
        f"corner: at n = {many:,} there are {corners} corners, and the numbers fall to one for a corner as n grows, "
        "in the plane first. Most lead from the start: of the leaders of each kind, size and dimension at least "
        f"{100 * least:.0f} % do so at layer 0."
    )


PIECE = Piece(
    name="leaders",
    title="How many leaders a random cloud has",
    caption=(
        "The mean number of leaders against the number n of tokens, on logarithmic scales, for clouds drawn from a "
        "normal distribution, uniformly from the unit sphere, and uniformly from a cube, in dimensions 2 to 16; "
        "alpha = 1/2, A = I. On the dotted line all tokens lead, as on the sphere they do in every dimension."
    ),
    compute=compute,
    draw=draw,
    table=table,
    remark=remark,
)
