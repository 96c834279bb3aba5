"""
Figure 4: the neighbourhood of the attracting set
=================================================

The paper sketches the set :math:`S` of all points that tokens can converge to, and its
delta-neighbourhood, which every token enters after finitely many layers. Here both are computed for
a cloud of 14 tokens: :math:`S` consists of the five leaders (stars) and, on each edge of their hull
K, the point closest to the origin (diamonds; filled if a token converges to it)."""

import matplotlib.pyplot as plt
import numpy as np
from paper_numbers import BLUE, GREEN, GREY, INK, PENTAGON, RED, SHADE, SKY, attracting_set, bare

import hardmax as hm

DELTA, SHOWN, LAST = 0.3, 3, 20

# %%
# The limits are exact, so it is certain which points of S are reached.
limit = hm.limit(PENTAGON, hm.Dynamics(alpha="1/2"))
attractors = attracting_set(PENTAGON[limit.leaders])
gaps = np.linalg.norm(attractors[:, None] - limit.limit_points, axis=2).min(axis=1)
path = np.stack([limit.run.at(layer) for layer in range(LAST + 1)])
distances = np.linalg.norm(path[:, :, None] - attractors, axis=3).min(axis=2)
furthest = distances.max(axis=1)
entered = int(np.flatnonzero(furthest >= DELTA)[-1]) + 1
print(f"{len(attractors)} points in S, {(gaps < 1e-12).sum()} of them limits of tokens")
print(
    f"all tokens within {DELTA} of S from layer {entered} on; factor per layer {furthest[-1] / furthest[-2]:.4f}"
)

# %%
figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.4), width_ratios=(1.3, 1), layout="constrained"
)
bare(left)
order = np.argsort(np.arctan2(*attractors.T))
left.fill(*attractors[order].T, color=SHADE)
for point, gap in zip(attractors, gaps, strict=True):
    left.add_patch(plt.Circle(point, DELTA, fc=SKY, ec=BLUE, alpha=0.35))
    is_leader = (point == PENTAGON[limit.leaders]).all(axis=1).any()
    left.plot(
        *point,
        "*" if is_leader else "D",
        ms=12 if is_leader else 6,
        color=INK,
        mfc=INK if gap < 1e-12 else "w",
    )
left.plot(*np.moveaxis(path[: SHOWN + 1], 2, 0), color=GREY, lw=0.8)
inside = distances[SHOWN] < DELTA
followers = np.setdiff1d(np.arange(len(PENTAGON)), limit.leaders)
for near, color, marker in ((True, GREEN, "o"), (False, RED, "s")):
    chosen = followers[inside[followers] == near]
    left.plot(
        *path[SHOWN, chosen].T,
        marker,
        color=color,
        mec="white",
        label="inside" if near else "still outside",
    )
left.set_title(f"tokens at layer {SHOWN}, delta = {DELTA}", loc="left")
left.legend(loc="lower right", frameon=False)

right.semilogy(furthest, "o-", color=BLUE, ms=4)
right.axhline(DELTA, color=INK, ls="--", lw=1)
right.text(LAST, DELTA * 1.15, "delta", ha="right")
right.axvline(entered, color=GREY, ls=":")
right.set(xlabel="layer", xticks=range(0, LAST + 1, 5))
right.set_title("distance of the furthest token from S", loc="left")
plt.show()
