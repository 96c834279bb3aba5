"""
Figure 1: attended sets and half-spaces
=======================================

Which tokens attract a token :math:`z_1`? Those with the largest projection on the direction
:math:`A z_1`. With A = I two tokens tie, so that :math:`C_1 = \\{2, 3\\}`; with A = ((2, 1), (1,
1)) the same token attends to
:math:`z_4` alone. In both cases the attended tokens lie in the half-space
:math:`\\langle A z_1, z - z_1 \\rangle \\ge 0` (shaded).

The paper's caption states these two sets; its coordinates are not printed there, so the four tokens
are ours."""

import matplotlib.pyplot as plt
import numpy as np
from paper_numbers import BLUE, GREY, INK, RED, SKY, bare

import hardmax as hm

TOKENS = np.array([(1, -0.5), (1.5, -1.5), (2, -0.5), (1.5, 1.75)])
METRICS = {"A = I": [[1, 0], [0, 1]], "A = ((2, 1), (1, 1))": [[2, 1], [1, 1]]}

# %%
# One layer in exact arithmetic tells which tokens are attended to; ``attended(0)[0]`` is the set of the first token.
figure, panels = plt.subplots(1, 2, figsize=(8, 4.4), layout="constrained")
for ax, (name, metric) in zip(panels, METRICS.items(), strict=True):
    run = hm.simulate(TOKENS, hm.Dynamics(alpha="1/2", metric=metric), layers=0)
    chosen = run.attended(0)[0]
    direction = np.array(metric) @ TOKENS[0]
    feet = (TOKENS @ direction / (direction @ direction))[:, None] * direction
    print(
        f"{name}: C_1 = {{{', '.join(str(i + 1) for i in chosen)}}}, scores {(TOKENS @ direction).tolist()}"
    )

    normal = np.array([-direction[1], direction[0]])
    corners = [
        TOKENS[0] + side * 9 * normal + depth * direction
        for side, depth in ((-1, 0), (1, 0), (1, 9), (-1, 9))
    ]
    ax.fill(*np.transpose(corners), color=SKY, alpha=0.25, lw=0)
    ax.axline(TOKENS[0], TOKENS[0] + normal, color=BLUE, lw=1)
    for token, foot in zip(TOKENS, feet, strict=True):
        ax.plot(*np.transpose([token, foot]), ":", color=GREY, lw=1)
    ax.annotate(
        "",
        feet[chosen[0]],
        (0, 0),
        arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0},
    )
    for number, token in enumerate(TOKENS):
        marker, color = (
            ("o", BLUE) if number == 0 else ("s", RED) if number in chosen else ("o", GREY)
        )
        ax.plot(*token, marker, color=color, ms=9, mec="white")
        ax.annotate(
            f"$z_{number + 1}$", token, xytext=(8, 7), textcoords="offset points", fontsize=12
        )
    bare(ax)
    ax.set(
        xlim=(-0.7, 3.3),
        ylim=(-2.2, 2.4),
        title=f"{name}: $C_1$ = {{{', '.join(str(i + 1) for i in chosen)}}}",
    )
plt.show()
