"""
Basins of the leaders
=====================

Where would one more token end, depending on where it starts? While the attended sets stay the same,
every token is at a + b x, x the start, so every lead of one token over another is a quadratic in x.
The plane is cut along the curves where leads change their signs until it is proved for nearly all
of it where the token ends.

Once only leaders are attended to, the plane is divided into *cells*, cones in which one leader lies
furthest out, and a token inside a cell goes to its leader. If all vertices of the hull lead from
the start, as in the square, the cells are the basins of all starts inside it. A token that starts
further out leads itself. Otherwise it may first follow one that is itself on its way to a leader,
and be carried into a neighbouring cell."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import binomtest

import hardmax as hm

dynamics = hm.Dynamics("1/2")
clouds = {
    "emerging leader": hm.clouds.emerging_leader(),
    "square": hm.clouds.square(),
    "20 Gaussian tokens": np.round(np.random.default_rng(0).standard_normal((20, 2)) * 64) / 64,
}

# %%
# Black is what is undecided: a thin seam along the curves.
figure, panels = plt.subplots(4, 1, figsize=(4.6, 11), layout="constrained")
for ax, (name, cloud) in zip(panels, clouds.items(), strict=False):
    found = hm.basins(cloud, dynamics=dynamics)
    print(name)
    for region in found.regions:
        print(f"  {region.name}: {100 * region.share:.1f} % of the box")
    print(f"  undecided: {100 * found.undecided.share:.1f} %")
    found.plot(ax=ax)
    ax.set_title(name)

# A token of the cloud can be moved as well: this one leads at layer 1 only.
hm.basins(clouds["emerging leader"], 1, dynamics=dynamics).plot(ax=panels[3])
panels[3].set_title("emerging leader, token 1")
plt.show()

# %%
# With noise all tokens move. Within the radius nothing changes; further out, count how often the
# leaders stay, with the exact binomial interval.
cloud, rng = hm.clouds.gaussian(6, 2, 7), np.random.default_rng(0)
base = hm.limit(cloud, dynamics)
factors = (0.7, 1, 1.5, 2, 3, 4, 5)
shares, lows, highs = [], [], []
for factor in factors:
    noise = factor * base.radius() * rng.uniform(-1, 1, (500, 6, 2))
    leaders = [lim.leaders.tolist() for lim in hm.limits(cloud + noise, dynamics)]
    test = binomtest(leaders.count(base.leaders.tolist()), 500)
    low, high = test.proportion_ci(0.99, method="exact")
    shares.append(test.statistic)
    lows.append(low)
    highs.append(high)
figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.fill_between(factors, lows, highs, color="0.7", label="99 % intervals")
ax.plot(factors, shares, "k.-", lw=0.6)
ax.set(xlabel="noise / radius", ylabel="share with the same leaders", ylim=(0, 1.05))
ax.legend(frameon=False)
plt.show()
