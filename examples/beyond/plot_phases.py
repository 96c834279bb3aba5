r"""
Phases of random clouds
=======================

A sweep through the paper's setting: Gaussian tokens, the number n of tokens, the dimension d and
the step size alpha vary. The metric is the identity, without loss: with any other metric A,
:math:`A^{1/2} z` moves as z does here.

There are two phases. If n is small for its dimension, every token leads, and nothing ever moves; if
n is large, few lead, and the others follow. The line between them is known: a token at distance r
from the origin leads from the start with probability :math:`\Phi(r)^{n-1}`, so that

.. math:: E(n, d) = n \int_0^\infty \Phi(r)^{n-1} f_{\chi_d}(r) \, dr

tokens do on average. For how many *layers* it takes to settle there is no closed form. A layer
moves tokens by the share alpha / (1 + alpha), which takes the time log(1 + alpha) in the continuous
limit, and the law

.. math:: \text{layers} = \frac{\tau}{\log(1 + \alpha)} + c

fits all step sizes to within a few per cent: the time :math:`\tau` that the continuous system
takes, and c layers that even the largest steps need."""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import patheffects
from scipy.stats import chi, norm

import hardmax as hm
from hardmax.figures.palette import CYCLE

SIZES, DIMENSIONS = [8, 16, 32, 64, 128, 256, 512, 1024], [2, 3, 4, 6, 8, 12, 16, 24, 32]
ALPHAS = ["1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1", "2", "4", "8", "16", "32", "64"]
steps = np.array([float(Fraction(alpha)) for alpha in ALPHAS])


def expected_leaders(n, d):
    """Expected number of leaders at layer 0 of a Gaussian cloud."""
    return n * chi(d).expect(lambda r: np.exp((n - 1) * norm.logcdf(r)))


# %%
# **Against n and d**, with alpha = 1/2: 40 clouds for each of 72 pairs.
plane = hm.sweep({"n": SIZES, "d": DIMENSIONS, "seeds": 40}, hm.Dynamics("1/2")).to_pandas()
cells = plane.groupby(["d", "n"]).agg({"leaders": ["mean", "sem"], "settled_at": "mean"})
closed = np.array([expected_leaders(n, d) for d, n in cells.index])
mean, error = cells["leaders", "mean"].to_numpy(), cells["leaders", "sem"].to_numpy()
few = closed < cells.index.get_level_values("n") / 2
near = np.abs(mean - closed)[few] < 2 * error[few]
print(f"E < n / 2: leaders within two errors of E in {near.sum()} of {len(near)} cells")
x, y = np.log(closed[few]), np.log(mean[few])
(power, factor), spread = np.polyfit(x, y, 1, w=mean[few] / error[few], cov="unscaled")
print(
    f"fitted law: leaders = {np.exp(factor):.3f} E^b with b = {power:.3f} ± {spread[0, 0] ** 0.5:.3f}"
)

# %%
# **Against alpha**: 100 clouds of four sizes in the plane, the same clouds for all step sizes. The law is fitted to
# each cloud on its own; errors are standard errors over clouds. Leaders hardly depend on alpha, and layers hardly on n
# once there are some hundreds of tokens.
MANY = [16, 64, 256, 1024]
dynamics = {alpha: hm.Dynamics(alpha) for alpha in ALPHAS}
line = hm.sweep({"n": MANY, "d": 2, "seeds": 100}, dynamics).to_pandas()
times = np.log1p(steps)
laws = {}
for n in MANY:
    # Rows are clouds, columns step sizes; times make layers of all step sizes count alike.
    layers = (
        line[line["n"] == n]
        .pivot(index="seed", columns="dynamics", values="settled_at")[ALPHAS]
        .to_numpy()
    )
    fitted = np.linalg.lstsq(np.stack([np.ones_like(times), times], axis=1), (layers * times).T)[0]
    tau, c = fitted.mean(axis=1)
    errors = fitted.std(axis=1, ddof=1) / len(layers) ** 0.5
    means = layers.mean(axis=0)
    laws[n] = tau, c, means, layers.std(axis=0, ddof=1) / len(layers) ** 0.5
    leaders = line[line["n"] == n].groupby("dynamics")["leaders"].mean()
    off = np.abs(means / (tau / times + c) - 1).max()
    print(
        f"n = {n:4}: tau = {tau:.2f} ± {errors[0]:.2f}, c = {c:.2f} ± {errors[1]:.2f}, off by {off:.0%} at most"
    )
    print(
        f"          {leaders.min():.2f} to {leaders.max():.2f} leaders, E = {expected_leaders(n, 2):.2f}"
    )

# %%
# White lines are the closed form: on them E is that share of n. Clouds in which nearly all tokens lead have settled at
# the start. On the right, marks are means with standard errors, lines the fitted law.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
n, d = np.meshgrid(np.geomspace(8, 1024, 22).astype(int), np.arange(2, 33))
share = np.vectorize(expected_leaders)(n, d) / n
maps = (
    (
        cells["leaders", "mean"] / cells.index.get_level_values("n"),
        "share of tokens that lead",
        "cividis",
    ),
)
maps += ((cells["settled_at", "mean"], "layers to settle, alpha = 1/2", "magma"),)
for ax, (values, title, colors) in zip(axes, maps, strict=False):
    mesh = ax.pcolormesh(
        np.log2(SIZES),
        np.log2(DIMENSIONS),
        values.unstack().to_numpy(),
        cmap=colors,
        shading="nearest",
    )
    figure.colorbar(mesh, ax=ax)
    lines = ax.contour(
        np.log2(n), np.log2(d), share, levels=[0.1, 0.5, 0.9], colors="white", linewidths=1.4
    )
    lines.set(path_effects=[patheffects.withStroke(linewidth=2.6, foreground="black")])
    ax.clabel(lines, fmt=lambda level: f"{level:.0%}", fontsize=9)
    ax.set(title=title, xlabel="tokens n", ylabel="dimension d")
    ax.set_xticks(np.log2(SIZES), SIZES)
    ax.set_yticks(np.log2(DIMENSIONS), DIMENSIONS)
fine = np.geomspace(steps[0], steps[-1], 200)
for number, (n, (tau, c, means, errors)) in enumerate(laws.items()):
    look = {"color": CYCLE[number], "marker": "os^D"[number], "ms": 5}
    axes[2].errorbar(steps, means, errors, ls="", capsize=2, label=f"n = {n}", **look)
    axes[2].plot(fine, tau / np.log1p(fine) + c, color=CYCLE[number], lw=1.2)
axes[2].set(title="layers to settle, d = 2", xlabel="alpha", xscale="log", yscale="log")
axes[2].legend(frameon=False)
plt.show()
