"""
Four traps
==========

Small clouds on which intuition, or floating point, goes wrong. The first two are computed in
fractions."""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import hardmax as hm


def draw(title: str, lines: dict, ax: plt.Axes) -> None:
    """One line for each name, over the layers."""
    for name, line in lines.items():
        ax.plot(line, "o-", ms=3, label=name)
    ax.set(title=title, xlabel="layer")
    ax.legend(frameon=False)


def distances_of_token_4(cloud, dynamics: hm.Dynamics) -> dict:
    """Its distance to its limit at layers 0 to 120, in two arithmetics."""
    goal = hm.limit(cloud, dynamics).limit_points[4]
    runs = {
        name: hm.simulate(cloud, dynamics, layers=120, arithmetic=name)
        for name in ("float", "certified")
    }
    return {
        name: [np.linalg.norm(run.at(k)[4] - goal) for k in range(121)]
        for name, run in runs.items()
    }


# %%
# **Steps that add up.** If the steps shrink so fast that their sum is finite, a follower stops short of its leader:
# here it covers 1/4, 1/8, 1/16, … of the remaining way.
tokens, path = np.array([[Fraction(1)], [Fraction(1, 2)]]), []
for k in range(20):
    path.append(tokens[:, 0].astype(float))
    share = Fraction(1, 2 ** (k + 2))
    tokens = hm.step(tokens, hm.Dynamics(share / (1 - share)))
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
draw(
    f"stops at {float(tokens[1, 0]):.3f}",
    dict(zip(("leader", "follower"), np.transpose(path), strict=True)),
    ax,
)

# %%
# **A negative metric.** With A = -1 and steps 2/(k+2), the two tokens -1 and 3 do not meet at the origin: one freezes
# at 1/3 after one layer, and the other approaches it.
tokens, path = np.array([[Fraction(-1)], [Fraction(3)]]), []
for k in range(1, 30):
    path.append(tokens[:, 0].astype(float))
    share = Fraction(2, k + 2)
    tokens = hm.step(tokens, hm.Dynamics(share / (1 - share), metric=[[-1]]))
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
draw(
    f"freezes at {tokens[1, 0]}",
    dict(zip(("token 0", "token 1"), np.transpose(path), strict=True)),
    ax,
)

# %%
# **Ties in floats.** Rotated by the angle of the 3-4-5 triangle, the square loses its ties in float64, and a token that
# should stay on an edge leaves for a corner.
turned = hm.clouds.rotated(hm.clouds.nonleader_clusters())
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
draw(
    "rotated square: distance of token 4 to its limit",
    distances_of_token_4(turned, hm.Dynamics("1/2")),
    ax,
)
ax.set_yscale("log")

# %%
# **More layers are not more converged.** Token 5 follows a corner and never reaches it, so it never counts in the tie
# of token 4. In float64 it comes close enough after about 40 layers to count, and pulls token 4 away from its limit.
cloud = [[1, 1], [1, -1], [-1, -1], [-1, 1], [0.5, 0], ["3/10", "1/10"]]
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
draw(
    "late follower: distance of token 4 to its limit",
    distances_of_token_4(cloud, hm.Dynamics(1)),
    ax,
)
ax.set_yscale("log")
