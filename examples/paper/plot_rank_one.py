"""
A value matrix of rank one
==========================

What if attended tokens act through a matrix, :math:`z' = (I + V)^{-1} (z + V w)`, instead of a number alpha? The
authors' repository has a third notebook on :math:`V = u v^T`; this is very probably the paper's tenth figure. It has
50 tokens, uniform in a square (numpy's seed 1), and 100 layers, once with u = v = (1, 1) and once with
u = (1/2, -1/2), v = (1, 1).

With u = v tokens move along (1, 1) only and gather on a few lines perpendicular to it, not in points. In the
second case :math:`\\langle u, v \\rangle = 0`, so :math:`V^2 = 0` and nothing contracts: most tokens never settle.
Definition 1.1 does not carry over, since tokens that attend to themselves alone can stop doing so.
"""

import matplotlib.pyplot as plt
import numpy as np
from paper_numbers import BLUE, RED, SKY, load

LAYERS = 100
CASES = load("authors")["rank_one"]
np.random.seed(1)
START = np.random.uniform(-5, 5, (2, 50)).T


def attended(z):
    """Which tokens each token attends to, (n, n); floats suffice here, no two scores are close to a tie."""
    scores = z @ z.T
    return scores == scores.max(axis=1, keepdims=True)


def run(z, u, v):
    """Positions and self-attending tokens at all layers."""
    value = np.outer(u, v)
    rescale = np.linalg.inv(np.eye(2) + value)
    path, alone = [z], [np.diag(attended(z))]
    for _ in range(LAYERS):
        chosen = attended(path[-1])
        means = chosen @ path[-1] / chosen.sum(axis=1, keepdims=True)
        path.append((path[-1] + means @ value.T) @ rescale.T)
        alone.append(np.diag(attended(path[-1])))
    return np.array(path), np.array(alone)


# %%
figure, panels = plt.subplots(2, 2, figsize=(8.4, 8.4), layout="constrained")
for row, case in zip(panels, CASES.values(), strict=True):
    path, alone = run(START, **case)
    lost = (alone.any(axis=0) & ~alone[-1]).sum()
    lines = len(np.unique((path[-1] @ case["v"]).round(6)))
    moving = (np.abs(path[-1] - path[-2]).max(axis=1) > 1e-9).sum()
    print(f"u = {case['u']}, v = {case['v']}: {moving} of 50 tokens still move; <v, z> takes {lines} values;")
    print(f"    {alone.any(axis=0).sum()} tokens attend to themselves alone at some layer, {lost} not at the last one")
    for ax, layer in zip(row, (0, LAYERS), strict=True):
        ax.plot(*np.moveaxis(path[: layer + 1], 2, 0), color=SKY, lw=0.5)
        ax.plot(*path[layer, ~alone[layer]].T, "o", color=BLUE, ms=5, mec="white", mew=0.5)
        ax.plot(*path[layer, alone[layer]].T, "*", color=RED, ms=11, mec="white", mew=0.5)
        ax.set(aspect="equal", xlim=(-7, 7), ylim=(-7, 7))
        ax.set_title(f"u = {case['u']}, v = {case['v']}: layer {layer}", loc="left", fontsize=10)
plt.show()
