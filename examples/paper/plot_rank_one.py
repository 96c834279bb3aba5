"""
A value matrix of rank one
==========================

What if attended tokens act through a matrix, :math:`z' = (I + V)^{-1} (z + V w)`, instead of a
number alpha? The authors' repository has a third notebook on :math:`V = u v^T`; this is very
probably the paper's tenth figure. It has 50 tokens, uniform in a square (numpy's seed 1), and 100
layers, once with u = v = (1, 1) and once with u = (1/2, -1/2), v = (1, 1).

With u = v tokens move along (1, 1) only and gather on a few lines perpendicular to it, not in
points: the limit is proved after 10 layers. In the second case :math:`\\langle u, v \\rangle = 0`,
so :math:`V^2 = 0` and nothing contracts: 12 tokens stand still from some layer on, and the other 38
move for ever within their hull, which is proved too. Definition 1.1 does not carry over, since
tokens that attend to themselves alone can stop doing so."""

import matplotlib.pyplot as plt
import numpy as np
from paper_numbers import BLUE, RED, SKY, load

import hardmax as hm

CASES = load("authors")["rank_one"]
LAYERS = 100
START = np.random.RandomState(1).uniform(-5, 5, (2, 50)).T


def alone(run, layer):
    """Which tokens attend to themselves alone at a layer."""
    return np.array(
        [attended.tolist() == [token] for token, attended in enumerate(run.attended(layer))]
    )


# %%
figure, panels = plt.subplots(2, 2, figsize=(8.4, 8.4), layout="constrained")
for row, case in zip(panels, CASES.values(), strict=True):
    dynamics = hm.Dynamics(1, value=np.outer(case["u"], case["v"]))
    lim, run = hm.limit(START, dynamics), hm.simulate(START, dynamics, layers=LAYERS)
    leading = np.array([alone(run, layer) for layer in range(LAYERS + 1)])
    print(f"u = {case['u']}, v = {case['v']}: {lim.stop_reason};")
    if lim.settled_at is not None:
        lines = len(set(lim.exact_limit_points() @ case["v"]))
        print(f"    {len(lim.clusters)} distinct limits on {lines} lines <v, z> = const,")
    once = f"{leading.any(0).sum()} tokens attend to themselves alone at some of {LAYERS} layers"
    print(f"    {once}, {len(lim.leaders)} in the end")
    path = np.array([run.at(layer) for layer in range(LAYERS + 1)])
    for ax, layer in zip(row, (0, LAYERS), strict=True):
        ax.plot(*np.moveaxis(path[: layer + 1], 2, 0), color=SKY, lw=0.5)
        ax.plot(*path[layer, ~leading[layer]].T, "o", color=BLUE, ms=5, mec="white", mew=0.5)
        ax.plot(*path[layer, leading[layer]].T, "*", color=RED, ms=11, mec="white", mew=0.5)
        ax.set(aspect="equal", xlim=(-7, 7), ylim=(-7, 7))
        ax.set_title(f"u = {case['u']}, v = {case['v']}: layer {layer}", loc="left", fontsize=10)
plt.show()
