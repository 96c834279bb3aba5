"""
From softmax to hardmax
=======================

Hardmax is softmax at temperature zero, and classifiers are trained with softmax at a low
temperature instead. Token by token the two are not the same. This example runs both for the same
clouds and counts the tokens that end up more than 0.1 apart.

Whether a token differs after one layer depends on the *lead* of its best score over the next, in
units of the temperature. And where a token attends to both ends of an edge, a low temperature helps
only for some layers: followers that have come close enough to one end have weight beside it and
break the tie. The colder it is, the more layers that takes.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

import hardmax as hm
from hardmax.figures.palette import BLUE, FAINT, GREEN, VERMILION

ALPHA, APART = 0.5, 0.1
COLORS = {0.001: BLUE, 0.01: GREEN, 0.1: VERMILION}


def softmax_layers(tokens, temperature, layers):
    """Layers of softmax attention, of one cloud (n, d) or many (clouds, n, d)."""
    path = [np.asarray(tokens, dtype=float)]
    for _ in range(layers):
        z = path[-1]
        scores = z @ np.swapaxes(z, -1, -2)
        weights = np.exp((scores - scores.max(axis=-1, keepdims=True)) / temperature)
        means = weights @ z / weights.sum(axis=-1, keepdims=True)
        path.append((z + ALPHA * means) / (1 + ALPHA))
    return np.stack(path)


# %%
# **One cloud.** The paper's *non-leader clusters* for 30 layers, at temperatures down to 1/10,000:
cloud = hm.clouds.nonleader_clusters().astype(float)
hard = np.asarray(hm.simulate(cloud, hm.Dynamics("1/2"), layers=30))
for temperature in (1e-1, 1e-2, 1e-3, 1e-4):
    apart = np.linalg.norm(softmax_layers(cloud, temperature, 30) - hard, axis=2) > APART
    first = [
        f"token {token} from layer {apart[:, token].argmax()}"
        for token in np.flatnonzero(apart.any(axis=0))
    ]
    print(f"temperature {temperature:g}, more than {APART} apart: {', '.join(first) or 'no token'}")

# %%
# **Many clouds.** 30 Gaussian clouds of 64 tokens in the plane, and the lead of the best score of each token:
clouds = np.random.default_rng(0).standard_normal((30, 64, 2))
layers = [1, 2, 4, 8, 16, 32, 64]
several: list[np.ndarray] = list(clouds)
runs = hm.simulate(several, hm.Dynamics("1/2"), layers=64)
truth = {layer: np.stack(runs.at(layer)) for layer in layers}
scores = np.sort(clouds @ clouds.transpose(0, 2, 1), axis=2)
leads = scores[:, :, -1] - scores[:, :, -2]
apart = {}
for temperature in COLORS:
    path = softmax_layers(clouds, temperature, 64)
    apart[temperature] = {k: np.linalg.norm(path[k] - truth[k], axis=2) > APART for k in layers}
    shares = [f"{100 * apart[temperature][k].mean():.1f} % after {k}" for k in (1, 8, 64)]
    clear = apart[temperature][1][leads > 8 * temperature]
    print(
        f"temperature {temperature:g}, more than {APART} apart: {', '.join(shares)} layers; of {clear.size} tokens",
        end=" ",
    )
    print(f"whose best score leads by 8 temperatures, {clear.sum()} after one layer")

# %%
# Left: exact paths in grey; red are the tokens that softmax at temperature 0.001 takes elsewhere. Middle: the share of
# tokens that differ, by layer. Right: the share that differ after one layer, by the lead of their best score.
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
soft = softmax_layers(cloud, 0.001, 30)
off = np.flatnonzero(np.linalg.norm(soft[-1] - hard[-1], axis=1) > APART)
left.fill(*cloud[:4].T, color=FAINT, alpha=0.15)
left.plot(*hard.transpose(2, 0, 1), color=FAINT, lw=0.8)
left.plot(*cloud.T, "o", color=FAINT, ms=4)
left.plot(*cloud[:4].T, "*", color="black", ms=11, label="leader")
left.plot(*soft[:, off].transpose(2, 0, 1), color=VERMILION, lw=1.8)
left.plot(*hard[-1, off].T, "o", mfc="none", color=BLUE, ms=10, mew=1.6, label="hardmax")
left.plot(*soft[-1, off].T, "X", color=VERMILION, ms=8, label="softmax")
left.set(title="30 layers, temperature 0.001", aspect="equal", xticks=[], yticks=[])
left.legend(
    loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=3, frameon=False, fontsize="small"
)

edges = [0, 0.5, 1, 2, 4, 8, 16, np.inf]
names = [f"{low:g}–{high:g}" for low, high in pairwise(edges[:-1])] + ["> 16"]
for temperature, color in COLORS.items():
    name = f"temperature {temperature:g}"
    middle.plot(
        layers,
        [100 * apart[temperature][k].mean() for k in layers],
        "o-",
        color=color,
        ms=4,
        label=name,
    )
    bins = np.digitize(leads / temperature, edges) - 1
    shares = [
        100 * apart[temperature][1][bins == k].mean() if (bins == k).any() else np.nan
        for k in range(len(names))
    ]
    right.plot(names, shares, "o-", color=color, ms=4, label=name)
middle.set_xscale("log", base=2)
middle.set_yscale("symlog", linthresh=0.1)
middle.set_xticks(layers, layers)
middle.set_yticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
middle.set(
    title="Gaussian clouds",
    xlabel="layer",
    ylabel=f"% of tokens more than {APART} apart",
    ylim=(-0.01, 100),
)
middle.legend(frameon=False, fontsize="small")
right.tick_params(axis="x", labelsize="small")
right.set(
    title="after one layer", xlabel="lead of the best score / temperature", ylabel="% of tokens"
)
plt.show()

# %%
# **The law.** How far is softmax from hardmax over many layers? `hm.softmax_gap` encloses the
# largest difference of a coordinate. At a fixed depth it vanishes as β grows (dashed: 15 layers),
# because followers have weight beside their leaders only after some log β / log(1 + alpha) layers.
# By default it goes 60 layers beyond that. Where no two limits tie, the distance then falls like
# 1/β, once β is large. With limits on edges it
# was not seen to fall at any β: it seems that the two limits, zero temperature and infinitely many
# layers, do not commute there. That is an observation, not a proof.
betas = [30, 100, 300, 1000, 3000, 10_000]
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
names = ["triangle", "emerging_leader", "square", "nonleader_clusters"]
for name, color, marker in zip(names, (BLUE, GREEN, VERMILION, "black"), "os^D", strict=True):
    found = hm.softmax_gap(getattr(hm.clouds, name)(), hm.Dynamics("1/2"), betas)
    print(f"{name}: {found}, largest error {found.errors.max():.1g}")
    label = name.replace("_", " ")
    ax.loglog(betas, found.distances, marker=marker, color=color, lw=1.2, ms=4, label=label)
shallow = hm.softmax_gap(hm.clouds.nonleader_clusters(), hm.Dynamics("1/2"), betas, layers=15)
print(f"nonleader_clusters: {shallow}, distances {shallow.distances.round(4).tolist()}")
look = {"color": "black", "mfc": "white", "lw": 1, "ms": 4}
ax.loglog(betas, shallow.distances, "D--", **look, label="the same, 15 layers")
ax.set(xlabel="β", ylabel="largest difference", ylim=(1e-5, 3))
ax.set_title("from softmax to hardmax, 60 layers after followers have weight")
ax.legend(frameon=False, fontsize="small", loc="lower left")
plt.show()
