"""How often a limit is no vertex, but the projection of the origin onto a face: it takes ties."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hardmax._clusters import FaceProjection, OtherLimit
from hardmax._format import pluralize
from hardmax.dynamics import Dynamics
from hardmax.figures.palette import BLUE, VERMILION
from hardmax.figures.style import Axes, Figure, our_look
from hardmax.limits import Limit, limit
from hardmax.paper.beyond.charts import open_axes, series
from hardmax.paper.beyond.random_clouds import KINDS, on_grid
from hardmax.paper.piece import Numbers, Piece, Setting
from hardmax.paper.plain import rounded

ALPHA, TOKENS = "1/2", 20
TRIALS, TRIALS_IN_FULL = 100, 2000
STEPS = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625)
DIMENSIONS = (2, 3, 4)
# Where a token ties two that are themselves on their way for ever, a cloud is not proved to have settled at any layer.
PATIENCE = 40


def compute(setting: Setting) -> Numbers:
    """Limits of clouds of several kinds, and of Gaussian clouds whose coordinates are rounded, more and less."""
    trials = TRIALS_IN_FULL if setting.full else TRIALS
    rng = np.random.default_rng(setting.seed)
    kinds = []
    for name, batch in _batches(trials, rng).items():
        setting.progress(f"faces: {name}")
        kinds.append({"kind": name} | _counted(batch))
    rounding = []
    for d in DIMENSIONS:
        drawn = rng.standard_normal((trials, TOKENS, d))
        setting.progress(f"faces: rounded clouds in {d} dimensions")
        rounding += [{"d": d, "step": step} | _counted(on_grid(list(drawn), step)) for step in STEPS]
    return {"alpha": ALPHA, "n": TOKENS, "trials": trials, "kinds": kinds, "steps": list(STEPS), "rounding": rounding}


def _batches(trials: int, rng: np.random.Generator) -> dict[str, list[np.ndarray]]:
    """Clouds of about the same size in the plane, of each kind."""
    shape = (trials, TOKENS, 2)
    half = rng.standard_normal((trials, TOKENS // 2 - 2, 2))
    # A mirror image of all tokens in the first axis, and four tokens on that axis.
    axis = np.stack([rng.standard_normal((trials, 4)), np.zeros((trials, 4))], axis=2)
    mirrored = np.concatenate([half, half * [1, -1], axis], axis=1)
    return {
        **{name: list(make(shape, rng)) for name, make in KINDS.items()},
        "whole numbers to ±8": on_grid(list(rng.integers(-8, 9, shape).astype(float)), 1.0),
        "whole numbers to ±2": on_grid(list(rng.integers(-2, 3, shape).astype(float)), 1.0),
        "Gaussian with its mirror image": list(mirrored),
        "grids of 3 to 8 a side": [cloud[(cloud != 0).any(axis=1)] for cloud in map(_grid, range(3, 9))],
    }


def _grid(side: int) -> np.ndarray:
    """The points of a square grid of spacing 1 around the origin."""
    ticks = np.arange(side) - (side - 1) / 2
    return np.stack(np.meshgrid(ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 2)


def _counted(batch: Sequence[np.ndarray]) -> dict[str, Any]:
    settled = [lim for lim in limit(list(batch), Dynamics(ALPHA), max_layers=PATIENCE) if lim.settled_at is not None]
    found = [_ends(lim) for lim in settled]
    return {
        "clouds": len(settled),
        "clouds_with_faces": sum(ends[FaceProjection] > 0 for ends in found),
        "share_of_clouds": rounded(sum(ends[FaceProjection] > 0 for ends in found) / len(settled), 4),
        "share_of_tokens": rounded(
            sum(ends[FaceProjection] for ends in found) / sum(ends.total() for ends in found), 5
        ),
        "tokens_elsewhere": sum(ends[OtherLimit] for ends in found),
        "unsettled": len(batch) - len(settled),
    }


def _ends(lim: Limit) -> Counter[type]:
    """How many tokens have a limit of each kind."""
    ends: Counter[type] = Counter()
    for kind, size in zip(lim.clusters.kinds, lim.clusters.sizes.tolist(), strict=True):
        ends[type(kind)] += size
    return ends


def draw(numbers: Numbers) -> Mapping[str, Figure]:
    """Bars for kinds, lines for rounding."""
    with our_look():
        figure = Figure(figsize=(9.2, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
        _draw_kinds(numbers["kinds"], left)
        _draw_rounding(numbers, right)
    return {"": figure}


def _draw_kinds(kinds: Sequence[Mapping[str, Any]], ax: Axes) -> None:
    places = np.arange(len(kinds))[::-1]
    for offset, measure, color, hatch, name in (
        (0.19, "share_of_clouds", BLUE, "", "clouds with such a limit"),
        (-0.19, "share_of_tokens", VERMILION, "////", "tokens that end there"),
    ):
        shares = [100 * row[measure] for row in kinds]
        ax.barh(places + offset, shares, 0.36, color=color, hatch=hatch, ec="white", lw=0.5, label=name)
        for place, share in zip(places + offset, shares, strict=True):
            ax.annotate(
                f"{share:.3g}", (share, place), textcoords="offset points", xytext=(3, 0), va="center", fontsize=7.5
            )
    ax.set_yticks(places, [row["kind"] for row in kinds])
    ax.set(xlim=(0, 112), xlabel="%")
    ax.set_title("limits that are no vertex, by kind of cloud (d = 2)")
    ax.legend(frameon=False, fontsize=8, loc="upper right")
    open_axes(ax)


def _draw_rounding(numbers: Numbers, ax: Axes) -> None:
    for number, d in enumerate(dict.fromkeys(row["d"] for row in numbers["rounding"])):
        shares = [100 * row["share_of_clouds"] for row in numbers["rounding"] if row["d"] == d]
        series(numbers["steps"], shares, number, "", ax, label=f"d = {d}")
    ax.set_xscale("log", base=2)
    ax.invert_xaxis()
    ax.set_xlabel("Gaussian clouds rounded to multiples of")
    ax.set_ylabel("% of clouds with a limit that is no vertex")
    ax.set_title("ties come from coarse numbers")
    ax.legend(frameon=False, fontsize=8)
    open_axes(ax)


def table(numbers: Numbers) -> list[list[Any]]:
    """A row for each kind, then one for each dimension and rounding."""
    columns = ["clouds", "clouds_with_faces", "share_of_clouds", "share_of_tokens", "tokens_elsewhere", "unsettled"]
    named = [(row["kind"], row) for row in numbers["kinds"]]
    named += [(f"Gaussian, d = {row['d']}, step {row['step']:g}", row) for row in numbers["rounding"]]
    return [["kind", *columns], *([name, *(row[column] for column in columns)] for name, row in named)]


def remark(numbers: Numbers) -> str:
    """Where non-leader clusters are found, and where not."""
    kinds = {row["kind"]: row for row in numbers["kinds"]}
    generic = sum(kinds[name]["clouds_with_faces"] for name in KINDS)
    trials = sum(kinds[name]["clouds"] for name in KINDS)
    rows = (*numbers["kinds"], *numbers["rounding"])
    elsewhere, unsettled = (sum(row[count] for row in rows) for count in ("tokens_elsewhere", "unsettled"))
    clouds = sum(row["clouds"] for row in rows)
    mirrored, small, grids = (
        kinds[name] for name in ("Gaussian with its mirror image", "whole numbers to ±2", "grids of 3 to 8 a side")
    )
    plane = [row["share_of_clouds"] for row in numbers["rounding"] if row["d"] == 2]
    return (
        "The authors' last row shows tokens that end on an edge, where nobody leads, and the theorem must allow for "
        f"it; how often does it happen? In {generic} of {trials} Gaussian, spherical and cubic clouds in the plane: "
        "it takes a tie, and among numbers drawn at random nobody ties. Where numbers are coarse or clouds "
        f"symmetric, ties are common: {100 * small['share_of_clouds']:.0f} % of the clouds of whole numbers up to 2, "
        f"{100 * mirrored['share_of_clouds']:.0f} % of the clouds that equal their mirror image, and "
        f"{grids['clouds_with_faces']} of {grids['clouds']} grids have such a limit. Gaussian clouds in the plane "
        f"rounded to whole numbers have one in {100 * plane[0]:.0f} % of all cases, rounded to 64ths in "
        f"{100 * plane[-1]:.1f} %. Of the tokens of all these {clouds:,} clouds {elsewhere or 'not one'} ended "
        "neither at a vertex nor at the projection of the origin onto a face, as the theorem says. Not proved to "
        f"settle within {PATIENCE} layers, because a token ties others that are themselves on their way, and not "
        f"counted: {pluralize(unsettled, 'cloud')}."
    )


PIECE = Piece(
    name="faces",
    title="How often a limit is no vertex",
    caption=(
        "Left: for several kinds of clouds of about twenty distinct, nonzero tokens in the plane, the share of "
        "clouds in which some token ends at no leader but where a face of the polytope comes nearest to the origin "
        "(plain bars), and the share of tokens that do (hatched bars). Right: the share of such clouds among "
        "Gaussian ones whose coordinates were rounded to multiples of 1, 1/2, … 1/64, in one, two and three "
        "dimensions. All decided by exact arithmetic; alpha = 1/2, A = I."
    ),
    compute=compute,
    draw=draw,
    table=table,
    remark=remark,
)
