"""
Floats against the truth
========================

A layer of hardmax attention compares scores for equality, so rounding does not blur the result: it
changes it. This example runs the paper's cloud of *non-leader clusters* in plain NumPy, where two
scores tie if ``==`` says so, and compares it with the exact limits. Tokens 4 and 5 each attend to
both ends of an edge, and belong at its midpoint.

Two things go wrong. Rotated, the cloud has coordinates that are no floats, and the ties are lost in
the first layer. And after many layers a follower has the same floats as its leader: it then counts
as one more token in a tie."""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import hardmax as hm
from hardmax.figures.palette import BLUE, FAINT, GREEN, VERMILION


def naive_layers(tokens, alpha, layers):
    """Layers in float64, with ties found by ``==``."""
    path = [np.asarray(tokens, dtype=float)]
    for _ in range(layers):
        z = path[-1]
        scores = (z[:, None] * z).sum(axis=2)
        attended = scores == scores.max(axis=1, keepdims=True)
        means = (attended[:, :, None] * z).sum(axis=1) / attended.sum(axis=1, keepdims=True)
        path.append((z + alpha * means) / (1 + alpha))
    return np.stack(path)


cloud, watched = hm.clouds.nonleader_clusters(), [4, 5]
rotated = hm.clouds.rotated(cloud)  # by the angle of the 3-4-5 triangle, exactly

# %%
# **Ties that get lost.** The exact limits of the rotated cloud, and where 30 layers of floats lead tokens 4 and 5:
exact, floats = hm.limit(rotated, hm.Dynamics("1/2")), naive_layers(rotated, 0.5, 30)
for token in watched:
    print(
        f"token {token}: limit {exact.limit_points[token].round(3)}, floats {floats[-1, token].round(3)}"
    )

# %%
# **Followers that vote.** The cloud as in the paper, not rotated, for alpha = 1/10, 2/10, …, 4: at which layer does a
# token leave its edge, because a follower has reached its leader in floats?
alphas = np.arange(1, 41) / 10
left_at = {}
for alpha in alphas:
    off = np.abs(naive_layers(cloud, alpha, 400)[:, watched, 1]) > 0.01
    if off.any():
        left_at[alpha] = int(off.any(axis=1).argmax())
print(
    f"{len(left_at)} of {len(alphas)} values of alpha go wrong, at layers {min(left_at.values())} to",
    end=" ",
)
print(
    f"{max(left_at.values())}; alpha = 1/2, as in the paper, is {'' if 0.5 in left_at else 'not '}one of them"
)

# %%
# Left: grey lines and rings are exact, red lines with crosses are floats. Middle: the distance of token 4 from its
# exact position; rotated, it is wrong from the first layer on, and otherwise only after a while. Right: the layer at
# which a token of the cloud that is not rotated leaves its edge.
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
true = np.stack([exact.run.at(layer) for layer in range(31)])
left.fill(*true[0, [0, 1, 2, 3]].T, color=FAINT, alpha=0.15)
left.plot(*true.transpose(2, 0, 1), color=FAINT, lw=0.8)
left.plot(*true[0].T, "o", color=FAINT, ms=4)
left.plot(*true[0, exact.leaders].T, "*", color="black", ms=11, label="leader")
left.plot(*floats[:, watched].transpose(2, 0, 1), color=VERMILION, lw=1.8)
left.plot(
    *exact.limit_points[watched].T, "o", mfc="none", color=BLUE, ms=10, mew=1.6, label="exact limit"
)
left.plot(*floats[-1, watched].T, "X", color=VERMILION, ms=8, label="floats, 30 layers")
left.set(title="rotated cloud, alpha = 1/2", aspect="equal", xticks=[], yticks=[])
left.legend(
    loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=3, frameon=False, fontsize="small"
)

cases = (("rotated, alpha = 1/2", rotated, "1/2", VERMILION), ("alpha = 1/2", cloud, "1/2", BLUE))
for name, tokens, alpha, color in (*cases, ("alpha = 2", cloud, "2", GREEN)):
    run = hm.limit(tokens, hm.Dynamics(alpha)).run
    path = naive_layers(tokens, float(Fraction(alpha)), 80)
    gaps = [np.linalg.norm(path[layer, 4] - run.at(layer)[4]) for layer in range(81)]
    middle.semilogy(np.maximum(gaps, 1e-18), color=color, label=name)
middle.set(title="distance of token 4 from the truth", xlabel="layer", ylim=(3e-19, 1e3))
middle.set_yticks([1e-18, 1e-12, 1e-6, 1], ["0", "$10^{-12}$", "$10^{-6}$", "1"])
middle.legend(frameon=False, fontsize="small", loc="center right")

right.plot(
    list(left_at), list(left_at.values()), "X", color=VERMILION, label="a token leaves its edge"
)
never = [alpha for alpha in alphas if alpha not in left_at]
right.plot(never, np.zeros(len(never)), "o", color=BLUE, label="none does within 400 layers")
right.set(
    title="not rotated, by alpha",
    xlabel="alpha",
    ylabel="layer",
    ylim=(-8, 1.35 * max(left_at.values())),
)
right.legend(frameon=False, fontsize="small")
plt.show()
