r"""
Whole transformer blocks
========================

The paper's Figure 3 draws three kinds of networks: a deep neural network with feed-forward blocks
and normalisation, a full transformer, and the transformer of attention alone that the paper treats.
Here they are beside each other on one cloud, with hardmax. The first two normalise to the sphere,
whose square roots leave the rationals: every coordinate is enclosed in a ball, and every choice is
proved. The deep neural network has a mask by which tokens attend to themselves alone, which is no
attention: :math:`(z + \alpha z) / |z + \alpha z|` is z on the sphere. The third layer is the
paper's, and exact."""

import matplotlib.pyplot as plt
import numpy as np

import hardmax as hm
from hardmax.figures.layers import draw_layer
from hardmax.figures.palette import BLUE, FAINT, VERMILION

random = np.random.default_rng(3)
cloud = 0.7 * random.standard_normal((24, 2)) + [0.4, 0.2]
metric = [[3, 1], [1, 2]]
block = hm.FeedForward(
    [[1, 1], [-1, 1], [0, -1]], [0, "-1/4", 0], [["1/2", "-1/2", 0], [0, "1/2", "1/2"]]
)
alone = np.eye(len(cloud), dtype=bool)
networks = {
    "deep neural network": hm.Dynamics(1, mask=alone, normalise="sphere", feed_forward=block),
    "full transformer": hm.Dynamics(1, metric, normalise="sphere", feed_forward=block),
    "pure-attention transformer": hm.Dynamics(1, metric),
}

# %%
# **Twelve layers of each.** Stars attend to themselves alone; dotted lines lead to what the others
# attend.
LAYERS = 12
figure, axes = plt.subplots(2, 2, figsize=(7.5, 7.5), layout="constrained")
axes[1, 1].axis("off")
for ax, (name, dynamics) in zip(axes.flat, networks.items(), strict=False):
    run = hm.simulate(cloud, dynamics, layers=LAYERS)
    draw_layer(run, LAYERS, ax)
    if dynamics.mask is not None:  # all attend to themselves, so all have numbers
        for label in [*ax.texts]:
            label.remove()
    if dynamics.normalise is not None:
        ax.add_patch(plt.Circle((0, 0), 1, fill=False, ec=FAINT, lw=0.8, zorder=0))
    ax.set_title(name)
    print(f"{name}: {run}")
plt.show()

# %%
# **What becomes of them.** The limit of the pure-attention transformer is exact. Of the other two
# any number of layers is enclosed, and nothing is claimed of their limits.
lim = hm.limit(cloud, networks["pure-attention transformer"])
print(f"{lim}: {lim.clusters}")

# %%
# **Softmax in a hemisphere.** With the identity as metric and value matrix, softmax gathers the
# tokens of an open hemisphere in one cluster, whatever beta is: in the plane that touches the sphere
# they move to means with weights that have a part in common.
sphere = random.standard_normal((40, 3))
sphere[:, 2] = abs(sphere[:, 2])
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for beta, color in ((1, BLUE), (4, VERMILION)):
    dynamics = hm.Dynamics(1, normalise="sphere", attention=hm.Softmax(beta))
    _, *path = hm.simulate(sphere, dynamics, layers=24)
    largest = [np.linalg.norm(z[:, None] - z, axis=2).max() for z in path]
    ax.semilogy(range(1, 25), largest, color=color, lw=1.4, label=f"β = {beta}")
ax.set(xlabel="layer", ylabel="largest distance of two tokens")
ax.legend(frameon=False)
plt.show()
