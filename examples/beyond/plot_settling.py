"""
When a cloud settles
====================

The theorem is about infinitely many layers, but clouds *settle* after a few: from then on no
attended set ever changes again, and every token moves straight to its limit. The layer is proved
for each cloud. How does it depend on the step size alpha?

A layer moves tokens by the share alpha / (1 + alpha), so that log(1 + alpha) is the time that a
layer takes in the continuous limit. For small alpha, layers times log(1 + alpha) hardly changes.
"""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import hardmax as hm
from hardmax.figures.palette import BLUE, GREEN, VERMILION

CLOUDS, TOKENS, NEAR = 100, 100, "1e-6"
ALPHAS = ["1/64", "1/32", "1/16", "1/8", "1/4", "1/2", "1", "2", "4", "8", "16"]
rng = np.random.default_rng(0)

# %%
# The same 100 Gaussian clouds of 100 tokens for every alpha, in 2, 4 and 8 dimensions:
settled, near = {}, {}
for d in (2, 4, 8):
    clouds: list[np.ndarray] = list(rng.standard_normal((CLOUDS, TOKENS, d)))
    for alpha in ALPHAS:
        limits = hm.limits(clouds, hm.Dynamics(alpha))
        settled[d, alpha] = np.array(limits.settled_at)
        near[d, alpha] = np.mean([lim.layers_to(NEAR) for lim in limits[:20]])

print(
    "alpha   layers (mean, d = 2)   slowest cloud   layers x log(1 + alpha)   layers to within 1e-6"
)
for alpha in ALPHAS:
    mean, most = settled[2, alpha].mean(), max(settled[d, alpha].max() for d in (2, 4, 8))
    time = mean * np.log1p(float(Fraction(alpha)))
    print(f"{alpha:>5}   {mean:18.2f}   {most:13}   {time:23.2f}   {near[2, alpha]:21.1f}")

# %%
# Left: the layer from which on no attended set changes. Right: the layer from which on every token is within a
# millionth of its limit, which comes much later.
sizes = [float(Fraction(alpha)) for alpha in ALPHAS]
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
for d, color, marker in ((2, BLUE, "o"), (4, VERMILION, "s"), (8, GREEN, "^")):
    left.loglog(
        sizes,
        [settled[d, alpha].mean() for alpha in ALPHAS],
        marker=marker,
        color=color,
        label=f"d = {d}",
    )
    right.loglog(
        sizes, [near[d, alpha] for alpha in ALPHAS], marker=marker, color=color, label=f"d = {d}"
    )
slowest = [max(settled[d, alpha].max() for d in (2, 4, 8)) for alpha in ALPHAS]
left.plot(sizes, slowest, "--", color="black", lw=1, label="slowest cloud")
left.set(title="settled", xlabel="alpha", ylabel="layers, mean over clouds")
right.set(title=f"all tokens within {NEAR} of their limits", xlabel="alpha")
for ax in (left, right):
    ax.legend(frameon=False)
plt.show()
