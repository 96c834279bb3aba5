"""
Limits that are not vertices
============================

The last cloud of the paper's Figure 2 has tokens that end on an edge of the polytope, at the
projection of the origin, where no leader is. How often does that happen? It takes a tie, and among
random numbers there are none. Coarse numbers and symmetric clouds have ties.

For each kind of cloud the exact limits are computed, and the tokens counted whose limit no leader
shares."""

import matplotlib.pyplot as plt
import numpy as np

import hardmax as hm
from hardmax.figures.palette import BLUE, GREEN, VERMILION

CLOUDS, TOKENS = 100, 20
rng = np.random.default_rng(0)


def on_grid(batch, step):
    """Coordinates rounded to multiples of a step; without zero and repeated tokens, which the
    theorem excludes."""
    batch = [np.unique(np.round(cloud / step) * step + 0.0, axis=0) for cloud in batch]
    return [cloud[(cloud != 0).any(axis=1)] for cloud in batch if cloud.any()]


def grid(side):
    """Points of a square grid around the origin."""
    ticks = np.arange(side) - (side - 1) / 2
    return np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)


def shares(batch):
    """Shares of clouds with a limit that is no vertex, and of tokens that end there, in %; clouds
    that are counted."""
    # A token that ties others still on their way may keep a cloud from settling: such clouds are
    # not counted.
    settled = [
        lim
        for lim in hm.limits(batch, hm.Dynamics("1/2"), max_layers=40)
        if lim.settled_at is not None
    ]
    on_face = [~np.isin(lim.clusters.labels, lim.clusters.labels[lim.leaders]) for lim in settled]
    clouds = 100 * np.mean([mask.any() for mask in on_face])
    return clouds, 100 * np.concatenate(on_face).mean(), len(settled)


# %%
# Kinds of clouds in the plane:
gaussian, half = (
    rng.standard_normal((CLOUDS, TOKENS, 2)),
    rng.standard_normal((CLOUDS, TOKENS // 2 - 2, 2)),
)
axis = rng.standard_normal((CLOUDS, 4, 1)) * [1, 0]  # four tokens on the axis of symmetry
kinds = {
    "Gaussian": list(gaussian),
    "sphere": list(gaussian / np.linalg.norm(gaussian, axis=2, keepdims=True)),
    "cube": list(rng.uniform(-1, 1, gaussian.shape)),
    "whole numbers to ±8": on_grid(rng.integers(-8, 9, gaussian.shape).astype(float), 1),
    "whole numbers to ±2": on_grid(rng.integers(-2, 3, gaussian.shape).astype(float), 1),
    "Gaussian and its mirror image": list(np.concatenate([half, half * [1, -1], axis], axis=1)),
    "grids of 3 to 8 a side": on_grid([grid(side) for side in range(3, 9)], 0.5),
}
found = {name: shares(batch) for name, batch in kinds.items()}
for name, (clouds, tokens, counted) in found.items():
    print(f"{name:30} {clouds:5.1f} % of {counted} clouds, {tokens:5.2f} % of their tokens")

# %%
# Gaussian clouds whose coordinates are rounded to multiples of 1, 1/2, …, 1/64, in two, three and four dimensions:
steps = [2.0**-k for k in range(7)]
rounded = {}
for d in (2, 3, 4):
    drawn = rng.standard_normal((CLOUDS, TOKENS, d))
    rounded[d] = [shares(on_grid(drawn, step))[0] for step in steps]
    print(f"d = {d}: " + ", ".join(f"{share:.0f} %" for share in rounded[d]))

# %%
# Left: clouds with such a limit, and tokens that end there, by kind of cloud (d = 2). Right: the finer the numbers, the
# rarer the ties, in every dimension.
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 3.8), layout="constrained", width_ratios=(1.2, 1)
)
rows = np.arange(len(kinds))
for offset, column, color, hatch, name in (
    (-0.2, 0, BLUE, "", "clouds"),
    (0.2, 1, VERMILION, "////", "tokens"),
):
    bars = left.barh(
        rows + offset,
        [row[column] for row in found.values()],
        0.38,
        color=color,
        hatch=hatch,
        ec="white",
    )
    left.bar_label(bars, fmt="%.3g", padding=3, fontsize="small")
    bars.set_label(name)
left.set_yticks(rows, list(kinds))
left.invert_yaxis()
left.set(title="limits that are not vertices", xlabel="%", xlim=(0, 112))
left.legend(frameon=False, loc="upper right")
for (d, line), color, marker in zip(rounded.items(), (BLUE, VERMILION, GREEN), "os^", strict=True):
    right.plot(steps, line, marker=marker, color=color, label=f"d = {d}")
right.set_xscale("log", base=2)
right.invert_xaxis()
right.set(title="Gaussian clouds, rounded", xlabel="rounded to multiples of", ylabel="% of clouds")
right.legend(frameon=False)
plt.show()
