"""
Which metric makes these tokens lead?
=====================================

The usual question is: given a cloud and a metric A, who leads? Here it is asked the other way
round: given a cloud and who is to lead, find A. Token i attends to token l alone if its leads
:math:`\\langle A z_i, z_l - z_j \\rangle` over all others are positive. They are linear in A, so
linear programming decides, in exact arithmetic: either there is a metric, or there are weights
with which the leads add up to zero whatever A is, which proves that there is none."""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

import hardmax as hm
from hardmax.figures.layers import draw_layer
from hardmax.figures.palette import BLUE, INK, SKY

# %%
# With the identity, tokens 4 and 5 both follow token 1. Is there a metric with which token 4 follows token 0?
CLOUD = [[4, 0], [-3, 3], [-2, -4], [1, 2], [0, 1], [-1, 0]]
wishes = {4: 0, 5: 1}
for kind in ("any", "symmetric", "definite"):
    print(kind, hm.find_metric(CLOUD, followers=wishes, kind=kind))

# %%
# Yes, even a positive definite one. Its numbers are fractions, and the run with it is exact.
found = hm.find_metric(CLOUD, followers=wishes, kind="definite")
lim = hm.limit(CLOUD, hm.Dynamics("1/2", found.metric))
ends = lim.exact_limit_points().tolist()
print("leaders", lim.leaders.tolist(), "token 4 ends at", ends[4], "and token 5 at", ends[5])
assert (ends[4], ends[5]) == (CLOUD[0], CLOUD[1])

# %%
# Token 4 following token 2, while token 0 leads, is possible only if A need not be symmetric. The proof for
# symmetric ones is a handful of numbers: the leads times their weights, as matrices, add up to S with S + S' = 0.
impossible = hm.find_metric(CLOUD, leaders=[0], followers={4: 2}, kind="symmetric")
total = np.zeros((2, 2), dtype=object)
for weight, token, attended, other in impossible.proof:
    print(f"{weight} times: token {token} attends to {attended} rather than to {other}")
    z = np.array([[Fraction(x) for x in CLOUD[i]] for i in (token, attended, other)])
    total += weight * np.outer(z[1] - z[2], z[0])
assert not (total + total.T).any()

# %%
# Below, a seventh token is added at each place of a grid. Can it be made to follow token 2, while token 5 follows
# token 1? What is darker needs less of the metric; where it is white, it is proved that no matrix will do.
SIDE = 36
grid = [Fraction(5 * (2 * i + 1 - SIDE), SIDE) for i in range(SIDE)]


def kinds_that_do(place):
    """0 if no matrix does, 1 if one does, 2 if a positive definite one does, too."""
    tokens = [*CLOUD, place]
    return sum(
        bool(hm.find_metric(tokens, followers={6: 2, 5: 1}, kind=kind))
        for kind in ("any", "definite")
    )


kinds = np.array([[kinds_that_do((x, y)) for x in grid] for y in grid])
figure, panels = plt.subplots(2, 2, figsize=(7.5, 7.5), layout="constrained")
for ax, metric, title in (
    (panels[0, 0], None, "A = I"),
    (panels[0, 1], found.metric, "the A that was found"),
):
    run = hm.simulate(CLOUD, hm.Dynamics("1/2", metric), layers=1)
    draw_layer(run, 0, ax)
    ax.set_title(title, loc="left")

ax, colors = panels[1, 0], ("white", SKY, BLUE)
ax.imshow(kinds, extent=(-5, 5, -5, 5), origin="lower", cmap=ListedColormap(colors), vmin=0, vmax=2)
ax.scatter(*np.array(CLOUD).T, color="white", edgecolors=INK, zorder=3)
for token, (x, y) in enumerate(CLOUD):
    ax.annotate(str(token), (x, y), xytext=(5, 5), textcoords="offset points")
names = ("with no matrix", "with a matrix", "with a positive definite one")
for name, color in zip(names, colors, strict=True):
    ax.plot([], [], "s", color=color, mec=INK, label=name)
ax.set_title("where a token can follow 2", loc="left")
panels[1, 1].axis("off")
panels[1, 1].legend(*ax.get_legend_handles_labels(), loc="center", frameon=False)
plt.show()
