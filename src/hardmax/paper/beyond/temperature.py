"""Where softmax at a low temperature, by which the authors train, and hardmax, which they mean, part."""

from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

from hardmax._format import pluralize
from hardmax.dynamics import Dynamics
from hardmax.figures.palette import BLUE, FAINT, VERMILION
from hardmax.figures.plane import draw_origin, draw_polytope, window
from hardmax.figures.style import Axes, Figure, our_look
from hardmax.paper.beyond.charts import open_axes, series
from hardmax.paper.beyond.walks import softmax_walk
from hardmax.paper.drawing import draw_paths, draw_tokens, plain_axes
from hardmax.paper.figures.fig2 import figure2_runs
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import listed, rounded
from hardmax.simulation import simulate
from hardmax.trajectory import Trajectory

ALPHA, TEMPERATURES = "1/2", (0.001, 0.01, 0.1)
APART = 0.1
"""Tokens are said to have parted when they are further than this from where hardmax has them."""
DEPTH = 30  # of the clouds of Figure 2
CLOUDS, CLOUDS_IN_FULL, TOKENS, DIMENSION = 30, 300, 64, 2
LAYERS = (1, 2, 4, 8, 16, 32, 64)
SHOWN = "non-leader clusters"
BINS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


def compute(setting: Setting) -> Numbers:
    """Who parts in the clouds of Figure 2, and how many of the tokens of Gaussian clouds."""
    runs = figure2_runs()
    rows = [
        {"cloud": name, "temperature": temperature} | _parting(_softmax_path(run, temperature), run)
        for name, run in runs.items()
        for temperature in TEMPERATURES
    ]
    shown, coldest = runs[SHOWN], TEMPERATURES[0]
    # The same without the four inner tokens: who is left follows both ends of an edge, or leads.
    bare = simulate(shown.floats_at(0)[:6], shown.dynamics, layers=DEPTH)
    setting.progress("temperature: Gaussian clouds")
    return {
        "alpha": ALPHA,
        "temperatures": list(TEMPERATURES),
        "apart": APART,
        "depth": DEPTH,
        "figure_2": rows,
        "apart_without_inner_tokens": _parting(_softmax_path(bare, coldest), bare)["tokens"],
        "shown": {
            "leaders": shown.leaders.tolist(),
            "softmax": rounded(_softmax_path(shown, coldest), 5),
            "hardmax": rounded(np.asarray(shown)[: DEPTH + 1], 5),
        },
        "gaussian": _gaussian(CLOUDS_IN_FULL if setting.full else CLOUDS, setting.seed),
    }


def _softmax_path(run: Trajectory, temperature: float) -> np.ndarray:
    return np.stack(list(islice(softmax_walk(run.floats_at(0), float(run.dynamics.alpha), temperature), DEPTH + 1)))


def _parting(path: np.ndarray, run: Trajectory) -> dict[str, Any]:
    """The tokens that part, and the first layer at which each is apart."""
    apart = np.linalg.norm(path - np.asarray(run)[: len(path)], axis=2) > APART
    tokens = np.flatnonzero(apart.any(axis=0))
    return {"tokens": tokens.tolist(), "from_layer": apart.argmax(axis=0)[tokens].tolist()}


def _gaussian(clouds: int, seed: int) -> dict[str, Any]:
    """The share of tokens that are apart at each layer, and after the first one by how clear their choice was."""
    tokens = np.random.default_rng(seed).standard_normal((clouds, TOKENS, DIMENSION))
    runs = simulate(tokens, Dynamics(ALPHA), layers=LAYERS[-1])
    exact = {layer: runs.at(layer) for layer in LAYERS}
    scores = np.sort(np.einsum("bid,bjd->bij", tokens, tokens), axis=2)
    margins = (scores[:, :, -1] - scores[:, :, -2]).ravel()
    shares, by_margin = [], []
    for temperature in TEMPERATURES:
        walk = enumerate(islice(softmax_walk(tokens, 0.5, temperature), LAYERS[-1] + 1))
        apart = {layer: np.linalg.norm(at - exact[layer], axis=2) > APART for layer, at in walk if layer in exact}
        shares.append([rounded(apart[layer].mean(), 5) for layer in LAYERS])
        bins = np.digitize(margins / temperature, BINS) - 1
        first = apart[LAYERS[0]].ravel()
        by_margin.append([[int(first[bins == k].sum()), int((bins == k).sum())] for k in range(len(BINS))])
    return {
        "clouds": clouds,
        "n": TOKENS,
        "d": DIMENSION,
        "layers": list(LAYERS),
        "share_apart": shares,
        "bins_of_margin_over_temperature": list(BINS),
        "apart_and_all_by_bin_after_one_layer": by_margin,
    }


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """The fourth cloud of Figure 2 both ways; Gaussian clouds by layer, and by how clear the choice was."""
    with our_look():
        figure = Figure(figsize=(10.4, 3.7), layout="constrained")
        first, second, third = figure.subplots(1, 3, width_ratios=(1, 1.1, 1.1))
        _draw_cloud(numbers, first)
        _draw_shares(numbers, second)
        _draw_margins(numbers, third)
    return {"": figure}


def _draw_cloud(numbers: Numbers, ax: Axes) -> None:
    shown = numbers["shown"]
    hard, soft = np.array(shown["hardmax"]), np.array(shown["softmax"])
    parted = next(row for row in numbers["figure_2"] if row["cloud"] == SHOWN)["tokens"]
    plain_axes(ax, frame=True)
    ax.axis(window(hard[0]))
    draw_polytope(hard[-1, shown["leaders"]], ax)
    draw_origin(ax)
    draw_paths(hard, ax)
    draw_tokens(hard[0], ax, leaders=shown["leaders"])
    for token in parted:
        draw_paths(soft[:, [token]], ax, color=VERMILION, width=1.8)
        ax.scatter(*hard[-1, token], s=90, facecolors="none", ec=BLUE, lw=1.6, zorder=6)
        ax.scatter(*soft[-1, token], s=60, color=VERMILION, marker="X", ec="white", lw=0.6, zorder=7)
    ax.set_title(f"{SHOWN}, temperature {numbers['temperatures'][0]:g}")
    ax.set_xlabel("ring: where hardmax ends    red: softmax, 30 layers", fontsize=8)


def _draw_shares(numbers: Numbers, ax: Axes) -> None:
    gaussian = numbers["gaussian"]
    for number, (temperature, shares) in enumerate(zip(numbers["temperatures"], gaussian["share_apart"], strict=True)):
        percent = [100 * share for share in shares]
        series(gaussian["layers"], percent, number, f"{temperature:g}", ax)
    ax.set_xscale("log", base=2)
    ax.set_xticks(gaussian["layers"], gaussian["layers"])
    ax.set_yscale("symlog", linthresh=0.1)  # a share may be 0
    ax.set_ylim(-0.01, 100)
    ax.set_yticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
    ax.set(xlabel="layer", ylabel=f"% of tokens more than {numbers['apart']:g} apart")
    ax.set_xlim(0.85, 160)
    ax.set_title("Gaussian clouds, by temperature")
    open_axes(ax)


def _draw_margins(numbers: Numbers, ax: Axes) -> None:
    gaussian = numbers["gaussian"]
    edges: Sequence[float] = gaussian["bins_of_margin_over_temperature"]
    names = [f"{low:g}–{high:g}" for low, high in pairwise(edges)] + [f"over {edges[-1]:g}"]
    for number, (temperature, counts) in enumerate(
        zip(numbers["temperatures"], gaussian["apart_and_all_by_bin_after_one_layer"], strict=True)
    ):
        percent = [100 * apart / max(every, 1) for apart, every in counts]
        series(range(len(names)), percent, number, "", ax, label=f"temperature {temperature:g}")
    ax.set_xticks(range(len(names)), names, fontsize=8)
    ax.axhline(0, color=FAINT, lw=0.6)
    ax.set(xlabel="lead of the attended token / temperature", ylabel="% apart after one layer")
    ax.set_title("who parts: those whose choice is narrow")
    ax.legend(frameon=False, fontsize=8)
    open_axes(ax)


def table(numbers: Numbers) -> list[list[Any]]:
    """A row for each cloud of Figure 2 and temperature."""
    return [["cloud", "temperature", "tokens apart", "from layer"]] + [
        [
            row["cloud"],
            row["temperature"],
            ", ".join(map(str, row["tokens"])) or "none",
            ", ".join(map(str, row["from_layer"])),
        ]
        for row in numbers["figure_2"]
    ]


def remark(numbers: Numbers) -> str:
    """Which tokens part at the authors' temperature, and after how many layers."""
    cold = [row for row in numbers["figure_2"] if row["temperature"] == numbers["temperatures"][0]]
    parted = [
        f"in the cloud of {row['cloud']} tokens {listed([str(token) for token in row['tokens']])} from layer "
        f"{min(row['from_layer'])} on"
        for row in cold
        if row["tokens"]
    ]
    warm = [row for row in numbers["figure_2"] if row["temperature"] == numbers["temperatures"][1]]
    others = [f"token {row['tokens'][0]} of the {row['cloud']}" for row in warm if row["cloud"] == "emerging leader"]
    bare, gaussian = numbers["apart_without_inner_tokens"], numbers["gaussian"]
    first, last = (100 * gaussian["share_apart"][0][place] for place in (0, -1))
    clear = sum(counts[k][0] for counts in gaussian["apart_and_all_by_bin_after_one_layer"] for k in (-1, -2))
    return (
        f"The authors train with softmax at temperature {numbers['temperatures'][0]:g} in place of hardmax and find "
        "the same losses. Token by token the two are not the same. On the clouds of Figure 2 they part "
        f"{listed(parted)}: none of them stays on its edge at any temperature tried, since followers that come near "
        "their leader begin to vote with it and break the tie (without the four inner tokens "
        f"{'they part, too' if bare else 'they stay'}). At temperature {numbers['temperatures'][1]:g} "
        f"{listed(others)} goes, too: close to the origin scores are so small that it never leads alone. Of the "
        f"tokens of {pluralize(gaussian['clouds'], 'Gaussian cloud')} in the plane {first:.1f} % are more than "
        f"{numbers['apart']:g} away after one layer and {last:.1f} % after {gaussian['layers'][-1]}; they are those "
        "for whom the best score leads by little more than the temperature. Where it leads by eight temperatures or "
        f"more, {clear or 'none'} did in the first layer at any temperature tried."
    )


PIECE = Piece(
    name="temperature",
    title="Where softmax at a low temperature and hardmax part",
    caption=(
        "Left: the fourth cloud of Figure 2 for 30 layers; grey ways and rings are hardmax, exact, red ways with "
        "crosses the tokens that softmax at temperature 0.001 takes elsewhere. Middle: of Gaussian clouds, the "
        "share of tokens that softmax has more than 0.1 away from where hardmax has them, by layer, for three "
        "temperatures, on logarithmic scales. Right: the same share after one layer, by how far the largest score "
        "of a token leads over the next, in units of the temperature. alpha = 1/2, A = I."
    ),
    compute=compute,
    draw=draw,
    table=table,
    remark=remark,
)
