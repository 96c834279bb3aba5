"""After how many layers no attended set ever changes again, against the step alpha."""

from collections.abc import Mapping
from fractions import Fraction
from math import log1p
from typing import Any

import numpy as np

from hardmax.dynamics import Dynamics
from hardmax.figures.style import Axes, Figure, our_look
from hardmax.limits import limit
from hardmax.paper.beyond.charts import open_axes, series
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import rounded

ALPHAS = ("1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1", "2", "4", "8", "16")
DIMENSIONS = (2, 4, 8)
TOKENS, TRIALS, TRIALS_IN_FULL = 100, 100, 1000
NEAR = "1e-6"


def compute(setting: Setting) -> Numbers:
    """The layer at which the same Gaussian clouds settle, and that from which on all tokens are near their limits."""
    trials = TRIALS_IN_FULL if setting.full else TRIALS
    rng = np.random.default_rng(setting.seed)
    rows = []
    for d in DIMENSIONS:
        clouds = rng.standard_normal((trials, TOKENS, d))
        setting.progress(f"settling: {trials} clouds in {d} dimensions")
        for alpha in ALPHAS:
            limits = limit(clouds, Dynamics(alpha))
            settled = np.array(limits.settled_at)
            near = np.array([lim.layers_to(NEAR) for lim in limits[: TRIALS // 5]])
            rows.append(
                {
                    "d": d,
                    "alpha": alpha,
                    "mean": rounded(settled.mean(), 3),
                    "median": float(np.median(settled)),
                    "most": int(settled.max()),
                    "time": rounded(settled.mean() * log1p(Fraction(alpha)), 4),
                    "layers_until_near": rounded(near.mean(), 2),
                }
            )
    return {
        "n": TOKENS,
        "trials": trials,
        "near": NEAR,
        "alphas": list(ALPHAS),
        "dimensions": list(DIMENSIONS),
        "rows": rows,
    }


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """Layers until a cloud settles, and until its tokens are near their limits."""
    with our_look():
        figure = Figure(figsize=(8.6, 3.7), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_lines(numbers, "mean", left)
        _draw_lines(numbers, "layers_until_near", right)
        left.set_title("layers until nobody's choice ever changes again")
        right.set_title(f"layers until all are within {numbers['near']} of their limits")
        left.set_ylabel("layers, mean over clouds")
    return {"": figure}


def _draw_lines(numbers: Numbers, measure: str, ax: Axes) -> None:
    alphas = [float(Fraction(alpha)) for alpha in numbers["alphas"]]
    for number, d in enumerate(numbers["dimensions"]):
        series(alphas, [row[measure] for row in numbers["rows"] if row["d"] == d], number, "", ax, label=f"d = {d}")
    if measure == "mean":
        most = [max(row["most"] for row in numbers["rows"] if row["alpha"] == alpha) for alpha in numbers["alphas"]]
        ax.plot(alphas, most, color="black", lw=1.0, ls="--", label="slowest cloud")
    ax.set(xscale="log", yscale="log", xlabel="alpha")
    ax.legend(frameon=False, fontsize=8)
    open_axes(ax)


def table(numbers: Numbers) -> list[list[Any]]:
    """A row for each dimension and alpha."""
    columns = ["d", "alpha", "mean", "median", "most", "time", "layers_until_near"]
    return [columns, *([row[column] for column in columns] for row in numbers["rows"])]


def remark(numbers: Numbers) -> str:
    """How settling depends on alpha."""
    plane = [row for row in numbers["rows"] if row["d"] == numbers["dimensions"][0]]
    small = [row["time"] for row in plane if Fraction(row["alpha"]) <= Fraction(1, 8)]
    by_alpha = {row["alpha"]: row for row in plane}
    most = max(row["most"] for row in numbers["rows"] if row["alpha"] == "1/2")
    return (
        f"The theorem speaks of infinitely many layers; all of the {numbers['trials']} Gaussian clouds of "
        f"{numbers['n']} tokens in each dimension settle after a few, and from then on every token goes straight to "
        f"its limit. With the authors' alpha = 1/2 this takes {by_alpha['1/2']['mean']:.1f} layers in the plane on "
        f"average, and never more than {most}. With small alpha it takes longer, in inverse proportion: the number "
        f"of layers times log(1 + alpha), the time in the continuous limit, stays between {min(small):.2f} and "
        f"{max(small):.2f} for alpha up to 1/8. With large alpha about {plane[-1]['mean']:.1f} layers are left. How "
        f"near the tokens are to their limits is another matter: it takes {by_alpha['1/2']['layers_until_near']:.0f} "
        f"layers at alpha = 1/2 until all are within {numbers['near']}, nearly all of them after nothing is left to "
        "be decided."
    )


PIECE = Piece(
    name="settling",
    title="Layers until a cloud has settled, against alpha",
    caption=(
        "Gaussian clouds of 100 tokens in dimensions 2, 4 and 8, the same ones for every alpha, on logarithmic "
        "scales. Left: the layer from which on no attended set ever changes again, which is proved for each cloud; "
        "the dashed line is the slowest of all. Right: the layer from which on every token is within a millionth of "
        "its limit."
    ),
    compute=compute,
    draw=draw,
    table=table,
    remark=remark,
)
