"""
A printed bound, checked exactly
================================

*Attention's forward pass and Frank-Wolfe* (`arXiv 2508.09628 <https://arxiv.org/abs/2508.09628>`_,
version 1) reads hardmax attention with a negative metric :math:`A = -B` as a method of Frank and
Wolfe for the energy
:math:`J(x) = \\tfrac{1}{2} \\langle B x, x \\rangle`. We have not read the paper beyond its abstracts. Two public
transcriptions, a formalisation in Lean and a reproduction in Python, give its Theorem 3.1 alike: if :math:`B` is
positive semidefinite and does not increase from layer to layer, the origin is in the hull :math:`K^0` of the tokens,
and tokens go :math:`2/(t + 2)` of the way at layer t, then

.. math:: J(x_i^{t+1}) \\le \\frac{2}{t + 1}\\, \\lambda_{\\max}(B)\\, \\operatorname{diam}(K^0)^2
   \\quad \\text{for all } t \\text{ and } i.

Two tokens on a line meet every one of these hypotheses, and exceed the bound. (The Lean development
says that it refutes the statement, too. We do not know how later versions state it; the abstract of
that at ICML 2026 has the rate 1/t on the energy.)"""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import hardmax as hm
from hardmax.figures.palette import BLUE, INK, VERMILION

# %%
# The first layer goes 2/2 of the way: each token attends to the other, and they change places. That is an infinite
# alpha, so the run starts after it. From then on alpha = 2/t, since alpha / (1 + alpha) = 2/(t + 2).
#
# With B = 1 the metric is -1. Positions, energies and bounds are fractions, so "larger" means larger.
NEGATIVE = [[-1]]


def energies_and_bounds(first, second, last):
    """The largest energy after layers t = 0, …, last, the bound of the theorem for each, and the
    positions."""
    positions = [np.array([[second], [first]])]
    for t in range(1, last + 1):
        positions.append(hm.step(positions[-1], hm.Dynamics(Fraction(2, t), NEGATIVE)))
    energies = [(tokens**2).max() / 2 for tokens in positions]
    bounds = [Fraction(2, t + 1) * (first - second) ** 2 for t in range(last + 1)]
    return energies, bounds, [tokens.ravel() for tokens in positions]


CLOUDS = {"1, -1/1000": (Fraction(1), Fraction(-1, 1000)), "3, -1": (Fraction(3), Fraction(-1))}
curves, broken_at = {}, {}
for name, (first, second) in CLOUDS.items():
    energies, bounds, positions = curves[name] = energies_and_bounds(first, second, 1000)
    t = broken_at[name] = next(
        t for t, pair in enumerate(zip(energies, bounds, strict=True)) if pair[0] > pair[1]
    )
    print(
        f"tokens {name}: at t = {t} the energy is {float(energies[t]):.6f}, the bound {float(bounds[t]):.6f}"
    )
    print(f"    exactly: {energies[t]} > {bounds[t]}")

# %%
# Waiting does not help: from layer 2 on one of the tokens stands still, away from the origin, so that no bound that
# goes to 0 can hold. The other comes to it. The tokens do meet in one point of the initial hull, at a third of
# (first + 2 second); but the origin, where the energy is least, has left the hull at layer 2. The steps 2/t add up to
# infinity: after layer t the second token still has 6/((t + 1)(t + 2)) of its way to go.
for name, (first, second) in CLOUDS.items():
    end = (first + 2 * second) / 3
    _, _, positions = curves[name]
    ways = [np.abs(tokens - end) for tokens in positions]
    for t, way in enumerate(ways[2:], 2):
        assert way.min() == 0
        assert way.max() == Fraction(6, (t + 1) * (t + 2)) * ways[1].max()
    print(f"tokens {name}: both end at {end}; the energy there is {end**2 / 2}")

# %%
# Left: where the tokens are; crosses are the start, and the first layer swaps both. Right: energy and bound.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
name = "3, -1"
_, _, positions = curves[name]
path = np.array([list(CLOUDS[name]), *positions[:12]], dtype=float)
for token, (color, marker) in enumerate(((BLUE, "o"), (VERMILION, "s"))):
    left.plot(
        path[:, token], color=color, marker=marker, ms=4, label=f"starts at {path[0, token]:g}"
    )
left.plot([0, 0], path[0], "x", color=INK, ms=9)
left.axhline(0, color=INK, lw=0.8, ls=":")
left.axhline(1 / 3, color=INK, lw=0.8, ls="--")
left.text(12, 0.28, "1/3", ha="right", va="top")
left.set(xlabel="layer", ylabel="position")
left.set_title(f"tokens {name}", loc="left")
left.legend(frameon=False)

for (name, (energies, bounds, _)), color in zip(curves.items(), (BLUE, VERMILION), strict=True):
    times, t = np.arange(1, len(energies)), broken_at[name]
    right.loglog(
        times, np.array(energies[1:], dtype=float), color=color, label=f"energy, tokens {name}"
    )
    right.loglog(times, np.array(bounds[1:], dtype=float), color=color, ls="--", label="its bound")
    right.plot(t, float(bounds[t]), "o", color=color, ms=7, mfc="white", zorder=3)
    right.annotate(
        f"t = {t}", (t, float(bounds[t])), xytext=(-4, -16), textcoords="offset points", ha="right"
    )
right.set(xlabel="t")
right.set_title("the bound falls below the energy", loc="left")
right.legend(frameon=False)
plt.show()
